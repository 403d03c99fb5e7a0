package sim

import (
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// runningOnce holds the progress of the running tasks of a type that run once, as
// last reported. Nothing else is kept of them to count those that lag. Each has a
// place of its own.
type runningOnce struct {
	progress []float64
	free     []int32 // places without a task
	lagging  int     // at the last count
	counted  bool    // nothing has changed since the last count
}

// Values above 1 never lag behind an average.
const (
	asksToCommit = 2 // added to the progress of a task that asks to commit
	noTask       = 4
)

// add adds a task that has been launched, and returns its place.
func (r *runningOnce) add() int32 {
	r.counted = false
	if last := len(r.free) - 1; last >= 0 {
		place := r.free[last]
		r.free = r.free[:last]
		r.progress[place] = 0
		return place
	}
	r.progress = append(r.progress, 0)
	return int32(len(r.progress) - 1)
}

// remove removes a task that has succeeded, and returns its progress before.
func (r *runningOnce) remove(place int32) (before float64) {
	before = r.progress[place]
	if before >= asksToCommit {
		before -= asksToCommit
	}
	r.progress[place], r.counted = noTask, false
	r.free = append(r.free, place)
	return before
}

// count counts the lagging tasks.
func (r *runningOnce) count(average float64) int {
	if !r.counted {
		r.counted, r.lagging = true, 0
		for _, progress := range r.progress {
			if average-progress >= speculativeGap {
				r.lagging++
			}
		}
	}
	return r.lagging
}

// report takes note of what the tracker of a running task that runs once reports of
// it.
func (s *speculation) report(k workload.Kind, place int32, progress float64, tasks int) {
	if r := &s.once[k]; r.progress[place] != progress {
		s.progress[k] = float32(float64(s.progress[k]) + (progress-r.progress[place])/float64(tasks))
		r.progress[place], r.counted = progress, false
	}
}

// reportCommit takes note that a task that runs once asks to commit. As in Hadoop
// its progress stays the same.
func (s *speculation) reportCommit(k workload.Kind, place int32) {
	if r := &s.once[k]; r.progress[place] < asksToCommit {
		r.progress[place] += asksToCommit
		r.counted = false
	}
}

// reportEnd takes note that a task that runs once has succeeded.
func (s *speculation) reportEnd(k workload.Kind, place int32, tasks int) {
	before := s.once[k].remove(place)
	s.progress[k] = float32(float64(s.progress[k]) + (1-before)/float64(tasks))
}

// watchesOnce reports whether the progress of an attempt counts whose task runs once.
func (a *attempt) watchesOnce() bool { return a.task == nil && a.job.speculation.tracked[a.Kind] }

// reportProgress takes note of the progress of the tasks on a tracker that run once,
// in the order of their launch.
func (t *taskTracker) reportProgress(now engine.Time) {
	if t.watched == 0 {
		return
	}
	for i := range t.held {
		h := &t.held[i]
		a := h.attempt
		if a == nil {
			h.reportCalm(t, now)
			continue
		}
		if !a.watchesOnce() {
			continue
		}
		k, s, tasks := a.Kind, &a.job.speculation, a.job.Tasks[a.Kind]
		switch {
		case a.over(t, now):
			s.reportEnd(k, h.place, tasks)
		case !a.Started:
		case a.asking(t, now):
			s.reportCommit(k, h.place)
		default:
			s.report(k, h.place, float64(t.cluster.exec.Progress(&a.Attempt, now)), tasks)
		}
	}
}

// reportCalm takes note of the progress of a calm map.
func (h *heldAttempt) reportCalm(t *taskTracker, now engine.Time) {
	m := &t.calm[h.calmSlot]
	s, tasks := &m.job.speculation, m.job.Tasks[workload.Map]
	switch {
	case !s.tracked[workload.Map]:
	case over(&m.Times, t, now):
		s.reportEnd(workload.Map, h.place, tasks)
	case asking(&m.Times, m.Start, t, now):
		s.reportCommit(workload.Map, h.place)
	default:
		s.report(workload.Map, h.place, float64(m.MapProgress(now)), tasks)
	}
}
