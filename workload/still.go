package workload

import (
	"slices"
	"time"
)

// WithoutStill returns a history in which no host stood still, and the names of those
// that did. An attempt that such a host held meanwhile ends when it did, and takes the
// median time of the other successful attempts of its job and kind: each of its phases is
// as much shorter.
func (h *History) WithoutStill() (History, []string) {
	local := h.localisation()
	still := h.StillHosts()
	if len(still) == 0 {
		return *h, nil
	}
	without := *h
	without.Jobs = slices.Clone(h.Jobs)
	for i := range without.Jobs {
		without.Jobs[i] = h.Jobs[i].renamed(h.Jobs[i].ID)
		j := &without.Jobs[i]
		for k := range j.Tasks {
			t := &j.Tasks[k]
			for n := range t.Attempts {
				if was := &h.Jobs[i].Tasks[k]; held(still, local, was, &was.Attempts[n]) {
					j.Still = true
					t.Attempts[n].shorten(h.Jobs[i].usual(t.Attempts[n].Kind, still, local))
					if n == 0 {
						t.Start = t.Attempts[n].Start
					}
				}
			}
		}
	}
	return without, namesOf(still)
}

// namesOf returns the names of hosts.
func namesOf(still []Standstill) (names []string) {
	for i := range still {
		names = append(names, still[i].Host)
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// held reports whether any of the hosts held an attempt of a task while it stood still.
func held(still []Standstill, local localised, t *HistoryTask, a *HistoryAttempt) bool {
	return slices.ContainsFunc(still, func(s Standstill) bool { return s.held(local, t, a) })
}

// usual returns the median time of the successful attempts of a kind that no host
// held while it stood still, or 0 if there are none.
func (j *HistoryJob) usual(kind Kind, still []Standstill, local localised) time.Duration {
	var took []time.Duration
	for t, w := range j.Of(kind) {
		if w != nil && Known(w.Start) && Known(w.Finish) && !held(still, local, t, w) {
			took = append(took, w.Duration())
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// shorten makes an attempt take a time if it took longer.
func (a *HistoryAttempt) shorten(to time.Duration) {
	whole := a.Duration()
	if to <= 0 || whole <= to {
		return
	}
	a.Start = a.Finish - to
	for p, d := range a.Phases {
		if Known(d) {
			a.Phases[p] = Seconds(d.Seconds() * to.Seconds() / whole.Seconds())
		}
	}
}
