package main

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/model/input"
)

// plainUsage wraps help pages at 80 columns, and replaces cobra's wording of
// usage errors.
func plainUsage(root *cobra.Command) {
	root.SetUsageTemplate(strings.NewReplacer(
		"Flags.FlagUsages ", "Flags.FlagUsagesWrapped 80 ",
		"[command]", "VERB",
		"Available Commands:", "Verbs:",
		"Additional help topics:", "Topics:",
		"more information about a command", "more about a verb",
	).Replace(root.UsageTemplate()))
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if c.Runnable() {
			shortPage(c)
		} else {
			fullPage(c)
		}
	})
	for _, c := range root.Commands() {
		plainArguments(c)
		for _, inner := range c.Commands() {
			plainArguments(inner)
		}
	}
}

// commonFlags mean the same for every verb that has them.
var commonFlags = []string{"out", "seed", "replications", "workers", "set", "fidelity", "json", "quiet", "verbose", "force", "help"}

// shortPage prints what -h fits on a screen: what the verb does, examples and the
// flags of its own.
func shortPage(c *cobra.Command) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags = false
	common := ""
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(commonFlags, f.Name) {
			own.AddFlag(f)
		} else if f.Name != "help" {
			common += " --" + f.Name
		}
	})
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s.\n\n", c.Short)
	if c.Example != "" {
		fmt.Fprintf(w, "%s\n\n", c.Example)
	}
	fmt.Fprintf(w, "Usage: %s\n", c.UseLine())
	if own.HasAvailableFlags() {
		fmt.Fprintf(w, "\n%s", own.FlagUsagesWrapped(screenWidth))
	}
	fmt.Fprintln(w)
	if common != "" {
		fmt.Fprintln(w, strings.Join(wrap("Common flags:"+common), "\n"))
	}
	fmt.Fprintf(w, "More: slotwave help %s\n", strings.TrimPrefix(c.CommandPath(), "slotwave "))
}

// fullPage prints all that is said of a verb or a topic.
func fullPage(c *cobra.Command) {
	w := c.OutOrStdout()
	about := strings.TrimSpace(c.Long)
	if about == "" {
		about = c.Short + "."
	}
	fmt.Fprintln(w, about)
	if c.Runnable() || c.HasSubCommands() {
		fmt.Fprintf(w, "\n%s", c.UsageString())
	}
}

// plain returns an error's text without the names of system calls and of the JSON
// encoder, and without a line that repeats the one before.
func plain(err error) string {
	text := err.Error()
	visit(err, func(err error) {
		switch e := err.(type) {
		case *fs.PathError:
			text = strings.ReplaceAll(text, e.Error(), e.Path+": "+e.Err.Error()+input.NearMissing(e))
		case *os.SyscallError:
			text = strings.ReplaceAll(text, e.Error(), e.Err.Error())
		}
	})
	text = strings.ReplaceAll(text, "jsontext: write error: ", "")
	return strings.Join(slices.Compact(strings.Split(text, "\n")), "\n")
}

// visit calls f with an error and with all errors that it wraps.
func visit(err error, f func(error)) {
	f(err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			visit(inner, f)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			visit(inner, f)
		}
	}
}
