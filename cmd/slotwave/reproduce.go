package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/reproduce"
)

// reproducing holds the flags of reproduce.
type reproducing struct {
	reproduce.Reproducing
	out                string
	list               bool
	json, quiet, force bool
}

func reproduceCommand(a *app) *cobra.Command {
	k := &reproducing{}
	c := &cobra.Command{
		Use:   "reproduce PAPER",
		Short: "Simulate what a paper ran, beside its published figures",
		Long: `Simulate what a paper ran on its cluster, and print its tables and figures
beside the published numbers. PAPER is herodotou, hitune, khan, sonata or zhang.
--list names the parts of each paper; --figure makes one of them, or those of
a section.

--out writes one page in Markdown with its pictures. Numbers in columns named
published are those of the paper. What the paper does not state is listed as
assumed.`,
		Example: "  slotwave reproduce --list\n  slotwave reproduce zhang --figure 2\n  slotwave reproduce herodotou --out out/herodotou",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case k.list && len(args) == 0:
				return study.Internal(listPapers(a.stdout))
			case k.list || len(args) == 0:
				return errors.New("want one PAPER, or --list alone")
			}
			return a.reproduce(args[0], k)
		},
	}
	f := c.Flags()
	f.BoolVar(&k.list, "list", false, "list the papers and their parts")
	f.StringVar(&k.Figure, "figure", "", "`PART` to make, as named by --list (default all)")
	f.StringVar(&k.Platform, "platform", "", "`PLATFORM` in place of the paper's, for zhang")
	f.StringVar(&k.out, "out", "", "`DIR` for the page and its pictures")
	f.Uint64Var(&k.Seed, "seed", 1, "master seed of all random numbers")
	f.IntVar(&k.Workers, "workers", 0, "concurrent runs; 0 is one per core")
	f.BoolVar(&k.json, "json", false, "print JSON instead of text")
	f.BoolVar(&k.quiet, "quiet", false, "print nothing")
	f.BoolVar(&k.force, "force", false, "write into a directory that already holds other files")
	return c
}

func listPapers(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range reproduce.Papers() {
		fmt.Fprintf(t, "%s\t%s\n\t%s\n\tparts: %s\n", p.Name, p.Title, p.Source, strings.Join(p.Parts(), ", "))
	}
	return t.Flush()
}

func (a *app) reproduce(name string, k *reproducing) error {
	page, err := reproduce.Reproduce(name, k.Reproducing)
	if err != nil {
		return err
	}
	if k.out != "" {
		m := resultdir.Manifest{Arguments: k.arguments(name), Scenario: name, Seed: k.Seed}
		if err := a.folder(k.out, resultdir.Purpose{Verb: "reproduce", Force: k.force}, page.Write, m); err != nil {
			return err
		}
	}
	next := []string{"reproduce", "--list"}
	if k.out == "" {
		next = []string{"reproduce", name, "--out", filepath.Join("out", name)}
	}
	return a.show(&asked{out: k.out, quiet: k.quiet, json: k.json, verbose: true}, page.WriteText, page.WriteJSON, next...)
}

// arguments returns the arguments that repeat the reproduction.
func (k *reproducing) arguments(name string) []string {
	args := []string{"reproduce", name, fmt.Sprintf("--seed=%d", k.Seed)}
	if k.Figure != "" {
		args = append(args, "--figure="+k.Figure)
	}
	if k.Platform != "" {
		args = append(args, "--platform="+k.Platform)
	}
	return args
}

func paperNames() (names []string) {
	for _, p := range reproduce.Papers() {
		names = append(names, p.Name)
	}
	return names
}
