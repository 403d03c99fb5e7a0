package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
)

// asked holds the flags common to the verbs on scenarios.
type asked struct {
	output
	given        *pflag.FlagSet
	seed         uint64
	replications int
	workers      int
	set, over    []string
	fidelity     string
	reading      scenarios.Reading
	trace        bool
	forkAt       string
	containers   bool // the verb speaks of runs on YARN
	costs        bool // the question is about costs and settings of tasks, and without --out only the machine is written

	verb    *cobra.Command // that calibrates a machine where recorded times do not answer; nil: it cannot
	known   []string       // KEY=VALUE of this machine
	machine string         // its scenario; empty: none was needed
}

func (k *asked) flags(c *cobra.Command, noOut string) {
	f := c.Flags()
	k.given = f
	k.output.flags(c, "`DIR` for the results (default "+noOut+")", forceFolder, forJSON, "print no summary, progress or warnings")
	f.Uint64Var(&k.seed, "seed", 1, "master seed of all random numbers")
	f.IntVar(&k.replications, "replications", 1, "number of runs, each with its own seed")
	f.IntVar(&k.workers, "workers", 0, "simulations at a time (0: one per core)")
	f.StringArrayVar(&k.set, "set", nil, "`KEY=VALUE` to set in the scenario, such as cluster.nodes=40")
	f.StringArrayVar(&k.over, "over", nil, "`KEY=VALUES` to vary, such as cluster.nodes=10:100:10")
	f.StringVar(&k.fidelity, "fidelity", "", "source of task times: replay, profile, phase or device")
	readingFlags(c, &k.reading)
	k.shortens = true
	f.BoolVarP(&k.verbose, "verbose", "v", false, "print all tables, and all that was assumed")
}

// readingFlags are the flags of verbs that read histories.
func readingFlags(c *cobra.Command, r *scenarios.Reading) {
	f := c.Flags()
	f.StringVar(&r.Format, "format", "", "`FORMAT` of the history (default: detected)")
	f.StringVar(&r.Topology, "topology", "", "`FILE` with racks and machines of the history")
	jobsFlag(f, &r.Jobs)
	f.BoolVar(&r.Anonymise, "anonymise", false, "replace the names of users, jobs and machines")
}

// jobsFlag chooses the jobs of a history.
func jobsFlag(f *pflag.FlagSet, jobs *[]string) {
	f.StringArrayVar(jobs, "job", nil, "jobs whose id or name fits this `PATTERN`: 'sort*'")
}

// options are how the scenario is asked.
func (k *asked) options() study.Options {
	return study.Options{Seed: k.seed, Replications: k.replications, Workers: k.workers, Trace: k.trace, Set: k.set, Over: k.over, ForkAt: k.forkAt, Fidelity: k.fidelity, Reading: k.reading, Containers: k.containers, Costs: k.costs}
}

// open opens a scenario and prints its warnings.
func (a *app) open(name string, k *asked) (*study.Study, error) {
	if k.replications < 1 {
		return nil, fmt.Errorf("--replications: got %d: want 1 or more", k.replications)
	}
	s, err := study.Open(name, k.options())
	if k.verb != nil {
		out := cmp.Or(k.out, filepath.Join("out", text.Slug(filepath.Base(name))+k.settingsSuffix()))
		k.machine, err = a.machineFor(k.verb, name, out, err, &calibrating{known: k.known, reading: k.reading, output: output{quiet: k.quiet || k.json, force: k.force}})
		if k.machine != "" && err == nil {
			if k.reading = (scenarios.Reading{}); !k.costs {
				k.out = out
			}
			s, err = study.Open(k.machine, k.options())
		}
	}
	if err == nil && !k.quiet {
		a.warn(s.Scenario.Warnings)
	}
	return s, err
}

// repeats are the flags that decide on the bytes of a result.
var repeats = []string{
	"seed", "replications", "fidelity", "set", "over", "trace", "fork-at", "format", "topology", "job", "anonymise", "workload",
	"metric", "baseline",
}

// arguments returns the arguments that repeat a verb with the same bytes.
func (k *asked) arguments(verb string, names ...string) []string {
	args := append([]string{verb}, names...)
	for i, name := range repeats {
		f := k.given.Lookup(name)
		switch {
		case f == nil || i > 1 && (f.Value.String() == "" || f.Value.String() == "false"):
		case f.Value.Type() == "bool":
			args = append(args, "--"+name)
		default:
			args = append(args, repeated(f)...)
		}
	}
	return args
}

// stated returns another verb for the same question, with the flags that were given of
// those that all verbs on scenarios have.
func (k *asked) stated(verb string, names ...string) []string {
	args := append([]string{verb}, names...)
	for _, name := range []string{"seed", "replications", "fidelity", "set", "over", "format", "topology", "job", "anonymise"} {
		if f := k.given.Lookup(name); f.Changed {
			args = append(args, repeated(f)...)
		}
	}
	return args
}

// keep writes the result of a study into the chosen directory.
func (a *app) keep(s *study.Study, k *asked, write func(resultdir.Target) error, arguments []string) error {
	m, err := s.Manifest(build(), arguments)
	if err != nil {
		return err
	}
	to := purpose(s, arguments[0], k.force, arguments[1:]...) // what is no file is passed over
	if err := a.fill(k.out, to, m, write); err != nil || k.quiet {
		return err
	}
	a.warn(s.Labels.Unused())
	return nil
}

// parsePart reads 10% or 0.1. An empty text means no limit.
func parsePart(flag, text string) (float64, error) {
	if text == "" {
		return math.Inf(1), nil
	}
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v >= 0) {
		return 0, fmt.Errorf("%s %s: want a fraction such as 10%% or 0.1", flag, text)
	}
	if percent {
		return v / 100, nil
	}
	if v > 1 {
		return 0, fmt.Errorf("%s %s: got a fraction above 1: want %s%% or %g", flag, text, text, v/100)
	}
	return v, nil
}
