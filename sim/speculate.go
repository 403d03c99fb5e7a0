package sim

import (
	"time"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// A task may be run a second time when it is this far behind the average of
// its job, and the job this old (TaskInProgress.SPECULATIVE_GAP, SPECULATIVE_LAG).
const (
	speculativeGap = 0.2
	speculativeLag = engine.Time(60 * time.Second)
)

// mayBeSpeculated is TaskInProgress.hasSpeculativeTask.
func (t *task) mayBeSpeculated(now engine.Time, average float64) bool {
	return len(t.active) <= 1 && average-t.progress >= speculativeGap &&
		now-t.job.initAt >= speculativeLag && t.completes == 0 && !t.onlyCommitPending()
}

// Speculatable counts the running tasks that lag (DefaultTaskSelector,
// neededSpeculativeMaps and -Reduces).
func (j *job) Speculatable(k workload.Kind) int {
	now, average := j.jt.eng.Now(), j.progressOf(k)
	if now-j.initAt < speculativeLag || average < speculativeGap || j.ActiveTasks[k] == 0 {
		return 0
	}
	n := 0
	for i := range j.refs[k] {
		if t := j.record(k, int32(i)); t != nil && t.running() && t.mayBeSpeculated(now, average) {
			n++
		}
	}
	return n
}

// runningSet is a set of running tasks in the order in which they started. A
// task that has ended stays until it is met; its round tells.
type runningSet struct{ members []member }

type member struct{ task, round int32 }

func (s *runningSet) add(t *task) {
	// A split with several hosts in a rack comes several times in a row.
	m := member{t.index, t.round}
	if n := len(s.members); n == 0 || s.members[n-1] != m {
		s.members = append(s.members, m)
	}
}

// find looks for a task to speculate (JobInProgress.findSpeculativeTask).
// forget drops the tasks that this tracker will never run.
func (s *runningSet) find(j *job, k workload.Kind, tracker int32, forget bool) (int32, bool) {
	now, average := j.jt.eng.Now(), j.progressOf(k)
	kept := s.members[:0]
	found := int32(-1)
	for i, m := range s.members {
		t := j.record(k, m.task)
		if t == nil || t.round != m.round || !t.running() || !t.runnable() {
			continue
		}
		lags, ran := t.mayBeSpeculated(now, average), t.ranOn(tracker)
		switch {
		case lags && !ran:
			found = m.task
			if !forget {
				kept = append(kept, m)
			}
		case forget && (ran || j.jt.release.SpeculateFirst && lags):
		default:
			kept = append(kept, m)
		}
		if found >= 0 {
			kept = append(kept, s.members[i+1:]...)
			break
		}
	}
	s.members = kept
	return found, found >= 0
}

// speculate gives a lagging reduce.
func (s *runningSet) speculate(j *job, t *taskTracker) (int32, bool) {
	return s.find(j, workload.Reduce, t.id, false)
}

// runningSets are the running maps by node and by rack of their splits
// (JobInProgress.runningMapCache, nonLocalRunningMaps).
type runningSets struct {
	nodes, racks map[int32]*runningSet
	unplaced     runningSet
}

func (r *runningSets) add(j *job, t *task) {
	hosts := j.hosts.of(j, t.index)
	if len(hosts) == 0 {
		r.unplaced.add(t)
		return
	}
	if r.nodes == nil {
		r.nodes, r.racks = make(map[int32]*runningSet), make(map[int32]*runningSet)
	}
	for _, h := range hosts {
		addTo(r.nodes, h.node, t)
		addTo(r.racks, h.rack, t)
	}
}

func addTo(sets map[int32]*runningSet, key int32, t *task) {
	s := sets[key]
	if s == nil {
		s = &runningSet{}
		sets[key] = s
	}
	s.add(t)
}

// speculate gives a lagging map: from the lists of the tracker's node, its
// rack, the other racks, and last those without hosts.
func (r *runningSets) speculate(j *job, t *taskTracker) (int32, bool) {
	if s := r.nodes[t.id]; s != nil {
		if index, ok := s.find(j, workload.Map, t.id, true); ok {
			return index, true
		}
	}
	if j.jt.eng.Now()-j.initAt < speculativeLag || float64(j.mapProgress) < speculativeGap {
		return 0, false
	}
	if s := r.racks[t.rack]; s != nil {
		if index, ok := s.find(j, workload.Map, t.id, false); ok {
			return index, true
		}
	}
	for rack := range int32(len(j.jt.q.Cluster.Racks)) {
		if s := r.racks[rack]; s != nil && rack != t.rack {
			if index, ok := s.find(j, workload.Map, t.id, false); ok {
				return index, true
			}
		}
	}
	return r.unplaced.find(j, workload.Map, t.id, false)
}
