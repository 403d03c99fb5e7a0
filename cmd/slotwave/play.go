package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study/play"
)

func playCommand(a *app) *cobra.Command {
	var o play.Options
	var to output
	c := &cobra.Command{
		Use:   "play SCENARIO",
		Short: "Write a page that simulates: change a setting, and the picture moves",
		Long: `Write one HTML page with the simulator in it. It opens from disk and needs no
server and no network. Sliders change nodes, slots, scheduler, heartbeat and any
other key; each change is simulated at once. Two settings can be compared in
words, a click on a bar explains it, and the address of the page holds the
experiment. The page also reads a scenario, trace or history dropped on it.

SCENARIO is a file, a shipped scenario, a trace or a history. The page holds it
with the files that it names, and all shipped scenarios. The numbers are those
of slotwave run.

From the sources, play needs the go command once, to build the simulator for the
browser. A release has it built in.`,
		Example: "  slotwave play two-jobs\n  slotwave play my.toml --set cluster.nodes=8 --out experiment.html",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			o.Name = args[0]
			o.Note = a.building(to.quiet)
			p, err := play.Open(o)
			if err != nil {
				return err
			}
			if to.out == "" {
				to.out = text.Slug("play-"+p.Scenario.Name) + ".html"
			}
			size, err := to.page("play", "page of play", p.Write)
			if err != nil {
				return err
			}
			if !to.quiet {
				a.warn(p.Scenario.Warnings)
				fmt.Fprintf(a.stdout, "page in %s (%.1f MB): open it in a browser\n", to.out, float64(size)/1e6)
			}
			return a.next(&to, "run", args[0])
		},
	}
	f := c.Flags()
	to.flags(c, "`FILE` to write (default play-NAME.html)", "replace a file that is no page of play", "", "print no text or warnings")
	f.StringArrayVar(&o.Set, "set", nil, "`KEY=VALUE` of the scenario that the page begins with; repeatable")
	f.Uint64Var(&o.Seed, "seed", 1, "master seed")
	return c
}

// building prints that the simulator for the browser is built, which takes long.
func (a *app) building(quiet bool) func(string) {
	return func(note string) {
		if !quiet {
			fmt.Fprintln(a.stderr, note)
		}
	}
}
