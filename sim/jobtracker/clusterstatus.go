package jobtracker

import (
	"cmp"
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
)

// clusterStatus counts the attempts that trackers report (ClusterStatus). An
// attempt assigned at one heartbeat counts from the tracker's next heartbeat on,
// even if that heartbeat is not simulated.
type clusterStatus struct {
	cluster  *cluster
	trackers []taskTracker
	expected []expectedStatus // by due
	present  int              // the first of those due now that do not count yet, by rank
	head     int              // the first of those due later
	at       engine.Time      // now, at the last look
	ranks    uint32           // cluster.nextRank then
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

// update counts the reports due before the present position.
func (s *clusterStatus) update() {
	now := s.cluster.Now()
	if s.at < now {
		s.arrive(now)
	}
	if s.ranks != s.cluster.nextRank {
		s.ranks = s.cluster.nextRank
		s.sort()
	}
	for ; s.present < s.head && s.rank(s.expected[s.present]) < s.cluster.position; s.present++ {
		s.take(s.expected[s.present])
	}
}

// arrive counts the reports due before an instant, and finds those due at it.
func (s *clusterStatus) arrive(now engine.Time) {
	s.at = now
	q, i := s.expected, s.present
	for ; i < len(q) && (i < s.head || q[i].due < now); i++ {
		s.take(q[i])
	}
	s.present = i
	for i < len(q) && q[i].due == now {
		i++
	}
	if s.head = i; i > s.present+1 {
		s.sort()
	}
	if s.present > 1024 && s.present > len(q)/2 {
		s.expected = q[:copy(q, q[s.present:])]
		s.head -= s.present
		s.present = 0
	}
}

func (s *clusterStatus) rank(x expectedStatus) position { return position(s.trackers[x.tracker].rank) }

// sort orders the reports due now as the heartbeats will come.
func (s *clusterStatus) sort() {
	slices.SortFunc(s.expected[s.present:s.head], func(a, b expectedStatus) int { return cmp.Compare(s.rank(a), s.rank(b)) })
}

// take counts the expected report of a tracker, unless the tracker has reported
// since.
func (s *clusterStatus) take(x expectedStatus) {
	if t := &s.trackers[x.tracker]; t.stamp == x.stamp && !t.lost {
		s.set(t, x.tasks)
	}
}
