package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/study/compare"
	"github.com/slotwave/slotwave/workload"
)

// comparing holds the flags of compare.
type comparing struct {
	asked
	metrics   []string
	baseline  string
	failAbove string
	why       bool
}

func compareCommand(a *app) *cobra.Command {
	k := &comparing{}
	c := &cobra.Command{
		Use:   "compare SCENARIO...",
		Short: "Simulate scenarios and compare them with the analytic models",
		Long: `Simulate one or more scenarios, ask every analytic model about each of them, and
print the answers and their differences. --out also writes plots. To explain the
gap between the simulation and a model, slotwave repeats the simulation and
switches off one cause after another, unless the scenario says models.causes =
false. Models read further data that [models] names (docs/scenarios.md).

--over varies a key as [vary] does: KEY=FROM:TO:STEP or KEY=VALUE,VALUE... A key
without a dot is set in every [[job]]. Values of --over replace those of [vary].

--why simulates two scenarios in pairs with the same seeds: five pairs, or as
many as --replications says. It prints the jobs that gain and lose, the
difference of the ledgers, and the first launch in which the two differ. With
--job ID all jobs run, and the ledger is that of this job.

--fail-above 10% (or 0.1) exits with code 4 if the makespan or the time of a job
of a model differs from the simulation, or that of a scenario from the one in
--baseline, by more than 10 %.`,
		Example: "  slotwave compare two-jobs\n  slotwave compare one.toml two.toml --baseline one --fail-above 10%\n  slotwave compare my.toml --over reduces=8:240:8 --out out/reduces",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.compare(args, k) },
	}
	k.asked.flags(c, "none: nothing is written")
	f := c.Flags()
	f.StringArrayVar(&k.metrics, "metric", nil, "`METRIC` to compare, such as 'p95_response_ns[pool=etl]'")
	f.StringVar(&k.baseline, "baseline", "", "`NAME` to compare with (default simulation)")
	f.StringVar(&k.failAbove, "fail-above", "", "exit with code 4 if a difference exceeds this `PART`")
	f.BoolVar(&k.why, "why", false, "explain the difference between two scenarios")
	return c
}

func (a *app) compare(names []string, k *comparing) error {
	limit, err := parsePart("--fail-above", k.failAbove)
	if err != nil {
		return err
	}
	if k.why {
		return compareWhy(a, names, k)
	}
	k.containers = true
	options := k.options()
	if options.Metrics, err = points.ReadMetrics(k.metrics); err != nil {
		return fmt.Errorf("--metric %w", err)
	}
	warn := a.warn
	if k.quiet {
		warn = nil
	}
	bar := a.progress("answers", 0, k.quiet || k.json)
	c, err := compare.Compare(names, compare.Options{
		Options: options, Baseline: k.baseline, Causes: true, FailAbove: limit, Progress: bar.reportOf(),
	}, warn)
	bar.end()
	if err != nil {
		return err
	}
	if k.out != "" {
		if err := a.keep(c.Study, &k.asked, c.Write, k.arguments("compare", names...)); err != nil {
			return err
		}
	}
	next := k.stated("run", names[0])
	if len(names) > 1 && len(c.Runs) == len(names) && len(k.over)+len(k.reading.Jobs) == 0 {
		next = append(k.stated("compare", names[0], names[1]), "--why")
	}
	k.output.asked = options.Metrics.Titles()
	if len(names) > 1 {
		k.rest = "what the models predict for each run, and why they differ"
	}
	if err := a.show(&k.output, c.WriteText, c.WriteAnswers, next...); err != nil {
		return err
	}
	if len(c.Above) > 0 {
		return coded{exitAbove, fmt.Errorf("difference above %s: %s", k.failAbove, strings.Join(c.Above, "; "))}
	}
	return nil
}

// compareWhy explains the difference between two scenarios.
func compareWhy(a *app, names []string, k *comparing) error {
	if len(names) != 2 {
		return fmt.Errorf("--why: got %s, %s: want two, such as slotwave compare %[3]s OTHER --why", workload.Counted(len(names), "scenario", "scenarios"), strings.Join(names, " "), names[0])
	}
	for _, other := range []struct {
		flag string
		set  bool
	}{{"--over", len(k.over) > 0}, {"--baseline", k.baseline != ""}, {"--out", k.out != ""}} {
		if other.set {
			return fmt.Errorf("--why: got %s too: want only one of them", other.flag)
		}
	}
	o, job := k.options(), ""
	if list := o.Reading.Jobs; len(list) > 1 {
		return fmt.Errorf("--job: got %d: want one with --why", len(list))
	} else if len(list) == 1 {
		job, o.Reading.Jobs = list[0], nil
	}
	bar := a.progress("simulations", 0, k.quiet || k.json)
	w, err := compare.Explain(names[0], names[1], job, o, bar.reportOf())
	bar.end()
	if err != nil {
		return err
	}
	return a.show(&k.output, w.WriteText, w.WriteJSON, append(k.stated("run", names[1]), "--trace")...)
}
