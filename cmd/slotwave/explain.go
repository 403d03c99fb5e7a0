package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/study"
)

func explainCommand(a *app) *cobra.Command {
	task := ""
	c := &cobra.Command{
		Use:   "explain PATH --task TASK",
		Short: "Explain why a task ran when and where it did",
		Long: `Explain why the attempts of a task started when and where they did, and what
they spent their time on. The explanation uses only the recorded attempts.

PATH is the folder of a result, a job history or a trace. TASK is the ID of the
job, m or r, and the index of the task: job/m/12.`,
		Example: "  slotwave run two-jobs\n  slotwave explain out/two-jobs --task short/m/0",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if task == "" {
				return errors.New("--task: want a task, such as job/m/12")
			}
			warnings, err := study.Explain(a.stdout, args[0], task)
			if err == nil {
				a.warn(warnings)
			}
			return err
		},
	}
	c.Flags().StringVar(&task, "task", "", "`TASK` to explain, such as job/m/12")
	return c
}
