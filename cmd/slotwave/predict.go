package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study/predict"
	"github.com/slotwave/slotwave/study/size"
	"github.com/slotwave/slotwave/study/sweep"
)

func predictCommand(a *app) *cobra.Command {
	k := &asked{}
	var deadline time.Duration
	c := &cobra.Command{
		Use:   "predict SCENARIO",
		Short: "Ask every analytic model about a scenario",
		Long: `Ask every analytic model for the makespan of a scenario. A model that cannot
answer says why. --out writes the answers as a table and a plot.

--deadline asks for the fewest nodes with which the jobs finish in time instead,
as slotwave size does for a study with the goal finish and a confidence of 90 %.
The nodes are of the scenario's type. The simulator decides; the answers of the
models say where its search begins.

--over varies a key as [vary] does: KEY=FROM:TO:STEP or KEY=VALUE,VALUE...

Models read further data that [models] in the scenario names, such as
--set models.history=out/my-runs (docs/scenarios.md).`,
		Example: "  slotwave predict two-jobs\n  slotwave predict my.toml --out out/predicted\n  slotwave predict my.toml --over reduces=8:240:8\n  slotwave predict my.toml --set models.history=out/my-runs --deadline 10m",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("deadline") {
				if len(k.over) > 0 {
					return errors.New("--deadline searches the number of nodes: got --over too: want one of the two")
				}
				if !c.Flags().Changed("replications") {
					k.replications = 0
				}
				return a.provision(args[0], k, deadline)
			}
			if k.replications != 1 || c.Flags().Changed("workers") {
				return errors.New("--replications and --workers: got them with models, which use no random numbers: want run, compare or --deadline")
			}
			return a.predict(args[0], k)
		},
	}
	k.flags(c, "none: nothing is written")
	c.Flags().DurationVar(&deadline, "deadline", 0, "`TIME` in which the jobs must finish: print nodes instead of times")
	return c
}

// provision asks how many nodes a deadline takes.
func (a *app) provision(name string, k *asked, deadline time.Duration) error {
	if k.out != "" {
		return errors.New("--deadline writes no files: got --out too: want one of the two")
	}
	s, err := size.OpenDeadline(name, deadline, sweep.Options{
		Seed: &k.seed, Replications: k.replications, Set: k.set, Fidelity: k.fidelity, Workers: k.workers,
	})
	if err != nil {
		return err
	}
	if err := s.Ask(); err != nil {
		return err
	}
	bar := a.progress("simulations", 0, k.quiet || k.json)
	found, err := s.Run(nil, bar.reportOf())
	bar.end()
	if err != nil {
		return err
	}
	if !k.quiet {
		a.warn(s.Warnings())
	}
	return a.show(&k.output, found.WriteText, found.WriteJSON, k.stated("compare", name)...)
}

func (a *app) predict(name string, k *asked) error {
	s, err := a.open(name, k)
	if err != nil {
		return err
	}
	arguments := k.arguments("predict", name)
	var answers *results.Answers
	if len(k.over) > 0 || len(s.Scenario.Runs) > 1 {
		answers, s, err = predict.Over(name, k.options())
	} else if models, failed := s.Models(); failed == nil {
		answers, err = predict.All(s, models)
	} else {
		err = failed
	}
	if err != nil {
		return err
	}
	if k.out != "" {
		write := func(d resultdir.Target) error { return answers.Write(d, s.Scenario.Title) }
		if err := a.keep(s, k, write, arguments); err != nil {
			return err
		}
	}
	return a.show(&k.output, answers.WriteText, answers.WriteJSON, k.stated("compare", name)...)
}
