package workload

import (
	"slices"
	"time"
)

// WithoutStill returns a history without the hosts that stood still, and their
// names. Attempts that such a host held meanwhile take the median time of the other
// successful attempts of their job and kind, each of their phases as much less.
func (h *History) WithoutStill() (History, []string) {
	still := h.StillHosts()
	if len(still) == 0 {
		return *h, nil
	}
	var names []string
	for i := range still {
		names = append(names, still[i].Host)
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	without := *h
	without.Topology.Racks = nil
	for _, r := range h.Topology.Racks {
		r.Hosts = slices.DeleteFunc(slices.Clone(r.Hosts), func(host string) bool { return slices.Contains(names, host) })
		if len(r.Hosts) > 0 {
			without.Topology.Racks = append(without.Topology.Racks, r)
		}
	}
	without.Jobs = slices.Clone(h.Jobs)
	for i := range without.Jobs {
		j := &without.Jobs[i]
		j.Tasks = slices.Clone(j.Tasks)
		for k := range j.Tasks {
			t := &j.Tasks[k]
			t.Attempts = slices.Clone(t.Attempts)
			for n := range t.Attempts {
				a := &t.Attempts[n]
				if slices.ContainsFunc(still, func(s stillHost) bool { return s.held(&a.Attempt) }) {
					a.shorten(h.Jobs[i].usual(a.Kind, still))
				}
			}
		}
	}
	return without, names
}

// usual returns the median time of the successful attempts of a kind that no host
// held while it stood still, or 0 if there are none.
func (j *HistoryJob) usual(kind Kind, still []stillHost) time.Duration {
	var took []time.Duration
	for k := range j.Tasks {
		a := j.Tasks[k].Winner()
		if a == nil || a.Kind != kind || !Known(a.Start) || !Known(a.Finish) {
			continue
		}
		if !slices.ContainsFunc(still, func(s stillHost) bool { return s.held(&a.Attempt) }) {
			took = append(took, a.Duration())
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
	a.Finish = a.Start + to
	for p, d := range a.Phases {
		if Known(d) {
			a.Phases[p] = Seconds(d.Seconds() * to.Seconds() / whole.Seconds())
		}
	}
}
