package scheduler_test

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

func fair2(spec model.Scheduler, pairs ...string) model.Scheduler {
	spec.Name, spec.Conf = "fair2", conf(pairs...)
	return spec
}

// Pools share first, then their jobs: p has two jobs and q one, and four slots
// go to p's a, q's c, p's b, q's c. Equal pools go by name, equal jobs by
// submission.
func TestFair2PoolsShare(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{}), "1.2.1", slots(4, 0))
	c.Submit(Job{Name: "c", Maps: 9, Pool: "q"})
	c.Submit(Job{Name: "a", Maps: 9, Pool: "p"})
	c.Submit(Job{Name: "b", Maps: 9, Pool: "p"})
	c.Pass(half)
	c.Beat(0, "a map, c map, b map, c map")
	c.End("c map", 2)
	c.Beat(0, "c map, c map")
}

// A pool of weight 3 has three tasks for one: 0/3 and 0/1, 1/3 and 0/1, 1/3 and
// 1/1, 2/3 and 1/1, then 3/3 and 1/1.
func TestFair2PoolWeights(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{Pools: []model.Pool{{Name: "p", Weight: 3}}}), "1.2.1", slots(5, 0))
	c.Submit(Job{Name: "a", Maps: 9, Pool: "p"})
	c.Submit(Job{Name: "b", Maps: 9, Pool: "q"})
	c.Pass(half)
	c.Beat(0, "a map, b map, a map, a map, a map")
}

// Within a pool the priority is the weight: high counts twice.
func TestFair2JobWeights(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{}), "1.2.1", slots(6, 0))
	c.Submit(Job{Name: "a", Maps: 9})
	c.Submit(Job{Name: "b", Maps: 9, Priority: workload.High})
	c.Pass(half)
	c.Beat(0, "a map, b map, b map, a map, b map, b map")
}

// Pools below their minimum go first, the one that has the smaller part of it
// before the other: p has 0/1, 1/1; q 0/2, 1/2. Then all go by their weights. A
// pool that demands less than its minimum needs only that.
func TestFair2MinShares(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{Pools: []model.Pool{
		{Name: "p", Weight: 1, MinMaps: 1}, {Name: "q", Weight: 1, MinMaps: 2}, {Name: "z", Weight: 1, MinMaps: 5},
	}}), "1.2.1", slots(9, 0))
	c.Submit(Job{Name: "a", Maps: 9, Pool: "a"})
	c.Submit(Job{Name: "p", Maps: 9, Pool: "p"})
	c.Submit(Job{Name: "q", Maps: 9, Pool: "q"})
	c.Submit(Job{Name: "z", Maps: 1, Pool: "z"})
	c.Pass(half)
	c.Beat(0, "p map, q map, z map, q map, a map, a map, p map, a map, p map")
}

// The same for reduces.
func TestFair2MinReduces(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{Pools: []model.Pool{{Name: "q", Weight: 1, MinReduces: 2}}}), "1.2.1", slots(0, 3))
	c.Submit(Job{Name: "a", Reduces: 9, Pool: "a"})
	c.Submit(Job{Name: "q", Reduces: 9, Pool: "q"})
	c.Pass(half)
	c.Beat(0, "q reduce, q reduce, a reduce")
}

// A pool at its maximum gets no more, and what it has beyond is no demand: of
// nine maps one, of nine reduces two. A tracker may take ceil(3 x 2/6) = 1 reduce.
func TestFair2MaxSlots(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{Pools: []model.Pool{{Name: "p", Weight: 1, MaxMaps: most(1), MaxReduces: most(2)}}}), "1.2.1",
		Trackers{Count: 2, Maps: 3, Reduces: 3})
	c.Submit(Job{Name: "a", Maps: 9, Reduces: 9, Pool: "p"})
	c.Pass(half)
	c.Beat(0, "a map, a reduce")
	c.Beat(1, "a reduce")
	c.Beat(1, "")
	c.End("a reduce", 1)
	c.Beat(1, "")
	c.Beat(0, "a reduce")
}

