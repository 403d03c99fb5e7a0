// Package sim is the simulated cluster: a JobTracker, its TaskTrackers and the
// attempts that run on them, driven by heartbeats.
package sim

import (
	"cmp"
	"fmt"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// Simulator answers a question by running it. It is a model.Predictor.
type Simulator struct {
	Recorder model.Recorder     // receives every attempt; may be nil
	Tracer   model.Tracer       // receives the offers; may be nil
	Spans    model.SpanRecorder // receives what threads of attempts do, at fidelity device; may be nil
	Limit    time.Duration      // of simulated time; 0: a thousand days
}

var _ model.Predictor = Simulator{}

// Stalled is the error of a run that cannot end: work is left, and no event
// will make it go on.
type Stalled struct {
	At   time.Duration
	Jobs []string // that have not ended
}

func (s *Stalled) Error() string {
	return fmt.Sprintf("the run stalled at %v with %d jobs unfinished (%s ...): no slot of the kind they need will ever be free",
		s.At, len(s.Jobs), s.Jobs[0])
}

// LimitReached is the error of a run that passed Simulator.Limit.
type LimitReached struct {
	Limit time.Duration
	Last  time.Duration // when the last job is submitted
}

func lastSubmit(jobs []workload.Job) (last time.Duration) {
	for i := range jobs {
		last = max(last, jobs[i].Submit)
	}
	return last
}

func (l *LimitReached) Error() string {
	text := fmt.Sprintf("the run passed %v of simulated time", l.Limit)
	if l.Last > l.Limit {
		text += fmt.Sprintf(": jobs are submitted up to %v after the first: want a part of the trace (first, last, jobs), or shorter gaps (scale_time, fold)", l.Last)
	}
	return text
}

// defaultLimit is the simulated time after which a run counts as endless.
const defaultLimit = 1000 * 24 * time.Hour

// Predict simulates the question.
func (s Simulator) Predict(q model.WhatIf) (model.Prediction, error) {
	jt, err := newJobTracker(&q)
	if err != nil {
		return model.Prediction{}, err
	}
	jt.recorder.to = s.Recorder
	jt.offers.to, jt.view.Traced = s.Tracer, s.Tracer != nil
	if s.Spans != nil {
		jt.exec.Trace(s.Spans)
	}
	limit, until := engine.At(cmp.Or(s.Limit, defaultLimit)), engine.Never
	if q.Until > 0 {
		until = engine.At(q.Until)
	}
	usage := jt.exec.Usage()
	for jt.ended < len(jt.jobs) {
		by := min(until, limit, engine.Never-1)
		if usage != nil {
			by = min(by, usage.Next-1)
		}
		if jt.eng.StepBy(by) {
			continue
		}
		next := jt.eng.Next()
		switch {
		case until < engine.Never && next > until:
			jt.cut(until)
			return jt.recorder.prediction(), nil
		case next == engine.Never:
			return model.Prediction{}, jt.stalled()
		case next > limit:
			return model.Prediction{}, &LimitReached{limit.Duration(), lastSubmit(q.Jobs)}
		}
		for usage != nil && next >= usage.Next {
			jt.eng.Wait(usage.Next)
			usage.Read()
		}
		jt.eng.Step()
	}
	jt.close(jt.now(), execute.Kill)
	return jt.recorder.prediction(), nil
}

// cut ends a run before its jobs have ended.
func (jt *jobTracker) cut(at engine.Time) {
	open := jt.recorder.cut(jt.submissions.submitted)
	jt.warn("the run was cut at %v with %d of %d jobs unfinished", at.Duration(), open, len(jt.jobs))
	jt.close(at, execute.Open)
}

// close ends the run: it records the attempts that are still on the trackers.
func (jt *jobTracker) close(end engine.Time, how execute.End) {
	for i := range jt.trackers {
		t := &jt.trackers[i]
		now := min(end, t.dies)
		t.settle(now, t.attempts())
		for _, a := range t.attempts() {
			if a.Finish > now {
				a.End, a.Finish = how, now
				a.own().status = killed
			} else if !a.reported && a.cleans == nil {
				a.status = a.state(t, now)
				if a.status == succeeded && a.task != nil && a.task.complete() {
					a.status = killed // another attempt finished first
				}
			}
			if !a.Started {
				a.Start = now
			}
			jt.forget(a)
		}
		t.held = nil
	}
}

func (jt *jobTracker) stalled() error {
	e := &Stalled{At: jt.now().Duration()}
	for i, j := range jt.jobs {
		if i >= jt.submissions.submitted || j != nil && j.State != scheduler.Done {
			e.Jobs = append(e.Jobs, jt.question.Jobs[i].ID)
		}
	}
	return e
}
