package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/results/resultdir"
)

func manCommand(a *app) *cobra.Command {
	to := destination{}
	c := &cobra.Command{
		Use: "man --out DIR", Short: "Write manual pages", Args: cobra.NoArgs,
		Long: `Write a manual page for the program, for each verb and for each topic. man finds
them in a folder man1 below a path of MANPATH.`,
		Example: "  slotwave man --out /usr/local/share/man/man1 --force",
	}
	c.Flags().StringVar(&to.out, "out", "", "`DIR` for the pages")
	c.Flags().BoolVar(&to.force, "force", false, "write into a directory that already holds other files")
	c.RunE = func(c *cobra.Command, args []string) error {
		if to.out == "" {
			return errors.New("man: want --out DIR")
		}
		root := c.Root()
		root.InitDefaultVersionFlag()
		parts := []part{{"slotwave.1", func(w io.Writer) error { return manPage(w, root) }}}
		for _, about := range root.Commands() {
			if about.Hidden {
				continue
			}
			parts = append(parts, part{"slotwave-" + about.Name() + ".1", func(w io.Writer) error { return manPage(w, about) }})
		}
		return a.deliver(c, args, &to, parts, resultdir.Manifest{Scenario: "man", Seed: 1})
	}
	return c
}

// manPage writes the help of a verb or a topic as a page of roff.
func manPage(w io.Writer, c *cobra.Command) error {
	c.InitDefaultHelpFlag()
	p := &printer{Writer: w}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	fmt.Fprintf(p, ".TH \"%s\" 1 \"\" \"slotwave %s\" \"slotwave\"\n", strings.ToUpper(name), roff(resultdir.ReadBuild(version, "").Version))
	fmt.Fprintf(p, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	if c.Runnable() {
		fmt.Fprintf(p, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	} else if c.HasParent() {
		fmt.Fprintf(p, ".SH SYNOPSIS\n.B slotwave help %s\n", roff(c.Name()))
	} else {
		fmt.Fprint(p, ".SH SYNOPSIS\n.B slotwave VERB [flags]\n")
	}
	if c.Long != "" {
		fmt.Fprintf(p, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", roff(c.Long))
	}
	if !c.HasParent() {
		fmt.Fprint(p, ".SH VERBS AND TOPICS\n")
		for _, v := range c.Commands() {
			if !v.Hidden {
				fmt.Fprintf(p, ".TP\n.B %s\n%s\n", roff(v.Name()), roff(v.Short))
			}
		}
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprint(p, ".SH OPTIONS\n")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, usage := pflag.UnquoteUsage(f)
			sign := "--" + f.Name
			if f.Shorthand != "" {
				sign = "-" + f.Shorthand + ", " + sign
			}
			fmt.Fprintf(p, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(sign+" "+value)), roff(usage))
		})
	}
	if c.Example != "" {
		fmt.Fprintf(p, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	if c.HasParent() {
		fmt.Fprint(p, ".SH SEE ALSO\n.BR slotwave (1)\n")
	}
	return p.err
}

// roff escapes a text. No line of it is a request.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer("\\", "\\e", "-", "\\-").Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = "\\&" + line
		}
	}
	return strings.Join(lines, "\n")
}
