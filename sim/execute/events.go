package execute

import (
	"sort"

	"github.com/slotwave/slotwave/sim/engine"
)

// Events are the completion events of a job's maps (TaskCompletionEvent): how
// many the JobTracker had published at any instant, and when they named every
// map.
type Events struct {
	counts  []eventCount  // one for each instant at which some were added
	toggles []engine.Time // complete from the first, not from the second, ...
}

type eventCount struct {
	at    engine.Time
	total int32 // events so far
	maps  int32 // whose output they name
}

// add publishes an event, by which that many more maps are known: one for a map
// that ended, none for a failed attempt, one less for output that was lost.
func (e *Events) add(now engine.Time, maps int32) {
	var last eventCount
	if n := len(e.counts); n > 0 {
		last = e.counts[n-1]
		if last.at == now {
			e.counts = e.counts[:n-1]
		}
	}
	e.counts = append(e.counts, eventCount{now, last.total + 1, last.maps + maps})
}

// maps is how many maps a child knows that has read that many events.
func (e *Events) maps(read int32) int32 {
	i := sort.Search(len(e.counts), func(i int) bool { return e.counts[i].total >= read })
	if read == 0 || i == len(e.counts) {
		return 0
	}
	return e.counts[i].maps
}

// upTo is how many events had been published at an instant.
func (e *Events) upTo(at engine.Time) int32 {
	i := sort.Search(len(e.counts), func(i int) bool { return e.counts[i].at > at })
	if i == 0 {
		return 0
	}
	return e.counts[i-1].total
}

// SetComplete notes whether every map has ended.
func (e *Events) SetComplete(now engine.Time, complete bool) {
	if complete != e.Complete() {
		e.toggles = append(e.toggles, now)
	}
}

// Complete reports whether the events name every map.
func (e *Events) Complete() bool { return len(e.toggles)%2 == 1 }

// completeAt is Complete as it was at an instant.
func (e *Events) completeAt(at engine.Time) bool {
	n := len(e.toggles)
	for n > 0 && e.toggles[n-1] > at {
		n--
	}
	return n%2 == 1
}