// A second pool does not get round the maximum of the first: p has its one map,
// q takes the rest.
func TestFair2MaxSlotsLeaveTheRest(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{Pools: []model.Pool{{Name: "p", Weight: 1, MaxMaps: most(1)}}}), "1.2.1", slots(4, 0))
	c.Submit(Job{Name: "a", Maps: 9, Pool: "p"})
	c.Submit(Job{Name: "b", Maps: 9, Pool: "q"})
	c.Pass(half)
	c.Beat(0, "a map, b map, b map, b map")
}

// A FIFO pool serves its jobs by priority and submission.
func TestFair2FIFOPool(t *testing.T) {
	for _, spec := range []model.Scheduler{
		fair2(model.Scheduler{Pools: []model.Pool{{Name: "p", Weight: 1, Mode: "FIFO"}}}),
		fair2(model.Scheduler{}, "defaultPoolSchedulingMode", "fifo"),
	} {
		c := newCluster(t, spec, "1.2.1", slots(4, 0))
		c.Submit(Job{Name: "a", Maps: 2, Pool: "p"})
		c.Submit(Job{Name: "b", Maps: 2, Pool: "p"})
		c.Submit(Job{Name: "c", Maps: 1, Pool: "p", Priority: workload.High})
		c.Pass(half)
		c.Beat(0, "c map, a map, a map, b map")
	}
}

// Jobs beyond the limit of their pool or user are not even initialised. One that
// is still set up counts. The next one is initialised at the update after one
// has ended, and demands something from the one after.
func TestFair2RunningJobs(t *testing.T) {
	for _, spec := range []model.Scheduler{
		fair2(model.Scheduler{Pools: []model.Pool{{Name: "p", Weight: 1, MaxRunningJobs: most(1)}}}),
		fair2(model.Scheduler{Users: []model.UserLimit{{Name: "ann", MaxRunningJobs: 1}}}),
		fair2(model.Scheduler{}, "poolMaxJobsDefault", "1"),
		fair2(model.Scheduler{}, "userMaxJobsDefault", "1"),
	} {
		c := newCluster(t, spec, "1.2.1", slots(4, 0))
		c.Submit(Job{Name: "first", Maps: 1, Pool: "p", User: "ann", SetUp: true})
		c.Submit(Job{Name: "second", Maps: 1, Pool: "p", User: "ann"})
		c.Submit(Job{Name: "bobs", Maps: 1, Pool: "q", User: "bob"})
		c.Pass(half)
		c.Beat(0, "bobs map")
		if c.Initialised("second") {
			t.Error("second was initialised although first has taken the only place")
		}
		c.Start("first")
		c.Pass(half)
		c.Beat(0, "first map")
		c.End("first map", 1)
		c.Pass(2 * half)
		c.Beat(0, "second map")
	}
}

// Priority decides who runs; a job that runs has to make room in the list for a
// more urgent one, and gets no new tasks.
func TestFair2UrgentJobTakesThePlace(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{}, "userMaxJobsDefault", "1"), "1.2.1", slots(2, 0))
	c.Submit(Job{Name: "a", Maps: 9, User: "ann"})
	c.Pass(half)
	c.Beat(0, "a map, a map")
	c.Submit(Job{Name: "b", Maps: 9, User: "ann", Priority: workload.High})
	c.Pass(half)
	c.End("a map", 1)
	c.Beat(0, "b map")
}

// How many tasks a heartbeat gives: as many as there are slots, one, or as many
// as the two limits say.
func TestFair2TasksPerHeartbeat(t *testing.T) {
	for _, row := range []struct {
		key, value, want string
	}{
		{"mapred.fairscheduler.assignmultiple", "true", "a map, a reduce, a map, a reduce"},
		{"mapred.fairscheduler.assignmultiple", "false", "a map"},
		{"mapred.fairscheduler.assignmultiple.maps", "1", "a map, a reduce, a reduce"},
		{"mapred.fairscheduler.assignmultiple.reduces", "0", "a map, a map"},
	} {
		c := newCluster(t, fair2(model.Scheduler{}, row.key, row.value), "1.2.1", slots(2, 2))
		c.Submit(Job{Name: "a", Maps: 9, Reduces: 9})
		c.Pass(half)
		c.Beat(0, row.want)
	}
}

