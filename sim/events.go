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
	total int32
}

func (e *events) add(now engine.Time) {
	if n := len(e.marks); n > 0 && e.marks[n-1].at == now {
		e.marks[n-1].total++
		return
	}
	e.marks = append(e.marks, mark{now, e.total() + 1})
}

func (e *events) total() int32 {
	if n := len(e.marks); n > 0 {
		return e.marks[n-1].total
	}
	return 0
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
