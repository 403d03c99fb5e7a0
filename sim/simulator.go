// Package sim answers a question by running it on a simulated cluster.
//
//	Simulator.Predict
//	  ├─ sim/run         the question, the clock, where splits lie, what has happened
//	  ├─ sim/jobtracker  the master: heartbeats, tasks, slots; asks a policy of scheduler
//	  ├─ sim/execute     how an attempt spends its time, by fidelity
//	  │    └─ sim/station  disks, cores and links that attempts share
//	  └─ sim/engine      timers, and the order of events
//
// The simulator steps the engine until every job has ended. On YARN sim/yarn and
// sim/mrapp take the place of the JobTracker.
package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/sim/jobtracker"
	"github.com/slotwave/slotwave/sim/mrapp"
	"github.com/slotwave/slotwave/sim/run"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// Simulator answers a question by running it. It is a model.Predictor.
type Simulator struct {
	Recorder model.Recorder     // receives every attempt; may be nil
	Tracer   model.Tracer       // receives the offers; may be nil
	Spans    model.SpanRecorder // receives what threads of attempts do, at fidelity device; may be nil
	OnYARN   *OnYARN            // receives what a run on YARN has done; may be nil
	Limit    time.Duration      // of simulated time; 0: a thousand days
}

var _ model.Predictor = Simulator{}

// Stalled is the error of a run that cannot end: work is left, and no event
// will make it go on.
type Stalled struct {
	At   time.Duration
	Jobs []string // that have not ended
	Why  string
	Dead bool // every node has died
}

// Endless reports whether a run did not end because it passed its limit, or because
// every node died.
func Endless(err error) bool {
	var s *Stalled
	return errors.As(err, new(*LimitReached)) || errors.As(err, &s) && s.Dead
}

func (s *Stalled) Error() string {
	return fmt.Sprintf("the run stalled at %s with %s unfinished (%s ...): %s", text.Duration(int64(s.At)), workload.Counted(len(s.Jobs), "job", "jobs"), s.Jobs[0], s.Why)
}

// stalled is the error of a run in which nothing has happened since an instant. Nodes
// that have died explain it, or else the text does.
func stalled(q *model.WhatIf, since, now engine.Time, jobs []string, why string) error {
	dead := !slices.ContainsFunc(q.Cluster.Nodes, func(n model.Node) bool { return n.Dies == 0 || n.Dies > now.Duration() })
	if dead {
		why = "every node has died (dies)"
	}
	return &Stalled{since.Duration(), jobs, why, dead}
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
	why := fmt.Sprintf("the run passed %s of simulated time, the most that a run may take", text.Duration(int64(l.Limit)))
	if l.Last > l.Limit {
		why += fmt.Sprintf(": jobs are submitted up to %s after the first: want a part of the trace (first, last, jobs), or shorter gaps (scale_time, fold)", text.Duration(int64(l.Last)))
	}
	return why
}

// defaultLimit is the simulated time after which a run counts as endless.
const defaultLimit = 1000 * 24 * time.Hour

// master decides which task runs where: it makes the execution of a run, sets the
// timers of the engine, and counts the jobs that have ended.
type master interface {
	// Close records the attempts that are still on the nodes.
	Close(at engine.Time, how execute.End)
}

// newMaster makes the master of the release that a run imitates.
func newMaster(r *run.Run) (master, error) { return jobtracker.New(r) }

// Predict simulates the question.
func (s Simulator) Predict(q model.WhatIf) (model.Prediction, error) {
	if q.YARN != nil {
		return s.predictOnYARN(&q)
	}
	if slices.ContainsFunc(q.Jobs, func(j workload.Job) bool { return len(j.After) > 0 }) {
		q.Jobs = slices.Clone(q.Jobs) // their times of submission follow from the run
	}
	r, err := run.New(&q, s.Recorder)
	if err != nil {
		return model.Prediction{}, err
	}
	r.Tracer = s.Tracer
	m, err := newMaster(r)
	if err != nil {
		return model.Prediction{}, err
	}
	if s.Spans != nil {
		r.Exec.Trace(s.Spans)
	}
	limit, until := engine.At(cmp.Or(s.Limit, defaultLimit)), engine.Never
	if q.Until > 0 {
		until = engine.At(q.Until)
	}
	usage := r.Exec.Usage()
	for r.Ended < len(q.Jobs) {
		by := min(until, limit, engine.Never-1)
		if usage != nil {
			by = min(by, usage.Next-1)
		}
		if r.StepBy(by) {
			continue
		}
		next := r.Next()
		switch {
		case until < engine.Never && next > until:
			r.Cut(until)
			m.Close(until, execute.Open)
			return r.Recorder.Prediction(), nil
		case next == engine.Never:
			return model.Prediction{}, stalled(&q, r.Now(), r.Now(), r.Unfinished(), "no slot of the kind they need will ever be free")
		case next > limit:
			return model.Prediction{}, &LimitReached{limit.Duration(), lastSubmit(q.Jobs)}
		}
		for usage != nil && next >= usage.Next {
			r.Wait(usage.Next)
			usage.Read()
		}
		r.Step()
	}
	m.Close(r.Now(), execute.Kill)
	return r.Recorder.Prediction(), nil
}

// OnYARN is what a run on YARN has done. Times of containers, applications and
// attempts are from its start; those of what did not happen are yarn.None.
type OnYARN struct {
	Containers   []yarn.Row
	Applications []yarn.ApplicationRecord // by job of the question
	Jobs         []mrapp.JobRecord        // likewise; of the last ApplicationMaster
	Attempts     []YARNAttempt            // of RunOnYARN only: Simulator has a recorder for them
	Finished     []engine.Time            // by job: all its tasks have ended
	Queues       []policy.Bounds
	Limits       []Limit
}

// Limit is what kept jobs from containers, or what they did with theirs.
type Limit struct {
	policy.Refusal               // where most containers waited
	Time           time.Duration // of jobs
	Waiting        int           // containers, the most at one instant
}

// YARNAttempt is an attempt of a MapReduce task.
type YARNAttempt struct {
	Job    int
	Master int // attempt of the ApplicationMaster, from 1
	mrapp.AttemptRecord
}
