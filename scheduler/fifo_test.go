package scheduler_test

import (
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// conf sets Hadoop properties from names and values in turn.
func conf(pairs ...string) (c workload.Conf) {
	for i := 0; i < len(pairs); i += 2 {
		c.Set(pairs[i], pairs[i+1])
	}
	return c
}

func fifo(pairs ...string) model.Scheduler {
	return model.Scheduler{Name: "fifo", Conf: conf(pairs...)}
}

// Priority goes before submission, and submission before everything else.
func TestFIFOOrder(t *testing.T) {
	c := newCluster(t, fifo(), "1.0.4", Trackers{Count: 5, Maps: 1})
	c.Submit(Job{Name: "first", Maps: 1})
	c.Submit(Job{Name: "second", Maps: 2})
	c.Submit(Job{Name: "urgent", Maps: 1, Priority: workload.High})
	c.Submit(Job{Name: "idle", Maps: 1, Priority: workload.VeryLow})
	c.Beat(0, "urgent map")
	c.Beat(1, "first map")
	c.Beat(2, "second map")
	c.Beat(3, "second map")
	c.Beat(4, "idle map")
}

// A job that is still set up gets nothing, and nothing is kept for it.
func TestFIFOSetUp(t *testing.T) {
	c := newCluster(t, fifo(), "1.0.4", Trackers{Count: 2, Maps: 1})
	c.Submit(Job{Name: "a", Maps: 1, SetUp: true})
	c.Submit(Job{Name: "b", Maps: 2})
	c.Beat(0, "b map")
	c.Start("a")
	c.Beat(1, "a map")
}

// Load is spread: 5 tasks left on 8 slots are a load of 0.625, and ceil(0.625 x
// 2) = 2 maps for each tracker; 4 tasks left are a load of 0.5, and one map for
// each. Tasks that run count as left.
func TestFIFOSpreadsLoad(t *testing.T) {
	c := newCluster(t, fifo(), "1.0.4", Trackers{Count: 4, Maps: 2, Reduces: 2})
	c.Submit(Job{Name: "a", Maps: 5, Reduces: 4})
	c.Beat(0, "a map, a map, a reduce")
	c.End("a map", 1)
	c.Beat(0, "")
	c.Beat(1, "a map, a reduce")
	c.Beat(1, "")
}

// Reduces that wait for slowstart are no load: only the two maps of b count, so
// a tracker gets one.
func TestFIFOLoadWithoutSlowReduces(t *testing.T) {
	c := newCluster(t, fifo(), "1.0.4", Trackers{Count: 2, Maps: 2, Reduces: 2})
	c.Submit(Job{Name: "a", Maps: 1, Reduces: 4, Slowstart: 1})
	c.Submit(Job{Name: "b", Reduces: 2})
	c.Beat(0, "a map, b reduce")
	c.Beat(0, "")
}

// A heartbeat gives all maps that are near, or one from another rack, which ends
// it. Trackers 0 and 1 are in one rack, 2 and 3 in the other.
func TestFIFOLocality(t *testing.T) {
	c := newCluster(t, fifo(), "1.0.4", Trackers{Count: 4, Maps: 2, PerRack: 2})
	c.Submit(Job{Name: "far", Maps: 10, On: []int{0}})
	c.Submit(Job{Name: "near", Maps: 4})
	c.Beat(3, "far map")
	c.Beat(1, "far map, far map")
	c.Beat(0, "far map, far map")
	c.Beat(3, "far map")
}

// At most one reduce a heartbeat.
func TestFIFOOneReduce(t *testing.T) {
	c := newCluster(t, fifo(), "1.0.4", Trackers{Count: 1, Reduces: 3})
	c.Submit(Job{Name: "a", Reduces: 9})
	c.Beat(0, "a reduce")
	c.Beat(0, "a reduce")
}

// Padding keeps slots free for failed and speculated tasks: of the 20 maps of
// jobs with reduces 0.1 are 2 slots, and no more than a tracker has. From 6
// running maps on 8 slots a heartbeat gives one map instead of two. For reduces,
// 0.1 of 12 is 1: with 7 of 8 running only the first job is asked. The map-only
// job is not counted.
func TestFIFOPadding(t *testing.T) {
	c := newCluster(t, fifo("mapred.jobtracker.taskalloc.capacitypad", "0.1"), "1.0.4",
		Trackers{Count: 4, Maps: 2, Reduces: 2})
	c.Submit(Job{Name: "only", Maps: 100, Priority: workload.Low})
	c.Submit(Job{Name: "a", Maps: 19, Reduces: 6})
	c.Submit(Job{Name: "b", Maps: 1, Reduces: 6})
	for tracker := range 3 {
		c.Beat(tracker, "a map, a map, a reduce")
		c.Beat(tracker, "a reduce")
	}
	c.Beat(0, "")
	c.Beat(1, "")
	c.Beat(2, "")
	c.Beat(3, "a map, b reduce")
	c.Beat(3, "a map")
}

// A cluster of three trackers has no padding; one of four does.
func TestFIFONoPaddingOnSmallClusters(t *testing.T) {
	for trackers, last := range map[int]string{3: "a map, a map", 4: "a map"} {
		c := newCluster(t, fifo("mapred.jobtracker.taskalloc.capacitypad", "1"), "1.0.4",
			Trackers{Count: trackers, Maps: 2})
		c.Submit(Job{Name: "a", Maps: 50, Reduces: 1})
		for tracker := range trackers - 1 {
			c.Beat(tracker, "a map, a map")
			c.Beat(tracker, "")
		}
		c.Beat(trackers-1, last)
	}
}

// One slot is enough for a cluster.
func TestFIFOOneSlot(t *testing.T) {
	c := newCluster(t, fifo(), "1.0.4", Trackers{Count: 1, Maps: 1})
	c.Submit(Job{Name: "a", Maps: 1})
	c.Beat(0, "a map")
}
