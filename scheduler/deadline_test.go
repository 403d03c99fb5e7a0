package scheduler_test

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/workload"
)

// The earliest deadline goes first, whatever the priority; jobs without one come
// last, by priority.
func TestMaxEDFOrder(t *testing.T) {
	c := newCluster(t, model.Scheduler{Name: "maxedf"}, "1.0.4", Trackers{Count: 5, Maps: 1})
	c.Submit(Job{Name: "none", Maps: 1})
	c.Submit(Job{Name: "urgent", Maps: 1, Priority: workload.VeryHigh})
	c.Submit(Job{Name: "late", Maps: 1, Deadline: time.Hour, Priority: workload.High})
	c.Submit(Job{Name: "soon", Maps: 2, Deadline: time.Minute})
	for tracker, want := range []string{"soon map", "soon map", "late map", "urgent map", "none map"} {
		c.Beat(tracker, want)
	}
}

// All free slots of a tracker are filled at once, maps before reduces. A wide
// task takes as many as it needs.
func TestMaxEDFFillsSlots(t *testing.T) {
	c := newCluster(t, model.Scheduler{Name: "maxedf"}, "1.0.4", Trackers{Count: 2, Maps: 3, Reduces: 2})
	c.Submit(Job{Name: "a", Maps: 5, Reduces: 3, Deadline: time.Minute})
	c.Submit(Job{Name: "wide", Maps: 2, Width: [2]int{2, 1}})
	c.Beat(0, "a map, a map, a map, a reduce, a reduce")
	c.Beat(0, "")
	c.Beat(1, "a map, a map, a reduce")
	c.End("a map", 5)
	c.Beat(0, "wide map")
	c.Beat(1, "wide map")
}

// Eight maps of 10 s, all alike, take 40 s on two slots and 20 s on four: so a
// job with 45 s gets two slots and one with 25 s four. MaxEDF gives all it has.
func TestMinEDFGivesWhatIsNeeded(t *testing.T) {
	for _, x := range []struct {
		policy   string
		deadline time.Duration
		want     string
	}{
		{"minedf", 45 * time.Second, "a map, a map, b map, b map, b map, b map"},
		{"minedf", 25 * time.Second, "a map, a map, a map, a map, b map, b map"},
		{"minedf", 5 * time.Second, "a map, a map, a map, a map, a map, a map"}, // nothing meets it
		{"maxedf", 45 * time.Second, "a map, a map, a map, a map, a map, a map"},
	} {
		c := newCluster(t, model.Scheduler{Name: x.policy}, "1.0.4", Trackers{Count: 1, Maps: 6})
		c.Pass(time.Hour) // deadlines count from the submission
		c.Submit(Job{
			Name: "a", Maps: 8, Deadline: x.deadline,
			Profile: analytic.AriaProfile{Maps: 8, MapAvg: 10, MapMax: 10},
		})
		c.Submit(Job{Name: "b", Maps: 8})
		c.Beat(0, x.want)
	}
}

// What a job may run follows its tasks: when one of two has ended, it gets the
// next.
func TestMinEDFKeepsToItsSlots(t *testing.T) {
	c := newCluster(t, model.Scheduler{Name: "minedf"}, "1.0.4", Trackers{Count: 1, Maps: 6})
	c.Submit(Job{
		Name: "a", Maps: 8, Deadline: 45 * time.Second,
		Profile: analytic.AriaProfile{Maps: 8, MapAvg: 10, MapMax: 10},
	})
	c.Beat(0, "a map, a map")
	c.Beat(0, "")
	c.End("a map", 1)
	c.Beat(0, "a map")
}
