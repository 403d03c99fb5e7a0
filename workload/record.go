package workload

import (
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
func (j *HistoryJob) record(id string, still []Standstill, local localised) JobRecord {
	r := JobRecord{
		ID: id, Name: j.Name, Outcome: j.Outcome, Submit: j.Submit, Launch: j.Launch, Finish: j.Finish,
		FirstMap: UnknownTime, Straggler: j.straggles(Map) || j.straggles(Reduce),
	}
	for t, a := range j.Each() {
		if a.Kind == Map && Known(a.Start) && (!Known(r.FirstMap) || a.Start < r.FirstMap) {
			r.FirstMap = a.Start
		}
		r.Still = r.Still || slices.ContainsFunc(still, func(s Standstill) bool {
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

// StillHosts finds the hosts that stood still, in order of time.
func (h *History) StillHosts() []Standstill {
	var list []Ran
	for i := range h.Jobs {
		for k := range h.Jobs[i].Tasks {
			t := &h.Jobs[i].Tasks[k]
			winner := t.Winner()
			for n := range t.Attempts {
				a := &t.Attempts[n]
				list = append(list, Ran{a.Node, t.Kind, i, n, a.Locality == NodeLocal, a == winner, a.Start, a.Finish})
			}
		}
	}
	return Standstills(len(list), func(i int32) Ran { return list[i] }, UsualStillGaps)
}

// held reports whether the host had an attempt of a task while it stood still: one that
// ran, or one that was assigned and could not start.
func (s *Standstill) held(local localised, t *HistoryTask, a *HistoryAttempt) bool {
	return a.Node == s.Host && t.Kind == s.Kind && Known(a.Start) && Known(a.Finish) && local.began(t, a) <= s.From && a.Finish >= s.To
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
