package jobtracker

import (
	"iter"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

var _ execute.Host = (*JobTracker)(nil)

// FetchInterval implements execute.Host: a tracker asks once per heartbeat interval,
// which it has from the last response.
func (jt *JobTracker) FetchInterval(node int32) engine.Time { return jt.trackers[node].interval }

// CommitWait implements execute.Host: the answer comes with the next heartbeat.
func (jt *JobTracker) CommitWait(node int32) engine.Time { return jt.trackers[node].interval }

// SplitNode implements execute.Host.
func (jt *JobTracker) SplitNode(a *execute.Attempt) int32 {
	if a.Locality == workload.NodeLocal || a.Locality == workload.NoLocality {
		return a.Node
	}
	return jt.jobs[a.Job.ID].pending.maps.hosts.Source(a.Task, a.Node)
}

// Attempts implements execute.Host.
func (jt *JobTracker) Attempts(node int32) iter.Seq[*execute.Attempt] {
	return func(yield func(*execute.Attempt) bool) {
		for _, a := range jt.trackers[node].held {
			if !yield(&a.Attempt) {
				return
			}
		}
	}
}

// Report implements execute.Host.
func (jt *JobTracker) Report(node int32, at engine.Time) {
	t := &jt.trackers[node]
	t.reads = true
	t.reportable(at)
	jt.reports.changed(t)
}

// Worked implements execute.Host.
func (jt *JobTracker) Worked(a *execute.Attempt) {
	jt.position = jt.betweenHeartbeats()
	jt.Report(a.Node, min(a.Pending, a.Finish))
}

// HeartbeatsOver implements execute.Host.
func (jt *JobTracker) HeartbeatsOver() { jt.beatsOver = jt.Now() }

// betweenHeartbeats returns the position of an event that is not a heartbeat.
func (jt *JobTracker) betweenHeartbeats() position {
	if jt.beatsOver == jt.Now() {
		return afterHeartbeats
	}
	return beforeHeartbeats
}

// giveSlots starts attempts that have waited for a slot.
func (jt *JobTracker) giveSlots(id int32) {
	if t, now := &jt.trackers[id], jt.Now(); now < t.dies {
		jt.position = jt.betweenHeartbeats()
		t.settle(now, t.attempts())
		jt.reports.changed(t)
	}
}
