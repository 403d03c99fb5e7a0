package jobtracker

import (
	"cmp"
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
)

// expiry is the thread that finds lost trackers. It runs every third of the
// expiry interval. It looks at a tracker only when the last report that it has
// stored is too old, and then stores a newer one (JobTracker.ExpireTrackers).
type expiry struct {
	timer    periodic
	interval engine.Time // mapred.tasktracker.expiry.interval
	every    engine.Time // a third of it, in whole milliseconds
	reports  []lastReport
}

// lastReport is the stored last heartbeat of a tracker.
type lastReport struct {
	at      engine.Time
	tracker int32
}

// open sets the first check and calls look at each.
func (x *expiry) open(c *cluster, look func(int32)) {
	x.timer = newPeriodic(c, x.every, look)
	x.timer.set(x.every)
}

func (x *expiry) add(r lastReport) {
	i, _ := slices.BinarySearchFunc(x.reports, r, func(a, b lastReport) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.tracker, b.tracker))
	})
	x.reports = slices.Insert(x.reports, i, r)
}

// next returns a tracker whose stored report is too old, or -1, and removes it.
func (x *expiry) next(now engine.Time) int32 {
	if len(x.reports) == 0 || now-x.reports[0].at <= x.interval {
		return -1
	}
	id := x.reports[0].tracker
	x.reports = x.reports[1:]
	return id
}
