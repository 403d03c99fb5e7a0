package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// completions teaches the shells the names that verbs and flags take. Where a
// file may stand too, the shell completes files.
func completions(root *cobra.Command) {
	for _, c := range root.Commands() {
		if c.ValidArgsFunction != nil {
			continue
		}
		for _, words := range [...]struct {
			usage string
			names func() []string
			only  bool // no files
		}{
			{"SCENARIO", scenarios.List, false},
			{"STUDY", scenarios.List, false},
			{"PLATFORM", scenarios.Platforms, false},
			{"NAME", shippedNames, true},
			{"PAPER", paperNames, true},
		} {
			_, usage, _ := strings.Cut(c.Use, " ")
			if strings.HasPrefix(usage, words.usage) {
				c.ValidArgsFunction = titled(words.names, words.only)
				break
			}
		}
		for name, completion := range map[string]cobra.CompletionFunc{
			"format":   cobra.FixedCompletions(formatNames(trace.Format.Reads), directive(true)),
			"to":       cobra.FixedCompletions(formatNames(trace.Format.Writes), directive(true)),
			"fidelity": cobra.FixedCompletions(fidelityNames, directive(true)),
			"on":       titled(scenarios.List, false), "platform": titled(scenarios.Platforms, false),
		} {
			if c.Flags().Lookup(name) != nil {
				_ = c.RegisterFlagCompletionFunc(name, completion)
			}
		}
		for _, name := range []string{"set", "over"} {
			if c.Flags().Lookup(name) != nil {
				_ = c.RegisterFlagCompletionFunc(name, completeSetting)
			}
		}
	}
}

var fidelityNames = []string{"replay", "profile", "phase", "device"}

func directive(only bool) cobra.ShellCompDirective {
	if only {
		return cobra.ShellCompDirectiveNoFileComp
	}
	return cobra.ShellCompDirectiveDefault
}

// titled completes names with the titles of their files, which are read when a
// shell asks.
func titled(names func() []string, only bool) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var all []cobra.Completion
		for _, name := range names() {
			if title := scenarios.Title(name); title != "" {
				name = cobra.CompletionWithDesc(name, title)
			}
			all = append(all, name)
		}
		return all, directive(only)
	}
}

func shippedNames() []string {
	return slices.Concat(scenarios.List(), scenarios.Platforms(), scenarios.Profiles())
}

func paperNames() (names []string) {
	for _, p := range study.Papers() {
		names = append(names, p.Name)
	}
	return names
}

func formatNames(which func(trace.Format) bool) (names []cobra.Completion) {
	for _, f := range trace.Formats() {
		if which(f) {
			names = append(names, cobra.CompletionWithDesc(f.Name, f.About))
		}
	}
	return names
}

// completeSetting completes the key of KEY=VALUE, or the value if it is one of a
// few names. The keys are those that the scenario on the command line may have.
func completeSetting(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const more = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	if key, _, ok := strings.Cut(typed, "="); ok {
		var values []cobra.Completion
		for _, v := range settingValues(key) {
			values = append(values, key+"="+v)
		}
		return values, cobra.ShellCompDirectiveNoFileComp
	}
	name := "two-jobs"
	if len(args) > 0 {
		name = args[0]
	}
	var keys []cobra.Completion
	for _, key := range scenarios.Keys(name) {
		keys = append(keys, key+"=")
	}
	if strings.HasPrefix(typed, "conf.") {
		for _, key := range workload.Properties() {
			keys = append(keys, "conf."+key+"=")
		}
	}
	return keys, more
}

// settingValues returns the values of keys that take one of a few names.
func settingValues(key string) (names []string) {
	switch key[strings.LastIndexByte(key, '.')+1:] {
	case "fidelity":
		return fidelityNames
	case "platform":
		return scenarios.Platforms()
	case "profile":
		return scenarios.Profiles()
	case "hadoop":
		for i := range model.Releases {
			names = append(names, model.Releases[i].Name)
		}
		return names
	}
	if key == "scheduler.name" {
		return scheduler.Names()
	}
	return nil
}
