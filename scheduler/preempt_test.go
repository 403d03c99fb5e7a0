package scheduler_test

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// full is a cluster of four map slots that pool a has filled at 0.5 s, 1 s, 1.5 s
// and 2 s, when a job of pool b comes.
func full(t *testing.T, b model.Pool, maps int, pairs ...string) *Cluster {
	pairs = append(pairs, "mapred.fairscheduler.preemption", "true", "mapred.fairscheduler.assignmultiple", "false")
	c := newCluster(t, fair2(model.Scheduler{Pools: []model.Pool{{Name: "a", Weight: 1}, b}}, pairs...), "1.2.1", slots(4, 0))
	for _, name := range []string{"first", "second", "third", "fourth"} {
		c.Submit(Job{Name: name, Maps: 1, Pool: "a"})
		c.Pass(half)
		c.Beat(0, name+" map")
	}
	c.Submit(Job{Name: "b", Maps: maps, Pool: "b"})
	return c
}

func killed(t *testing.T, c *Cluster, want string) {
	t.Helper()
	if got := c.Killed(); got != want {
		t.Errorf("killed %q, want %q", got, want)
	}
}

// A pool that lacks its minimum of two for more than ten seconds gets two tasks
// killed, those that started last. The policy looks at 0.5 s and then every 15 s:
// at 15.5 s.
func TestPreemptionForMinShare(t *testing.T) {
	timeout := 10 * time.Second
	c := full(t, model.Pool{Name: "b", Weight: 1, MinMaps: 2, MinShareTimeout: &timeout}, 9)
	c.Pass(13 * time.Second)
	killed(t, c, "")
	c.Pass(half)
	killed(t, c, "fourth map, third map")
}

// The clock runs from when the pool last had its minimum, and stands while it
// has: 14 s after 2 s are 16 s, which the look at 15.5 s comes too early for.
func TestPreemptionTimeout(t *testing.T) {
	timeout := 14 * time.Second
	c := full(t, model.Pool{Name: "b", Weight: 1, MinMaps: 2, MinShareTimeout: &timeout}, 9)
	c.Pass(28 * time.Second)
	killed(t, c, "")
	c.Pass(half)
	killed(t, c, "fourth map, third map")
}

// Without minimum the fair share counts: half of four slots. b gets a share of
// two as it has run less than half of that, none, for more than ten seconds. It
// demands one map only: so one is killed.
func TestPreemptionForFairShare(t *testing.T) {
	for maps, want := range map[int]string{9: "fourth map, third map", 1: ""} {
		c := full(t, model.Pool{Name: "b", Weight: 1}, maps, "fairSharePreemptionTimeout", "10")
		c.Pass(14 * time.Second)
		killed(t, c, want)
	}
}

// A pool that runs half its share does not preempt: b has one of two.
func TestNoPreemptionAtHalfShare(t *testing.T) {
	c := full(t, model.Pool{Name: "b", Weight: 1}, 9, "fairSharePreemptionTimeout", "10")
	c.End("first map", 1)
	c.Pass(half)
	c.Beat(0, "b map")
	c.Pass(time.Minute)
	killed(t, c, "")
}

// The timeouts may be those of all pools; preemption can be told only to log.
func TestPreemptionSettings(t *testing.T) {
	for _, row := range []struct{ key, value, want string }{
		{"mapred.fairscheduler.preemption.only.log", "false", "fourth map"},
		{"mapred.fairscheduler.preemption.only.log", "true", ""},
		{"mapred.fairscheduler.preemption.interval", "60000", ""},
	} {
		c := full(t, model.Pool{Name: "b", Weight: 1, MinMaps: 1}, 9, "defaultMinSharePreemptionTimeout", "5", row.key, row.value)
		c.Pass(14 * time.Second)
		killed(t, c, row.want)
	}
}

