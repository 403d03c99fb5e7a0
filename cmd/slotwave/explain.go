package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/diagnosis"
)

func explainCommand(a *app) *cobra.Command {
	what, at := diagnose.Explained{}, time.Duration(-1)
	c := &cobra.Command{
		Use:   "explain PATH (--task TASK | --at TIME --node NODE)",
		Short: "Explain why a task ran when and where it did",
		Long: `Explain why the attempts of a task started when and where they did, and what
they spent their time on: how long they waited, which heartbeats offered slots
in that time, which jobs the scheduler asked, in which order, and what they
launched. --at and --node explain the last heartbeat of a node until then at
which it had a free slot and a job waited for one.

PATH is the folder of a result, a job history or a trace. TASK is the ID of the
job, m or r, and the index of the task: job/m/12. The decisions of the scheduler
are known only for a result of slotwave run --trace. Without them the
explanation uses the attempts alone.`,
		Example: "  slotwave run two-jobs --trace\n  slotwave explain out/two-jobs --task short/m/0\n  slotwave explain out/two-jobs --at 30s --node node1",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			byTime := c.Flags().Changed("at") || what.Node != ""
			if err := diagnosis.NotScenarios(args[0]); err != nil {
				return err
			}
			switch {
			case what.Task == "" && !byTime:
				return errors.New("--task: want a task, such as job/m/12, or --at and --node")
			case what.Task != "" && byTime:
				return errors.New("--task: got --at or --node also: want a task, or a time and a node")
			case byTime && what.Node == "":
				return errors.New("--node is missing: want the name of a node beside --at")
			case byTime && at < 0:
				return errors.New("--at is missing: want a time from the start of the run beside --node, such as 41s")
			}
			if err := study.SlotsOnly(args[0]); err != nil {
				return err
			}
			what.At = at
			warnings, err := diagnosis.Explain(a.stdout, args[0], what)
			if err == nil {
				a.warn(warnings)
				err = a.next(&output{}, "diagnose", args[0])
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&what.Task, "task", "", "`TASK` to explain, such as job/m/12")
	f.DurationVar(&at, "at", at, "`TIME` from the start of the run to explain, such as 83s")
	f.StringVar(&what.Node, "node", "", "`NODE` to explain at that time")
	f.Lookup("at").DefValue = "0s" // not printed
	return c
}
