package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study/diagnosis"
	"github.com/slotwave/slotwave/study/inspect"
	"github.com/slotwave/slotwave/workload"
)

func inspectCommand(a *app) *cobra.Command {
	r, to := scenarios.Reading{}, output{}
	c := &cobra.Command{
		Use:   "inspect PATH...",
		Short: "Print what a history records",
		Long: `Print what traces, job histories or results of simulations record: machines,
slots, jobs, locality, failures, and when a machine stood still. Also print the
Hadoop release and how it was found, and what is not recorded, with the
questions that cannot be answered without it.

All paths together are read as one history. --out writes all that is printed
(inspection.json), the recorded attempts and jobs as tables, and pictures of the
attempts and of the slots in use, as run does.`,
		Example: "  slotwave inspect history/done/\n  slotwave inspect history/done/ --out seen\n  slotwave inspect trace.json.gz --topology topology.json\n  slotwave inspect history/done/ --job 'sort*' --json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := diagnosis.NotScenarios(args...); err != nil {
				return err
			}
			found, h, err := inspect.Inspect(args, r)
			if err != nil {
				return err
			}
			if to.out != "" {
				if err := a.inspected(c, args, &to, found, h); err != nil {
					return err
				}
			}
			next := repeating(c, args)
			switch next[0] = "run"; {
			case found.NoTimes:
				next = nil
			case len(args) > 1: // run reads one path
				next = append(next, "--to", "jhist", "--out", "together")
				next[0] = "convert"
			case h.Topology.Hosts() == 0:
				next = append(next, "--set=cluster.nodes=N")
			}
			return a.show(&to, found.WriteText, found.WriteJSON, next...)
		},
	}
	readingFlags(c, &r)
	to.flags(c, "`DIR` for tables and pictures", "write into a directory that already holds others", forJSON, "")
	return c
}

// inspected writes an inspection into a folder.
func (a *app) inspected(c *cobra.Command, args []string, to *output, found *inspect.Inspection, h *workload.History) error {
	if to.file() {
		return fmt.Errorf("--out %s: want a folder: an inspection has several files", to.out)
	}
	files, err := inspect.Files(found, h)
	if err != nil {
		return err
	}
	return a.deliver(c, args, to, files, resultdir.Manifest{Scenario: "inspect", Seed: 1})
}
