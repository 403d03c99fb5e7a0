package jobtracker

import (
	"slices"

	"github.com/slotwave/slotwave/workload"
)

// runningOnce holds the running tasks of a type that have one attempt and no record, with
// their progress as last reported. Each has a place of its own. A task gets a record
// when it is launched a second time because it lags.
type runningOnce struct {
	progress []float64
	at       []onceAt
	free     []int32 // places without a task
	average  float64 // progress of the job at the last count
	lagging  int     // tasks that lag behind it
	least    float64 // no other task has made less progress
}

// onceAt says where a task that runs once is found.
type onceAt struct {
	tracker *taskTracker
	task    int32
	member  int32 // in speculation.running, if it may run a second time
}

// Values above 1 never lag behind an average.
const (
	asksToCommit = 2 // added to the progress of a task that asks to commit
	noTask       = 4
)

// add adds a task that has been launched, and returns its place.
func (r *runningOnce) add(task int32, tracker *taskTracker) (place int32) {
	if last := len(r.free) - 1; last >= 0 {
		place, r.free = r.free[last], r.free[:last]
	} else {
		place, r.progress, r.at = int32(len(r.progress)), append(r.progress, noTask), append(r.at, onceAt{})
	}
	r.at[place] = onceAt{task: task, tracker: tracker}
	r.set(place, 0)
	return place
}

// drop removes a task and returns its progress.
func (r *runningOnce) drop(place int32) (before float64) {
	before = r.progress[place]
	if before >= asksToCommit {
		before -= asksToCommit
	}
	r.set(place, noTask)
	r.free = append(r.free, place)
	return before
}

// bound returns the bound of a task's progress.
func (r *runningOnce) bound(place int32) float32 {
	if p := r.progress[place]; p < asksToCommit {
		return float32(p)
	}
	return ended
}

// set changes the progress of a task.
func (r *runningOnce) set(place int32, progress float64) {
	if lags(r.progress[place], r.average) {
		r.lagging--
	}
	r.progress[place] = progress
	if lags(progress, r.average) {
		r.lagging++
	} else {
		r.least = min(r.least, progress)
	}
}

// count counts the lagging tasks. It looks at them only if the job has gained so much
// on a task that this one may lag now.
func (r *runningOnce) count(average float64) int {
	if average < r.average || lags(r.least, average) {
		r.lagging, r.least = 0, noTask
		for _, progress := range r.progress {
			if lags(progress, average) {
				r.lagging++
			} else {
				r.least = min(r.least, progress)
			}
		}
	}
	r.average = average
	return r.lagging
}

// watchesOnce reports whether the progress of an attempt counts whose task runs once.
func (a *attempt) watchesOnce() bool { return a.task == nil && a.job.speculation.tracked[a.Kind] }

// watch starts to follow the progress of a task that runs once, and returns its place.
func (s *speculation) watch(a *attempt, tracker *taskTracker) (place int32) {
	k := a.Kind
	place = s.once[k].add(a.Task, tracker)
	if s.job.Speculates[k] {
		s.tasks.setRef(k, a.Task, inPlace|uint32(place))
		s.once[k].at[place].member = s.queue(k, launched{a.Task, 1})
	}
	return place
}

// report takes note of what the tracker of a running task that runs once reports of
// it.
func (s *speculation) report(k workload.Kind, place int32, progress float64) {
	r := &s.once[k]
	before := r.progress[place]
	if before == progress {
		return
	}
	r.set(place, progress)
	s.followOnce(k, r.at[place])
	s.advance(k, progress-before)
}

// reportCommit takes note that a task that runs once asks to commit. As in Hadoop
// its progress stays the same.
func (s *speculation) reportCommit(k workload.Kind, place int32) {
	r := &s.once[k]
	if r.progress[place] < asksToCommit {
		r.set(place, r.progress[place]+asksToCommit)
		s.followOnce(k, r.at[place])
	}
}

// reportEnd takes note that a task that runs once has succeeded.
func (s *speculation) reportEnd(k workload.Kind, place int32) {
	at := s.once[k].at[place]
	before := s.once[k].drop(place)
	if s.job.Speculates[k] {
		s.tasks.setRef(k, at.task, finished)
	}
	s.followOnce(k, at)
	s.advance(k, 1-before)
}

// record makes the record of a running task that ran once so far.
func (s *speculation) record(k workload.Kind, index, place int32) {
	r := &s.once[k]
	at := r.at[place]
	t, a := s.tasks.newTask(s.job, index, k, k), s.onlyAttempt(at.tracker, k, index)
	t.member, t.launches, t.progress = at.member, 1, r.drop(place)
	t.next, t.onTrackers, t.counted = 1, 1, 1
	t.attempts, t.active = append(t.attempts, a), append(t.active, a)
	if a.ordinary() {
		s.tasks.detail(a, t)
		a.onSlot = k
	}
	a.attemptDetails.task, a.attemptDetails.place = t, a.Node
	a.watched, a.progress = true, float32(t.progress)
	s.tasks.setRef(k, index, t.ref+firstRef)
}

// onlyAttempt returns the attempt that a tracker holds of a task that ran once so far.
// From now on its state depends on others.
func (s *speculation) onlyAttempt(t *taskTracker, k workload.Kind, task int32) *attempt {
	i := slices.IndexFunc(t.held, func(h heldAttempt) bool {
		if h.attempt == nil {
			m := &t.calm[h.calmSlot]
			return m.job == s.job && m.task == task && k == workload.Map
		}
		return h.job == s.job && h.Kind == k && h.Task == task && h.task == nil
	})
	h := &t.held[i]
	a := t.wake(h)
	a.status = running
	h.changes, t.reads = 0, true
	return a
}

// reportProgress takes note of the progress of the tasks on a tracker that run once, in
// the order of their launch: from one that it holds on, up to an attempt or all. It
// returns where to go on.
func (t *taskTracker) reportProgress(from int, to *attempt) int {
	if t.watched == 0 {
		return 0
	}
	for i := from; i < len(t.held); i++ {
		h := &t.held[i]
		switch a := h.attempt; {
		case a == nil:
			m := &t.calm[h.calmSlot]
			if m.job.speculation.tracked[workload.Map] {
				h.reportCalm(t, m)
			}
		case a.watchesOnce():
			h.report(t)
		}
		if h.attempt == to && to != nil {
			return i + 1
		}
	}
	return len(t.held)
}

// report takes note of the progress of an attempt.
func (h *heldAttempt) report(t *taskTracker) {
	a, s, now := h.attempt, &h.job.speculation, t.last
	switch {
	case a.over(t, now):
		s.reportEnd(a.Kind, h.place)
	case !a.Started:
	case a.asking(t, now):
		s.reportCommit(a.Kind, h.place)
	default:
		s.report(a.Kind, h.place, float64(t.cluster.Exec.Progress(&a.Attempt, now)))
	}
}

// reportCalm takes note of the progress of a calm map.
func (h *heldAttempt) reportCalm(t *taskTracker, m *calmMap) {
	switch s, now := &m.job.speculation, t.last; {
	case over(&m.Times, t, now):
		s.reportEnd(workload.Map, h.place)
	case asking(&m.Times, m.Start, t, now):
		s.reportCommit(workload.Map, h.place)
	default:
		s.report(workload.Map, h.place, float64(m.MapProgress(now)))
	}
}
