package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
)

// asked holds the flags common to the verbs on scenarios.
type asked struct {
	out          string
	seed         uint64
	replications int
	workers      int
	set, over    []string
	fidelity     string
	reading      scenarios.Reading
	json, quiet  bool
	verbose      bool
	lines        int // that the text has room for; 0: any number
	force        bool
	trace        bool
	forkAt       string
	containers   bool // the verb speaks of runs on YARN
}

func (k *asked) flags(c *cobra.Command, noOut string) {
	f := c.Flags()
	f.StringVar(&k.out, "out", "", "`DIR` for the results (default "+noOut+")")
	f.Uint64Var(&k.seed, "seed", 1, "master seed of all random numbers")
	f.IntVar(&k.replications, "replications", 1, "number of runs, each with its own seed")
	f.IntVar(&k.workers, "workers", 0, "simulations at a time (0: one per core)")
	f.StringArrayVar(&k.set, "set", nil, "`KEY=VALUE` to set in the scenario, such as cluster.nodes=40")
	f.StringArrayVar(&k.over, "over", nil, "`KEY=VALUES` to vary, such as cluster.nodes=10:100:10")
	f.StringVar(&k.fidelity, "fidelity", "", "source of task times: replay, profile, phase or device")
	readingFlags(c, &k.reading)
	f.BoolVar(&k.json, "json", false, "print JSON instead of text")
	f.BoolVar(&k.quiet, "quiet", false, "print no summary, progress or warnings")
	f.BoolVarP(&k.verbose, "verbose", "v", false, "print all tables, and all that was assumed")
	f.BoolVar(&k.force, "force", false, "write into a directory that already holds other files")
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
	return study.Options{Seed: k.seed, Replications: k.replications, Workers: k.workers, Trace: k.trace, Set: k.set, Over: k.over, ForkAt: k.forkAt, Fidelity: k.fidelity, Reading: k.reading, Containers: k.containers}
}

// open opens a scenario and prints its warnings.
func (a *app) open(name string, k *asked) (*study.Study, error) {
	if k.replications < 1 {
		return nil, fmt.Errorf("--replications: got %d: want 1 or more", k.replications)
	}
	s, err := study.Open(name, k.options())
	if err == nil && !k.quiet {
		a.warn(s.Scenario.Warnings)
	}
	return s, err
}

// arguments returns the arguments that repeat a verb with the same bytes.
func (k *asked) arguments(verb string, names ...string) []string {
	args := append([]string{verb}, names...)
	args = append(args, fmt.Sprintf("--seed=%d", k.seed), fmt.Sprintf("--replications=%d", k.replications))
	if k.fidelity != "" {
		args = append(args, "--fidelity="+k.fidelity)
	}
	for _, s := range k.set {
		args = append(args, "--set="+s)
	}
	for _, o := range k.over {
		args = append(args, "--over="+o)
	}
	if k.trace {
		args = append(args, "--trace")
	}
	if k.forkAt != "" {
		args = append(args, "--fork-at="+k.forkAt)
	}
	return append(args, readingArguments(&k.reading)...)
}

func readingArguments(r *scenarios.Reading) (args []string) {
	if r.Format != "" {
		args = append(args, "--format="+r.Format)
	}
	if r.Topology != "" {
		args = append(args, "--topology="+r.Topology)
	}
	for _, pattern := range r.Jobs {
		args = append(args, "--job="+pattern)
	}
	if r.Anonymise {
		args = append(args, "--anonymise")
	}
	if r.Workload != "" {
		args = append(args, "--workload="+r.Workload)
	}
	return args
}

func runCommand(a *app) *cobra.Command {
	k, failAbove, page := &asked{}, "", ""
	c := &cobra.Command{
		Use:   "run SCENARIO",
		Short: "Simulate a scenario and write its results",
		Long: `Simulate a scenario and write tables, pictures and a summary.

SCENARIO is a TOML file, the name of a shipped scenario (slotwave list), a
history, the case.json of a recorded case of a real JobTracker, or the manifest
of a result. A history is a file, a folder of files, or the folder of an earlier
result; slotwave help formats lists the formats. For capacity-scheduler.xml or
fair-scheduler.xml of a cluster on YARN, --workload has the jobs.

A history is replayed on the cluster that it records, and the simulated time of
each job is compared with the recorded one. --set changes the cluster or the
workload; the times are then not compared, and all that the cluster decided is
simulated anew. What tasks do on other slots and devices needs a machine
(slotwave platform calibrate). --fail-above 5% (or 0.05) exits with code 4 if a
simulated time differs from the recorded one by more than 5 %.

A recorded case is simulated with --set run=1, its first recorded run, and each
attempt is compared with the recorded one: tracker, start and finish to the
millisecond. The case of a real ResourceManager (YARN) gives containers.csv,
jobs.csv and attempts.csv, and each row is compared.

A manifest is repeated from the same inputs. slotwave reports whether the files
have the same bytes, or which input changed.

--fork-at 3h runs the scenario as it is, and again with the --set of [scheduler]
taking effect after 3 hours: until then both runs are the same. The next
scheduler is told of the jobs and of the tasks that they run.

--trace also writes the decisions of the scheduler, from which slotwave explain
says why a task started when and where it did, and at fidelity device what the
threads of each attempt did, from which slotwave diagnose says which devices a
job waited for.

Without --out, results go to out/<name>; with --set or --fidelity, to a folder
of their own that is named after the settings.`,
		Example: "  slotwave run fb2009\n  slotwave run history/done/ --job 'sort*'\n  slotwave run my.toml --set cluster.nodes=40 --replications 10",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if isManifest(args[0]) {
				return a.repeatRun(c, args[0], k)
			}
			k.containers = !k.trace && page == "" && k.forkAt == ""
			if err := a.simulate(args[0], k, failAbove); err != nil || page == "" {
				return err
			}
			return writeReport(a, runFolders(k.out), &reporting{out: page, force: k.force, quiet: k.quiet})
		},
	}
	k.flags(c, "out/<name>")
	c.Flags().StringVar(&k.reading.Workload, "workload", "", "`FILE` with the jobs, for a file with queues of YARN")
	c.Flags().BoolVar(&k.trace, "trace", false, "write offers.csv (decisions) and spans.csv (threads)")
	c.Flags().StringVar(&k.forkAt, "fork-at", "", "also run with --set taking effect at this `TIME`")
	c.Flags().StringVar(&page, "report", "", "also write a report into this HTML `FILE`")
	c.Flags().StringVar(&failAbove, "fail-above", "", "exit with code 4 if a time differs from the record by more than this `PART`")
	return c
}

