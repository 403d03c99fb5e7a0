package sim

import (
	"math/bits"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// instant is the ideal protocol: no heartbeats. The JobTracker learns of every
// change as it happens, the policy's shares are brought up to date with it, and
// free slots are offered until nobody wants one. Whatever happens at an instant
// is known before slots are offered.
type instant struct {
	on       bool
	offering engine.Timer
	free     [2][]uint64 // trackers with free slots, by type of slot
}

func (n *instant) init(jt *jobTracker) {
	n.on = true
	n.offering = jt.eng.NewTimer(engine.Heartbeat, 0, jt.offerAll)
	for k := range n.free {
		n.free[k] = make([]uint64, (len(jt.trackers)+63)/64)
	}
}

// place notes whether a tracker has free slots.
func (n *instant) place(t *taskTracker) {
	word, bit := t.id/64, uint64(1)<<(t.id%64)
	for k := range n.free {
		if t.lost || t.view.Free(workload.Kind(k)) <= 0 {
			n.free[k][word] &^= bit
		} else {
			n.free[k][word] |= bit
		}
	}
}

// after finds the next tracker with a free slot of a wanted type.
func (n *instant) after(id int, want scheduler.Offers) int {
	id++
	for w := id / 64; w < len(n.free[0]); w++ {
		var word uint64
		if want.Map || want.Any {
			word |= n.free[workload.Map][w]
		}
		if want.Reduce || want.Any {
			word |= n.free[workload.Reduce][w]
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

// tell is what a tracker does instead of a heartbeat: it reports what has just
// changed, and obeys.
func (jt *jobTracker) tell(id int32) {
	now := jt.eng.Now()
	t := &jt.trackers[id]
	jt.turn = beforeBeats
	jt.setNow()
	t.prev, t.last, t.given, t.givenSlots = engine.Never, now, [2]int{}, [2]int{}
	t.beating = true
	t.settle(jt, now)
	jt.report(t)
	jt.orderKills(t)
	t.settle(jt, now)
	t.next = now
	t.beating = false
	t.sweep(jt)
	jt.instant.place(t)
	jt.rearm(t)
	jt.offer()
}

// offerAll offers free slots, tracker by tracker, until a whole round gives
// nothing away.
func (jt *jobTracker) offerAll(int32) {
	jt.turn = beforeBeats
	jt.setNow()
	if jt.ticks != nil {
		// The second time for what the first one set going.
		if jt.ticks.Tick(jt.c.View()) {
			jt.ticks.Tick(jt.c.View())
		}
	}
	for given := true; given; {
		given = false
		for id := jt.instant.after(-1, jt.wants()); id >= 0; id = jt.instant.after(id, jt.wants()) {
			t := &jt.trackers[id]
			t.last, t.given, t.givenSlots = jt.eng.Now(), [2]int{}, [2]int{}
			t.beating = true
			jt.sched.Assign(jt.c.View(), t.view.View())
			t.beating = false
			if t.given != [2]int{} {
				given = true
				jt.count(t)
				jt.instant.place(t)
				jt.rearm(t)
			}
		}
	}
}
