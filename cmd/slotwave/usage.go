package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/scenarios"
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
	root.SetFlagErrorFunc(flagError)
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

// plainArguments words what is wrong with the number of arguments.
func plainArguments(c *cobra.Command) {
	check := c.Args
	if check == nil {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		hint := ""
		if i := slices.IndexFunc(args, func(s string) bool { return strings.Contains(s, "=") }); i >= 0 && c.Flags().Lookup("set") != nil {
			hint = fmt.Sprintf(" (a setting takes its own flag: --set %s)", args[i])
		}
		return fmt.Errorf("%s: got %s: want %s%s", strings.TrimPrefix(c.CommandPath(), "slotwave "), counted(args), strings.TrimSuffix(c.UseLine(), " [flags]"), hint)
	}
}

func counted(args []string) string {
	switch len(args) {
	case 0:
		return "no argument"
	case 1:
		return fmt.Sprintf("argument %q", args[0])
	}
	return fmt.Sprintf("%d arguments, %s", len(args), strings.Join(args, " "))
}

// unknownVerb returns the error about the first argument that is not a flag.
func unknownVerb(root *cobra.Command, args []string) error {
	var names []string
	for _, c := range root.Commands() {
		if c.Runnable() || c.HasSubCommands() {
			names = append(names, c.Name())
		}
	}
	for _, name := range args {
		if now := newName(name); now != "" {
			return renamed(name, now)
		}
		if slices.Contains(scenarios.List(), name) || filepath.Ext(name) == ".toml" {
			return fmt.Errorf("%s is a scenario, not a verb: the verb stands first, such as slotwave run %s", name, name)
		}
		if !strings.HasPrefix(name, "-") {
			if verb := otherWords[name]; verb != "" {
				return fmt.Errorf("unknown verb %q: slotwave %s does that", name, verb)
			}
			return fmt.Errorf("unknown verb %q%s", name, input.Suggest(name, names))
		}
	}
	return errors.New("want a verb; slotwave help lists them")
}

// otherWords are what other tools and newcomers call the verbs.
var otherWords = map[string]string{
	"simulate": "run", "sim": "run", "replay": "run", "exec": "run", "start": "run", "test": "run",
	"diff": "compare", "plot": "report", "view": "report", "open": "report",
	"why": "explain", "analyze": "diagnose", "analyse": "diagnose", "doctor": "diagnose",
	"price": "size", "cost": "size", "provision": "size", "optimize": "tune", "optimise": "tune", "vary": "sweep",
	"import": "convert", "export": "convert", "info": "inspect", "stats": "inspect", "describe": "inspect",
	"check": "validate", "lint": "validate", "ls": "list", "cat": "show", "estimate": "predict",
}

// oldNames has the verbs of version 0.1 that go by another name now.
var oldNames = []struct{ old, now string }{
	{"bench", ".ci/bench"},
	{"calibrate", "slotwave platform calibrate"},
	{"eval", "slotwave platform eval"},
	{"fit", "slotwave platform fit"},
	{"man", "slotwave help VERB"},
	{"microbench", "slotwave platform bench"},
	{"profile", "slotwave convert --to profile"},
	{"sample", "slotwave convert --to samples"},
	{"oracle", "slotwave run CASE/case.json --set run=1"},
	{"rerun", "slotwave run RESULT/manifest.json"},
	{"version", "slotwave --version"},
}

// newName returns what a verb of version 0.1 is called now; empty: not renamed.
func newName(old string) string {
	for _, n := range oldNames {
		if n.old == old {
			return n.now
		}
	}
	return ""
}

// oldFlags has the flags of version 0.1 that are gone, and what replaces them.
var oldFlags = map[string]string{
	"first": "--set workload.first=N", "last": "--set workload.last=N", "jobs": "--set workload.jobs=N",
	"scale-jobs": "--set workload.scale_jobs=X", "scale-time": "--set workload.scale_time=X", "scale-bytes": "--set workload.scale_bytes=X",
	"fold":  "--set workload.fold.cycle=24h --set workload.fold.length=1h",
	"costs": "slotwave platform calibrate", "system": "--every 20ms,5s",
	"history": "--set models.history=PATH", "statistics": "--set models.statistics=FILE", "small": "--set models.small=PATH",
	"platform-model": "--set models.platform_model=FILE", "literal": "--set models.literal=true",
	"sort-factor": "--set io.sort.factor=N", "in-buffer": "--set mapred.job.shuffle.input.buffer.percent=X", "merge-at": "--set mapred.job.shuffle.merge.percent=X", "causes": "--set models.causes=false",
}

