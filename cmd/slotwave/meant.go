package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/study"
)

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
		return fmt.Errorf("%s: got %s: want %s%s", strings.TrimPrefix(c.CommandPath(), "slotwave "), counted(args), strings.TrimSuffix(c.UseLine(), " [flags]"), misplaced(c, args))
	}
}

// taskForm is a task of a job, such as sort/m/12 or task_201311192236_0001_m_000012.
var taskForm = regexp.MustCompile(`[/_][mr][/_]\d+`)

// misplaced says which argument belongs to a flag, or is a verb.
func misplaced(c *cobra.Command, args []string) string {
	set, _ := c.Flags().GetStringArray("set")
	if inner := verbsOf(c); len(args) > 1 && input.Mistyped(args[0], inner) >= 0 {
		return fmt.Sprintf(" (did you mean %s %s?)", c.CommandPath(), inner[input.Mistyped(args[0], inner)])
	}
	for i, arg := range args {
		switch verb, _, _ := c.Root().Find(args[i:]); {
		case len(set) > 0 && !strings.Contains(set[len(set)-1], "="):
			return fmt.Sprintf(" (a setting is one word: --set %s=%s)", set[len(set)-1], args[len(args)-1])
		case strings.Contains(arg, "=") && c.Flags().Lookup("set") != nil:
			return fmt.Sprintf(" (a setting takes its own flag: --set %s)", arg)
		case strings.Contains(arg, "=") && c.Name() == "eval":
			return " (the values are read as a JSON object from standard input)"
		case taskForm.MatchString(arg) && c.Flags().Lookup("task") != nil:
			return fmt.Sprintf(" (a task takes its own flag: --task %s)", arg)
		case switchOf(c) != "" && slices.Contains([]string{"true", "false", "yes", "no", "on", "off"}, arg):
			return fmt.Sprintf(" (a switch takes no value: --%s, or --%[1]s=false)", switchOf(c))
		case verb != nil && verb != c.Root() && verb.Name() == arg:
			return fmt.Sprintf(" (%s is a verb too: want one a command)", arg)
		case slices.Contains(scheduler.Names(), arg) && c.Flags().Lookup("set") != nil:
			return fmt.Sprintf(" (a scheduler is a setting: --set scheduler.name=%s)", arg)
		case i == 1 && strings.HasPrefix(c.Use, c.Name()+" SCENARIO") && (namesScenario(arg) || isDir(arg)) && (namesScenario(args[0]) || isDir(args[0])):
			return fmt.Sprintf(" (slotwave compare %s %s compares two)", args[0], arg)
		}
	}
	if len(args) == 0 && strings.Contains(c.Use, "SCENARIO") {
		return "; slotwave list prints the scenarios that come with the program"
	}
	return ""
}

// switchOf names a switch that was given to a verb; empty: none was.
func switchOf(c *cobra.Command) (name string) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			name = f.Name
		}
	})
	return name
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

// unknownPart returns the error about the argument of a verb that has only verbs of its own.
func unknownPart(root *cobra.Command, args []string) error {
	verb, rest, err := root.Find(args)
	if err != nil || verb == root || verb.Runnable() || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return nil
	}
	return fmt.Errorf("%s: unknown verb %q%s", verb.Name(), rest[0], input.Suggest(rest[0], verbsOf(verb)))
}

// verbsOf lists the verbs of the program or of a verb.
func verbsOf(c *cobra.Command) (names []string) {
	for _, c := range c.Commands() {
		if c.Runnable() || c.HasSubCommands() {
			names = append(names, c.Name())
		}
	}
	return names
}

// unknownVerb returns the error about the first argument that is not a flag.
func unknownVerb(root *cobra.Command, args []string) error {
	names := verbsOf(root)
	for _, name := range args {
		if now := newName(name); now != "" {
			return renamed(name, now)
		}
		if namesScenario(name) {
			return fmt.Errorf("%s is a scenario, not a verb: the verb stands first, such as slotwave run %s", name, name)
		}
		if _, err := os.Stat(name); err == nil {
			return fmt.Errorf("%s is a path, not a verb: the verb stands first, such as slotwave inspect %s", name, name)
		}
		if !strings.HasPrefix(name, "-") {
			if verb := otherWords[name]; verb != "" {
				return fmt.Errorf("unknown verb %q: slotwave %s does that", name, verb)
			}
			if i := slices.IndexFunc(args, namesScenario); i >= 0 && input.Nearest(name, names) < 0 {
				return fmt.Errorf("unknown verb %q; slotwave run %s simulates it, and slotwave help lists the verbs", name, args[i])
			}
			if what, next := shippedWord(name); what != "" {
				return fmt.Errorf("%s is %s, not a verb; %s", name, what, next)
			}
			var all []string // with the topics of help
			for _, c := range root.Commands() {
				all = append(all, c.Name())
			}
			for _, n := range oldNames {
				all = append(all, n.old)
			}
			if i := input.Mistyped(name, all); i >= 0 && newName(all[i]) != "" {
				return renamed(all[i], newName(all[i]))
			} else if i >= 0 && !slices.Contains(names, all[i]) {
				return fmt.Errorf("unknown verb %q: want slotwave help %s", name, all[i])
			}
			return fmt.Errorf("unknown verb %q%s", name, input.Suggest(name, names))
		}
	}
	return errors.New("want a verb; slotwave help lists them")
}

