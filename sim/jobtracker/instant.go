package jobtracker

import (
	"math/bits"

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
	free    [2][]uint64 // trackers with free slots, by type of slot
}

// newInstantReports returns instant reports that call offerAll to offer all
// free slots.
func newInstantReports(c *cluster, trackers int, offerAll func(int32)) *instantReports {
	r := &instantReports{cluster: c, offers: c.Engine.NewTimer(engine.Heartbeat, 0, offerAll)}
	for k := range r.free {
		r.free[k] = make([]uint64, (trackers+63)/64)
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
	word, bit := t.id/64, uint64(1)<<(t.id%64)
	for k := range r.free {
		if t.lost || t.view.Free(workload.Kind(k)) <= 0 {
			r.free[k][word] &^= bit
		} else {
			r.free[k][word] |= bit
		}
	}
}

// offer implements reports.
func (r *instantReports) offer() { r.offers.Reset(r.cluster.Now()) }

// after returns the next tracker with a free slot of a wanted type, or -1.
func (r *instantReports) after(id int, want scheduler.Offers) int {
	id++
	for w := id / 64; w < len(r.free[0]); w++ {
		var word uint64
		if want.Map || want.Any {
			word |= r.free[workload.Map][w]
		}
		if want.Reduce || want.Any {
			word |= r.free[workload.Reduce][w]
		}
		if w == id/64 {
			word &^= 1<<(id%64) - 1
		}
		if word != 0 {
			return w*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}
