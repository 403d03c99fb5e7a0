package scenarios

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// sameBeat is how far the times of one heartbeat may differ in a record.
const sameBeat = 5 * time.Millisecond

// foundInterval keeps the interval that was found last for a trace: whoever looks for a
// scheduler asks a hundred times, with the same assignments.
type foundInterval struct {
	mu                    sync.Mutex
	in                    assignments
	usual, longest, other time.Duration
}

func (f *foundInterval) of(as *assignments, usual time.Duration) (longest, other time.Duration) {
	first := as.first()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.usual != usual || !reflect.DeepEqual(f.in, first) {
		f.in, f.usual = first, usual
		f.longest, f.other = first.interval(usual)
	}
	return f.longest, f.other
}

// first returns the first assignments of some machines with the most, which show the
// interval.
func (as *assignments) first() assignments {
	const machines, each = 20, 100
	first := assignments{given: map[string][]time.Duration{}, freed: as.freed, seconds: as.seconds}
	nodes := slices.Sorted(maps.Keys(as.given))
	slices.SortStableFunc(nodes, func(a, b string) int { return cmp.Compare(len(as.given[b]), len(as.given[a])) })
	for _, node := range nodes[:min(machines, len(nodes))] {
		given := slices.Clone(as.given[node])
		slices.Sort(given)
		first.given[node] = given[:min(each, len(given))]
	}
	first.show()
	first.freed = nil // shown has what it leaves
	return first
}

// interval returns the longest heartbeat interval that the assignments of a history fit
// about as well as any, or the usual one if they fit none well. Those of a real tracker
// drift, and fit none in a longer record. A longer one that a short record may fit by
// chance is the other one.
func (as *assignments) interval(usual time.Duration) (longest, other time.Duration) {
	const (
		step, most = 10 * time.Millisecond, 15 * time.Second // intervals are configured in round numbers
		fits, near = 0.8, 0.9
		fewest     = 20
		few, many  = 3, 5 // different multiples of the interval between assignments; many if the usual one fits too
	)
	total := 0
	for _, given := range as.given {
		total += len(given)
	}
	longest = usual
	if total < fewest || as.seconds {
		return usual, 0
	}
	best := 0.0
	shares := map[time.Duration]float64{}
	for at := 10 * step; at <= most; at += step {
		_, shares[at] = as.agreement(at)
		best = max(best, shares[at])
	}
	if best < fits {
		return usual, 0
	}
	for at := 10 * step; at <= most; at += step {
		if shares[at] >= near*best {
			longest = at
		}
	}
	needs := many
	if usual > 0 {
		if _, share := as.agreement(usual); share < near*best {
			needs = few
		}
	}
	switch n := as.multiples(longest); {
	case n >= needs:
		return longest, 0
	case n > 0 && longest != usual:
		return usual, longest
	}
	return usual, 0
}

// multiples returns how many different multiples of an interval lie between assignments
// of a machine. Equal tasks are assigned equally long apart, which also fits multiples of
// the interval.
func (as *assignments) multiples(interval time.Duration) int {
	seen := map[time.Duration]bool{}
	for _, node := range slices.Sorted(maps.Keys(as.given)) {
		given := as.given[node]
		for i := range len(given) - 1 {
			if n := (given[i+1] - given[i] + interval/2) / interval; n > 0 {
				seen[n] = true
			}
		}
	}
	return len(seen)
}

// beats returns the first heartbeat of each machine of a history, if many of the
// intervals with an assignment have one at that beat. Others have none: an attempt
// may wait for its slot, and then starts between heartbeats. The heartbeats of a
// real tracker drift by the time of a call, and show no such beat in a longer
// record.
func (as *assignments) beats(interval time.Duration) map[string]time.Duration {
	const kept = 0.3 // share of the intervals after the first of a machine
	beats, share := as.agreement(interval)
	if !(share >= kept) {
		return nil
	}
	return beats
}

// agreement returns the beat of each machine that most of its assignments have, and the
// share of all that have it, after the first of a machine.
func (as *assignments) agreement(interval time.Duration) (beats map[string]time.Duration, share float64) {
	beats = make(map[string]time.Duration, len(as.shown))
	total, agree := 0, 0
	var offsets []time.Duration
	for _, s := range as.shown {
		offsets = offsets[:0]
		for _, at := range s.at {
			offsets = append(offsets, at%interval)
		}
		beat, n := beatOf(offsets, interval)
		beats[s.node] = beat
		agree += n - 1
		total += len(offsets) - 1
	}
	if agree == 0 {
		return beats, 0
	}
	return beats, float64(agree) / float64(total)
}

// nodeInstant is a time on a machine.
type nodeInstant struct {
	node string
	at   time.Duration
}

// assignments are what a history shows of the heartbeats of its machines.
type assignments struct {
	given   map[string][]time.Duration // when attempts were assigned, or started if that is not recorded
	shown   []shownBeats
	freed   map[nodeInstant]bool // when attempts succeeded, for which others may have waited
	seconds bool                 // the record has whole seconds, which show no heartbeats
}

// shownBeats are the heartbeats of a machine that assigned tasks: several tasks may come
// with one, and what waited for another to succeed shows none.
type shownBeats struct {
	node string
	at   []time.Duration
}

// show sets the heartbeats that the assignments show.
func (as *assignments) show() {
	for _, node := range slices.Sorted(maps.Keys(as.given)) {
		s := shownBeats{node: node}
		seen := map[time.Duration]bool{}
		for _, at := range as.given[node] {
			if slot := at / sameBeat; !seen[slot] && !as.freed[nodeInstant{node, at}] {
				seen[slot] = true
				s.at = append(s.at, at)
			}
		}
		if len(s.at) > 0 {
			as.shown = append(as.shown, s)
		}
	}
}

func assignedIn(h *workload.History) assignments {
	as := assignments{given: map[string][]time.Duration{}, freed: map[nodeInstant]bool{}, seconds: true}
	for t, a := range h.Each() {
		if a.Node == "" || !workload.Known(a.Start) || a.Start < 0 {
			continue
		}
		at := a.Start
		if a == &t.Attempts[0] && workload.Known(t.Start) && t.Start >= 0 {
			at = min(at, t.Start)
		}
		as.given[a.Node] = append(as.given[a.Node], at)
		if a.State == workload.Succeeded && workload.Known(a.Finish) && a.Finish > a.Start {
			as.freed[nodeInstant{a.Node, a.Finish}] = true
			as.seconds = as.seconds && a.Finish%time.Second == 0
		}
	}
	as.show()
	return as
}

// beatOf returns the offset that most of a list share, and how many do. Offsets are
// on a circle as long as the interval.
func beatOf(list []time.Duration, interval time.Duration) (beat time.Duration, agree int) {
	slices.Sort(list)
	n := len(list)
	at := func(i int) time.Duration { return list[i%n] + interval*time.Duration(i/n) }
	for i, j := 0, 0; i < n; i++ {
		for j < 2*n && at(j) <= list[i]+sameBeat {
			j++
		}
		if j-i > agree {
			beat, agree = list[i], j-i
		}
	}
	return beat, agree
}
