package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/size"
)

// checkGrow refuses factors that are no numbers above 0, and those with a line already:
// 1,4 may be meant as 1.4.
func checkGrow(factors string) error {
	if factors == "" {
		return nil
	}
	seen := []float64{1}
	for _, text := range strings.Split(factors, ",") {
		x, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || !(x > 0):
			return fmt.Errorf("--grow: got %q: want a factor above 0, such as 1.4 for 40 %% more", text)
		case slices.Contains(seen, x):
			return fmt.Errorf("--grow: got %s: %s has a line already: want other factors, such as 1.4 for 40 %% more", factors, text)
		}
		seen = append(seen, x)
	}
	return nil
}

func sizeCommand(a *app) *cobra.Command {
	k := &sweeping{}
	grow, known, anonymise := "", []string(nil), false
	c := &cobra.Command{
		Use:   "size [SCENARIO] STUDY",
		Short: "Find the smallest or cheapest cluster that meets all goals",
		Long: `Find the cluster with the fewest nodes, the fewest slots or the lowest price
that meets all goals of a study, with a stated confidence.

STUDY is a TOML file with [[goal]] tables and [[node]] tables with the offers
(docs/size-a-cluster.md). SCENARIO, such as a history, takes the place of the
scenario that STUDY names. The search begins at the recorded size if it is a
history, and otherwise where the analytic models say. The simulator decides:
fresh seeds, which the search has not seen, must show that at least the stated
fraction of all runs meets all goals. This errs in at most 5 % of the searches.

Each offer has a line, with what limits the jobs there. --grow and --over add
lines for other loads; the first value makes the answer. A history is first
replayed at its own size, and each job has the error of a replayed job. If an
offer has other slots or devices than the record, a machine is calibrated from
it (--know), and the probability is the mean over all machines that explain the
record and over the error of the model.

Repeat the same command after a crash: finished simulations are not repeated.`,
		Example: "  slotwave size my-study.toml\n  slotwave size my-history my-offers.toml --grow 1.4 --out out/offers",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := swapped(c, args); err != nil {
				return err
			}
			if len(args) == 2 {
				k.Scenario = args[0]
			} else if isHistory(args[0]) {
				return fmt.Errorf("size: got %s, a history: want an offers file after it: slotwave size %[1]s my-offers.toml", args[0])
			}
			if err := checkGrow(grow); err != nil {
				return err
			}
			if grow != "" {
				k.Over = append(k.Over, "workload.scale_bytes="+grow+",1") // the first makes the answer
			}
			if anonymise {
				if len(args) < 2 {
					return fmt.Errorf("--anonymise: got %s alone: want a history before it", args[0])
				}
				if err := k.anonymise(c); err != nil {
					return err
				}
			}
			return a.size(c, args[len(args)-1], k, known)
		},
	}
	k.write(c)
	f := c.Flags()
	f.Uint64Var(&k.seed, "seed", 1, "master seed of all random numbers")
	f.IntVar(&k.Replications, "replications", 0, "least number of runs of each size (0: as the study says, or 20)")
	f.StringArrayVar(&k.Set, "set", nil, "`KEY=VALUE` to set in the scenario, such as workload.scale_bytes=1.5")
	jobsFlag(f, &k.Jobs)
	f.StringVar(&grow, "grow", "", "`FACTORS` by which the data grow: the answer is for the first, 1.4,2 has lines for both")
	f.StringArrayVar(&k.Over, "over", nil, "`KEY=VALUES` that make loads, such as scheduler.name=fifo,fair2")
	f.StringVar(&k.Fidelity, "fidelity", "", "source of task times: replay, profile, phase or device")
	k.output.flags(c, "", "", forJSON, "")
	addKnown(c, &known)
	addAnonymise(c, &anonymise)
	k.work(c)
	return c
}

// swapped refuses offers before the history or scenario that they are about.
func swapped(c *cobra.Command, args []string) error {
	offers := func(name string) bool {
		_, next := scenarios.Kind(name)
		return strings.HasPrefix(next, "slotwave size ")
	}
	if len(args) == 2 && offers(args[0]) && !offers(args[1]) && (isHistory(args[1]) || namesScenario(args[1])) {
		return fmt.Errorf("%s: got the offers first: want slotwave %[1]s %s %s", c.Name(), args[1], args[0])
	}
	return nil
}

// anonymise lets a copy of the history with other names take its place.
func (k *sweeping) anonymise(c *cobra.Command) (err error) {
	if !isHistory(k.Scenario) {
		return fmt.Errorf("--anonymise: got %s: want a history", k.Scenario)
	}
	k.Scenario, err = renamedHistory(c, []string{k.Scenario}, &scenarios.Reading{}, cmp.Or(k.out, "out/size"), k.force)
	return err
}

