package main

import "github.com/spf13/cobra"

func platformCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "platform",
		Short: "Measure, fit and calibrate platforms, evaluate one model",
		Long: `Measure a simulated cluster with microbenchmarks, fit a platform model to
measured phases, find a platform that reproduces measurements or recorded jobs,
and evaluate one analytic model on a JSON object.`,
		Example: "  slotwave platform bench dl145-g3 --out my-profile.csv\n  slotwave platform fit my-profile.csv --heap 700m\n  slotwave platform calibrate history/done --out calibrated",
	}
	c.AddCommand(benchCommand(a), fitCommand(a), calibrateCommand(a), evalCommand(a))
	return c
}
