package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

const half = 500 * time.Millisecond // between two updates of the fair schedulers

func fair1(spec model.Scheduler, pairs ...string) model.Scheduler {
	spec.Name, spec.Conf = "fair1", conf(pairs...)
	return spec
}

func most(n int) *int { return &n }

// slots is a single tracker.
func slots(maps, reduces int) Trackers {
	return Trackers{Count: 1, Maps: maps, Reduces: reduces}
}

// beats has tracker 0 beat once for each of the tasks it must get.
func beats(t *testing.T, c *Cluster, tasks ...string) {
	t.Helper()
	for _, want := range tasks {
		c.Beat(0, want)
	}
}

// Two jobs share four slots: two each. At the first update both deficits are 0,
// and the older job goes first. It then runs 1 of its 2, so that in half a
// second its deficit grows by (2 - 1) x 500 and the other's by (2 - 0) x 500: 500
// and 1000. After b's first map 1000 and 1500, so b goes again; then a has 1500
// and b, which runs its share, 1500, and the older one goes first.
func TestFair1Deficits(t *testing.T) {
	c := newCluster(t, fair1(model.Scheduler{}), "0.20.2", slots(4, 0))
	c.Submit(Job{Name: "a", Maps: 10})
	c.Submit(Job{Name: "b", Maps: 10})
	for _, want := range []string{"a map", "b map", "b map", "a map"} {
		c.Pass(half)
		c.Beat(0, want)
	}
}

// Between two updates the largest deficit stays the largest, whatever it gets.
func TestFair1DeficitsRestBetweenUpdates(t *testing.T) {
	c := newCluster(t, fair1(model.Scheduler{}), "0.20.2", slots(6, 0))
	c.Submit(Job{Name: "a", Maps: 10})
	c.Submit(Job{Name: "b", Maps: 3})
	c.Pass(half)
	c.Beat(0, "a map")
	c.Pass(half)
	beats(t, c, "b map", "b map", "b map", "a map") // b has three
}

// Many jobs wait, the younger the longer: forty jobs of one map each are served
// in the order of their deficits, not of their submission.
func TestFair1ManyDeficits(t *testing.T) {
	c := newCluster(t, fair1(model.Scheduler{}), "0.20.2", slots(100, 0))
	name := func(i int) string { return fmt.Sprint("job", i) }
	for i := range 40 {
		c.Submit(Job{Name: name(i), Maps: 1, SetUp: true})
	}
	for i := range 40 {
		c.Start(name(39 - i))
		c.Pass(half)
	}
	for i := range 40 {
		c.Beat(0, name(39-i)+" map")
	}
}

// A tick that was not simulated counts all the same: b lacks 3 x 500, and a, which
// runs one, 2 x 500.
func TestFair1SkippedTicks(t *testing.T) {
	c := newCluster(t, fair1(model.Scheduler{}), "0.20.2", slots(6, 0))
	c.Submit(Job{Name: "a", Maps: 10})
	c.Submit(Job{Name: "b", Maps: 10})
	c.Pass(half)
	c.Beat(0, "a map")
	c.Skip(half)
	c.Beat(0, "b map")
}

// One task a heartbeat, and a reduce only where no map can be given. With
// assignmultiple one of each.
func TestFair1TasksPerHeartbeat(t *testing.T) {
	for value, want := range map[string][2]string{"false": {"a map", "a reduce"}, "true": {"a map, a reduce", "a reduce"}} {
		c := newCluster(t, fair1(model.Scheduler{}, "mapred.fairscheduler.assignmultiple", value), "0.20.2", slots(2, 2))
		c.Submit(Job{Name: "a", Maps: 4, Reduces: 4})
		c.Pass(half)
		beats(t, c, "a map", "a map", "")
		c.End("a map", 1)
		c.Pass(half)
		beats(t, c, want[0], want[1])
	}
}

// Reduces are needed once 5 % of the maps have ended, and at least one: 2 of 40,
// 1 of 3.
func TestFair1ReducesAfterFivePercent(t *testing.T) {
	for maps, ended := range map[int]int{40: 2, 3: 1} {
		c := newCluster(t, fair1(model.Scheduler{}), "0.20.2", slots(1, 1))
		c.Submit(Job{Name: "a", Maps: maps, Reduces: 1})
		for range ended {
			c.Pass(half)
			beats(t, c, "a map", "")
			c.End("a map", 1)
		}
		c.Pass(half)
		beats(t, c, "a map", "a reduce")
	}
}

// Load is spread: with 2 tasks for 4 slots a tracker takes ceil(2 x 2/4) = 1,
// with 3 it takes 2. A lagging map counts as one more that is needed, although
// nothing is speculated.
func TestFair1SpreadsLoad(t *testing.T) {
	c := newCluster(t, fair1(model.Scheduler{}), "0.20.2", Trackers{Count: 2, Maps: 2})
	c.Submit(Job{Name: "a", Maps: 1})
	c.Submit(Job{Name: "b", Maps: 1})
	c.Pass(half)
	beats(t, c, "a map", "")
	c.Lag("a", 1)
	c.Pass(half)
	c.Beat(0, "b map")
}

