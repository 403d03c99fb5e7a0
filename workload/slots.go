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

// mostAtOnce returns the largest number of concurrent attempts on one machine, at
// least 1, of the tasks that count.
func (h *History) mostAtOnce(counts func(*HistoryTask) bool) int {
	byNode := map[string][]timed{}
	for task, a := range h.Each() {
		if counts(task) && a.Node != "" && Known(a.Start) && Known(a.Finish) {
			byNode[a.Node] = append(byNode[a.Node], timed{start: a.Start, finish: a.Finish})
		}
	}
	most := 1
	for _, rack := range h.Topology.Racks {
		for _, host := range rack.Hosts {
			most = max(most, peak(byNode[host]))
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
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	for start, finish := range spans {
		if start < finish {
			changes = append(changes, change{start, 1}, change{finish, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	most, now := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}
