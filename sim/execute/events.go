package execute

import (
	"sort"

	"github.com/slotwave/slotwave/sim/engine"
)

// Events are the completion events of a job's maps (TaskCompletionEvent): how
// many the JobTracker had published at any instant, and when they named every
// map.
type Events struct {
	counts  []eventCount  // one for each instant at which events were added
	toggles []engine.Time // whether all maps are known: from completeAt[0] on, not from [1] on, ...
}

type eventCount struct {
	at    engine.Time
	total int32 // number of events so far
	maps  int32 // maps whose output the events name
}

// add publishes an event and changes the number of known maps: 1 for a map that
// ended, 0 for a failed attempt, -1 for lost output.
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

// grow makes room for twice as many instants, but not for more than there are maps.
func (e *Events) grow(maps int) {
	n := len(e.counts)
	room := max(4, 2*n)
	if n < maps {
		room = min(room, maps)
	}
	e.counts = append(make([]eventCount, 0, room), e.counts...)
}

// maps returns how many maps a child knows after it has read n events.
func (e *Events) maps(read int32) int32 {
	i := sort.Search(len(e.counts), func(i int) bool { return e.counts[i].total >= read })
	if read == 0 || i == len(e.counts) {
		return 0
	}
	return e.counts[i].maps
}

// upTo returns how many events had been published at an instant.
func (e *Events) upTo(at engine.Time) int32 {
	if n := len(e.counts); n > 0 && e.counts[n-1].at <= at {
		return e.counts[n-1].total
	}
	i := sort.Search(len(e.counts), func(i int) bool { return e.counts[i].at > at })
	if i == 0 {
		return 0
	}
	return e.counts[i-1].total
}

// SetComplete records whether every map has ended.
func (e *Events) SetComplete(now engine.Time, complete bool) {
	if complete != e.Complete() {
		e.toggles = append(e.toggles, now)
	}
}

// Complete reports whether the events name every map.
func (e *Events) Complete() bool { return len(e.toggles)%2 == 1 }

// completeAt returns what Complete returned at an instant.
func (e *Events) completeAt(at engine.Time) bool {
	n := len(e.toggles)
	for n > 0 && e.toggles[n-1] > at {
		n--
	}
	return n%2 == 1
}