// Only pools above their share lose tasks, and only down to it. Of four slots a,
// b and c may each have 4/3: a runs 3 and loses those above 1.33, b runs 1.
func TestPreemptionSparesPoolsAtTheirShare(t *testing.T) {
	timeout := 5 * time.Second
	c := newCluster(t, fair2(model.Scheduler{Pools: []model.Pool{{Name: "c", Weight: 1, MinMaps: 4, MinShareTimeout: &timeout}}},
		"mapred.fairscheduler.preemption", "true"), "1.2.1", slots(4, 0))
	c.Submit(Job{Name: "a", Maps: 3, Pool: "a"})
	c.Pass(half)
	c.Beat(0, "a map, a map, a map")
	c.Submit(Job{Name: "b", Maps: 1, Pool: "b"})
	c.Pass(half)
	c.Beat(0, "b map")
	c.Submit(Job{Name: "c", Maps: 9, Pool: "c"})
	c.Pass(15 * time.Second)
	killed(t, c, "b map, a map, a map, a map")
}

// Attempts that started together are killed in the order that the jobs of their
// pool had when it was last asked for a map: before the fourth one, when x ran two
// and y one.
func TestPreemptionOfEquallyOldTasks(t *testing.T) {
	timeout := 5 * time.Second
	c := newCluster(t, fair2(model.Scheduler{Pools: []model.Pool{{Name: "z", Weight: 1, MinMaps: 2, MinShareTimeout: &timeout}}},
		"mapred.fairscheduler.preemption", "true"), "1.2.1", slots(4, 0))
	c.Submit(Job{Name: "x", Maps: 9, Pool: "a"})
	c.Submit(Job{Name: "y", Maps: 9, Pool: "a"})
	c.Pass(half)
	c.Beat(0, "x map, y map, x map, y map")
	c.Submit(Job{Name: "z", Maps: 9, Pool: "z"})
	c.Pass(15 * time.Second)
	killed(t, c, "y map, y map")
}

// That order is by running tasks over weight. The fifth map is launched when x, of weight
// 2, and y, of weight 1, run two each: ratios of 1 and 2, so x stands first.
func TestPreemptionOrderByWeight(t *testing.T) {
	timeout := 5 * time.Second
	c := newCluster(t, fair2(model.Scheduler{Pools: []model.Pool{{Name: "z", Weight: 1, MinMaps: 2, MinShareTimeout: &timeout}}},
		"mapred.fairscheduler.preemption", "true"), "1.2.1", slots(5, 0))
	c.Submit(Job{Name: "y", Maps: 9, Pool: "a"})
	c.Submit(Job{Name: "x", Maps: 9, Pool: "a", Priority: workload.High})
	c.Pass(half)
	c.Beat(0, "y map, x map, x map, y map, x map")
	c.Submit(Job{Name: "z", Maps: 9, Pool: "z"})
	c.Pass(15 * time.Second)
	killed(t, c, "x map, x map")
}

// A starving pool's jobs no longer wait for local data.
func TestStarvedPoolIgnoresLocality(t *testing.T) {
	timeout := 10 * time.Second
	c := newCluster(t, fair2(model.Scheduler{Pools: []model.Pool{{Name: "b", Weight: 1, MinMaps: 1, MinShareTimeout: &timeout}}},
		"mapred.fairscheduler.preemption", "true", "mapred.fairscheduler.locality.delay", "3600000"), "1.2.1",
		Trackers{Count: 2, Maps: 1, PerRack: 1})
	c.Submit(Job{Name: "b", Maps: 9, Pool: "b", On: []int{1}})
	c.Pass(10 * time.Second)
	c.Beat(0, "")
	c.Pass(half)
	c.Beat(0, "b map")
}

// What a pool runs counts against its share. Of twelve slots a, b and c may each
// have four: b runs one, less than half, and gets three killed of the five that
// a has too many; c runs two, which is half.
func TestPreemptionCountsWhatRuns(t *testing.T) {
	c := newCluster(t, fair2(model.Scheduler{}, "mapred.fairscheduler.preemption", "true", "fairSharePreemptionTimeout", "10"), "1.2.1", slots(12, 0))
	for _, x := range []struct {
		job  Job
		want string
	}{
		{Job{Name: "a", Maps: 10, Pool: "a"}, "a map, a map, a map, a map, a map, a map, a map, a map, a map, a map"},
		{Job{Name: "c", Maps: 9, Pool: "c"}, "c map, c map"},
	} {
		c.Submit(x.job)
		c.Pass(half)
		c.Beat(0, x.want)
	}
	c.End("a map", 1)
	c.Submit(Job{Name: "b", Maps: 9, Pool: "b"})
	c.Pass(half)
	c.Beat(0, "b map")
	c.Pass(14 * time.Second)
	killed(t, c, "a map, a map, a map")
}
