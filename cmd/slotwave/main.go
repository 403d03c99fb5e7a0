// Command slotwave simulates Hadoop MapReduce clusters.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	a := &app{stdout: os.Stdout, stderr: os.Stderr}
	go func() {
		s := <-stop
		a.stopped.Store(true)
		if d := a.writing.Load(); d != nil {
			d.Abort()
		}
		resultdir.Stop()
		if s == syscall.SIGTERM {
			os.Exit(143)
		}
		os.Exit(130)
	}()
	code := a.run(os.Args[1:])
	if a.stopped.Load() {
		select {} // the signal sets the exit code
	}
	os.Exit(code)
}

// garbagePercent makes Go collect garbage earlier than it does by itself. A
// simulation leaves little, so this costs almost no time and saves much memory.
const garbagePercent = 50

func (a *app) run(args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.stderr, "slotwave: internal error: %v\n", p)
			code = exitInternal
		}
	}()
	if a.stdin == nil {
		a.stdin = os.Stdin
	}
	out := &printer{Writer: a.stdout, before: a.endReading}
	defer a.endReading()
	a.stdout = out
	if len(args) > 1 && (args[0] == "--help" || args[0] == "-h") {
		args = append([]string{"help"}, args[1:]...)
	}
	root := a.root()
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(c, args, err) })
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.InitDefaultCompletionCmd(args...)
	err := unknownPart(root, args)
	if err == nil {
		var verb *cobra.Command
		verb, err = root.ExecuteC()
		err = cmp.Or(otherThan(ofFlag(verb, err)), out.err)
	}
	a.endReading()
	if _, _, unknown := root.Find(args); unknown != nil {
		err = unknownVerb(root, args)
	}
	if err == nil {
		return exitDone
	}
	if !a.stopped.Load() {
		fmt.Fprintf(a.stderr, "slotwave: %s\n", printable(plain(err)))
	}
	return exitCode(err)
}

// ofFlag names the flag whose file is missing.
func ofFlag(c *cobra.Command, err error) error {
	missing := (*fs.PathError)(nil)
	if !errors.As(err, &missing) {
		return err
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if text := err.Error(); strings.Trim(f.Value.String(), "[]") == missing.Path && !strings.Contains(text, "--"+f.Name) {
			err = fmt.Errorf("--%s: %w", f.Name, err)
		}
	})
	return err
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "slotwave",
		Short: "Simulate Hadoop MapReduce clusters",
		Long: `Simulate Hadoop MapReduce clusters, heartbeat by heartbeat, under the scheduler
of your choice, for recorded or synthetic workloads.

  slotwave run fb2009          simulate a day of Facebook's cluster in 2009
  slotwave list                list everything that comes with the program
  slotwave show two-jobs       print a scenario to start from`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       versionLine(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentPreRunE = a.readsWhole
	root.CompletionOptions.HiddenDefaultCmd = true
	for _, g := range []struct {
		id, title string
		verbs     []*cobra.Command
	}{
		{"simulate", "Simulate:", []*cobra.Command{runCommand(a), compareCommand(a), playCommand(a), sweepCommand(a)}},
		{"understand", "Understand:", []*cobra.Command{diagnoseCommand(a), explainCommand(a), reportCommand(a), inspectCommand(a)}},
		{"decide", "Decide:", []*cobra.Command{sizeCommand(a), measureCommand(a), tuneCommand(a), sensitivityCommand(a)}},
		{"models", "Models:", []*cobra.Command{predictCommand(a), platformCommand(a), reproduceCommand(a)}},
		{"data", "Data:", []*cobra.Command{convertCommand(a), validateCommand(a)}},
		{"more", "More:", []*cobra.Command{listCommand(a), showCommand(a)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.verbs {
			c.GroupID = g.id
		}
		root.AddCommand(g.verbs...)
	}
	root.SetHelpCommandGroupID("more")
	completions(root)
	root.AddCommand(topics()...)
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Run, c.RunE = nil, help
			c.Use, c.Short, c.Long = "help [VERB, TOPIC or WORD]", "Print the page of a verb or a topic, or explain a word", ""
		}
	}
	plainUsage(root)
	return root
}

