package main

import (
	"cmp"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study/tune"
)

// severalRuns is the default number of replications where an interval is needed.
const severalRuns = 5

func tuneCommand(a *app) *cobra.Command {
	k := &asked{costs: true}
	c := &cobra.Command{
		Use:   "tune SCENARIO|HISTORY",
		Short: "Search the Hadoop settings with which a job takes the least time",
		Long: `Search the Hadoop settings with which the only job of a scenario takes the
least time. The fidelity must be phase or device. A history gets a machine
first, as with run; runs take turns over all machines that explain it.

Herodotou's equations, rules of thumb and random draws propose settings. The
simulator chooses among them. It then changes one setting after another, and
several at a time. The gain is measured in
pairs of runs, one for each replication. Both runs of a pair have the same seed,
and the search has not used that seed. If the 95 % interval of a gain includes
0, slotwave reports that the setting makes no difference.

Heap sizes, slots and the format of the output stay as they are. --out writes
the settings as tune.csv.`,
		Example: "  slotwave tune my.toml\n  slotwave tune my.toml --replications 10 --out out/tuned",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.tune(args[0], k) },
	}
	k.flags(c, "none: only the machine of a history is kept, in out")
	k.verb = c
	addKnown(c, &k.known)
	f := c.Flags().Lookup("replications")
	f.Usage, f.DefValue, k.replications = "number of pairs of runs", "5", severalRuns
	return c
}

func (a *app) tune(name string, k *asked) error {
	defer collectLate()()
	s, err := a.open(name, k)
	if err != nil {
		return err
	}
	name = cmp.Or(k.machine, name)
	bar := a.progress("simulations", 0, k.quiet || k.json)
	t, err := tune.Tune(s, bar.reportOf())
	bar.end()
	if err != nil {
		return err
	}
	if k.out != "" {
		if err := a.keep(s, k, t.Write, k.arguments("tune", name)); err != nil {
			return err
		}
	}
	next := append(k.stated("tune", name), "--out", filepath.Join("out", s.Scenario.Name+"-tuned"))
	if k.out != "" {
		next = []string{"run", filepath.Join(k.out, resultdir.ManifestName)}
	}
	return a.show(&k.output, t.WriteText, t.WriteJSON, next...)
}
