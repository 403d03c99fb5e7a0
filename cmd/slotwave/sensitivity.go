package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/study/sensitivity"
)

func sensitivityCommand(a *app) *cobra.Command {
	k := &asked{costs: true}
	by := ""
	c := &cobra.Command{
		Use:   "sensitivity SCENARIO|HISTORY",
		Short: "Change each cost and setting alone, and measure the effect",
		Long: `Change each cost and each setting of a scenario alone, and measure what that
does to the makespan. The fidelity must be phase or device. A history gets a
machine first, as with run; the pairs take turns over all machines that explain
it.

Rates of the machines, costs of Hadoop and of the job's own code, and the number
of reduces become less and more by --by. Every node gets a slot more, and one
less. A Hadoop property that tune searches takes both ends of its range.

Each change is simulated in pairs of runs, one for each replication. Both runs
of a pair have the same seed. If the 95 % interval of a change includes 0,
slotwave reports that the input makes no difference. The analytic models
predict the same changes; zhang needs models.platform_model.

--out writes the changes as sensitivity.csv and as a tornado plot.`,
		Example: "  slotwave sensitivity my.toml\n  slotwave sensitivity my.toml --by 10% --out out/sensitivity",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			part, err := parsePart("--by", by)
			if err != nil {
				return err
			}
			return a.sensitivity(args[0], k, part)
		},
	}
	k.flags(c, "none: only the machine of a history is kept, in out")
	k.verb = c
	addKnown(c, &k.known)
	c.Flags().StringVar(&by, "by", fmt.Sprintf("%.0f%%", 100*sensitivity.DefaultChange), "`PART` by which costs change")
	f := c.Flags().Lookup("replications")
	f.Usage, f.DefValue, k.replications = "number of pairs of runs", "5", severalRuns
	return c
}

func (a *app) sensitivity(name string, k *asked, by float64) error {
	defer collectLate()()
	s, err := a.open(name, k)
	if err != nil {
		return err
	}
	name = cmp.Or(k.machine, name)
	models, err := s.Models()
	if err != nil {
		return err
	}
	bar := a.progress("simulations", 0, k.quiet || k.json)
	r, err := sensitivity.Analyse(s, by, models, bar.reportOf())
	bar.end()
	if err != nil {
		return err
	}
	if k.out != "" {
		if err := a.keep(s, k, r.Write, append(k.arguments("sensitivity", name), fmt.Sprintf("--by=%v", by))); err != nil {
			return err
		}
	}
	return a.show(&k.output, r.WriteText, r.WriteJSON, k.stated("tune", name)...)
}
