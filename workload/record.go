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

// RecordedMakespan returns the time from the first submission to the last end, or 0 if
// none is recorded.
func RecordedMakespan(jobs []JobRecord) time.Duration {
	began, ended := UnknownTime, UnknownTime
	for i := range jobs {
		if j := &jobs[i]; Known(j.Time()) {
			if ended = max(ended, j.Finish); !Known(began) || j.Submit < began {
				began = j.Submit
			}
		}
	}
	return max(0, ended-began)
}

// Time returns the time from submission to finish, or UnknownTime.
func (r *JobRecord) Time() time.Duration {
	if !Known(r.Submit) || !Known(r.Finish) || r.Finish < r.Submit {
		return UnknownTime
	}
	return r.Finish - r.Submit
}

// record sums up a job under the id of its replay.
func (j *HistoryJob) record(id string, still []stillHost, local localised) JobRecord {
	r := JobRecord{
		ID: id, Name: j.Name, Outcome: j.Outcome, Submit: j.Submit, Launch: j.Launch, Finish: j.Finish,
		FirstMap: UnknownTime, Straggler: j.straggles(Map) || j.straggles(Reduce),
	}
	for t, a := range j.Each() {
		if a.Kind == Map && Known(a.Start) && (!Known(r.FirstMap) || a.Start < r.FirstMap) {
			r.FirstMap = a.Start
		}
		r.Still = r.Still || slices.ContainsFunc(still, func(s stillHost) bool {
			return a.Node == s.Host && Known(a.Start) && local.began(t, a) <= s.From && j.Finish >= s.To
		})
	}
	return r
}

// straggles reports whether the task of a kind that ended last took more than
// twice the median time.
func (j *HistoryJob) straggles(k Kind) bool {
	const fewest, factor = 4, 2
	last, took := UnknownTime, time.Duration(0)
	for _, w := range j.Of(k) {
		if w != nil && Known(w.Start) && w.Finish > last {
			last, took = w.Finish, w.Duration()
		}
	}
	times := j.times(k)
	return len(times) >= fewest && took > factor*times[len(times)/2]
}

// localised holds how long attempts were on their machines before they started,
// by task: the TaskTracker first fetches the files of the job. A history shows it
// where the start of a task is its assignment by the JobTracker.
type localised map[*HistoryTask]time.Duration

// began returns when an attempt of a task was assigned, if that is known of its start.
func (l localised) began(t *HistoryTask, a *HistoryAttempt) time.Duration {
	if a != &t.Attempts[0] || !Known(a.Start) {
		return a.Start
	}
	return a.Start - l[t]
}

// slotsOf are the slots of a type on a machine.
type slotsOf struct {
	node string
	kind Kind
}

// stillHost is a host on which no task of a kind began or ended for many times the usual
// gap, although others went on.
type stillHost struct {
	Host     string
	Kind     Kind // of the slots
	From, To time.Duration
	Usual    time.Duration // median gap between instants at which something began or ended there
	few      bool          // elsewhere began and ended few attempts meanwhile
}

// held reports whether the host had an attempt of a task while it stood still: one that
// ran, or one that was assigned and could not start.
func (s *stillHost) held(local localised, t *HistoryTask, a *HistoryAttempt) bool {
	return a.Node == s.Host && t.SlotKind() == s.Kind && Known(a.Start) && Known(a.Finish) && local.began(t, a) <= s.From && a.Finish >= s.To
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
func (h *History) StillHosts() []stillHost { return h.stillHosts(h.localisation()) }

func (h *History) stillHosts(local localised) []stillHost {
	at, hosts := map[slotsOf][]time.Duration{}, map[string]bool{}
	var all, took []time.Duration
	for task, a := range h.Each() {
		for _, t := range []time.Duration{local.began(task, a), a.Finish} {
			if a.Node != "" && Known(t) {
				of := slotsOf{a.Node, task.SlotKind()}
				at[of], hosts[a.Node] = append(at[of], t), true
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
	byHost := func(a, b slotsOf) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.kind, b.kind)) }
	for _, of := range slices.SortedFunc(maps.Keys(at), byHost) {
		times := at[of]
		slices.Sort(times)
		var gaps []time.Duration
		for i := range times[1:] {
			if gap := times[i+1] - times[i]; gap > 0 {
				gaps = append(gaps, gap)
			}
		}
		if len(gaps) == 0 || len(hosts) < 2 {
			continue
		}
		slices.Sort(gaps)
		usual := gaps[len(gaps)/2]
		for i := range times[1:] {
			from, to := times[i], times[i+1]
			elsewhere := float64(before(to)-before(from+1)) / float64(len(hosts)-1)
			if to-from >= max(least, stillGaps*usual) {
				still = append(still, stillHost{of.node, of.kind, from, to, usual, elsewhere < stillTurns})
			}
		}
	}
	still = h.stuck(still, local)
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
		return begun-ended > max(1, len(hosts)/4)
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
// order of host, slots and time: at least half of those with which a host stood still
// took many times as long as the others of their job, or it held none and began some
// late. A host that was only full of long tasks did not stand still, nor did one for
// which there was nothing to do.
func (h *History) stuck(still []stillHost, local localised) []stillHost {
	holds := make([]heldAttempts, len(still))
	of := map[slotsOf][]heldAttempts{}
	for i, first := 0, 0; i < len(still); i++ {
		holds[i].stillHost = still[i]
		if still[i].Host != still[first].Host || still[i].Kind != still[first].Kind {
			first = i
		}
		of[slotsOf{still[i].Host, still[i].Kind}] = holds[first : i+1]
	}
	for i := range h.Jobs {
		h.Jobs[i].compareHeld(of, local)
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
func (j *HistoryJob) compareHeld(of map[slotsOf][]heldAttempts, local localised) {
	const few, factor = 3, 3
	lastMap, times := j.LastMap(), map[Kind][]time.Duration{}
	var starts []time.Duration
	for _, w := range j.Of(Map) {
		if w != nil && Known(w.Start) {
			starts = append(starts, w.Start)
		}
	}
	slices.Sort(starts)
	for t, a := range j.Each() {
		began, still := local.began(t, a), of[slotsOf{a.Node, t.SlotKind()}]
		first, _ := slices.BinarySearchFunc(still, began, func(s heldAttempts, at time.Duration) int { return cmp.Compare(s.From, at) })
		if first > 0 && still[first-1].isLate(&a.Attempt, starts) {
			still[first-1].late++
		}
		for i := first; i < len(still) && still[i].held(local, t, a); i++ {
			s := &still[i]
			s.all++
			usual, known := times[t.Kind]
			if !known {
				usual = j.times(t.Kind)
				times[t.Kind] = usual
			}
			if len(usual) < few || t.Kind == Reduce && lastMap > s.From {
				continue // a reduce waits for maps, wherever it runs
			}
			s.compared++
			if a.Finish-began > factor*usual[len(usual)/2] {
				s.long++
			}
		}
	}
}

// times are the sorted times of the tasks of a kind.
func (j *HistoryJob) times(k Kind) []time.Duration {
	var times []time.Duration
	for _, w := range j.Of(k) {
		if w != nil && Known(w.Start) && Known(w.Finish) {
			times = append(times, w.Duration())
		}
	}
	slices.Sort(times)
	return times
}
