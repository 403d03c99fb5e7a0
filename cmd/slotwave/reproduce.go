package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/reproduce"
)

// reproducing holds the flags of reproduce.
type reproducing struct {
	reproduce.Reproducing
	output
	list, all bool
}

func reproduceCommand(a *app) *cobra.Command {
	k := &reproducing{output: output{verbose: true}}
	c := &cobra.Command{
		Use:   "reproduce [PAPER]",
		Short: "Test what papers claim, over what they do not state",
		Long: `Simulate what a paper ran, and answer each of its claims: at which values of
the inputs that the paper does not state is it true? PAPER is one that --list
names. --all prints one line for each claim of all papers.

The verdict on a claim is:
  reproduced                   true over the whole range of the unknown inputs
  depends                      true in a part of it, which the page shows
  not reproduced               true nowhere in it
  not a simulator's business   no simulation can answer it

A simulated number agrees with "about" one if it is within 10 %; more than, less
than and exactly mean what they say. A paper prints no number marked "ours": it
stands for a word. --list names the parts of each paper; --figure makes one of
them, or those of a figure or section.

--out writes one page in Markdown with its pictures, or with --all a table. Its
directory keeps finished points: after an interruption the same command goes on.`,
		Example: "  slotwave reproduce --list\n  slotwave reproduce sonata --figure slots\n  slotwave reproduce --all --out out/claims",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case k.list && len(args) == 0 && !k.all:
				return listPapers(a.stdout)
			case k.all && len(args) == 0 && !k.list:
				if k.Figure != "" {
					return errors.New("--figure: want a PAPER")
				}
				return a.reproduce("", k)
			case k.list || k.all || len(args) == 0:
				return errors.New("reproduce: want one PAPER (slotwave reproduce --list names them), or --all or --list alone")
			}
			return a.reproduce(args[0], k)
		},
	}
	f := c.Flags()
	f.BoolVar(&k.list, "list", false, "list the papers and their parts")
	f.BoolVar(&k.all, "all", false, "answer the claims of all papers")
	f.StringVar(&k.Figure, "figure", "", "`PART` to make, as named by --list (default all)")
	f.StringVar(&k.Platform, "platform", "", "`PLATFORM` in place of the paper's, for zhang")
	k.output.flags(c, "`DIR` for the page and its pictures", forceFolder, forJSON, "print nothing")
	f.Uint64Var(&k.Seed, "seed", 1, "master seed of all random numbers")
	f.IntVar(&k.Workers, "workers", 0, "concurrent runs; 0 is one per core")
	return c
}

func listPapers(w io.Writer) error {
	papers, err := reproduce.Papers()
	if err != nil {
		return study.Internal(err)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range papers {
		p := &papers[i]
		fmt.Fprintf(t, "%s\t%s\n\t%s\n\tparts: %s\n", p.Name, p.Title, p.Source, strings.Join(p.Parts(), ", "))
	}
	return study.Internal(t.Flush())
}

// answered is the answer of reproduce: a page, or the claims of all papers.
type answered interface {
	Write(resultdir.Target) error
	WriteText(w io.Writer, colour bool) error
	WriteJSON(io.Writer) error
}

// reproduce answers the claims of one paper, or with an empty name of all.
func (a *app) reproduce(name string, k *reproducing) (err error) {
	defer collectLate()()
	k.Build = build()
	if _, err := scenarios.Platform(k.Platform); k.Platform != "" && err != nil && !study.IsFile(k.Platform) {
		return fmt.Errorf("--platform: %w", err)
	}
	if name != "" {
		if _, err := reproduce.Find(name); err != nil {
			return err
		}
		if k.Platform != "" && name != "zhang" {
			return fmt.Errorf("--platform %s: has no effect on %s: only the platform of zhang can be replaced", k.Platform, name)
		}
	}
	var d *resultdir.Dir
	if k.out != "" {
		k.Journal = k.out
		if d, err = a.begin(k.out, resultdir.Purpose{Verb: "reproduce", Force: k.force}); err != nil {
			return err
		}
		defer d.Abort()
	}
	bar := a.progress("points", 0, k.quiet)
	k.Progress = bar.reportOf()
	var page answered
	var warnings []string
	if name == "" {
		page, err = reproduce.All(k.Reproducing)
	} else {
		var p *reproduce.Reproduction
		if p, err = reproduce.Reproduce(name, k.Reproducing); err == nil {
			page, warnings = p, p.Warnings
		}
	}
	bar.end()
	if err != nil {
		return err
	}
	if !k.quiet {
		a.warn(warnings)
	}
	if d != nil {
		m := resultdir.Manifest{Arguments: k.arguments(name), Scenario: cmp.Or(name, "claims"), Seed: k.Seed}
		if err := a.end(d, m, page.Write); err != nil {
			return err
		}
	}
	next := []string{"reproduce", "--list"}
	if k.out == "" {
		next = []string{"reproduce", cmp.Or(name, "--all"), "--out", filepath.Join("out", cmp.Or(name, "claims"))}
	}
	return a.show(&k.output, page.WriteText, page.WriteJSON, next...)
}

// arguments returns the arguments that repeat the reproduction.
func (k *reproducing) arguments(name string) []string {
	args := []string{"reproduce", cmp.Or(name, "--all"), fmt.Sprintf("--seed=%d", k.Seed)}
	if k.Figure != "" {
		args = append(args, "--figure="+k.Figure)
	}
	if k.Platform != "" {
		args = append(args, "--platform="+k.Platform)
	}
	return args
}

func paperNames() (names []string) {
	papers, _ := reproduce.Papers() // a test reads them
	for i := range papers {
		names = append(names, papers[i].Name)
	}
	return names
}