// 1.2.1 takes a map and a reduce in turn. Before, what a heartbeat has given is
// not counted: maps come first as long as the tracker reported no more maps than
// reduces, and reduces first when it did.
func TestFair2MapOrReduce(t *testing.T) {
	for release, want := range map[string][2]string{
		"1.2.1": {"a map, a reduce, a map, a reduce, a map, a reduce", "a reduce, a map, a reduce"},
		"1.0.4": {"a map, a map, a map, a reduce, a reduce, a reduce", "a reduce, a reduce, a map"},
	} {
		c := newCluster(t, fair2(model.Scheduler{}), release, slots(3, 3))
		c.Submit(Job{Name: "a", Maps: 99, Reduces: 99})
		c.Pass(half)
		c.Beat(0, want[0])
		c.End("a map", 1)
		c.End("a reduce", 2)
		c.Beat(0, want[1])
	}
}

// Load is spread: 3 tasks on 6 slots are a load of 0.5, and a tracker takes
// ceil(3 x 0.5) = 2; with a permitted difference of 0.5 it takes 3. 1.0.4 does
// not count what this heartbeat gave, so it fills the tracker up to the tasks
// there are.
func TestFair2SpreadsLoad(t *testing.T) {
	for _, row := range []struct{ release, diff, want string }{
		{"1.2.1", "0", "a map, a map"},
		{"1.2.1", "0.5", "a map, a map, a map"},
		{"1.0.4", "0", "a map, a map, a map"},
	} {
		c := newCluster(t, fair2(model.Scheduler{}, "mapred.fairscheduler.load.max.diff", row.diff), row.release,
			Trackers{Count: 2, Maps: 3})
		c.Submit(Job{Name: "a", Maps: 3})
		c.Pass(half)
		c.Beat(0, row.want)
		c.Beat(0, "")
	}
}

// Reduces are demanded when slowstart is met, and a lagging map once more if its
// job speculates.
func TestFair2Demand(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{}), "1.2.1", slots(2, 1))
	c.Submit(Job{Name: "a", Maps: 1, Reduces: 1, Slowstart: 1, Speculates: true})
	c.Pass(half)
	c.Beat(0, "a map")
	c.Lag("a", 1)
	c.Beat(0, "") // demanded from the next update on
	c.Pass(half)
	c.Beat(0, "a map")
	c.End("a map", 1)
	c.Beat(0, "")
	c.Pass(half)
	c.Beat(0, "a reduce")
}

// By size, a job weighs the logarithm of its demand and one more: 63 maps weigh
// 6, one map 1. Before both run, 0/6 equals 0/1, and the older one goes first;
// then big has 1/6 to small's 1/1.
func TestFair2SizeBasedWeight(t *testing.T) {
	for value, want := range map[string]string{"false": "big map, small map, big map, small map", "true": "big map, small map, big map, big map"} {
		c := newCluster(t, fair2(model.Scheduler{}, "mapred.fairscheduler.sizebasedweight", value), "1.2.1", slots(4, 0))
		c.Submit(Job{Name: "big", Maps: 63})
		c.Submit(Job{Name: "small", Maps: 2})
		c.Pass(half)
		c.Beat(0, want)
	}
}

// Demand by size is exact: 2 tasks on 4 slots are one for each tracker.
func TestFair2SizeBasedDemand(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{}, "mapred.fairscheduler.sizebasedweight", "true"), "1.2.1",
		Trackers{Count: 2, Maps: 2})
	c.Submit(Job{Name: "a", Maps: 2})
	c.Pass(half)
	c.Beat(0, "a map")
}

