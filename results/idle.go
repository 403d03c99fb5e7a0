package results

import (
	"fmt"
	"slices"
	"sort"

	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// idleTime is the exact time during which at least one slot of a type was idle.
// Attempts on a slot arrive in the order of their ends, those of all slots
// nearly so. The time between two attempts on a slot is idle.
type idleTime struct {
	slots []slotUse
	spans []span // disjoint, in order of time
	lost  bool   // too many spans to keep
}

// slotUse is what the attempts on one slot add up to.
type slotUse struct {
	until int64 // end of the last attempt, ns
	ran   int32 // attempts
}

type span struct{ from, to int64 } // ns

// mostSpans limits the memory for one type of slot.
const mostSpans = 1 << 20

func newIdleTime(slots int) idleTime { return idleTime{slots: make([]slotUse, slots)} }

// ran adds an attempt on a slot.
func (i *idleTime) ran(slot int, from, to int64) {
	s := &i.slots[slot]
	s.ran++
	if before := s.until; from > before {
		i.spans = insert(i.spans, span{before, from})
	}
	s.until = max(s.until, to)
	if len(i.spans) > mostSpans {
		i.lost, i.spans = true, nil
	}
}

// busy returns the time until end without an idle slot, and whether it is
// known.
func (i *idleTime) busy(end int64) (ns int64, known bool) {
	if i.lost {
		return 0, false
	}
	last := end
	for _, s := range i.slots {
		last = min(last, s.until)
	}
	ns = end
	for _, s := range insert(slices.Clone(i.spans), span{last, end}) {
		ns -= max(0, min(s.to, end)-s.from)
	}
	return ns, true
}

// insert adds a span to disjoint ones and joins those that overlap.
func insert(spans []span, s span) []span {
	if s.to <= s.from {
		return spans
	}
	last := sort.Search(len(spans), func(i int) bool { return spans[i].from > s.to })
	first := last
	for first > 0 && spans[first-1].to >= s.from {
		first--
		s = span{min(s.from, spans[first].from), max(s.to, spans[first].to)}
	}
	return slices.Replace(spans, first, last, s)
}

// WaitText says how long maps of a record waited while containers were free.
func WaitText(w *workload.RecordedWait) string {
	return fmt.Sprintf("maps waited during %s; in %s of it fewer containers were in use than the peak of %s: jobs of other kinds (Spark, Tez), limits of queues or the sizes of containers may explain it",
		text.Duration(w.Time), text.PercentOf(w.Free, w.Time), text.Number(int64(w.Most)))
}
