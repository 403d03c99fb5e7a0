package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// profiling holds the flags of profile.
type profiling struct {
	by, on              string
	json, strict, quiet bool
	statistics, costs   bool
	reading             scenarios.Reading
	to                  destination
}

func profileCommand(a *app) *cobra.Command {
	k := &profiling{}
	c := &cobra.Command{
		Use:   "profile TRACE...",
		Short: "Make job profiles from recorded runs",
		Long: `Make a profile of each recorded job: the times of its tasks, the ratio of output
to input in bytes and records, and the costs of processing. Runs of one job are
merged into one profile. Statistics that were not recorded are left out and
listed.

TRACE is a trace, a job history, a folder of histories, or the result of a
simulation. --out writes the profiles as TOML, one profile into a file, or all
into a directory. The key profile of a [[job]] names such a file.

A history does not record the CPU time of the map function. --on estimates it:
slotwave simulates the job on the cluster of SCENARIO, with the settings of its
first job, and finds the cost per record with which the maps take as long as the
recorded maps. The fidelity of SCENARIO must be phase or device.

--costs finds the costs of the maps, the reduces and the combiner without a
scenario: on the machine that calibrate finds from the same jobs, with a 90 %
interval of each. It takes some ten seconds for a few jobs; calibrate also
writes the machine.

--statistics prints what predict --statistics reads, and says on the standard
error how costs follow that a record does not separate.`,
		Example: "  slotwave profile history/done --out profiles\n  slotwave profile trace.json.gz --by job\n  slotwave profile out/two-jobs --json\n  slotwave profile history/done --costs --out profiles\n  slotwave profile out/my-run --statistics > statistics.json",
		Args:    cobra.MinimumNArgs(1),
	}
	f := c.Flags()
	f.StringVar(&k.by, "by", "name", "one profile per job name, or per single job: name or job")
	f.StringVar(&k.on, "on", "", "`SCENARIO` with the cluster of the runs: estimate the cost of the job's own code")
	f.BoolVar(&k.costs, "costs", false, "find the costs of the jobs' own code, on the machine that calibrate finds")
	f.BoolVar(&k.json, "json", false, "print JSON instead of text")
	f.BoolVar(&k.statistics, "statistics", false, "print the statistics of the one job as JSON for predict --statistics")
	f.BoolVar(&k.strict, "strict", false, "treat every loss of data as an error")
	f.BoolVar(&k.quiet, "quiet", false, "print errors only")
	readingFlags(c, &k.reading)
	k.to.flags(c, "`PATH` for the profiles: a file (.toml, .json) or a directory")
	c.RunE = func(c *cobra.Command, args []string) error { return a.profile(c, args, k) }
	return c
}

func (a *app) profile(c *cobra.Command, args []string, k *profiling) error {
	p := workload.Profiler{Spill: true}
	defer p.Close()
	switch k.by {
	case "name":
	case "job":
		p.Key = func(*workload.HistoryJob) string { return "" }
	default:
		return fmt.Errorf("--by %s: want name or job", k.by)
	}
	if k.on != "" && (k.json || strings.EqualFold(filepath.Ext(k.to.main()), ".json")) {
		return errors.New("--on cannot write JSON: want no --json, and a .toml file or a directory for --out")
	}
	if k.costs {
		return a.costs(c, args, k)
	}
	for _, paths := range study.Histories(args) {
		h, err := k.reading.Each(paths, func(j *workload.HistoryJob) error { p.Add(j); return nil })
		if err != nil {
			return err
		}
		if err := a.losses(h.Problems, h.Dropped, k.strict, k.quiet); err != nil {
			return err
		}
	}
	if p.Len() == 0 {
		return fmt.Errorf("%s: no recorded job found: want a trace or history with tasks", strings.Join(args, ", "))
	}
	each := func(f func(*workload.Profile) error) error {
		return p.Each(func(x *workload.Profile) error {
			x.Source = args
			return f(x)
		})
	}
	if k.on != "" {
		return a.programs(c, args, each, k)
	}
	if k.statistics {
		return a.statistics(each, p.Len(), k)
	}
	if k.to.out != "" {
		parts, stop, err := profileFiles(each, p.Len(), &k.to)
		if err != nil {
			return err
		}
		defer stop()
		if err := a.deliver(c, args, &k.to, parts, resultdir.Manifest{Scenario: "profile", Seed: 1}); err != nil {
			return err
		}
	}
	switch {
	case k.quiet && !k.json:
		return nil
	case k.json:
		return study.Internal(trace.WriteProfilesJSON(a.stdout, each))
	}
	var text bytes.Buffer
	return study.Internal(each(func(x *workload.Profile) error {
		text.Reset()
		if err := trace.WriteProfileText(&text, x); err != nil {
			return err
		}
		_, err := io.WriteString(a.stdout, printable(text.String()))
		return err
	}))
}

