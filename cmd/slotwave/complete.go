package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload/trace"
)

// completions teaches the shells the names that verbs and flags take. Where a file
// may stand too, the shell completes files.
func completions(parent *cobra.Command) {
	const only = cobra.ShellCompDirectiveNoFileComp
	names := map[string]func() []string{ // by what the usage of a verb begins with
		"SCENARIO": scenarios.List, "STUDY": scenarios.List, "PLATFORM": scenarios.Platforms, "NAME": shippedNames, "PAPER": paperNames,
	}
	for _, c := range parent.Commands() {
		completions(c)
		word := strings.Trim(strings.Join(strings.Fields(c.Use)[1:min(2, len(strings.Fields(c.Use)))], ""), "[].")
		if list := names[word]; list != nil && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return list(), cobra.ShellCompDirectiveDefault
			}
		}
		for name, complete := range map[string]cobra.CompletionFunc{
			"format":   cobra.FixedCompletions(formatNames(trace.Format.Reads), only),
			"fidelity": cobra.FixedCompletions([]string{"replay", "profile", "phase", "device"}, only),
			"set":      completeKey,
			"over":     completeKey,
		} {
			if c.Flags().Lookup(name) != nil {
				_ = c.RegisterFlagCompletionFunc(name, complete)
			}
		}
	}
}

func shippedNames() []string {
	return slices.Concat(scenarios.List(), scenarios.Platforms(), scenarios.Profiles())
}

func formatNames(which func(trace.Format) bool) (names []cobra.Completion) {
	for _, f := range trace.Formats() {
		if which(f) {
			names = append(names, cobra.CompletionWithDesc(f.Name, f.About))
		}
	}
	return names
}

// completeKey completes the key of KEY=VALUE: one that the scenario on the command
// line may have.
func completeKey(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var keys []cobra.Completion
	if f, err := scenarios.Open(append(args, "two-jobs")[0]); err == nil {
		list, _ := f.Keys()
		for _, k := range list {
			keys = append(keys, k.Name+"=")
		}
	}
	return keys, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}
