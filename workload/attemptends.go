package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// attemptEnds gives, by task, how its attempts end, in the order of their
// numbers. Attempts that are not listed succeed after the time of the task.
type attemptEnds map[int][]AttemptEnd

// AttemptEnd says how an attempt ends.
type AttemptEnd struct {
	State State
	// After is the time from the start of the child process to the failure, or
	// to the heartbeat at which the attempt is killed.
	After time.Duration
	// Certain attempts fail after that time even if the task takes less. Others
	// fail only if they have not succeeded by then.
	Certain bool
	// Beside is set for a speculative attempt: it may be launched this long
	// after the start of the attempt before it, while that one still runs.
	Beside time.Duration
}

// Of returns how attempt n of a task ends.
func (e attemptEnds) Of(task, n int) AttemptEnd {
	if list := e[task]; n < len(list) {
		return list[n]
	}
	return AttemptEnd{}
}

// Fail reports whether some attempt fails.
func (e attemptEnds) Fail() bool {
	for _, task := range slices.Sorted(maps.Keys(e)) {
		if slices.ContainsFunc(e[task], func(a AttemptEnd) bool { return a.State == Failed }) {
			return true
		}
	}
	return false
}

// The words for ends in a scenario.
const (
	endSucceeded = "SUCCEEDED"
	endFailed    = "FAILED"
	endKilled    = "KILLED"
	endBeside    = "beside"
)

// String returns the end as a scenario states it, such as "FAILED 10m0s" or
// "KILLED 12s beside 8s".
func (e AttemptEnd) String() string {
	text := endSucceeded
	switch {
	case e.State == Failed:
		text = endFailed + " " + e.After.String()
	case e.State == Killed:
		text = endKilled + " " + e.After.String()
	}
	if e.Beside > 0 {
		text += " " + endBeside + " " + e.Beside.String()
	}
	return text
}

// UnmarshalText reads what String returns.
func (e *AttemptEnd) UnmarshalText(text []byte) error {
	wrong := fmt.Errorf("got %q: want an end such as FAILED 600s, KILLED 12s or SUCCEEDED beside 8s", text)
	*e = AttemptEnd{}
	words := strings.Fields(string(text))
	span := func(at int) (d time.Duration, ok bool) {
		if at >= len(words) {
			return 0, false
		}
		d, err := time.ParseDuration(words[at])
		return d, err == nil && d >= 0
	}
	if len(words) == 0 {
		return wrong
	}
	ok, rest := true, 2
	switch words[0] {
	case endSucceeded:
		rest = 1
	case endFailed:
		e.State, e.Certain = Failed, true
	case endKilled:
		e.State = Killed
	default:
		return wrong
	}
	if rest == 2 {
		e.After, ok = span(1)
	}
	if ok && len(words) > rest {
		e.Beside, ok = span(rest + 1)
		ok = ok && words[rest] == endBeside && len(words) == rest+2
	}
	if !ok {
		return wrong
	}
	return nil
}

// noSpeculation turns the rule of the JobTracker off.
var noSpeculation = func() (conf Conf) {
	conf.Set("mapred.map.tasks.speculative.execution", "false")
	conf.Set("mapred.reduce.tasks.speculative.execution", "false")
	return conf
}()

// before returns the ends of the tasks below a number.
func (e attemptEnds) before(task int) attemptEnds {
	e = maps.Clone(e)
	maps.DeleteFunc(e, func(t int, _ []AttemptEnd) bool { return t >= task })
	return e
}

// with adds the ends of the attempts of a task.
func (e attemptEnds) with(task int, ends []AttemptEnd) attemptEnds {
	if len(ends) == 0 {
		return e
	}
	if e == nil {
		e = make(attemptEnds)
	}
	e[task] = ends
	return e
}

// neverLaunched adds the tasks below a number that a job which did not succeed
// never launched: in the replay they run until the job ends.
func (j *Job) neverLaunched(h *HistoryJob, kind Kind, below int) {
	if h.Outcome != Failed && h.Outcome != Killed {
		return
	}
	open := []AttemptEnd{{State: Killed, After: h.length()}}
	if m := &j.Maps; kind == Map {
		for ; m.Count < min(below, h.Maps); m.Count++ {
			m.Ends = m.Ends.with(m.Count, open)
			m.Localise.Each = append(m.Localise.Each, 0)
			m.Time.Each, m.Splits = append(m.Time.Each, 0), append(m.Splits, Split{})
		}
		return
	}
	for r := &j.Reduces; r.Count < min(below, h.Reduces); r.Count++ {
		r.Ends = r.Ends.with(r.Count, open)
		r.Localise.Each = append(r.Localise.Each, 0)
		r.Shuffle.Each, r.Sort.Each, r.Time.Each = append(r.Shuffle.Each, 0), append(r.Sort.Each, 0), append(r.Time.Each, 0)
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
	for i := range j.Tasks {
		for k := range j.Tasks[i].Attempts {
			last = max(last, j.Tasks[i].Attempts[k].Finish)
		}
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
	for i := range j.Tasks {
		failed := 0
		for k := range j.Tasks[i].Attempts {
			if j.Tasks[i].Kind == kind && j.Tasks[i].Attempts[k].State == Failed {
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
	for i := range j.Tasks {
		for k := range j.Tasks[i].Attempts {
			if a := &j.Tasks[i].Attempts[k]; a.Kind == Cleanup && Known(a.Start) && a.Start < order {
				order = a.Start
			}
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
	for i := range j.Tasks {
		for k := range j.Tasks[i].Attempts {
			a := &j.Tasks[i].Attempts[k]
			if a.Kind <= Reduce && (a.Start > killed.Finish || a.Node == killed.Node && a.Start < killed.Finish && a.Finish > killed.Finish) {
				return true
			}
		}
	}
	return false
}
