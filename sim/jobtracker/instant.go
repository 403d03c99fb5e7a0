package jobtracker

import (
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// instantReports implements reports for the ideal protocol: the JobTracker
// learns of every change at once, and free slots are offered until no job takes
// one. All changes of an instant are known before slots are offered.
type instantReports struct {
	cluster *cluster
	offers  engine.Timer
	free    [2]bitset // trackers with free slots, by type of slot
}

// newInstantReports returns instant reports that call offerAll to offer all
// free slots.
func newInstantReports(c *cluster, trackers int, offerAll func(int32)) *instantReports {
	r := &instantReports{cluster: c, offers: c.Engine.NewTimer(engine.Heartbeat, 0, offerAll)}
	for k := range r.free {
		r.free[k] = newBitset(trackers)
	}
	return r
}

// changed implements reports.
func (r *instantReports) changed(t *taskTracker) {
	if t.lost || t.beating {
		return
	}
	t.awaitSlots()
	if t.killsPending {
		bringForward(t, r.cluster.Now())
	} else if t.news < engine.Never {
		bringForward(t, t.news)
	}
}

// list implements reports.
func (r *instantReports) list(t *taskTracker) {
	for k := range r.free {
		if t.lost || t.view.Free(workload.Kind(k)) <= 0 {
			r.free[k].clear(t.id)
		} else {
			r.free[k].set(t.id)
		}
	}
}

// offer implements reports.
func (r *instantReports) offer() { r.offers.Reset(r.cluster.Now()) }

// after returns the next tracker with a free slot of a wanted type, or -1.
func (r *instantReports) after(id int32, want scheduler.Offers) int32 {
	next := int32(-1)
	for k, wanted := range [...]bool{want.Map || want.Any, want.Reduce || want.Any} {
		if !wanted {
			continue
		}
		if found := r.free[k].from(id + 1); next < 0 || found >= 0 && found < next {
			next = found
		}
	}
	return next
}
