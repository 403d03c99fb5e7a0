package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study/sweep"
	"github.com/slotwave/slotwave/workload"
)

// sweeping are the flags of sweep and its verbs.
type sweeping struct {
	sweep.Options
	output
	seed uint64
}

// ask are the flags that decide on the points.
func (k *sweeping) ask(c *cobra.Command) {
	f := c.Flags()
	f.Uint64Var(&k.seed, "seed", 1, "master seed of all random numbers")
	f.IntVar(&k.Replications, "replications", 0, "runs of each point (0: as the study says, or 1)")
	f.StringArrayVar(&k.Set, "set", nil, "`KEY=VALUE` to set in the scenario, such as cluster.nodes=40")
	jobsFlag(f, &k.Jobs)
	f.StringArrayVar(&k.Over, "over", nil, "`KEY=VALUES` to vary, such as cluster.nodes=10:100:10")
	f.StringArrayVar(&k.Baseline, "baseline", nil, "`KEY=VALUE` of the points with which the others are compared")
	f.StringArrayVar(&k.Metrics, "metric", nil, "`METRIC` of the summary, such as 'p95_response_ns[pool=etl]'")
	f.StringVar(&k.Fidelity, "fidelity", "", "source of task times: replay, profile, phase or device")
}

func (k *sweeping) work(c *cobra.Command) {
	c.Flags().IntVar(&k.Workers, "workers", 0, "simulations at a time (0: one per core)")
	k.output.flags(c, "", "", "", "print no summary, progress or warnings")
}

func (k *sweeping) write(c *cobra.Command) {
	k.output.flags(c, "`DIR` for the results (default out/<name>)", forceFolder, "", "")
	c.Flags().BoolVarP(&k.verbose, "verbose", "v", false, "print all columns, and all that was assumed")
	k.shortens = true
}

// collectLate makes Go collect garbage more rarely than in one run, unless GOGC is
// set. Small points leave so little that collections would come every few of them,
// and each holds up all cores.
func collectLate() (restore func()) { return collectAt(400) }

// collectAt sets the garbage that Go collects, unless GOGC is set, until restore is
// called.
func collectAt(percent int) (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// open opens the study as the flags ask for it.
func (k *sweeping) open(c *cobra.Command, name string) (*sweep.Sweep, error) {
	if err := k.given(c); err != nil {
		return nil, err
	}
	return sweep.Open(name, k.Options)
}

// given takes over the flags whose defaults are the study's.
func (k *sweeping) given(c *cobra.Command) error {
	if c.Flags().Changed("seed") {
		k.Seed = &k.seed
	}
	if c.Flags().Changed("replications") && k.Replications < 1 {
		return fmt.Errorf("--replications: got %d: want 1 or more", k.Replications)
	}
	return nil
}

func sweepCommand(a *app) *cobra.Command {
	k := &sweeping{}
	c := &cobra.Command{
		Use:   "sweep STUDY",
		Short: "Simulate every point of a study and compare the points",
		Long: `Simulate every combination of the values that vary, with several seeds, and
compare the points with a baseline. All points use the same seeds, so
differences between points do not come from different random numbers.

STUDY is a TOML file with a scenario and factors (docs/studies.md), or a
scenario with [vary] or --over. Repeat the same command after a crash: finished
simulations are not repeated.

To use several machines, print the points with "sweep plan", divide its lines
into files, simulate each file with "sweep work", and join the rows with "sweep
merge". The result has the same bytes as that of one machine.`,
		Example: "  slotwave sweep two-jobs --over scheduler.name=fifo,fair2 --replications 10\n  slotwave sweep my-study.toml --out out/my-study",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.sweep(c, args[0], k) },
	}
	k.write(c)
	k.ask(c)
	k.work(c)
	c.AddCommand(sweepPlanCommand(a), sweepWorkCommand(a), sweepMergeCommand(a), sweepSubmitCommand(a))
	return c
}

func sweepPlanCommand(a *app) *cobra.Command {
	k := &sweeping{}
	c := &cobra.Command{
		Use:   "plan STUDY",
		Short: "Print the points of a study as JSON lines",
		Long: `Print one line of JSON for each point. Divide the lines into files in any way,
for example with split, and simulate each file with "slotwave sweep work".`,
		Example: "  slotwave sweep plan my-study.toml > my-plan.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := k.open(c, args[0])
			if err != nil {
				return err
			}
			return s.Plan(a.data(), build())
		},
	}
	k.ask(c)
	return c
}

func sweepWorkCommand(a *app) *cobra.Command {
	k, stdin := &sweeping{}, false
	c := &cobra.Command{
		Use:   "work SHARD",
		Short: "Simulate some points of a study",
		Long: `Simulate the points in SHARD, a file with lines that "slotwave sweep plan"
printed. The study must have the same path here. Finished simulations go into
the file that --out names. If the command is killed, repeat it: it continues
from there.

--stdin reads the points from standard input and prints the rows, each after a
key and a tab, as a mapper of Hadoop Streaming does.`,
		Example: "  slotwave sweep work my-shard-1 --out my-rows-1.jsonl",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			defer collectLate()()
			if stdin {
				if len(args) > 0 || k.out != "" {
					return errors.New("--stdin: got a file or --out too: want the points from standard input and the rows on standard output")
				}
				return sweep.Stream(a.stdin, a.data(), k.Workers, build(), a.stderr)
			}
			if len(args) == 0 {
				return errors.New("want SHARD, or --stdin")
			}
			if k.out == "" {
				k.out = args[0] + ".rows"
			}
			bar := a.progress("simulations", 0, k.quiet)
			s, err := sweep.Work(args[0], k.out, k.Workers, build(), bar.reportOf())
			bar.end()
			if err == nil && !k.quiet {
				a.warn(s.Warnings())
				err = a.next(&output{}, "sweep", "merge", k.out)
			}
			return err
		},
	}
	c.Flags().StringVar(&k.out, "out", "", "`FILE` for the finished simulations (default SHARD.rows)")
	c.Flags().BoolVar(&stdin, "stdin", false, "read points from standard input, for Hadoop Streaming")
	k.work(c)
	return c
}

