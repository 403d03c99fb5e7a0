package workload

import (
	"cmp"
	"slices"
	"time"
)

// neverLaunched adds the tasks below a number that a job which did not succeed
// never launched: in the replay they run until the job ends.
func (j *Job) neverLaunched(h *HistoryJob, kind Kind, below int, winners *[2][]*HistoryAttempt) {
	if h.Outcome != Failed && h.Outcome != Killed {
		return
	}
	open := []AttemptEnd{{State: Killed, After: h.length()}}
	if m := &j.Maps; kind == Map {
		for ; m.Count < min(below, h.Maps); m.Count++ {
			m.Ends = m.Ends.with(m.Count, open)
			m.Localise.Each = append(m.Localise.Each, 0)
			m.Time.Each, m.Splits = append(m.Time.Each, 0), append(m.Splits, Split{})
			winners[Map] = append(winners[Map], nil)
		}
		return
	}
	for r := &j.Reduces; r.Count < min(below, h.Reduces); r.Count++ {
		r.Ends = r.Ends.with(r.Count, open)
		r.Localise.Each = append(r.Localise.Each, 0)
		r.Shuffle.Each, r.Sort.Each, r.Time.Each = append(r.Shuffle.Each, 0), append(r.Sort.Each, 0), append(r.Time.Each, 0)
		winners[Reduce] = append(winners[Reduce], nil)
		r.FromLastMap = true
	}
}

// recordedEnds lists how the attempts of a task ended, or nothing if its only
// attempt succeeded. again is the number of successful attempts that were
// followed by another one, because their output was lost; they are left out.
func (o ReplayOptions) recordedEnds(h *HistoryJob, t *HistoryTask) (ends []AttemptEnd, again int) {
	w := t.Winner()
	var listed []*HistoryAttempt
	for i := range t.Attempts {
		a := &t.Attempts[i]
		end := AttemptEnd{State: a.State, After: o.spent(a), Certain: a.State == Failed}
		switch {
		case a == w:
			end = AttemptEnd{}
		case a.State == Succeeded:
			again++
			continue
		case a.State == Running:
			end = AttemptEnd{State: Killed, After: h.length()}
		}
		if o.Speculated {
			end.Beside = o.besides(a, listed)
		} else if end.State == Killed && overlaps(a, w) {
			continue // the rule of the JobTracker decides
		}
		ends, listed = append(ends, end), append(listed, a)
	}
	if w == nil && h.Outcome != Succeeded {
		ends = append(ends, AttemptEnd{State: Killed, After: h.length()})
	}
	if len(ends) == 1 && ends[0] == (AttemptEnd{}) {
		return nil, again
	}
	return ends, again
}

// serviceEnds lists how the attempts of set-ups or clean-ups of a job ended, in the order of
// their starts, until one succeeded. A job has two such tasks, one for each type of slots,
// but at most one attempt of them runs at a time.
func (o ReplayOptions) serviceEnds(h *HistoryJob, kind Kind) (ends []AttemptEnd) {
	var attempts []*HistoryAttempt
	for t, a := range h.Each() {
		if t.Kind == kind {
			attempts = append(attempts, a)
		}
	}
	slices.SortStableFunc(attempts, func(x, y *HistoryAttempt) int { return cmp.Compare(x.Start, y.Start) })
	for _, a := range attempts {
		switch a.State {
		case Succeeded:
			return ends
		case Failed, Killed:
			ends = append(ends, AttemptEnd{State: a.State, After: o.spent(a), Certain: a.State == Failed})
		}
	}
	return ends
}

// overlaps reports whether an attempt ran at the same time as the one that
// succeeded.
func overlaps(a, w *HistoryAttempt) bool {
	return w != nil && Known(a.Start) && Known(a.Finish) && a.Start < w.Finish && a.Finish > w.Start
}

// unlike is more than the instants of one heartbeat differ by in a record.
const unlike = 10 * time.Millisecond

// besides returns the time from the start of the previous attempt to the assignment
// of an attempt, if an earlier attempt still ran then, else 0.
func (o ReplayOptions) besides(a *HistoryAttempt, before []*HistoryAttempt) time.Duration {
	if len(before) == 0 || !Known(a.Start) {
		return 0
	}
	assigned := a.Start
	if o.Assigned != nil {
		at := a.Start
		if a.State == Killed && a.Finish <= a.Start {
			at -= unlike // it waited for a slot until the heartbeat that killed it
		}
		assigned = o.Assigned(a.Node, at)
	}
	// The JobTracker learns at a heartbeat that an attempt has succeeded.
	ran := func(b *HistoryAttempt) bool { return b.State == Succeeded || b.Finish > assigned }
	if last := before[len(before)-1]; Known(last.Start) && slices.ContainsFunc(before, ran) {
		return max(1, assigned-last.Start)
	}
	return 0
}

// length returns the time from the job's first instant to its last one.
func (j *HistoryJob) length() time.Duration {
	first, last := j.Earliest(), j.Finish
	for _, a := range j.Each() {
		last = max(last, a.Finish)
	}
	if !Known(first) || !Known(last) {
		return 0
	}
	return max(0, last-first)
}

// ended returns the order, after the submission, that ended a job which did not succeed, unless its
// tasks failed often enough by themselves.
func (j *HistoryJob) ended() AttemptEnd {
	if j.Outcome != Failed && j.Outcome != Killed || !Known(j.Earliest()) {
		return AttemptEnd{}
	}
	for _, kind := range [...]Kind{Map, Reduce} {
		most, err := j.Conf.Whole("mapred." + kind.String() + ".max.attempts")
		if j.Outcome == Failed && err == nil && j.mostFailures(kind) >= most {
			return AttemptEnd{}
		}
	}
	order := j.endOrder()
	if !Known(order) {
		return AttemptEnd{}
	}
	return AttemptEnd{State: j.Outcome, After: max(1, order-j.Earliest())}
}

// mostFailures returns the largest number of failed attempts of a task.
func (j *HistoryJob) mostFailures(kind Kind) (most int) {
	for t := range j.Of(kind) {
		failed := 0
		for _, a := range t.Attempts {
			if a.State == Failed {
				failed++
			}
		}
		most = max(most, failed)
	}
	return most
}

// endOrder returns when the job was ordered to end: at the first heartbeat that
// obeyed, which killed the attempts of the job on its machine or launched the clean-up.
// Without either it is the recorded end.
func (j *HistoryJob) endOrder() time.Duration {
	const obeyed = 30 * time.Second // more than a heartbeat interval
	order := j.Finish
	for _, a := range j.Each() {
		if a.Kind == Cleanup && Known(a.Start) && a.Start < order {
			order = a.Start
		}
	}
	from := order - obeyed
	for i := range j.Tasks {
		t := &j.Tasks[i]
		if len(t.Attempts) == 0 || t.Winner() != nil || t.Kind > Reduce {
			continue
		}
		if a := &t.Attempts[len(t.Attempts)-1]; a.State == Killed && Known(a.Finish) && a.Finish >= from && a.Finish < order && !j.wentOn(&a.Attempt) {
			order = a.Finish
		}
	}
	return order
}

// wentOn reports whether the job went on when an attempt was killed: another one
// started later, or ran on beside it on its machine.
func (j *HistoryJob) wentOn(killed *Attempt) bool {
	for _, a := range j.Each() {
		if a.Kind <= Reduce && (a.Start > killed.Finish || a.Node == killed.Node && a.Start < killed.Finish && a.Finish > killed.Finish) {
			return true
		}
	}
	return false
}