// otherFlags are what other tools and newcomers call the flags.
var otherFlags = map[string]string{
	"seeds": "--replications N", "runs": "--replications N", "repeat": "--replications N", "reps": "--replications N", "n": "--replications N",
	"scenario": "SCENARIO without a flag", "file": "SCENARIO without a flag", "config": "SCENARIO without a flag", "input": "SCENARIO without a flag",
	"nodes": "--set cluster.nodes=N", "scheduler": "--set scheduler.name=NAME", "hadoop": "--set cluster.hadoop=RELEASE", "slots": "--set cluster.map_slots=N", "vary": "--over KEY=VALUES", "sweep": "--over KEY=VALUES",
	"dir": "--out FOLDER", "folder": "--out FOLDER", "results": "--out FOLDER", "threads": "--workers N", "parallel": "--workers N", "debug": "--verbose", "silent": "--quiet", "overwrite": "--force",
}

func renamed(old, now string) error { return fmt.Errorf("%s is now: %s", old, now) }

// wanted describes the values of a flag's type.
var wanted = map[string]string{
	"bool":     "true or false",
	"duration": "a time such as 90s, 10m or 2h",
	"float64":  "a number",
	"int":      "a whole number",
	"uint64":   "a whole number, 0 or more",
}

// flagError words the error about a flag.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		name := "-" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() == "" {
			name = "-" + name
		}
		if word, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "="); slices.Contains(names, "--"+word) {
			return fmt.Errorf("unknown flag %q: want --%s", "-"+word, word)
		}
		if unknown.GetSpecifiedShortnames() == "o" && slices.Contains(names, "--out") {
			return errors.New(`unknown flag "-o": want --out`)
		}
		if other := otherFlags[unknown.GetSpecifiedName()]; other != "" {
			if flag, _, _ := strings.Cut(other, " "); slices.Contains(names, flag) || flag == "SCENARIO" {
				return fmt.Errorf("unknown flag %q: want %s", name, other)
			}
		}
		if now := oldFlags[unknown.GetSpecifiedName()]; now != "" {
			return renamed(name, now)
		}
		if others := verbsWith(c.Root(), unknown.GetSpecifiedName()); len(others) > 0 {
			return fmt.Errorf("unknown flag %q; it is a flag of %s", name, strings.Join(others, ", "))
		}
		return fmt.Errorf("unknown flag %q%s", name, input.Suggest(name, names))
	case errors.As(err, &empty):
		return fmt.Errorf("--%s: want a value", empty.GetSpecifiedName())
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		if want, ok := wanted[f.Value.Type()]; ok {
			return fmt.Errorf("--%s: got %q: want %s", f.Name, invalid.GetValue(), want)
		}
	}
	return err
}

// plain returns an error's text without the names of system calls and of the JSON
// encoder, and without a line that repeats the one before.
func plain(err error) string {
	text := err.Error()
	visit(err, func(err error) {
		switch e := err.(type) {
		case *fs.PathError:
			text = strings.ReplaceAll(text, e.Error(), e.Path+": "+e.Err.Error()+near(e))
		case *os.SyscallError:
			text = strings.ReplaceAll(text, e.Error(), e.Err.Error())
		}
	})
	text = strings.ReplaceAll(text, "jsontext: write error: ", "")
	return strings.Join(slices.Compact(strings.Split(text, "\n")), "\n")
}

// near says what there is in place of a missing file: a similar name, or the names in
// its folder.
func near(missing *fs.PathError) string {
	if !errors.Is(missing.Err, fs.ErrNotExist) || missing.Op == "mkdir" {
		return ""
	}
	folder, name := filepath.Split(filepath.Clean(missing.Path))
	entries, err := os.ReadDir(filepath.Clean(folder))
	if err != nil {
		return fmt.Sprintf("; there is no folder %s", filepath.Clean(folder))
	}
	var bases, names []string
	for _, e := range entries {
		bases, names = append(bases, e.Name()), append(names, folder+e.Name())
	}
	const most = 5
	i := input.Nearest(name, bases)
	switch {
	case i >= 0:
		return fmt.Sprintf(" (did you mean %s?)", names[i])
	case len(names) > most && folder != "":
		return fmt.Sprintf("; %s has %s and %d more", filepath.Clean(folder), strings.Join(names[:most], ", "), len(names)-most)
	case len(names) > 0 && folder != "":
		return fmt.Sprintf("; %s has %s", filepath.Clean(folder), strings.Join(names, ", "))
	}
	return ""
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

// verbsWith lists the verbs that have a flag.
func verbsWith(root *cobra.Command, flag string) (verbs []string) {
	for _, c := range root.Commands() {
		if c.Flags().Lookup(flag) != nil {
			verbs = append(verbs, "slotwave "+c.Name())
		}
	}
	return verbs
}
