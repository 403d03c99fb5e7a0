package mrapp

import (
	"math"
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// speculator looks for slow tasks and starts second attempts of them
// (DefaultSpeculator). The zero speculator does nothing.
type speculator struct {
	a         *AppMaster // nil: off
	on        [2]bool    // for maps and for reduces
	estimator estimator
	needs     [2]int // attempts without a container
	begun     [2]bool
	tried     int         // tasks of which it has started an attempt
	open      [2][]*task  // those that have not succeeded; nil: to be made anew
	due       engine.Time // the next pass
	wait      engine.Time // since the last one
}

// history is what the speculator held of an attempt at its last look
// (TaskAttemptHistoryStatistics).
type history struct {
	seen     bool
	estimate int64
	progress float32
	changed  engine.Time
}

// silence is how long nothing may have changed before the speculator reports in the
// attempt's place (MAX_WAITTING_TIME_FOR_HEARTBEAT).
const silence = 9 * second

// startSpeculator makes the first pass at once.
func (a *AppMaster) startSpeculator() {
	s := &a.job.Settings.Speculation
	if a.uber || !s.Maps && !s.Reduces {
		return
	}
	a.speculator = speculator{
		a: a, on: [2]bool{workload.Map: s.Maps, workload.Reduce: s.Reduces},
		estimator: newEstimator(s),
	}
	a.speculator.pass()
}

func (s *speculator) watches(kind workload.Kind) bool { return s.a != nil && s.on[kind] }

// need counts attempts that ask for containers.
func (s *speculator) need(kind workload.Kind, by int) {
	if s.watches(kind) {
		s.needs[kind] += by
		s.begun[kind] = true
	}
}

// enroll notes the start of an attempt.
func (s *speculator) enroll(t *attempt) {
	if s.watches(t.task.kind) && t.run.Started {
		t.speculate.enrolled = milliseconds(t.run.Start)
	}
}

// remembers reports whether the reports of a child are looked up when a pass needs them:
// its progress is known for the past, and only the last report counts.
func (s *speculator) remembers() bool {
	return s.a.job.Executor.Foresees() && s.estimator.set.Estimator == Legacy
}

// recall takes the last report that a child has made at an interval. One of this instant
// comes before the pass if it was due earlier than the pass.
func (s *speculator) recall(t *attempt) {
	if !s.remembers() || t.child.outcome != workload.Running || t.state != running {
		return
	}
	every, now := s.a.job.reportInterval(), min(s.a.master.Now(), t.child.until)
	last := now - (now-t.run.Begin)%every
	if last == s.a.master.Now() && s.wait > every {
		last -= every
	}
	if last > t.run.Begin && last > t.speculate.told {
		t.speculate.told = last
		s.estimator.update(t, s.a.job.Executor.Progress(&t.run, last), milliseconds(last), true)
	}
}

// listen has a child report at fixed intervals.
func (s *speculator) listen(t *attempt) {
	if !s.watches(t.task.kind) || s.remembers() {
		return
	}
	every := s.a.job.reportInterval()
	var next func()
	next = func() {
		if t.child.outcome == workload.Running {
			s.report(t)
			s.a.step(t, every, next)
		}
	}
	s.a.step(t, t.run.Begin-t.run.Start+every, next)
}

// report takes the progress of an attempt (statusUpdate).
func (s *speculator) report(t *attempt) {
	if s.watches(t.task.kind) && (t.state == running || t.state == committing) {
		s.update(t, s.a.job.Executor.Progress(&t.run, s.a.master.Now()))
	}
}

func (s *speculator) update(t *attempt, progress float32) {
	t.speculate.told = s.a.master.Now()
	s.estimator.update(t, progress, milliseconds(s.a.master.Now()), t.state == running)
}

// succeeded notes the duration of a task (StartEndTimesBase.updateAttempt). Only the
// first success of a task counts.
func (s *speculator) succeeded(t *attempt) {
	if !s.watches(t.task.kind) {
		return
	}
	s.estimator.done(t, milliseconds(s.a.master.Now()))
}

func milliseconds(t engine.Time) int64 { return t.Duration().Milliseconds() }

// wake makes the pass that is due in this instant. The speculator's thread sleeps since
// before the heartbeat's does, so it wakes before a heartbeat of the same instant.
func (s *speculator) wake() {
	if s.a != nil && s.due == s.a.master.Now() && s.a.state != jobEnded {
		s.pass()
	}
}

// pass looks at all maps, then at all reduces, and sleeps longer if it has started
// something (computeSpeculations).
func (s *speculator) pass() {
	set := &s.a.job.Settings.Speculation
	wait := set.AfterNone
	maps := s.look(workload.Map, s.a.maptasks)
	if reduces := s.look(workload.Reduce, s.a.reducetasks); maps || reduces {
		wait = set.AfterSome
	}
	s.due, s.wait = s.a.master.Now()+wait, wait
	s.a.after(wait, s.wake)
}

// looks reports whether a pass looks at the tasks of a type.
func (s *speculator) looks(kind workload.Kind) bool {
	return s.begun[kind] && s.needs[kind] <= 0 && (s.tried > 0 || s.enough(kind))
}

// mayStart reports whether the next pass may start an attempt.
func (s *speculator) mayStart() bool {
	return s.a != nil && (s.looks(workload.Map) || s.looks(workload.Reduce))
}

// Reasons not to start an attempt, as values of a task.
const (
	onSchedule int64 = math.MinInt64 + iota
	alreadySpeculating
	notWorthIt
	notRunning
)

// look starts an attempt of the task of a type that gains most, unless an attempt of
// the type waits for a container or enough have been started
// (maybeScheduleASpeculation). Of equal gains, Hadoop takes the first in a hash map;
// here it is the first task.
func (s *speculator) look(kind workload.Kind, tasks []*task) bool {
	if !s.looks(kind) {
		return false
	}
	set := &s.a.job.Settings.Speculation
	already, running := 0, 0
	var best *task
	most := int64(-1)
	if s.open[kind] == nil || !s.enough(kind) { // then each task that was never tried counts as running
		s.open[kind] = slices.Clone(tasks)
	} else {
		s.open[kind] = slices.DeleteFunc(s.open[kind], func(k *task) bool { return k.state == taskSucceeded })
	}
	for _, k := range s.open[kind] {
		v := s.value(k)
		if v == alreadySpeculating {
			already++
		}
		if v != notRunning {
			running++
		}
		if v > most {
			best, most = k, v
		}
	}
	allowed := int(max(float64(set.Minimum), set.CapTotal*float64(len(tasks))))
	allowed = int(max(float64(allowed), set.CapRunning*float64(running)))
	if best == nil || allowed <= already {
		return false
	}
	best.tried = true
	s.tried++
	s.a.record.Speculative++
	s.a.addAttempt(best, false)
	s.a.settle()
	return true
}

// value is how many milliseconds a second attempt of a task would save, or why there
// shall be none (speculationValue).
func (s *speculator) value(k *task) int64 {
	if !k.tried && !s.enough(k.kind) {
		return onSchedule
	}
	now := milliseconds(s.a.master.Now())
	count := 0
	gain := int64(notRunning)
	for _, t := range k.attempts {
		if t.state != unassigned && t.state != running {
			continue
		}
		if count++; count > 1 {
			return alreadySpeculating
		}
		s.recall(t)
		if t.speculate.enrolled == 0 || t.speculate.enrolled > now {
			return notWorthIt
		}
		end := s.estimator.runtime(t) + t.speculate.enrolled
		replacement := now + s.estimator.replacement(k.kind)
		s.hear(t)
		if end < now || replacement >= end {
			return notWorthIt
		}
		gain = end - replacement
	}
	if count > 0 && k.tried && !s.enough(k.kind) {
		return onSchedule
	}
	return gain
}

// enough reports whether enough tasks of a type have ended for a comparison
// (StartEndTimesBase.thresholdRuntime).
func (s *speculator) enough(kind workload.Kind) bool {
	ended := s.a.ended[kind]
	return ended >= 1 && float32(ended)/float32(s.a.count(kind)) >= 0.05
}

// hear reports in the place of an attempt of which nothing new has been heard for a
// while, so that its estimate grows.
func (s *speculator) hear(t *attempt) {
	h := &t.speculate.history
	now := s.a.master.Now()
	estimate, progress := s.estimator.runtime(t), s.a.progress(t)
	switch {
	case !h.seen || h.estimate != estimate || h.progress != progress:
		*h = history{seen: true, estimate: estimate, progress: progress, changed: now}
	case now-h.changed > silence:
		h.changed = now
		s.update(t, progress)
	case s.estimator.stagnated(t, milliseconds(now)):
		s.update(t, progress)
	}
}
