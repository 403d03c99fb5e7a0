package main

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"regexp"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// app is one call of the program.
type app struct {
	stdout, stderr io.Writer
	stdin          io.Reader
	writing        atomic.Pointer[resultdir.Dir] // removed if the program is interrupted
	stopped        atomic.Bool
	reading        atomic.Pointer[progress] // of the verb's files
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
	err    error
	part   []byte // of a character whose rest has not been written yet
	before func() // called before something is written
}

// Write writes text. Whatever could control a terminal is escaped, but for the colours of
// slotwave's own headings.
func (p *printer) Write(b []byte) (int, error) {
	p.before()
	text := append(p.part, b...)
	whole := len(text)
	for k := 1; k < utf8.UTFMax && k <= len(text); k++ {
		if utf8.RuneStart(text[len(text)-k]) {
			if !utf8.FullRune(text[len(text)-k:]) {
				whole -= k
			}
			break
		}
	}
	p.part = bytes.Clone(text[whole:])
	var shown []byte
	for text = text[:whole]; len(text) > 0; {
		next := headings.FindIndex(text)
		if next == nil || !terminal(p.Writer) {
			next = []int{len(text), len(text)}
		}
		shown = append(append(shown, workload.Visible(text[:next[0]])...), text[next[0]:next[1]]...)
		text = text[next[1]:]
	}
	_, err := p.Writer.Write(shown)
	p.err = cmp.Or(p.err, err)
	return len(b), err
}

// headings are the colours of text.Writer.
var headings = regexp.MustCompile("\x1b\\[(0|1|33)m")

// data is the standard output for a table or document as it is in a file.
func (a *app) data() io.Writer {
	if p, ok := a.stdout.(*printer); ok {
		return raw{p}
	}
	return a.stdout
}

// raw writes to a printer as it is.
type raw struct{ *printer }

func (r raw) Write(b []byte) (int, error) {
	r.before()
	n, err := r.Writer.Write(b)
	r.err = cmp.Or(r.err, err)
	return n, err
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
