package workload

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// JobRecord holds the recorded instants of a job, for comparison with its replay.
// Instants that the history does not state are UnknownTime.
type JobRecord struct {
	ID        string // of the replayed job
	Name      string
	Outcome   State
	Submit    time.Duration
	Launch    time.Duration // end of initialisation
	FirstMap  time.Duration // start of the first map attempt
	Finish    time.Duration
	Straggler bool // one of its last tasks took more than twice the median of its kind
	Still     bool // a host with its attempts or their output stood still before its end
}

// Time returns the time from submission to finish, or UnknownTime.
func (r *JobRecord) Time() time.Duration {
	if !Known(r.Submit) || !Known(r.Finish) || r.Finish < r.Submit {
		return UnknownTime
	}
	return r.Finish - r.Submit
}

// record sums up a job under the id of its replay.
func (j *HistoryJob) record(id string, still []stillHost) JobRecord {
	r := JobRecord{
		ID: id, Name: j.Name, Outcome: j.Outcome, Submit: j.Submit, Launch: j.Launch, Finish: j.Finish,
		FirstMap: UnknownTime, Straggler: j.straggles(Map) || j.straggles(Reduce),
	}
	for _, a := range j.Each() {
		if a.Kind == Map && Known(a.Start) && (!Known(r.FirstMap) || a.Start < r.FirstMap) {
			r.FirstMap = a.Start
		}
		r.Still = r.Still || slices.ContainsFunc(still, func(s stillHost) bool {
			return a.Node == s.Host && Known(a.Start) && a.Start <= s.From && j.Finish >= s.To
		})
	}
	return r
}

// straggles reports whether the task of a kind that ended last took more than
// twice the median time.
func (j *HistoryJob) straggles(k Kind) bool {
	const fewest, factor = 4, 2
	last, took := UnknownTime, time.Duration(0)
	for i := range j.Tasks {
		w := j.Tasks[i].Winner()
		if j.Tasks[i].Kind == k && w != nil && Known(w.Start) && w.Finish > last {
			last, took = w.Finish, w.Duration()
		}
	}
	times := j.times(k)
	return len(times) >= fewest && took > factor*times[len(times)/2]
}

// stillHost is a host on which nothing began or ended for many times the usual
// gap, although others went on.
type stillHost struct {
	Host     string
	From, To time.Duration
	Usual    time.Duration // median gap between instants at which something began or ended there
	few      bool          // elsewhere began and ended few attempts meanwhile
}

// held reports whether an attempt ran on the host while that stood still.
func (s *stillHost) held(a *Attempt) bool {
	return a.Node == s.Host && Known(a.Start) && Known(a.Finish) && a.Start <= s.From && a.Finish >= s.To
}

// A host stands still if the gap is stillGaps times its usual one and stillTasks
// times the median time of a task, and attempts that it held or began late confirm it.
// Unless some began late, each other host has to begin or end stillTurns attempts in the
// gap on average. If begins and ends were random, one gap in 20,000 would be that quiet;
// but the slots of a host that are filled at once are also freed at once.
const (
	stillGaps  = 10
	stillTasks = 5
	stillTurns = 10
)

// StillHosts finds the hosts that stood still, in order of time.
func (h *History) StillHosts() []stillHost {
	at := map[string][]time.Duration{}
	var all, took []time.Duration
	for _, a := range h.Each() {
		for _, t := range []time.Duration{a.Start, a.Finish} {
			if a.Node != "" && Known(t) {
				at[a.Node] = append(at[a.Node], t)
				all = append(all, t)
			}
		}
		if (a.Kind == Map || a.Kind == Reduce) && Known(a.Start) && Known(a.Finish) {
			took = append(took, a.Finish-a.Start)
		}
	}
	if len(took) == 0 {
		return nil
	}
	slices.Sort(all)
	slices.Sort(took)
	least := stillTasks * took[len(took)/2]
	before := func(t time.Duration) int {
		n, _ := slices.BinarySearch(all, t)
		return n
	}
	var still []stillHost
	for _, host := range slices.Sorted(maps.Keys(at)) {
		times := at[host]
		slices.Sort(times)
		var gaps []time.Duration
		for i := range times[1:] {
			if gap := times[i+1] - times[i]; gap > 0 {
				gaps = append(gaps, gap)
			}
		}
		if len(gaps) == 0 || len(at) < 2 {
			continue
		}
		slices.Sort(gaps)
		usual := gaps[len(gaps)/2]
		for i := range times[1:] {
			from, to := times[i], times[i+1]
			elsewhere := float64(before(to)-before(from+1)) / float64(len(at)-1)
			if to-from >= max(least, stillGaps*usual) {
				still = append(still, stillHost{host, from, to, usual, elsewhere < stillTurns})
			}
		}
	}
	still = h.stuck(still)
	// Where many hosts stand still at the same time, the workload is the cause.
	var from, to []time.Duration
	for i := range still {
		from, to = append(from, still[i].From), append(to, still[i].To)
	}
	slices.Sort(from)
	slices.Sort(to)
	still = slices.DeleteFunc(still, func(s stillHost) bool {
		begun, _ := slices.BinarySearch(from, s.To)
		ended, _ := slices.BinarySearch(to, s.From+1)
		return begun-ended > max(1, len(at)/4)
	})
	slices.SortFunc(still, func(a, b stillHost) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Host, b.Host)) })
	return still
}

