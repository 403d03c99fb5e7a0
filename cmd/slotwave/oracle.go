package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/study"
)

func oracleCommand(a *app) *cobra.Command {
	markdown := false
	c := &cobra.Command{
		Use:   "oracle DIR...",
		Short: "Compare recorded runs of a real JobTracker with their simulation",
		Long: `Simulate every recorded run of every case in the directories and compare each
attempt with the recorded one: tracker, start and finish to the millisecond.

Some cases were recorded several times and had the same result each time. The
exit code is 1 if an attempt of such a case differs. A case that cannot be read
is left out and reported; the exit code is then 2, if it is not 1.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.oracle(args, markdown) },
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "print a Markdown table with one row per case")
	return c
}

func (a *app) oracle(dirs []string, markdown bool) error {
	all, refused := study.CompareCases(dirs)
	if len(all) == 0 {
		return refused
	}
	if markdown {
		study.WriteAgreements(a.stdout, all)
	} else {
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "case\trun\trepeats\tattempts\texact\tlargest ms\tmakespan ms\tsimulated ms\tnote")
		for _, g := range all {
			note := g.First
			if g.Outside != "" {
				note = g.Outside
			}
			fmt.Fprintf(w, "%s\t%d\t%v\t%d\t%d\t%d\t%d\t%d\t%s\n", g.Name, g.Run, g.Repeats, g.Attempts, g.Same, g.LargestMS, g.MakespanMS, g.SimulatedMS, note)
		}
		w.Flush()
	}
	attempts, exact, runs, missed := 0, 0, 0, 0
	for _, g := range all {
		attempts, exact = attempts+g.Attempts, exact+g.Same
		if g.Exact() {
			runs++
		} else if g.Repeats {
			missed++
		}
	}
	fmt.Fprintf(a.stdout, "\n%d of %d runs exact in every attempt, %d of %d attempts\n", runs, len(all), exact, attempts)
	if missed > 0 {
		return errors.Join(refused, study.Internal(fmt.Errorf("%d simulated runs differ from recordings that Hadoop repeats exactly", missed)))
	}
	return refused
}
