package jobtracker

import (
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// calmMap is a running attempt of an ordinary map of which nothing is expected
// before its next change: the part of the record that cannot be made again. It
// fills one line of the cache. Its tracker keeps it by the slot that it holds, and
// makes the whole record when it may have changed or when anybody asks for it.
type calmMap struct {
	execute.Times
	job      *jobInProgress
	task     int32
	locality workload.Locality
	occupies bool
}

// ordinary reports whether an attempt shares its details with all ordinary maps,
// so that it succeeds and nothing but its own work and commit decides when.
func (a *attempt) ordinary() bool { return a.attemptDetails == &a.job.cluster.records.ordinary }

// calmDown frees the record of an ordinary map that has its slot.
func (t *taskTracker) calmDown(h *heldAttempt) {
	if t.calm == nil {
		t.calm = make([]calmMap, t.view.Slots[workload.Map])
	}
	a := h.attempt
	h.attempt, h.calmSlot = nil, a.slot
	t.calm[h.calmSlot] = calmMap{a.Times, a.job, a.Task, a.Locality, a.occupies}
	t.cluster.records.freeAttempt(a)
}

// wake returns the record of an attempt, and makes it if the attempt is calm.
func (t *taskTracker) wake(h *heldAttempt) *attempt {
	if h.attempt == nil {
		h.attempt = t.calmRecord(h.calmSlot)
	}
	return h.attempt
}

// calmRecord makes the whole record of a calm map.
func (t *taskTracker) calmRecord(slot int32) *attempt {
	m := &t.calm[slot]
	a := t.cluster.records.newAttempt(m.job, m.task)
	a.Times, a.Locality, a.occupies = m.Times, m.locality, m.occupies
	a.Node, a.Kind, a.Started, a.slot = t.id, workload.Map, true, slot
	a.Permitted = a.Pending < engine.Never && a.Finish < engine.Never
	a.runnable = engine.At(m.job.outcome.Running)
	return a
}

// calmEnds returns the slots of the calm maps that have ended by a heartbeat of their
// tracker, in order of launch. It returns none if anything else may have changed.
func (t *taskTracker) calmEnds(now engine.Time) []int32 {
	if t.news > now || t.reads || t.waiting != [2]int32{} {
		return nil
	}
	ends := t.cluster.calmEnds[:0]
	for i := range t.held {
		h := &t.held[i]
		switch {
		case h.changes > now:
		case h.attempt != nil || !over(&t.calm[h.calmSlot].Times, t, now):
			return nil
		default:
			ends = append(ends, h.calmSlot)
		}
	}
	t.cluster.calmEnds = ends
	return ends
}

// endCalm removes the calm maps that have ended from their tracker. Their records stay
// valid until a map is launched.
func (t *taskTracker) endCalm(ends []int32) {
	kept := 0
	t.news = engine.Never
	for i := range t.held {
		h := &t.held[i]
		if h.changes <= t.last {
			continue
		}
		t.news = min(t.news, h.changes)
		if kept < i {
			t.held[kept] = *h
		}
		kept++
	}
	t.held = t.held[:kept]
	for _, slot := range ends {
		if t.calm[slot].job.speculation.tracked[workload.Map] {
			t.watched--
		}
		t.slots[workload.Map].give(slot, 1)
		if t.calm[slot].occupies {
			t.occupied[workload.Map]--
			t.inUse[workload.Map]--
		}
	}
}

// endCalm handles the report of a calm map that has ended.
func (jt *JobTracker) endCalm(t *taskTracker, slot int32) {
	m := &t.calm[slot]
	m.job.onlyAttemptSucceeded(workload.Map, execute.Output{Task: m.task, Node: t.id}, m.Finish)
	m.job.onTrackers--
	if !jt.Recorder.Passes() {
		jt.Recorder.Map(m.job.outcome, &m.Times, m.locality, workload.Succeeded)
		return
	}
	a := t.calmRecord(slot)
	a.status = succeeded
	jt.Recorder.Attempt(&a.Attempt, workload.Succeeded, a.slot, a.runnable)
	jt.records.freeAttempt(a)
}