// heldAttempts are those that a host held while it stood still, and the late ones.
type heldAttempts struct {
	stillHost
	all, compared, long int
	late                int
}

// isLate reports whether an attempt is a map that began when its host went on, although
// half of the maps of its job, whose starts are sorted, had begun before it stood still.
func (s *stillHost) isLate(a *Attempt, starts []time.Duration) bool {
	soon := s.To + (s.To-s.From)/stillGaps
	return a.Kind == Map && a.Number == 0 && a.Start >= s.To && a.Start <= soon && len(starts) > 2 && starts[len(starts)/2] <= s.From
}

// stuck returns the hosts whose attempts confirm that they stood still, given in
// order of host and time: at least half of those with which a host stood still
// took many times as long as the others of their job, or it held none and began some
// late. A host that was only full of long tasks did not stand still, nor did one for
// which there was nothing to do.
func (h *History) stuck(still []stillHost) []stillHost {
	holds := make([]heldAttempts, len(still))
	of := map[string][]heldAttempts{} // of each host
	for i, first := 0, 0; i < len(still); i++ {
		holds[i].stillHost = still[i]
		if still[i].Host != still[first].Host {
			first = i
		}
		of[still[i].Host] = holds[first : i+1]
	}
	for i := range h.Jobs {
		h.Jobs[i].compareHeld(of)
	}
	holds = slices.DeleteFunc(holds, func(s heldAttempts) bool {
		return (s.all == 0 || s.few) && s.late == 0 || s.all > 0 && (s.long == 0 || 2*s.long < s.compared)
	})
	still = still[:0]
	for i := range holds {
		still = append(still, holds[i].stillHost)
	}
	return still
}

// compareHeld compares the attempts that hosts held while they stood still with
// the other tasks of the job, if there are enough.
func (j *HistoryJob) compareHeld(of map[string][]heldAttempts) {
	const few, factor = 3, 3
	lastMap, times := j.LastMap(), map[Kind][]time.Duration{}
	var starts []time.Duration
	for k := range j.Tasks {
		if w := j.Tasks[k].Winner(); w != nil && w.Kind == Map && Known(w.Start) {
			starts = append(starts, w.Start)
		}
	}
	slices.Sort(starts)
	for k := range j.Tasks {
		kind := j.Tasks[k].Kind
		for n := range j.Tasks[k].Attempts {
			a := &j.Tasks[k].Attempts[n].Attempt
			still := of[a.Node]
			first, _ := slices.BinarySearchFunc(still, a.Start, func(s heldAttempts, at time.Duration) int { return cmp.Compare(s.From, at) })
			if first > 0 && still[first-1].isLate(a, starts) {
				still[first-1].late++
			}
			for i := first; i < len(still) && still[i].held(a); i++ {
				s := &still[i]
				s.all++
				usual, known := times[kind]
				if !known {
					usual = j.times(kind)
					times[kind] = usual
				}
				if len(usual) < few || kind == Reduce && lastMap > s.From {
					continue // a reduce waits for maps, wherever it runs
				}
				s.compared++
				if a.Finish-a.Start > factor*usual[len(usual)/2] {
					s.long++
				}
			}
		}
	}
}

// times are the sorted times of the tasks of a kind.
func (j *HistoryJob) times(k Kind) []time.Duration {
	var times []time.Duration
	for i := range j.Tasks {
		if w := j.Tasks[i].Winner(); w != nil && j.Tasks[i].Kind == k && Known(w.Start) && Known(w.Finish) {
			times = append(times, w.Duration())
		}
	}
	slices.Sort(times)
	return times
}

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
