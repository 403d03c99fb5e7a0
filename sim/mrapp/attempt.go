package mrapp

import (
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// state is what the ApplicationMaster holds of an attempt (TaskAttemptStateInternal).
// Steps that take no time are left out.
type state uint8

const (
	unassigned   state = iota
	running            // and assigned, until the node has answered
	committing         // COMMIT_PENDING
	finishing          // SUCCESS_FINISHING_CONTAINER: done, its process may still exit
	failing            // FAIL_FINISHING_CONTAINER
	aborting           // KILL_CONTAINER_CLEANUP and KILL_TASK_CLEANUP
	failAborting       // FAIL_CONTAINER_CLEANUP and FAIL_TASK_CLEANUP
	succeeded
	failed
	killed
)

// attempt is one attempt of a task: what the ApplicationMaster knows of it
// (TaskAttemptImpl), its request, and its process (child).
type attempt struct {
	task   *task
	number int32 // within the task
	state  state

	request   request
	asked     engine.Time // when the request was made (requestTimeMs)
	queued    *queue      // that holds it, or nil
	before    *attempt
	after     *attempt
	container *yarn.Container
	again     bool // a killed attempt is followed by one at the priority of failed maps
	speculate estimate
	child     child
	run       execute.Attempt // its work
}

// ended reports whether the ApplicationMaster is done with the attempt
// (TaskAttemptImpl.isFinished).
func (t *attempt) ended() bool { return t.state >= succeeded }

// isMap reports the type of the task.
func (t *attempt) isMap() bool { return t.task.kind == workload.Map }

// queue is a list of attempts in order of entry (LinkedHashMap). An attempt is in one
// queue at a time.
type queue struct {
	first, last *attempt
	len         int
}

func (q *queue) push(t *attempt) {
	t.queued, t.before, t.after = q, q.last, nil
	if q.last == nil {
		q.first = t
	} else {
		q.last.after = t
	}
	q.last = t
	q.len++
}

func (q *queue) pushFront(t *attempt) {
	t.queued, t.before, t.after = q, nil, q.first
	if q.first == nil {
		q.last = t
	} else {
		q.first.before = t
	}
	q.first = t
	q.len++
}

func (q *queue) remove(t *attempt) {
	if t.before == nil {
		q.first = t.after
	} else {
		t.before.after = t.after
	}
	if t.after == nil {
		q.last = t.before
	} else {
		t.after.before = t.before
	}
	t.queued, t.before, t.after = nil, nil, nil
	q.len--
}

// assigned makes a granted container the attempt's and starts it
// (ContainerAssignedTransition, LaunchedContainerTransition). An attempt that was
// killed meanwhile keeps the container and runs nothing in it.
func (a *AppMaster) assigned(t *attempt) {
	if t.state != unassigned {
		return
	}
	t.state = running
	a.speculator.need(t.task.kind, -1)
	a.launch(t)
	a.speculator.enroll(t)
}

// succeed books the last call of a child that has done its work (TA_DONE).
func (a *AppMaster) succeed(t *attempt) {
	if t.state != running && t.state != committing {
		return
	}
	t.state = finishing
	if !a.job.Release.FinishAtDone {
		t.state = succeeded
		a.stop(t)
	}
	a.attemptSucceeded(t)
	a.speculator.succeeded(t)
}

// fail books the failure that a child reports (TA_FAILMSG).
func (a *AppMaster) fail(t *attempt) {
	if t.state != running && t.state != committing {
		return
	}
	if a.job.Release.FinishAtDone {
		t.state = failing
		a.attemptFailed(t)
		return
	}
	t.state = failAborting
	a.stop(t)
	a.after(a.job.Costs.Abort, func() {
		t.state = failed
		a.attemptFailed(t)
	})
}

// kill ends an attempt without blame (TA_KILL). With again set its task's next attempt
// asks at the priority of failed maps.
func (a *AppMaster) kill(t *attempt, again bool) {
	if a.uber && t.state == unassigned { // it has the ApplicationMaster's own container
		a.stopAndAbort(t, again)
		return
	}
	switch t.state {
	case unassigned: // DeallocateContainerTransition
		t.state = killed
		a.withdraw(t)
		a.speculator.need(t.task.kind, -1)
		a.attemptKilled(t, false)
	case running, committing:
		a.stopAndAbort(t, again)
	case finishing: // KilledAfterSucceededFinishingTransition
		if t.isMap() {
			a.stopAndAbort(t, again)
		} else {
			t.state = succeeded
			a.stop(t)
		}
	case succeeded: // KilledAfterSuccessTransition
		if t.isMap() {
			t.state = killed
			a.attemptKilled(t, again)
		}
	}
}

// stopAndAbort stops the container, then aborts the task's output.
func (a *AppMaster) stopAndAbort(t *attempt, again bool) {
	t.state, t.again = aborting, again
	a.stop(t)
	a.after(a.job.Costs.Abort, func() {
		t.state = killed
		a.attemptKilled(t, t.again)
	})
}

// containerEnded books that the ResourceManager has reported the end of the attempt's
// container (createContainerFinishedEvent).
func (a *AppMaster) containerEnded(t *attempt, exit yarn.Exit) {
	if exit == yarn.Aborted || exit == yarn.Preempted {
		a.kill(t, false)
		return
	}
	switch t.state {
	case running, committing: // it went without a word
		t.state = failed
		a.attemptFailed(t)
	case finishing:
		t.state = succeeded
	case failing:
		t.state = failed
	}
}
