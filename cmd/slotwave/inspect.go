package main

import (
	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
)

func inspectCommand(a *app) *cobra.Command {
	r, asJSON := scenarios.Reading{}, false
	c := &cobra.Command{
		Use:   "inspect PATH...",
		Short: "Print what a history records",
		Long: `Print what traces, job histories or results of simulations record: machines,
slots, jobs, locality, failures, and when a machine stood still. Also print the
Hadoop release and how it was found, and what is not recorded, with the
questions that cannot be answered without it.

All paths together are read as one history.`,
		Example: "  slotwave inspect history/done/\n  slotwave inspect trace.json.gz --topology topology.json\n  slotwave inspect history/done/ --job 'sort*' --json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := study.Inspect(args, r)
			if err != nil {
				return err
			}
			if asJSON {
				return study.Internal(found.WriteJSON(a.stdout))
			}
			return study.Internal(found.WriteText(a.stdout, results.UseColour(terminal(a.stdout))))
		},
	}
	readingFlags(c, &r)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	return c
}
