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
			names []cobra.Completion
			only  bool // no files
		}{
			{"SCENARIO", titled(scenarios.List()), false},
			{"STUDY", titled(scenarios.List()), false},
			{"PLATFORM", titled(scenarios.Platforms()), false},
			{"NAME", titled(slices.Concat(scenarios.List(), scenarios.Platforms(), scenarios.Profiles())), true},
			{"PAPER", paperNames(), true},
		} {
			_, usage, _ := strings.Cut(c.Use, " ")
			if strings.HasPrefix(usage, words.usage) {
				c.ValidArgsFunction = cobra.FixedCompletions(words.names, directive(words.only))
				break
			}
		}
		for name, list := range map[string][]cobra.Completion{
			"format": formatNames(trace.Format.Reads), "to": formatNames(trace.Format.Writes),
			"fidelity": fidelityNames, "on": titled(scenarios.List()), "platform": titled(scenarios.Platforms()),
		} {
			if c.Flags().Lookup(name) != nil {
				_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(list, directive(name != "on" && name != "platform")))
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

func titled(names []string) (all []cobra.Completion) {
	for _, name := range names {
		all = append(all, cobra.CompletionWithDesc(name, scenarios.Title(name)))
	}
	return all
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
