package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/slotwave/slotwave/study"
)

// progress is a bar on a terminal that can move its cursor. Without one its
// methods do nothing.
type progress struct {
	container *mpb.Progress
	bar       *mpb.Bar
	ended     atomic.Int64
	slowest   atomic.Pointer[string]
}

// progress makes a bar over total units, such as tasks, with their rate and the
// time left. 0: the total is not known yet.
func (a *app) progress(units string, total int, quiet bool) *progress {
	p := &progress{}
	if quiet || !terminal(a.stderr) || os.Getenv("TERM") == "dumb" {
		return p
	}
	began, first := time.Now(), int64(-1)
	p.container = mpb.New(mpb.WithOutput(a.stderr), mpb.WithWidth(40))
	p.bar = p.container.AddBar(int64(total), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d "+units)),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
			if first < 0 {
				first = s.Current
			}
			text := speed(s.Current-first, s.Total-s.Current, time.Since(began))
			if slowest := p.slowest.Load(); slowest != nil {
				text += ", slowest " + *slowest
			}
			return text
		})))
	return p
}

// speed words a rate and the time left.
func speed(done, left int64, took time.Duration) string {
	if done <= 0 || took <= 0 {
		return ""
	}
	rate := float64(done) / took.Seconds()
	rest := time.Duration(float64(left) / rate * float64(time.Second)).Round(time.Second)
	if rate < 100 {
		return fmt.Sprintf(" %.1f/s, %v left", rate, rest)
	}
	return fmt.Sprintf(" %.0f/s, %v left", rate, rest)
}

// report advances the bar by the units that ended; it is nil without a bar.
func (p *progress) report() study.Progress {
	if p.bar == nil {
		return nil
	}
	return func(ended int) { p.bar.SetCurrent(p.ended.Add(int64(ended))) }
}

// reportOf sets the bar; it is nil without a bar.
func (p *progress) reportOf() study.SweepProgress {
	if p.bar == nil {
		return nil
	}
	return func(s study.SweepStatus) {
		if s.Took > 0 {
			text := printable(fmt.Sprintf("%s (%.2g s)", s.Slowest, s.Took.Seconds()))
			p.slowest.Store(&text)
		}
		p.bar.SetTotal(int64(s.Total), false)
		p.bar.SetCurrent(int64(s.Done))
	}
}

func (p *progress) end() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.container.Wait()
	}
}