// namesScenario reports whether an argument looks like a scenario.
func namesScenario(arg string) bool {
	return slices.Contains(scenarios.List(), arg) || filepath.Ext(arg) == ".toml"
}

// otherWords are what other tools and newcomers call the verbs.
var otherWords = map[string]string{
	"simulate": "run", "sim": "run", "launch": "run", "execute": "run", "submit": "run", "replay": "run", "exec": "run", "start": "run", "test": "run",
	"diff": "compare", "plot": "report", "view": "report", "open": "report",
	"why": "explain", "analyze": "diagnose", "analyse": "diagnose", "doctor": "diagnose",
	"price": "size", "cost": "size", "provision": "size", "optimize": "tune", "optimise": "tune", "vary": "sweep",
	"import": "convert", "export": "convert", "info": "inspect", "stats": "inspect", "describe": "inspect",
	"merge": "sweep merge", "plan": "sweep plan", "work": "sweep work", "check": "validate", "lint": "validate", "ls": "list", "cat": "show", "estimate": "predict",
}

// oldNames has what goes by another name since version 0.1.
var oldNames = []struct{ old, now string }{
	{"bench", ".ci/bench"},
	{"calibrate", "slotwave platform calibrate"},
	{"convert --to statistics", "slotwave convert --to profile"},
	{"convert --to toml", "slotwave run HISTORY"},
	{"eval", "slotwave platform eval"},
	{"fit", "slotwave platform fit"},
	{"man", "slotwave help VERB"},
	{"microbench", "slotwave platform bench"},
	{"platform eval spills", "slotwave run SCENARIO, which prints them"},
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

// otherFlags are what other tools and newcomers call the flags, and flags that other
// verbs have for the same.
var otherFlags = map[string]string{
	"out":                        "output dir folder dest destination results html o",
	"replications":               "seeds runs repeat repeats reps iterations trials times n",
	"workers":                    "threads parallel parallelism cores procs processes j",
	"verbose":                    "debug details all",
	"quiet":                      "silent",
	"force":                      "overwrite yes f",
	"json":                       "machine",
	"over":                       "vary sweep param range values",
	"set":                        "conf config define property prop override option D",
	"task":                       "attempt job map reduce id",
	"at":                         "time when instant second",
	"node":                       "host machine tracker server",
	"job":                        "jobs filter pattern match only",
	"to":                         "format type",
	"format":                     "type from",
	"metric":                     "goal objective target measure",
	"fidelity":                   "mode level detail",
	"on":                         "scenario config",
	"set scheduler.name=NAME":    "scheduler policy",
	"set cluster.map_slots=N":    "slots",
	"set cluster.hadoop=RELEASE": "release",
}

// meantFlag returns what a flag that a verb lacks stands for: another of its flags, its
// argument, a key of the scenario; empty: nothing is near.
func meantFlag(c *cobra.Command, name string, others []string) string {
	if verb, _, err := c.Root().Find([]string{name}); err == nil && c == c.Root() {
		return "a verb without dashes: " + verb.UseLine()
	}
	if name == "version" {
		return "slotwave --version"
	}
	if slices.Contains([]string{"dry-run", "check", "validate"}, name) && strings.Contains(c.Use, "SCENARIO") {
		return "slotwave validate FILE"
	}
	for _, flag := range slices.Sorted(maps.Keys(otherFlags)) {
		own, key, setting := strings.Cut(flag, " ")
		other := func(word string) bool { return word == name || word == name+"s" }
		if f := c.Flags().Lookup(own); f == nil || !slices.ContainsFunc(strings.Fields(otherFlags[flag]), other) {
			continue
		} else if value, _ := pflag.UnquoteUsage(f); !setting && value != "" {
			if strings.Contains(value, "int") {
				value = "N"
			}
			return "--" + own + " " + value
		}
		return strings.TrimSpace("--" + own + " " + key)
	}
	if argument := argumentForm.FindStringSubmatch(c.Use); argument != nil && slices.Contains([]string{"scenario", "file", "config", "input", "path"}, name) {
		return argument[1] + " without a flag"
	}
	if slices.Contains(strings.Fields(otherFlags["out"]), name) || name == "out" { // a verb without --out
		return "> FILE after the command, which prints"
	}
	var names, first []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		names = append(names, "--"+f.Name)
		if len(name) == 1 && strings.HasPrefix(f.Name, name) {
			first = append(first, "--"+f.Name)
		}
	})
	i := input.Nearest("--"+name, names)
	short := i >= 0 && len(name) > 4 && strings.HasPrefix(names[i], "--"+name) // cut short
	switch key := keyLike(name); {
	case short:
	case key != "" && c.Flags().Lookup("set") != nil && (len(others) == 0 || key == "--set "+name+"=VALUE"):
		return key
	case len(others) > 0:
		return ""
	}
	switch {
	case len(first) > 0:
		return strings.Join(first, " or ")
	case i >= 0 && len(name) > 1:
		return names[i]
	}
	return ""
}

