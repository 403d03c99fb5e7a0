package jobtracker

// soleAttempts holds the running attempts of a type whose tasks have no record, with
// their progress as last reported. Most tasks run once and cannot fail: all that the
// JobTracker asks of them is how far they are. A task gets a record when it is
// launched a second time because it lags.
type soleAttempts struct {
	progress []soleProgress
	free     []int32 // indices without an attempt
	average  float64 // progress of the job at the last count
	lagging  int     // attempts that lag behind it
	least    float64 // no other attempt has made less progress
}

// soleProgress is the progress of a sole attempt. One that asks to commit, and an
// index without an attempt, have values that lag behind no average, so that the
// progress of all is compared in one pass.
type soleProgress float64

const (
	asksToCommit soleProgress = 2 // added to the progress of an attempt that asks to commit
	noAttempt    soleProgress = 4
)

func (p soleProgress) asks() bool { return p >= asksToCommit }

// made returns the progress itself, which does not change when an attempt asks to
// commit.
func (p soleProgress) made() float64 {
	if p.asks() {
		p -= asksToCommit
	}
	return float64(p)
}

// isSole reports whether an attempt is the only one of its task so far, and the task
// has no record.
func (a *attempt) isSole() bool { return a.task == nil }

// followed reports whether the progress of a sole attempt counts.
func (a *attempt) followed() bool { return a.isSole() && a.job.speculation.tracked[a.Kind] }

// add adds an attempt that has been launched.
func (s *soleAttempts) add(a *attempt) {
	if last := len(s.free) - 1; last >= 0 {
		a.index, s.free = s.free[last], s.free[:last]
	} else {
		a.index, s.progress = int32(len(s.progress)), append(s.progress, noAttempt)
	}
	s.set(a.index, 0)
}

// drop removes an attempt and returns its progress.
func (s *soleAttempts) drop(a *attempt) (before float64) {
	before = s.progress[a.index].made()
	s.set(a.index, noAttempt)
	s.free = append(s.free, a.index)
	return before
}

// bound returns the bound of an attempt's progress.
func (s *soleAttempts) bound(a *attempt) float32 {
	if p := s.progress[a.index]; !p.asks() {
		return float32(p)
	}
	return ended
}

// set changes the progress of an attempt.
func (s *soleAttempts) set(index int32, progress soleProgress) {
	if lags(float64(s.progress[index]), s.average) {
		s.lagging--
	}
	s.progress[index] = progress
	if lags(float64(progress), s.average) {
		s.lagging++
	} else {
		s.least = min(s.least, float64(progress))
	}
}

// count counts the lagging attempts. It looks at them only if the job has gained so
// much on one that it may lag now.
func (s *soleAttempts) count(average float64) int {
	if average < s.average || lags(s.least, average) {
		s.lagging, s.least = 0, float64(noAttempt)
		for _, progress := range s.progress {
			if lags(float64(progress), average) {
				s.lagging++
			} else {
				s.least = min(s.least, float64(progress))
			}
		}
	}
	s.average = average
	return s.lagging
}

// followSole starts to follow the progress of a sole attempt.
func (s *speculation) followSole(a *attempt) {
	k := a.Kind
	s.sole[k].add(a)
	if s.job.Speculates[k] {
		s.tasks.setRef(k, a.Task, soleRef|a.ref)
		s.queue(k, launched{a.Task, 1})
	}
}

// reportSole takes note of what a tracker reports of a sole attempt.
func (s *speculation) reportSole(a *attempt, t *taskTracker) {
	sole, now := &s.sole[a.Kind], t.last
	before := sole.progress[a.index]
	switch {
	case a.over(t, now):
		sole.drop(a)
		if s.job.Speculates[a.Kind] {
			s.tasks.setRef(a.Kind, a.Task, finished)
		}
		s.advance(a.Kind, 1-before.made())
	case !a.Started:
	case a.asking(t, now):
		if !before.asks() { // as in Hadoop, its progress stays the same
			sole.set(a.index, before+asksToCommit)
		}
	default:
		progress := float64(t.cluster.Exec.Progress(&a.Attempt, now))
		if progress != float64(before) {
			sole.set(a.index, soleProgress(progress))
			s.advance(a.Kind, progress-float64(before))
		}
	}
}

// record makes the record of a task whose sole attempt runs. From now on the state of
// the attempt depends on others, so its tracker reads it at each heartbeat.
func (s *speculation) record(a *attempt) {
	t := s.tasks.newTask(s.job, a.Task, a.Kind, a.Kind)
	t.launches, t.progress = 1, s.sole[a.Kind].drop(a)
	t.next, t.onTrackers, t.counted = 1, 1, 1
	t.attempts, t.active = append(t.attempts, a), append(t.active, a)
	a.task, a.heldBy, a.status, a.watched, a.progress = t, a.Node, running, true, float32(t.progress)
	s.tasks.setRef(a.Kind, a.Task, t.ref+firstRef)
	s.job.jt.readAlways(a)
}

// reportProgress takes note of the progress of the sole attempts on a tracker, in the
// order of their launch: from one that it holds on, up to an attempt or all. It
// returns where to go on.
func (t *taskTracker) reportProgress(from int, to *attempt) int {
	if t.watched == 0 {
		return 0
	}
	for i := from; i < len(t.held); i++ {
		a := t.held[i].attempt
		if a.followed() {
			a.job.speculation.reportSole(a, t)
		}
		if a == to {
			return i + 1
		}
	}
	return len(t.held)
}