// Each row says who is first after half a second of waiting: the job with the
// larger share, and of equals the older one, x.
func TestFair1Weights(t *testing.T) {
	for _, row := range []struct {
		why    string
		x, y   workload.Priority
		pool   string // of y; x is in pool o
		weight float64
		first  string
	}{
		{"equal pools", workload.Normal, workload.Normal, "p", 1, "x map"},
		{"priorities count within a pool", workload.Normal, workload.VeryHigh, "p", 1, "x map"},
		{"and there they do", workload.Normal, workload.High, "o", 1, "y map"},
		{"heavier pool", workload.Normal, workload.Normal, "p", 1.1, "y map"},
		{"lighter pool", workload.Normal, workload.Normal, "p", 0.9, "x map"},
	} {
		t.Run(row.why, func(t *testing.T) {
			c := newCluster(t, fair1(model.Scheduler{Pools: []model.Pool{{Name: "p", Weight: row.weight}}}), "0.20.2", slots(8, 0))
			c.Submit(Job{Name: "x", Maps: 9, Priority: row.x, Pool: "o"})
			c.Submit(Job{Name: "y", Maps: 9, Priority: row.y, Pool: row.pool})
			c.Pass(2 * half)
			c.Beat(0, row.first)
		})
	}
}

// A job that runs its share neither gains nor loses. Of six slots a job of high
// priority gets four and one of normal priority two; y, which waited half a
// second longer for its two, stays ahead by 1000 for ten minutes.
func TestFair1SharesAreExact(t *testing.T) {
	c := newCluster(t, fair1(model.Scheduler{}), "0.20.2", slots(6, 0))
	c.Submit(Job{Name: "x", Maps: 90, Priority: workload.High})
	c.Submit(Job{Name: "y", Maps: 90})
	c.Pass(half)
	beats(t, c, "x map", "x map", "x map", "x map")
	c.Pass(half)
	beats(t, c, "y map", "y map")
	c.Pass(10 * time.Minute)
	c.End("x map", 1)
	c.End("y map", 1)
	beats(t, c, "y map", "y map")
}

// A new job weighs three times as much with the booster, for its first five
// minutes: more than an old one of high priority (2), less than one of very high
// priority (4).
func TestFair1Booster(t *testing.T) {
	for _, row := range []struct {
		old   workload.Priority
		age   time.Duration
		first string
	}{
		{workload.High, 0, "new map"},
		{workload.VeryHigh, 0, "old map"},
		{workload.High, 5*time.Minute - 3*half, "new map"},
		{workload.High, 5 * time.Minute, "old map"},
	} {
		c := newCluster(t, fair1(model.Scheduler{},
			"mapred.fairscheduler.weightadjuster", "org.apache.hadoop.mapred.NewJobWeightBooster"), "0.20.2", slots(8, 0))
		c.Submit(Job{Name: "old", Maps: 9, Priority: row.old, Pool: "p", SetUp: true})
		c.Pass(time.Hour)
		c.Submit(Job{Name: "new", Maps: 9, Pool: "p", SetUp: true})
		c.Pass(row.age)
		c.Start("old")
		c.Start("new")
		c.Pass(2 * half)
		c.Beat(0, row.first)
	}
}

// By size, a job weighs the logarithm of its tasks and one more: 7 tasks 3, 1
// task 1.
func TestFair1SizeBasedWeight(t *testing.T) {
	for value, first := range map[string]string{"false": "small map", "true": "big map"} {
		c := newCluster(t, fair1(model.Scheduler{}, "mapred.fairscheduler.sizebasedweight", value), "0.20.2", slots(4, 0))
		c.Submit(Job{Name: "small", Maps: 1})
		c.Submit(Job{Name: "big", Maps: 7})
		c.Pass(2 * half)
		c.Beat(0, first)
	}
}

// Guaranteed slots come before deficits. Pool p's three are dealt by weight: hi
// gets floor(3 x 2/3) = 2 and lo floor(3 x 1/3) = 1; other waits although its
// deficit is the largest.
func TestFair1GuaranteedSlots(t *testing.T) {
	c := newCluster(t, fair1(model.Scheduler{Pools: []model.Pool{{Name: "p", Weight: 1, MinMaps: 3}}}), "0.20.2", slots(6, 0))
	c.Submit(Job{Name: "other", Maps: 9, Pool: "o"})
	c.Pass(10 * half)
	c.Submit(Job{Name: "lo", Maps: 9, Pool: "p"})
	c.Submit(Job{Name: "hi", Maps: 9, Pool: "p", Priority: workload.High})
	c.Pass(half)
	beats(t, c, "lo map", "hi map", "hi map", "other map")
}

