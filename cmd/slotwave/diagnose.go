package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/diagnosis"
	"github.com/slotwave/slotwave/workload/trace"
)

// diagnosing are the flags of diagnose.
type diagnosing struct {
	diagnosis.Options
	output
	verify    string
	failAbove string
	follow    bool
}

func diagnoseCommand(a *app) *cobra.Command {
	k := &diagnosing{output: output{verbose: true}}
	c := &cobra.Command{
		Use:   "diagnose PATH...",
		Short: "Find out why jobs took as long as they did",
		Long: `Find out why the jobs of a run took as long as they did. The diagnosis lists
tasks and phases that took longer than their data explain, causes with a change
that would help, and a ledger that divides the time of each job.

PATH is the folder of a result, a job history, a trace, HiTune's tables, or
sampling records. If the scenario has [vary], name the folder of one run.

slotwave tests a change by simulation: it simulates the run with and without the
change, in pairs with the same seeds. A change that gains nothing is withdrawn.
The scenario of a result is known from its manifest. For a history, name a
scenario with the same cluster and jobs with --on; without --on, no change of a
history is tested. Accounts of the ledger with 5 % of the time propose further
changes. Tests end after --budget simulated tasks; one at fidelity device counts
as ten. --budget 0 sets no limit.`,
		Example: "  slotwave diagnose out/hitune-slow-disk",
		Args:    cobra.MinimumNArgs(1),
	}
	f := c.Flags()
	f.StringVar(&k.Job, "job", "", "diagnose only jobs whose id or name fits this `PATTERN`")
	f.StringVar(&k.Specification, "spec", "", "dataflow of sampling records: hadoop, hive or `FILE`")
	f.StringVar(&k.Thresholds, "thresholds", "", "TOML `FILE` with thresholds of the rules")
	f.StringVar(&k.Rules, "rules", "", "TOML `FILE` with rules of your own")
	f.StringVar(&k.On, "on", "", "`SCENARIO` of a recorded run, to test changes")
	f.BoolVar(&k.follow, "follow", false, "predict the ends of running jobs until none runs")
	f.StringVar(&k.verify, "verify", "auto", "test changes: `auto` (if the scenario is known) or off")
	f.Int64Var(&k.Budget, "budget", diagnosis.DefaultBudget, "`TASKS` to simulate (0: no limit)")
	f.IntVar(&k.Pairs, "pairs", 20, "largest number of `PAIRS` of runs that test a change")
	f.StringVar(&k.failAbove, "fail-above", "", "exit with code 4 if a change gains more than this `PART`")
	f.BoolVar(&k.Without, "without", false, "also simulate jobs without disks, waits ...")
	f.BoolVar(&k.Anonymise, "anonymise", false, "replace the names of users, jobs and machines")
	f.IntVar(&k.Workers, "workers", 0, "simulations at a time (0: one per core)")
	k.output.flags(c, "`DIR` for the tables of the diagnosis", forceFolder, forJSON, "print no text or warnings")
	f.BoolVarP(&k.verbose, "verbose", "v", false, "print ten findings, their order, and the ledgers of five jobs")
	c.RunE = func(c *cobra.Command, args []string) error { return a.diagnose(c, args, k) }
	return c
}

// collectEarly bounds the garbage beside the tables of attempts, unless GOGC is
// set. It takes no measurable time, because these tables hold few pointers.
func collectEarly() (restore func()) { return collectAt(15) }

// verifies reads whether changes are tested.
func verifies(o *diagnosis.Options, text string) error {
	if o.Verify = text == "auto"; !o.Verify && text != "off" {
		return fmt.Errorf("--verify: got %q: want auto or off", text)
	}
	return nil
}

func (a *app) diagnose(c *cobra.Command, args []string, k *diagnosing) error {
	defer collectEarly()()
	if err := study.SlotsOnly(args...); err != nil {
		return err
	}
	switch {
	case k.Budget < 0:
		return fmt.Errorf("--budget: got %d: want 0 or more", k.Budget)
	case k.Pairs < 2:
		return fmt.Errorf("--pairs: got %d: want 2 or more", k.Pairs)
	case k.Workers < 0:
		return fmt.Errorf("--workers: got %d: want 0 or more", k.Workers)
	}
	limit, err := parsePart("--fail-above", k.failAbove)
	if err != nil {
		return err
	}
	if err := verifies(&k.Options, k.verify); err != nil {
		return err
	}
	if k.follow {
		return a.follow(c, args, k)
	}
	var dir *resultdir.Dir
	if k.out != "" {
		if dir, err = a.begin(k.out, resultdir.Purpose{Verb: "diagnose", Inputs: args, Force: k.force}); err != nil {
			return err
		}
		defer dir.Abort()
	}
	bar := a.progress("tests", 0, k.quiet || k.json)
	k.Progress = bar.reportOf()
	d, err := diagnosis.Diagnose(args, k.Options)
	bar.end()
	if err != nil {
		return err
	}
	if k.Without && !k.Verify {
		d.Warnings = append(d.Warnings, "--without has no effect with --verify off, because nothing is simulated")
	}
	if !k.quiet {
		a.warn(d.Warnings)
	}
	if dir != nil {
		inputs, err := d.Inputs()
		if err != nil {
			return err
		}
		m := resultdir.Manifest{Arguments: repeating(c, args), Scenario: "diagnose", Seed: 1, Replications: 1, Inputs: inputs}
		if k.Anonymise {
			m.Anonymise()
		}
		if err := a.end(dir, m, func(to resultdir.Target) error { return d.Write(to.Write) }); err != nil {
			return err
		}
	}
	text := func(w io.Writer, _ bool) error { return d.Text(w, k.verbose) }
	var next []string
	if k.Job == "" { // a report has all jobs
		next = append([]string{"report"}, args...)
	}
	if err := a.show(&k.output, text, d.WriteJSON, next...); err != nil {
		return err
	}
	if above := d.Above(limit); len(above) > 0 {
		return coded{exitAbove, fmt.Errorf("gain above %s: %s", k.failAbove, strings.Join(above, "; "))}
	}
	return nil
}

// follow writes what a growing folder of histories says, each time that it has grown. It
// ends with the last job.
func (a *app) follow(c *cobra.Command, args []string, k *diagnosing) error {
	if len(args) != 1 {
		return fmt.Errorf("--follow: got %d paths: want one folder", len(args))
	}
	kept, refused := []string{"follow", "job", "rules", "thresholds"}, []string{}
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(kept, f.Name) {
			refused = append(refused, "--"+f.Name)
		}
	})
	if len(refused) > 0 {
		return fmt.Errorf("--follow: got %s: want only --job, --rules or --thresholds with it", strings.Join(refused, ", "))
	}
	size := func() (all int64) {
		files, _ := trace.ReadOptions{}.Files(args[0])
		for _, name := range files {
			if info, err := os.Stat(name); err == nil {
				all += info.Size()
			}
		}
		return all
	}
	seen := size()
	grown := func() bool {
		for size() == seen && !a.stopped.Load() {
			time.Sleep(time.Second)
		}
		seen = size()
		return !a.stopped.Load()
	}
	return k.Standings(args[0], grown, func(s *diagnosis.Standing) error {
		var b strings.Builder
		err := s.Text(&b)
		for row := range strings.Lines(b.String()) {
			_, err1 := fmt.Fprintln(a.stdout, strings.Join(wrap(strings.TrimSuffix(row, "\n")), "\n"))
			err = errors.Join(err, err1)
		}
		return err
	})
}