// With the booster a new job has three tasks for one of an old one.
func TestFair2Booster(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{}, "mapred.fairscheduler.weightadjuster", "NewJobWeightBooster"), "1.2.1", slots(5, 0))
	c.Submit(Job{Name: "old", Maps: 9, SetUp: true})
	c.Pass(5 * time.Minute)
	c.Submit(Job{Name: "new", Maps: 9})
	c.Start("old")
	c.Pass(half)
	c.Beat(0, "old map, new map, new map, new map, old map")
}

// The heartbeats that matter: of trackers with a free map slot while maps are
// demanded that do not run; of any while a job has been refused one.
func TestFair2Offers(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{}), "1.0.4", Trackers{Count: 2, Maps: 1, Reduces: 1})
	offers := func(want scheduler.Offers) {
		t.Helper()
		if got := c.Offers(); got != want {
			t.Errorf("wants the heartbeats %+v, want %+v", got, want)
		}
	}
	offers(scheduler.Offers{})
	c.Submit(Job{Name: "a", Maps: 2, Reduces: 1, On: []int{1}})
	c.Pass(half)
	offers(scheduler.Offers{Map: true, Reduce: true})
	c.Beat(0, "a reduce")
	offers(scheduler.Offers{Map: true, Any: true})
	c.Beat(1, "a map")
	offers(scheduler.Offers{Map: true})
	c.End("a map", 1)
	c.Pass(half)
	c.Beat(1, "a map")
	offers(scheduler.Offers{})
}

// rackAndNode is a job with its data on tracker 2. Trackers 2 and 3 are in a
// rack, 0 and 1 in another.
func rackAndNode(t *testing.T, pairs ...string) *Cluster {
	c := newCluster(t, fair2(model.Scheduler{}, pairs...), "1.2.1", Trackers{Count: 4, Maps: 4, PerRack: 2})
	c.Submit(Job{Name: "a", Maps: 99, On: []int{2}})
	c.Pass(time.Second)
	return c
}

// A job waits 2 s for a node that has its data, then for another 3 s for one in
// the same rack. The wait counts from the first refusal, at 1 s: at 3 s it takes
// the rack, at 6 s any tracker.
func TestFair2LocalityDelay(t *testing.T) {
	delays := []string{"mapred.fairscheduler.locality.delay.node", "2000", "mapred.fairscheduler.locality.delay.rack", "3000"}
	c := rackAndNode(t, delays...)
	c.Beat(3, "")
	c.Pass(2*time.Second - time.Millisecond)
	c.Beat(3, "")
	c.Pass(time.Millisecond)
	c.Beat(0, "")
	c.Beat(3, "a map, a map, a map, a map") // and the rack is good enough from now on
	c.Beat(0, "")
	c.Pass(3*time.Second - time.Millisecond)
	c.Beat(0, "")
	c.Pass(time.Millisecond)
	c.Beat(0, "a map, a map, a map, a map") // and so is any tracker
	c.Beat(1, "a map, a map, a map, a map")

	c = rackAndNode(t, delays...)
	c.Beat(3, "")
	c.Pass(5*time.Second - time.Millisecond)
	c.Beat(0, "")
	c.Pass(time.Millisecond)
	c.Beat(0, "a map, a map, a map, a map")
}

// A map on a node with its data starts the wait anew.
func TestFair2LocalMapEndsTheWait(t *testing.T) {
	c := rackAndNode(t, "mapred.fairscheduler.locality.delay", "2000")
	c.Beat(3, "")
	c.Pass(time.Second)
	c.Beat(2, "a map, a map, a map, a map")
	c.Beat(3, "")
	c.Pass(time.Second)
	c.Beat(3, "")
	c.Pass(time.Second)
	c.Beat(3, "a map, a map, a map, a map")
}