func (a *app) size(c *cobra.Command, name string, k *sweeping, known []string) error {
	began := time.Now()
	defer collectLate()()
	if err := k.given(c); err != nil {
		return err
	}
	s, err := size.Open(name, k.Options)
	history := k.Scenario
	if err == nil {
		history = s.File.Scenario
	}
	asked := &calibrating{known: known, reading: scenarios.Reading{Jobs: k.Jobs}, output: output{quiet: k.quiet || k.json, force: k.force}}
	machine, err := a.machineFor(c, history, cmp.Or(k.out, "out/size"), err, asked)
	if err != nil {
		return err
	}
	if machine != "" {
		k.Scenario = machine
		k.out = cmp.Or(k.out, asked.answer)
		if s, err = size.Open(name, k.Options); err != nil {
			return err
		}
	}
	if err := s.Ask(); err != nil {
		return err
	}
	d, err := a.createSweep(s.Sweep, k, "size")
	if err != nil {
		return err
	}
	defer d.Abort()
	j, err := s.OpenJournal(k.out, build())
	if err != nil {
		return err
	}
	bar := a.progress("simulations", 0, k.quiet || k.json)
	found, err := s.Run(j, bar.reportOf())
	bar.end()
	if err = errors.Join(err, j.Close()); err != nil {
		return err
	}
	if err := a.end(d, s.Manifest(build()), found.Write, logged(began)); err != nil {
		return err
	}
	if !k.quiet {
		a.warn(append(s.Warnings(), s.Base.Labels.Unused()...))
	}
	return a.show(&k.output, found.WriteText, found.WriteJSON, "run", filepath.Join(k.out, resultdir.ManifestName))
}

// machineFor returns the scenario of a machine of a history, if a fact about it is known,
// or if opening the question found that recorded times do not answer it; empty: neither.
func (a *app) machineFor(c *cobra.Command, history, result string, opened error, k *calibrating) (scenario string, err error) {
	needs := (*study.NeedsMachine)(nil)
	switch {
	case errors.As(opened, &needs):
		history = needs.History
	case opened != nil || len(k.known) == 0:
		return "", opened
	case !isHistory(history):
		return "", fmt.Errorf("--know: got %s: want a history before it: a scenario states its machines", k.known[0])
	}
	if !isHistory(history) {
		return "", opened
	}
	scenario, err = a.machineOf(c, history, result, k)
	if err != nil && needs != nil {
		return "", fmt.Errorf("%w; %s: recorded times of tasks hold for the recorded slots, devices and settings only", err, needs.What)
	}
	return scenario, err
}

// machineOf calibrates a machine from a history and returns its scenario, beside a result,
// in a folder named after what was asked of it. One that is there already, made by this
// program of the same record, is taken; one of another question is never replaced.
func (a *app) machineOf(c *cobra.Command, history, result string, k *calibrating) (scenario string, err error) {
	history = filepath.Clean(history)
	k.platform, k.seed, k.brief = defaultStart, 1, true
	calibrate, _, err := c.Root().Find([]string{"platform", "calibrate"})
	if err != nil {
		return "", err
	}
	for flag, values := range map[string][]string{"know": k.known, "job": k.reading.Jobs, "format": {k.reading.Format}, "topology": {k.reading.Topology}} {
		for _, v := range values {
			if v != "" {
				err = errors.Join(err, calibrate.Flags().Set(flag, v)) // for the manifest
			}
		}
	}
	if err != nil {
		return "", err
	}
	question := repeating(calibrate, []string{history})
	var settings []string
	for _, flag := range question[3:] {
		settings = append(settings, strings.TrimPrefix(strings.TrimPrefix(flag, "--know="), "--"))
	}
	if k.reading.Anonymise {
		settings = append(settings, "anonymise")
	}
	named := func(kind string) string {
		return filepath.Join(filepath.Dir(result), text.Slug(filepath.Base(history))+kind+folderSuffix(settings))
	}
	k.out, k.answer = named("-machine"), named("-size")
	scenario = filepath.Join(k.out, "scenario.toml")
	manifest := filepath.Join(k.out, resultdir.ManifestName)
	if m, err := resultdir.ReadManifest(manifest); err == nil && m.Scenario == "calibrate" {
		if !slices.Equal(m.Arguments, question) && !k.force {
			return "", fmt.Errorf("%s: holds a machine of another question (slotwave %s): want it elsewhere", k.out, strings.Join(m.Arguments, " "))
		}
		// Another program finds another machine.
		if slices.Equal(m.Arguments, question) && build().Made(m, manifest) && study.InputsUnchanged(m.Inputs) == nil {
			return scenario, nil
		}
	}
	return scenario, a.calibrateRuns(calibrate, []string{history}, k)
}
