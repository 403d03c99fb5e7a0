// Command slotwave simulates Hadoop MapReduce clusters.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
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

// app is one call of the program.
type app struct {
	stdout, stderr io.Writer
	stdin          io.Reader
	writing        atomic.Pointer[resultdir.Dir] // removed if the program is interrupted
	stopped        atomic.Bool
}

// Exit codes.
const (
	exitDone     = 0
	exitInternal = 1
	exitInput    = 2
	exitLimit    = 3
	exitAbove    = 4
)

// coded is an error with an exit code of its own.
type coded struct {
	code int
	error
}

func (c coded) Unwrap() error { return c.error }

// printer is the standard output. It keeps the first error, so that callers
// need not check.
type printer struct {
	io.Writer
	err error
}

func (p *printer) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	p.err = cmp.Or(p.err, err)
	return n, err
}

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
	out := &printer{Writer: a.stdout}
	a.stdout = out
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := cmp.Or(root.Execute(), out.err)
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

// exitCode returns 2 for mistakes of the user, which most errors are, and
// another code for other errors.
func exitCode(err error) int {
	if c := (coded{}); errors.As(err, &c) {
		return c.code
	}
	if errors.As(err, new(study.InternalError)) {
		return exitInternal
	}
	if l := (*sim.LimitReached)(nil); errors.As(err, &l) {
		return exitLimit
	}
	return exitInput
}

// terminal reports whether a writer is one.
func terminal(w io.Writer) bool {
	if p, ok := w.(*printer); ok {
		w = p.Writer
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// version is set by the script that builds a release. Any other program has
// the version of its tag or commit.
var version string

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
	root.CompletionOptions.HiddenDefaultCmd = true
	for _, g := range []struct {
		id, title string
		verbs     []*cobra.Command
	}{
		{"simulate", "Simulate:", []*cobra.Command{runCommand(a), compareCommand(a), sweepCommand(a)}},
		{"understand", "Understand:", []*cobra.Command{diagnoseCommand(a), explainCommand(a), reportCommand(a), inspectCommand(a)}},
		{"decide", "Decide:", []*cobra.Command{sizeCommand(a), tuneCommand(a), sensitivityCommand(a)}},
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

// help shows the page of a verb or a topic, or a word of the glossary.
func help(c *cobra.Command, args []string) error {
	about, rest, err := c.Root().Find(args)
	if err != nil {
		name := strings.Join(args, " ")
		if explainWord(c.OutOrStdout(), name) {
			return nil
		}
		if now := newName(name); now != "" {
			return renamed(name, now)
		}
		return fmt.Errorf("help %s: no such page: want a verb, a topic (slotwave help lists them) or a word of the glossary", name)
	}
	about.InitDefaultHelpFlag() // so that the page shows it
	if len(rest) > 0 || !about.Runnable() {
		about.HelpFunc()(about, rest)
	} else {
		fullPage(about)
	}
	return nil
}

func versionLine() string {
	b := resultdir.ReadBuild(version, "")
	line := "slotwave " + b.Version
	if b.Revision != "" {
		line += " (" + b.Revision[:min(12, len(b.Revision))] + ")"
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		line += " " + info.GoVersion
	}
	return line
}
