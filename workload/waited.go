package workload

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// RecordedWait is how long maps of initialised jobs waited for containers.
type RecordedWait struct {
	Most int   `json:"most_in_use"` // containers of maps and reduces at once
	Time int64 `json:"time_ns"`     // with a map that waited
	Free int64 `json:"free_ns"`     // of Time, with fewer in use than Most
}

// Waited finds how long maps of initialised jobs waited for a container, and in how much
// of this time fewer containers were in use than at the peak; nil: not recorded, or slots. The
// shortest wait of a map is taken for what requesting and starting a container needs.
func (h *History) Waited() *RecordedWait {
	type change struct {
		at               time.Duration
		running, waiting int
	}
	var changes []change
	var waits [][2]time.Duration // from the initialisation of the job to the start of a map
	shortest, ends := time.Duration(math.MaxInt64), h.heldUntil()
	for i := range h.Jobs {
		j := &h.Jobs[i]
		for k := range j.Tasks {
			first := UnknownTime
			for n := range j.Tasks[k].Attempts {
				a := &j.Tasks[k].Attempts[n]
				until := ends(j, a)
				if !Known(a.Start) || !Known(until) || until < a.Start {
					continue
				}
				changes = append(changes, change{a.Start, 1, 0}, change{until, -1, 0})
				if !Known(first) || a.Start < first {
					first = a.Start
				}
			}
			if j.Tasks[k].Kind == Map && Known(first) && Known(j.Launch) {
				waits = append(waits, [2]time.Duration{j.Launch, first})
				shortest = min(shortest, max(0, first-j.Launch))
			}
		}
	}
	if len(waits) == 0 {
		return nil
	}
	for _, w := range waits {
		if from := w[0] + shortest; from < w[1] {
			changes = append(changes, change{from, 0, 1}, change{w[1], 0, -1})
		}
	}
	// Ends come first, so that a container which is handed on does not count twice.
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.running, b.running)) })
	w := &RecordedWait{}
	running := 0
	for _, c := range changes {
		running += c.running
		w.Most = max(w.Most, running)
	}
	running, waiting := 0, 0
	for i, c := range changes {
		if waiting > 0 {
			gap := int64(c.at - changes[i-1].at)
			w.Time += gap
			if running < w.Most {
				w.Free += gap
			}
		}
		running += c.running
		waiting += c.waiting
	}
	return w
}