// The same for reduces.
func TestFair1GuaranteedReduces(t *testing.T) {
	c := newCluster(t, fair1(model.Scheduler{Pools: []model.Pool{{Name: "p", Weight: 1, MinReduces: 1}}}), "0.20.2", slots(2, 6))
	for _, job := range []string{"other", "mine"} {
		pool := map[string]string{"other": "o", "mine": "p"}[job]
		c.Submit(Job{Name: job, Maps: 1, Reduces: 5, Pool: pool})
		c.Pass(half)
		c.Beat(0, job+" map")
		c.End(job+" map", 1)
	}
	c.Pass(half)
	beats(t, c, "mine reduce", "other reduce")
}

// Too few for everybody: one guaranteed slot and two jobs. floor(1 x 2/3) is 0,
// so the heaviest job gets it, and of equals the one with the larger deficit.
// The deficits change the choice: once x has had a map, the slot is y's.
func TestFair1OneGuaranteedSlot(t *testing.T) {
	pools := []model.Pool{{Name: "p", Weight: 1, MinMaps: 1}}
	c := newCluster(t, fair1(model.Scheduler{Pools: pools}), "0.20.2", slots(6, 0))
	c.Submit(Job{Name: "other", Maps: 9, Pool: "o"})
	c.Submit(Job{Name: "lo", Maps: 9, Pool: "p"})
	c.Submit(Job{Name: "hi", Maps: 9, Pool: "p", Priority: workload.High})
	c.Pass(half)
	beats(t, c, "hi map", "other map")

	c = newCluster(t, fair1(model.Scheduler{Pools: pools}), "0.20.2", slots(6, 0))
	c.Submit(Job{Name: "other", Maps: 9, Pool: "o"})
	c.Submit(Job{Name: "x", Maps: 9, Pool: "p"})
	c.Submit(Job{Name: "y", Maps: 9, Pool: "p"})
	c.Pass(half)
	beats(t, c, "x map", "other map")
	c.Pass(half)
	beats(t, c, "y map", "other map")
}

// A job gets no more guaranteed slots than it has tasks; the rest goes to the
// pool's other job.
func TestFair1GuaranteedSlotsByTasks(t *testing.T) {
	c := newCluster(t, fair1(model.Scheduler{Pools: []model.Pool{{Name: "p", Weight: 1, MinMaps: 4}}}), "0.20.2", slots(8, 0))
	c.Submit(Job{Name: "other", Maps: 9, Pool: "o"})
	c.Pass(10 * half)
	c.Submit(Job{Name: "tiny", Maps: 1, Pool: "p"})
	c.Submit(Job{Name: "big", Maps: 9, Pool: "p"})
	c.Pass(half)
	beats(t, c, "tiny map", "big map", "big map", "big map", "other map")
}

// Guaranteed slots beyond the fair share raise it: of four slots, p's job gets
// its 3 and not 2, and the other the 1 that is left. After half a second 1500
// and 500: with 1000 each the older one would get the fourth slot.
func TestFair1GuaranteeRaisesShare(t *testing.T) {
	c := newCluster(t, fair1(model.Scheduler{Pools: []model.Pool{{Name: "p", Weight: 1, MinMaps: 3}}}), "0.20.2", slots(4, 0))
	c.Submit(Job{Name: "other", Maps: 9, Pool: "o"})
	c.Submit(Job{Name: "mine", Maps: 9, Pool: "p"})
	c.Pass(2 * half)
	beats(t, c, "mine map", "mine map", "mine map", "mine map")
}

// Jobs beyond the limit of their pool or user wait, in order of priority; the
// next one runs at the update after one has ended.
func TestFair1RunningJobs(t *testing.T) {
	for _, spec := range []model.Scheduler{
		fair1(model.Scheduler{Pools: []model.Pool{{Name: "p", Weight: 1, MaxRunningJobs: most(1)}}}),
		fair1(model.Scheduler{Users: []model.UserLimit{{Name: "ann", MaxRunningJobs: 1}}}),
		fair1(model.Scheduler{}, "userMaxJobsDefault", "1"),
	} {
		c := newCluster(t, spec, "0.20.2", slots(4, 0))
		c.Submit(Job{Name: "low", Maps: 2, Pool: "p", User: "ann", Priority: workload.Low})
		c.Submit(Job{Name: "first", Maps: 1, Pool: "p", User: "ann"})
		c.Submit(Job{Name: "bobs", Maps: 1, Pool: "q", User: "bob"})
		c.Pass(half)
		beats(t, c, "first map", "bobs map", "")
		c.End("first map", 1)
		c.Beat(0, "")
		c.Pass(half)
		c.Beat(0, "low map")
	}
}

// Without a pool a job is in that of its user, and without both in default.
func TestPoolOf(t *testing.T) {
	pools := []model.Pool{{Name: "default", Weight: 3}, {Name: "ann", Weight: 2}}
	c := newCluster(t, fair1(model.Scheduler{Pools: pools}), "0.20.2", slots(6, 0))
	c.Submit(Job{Name: "pool", Maps: 1, Pool: "p", User: "ann"})
	c.Submit(Job{Name: "user", Maps: 1, User: "ann"})
	c.Submit(Job{Name: "none", Maps: 1})
	c.Pass(2 * half)
	beats(t, c, "none map", "user map", "pool map")
}
