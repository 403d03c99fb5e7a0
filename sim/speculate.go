package sim

import (
	"math"
	"math/bits"
	"time"

	"github.com/slotwave/slotwave/scheduler"
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
	return average-t.progress >= speculativeGap && now-t.job.initAt >= speculativeLag && t.isAlone()
}

// isAlone reports whether a single attempt runs, and has not come to its end.
func (t *task) isAlone() bool {
	return len(t.active) <= 1 && t.completes == 0 && !t.onlyCommitPending()
}

// Speculatable counts the running tasks that lag (DefaultTaskSelector,
// neededSpeculativeMaps and -Reduces).
func (j *job) Speculatable(k workload.Kind) int {
	now, average := j.jt.eng.Now(), j.progressOf(k)
	if now-j.initAt < speculativeLag || average < speculativeGap || j.ActiveTasks[k] == 0 {
		return 0
	}
	n := 0
	if j.calm {
		set := j.running(k)
		for i, t := set.lagging(j, k, 0); t != nil; i, t = set.lagging(j, k, i+1) {
			n++
		}
		return n
	}
	for _, i := range j.live[k] {
		if t := j.record(k, i); t.running() && t.mayBeSpeculated(now, average) {
			n++
		}
	}
	return n
}

// A job is calm if none of its attempts can end but well, or because another
// one was faster: then a task that runs never waits again, and no list or set
// needs to be pruned at every heartbeat to stay what it is in Hadoop.
func (j *job) isCalm() bool {
	jt := j.jt
	p, ok := jt.sched.(scheduler.Preemptor)
	return !jt.release.Ideal && !jt.mortal && !jt.brittle && !(ok && p.Preempts()) &&
		len(j.spec.Maps.Fails) == 0 && len(j.spec.Reduces.Fails) == 0
}

// waiting is how many tasks have no attempt yet.
func (j *job) waiting(k workload.Kind) int {
	return j.Tasks[k] - j.Finished[k] - j.ActiveTasks[k] - j.FailedTasks[k]
}

// lags reports whether a tracker could be given a second attempt of some task.
// Of a job too young for that it remembers to ask again.
func (j *job) lags(k workload.Kind) bool {
	if _, found := j.running(k).first(j, k, nowhere); !found {
		return false
	}
	if old := j.initAt + speculativeLag; j.jt.eng.Now() < old {
		if !j.young {
			j.young = true
			j.matures = j.jt.eng.NewTimer(engine.Submission, int32(j.ID), j.jt.mature)
			j.matures.Reset(old)
		}
		return false
	}
	return true
}

// running is the set of the running tasks of a type.
func (j *job) running(k workload.Kind) *runningSet {
	if k == workload.Map {
		return &j.runningMaps.all
	}
	return &j.runningReduces
}

// mature is the instant from which tasks of a job may be speculated.
func (jt *jobTracker) mature(id int32) {
	jt.turn = beforeBeats
	jt.jobs[id].settleNeeds()
	jt.offer()
}

// nowhere is no tracker's number.
const nowhere = -1

// runningSet is a set of running tasks in the order in which they started. A
// task that has ended stays until it is met; its round tells.
//
// The first that lags is found by a tournament of lower bounds: a task's
// progress only grows, so what was too far ahead at the last look stays out of
// sight until the average has caught up with it. Where progress was lost
// (job.setbacks) the bounds start anew.
type runningSet struct {
	members  []member
	low      []float32 // low[1] is the least of all, low[len(low)/2+i] that of member i
	setbacks int32
}

type member struct{ task, round int32 }

// ended is the bound of a task that will not be speculated.
var ended = float32(math.Inf(1))

func (s *runningSet) add(j *job, t *task) {
	// A split with several hosts in a rack comes several times in a row.
	m := member{t.index, t.round}
	if n := len(s.members); n > 0 && s.members[n-1] == m {
		return
	}
	if len(s.members) == len(s.low)/2 {
		s.grow(j, t.kind)
	}
	s.members = append(s.members, m)
	s.bound(len(s.members)-1, 0)
}

// grow makes room, first of all by forgetting the tasks that have ended.
func (s *runningSet) grow(j *job, k workload.Kind) {
	const least = 4
	kept := s.members[:0]
	for _, m := range s.members {
		if m.of(j, k) != nil {
			kept = append(kept, m)
		}
	}
	s.members = kept
	if n := 1 << bits.Len(uint(max(least, len(kept)*2)-1)); len(s.low) != 2*n {
		s.low = make([]float32, 2*n)
	}
	s.restart()
}

// restart makes every bound the lowest.
func (s *runningSet) restart() {
	n := len(s.low) / 2
	clear(s.low[n : n+len(s.members)])
	for i := n + len(s.members); i < 2*n; i++ {
		s.low[i] = ended
	}
	for i := n - 1; i > 0; i-- {
		s.low[i] = min(s.low[2*i], s.low[2*i+1])
	}
}

// bound sets a member's bound.
func (s *runningSet) bound(i int, low float32) {
	i += len(s.low) / 2
	s.low[i] = low
	for i /= 2; i > 0; i /= 2 {
		least := min(s.low[2*i], s.low[2*i+1])
		if s.low[i] == least {
			return
		}
		s.low[i] = least
	}
}

