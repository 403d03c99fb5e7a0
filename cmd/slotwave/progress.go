package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

const (
	lineInterval    = 30 * time.Second       // between two lines of progress where none is rewritten
	rewriteInterval = 150 * time.Millisecond // between two states of the line of a terminal
)

// progress shows how far long work is: as one line that is rewritten on a terminal
// that can move its cursor, elsewhere as a line now and then. If it is quiet, its
// methods do nothing.
type progress struct {
	units string
	began time.Time
	stop  chan struct{} // ends the lines; nil if nothing is shown
	lines sync.WaitGroup

	mutex  sync.Mutex
	status study.SweepStatus
	done   func() int // counts units that nobody reports; nil: they are reported
}

// progress shows units, such as tasks, with their rate and the time left. Total 0:
// it is not known yet.
func (a *app) progress(units string, total int, quiet bool) *progress {
	return a.progressOf(units, total, quiet, nil)
}

// progressOf is progress with a function that counts, or nil.
func (a *app) progressOf(units string, total int, quiet bool, done func() int) *progress {
	a.endReading()
	p := &progress{units: units, began: time.Now(), status: study.SweepStatus{Total: total}, done: done}
	if quiet {
		return p
	}
	p.stop = make(chan struct{})
	line := rewrittenLine{to: a.stderr, width: terminalWidth(a.stderr)}
	interval, show, end := lineInterval, func(text string) { fmt.Fprintln(a.stderr, text) }, func() {}
	if line.width > 0 && os.Getenv("TERM") != "dumb" {
		interval, show, end = rewriteInterval, line.show, func() { line.show("") }
	}
	p.lines.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		defer end()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				show(p.counted() + p.pace())
			}
		}
	})
	return p
}

// terminalWidth returns the columns of the terminal that w writes to, 0 if it is none.
func terminalWidth(w io.Writer) int {
	if p, ok := w.(*printer); ok {
		w = p.Writer
	}
	f, ok := w.(*os.File)
	if !ok || !terminal(f) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

// rewrittenLine is a line of a terminal that each text replaces.
type rewrittenLine struct {
	to    io.Writer
	width int // columns of the terminal
	shown int // characters of the last text
}

// show writes text over the last one and leaves the cursor at the start of the line.
func (l *rewrittenLine) show(text string) {
	letters := []rune(text)
	letters = letters[:min(len(letters), l.width-1)] // a full line would wrap
	blanks := strings.Repeat(" ", max(0, l.shown-len(letters)))
	fmt.Fprintf(l.to, "\r%s%s\r", string(letters), blanks)
	l.shown = len(letters)
}

// counted words what has ended.
func (p *progress) counted() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.done != nil {
		p.status.Done = min(p.done(), p.status.Total)
		p.status.Ended = p.status.Done
		if p.status.Done == p.status.Total {
			return fmt.Sprintf("all %d %s; computing for %v", p.status.Total, p.units, time.Since(p.began).Round(time.Second))
		}
	}
	text := fmt.Sprintf("%d %s", p.status.Done, p.units)
	if p.status.Total > 0 {
		text = fmt.Sprintf("%d/%d %s", p.status.Done, p.status.Total, p.units)
	}
	if p.status.Step != "" {
		text = p.status.Step + ": " + text
	}
	return printable(text)
}

// pace words the rate, the time left of what is known to be left, and the simulation
// that took longest.
func (p *progress) pace() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	s := &p.status
	left := s.Total - s.Done
	if p.done != nil && left == 0 {
		return ""
	}
	if s.Total == 0 {
		left = -1
	}
	text := speed(s.Ended, left, time.Since(p.began))
	if s.Step != "" {
		text = strings.Replace(text, " left", " left of this step", 1)
	}
	if s.Took > 0 && s.Step == "" {
		text += fmt.Sprintf(", slowest %s (%.2g s)", s.Slowest, s.Took.Seconds())
	}
	return printable(text)
}

// speed words a rate, and the time left unless left is negative: not known.
func speed(done, left int, took time.Duration) string {
	if done <= 0 || took <= 0 {
		return ""
	}
	rate := float64(done) / took.Seconds()
	text := fmt.Sprintf(" %.0f/s", rate)
	if rate < 10 {
		text = fmt.Sprintf(" %.2g/s", rate)
	}
	if left < 0 {
		return text
	}
	return fmt.Sprintf("%s, %v left", text, time.Duration(float64(left)/rate*float64(time.Second)).Round(time.Second))
}

// reads shows how far the files are read that a verb has as arguments, until something
// else is shown. Small ones take no time.
func (a *app) reads(c *cobra.Command, args []string) {
	const small = 32 // MiB
	is := func(name string) bool { f := c.Flags().Lookup(name); return f != nil && f.Value.String() == "true" }
	if is("quiet") || is("json") {
		return
	}
	size := int64(0)
	for _, path := range args {
		_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && !slices.Contains(pictures, filepath.Ext(e.Name())) {
				if info, err := e.Info(); err == nil {
					size += info.Size()
				}
			}
			return nil
		})
	}
	if mib := int(size >> 20); mib >= small {
		a.reading.Store(a.progressOf("MiB read", mib, false, func() int { return int(workload.BytesRead.Load() >> 20) }))
	}
}

// pictures are the endings of files of results that nobody reads.
var pictures = []string{".png", ".svg", ".html"}

// endReading ends the line of reads.
func (a *app) endReading() {
	if p := a.reading.Swap(nil); p != nil {
		p.end()
	}
}

// report counts the units that ended; it is nil if nothing is shown.
func (p *progress) report() study.Progress {
	if p.stop == nil {
		return nil
	}
	return func(ended int) {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.status.Done += ended
		p.status.Ended += ended
	}
}

// reportOf takes over a status; it is nil if nothing is shown.
func (p *progress) reportOf() study.SweepProgress {
	if p.stop == nil {
		return nil
	}
	return func(s study.SweepStatus) {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.status = s
	}
}

// end ends the lines. The line of a terminal is cleared.
func (p *progress) end() {
	if p.stop != nil {
		close(p.stop)
		p.lines.Wait()
	}
}
