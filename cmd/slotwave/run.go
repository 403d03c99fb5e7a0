package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/measure"
)

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
simulated anew. What tasks do on other slots and devices is simulated on a
machine that is calibrated from the history, beside the results; --know states
facts about it (cores, memory, disk.count, nic_mb, as platform calibrate lists
them). An answer that may be off by more than half is refused, with the fact
that would help most. --fail-above 5% (or 0.05) exits with code 4 if a simulated
time differs from the recorded one by more than 5 %.

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
			if err := namesPage("--report", page, "report"); err != nil {
				return err
			}
			k.containers = !k.trace && page == "" && k.forkAt == ""
			if err := a.simulate(args[0], k, failAbove); err != nil || page == "" {
				return err
			}
			return writeReport(a, runFolders(k.out), &reporting{output: output{out: page, force: k.force, quiet: k.quiet}})
		},
	}
	k.flags(c, "out/<name>")
	k.verb = c
	addKnown(c, &k.known)
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
	name = cmp.Or(k.machine, name)
	if failAbove != "" {
		if err := s.Replays(); err != nil {
			return fmt.Errorf("--fail-above: %w", err)
		}
	}
	if k.out == "" {
		k.out = filepath.Join("out", s.Scenario.Name+k.settingsSuffix())
	}
	d, err := a.begin(k.out, purpose(s, "run", k.force))
	if err != nil {
		return err
	}
	defer d.Abort()
	if s.Scenario.Case {
		return a.simulateCase(d, s, name, k)
	}
	bar := a.progress("tasks", s.Tasks(), k.quiet || k.json)
	runs, err := s.Simulate(d, bar.report())
	bar.end()
	if err != nil {
		return err
	}
	if k.machine != "" {
		if err := tooWide(s, runs); err != nil {
			return err
		}
	}
	m, err := s.Manifest(build(), k.arguments("run", name))
	if err != nil {
		return err
	}
	if err := a.end(d, m, func(resultdir.Target) error { return s.Write(d, runs) }, logged(began)); err != nil {
		return err
	}
	if !k.quiet {
		a.warn(s.Labels.Unused())
	}
	k.lines = screenHeight
	next := []string{"diagnose", runFolders(k.out)[0]}
	switch {
	case s.Scenario.OnYARN():
		next = []string{"inspect", runFolders(k.out)[0]}
	case s.Scenario.Attempts == "none":
		next = k.stated("compare", name)
	}
	if len(runs) == 1 {
		recorded, failed := compareCase(name, k)
		if failed != nil {
			return failed
		}
		summary := runs[0].Summary()
		err = a.show(&k.output, func(w io.Writer, colour bool) error {
			if err := summary.WriteText(w, colour); err != nil {
				return err
			}
			_, err := io.WriteString(w, recorded)
			return err
		}, summary.WriteJSON, next...)
	} else {
		err = a.show(&k.output, s.Comparison(runs).WriteText, s.Comparison(runs).WriteJSON, next...)
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

// tooWide refuses an answer whose interval is too wide to help. It names the fact that
// would shrink it most.
func tooWide(s *study.Study, runs []*results.Run) error {
	const widest = 0.5 // half of the interval, relative
	for _, run := range runs {
		if len(run.Calibrations) == 0 { // on a platform that the user states
			continue
		}
		m := run.Machines()
		least, most, half := m.Open()
		if half <= widest {
			continue
		}
		help := "no single fact explains it"
		if facts, _ := measure.Facts(s.Machines(), []results.Machines{m}); len(facts) > 0 {
			help = fmt.Sprintf("state --know %s=VALUE (%s)", facts[0].Key, facts[0].How)
		}
		return fmt.Errorf("the makespan is %v to %v on machines that explain the record, which is too wide to help: %s",
			least.Round(time.Second), most.Round(time.Second), help)
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
	settings := slices.Concat(k.set, k.over)
	if k.fidelity != "" {
		settings = append(slices.Clone(settings), "fidelity="+k.fidelity)
	}
	if k.forkAt != "" {
		settings = append([]string{"fork-at=" + k.forkAt}, settings...)
	}
	return folderSuffix(settings)
}

// folderSuffix tells folders of different settings apart.
func folderSuffix(settings []string) (suffix string) {
	const longest = 120
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
