package jobtracker

import (
	"github.com/slotwave/slotwave/sim/engine"
)

// clusterStatus counts the attempts that trackers report (ClusterStatus). An
// attempt assigned at one heartbeat counts from the tracker's next heartbeat on,
// even if that heartbeat is not simulated.
type clusterStatus struct {
	cluster  *cluster
	trackers []taskTracker
	expected []expectedStatus // by due
	head     int              // the first of those that were not due before the last look
}

// expectedStatus is what a tracker's next heartbeat will report.
type expectedStatus struct {
	due     engine.Time
	tracker int32
	stamp   uint32
	tasks   [2]int32
}

// report counts the attempts of a tracker as it reports them. Those that are not
// listed have not changed.
func (s *clusterStatus) report(t *taskTracker, attempts []*attempt) {
	for _, a := range attempts {
		t.occupy(a, a.holdsSlot(t, t.last))
	}
	tasks, used := t.occupied, t.inUse
	s.set(t, tasks)
	if s.cluster.sharedSlots {
		both := used[0] + used[1]
		used = [2]int32{both, both}
	}
	for k := range used {
		t.view.Running[k], t.view.Used[k] = int(tasks[k]), int(used[k])
	}
}

// set records the counts that a tracker reports.
func (s *clusterStatus) set(t *taskTracker, tasks [2]int32) {
	if tasks != t.status {
		for k := range tasks {
			s.cluster.view.Running[k] += int(tasks[k] - t.status[k])
		}
		t.status = tasks
	}
	t.stamp++
}

// expect records what the tracker's next heartbeat will report.
func (s *clusterStatus) expect(t *taskTracker) {
	if t.given == [2]int32{} {
		return
	}
	x := expectedStatus{t.next, t.id, t.stamp, [2]int32{t.status[0] + t.given[0], t.status[1] + t.given[1]}}
	q := append(s.expected, x)
	for i := len(q) - 1; i > s.head && q[i-1].due > x.due; i-- {
		q[i-1], q[i] = q[i], q[i-1]
	}
	s.expected = q
}

// update counts the reports due before the present position. One that has counted no
// longer has the stamp of its tracker.
func (s *clusterStatus) update() {
	now, q := s.cluster.Now(), s.expected
	for ; s.head < len(q) && q[s.head].due < now; s.head++ {
		s.take(q[s.head])
	}
	for _, x := range q[s.head:] {
		if x.due > now {
			break
		}
		if position(s.trackers[x.tracker].rank) < s.cluster.position {
			s.take(x)
		}
	}
	if s.head > 1024 && s.head > len(q)/2 {
		s.expected, s.head = q[:copy(q, q[s.head:])], 0
	}
}

// take counts the expected report of a tracker, unless the tracker has reported
// since.
func (s *clusterStatus) take(x expectedStatus) {
	if t := &s.trackers[x.tracker]; t.stamp == x.stamp && !t.lost {
		s.set(t, x.tasks)
	}
}
