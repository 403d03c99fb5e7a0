package workload

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"time"
)

// timed is an attempt with its times in the run.
type timed struct {
	start, finish time.Duration
	seconds       float64
}

// MostOnMachine returns the largest number of concurrent maps or reduces on one
// machine, or of both; 0: none is known. Set-up and clean-up tasks do not count: not every
// format says in which kind of slot they ran.
func (h *History) MostOnMachine(kinds ...Kind) int {
	return h.mostAtOnce(func(t *HistoryTask) bool { return slices.Contains(kinds, t.Kind) })
}

// mostAtOnce returns the largest number of concurrent attempts on one machine, of the
// tasks that count.
func (h *History) mostAtOnce(counts func(*HistoryTask) bool) int {
	most := h.MostHeld(func(_ *HistoryJob, t *HistoryTask) (n [2]int64) {
		if counts(t) {
			n[0] = 1
		}
		return n
	})
	return int(most[0])
}

// MostHeld returns the most of two resources that concurrent attempts held on one machine
// of the topology, if each attempt of a task holds so much of them. One that runs, of a job
// that runs, holds it until the record ends.
func (h *History) MostHeld(held func(*HistoryJob, *HistoryTask) [2]int64) (most [2]int64) {
	byNode := map[string]*[2][]change{}
	ends := h.heldUntil()
	for i := range h.Jobs {
		for t, a := range h.Jobs[i].Each() {
			until := ends(&h.Jobs[i], a)
			amounts := held(&h.Jobs[i], t)
			if amounts == [2]int64{} || a.Node == "" || !Known(a.Start) || !Known(until) || a.Start >= until {
				continue
			}
			on := byNode[a.Node]
			if on == nil {
				on = new([2][]change)
				byNode[a.Node] = on
			}
			for k, n := range amounts {
				if n > 0 {
					on[k] = append(on[k], change{a.Start, n}, change{until, -n})
				}
			}
		}
	}
	for _, rack := range h.Topology.Racks {
		for _, host := range rack.Hosts {
			if on := byNode[host]; on != nil {
				for k := range most {
					most[k] = max(most[k], highest(on[k]))
				}
			}
		}
	}
	return most
}

// MostAtOnce returns the largest number of concurrent attempts of a kind.
func (h *History) MostAtOnce(kind Kind) int {
	var changes []change
	for i := range h.Jobs {
		for t, a := range h.Jobs[i].Each() {
			if t.Kind == kind && Known(a.Start) && Known(a.Finish) && a.Start < a.Finish {
				changes = append(changes, change{a.Start, 1}, change{a.Finish, -1})
			}
		}
	}
	return int(highest(changes))
}

// heldUntil returns when an attempt gives back its slot or container. A running one of a
// running job holds it until the last recorded time of any job of its JobTracker, so not
// under the next JobTracker.
func (h *History) heldUntil() func(*HistoryJob, *HistoryAttempt) time.Duration {
	now := map[member]time.Duration{}
	for i := range h.Jobs {
		j := &h.Jobs[i]
		now[j.tracker()] = max(now[j.tracker()], j.last())
	}
	return func(j *HistoryJob, a *HistoryAttempt) time.Duration {
		if a.State == Running && j.Outcome == Running && !Known(a.Finish) {
			return now[j.tracker()] + 1
		}
		return a.Finish
	}
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

// InOrder sorts the starts and ends of spans of time, and passes them in order: 1 for a
// start, -1 for an end, ends first. Two lists are sorted faster than one of both: tables
// have attempts in the order of their ends.
func InOrder(starts, ends []time.Duration, each func(at time.Duration, by int)) {
	slices.Sort(starts)
	slices.Sort(ends)
	next := 0
	for _, end := range ends {
		for ; next < len(starts) && starts[next] < end; next++ {
			each(starts[next], 1)
		}
		each(end, -1)
	}
	for ; next < len(starts); next++ {
		each(starts[next], 1)
	}
}

// Integral returns the integral over time, in seconds, of a rate that depends on how many
// spans run, from the first time of a span until a time or the last of them.
func Integral(starts, ends []time.Duration, rate func(running int) float64) func(time.Duration) float64 {
	var times []time.Duration
	var sums, rates []float64
	until := func(i int, t time.Duration) float64 { return sums[i] + float64((t-times[i]).Seconds()*rates[i]) }
	running := 0
	InOrder(starts, ends, func(at time.Duration, by int) {
		if last := len(times) - 1; last < 0 {
			times, sums, rates = append(times, at), append(sums, 0), append(rates, 0)
		} else if at > times[last] {
			times, sums, rates = append(times, at), append(sums, until(last, at)), append(rates, 0)
		}
		running += by
		rates[len(rates)-1] = rate(running)
	})
	return func(t time.Duration) float64 {
		i := sort.Search(len(times), func(i int) bool { return times[i] > t }) - 1
		switch {
		case i < 0:
			return 0
		case i+1 == len(times):
			return sums[i]
		}
		return until(i, t)
	}
}
