package workload

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// timed is an attempt with its times in the run.
type timed struct {
	start, finish time.Duration
	seconds       float64
}

// MostOnMachine returns the largest number of concurrent maps or reduces on one
// machine, or of both, at least 1. Set-up and clean-up tasks do not count: not every
// format says in which kind of slot they ran.
func (h *History) MostOnMachine(kinds ...Kind) int {
	return h.mostAtOnce(func(t *HistoryTask) bool { return slices.Contains(kinds, t.Kind) })
}

// mostAtOnce returns the largest number of concurrent attempts on one machine, of the
// tasks that count.
func (h *History) mostAtOnce(counts func(*HistoryTask) bool) int {
	return int(h.MostHeld(func(_ *HistoryJob, t *HistoryTask) int64 {
		if counts(t) {
			return 1
		}
		return 0
	}))
}

// MostHeld returns the most of a resource that concurrent attempts held on one machine of
// the topology, if each attempt of a task holds so much of it.
func (h *History) MostHeld(held func(*HistoryJob, *HistoryTask) int64) int64 {
	byNode := map[string][]change{}
	for i := range h.Jobs {
		for t, a := range h.Jobs[i].Each() {
			if n := held(&h.Jobs[i], t); n > 0 && a.Node != "" && Known(a.Start) && Known(a.Finish) && a.Start < a.Finish {
				byNode[a.Node] = append(byNode[a.Node], change{a.Start, n}, change{a.Finish, -n})
			}
		}
	}
	most := int64(0)
	for _, rack := range h.Topology.Racks {
		for _, host := range rack.Hosts {
			most = max(most, highest(byNode[host]))
		}
	}
	return most
}

// peak returns the largest number of concurrent attempts, at least 1.
func peak(run []timed) int {
	return max(1, MostAtOnce(func(yield func(start, finish time.Duration) bool) {
		for _, a := range run {
			if !yield(a.start, a.finish) {
				return
			}
		}
	}))
}

// MostAtOnce returns the largest number of overlapping spans of time. Spans
// that only touch do not overlap. A span that ends before it starts does not
// count.
func MostAtOnce(spans iter.Seq2[time.Duration, time.Duration]) int {
	var changes []change
	for start, finish := range spans {
		if start < finish {
			changes = append(changes, change{start, 1}, change{finish, -1})
		}
	}
	return int(highest(changes))
}

// change is by how much something that is held grows at a time.
type change struct {
	at time.Duration
	by int64
}

// highest returns the most that is held at a time. What ends then is not held any more.
func highest(changes []change) int64 {
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	most, now := int64(0), int64(0)
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}