// costs writes profiles with the costs of the jobs' own code.
func (a *app) costs(c *cobra.Command, args []string, k *profiling) error {
	if k.on != "" || k.json || k.statistics || k.by != "name" || len(k.reading.Jobs) > 0 || k.to.out != "" && k.to.file() {
		return errors.New("--costs: want no --on, --json, --statistics, --by or --job, since all jobs share the machine, and a directory for --out")
	}
	bar := a.progress("simulations", 0, k.quiet)
	found, err := study.CalibrateRuns(args, k.reading, study.Calibrating{Start: "dl145-g3", Fidelity: "device", Seed: 1, Progress: bar.reportOf()})
	bar.end()
	if err != nil {
		return err
	}
	if k.to.out != "" {
		var parts []part
		for _, f := range found.Profiles() {
			parts = append(parts, part{f.Name, f.Write})
		}
		if err := a.deliver(c, args, &k.to, parts, resultdir.Manifest{Scenario: "profile", Seed: 1}); err != nil {
			return err
		}
	}
	if k.quiet {
		return nil
	}
	var text bytes.Buffer
	found.WriteCosts(&text)
	_, err = io.WriteString(a.stdout, printable(text.String()))
	return study.Internal(err)
}

// profileFiles returns a file for each profile, named after it. Write the files
// in order, once, and then call stop.
func profileFiles(each func(func(*workload.Profile) error) error, n int, to *destination) (parts []part, stop func(), err error) {
	if strings.EqualFold(filepath.Ext(to.main()), ".json") {
		return []part{{"profiles.json", func(w io.Writer) error { return trace.WriteProfilesJSON(w, each) }}}, func() {}, nil
	}
	if to.main() != "" && n > 1 {
		return nil, nil, fmt.Errorf("%s: %d profiles: want a directory, or .json", to.main(), n)
	}
	var failed error
	next, stop := iter.Pull(func(yield func(*workload.Profile) bool) {
		failed = each(func(x *workload.Profile) error {
			if !yield(x) {
				return errStopped
			}
			return nil
		})
	})
	write := func(w io.Writer) error {
		x, ok := next()
		if !ok {
			return failed
		}
		return trace.WriteProfile(w, x)
	}
	names := fileNames{}
	err = each(func(x *workload.Profile) error {
		parts = append(parts, part{names.next(x.Name), write})
		return nil
	})
	return parts, stop, err
}

// fileNames holds the names already used for profiles.
type fileNames map[string]bool

// next returns an unused file name for a job, whose name may not be unique.
func (taken fileNames) next(job string) string {
	slug := results.Slug(job)
	name := slug + ".toml"
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d.toml", slug, n)
	}
	taken[name] = true
	return name
}

// errStopped ends the iteration over profiles early.
var errStopped = errors.New("no more profiles are wanted")

// statistics prints the statistics of Herodotou's report for the only profile.
func (a *app) statistics(each func(func(*workload.Profile) error) error, profiles int, k *profiling) error {
	if profiles != 1 || k.to.out != "" {
		return fmt.Errorf("--statistics: got %s: want one (--job chooses), without --out", workload.Counted(profiles, "profile", "profiles"))
	}
	return each(func(p *workload.Profile) error {
		var out bytes.Buffer
		assumed, err := analytic.StatisticsOf(&out, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if !k.quiet {
			for _, text := range assumed {
				fmt.Fprintf(a.stderr, "assumed: %s\n", printable(text))
			}
		}
		_, err = out.WriteTo(a.stdout)
		return study.Internal(err)
	})
}