// readsWhole refuses arguments that are results of slotwave with a changed table or
// document: figures from half of a disk error look like any other. With --force it warns.
func (a *app) readsWhole(c *cobra.Command, args []string) error {
	if c.Name() == "validate" { // which checks all that it can tell
		return nil
	}
	a.reads(c, args)
	errs := setTwice(c)
	if f := c.Flags().Lookup("out"); f != nil && f.Changed && f.Value.String() == "" {
		errs = append(errs, errors.New("--out: got an empty name: want a file or a folder"))
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	for _, path := range args {
		if err := resultdir.Unchanged(path); err != nil {
			errs = append(errs, err)
		}
	}
	err := errors.Join(errs...)
	if force := c.Flags().Lookup("force"); err != nil && force != nil && force.Changed {
		a.warn(strings.Split(err.Error(), "\n"))
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w\nthe result is not as slotwave wrote it: want it whole, or without manifest.json to read the files as they are", err)
	}
	return nil
}

// setTwice reports the keys that two flags set: the last one would hold, without a word.
func setTwice(c *cobra.Command) (errs []error) {
	first := map[string]string{}
	for _, name := range []string{"set", "over", "know"} {
		texts, _ := c.Flags().GetStringArray(name)
		for _, text := range texts {
			key, value, _ := strings.Cut(text, "=")
			kind := strings.Replace(name, "over", "set", 1) + " " + key
			if table, property, ok := strings.Cut(key, "conf."); ok { // which has two names
				kind = "set " + table + "conf." + workload.Canonical(strings.Trim(property, `"'`))
			}
			if other := first[kind]; other != "" {
				hint := ""
				if name == "set" && strings.HasPrefix(other, "--set ") && c.Flags().Lookup("over") != nil {
					_, before, _ := strings.Cut(other, "=")
					hint = fmt.Sprintf("; both: --over %s=%s,%s", key, before, value)
				}
				errs = append(errs, fmt.Errorf("%s and --%s %s: want one of them%s", other, name, text, hint))
			}
			first[kind] = "--" + name + " " + text
		}
	}
	return errs
}

// known lists what help has a page or an entry of.
func known(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	for _, w := range glossary() {
		names = append(names, w.names...)
	}
	for _, key := range scenarioKeys() {
		if table, _, ok := strings.Cut(key, "."); ok && !slices.Contains(names, table) {
			names = append(names, table)
		}
	}
	return names
}

// help shows the page of a verb or a topic, or a word of the glossary.
func help(c *cobra.Command, args []string) error {
	about, rest, err := c.Root().Find(args)
	if err != nil {
		name := strings.Join(args, " ")
		var verbs, keys []string
		for _, v := range c.Root().Commands() {
			verbs = append(verbs, v.Name())
		}
		found := explainWord(c.OutOrStdout(), name, verbs)
		for _, key := range scenarioKeys() {
			if key, ok := strings.CutPrefix(key, name+"."); ok {
				keys = append(keys, key)
			}
		}
		if len(keys) > 0 {
			found = true
			fmt.Fprintln(c.OutOrStdout(), strings.Join(wrap(fmt.Sprintf("[%s]: table of a scenario (docs/scenarios.md) with the keys %s", name, strings.Join(keys, ", "))), "\n"))
		}
		if found {
			return nil
		}
		if now := newName(name); now != "" {
			return renamed(name, now)
		}
		if p, ok := workload.FindProperty(name); ok {
			fmt.Fprintln(c.OutOrStdout(), strings.Join(wrap(propertyText(p)), "\n"))
			return nil
		}
		exact := cmp.Or(keyLike(scenarios.KeyOfJob(name)), keyLike(name))
		if i := input.Mistyped(name, workload.PropertyNames()); i >= 0 && exact == "" && strings.Contains(name, ".") {
			return fmt.Errorf("help %s: no such property (did you mean %s?)", name, workload.PropertyNames()[i])
		}
		if key := cmp.Or(exact, keyLike(name[strings.LastIndexByte(name, '.')+1:])); key != "" {
			return fmt.Errorf("help %s: a key of a scenario: want docs/scenarios.md, which has its meaning and default, or %s to set it", name, key)
		}
		if slices.Contains(scenarios.List(), name) {
			return fmt.Errorf("help %s: a scenario: want slotwave show %[1]s, which prints it", name)
		}
		return fmt.Errorf("help %s: no such page%s: want a verb, a topic (slotwave help lists them) or a word of the glossary", name, input.DidYouMean(name, known(c.Root())))
	}
	about.InitDefaultHelpFlag()                                        // so that the page shows it
	if len(rest) > 0 && !about.Runnable() && !about.HasSubCommands() { // a topic
		return help(c, rest)
	}
	if len(rest) > 0 || !about.Runnable() {
		about.HelpFunc()(about, rest)
	} else {
		fullPage(about)
	}
	return nil
}

func versionLine() string {
	b := build()
	line := "slotwave " + b.Version
	if b.Revision != "" {
		line += " (" + b.Revision[:min(12, len(b.Revision))] + ")"
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		line += " " + info.GoVersion
	}
	return line
}
