package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/calibrate"
	"github.com/slotwave/slotwave/workload"
)

// programs writes the code and the costs of recorded jobs on a cluster.
func (a *app) programs(c *cobra.Command, args []string, profiles []*workload.Profile, k *conversion) error {
	q, inputs, err := calibrate.ProgramQuestion(k.on)
	if err != nil {
		return fmt.Errorf("--on %w", err)
	}
	var found []calibrate.FoundProgram
	for _, p := range profiles {
		one, err := calibrate.FindProgram(q, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if one.Missed != "" && !k.quiet {
			a.warn([]string{p.Name + ": " + one.Missed})
		}
		found = append(found, one)
	}
	if k.out != "" {
		if k.main() != "" && len(found) > 1 {
			return fmt.Errorf("%s: %d profiles: want a directory", k.main(), len(found))
		}
		parts := filesByJob(found, func(f calibrate.FoundProgram) (string, func(io.Writer) error) {
			return f.Program.Name, func(w io.Writer) error { return scenarios.WriteProgram(w, &f.Program) }
		})
		sums, err := study.Sums(inputs)
		if err != nil {
			return err
		}
		if err := a.deliver(c, args, &k.output, parts, resultdir.Manifest{Scenario: "profile", Seed: 1, Inputs: sums}); err != nil {
			return err
		}
	}
	if k.quiet {
		return nil
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "job\tmap, recorded\tsimulated\tns/record")
	for _, f := range found {
		fmt.Fprintf(t, "%s\t%.3f s\t%.3f s\t%.0f\n", printable(f.Title), f.Recorded, f.Simulated, f.MapCPU)
	}
	return study.Internal(t.Flush())
}