func (a *app) simulate(name string, k *asked, failAbove string) error {
	began := time.Now()
	limit, err := parsePart("--fail-above", failAbove)
	if err != nil {
		return err
	}
	s, err := a.open(name, k)
	if err != nil {
		return err
	}
	if failAbove != "" {
		if err := s.Replays(); err != nil {
			return fmt.Errorf("--fail-above: %w", err)
		}
	}
	if k.out == "" {
		k.out = filepath.Join("out", s.Scenario.Name+k.settingsSuffix())
	}
	d, err := a.create(s, k, "run")
	if err != nil {
		return err
	}
	defer d.Abort()
	a.writing.Store(d)
	if s.Scenario.Case {
		return a.simulateCase(d, s, name, k)
	}
	bar := a.progress("tasks", s.Tasks(), k.quiet || k.json)
	runs, err := s.Simulate(d, bar.report())
	bar.end()
	if err != nil {
		return err
	}
	if err := s.Write(d, runs); err != nil {
		return study.Internal(err)
	}
	if err := d.Write(resultdir.LogName, func(w io.Writer) error { return study.WriteLog(w, began) }); err != nil {
		return study.Internal(err)
	}
	if err := a.commit(d, s, k.arguments("run", name), nil); err != nil {
		return err
	}
	k.lines = screenHeight
	next := []string{"diagnose", runFolders(k.out)[0]}
	switch {
	case s.Scenario.OnYARN():
		next = []string{"inspect", runFolders(k.out)[0]}
	case s.Scenario.Attempts == "none":
		next = []string{"compare", name}
	}
	if len(runs) == 1 {
		recorded, failed := compareCase(name, k)
		if failed != nil {
			return failed
		}
		summary := runs[0].Summary()
		err = a.show(k, func(w io.Writer, colour bool) error {
			if err := summary.WriteText(w, colour); err != nil {
				return err
			}
			_, err := io.WriteString(w, recorded)
			return err
		}, summary.WriteJSON, next...)
	} else {
		err = a.show(k, s.Comparison(runs).WriteText, s.Comparison(runs).WriteJSON, next...)
	}
	if err != nil {
		return err
	}
	var above []string
	for _, run := range runs {
		above = append(above, run.AboveRecord(limit)...)
	}
	if len(above) > 0 {
		return coded{exitAbove, fmt.Errorf("difference from the record above %s: %s", failAbove, strings.Join(above, "; "))}
	}
	return nil
}

// runFolders returns the folders of the runs of a result: the result itself, or
// one folder for each of several runs.
func runFolders(out string) []string {
	if found, _ := filepath.Glob(filepath.Join(out, "*", results.JobsName)); len(found) > 0 {
		for i := range found {
			found[i] = filepath.Dir(found[i])
		}
		return found
	}
	return []string{out}
}

// settingsSuffix makes a folder of its own of what is set over a scenario.
func (k *asked) settingsSuffix() string {
	const longest = 120
	settings := slices.Concat(k.set, k.over)
	if k.fidelity != "" {
		settings = append(slices.Clone(settings), "fidelity="+k.fidelity)
	}
	suffix := ""
	if k.forkAt != "" {
		settings = append([]string{"fork-at=" + k.forkAt}, settings...)
	}
	for _, s := range settings {
		suffix += "," + strings.Trim(notInFolder.ReplaceAllString(s, "-"), "-")
	}
	if len(suffix) > longest {
		sum := sha256.Sum256([]byte(strings.Join(settings, "\n")))
		suffix = fmt.Sprintf("%s-%x", suffix[:longest], sum[:4])
	}
	return suffix
}

var notInFolder = regexp.MustCompile(`[^A-Za-z0-9._=]+`)

// create makes the folder for the results of a study.
func (a *app) create(s *study.Study, k *asked, verb string, read ...string) (*resultdir.Dir, error) {
	for _, in := range s.Scenario.Inputs {
		if in.Data == nil {
			read = append(read, in.Name)
		}
	}
	return resultdir.Create(k.out, resultdir.Purpose{Verb: verb, Inputs: read, Force: k.force})
}

// commit completes a folder of results with its manifest. The read files are
// inputs in addition to those of the scenario.
func (a *app) commit(d *resultdir.Dir, s *study.Study, arguments []string, read []resultdir.FileSum) error {
	m, err := s.Manifest(resultdir.ReadBuild(version, ""), arguments)
	if err != nil {
		return err
	}
	m.Inputs = append(m.Inputs, read...)
	a.writing.Store(nil)
	return study.Internal(d.Commit(m))
}

func (a *app) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(a.stderr, "warning: %s\n", text.Printable(w))
	}
}

// printable removes characters from names that would control the terminal.
func printable(line string) string {
	lines := strings.Split(line, "\n")
	for i := range lines {
		lines[i] = text.Printable(strings.ReplaceAll(lines[i], "\t", "  "))
	}
	return strings.Join(lines, "\n")
}
