package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/slotwave/slotwave/study"
)

// lineInterval is the time between two lines of progress where there is no bar.
const lineInterval = 30 * time.Second

// progress shows how far long work is: as a bar on a terminal that can move its
// cursor, elsewhere as a line now and then. If it is quiet, its methods do nothing.
type progress struct {
	units string
	began time.Time
	stop  chan struct{} // ends the lines; nil without them
	lines sync.WaitGroup

	container *mpb.Progress // nil without a bar
	bar       *mpb.Bar

	mutex  sync.Mutex
	status study.SweepStatus
}

// progress shows units, such as tasks, with their rate and the time left. Total 0:
// it is not known yet.
func (a *app) progress(units string, total int, quiet bool) *progress {
	p := &progress{units: units, began: time.Now(), status: study.SweepStatus{Total: total}}
	switch {
	case quiet:
	case terminal(a.stderr) && os.Getenv("TERM") != "dumb":
		p.container = mpb.New(mpb.WithOutput(a.stderr), mpb.WithWidth(40))
		p.bar = p.container.AddBar(int64(total), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return p.counted() })),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.pace() })))
	default:
		p.stop = make(chan struct{})
		p.lines.Go(func() {
			tick := time.NewTicker(lineInterval)
			defer tick.Stop()
			for {
				select {
				case <-p.stop:
					return
				case <-tick.C:
					fmt.Fprintln(a.stderr, p.counted()+p.pace())
				}
			}
		})
	}
	return p
}

// counted words what has ended.
func (p *progress) counted() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
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

// shown reports whether anybody sees the progress.
func (p *progress) shown() bool { return p.bar != nil || p.stop != nil }

// report counts the units that ended; it is nil if nothing is shown.
func (p *progress) report() study.Progress {
	if !p.shown() {
		return nil
	}
	return func(ended int) {
		p.mutex.Lock()
		p.status.Done += ended
		p.status.Ended += ended
		now := p.status
		p.mutex.Unlock()
		p.draw(now)
	}
}

// reportOf takes over a status; it is nil if nothing is shown.
func (p *progress) reportOf() study.SweepProgress {
	if !p.shown() {
		return nil
	}
	return func(s study.SweepStatus) {
		p.mutex.Lock()
		p.status = s
		p.mutex.Unlock()
		p.draw(s)
	}
}

// draw moves the bar. The mutex must be free: the bar waits for its texts.
func (p *progress) draw(s study.SweepStatus) {
	if p.bar != nil {
		p.bar.SetTotal(int64(s.Total), false)
		p.bar.SetCurrent(int64(s.Done))
	}
}

// end removes the bar, or ends the lines.
func (p *progress) end() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.container.Wait()
	}
	if p.stop != nil {
		close(p.stop)
		p.lines.Wait()
	}
}
