package mrapp

import (
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// taskState is a state of TaskImpl.
type taskState uint8

const (
	taskRunning taskState = iota // and scheduled
	taskKillWait
	taskSucceeded
	taskFailed
	taskKilled
)

// task is a map or a reduce with its attempts (TaskImpl).
type task struct {
	am       *AppMaster
	kind     workload.Kind
	index    int32
	state    taskState
	attempts []*attempt
	next     int32 // number of the next attempt
	failures int
	ended    int      // attempts that have ended (finishedAttempts)
	success  *attempt // successfulAttempt
	commit   *attempt // that may commit
	tried    bool     // the speculator has started an attempt (mayHaveSpeculated)
}

// addAttempt makes and schedules an attempt (addAndScheduleAttempt).
func (a *AppMaster) addAttempt(t *task, again bool) {
	n := &attempt{task: t, number: t.next}
	t.next++
	n.child = child{pending: None, done: None, outcome: workload.Running, until: engine.Never, due: engine.Never}
	t.attempts = append(t.attempts, n)
	a.speculator.need(t.kind, 1)
	a.ask(n, t.failures > 0 || again)
}

// start makes the first attempt of a task, unless the history has a success of it
// (JobImpl.scheduleTasks, TaskImpl.RecoverTransition).
func (a *AppMaster) start(k *task) {
	node, done := a.job.History.node(k)
	if !done || !a.job.Settings.Recovery {
		a.addAttempt(k, false)
		return
	}
	t := &attempt{task: k, state: succeeded}
	t.run.Node = node
	k.attempts = append(k.attempts, t)
	a.attemptSucceeded(t)
}

// attemptSucceeded ends the task with its first success and kills its other attempts
// (AttemptSucceededTransition).
func (a *AppMaster) attemptSucceeded(t *attempt) {
	k := t.task
	if !a.counts(k) {
		return
	}
	k.ended++
	k.success = t
	k.state = taskSucceeded
	a.job.History.add(k, a.count(k.kind), t.run.Node)
	a.mapEvent(t)
	for _, other := range k.attempts {
		if other != t && !other.ended() {
			a.later(event{kill: other})
		}
	}
	a.taskEnded(k)
}

// counts reports whether the end of an attempt matters to its task, and counts it if the
// task only waits for its attempts to end.
func (a *AppMaster) counts(k *task) bool {
	if k.state == taskKillWait {
		a.endInKillWait(k)
	}
	return k.state == taskRunning
}

// attemptFailed counts a failure. The task gets a new attempt or has failed for good
// (AttemptFailedTransition).
func (a *AppMaster) attemptFailed(t *attempt) {
	k := t.task
	if !a.counts(k) {
		return
	}
	k.failures++
	if k.commit == t {
		k.commit = nil
	}
	if t.container != nil {
		a.requests.failedOn(t.container.Node)
		a.recalculate = true
	}
	k.ended++
	if k.failures >= a.maxAttempts(k.kind) {
		k.state = taskFailed
		a.mapEvent(t)
		for _, other := range k.attempts {
			if !other.ended() && other.state != failing {
				a.later(event{kill: other})
			}
		}
		a.taskEnded(k)
		return
	}
	if !a.hasSpare(k) {
		a.addAttempt(k, false)
	}
}

// hasSpare reports whether another attempt of a task goes on, so that a failure needs
// no new one.
func (a *AppMaster) hasSpare(k *task) bool {
	for _, other := range k.attempts {
		switch other.state {
		case unassigned:
			if !a.job.Release.RetryBesideAsk {
				return true
			}
		case running, committing, aborting, failAborting:
			return true
		}
	}
	return false
}

// attemptKilled books the end of a killed attempt. A task without success gets a new
// one; a map whose output is lost runs again (AttemptKilledTransition,
// RetroactiveKilledTransition).
func (a *AppMaster) attemptKilled(t *attempt, again bool) {
	k := t.task
	again = again && a.job.Release.FastFailKilled
	switch {
	case k.state == taskSucceeded && k.success == t:
		k.success, k.commit = nil, nil
		k.state = taskRunning
		a.job.History.remove(k)
		a.mapLost(k)
	case a.counts(k):
		k.ended++
		if k.commit == t {
			k.commit = nil
		}
	default:
		return
	}
	a.addAttempt(k, again)
}

// endInKillWait counts the attempts of a task that is being killed
// (KillWaitAttemptKilledTransition).
func (a *AppMaster) endInKillWait(k *task) {
	k.ended++
	if k.ended == len(k.attempts) {
		k.state = taskKilled
		a.taskEnded(k)
	}
}

// killTask kills what runs of a task (KillTransition).
func (a *AppMaster) killTask(k *task) {
	if k.state != taskRunning {
		return
	}
	k.state = taskKillWait
	for _, t := range k.attempts {
		if !t.ended() {
			a.later(event{kill: t})
		}
	}
}

func (a *AppMaster) maxAttempts(kind workload.Kind) int {
	if a.uber {
		return 1
	}
	if kind == workload.Map {
		return a.job.Settings.MapAttempts
	}
	return a.job.Settings.ReduceAttempts
}