// argumentForm finds the first argument of a verb in its usage.
var argumentForm = regexp.MustCompile(`^\S+ \[?([A-Z]+)`)

// keyLike returns the setting of the scenario's key with a name; empty: there is none.
func keyLike(name string) string {
	plain := func(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "-", "_"), "s") }
	keys := scenarioKeys()
	if slices.Contains(keys, name) {
		return "--set " + name + "=VALUE"
	}
	for _, key := range keys {
		if last := key[strings.LastIndexByte(key, '.')+1:]; plain(last) == plain(name) || key == "conf."+name {
			return "--set " + key + "=VALUE"
		}
	}
	return ""
}

// scenarioKeys lists the keys of scenarios on slots.
func scenarioKeys() (names []string) {
	f, err := scenarios.Open("two-jobs")
	if err != nil {
		return nil
	}
	keys, _ := f.Keys()
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return names
}

func renamed(old, now string) error { return fmt.Errorf("%s is now: %s", old, now) }

// wanted describes the values of a flag's type.
var wanted = map[string]string{
	"bool":     "true or false",
	"duration": "a time such as 90s, 10m or 2h",
	"float64":  "a number",
	"int":      "a whole number",
	"int64":    "a whole number",
	"uint64":   "a whole number, 0 or more",
}

// following returns what stands after a flag on the command line, or after its =.
func following(args []string, flag string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, flag+"="); ok {
			return value
		}
		if arg == flag && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// meantBy returns what a flag that a verb lacks stands for with its value, which decides
// for words that several tools use; empty: the value says nothing.
func meantBy(c *cobra.Command, word, value string) string {
	set, out := c.Flags().Lookup("set") != nil, append(strings.Fields(otherFlags["out"]), "out")
	switch {
	case set && slices.Contains([]string{"conf", "property", "prop", "D"}, word):
		return "--set conf." + cmp.Or(value, "KEY=VALUE")
	case value == "json" && (word == "format" || slices.Contains(out, word)) && c.Flags().Lookup("json") != nil:
		return "--json"
	case !slices.Contains(out, word) && (namesScenario(value) || word == "f" && study.IsFile(value)) && argumentForm.MatchString(c.Use) && c.Flags().Lookup("on") == nil:
		return fmt.Sprintf("it without a flag: %s %s", c.CommandPath(), value)
	}
	return ""
}

// flagError words the error about a flag.
func flagError(c *cobra.Command, args []string, err error) error {
	var unknown *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		word := unknown.GetSpecifiedName()
		name := "--" + word
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			name = "-" + short
			if word, _, _ = strings.Cut(short, "="); len(short) > 1 && short[0] == 'D' && slices.Contains(names, "--set") { // Hadoop's
				return fmt.Errorf("unknown flag %q: want --set conf.%s", name, short[1:])
			}
			if slices.Contains(names, "--"+word) {
				return fmt.Errorf("unknown flag %q: want --%s", "-"+word, word)
			}
		}
		if now := oldFlags[word]; now != "" && (!strings.HasPrefix(now, "--set") || c.Flags().Lookup("set") != nil) {
			return renamed(name, now)
		}
		others := verbsWith(c.Root(), word)
		if meant := cmp.Or(meantBy(c, word, following(args, name)), meantFlag(c, word, others)); meant != "" {
			return fmt.Errorf("unknown flag %q: want %s", name, meant)
		}
		help := fmt.Sprintf("slotwave help %s describes the flags of this verb", strings.TrimPrefix(c.CommandPath(), "slotwave "))
		if len(others) > 0 {
			return fmt.Errorf("unknown flag %q; it is a flag of %s; %s", name, strings.Join(others, ", "), help)
		}
		return fmt.Errorf("unknown flag %q; want one of %s; %s", name, strings.Join(names, ", "), help)
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

// verbsWith lists the verbs that have a flag.
func verbsWith(root *cobra.Command, flag string) (verbs []string) {
	for _, c := range root.Commands() {
		if c.Flags().Lookup(flag) != nil {
			verbs = append(verbs, "slotwave "+c.Name())
		}
	}
	return verbs
}
