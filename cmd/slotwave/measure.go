package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/measure"
	"github.com/slotwave/slotwave/study/size"
)

func measureCommand(a *app) *cobra.Command {
	k := &asked{}
	grow, known := "", []string(nil)
	c := &cobra.Command{
		Use:   "measure SCENARIO [OFFERS]",
		Short: "Name the fact that would shrink an answer's interval most",
		Long: `Name the benchmark, log line or fact about the recorded machines that would
shrink the interval of an answer most, and by how much, before it is measured.

SCENARIO is a history, of which a machine is calibrated, or a scenario that
platform calibrate has written. The question is a change by --set or --grow, or
the [[node]] tables of OFFERS, a study for slotwave size. It is simulated on all
machines that explain the record. A fact helps if the answers follow it from
machine to machine: then those with its true value agree better than all do.

State what was measured with --know, here or with slotwave size.`,
		Example: "  slotwave measure my-history --grow 1.4\n  slotwave measure my-history my-offers.toml --know cores=8",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := swapped(c, args); err != nil {
				return err
			}
			return a.measure(c, args, grow, known, k)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&k.set, "set", nil, "`KEY=VALUE` to set in the scenario, such as cluster.nodes=40")
	jobsFlag(f, &k.reading.Jobs)
	f.StringVar(&grow, "grow", "", "`FACTOR` by which the data grow, such as 1.4")
	addKnown(c, &known)
	f.Uint64Var(&k.seed, "seed", 1, "master seed of all random numbers")
	k.output.flags(c, "", "", forJSON, "print no progress or warnings")
	return c
}

func (a *app) measure(c *cobra.Command, args []string, grow string, known []string, k *asked) error {
	name, set := args[0], slices.Clone(k.set)
	if err := checkGrow(grow); err != nil {
		return err
	}
	if grow != "" {
		set = append(set, "workload.scale_bytes="+grow)
	}
	questions := []measure.Asked{{Name: strings.Join(set, " ")}}
	if len(set) == 0 {
		questions[0].Name = "as recorded"
	}
	if len(args) == 2 {
		offers, err := scenarios.ReadStudy(args[1], func([]string) error { return nil })
		if err == nil && (offers == nil || offers.Size == nil) {
			err = size.NoGoals(args[1])
		}
		if err != nil {
			return err
		}
		questions = nil
		for _, offer := range offers.Size.Types {
			questions = append(questions, measure.Asked{Name: offer.Name, Set: offer.Set})
		}
	}
	next := []string{"platform", "calibrate", name, "--know", "KEY=VALUE", "--out", "known"}
	for _, pattern := range k.reading.Jobs {
		next = append(next, "--job", pattern)
	}
	if isHistory(name) {
		var err error
		if name, err = a.machineOf(c, name, "out/measure", &calibrating{known: known, reading: k.reading, output: output{quiet: k.quiet || k.json}}); err != nil {
			return err
		}
	} else if len(known) > 0 {
		return fmt.Errorf("--know: is for a history: want it with the calibration that made %s", name)
	}
	bar := a.progress("simulations", 0, k.quiet || k.json)
	plan, err := measure.Ask(name, questions, study.Options{Seed: k.seed, Set: set, Reading: k.reading}, bar.reportOf())
	bar.end()
	if err != nil {
		return err
	}
	if len(plan.Facts) == 0 || !isHistory(args[0]) {
		next = nil
	} else {
		next[4] = plan.Facts[0].Key + "=VALUE"
	}
	return a.show(&k.output, plan.WriteText, plan.WriteJSON, next...)
}
