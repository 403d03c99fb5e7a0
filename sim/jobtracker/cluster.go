package jobtracker

import (
	"math"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/run"
)

// cluster is the state that the JobTracker, its jobs and the TaskTrackers
// share.
type cluster struct {
	*run.Run
	protocol protocol
	policy   scheduler.Policy

	records  records
	view     scheduler.Cluster // as the policy sees it
	demand   demand
	services serviceQueues
	position position
	nextRank uint32 // of a tracker whose heartbeats come after all others of an instant

	attempts     []*attempt    // memory for those of a tracker that a heartbeat reads
	slotFree     engine.Timers // by tracker: set while attempts wait for a slot that will become free
	lists        listMemory    // for lists of tasks while they are made
	conf         lastConf      // of a job
	sharedSlots  bool
	nodesDie     bool // trackers may be lost, so finished maps are recorded
	attemptsFail bool // some nodes have one
	endsRecorded bool // of attempts: they may be recorded as killed
}

// position is a place in the order of events at one instant: the rank of the tracker whose
// heartbeat is answered, or before or after all heartbeats.
type position int64

const (
	beforeHeartbeats position = -1
	afterHeartbeats  position = math.MaxInt64
)

// heartbeatInterval returns the interval that responses carry now.
func (c *cluster) heartbeatInterval() engine.Time { return engine.At(c.view.Heartbeat) }

// interval returns the heartbeat interval for n known trackers.
func (c *cluster) interval(n int) engine.Time {
	h, _ := c.Release.HeartbeatOf(&c.Question.Cluster, n) // readConf has checked the value
	return engine.At(h)
}

// wants returns the heartbeats that would get work.
func (c *cluster) wants() scheduler.Offers {
	d := &c.demand
	if d[needSetup]+d[needCleanup] > 0 {
		return scheduler.Offers{Any: true}
	}
	want := scheduler.Offers{Map: d[needMap] > 0, Reduce: d[needReduce] > 0}
	if c.policy.Wants != nil {
		want = c.policy.Wants(&c.view)
	}
	want.Map = want.Map || d[needMapTaskCleanup] > 0
	want.Reduce = want.Reduce || d[needReduceTaskCleanup] > 0
	return want
}
