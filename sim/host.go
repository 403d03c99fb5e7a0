package sim

import (
	"iter"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

var _ execute.Host = (*jobTracker)(nil)

// HeartbeatInterval implements execute.Host.
func (jt *jobTracker) HeartbeatInterval(node int32) engine.Time { return jt.trackers[node].interval }

// SplitNode implements execute.Host.
func (jt *jobTracker) SplitNode(a *execute.Attempt) int32 {
	if a.Locality == workload.NodeLocal || a.Locality == workload.NoLocality {
		return a.Node
	}
	return jt.jobs[a.Job.ID].pending.maps.hosts.source(a.Task, a.Node)
}

// Attempts implements execute.Host.
func (jt *jobTracker) Attempts(node int32) iter.Seq[*execute.Attempt] {
	return func(yield func(*execute.Attempt) bool) {
		for _, a := range jt.trackers[node].held {
			if !yield(&a.Attempt) {
				return
			}
		}
	}
}

// Report implements execute.Host.
func (jt *jobTracker) Report(node int32, at engine.Time) {
	t := &jt.trackers[node]
	t.reads = true
	t.reportable(at)
	jt.reports.changed(t)
}

// Worked implements execute.Host.
func (jt *jobTracker) Worked(a *execute.Attempt) {
	jt.moment = jt.betweenHeartbeats()
	jt.Report(a.Node, min(a.Pending, a.Finish))
}

// HeartbeatsOver implements execute.Host.
func (jt *jobTracker) HeartbeatsOver() { jt.beatsOver = jt.now() }

// betweenHeartbeats returns the moment of an event that is not a heartbeat.
func (jt *jobTracker) betweenHeartbeats() moment {
	if jt.beatsOver == jt.now() {
		return afterHeartbeats
	}
	return beforeHeartbeats
}

// giveSlots starts attempts that have waited for a slot.
func (jt *jobTracker) giveSlots(id int32) {
	if t, now := &jt.trackers[id], jt.now(); now < t.dies {
		jt.moment = jt.betweenHeartbeats()
		t.settle(now, t.attempts())
		jt.reports.changed(t)
	}
}