// Only the time to the next heartbeat counts after a refusal: from 1 s, when it
// was refused, to 2 s, when no map slot was free; the job waits on from 9 s.
func TestFair2WaitsOnlyWhileRefused(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{}, "mapred.fairscheduler.locality.delay", "2000"), "1.2.1",
		Trackers{Count: 4, Maps: 1, Reduces: 1, PerRack: 1})
	c.Submit(Job{Name: "b", Maps: 1, On: []int{0}})
	c.Submit(Job{Name: "a", Maps: 9, On: []int{2}})
	c.Pass(time.Second)
	c.Beat(0, "b map")
	c.Beat(1, "")
	c.Pass(time.Second)
	c.Beat(0, "")
	c.Pass(7 * time.Second)
	c.Beat(1, "")
	c.Pass(3*time.Second - time.Millisecond)
	c.Beat(1, "")
	c.Pass(time.Millisecond)
	c.Beat(1, "a map")
}

// A job whose maps all run waits too, for the second attempt that it may need:
// when a lags, it has waited the 4 s after which any tracker will do.
func TestFair2WaitsBeforeSpeculation(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{}, "mapred.fairscheduler.locality.delay", "2000"), "1.2.1",
		Trackers{Count: 4, Maps: 2, PerRack: 1})
	c.Submit(Job{Name: "a", Maps: 1, On: []int{0}, Speculates: true})
	c.Submit(Job{Name: "b", Maps: 9, On: []int{2}})
	c.Pass(time.Second)
	c.Beat(0, "a map")
	c.Beat(1, "")
	c.Lag("a", 1)
	c.Pass(4 * time.Second)
	c.Beat(1, "b map, a map")
}

// The delay is one and a half heartbeats of 3 s unless it is set.
func TestFair2AutomaticDelay(t *testing.T) {
	c := rackAndNode(t)
	c.Beat(3, "")
	c.Pass(4500*time.Millisecond - 1)
	c.Beat(3, "")
	c.Pass(1)
	c.Beat(3, "a map, a map, a map, a map")
}

// Maps without data anywhere do not wait.
func TestFair2UnplacedMaps(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{}), "1.2.1", Trackers{Count: 1, Maps: 2})
	c.Submit(Job{Name: "a", Maps: 3, Unplaced: true})
	c.Pass(time.Second)
	c.Beat(0, "a map, a map")
}

// The delay is automatic unless both delays are set, and at most 15 s.
func TestFair2AutomaticDelayLimits(t *testing.T) {
	c := rackAndNode(t, "mapred.fairscheduler.locality.delay.rack", "9000")
	c.Beat(3, "")
	c.Pass(4500*time.Millisecond - 1)
	c.Beat(3, "")
	c.Pass(1)
	c.Beat(3, "a map, a map, a map, a map")

	c = newCluster(t, fair2(model.Scheduler{}), "1.2.1", Trackers{Count: 2, Maps: 4, Heartbeat: 11 * time.Second})
	c.Submit(Job{Name: "a", Maps: 99, On: []int{1}})
	c.Pass(time.Second)
	c.Beat(0, "")
	c.Pass(15*time.Second - 1)
	c.Beat(0, "")
	c.Pass(1)
	c.Beat(0, "a map, a map, a map, a map")
}

// All heartbeats matter while a pool runs less than it demanded at the last
// update, if the order of jobs changes with time or tasks may be killed. Without
// that only those matter for which a task is left.
func TestFair2OffersWithoutTasks(t *testing.T) {
	for key, want := range map[string]bool{
		"": false, "mapred.fairscheduler.sizebasedweight": true, "mapred.fairscheduler.preemption": true,
	} {
		spec := fair2(model.Scheduler{})
		if key != "" {
			spec = fair2(model.Scheduler{}, key, "true")
		}
		c := newCluster(t, spec, "1.0.4", slots(2, 0))
		c.Submit(Job{Name: "a", Maps: 2})
		c.Pass(half)
		c.Beat(0, "a map, a map")
		c.End("a map", 1)
		if got := c.Offers(); got.Map != want {
			t.Errorf("%q: wants the heartbeats %+v, want of maps: %v", key, got, want)
		}
	}
}