// next is the first member from i on whose bound is that of a task that lags,
// or -1.
func (s *runningSet) next(i int, average float64) int {
	n := len(s.low) / 2
	if i >= n {
		return -1
	}
	ahead := func(p int) bool { return average-float64(s.low[p]) < speculativeGap }
	p := n + i
	for ahead(p) {
		for p&1 == 1 {
			p /= 2
		}
		if p == 0 {
			return -1
		}
		p++
	}
	for p < n {
		if p *= 2; ahead(p) {
			p++
		}
	}
	return p - n
}

// of is the task if it still runs as it did when it became a member.
func (m member) of(j *job, k workload.Kind) *task {
	t := j.record(k, m.task)
	if t == nil || t.round != m.round || !t.running() || !t.runnable() {
		return nil
	}
	return t
}

// lagging is the first member from i on that lags, and its task.
func (s *runningSet) lagging(j *job, k workload.Kind, i int) (int, *task) {
	if s.setbacks != j.setbacks {
		s.setbacks = j.setbacks
		s.restart()
	}
	average := j.progressOf(k)
	for i = s.next(i, average); i >= 0; i = s.next(i+1, average) {
		low := ended
		t := s.members[i].of(j, k)
		if t != nil && t.isAlone() {
			low = float32(t.progress)
		}
		s.bound(i, low)
		if average-float64(low) >= speculativeGap {
			return i, t
		}
	}
	return -1, nil
}

// first is the first task that lags and has not been on a tracker.
func (s *runningSet) first(j *job, k workload.Kind, tracker int32) (int32, bool) {
	for i, t := s.lagging(j, k, 0); t != nil; i, t = s.lagging(j, k, i+1) {
		if !t.ranOn(tracker) {
			return t.index, true
		}
	}
	return 0, false
}

// speculate gives a lagging reduce (JobInProgress.findSpeculativeTask).
func (s *runningSet) speculate(j *job, t *taskTracker) (int32, bool) {
	if j.jt.eng.Now()-j.initAt < speculativeLag {
		return 0, false
	}
	return s.first(j, workload.Reduce, t.id)
}

// runningSets are the running maps by node and by rack of their splits
// (JobInProgress.runningMapCache, nonLocalRunningMaps). Until a tracker asks
// for them they are not told apart.
type runningSets struct {
	all      runningSet
	sorted   bool
	nodes    map[int32][]member
	racks    map[int32]*runningSet
	unplaced runningSet
}

func (r *runningSets) add(j *job, t *task) {
	r.all.add(j, t)
	if r.sorted {
		r.sort(j, t)
	}
}

func (r *runningSets) sort(j *job, t *task) {
	hosts := j.hosts.of(j, t.index)
	if len(hosts) == 0 {
		r.unplaced.add(j, t)
		return
	}
	m := member{t.index, t.round}
	for _, h := range hosts {
		if list := r.nodes[h.node]; len(list) == 0 || list[len(list)-1] != m {
			r.nodes[h.node] = append(list, m)
		}
		s := r.racks[h.rack]
		if s == nil {
			s = &runningSet{}
			r.racks[h.rack] = s
		}
		s.add(j, t)
	}
}

func (r *runningSets) sortAll(j *job) {
	r.sorted = true
	r.nodes, r.racks = make(map[int32][]member), make(map[int32]*runningSet)
	for _, m := range r.all.members {
		if t := m.of(j, workload.Map); t != nil {
			r.sort(j, t)
		}
	}
}

// speculate gives a lagging map: from the lists of the tracker's node, its
// rack, the other racks, and last those without hosts.
func (r *runningSets) speculate(j *job, t *taskTracker) (int32, bool) {
	if !r.sorted {
		r.sortAll(j)
	}
	if index, ok := r.ofNode(j, t.id); ok {
		return index, true
	}
	if j.jt.eng.Now()-j.initAt < speculativeLag || float64(j.mapProgress) < speculativeGap {
		return 0, false
	}
	if s := r.racks[t.rack]; s != nil {
		if index, ok := s.first(j, workload.Map, t.id); ok {
			return index, true
		}
	}
	for rack := range int32(len(j.jt.q.Cluster.Racks)) {
		if s := r.racks[rack]; s != nil && rack != t.rack {
			if index, ok := s.first(j, workload.Map, t.id); ok {
				return index, true
			}
		}
	}
	return r.unplaced.first(j, workload.Map, t.id)
}

// ofNode takes a lagging map from the list of a node. The node's tracker
// forgets the tasks that it has had itself.
func (r *runningSets) ofNode(j *job, tracker int32) (int32, bool) {
	now, average := j.jt.eng.Now(), j.progressOf(workload.Map)
	members := r.nodes[tracker]
	kept := members[:0]
	found := int32(-1)
	for i, m := range members {
		t := m.of(j, workload.Map)
		if t == nil || t.ranOn(tracker) {
			continue
		}
		if t.mayBeSpeculated(now, average) {
			found = m.task
			kept = append(kept, members[i+1:]...)
			break
		}
		kept = append(kept, m)
	}
	if len(kept) < len(members) {
		r.nodes[tracker] = kept
	}
	return found, found >= 0
}
