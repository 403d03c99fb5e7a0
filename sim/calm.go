package sim

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
	if h.attempt != nil {
		return h.attempt
	}
	m := &t.calm[h.calmSlot]
	a := t.cluster.records.newAttempt(m.job, m.task)
	a.Times, a.Locality, a.occupies = m.Times, m.locality, m.occupies
	a.Node, a.Kind, a.Started, a.slot = t.id, workload.Map, true, h.calmSlot
	a.Permitted = a.Pending < engine.Never && a.Finish < engine.Never
	a.runnable = engine.At(m.job.outcome.Running)
	h.attempt = a
	return a
}
