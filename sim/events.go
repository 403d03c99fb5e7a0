package sim

import (
	"sort"

	"github.com/slotwave/slotwave/sim/engine"
)

// events are the completion events of a job's maps as the JobTracker publishes
// them: how many there were at any instant, and since when they have told of
// every map.
type events struct {
	marks   []mark        // one for each instant at which some were added
	toggles []engine.Time // complete from the first, not from the second, ...
}

type mark struct {
	at    engine.Time
	total int32 // events so far
	maps  int32 // whose output they tell of
}

// add publishes an event, by which that many more maps are known: one for a map
// that ended, none for a failed attempt, one less for output that was lost.
func (e *events) add(now engine.Time, maps int32) {
	var last mark
	if n := len(e.marks); n > 0 {
		last = e.marks[n-1]
		if last.at == now {
			e.marks = e.marks[:n-1]
		}
	}
	e.marks = append(e.marks, mark{now, last.total + 1, last.maps + maps})
}

// maps is how many maps are known to who has read that many events.
func (e *events) maps(read int32) int32 {
	i := sort.Search(len(e.marks), func(i int) bool { return e.marks[i].total >= read })
	if read == 0 || i == len(e.marks) {
		return 0
	}
	return e.marks[i].maps
}

// upTo is how many events had been published at an instant.
func (e *events) upTo(at engine.Time) int32 {
	i := sort.Search(len(e.marks), func(i int) bool { return e.marks[i].at > at })
	if i == 0 {
		return 0
	}
	return e.marks[i-1].total
}

func (e *events) setComplete(now engine.Time, complete bool) {
	if complete != e.complete() {
		e.toggles = append(e.toggles, now)
	}
}

// complete reports whether every map has been told of.
func (e *events) complete() bool { return len(e.toggles)%2 == 1 }

// completeAt is complete as it was at an instant.
func (e *events) completeAt(at engine.Time) bool {
	n := len(e.toggles)
	for n > 0 && e.toggles[n-1] > at {
		n--
	}
	return n%2 == 1
}
