package jobtracker

import (
	"cmp"
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// heartbeats implements reports with the heartbeats of Hadoop. A heartbeat that
// would neither report anything nor be given anything is not simulated. A
// tracker with something to report sets its own timer. To hand out work, only
// the next tracker with a free slot gets a timer. Trackers with free slots lie
// in rings in the order of their heartbeats.
type heartbeats struct {
	cluster   *cluster
	trackers  []taskTracker
	rings     rings
	over      func(tracker int32) bool // its heartbeat of this instant is over
	outOfBand outOfBand
	every     bool // simulate each heartbeat
}

func newHeartbeats(c *cluster, trackers []taskTracker, o outOfBand) *heartbeats {
	h := &heartbeats{cluster: c, trackers: trackers, outOfBand: o, every: c.Question.Cluster.EveryHeartbeat}
	c.nextRank = uint32(len(trackers))
	h.over = func(id int32) bool { return h.trackers[id].heartbeatOver() }
	return h
}

// reset empties the rings, because trackers use another interval from now on. It
// is called when the next heartbeat of each is known.
func (h *heartbeats) reset(interval engine.Time) {
	h.cluster.view.Heartbeat = interval.Duration()
	positions := make([]ringPosition, max(1, len(h.trackers)))
	for i := range h.trackers {
		positions[i] = ringPosition{h.trackers[i].next % interval, h.trackers[i].rank}
	}
	slices.SortFunc(positions, ringPosition.compare)
	h.rings = newRings(positions, interval)
}

// list implements reports.
func (h *heartbeats) list(t *taskTracker) {
	if h.every || t.everyBeat {
		return
	}
	given := t.givenSlots
	if h.cluster.sharedSlots {
		given = [2]int32{} // used has them already
	}
	var free [2]bool
	if t.regular && !t.lost && !t.faults.listed {
		for k := range free {
			free[k] = t.view.Used[k]+int(given[k]) < t.view.Slots[k]
		}
	}
	h.rings.move(t.id, ringPosition{h.rings.phaseOf(t.next), t.rank}, free)
}

// remove takes a lost tracker off the rings.
func (h *heartbeats) remove(t *taskTracker) {
	h.rings.remove(t.id)
}

// offer implements reports.
func (h *heartbeats) offer() {
	if h.every {
		return
	}
	want := h.cluster.wants()
	if want.Map || want.Any {
		h.simulateNext(workload.Map)
	}
	if want.Reduce || want.Any {
		h.simulateNext(workload.Reduce)
	}
}

// simulateNext makes sure that the next heartbeat with a free slot of a type is
// simulated.
func (h *heartbeats) simulateNext(k workload.Kind) {
	if id, at := h.rings.after(k, h.cluster.Now(), h.cluster.position, h.over); id >= 0 {
		bringForward(&h.trackers[id], at)
	}
}

// changed implements reports. It sets the tracker's timer to the next heartbeat
// that has something to report or must be simulated for another reason.
func (h *heartbeats) changed(t *taskTracker) {
	if t.lost || t.beating {
		return
	}
	t.awaitSlots()
	from := h.cluster.Now()
	if t.heartbeatOver() {
		from++
	}
	at := engine.Never
	if t.everyBeat || t.killsPending || !t.regular || h.every || t.watched > 0 {
		at = t.beatFrom(from)
	} else if t.news < engine.Never {
		at = t.beatFrom(max(t.news, from))
	}
	if t.faults.jobs > 0 {
		at = min(at, t.beatFrom(max(t.faults.expires+1, from)))
	}
	if h.outOfBand.on {
		at = min(at, max(from, h.outOfBand.beat(t)))
	}
	if at < t.dies && at < engine.Never {
		bringForward(t, at)
	}
}

// register adds a tracker to the cluster (1) or removes it (-1). The others
// learn the new interval at their next heartbeat.
func (h *heartbeats) register(t *taskTracker, by int) {
	h.cluster.register(t, by)
	h.updateInterval()
}

// updateInterval recomputes the interval that responses carry. After a change
// each tracker sends one more heartbeat at the old interval.
func (h *heartbeats) updateInterval() {
	c := h.cluster
	interval := c.interval(c.view.Trackers)
	if interval == c.heartbeatInterval() {
		return
	}
	now := c.Now()
	var known []*taskTracker
	for i := range h.trackers {
		t := &h.trackers[i]
		if !t.registered || t.lost || t.beating {
			continue
		}
		known = append(known, t)
		if t.regular {
			t.regular = false
			from := now
			if position(t.rank) < c.position || t.last == now {
				from++
			}
			if next := t.beatFrom(from); next != t.next {
				t.last, t.next = next-t.interval, next
			}
		}
	}
	// Of two heartbeats at one instant, the one that was scheduled first
	// comes first.
	slices.SortFunc(known, func(a, b *taskTracker) int {
		return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.rank, b.rank))
	})
	for _, t := range known {
		h.newRank(t)
	}
	h.reset(interval)
	for _, t := range known {
		h.changed(t)
	}
}

// putLast orders a tracker whose heartbeats are out of step behind all others.
// If its heartbeats fall on the same instant as others later, they keep the
// order of the heartbeats before.
func (h *heartbeats) putLast(t *taskTracker) {
	now, interval := h.cluster.Now(), h.cluster.heartbeatInterval()
	var after []*taskTracker
	if t.interval == 0 || t.interval >= interval {
		// The tracker stays before those in step that have not sent their
		// heartbeat of this instant yet.
		for i := range h.trackers {
			o := &h.trackers[i]
			if o != t && o.regular && !o.lost && !o.heartbeatOver() && (o.next-now)%interval == 0 {
				after = append(after, o)
			}
		}
		slices.SortFunc(after, func(a, b *taskTracker) int { return cmp.Compare(a.rank, b.rank) })
	}
	h.newRank(t)
	for _, o := range after {
		h.newRank(o)
		h.list(o)
	}
}

// newRank orders a tracker behind all others within one instant.
func (h *heartbeats) newRank(t *taskTracker) {
	t.rank = h.cluster.nextRank
	h.cluster.nextRank++
	t.timer = t.timer.Ranked(t.rank)
	if t.set < engine.Never {
		t.timer.Reset(t.set)
	}
}