func sweepMergeCommand(a *app) *cobra.Command {
	k := &sweeping{}
	c := &cobra.Command{
		Use:   "merge ROWS...",
		Short: "Join the rows of sweep work into one result",
		Long: `Join the rows that "slotwave sweep work" wrote. The result is the one that
"slotwave sweep" writes on a single machine. A missing point, a point in two
files and a point that is not in the study are errors; the message names the
point.`,
		Example: "  slotwave sweep merge my-rows-1.jsonl my-rows-2.jsonl --out out/my-study",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			began := time.Now()
			s, err := sweep.Merge(args, build())
			if err != nil {
				return err
			}
			if !k.quiet {
				a.warn(s.Warnings())
			}
			d, err := a.createSweep(s, k, "sweep")
			if err != nil {
				return err
			}
			defer d.Abort()
			return a.finishSweep(s, d, k, began)
		},
	}
	k.write(c)
	c.Flags().BoolVar(&k.quiet, "quiet", false, "print no summary")
	return c
}

func sweepSubmitCommand(a *app) *cobra.Command {
	k, shards, dry := &sweeping{}, 0, false
	c := &cobra.Command{
		Use:   "submit slurm|hadoop STUDY",
		Short: "Have Slurm or Hadoop Streaming simulate the points of a study",
		Long: `Divide the points of a study into shards, write them with a script into a
folder, and submit the script: a job array of Slurm, or a job of Hadoop
Streaming. When all tasks have ended, join the rows with "slotwave sweep merge".

Repeat the same command if tasks were lost: it submits the same shards again,
and finished simulations are not repeated. docs/scale-out.md has examples.`,
		Example: "  slotwave sweep submit slurm my-study.toml --out my-shards --dry-run\n  slotwave sweep merge my-shards/*.rows --out out/my-study",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] != "slurm" && args[0] != "hadoop" {
				return fmt.Errorf("got %q: want slurm or hadoop", args[0])
			}
			if shards < 0 {
				return fmt.Errorf("--shards: got %d: want 0 or more", shards)
			}
			s, err := k.open(c, args[1])
			if err != nil {
				return err
			}
			if k.out == "" {
				k.out = filepath.Join("out", s.Name()+"-shards")
			}
			m := s.Submission(k.out, shards, build())
			submit := m.Slurm
			if args[0] == "hadoop" {
				submit = m.Hadoop
			}
			printed, err := submit(dry)
			if err == nil && !k.quiet {
				fmt.Fprintf(a.stdout, "%s in %s\n", workload.Counted(m.Shards, "shard", "shards"), printable(k.out))
				if printed != "" {
					fmt.Fprintln(a.stdout, printable(printed))
				}
				_, err = fmt.Fprintf(a.stdout, "next: slotwave sweep merge %s/*.rows\n", printable(k.out))
			}
			return err
		},
	}
	k.ask(c)
	c.Flags().StringVar(&k.out, "out", "", "`DIR` for the shards and rows (default out/<name>-shards)")
	c.Flags().IntVar(&shards, "shards", 0, "number of shards (0: of 30 s or more each, by the time that some points take)")
	c.Flags().BoolVar(&dry, "dry-run", false, "write the shards and the script, but do not submit them")
	c.Flags().BoolVar(&k.quiet, "quiet", false, "print nothing")
	return c
}

func (a *app) sweep(c *cobra.Command, name string, k *sweeping) (err error) {
	began := time.Now()
	defer collectLate()()
	s, err := k.open(c, name)
	if err != nil {
		return err
	}
	const one = "nothing varies, so there is one point: want --over KEY=VALUES, [vary] in the scenario or [[factor]] in the study"
	d, err := a.createSweep(s, k, "sweep")
	switch {
	case err != nil && s.NumPoints == 1:
		return fmt.Errorf("%s: %s\n%w", name, one, err)
	case err != nil:
		return err
	case s.NumPoints == 1 && !k.quiet:
		a.warn([]string{one})
	}
	defer d.Abort()
	j, err := s.OpenJournal(k.out, build())
	if err != nil {
		return err
	}
	bar := a.progress("simulations", 0, k.quiet)
	err = s.Run(j, bar.reportOf())
	bar.end()
	if err = errors.Join(err, j.Close()); err != nil {
		return err
	}
	if !k.quiet {
		a.warn(s.Warnings())
	}
	return a.finishSweep(s, d, k, began)
}

// createSweep makes the folder of the result of a verb.
func (a *app) createSweep(s *sweep.Sweep, k *sweeping, verb string) (*resultdir.Dir, error) {
	if k.out == "" {
		k.out = filepath.Join("out", s.Name())
	}
	return a.begin(k.out, purpose(s.Base, verb, k.force))
}

// finishSweep writes the tables of the points and prints them.
func (a *app) finishSweep(s *sweep.Sweep, d *resultdir.Dir, k *sweeping, began time.Time) error {
	p := s.Points()
	write := func(d resultdir.Target) error { return p.WriteStudy(d, s.Title()) }
	if err := a.end(d, s.Manifest(build()), write, logged(began)); err != nil {
		return err
	}
	if !k.quiet {
		a.warn(s.Base.Labels.Unused())
	}
	return a.show(&k.output, p.WriteText, nil, "run", filepath.Join(k.out, resultdir.ManifestName))
}
