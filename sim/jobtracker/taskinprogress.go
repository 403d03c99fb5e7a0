package jobtracker

import (
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// taskState is the state of an attempt as its tracker last reported it
// (TaskStatus.State).
type taskState uint8

const (
	unreported taskState = iota // launched, no status yet
	unassigned                  // waits on the tracker for its slot
	running
	commitPending
	succeeded
	failedUnclean // ended, its clean-up attempt has not run
	killedUnclean
	failed
	killed
)

// attempt is one execution on a tracker. A task clean-up is a separate
// execution that carries the identity of the attempt it cleans up after. It is
// laid out for the cache: what a report of its progress reads lies in two lines, and
// what few attempts use comes last.
type attempt struct {
	job  *jobInProgress
	task *taskInProgress // nil: the task has run once so far, and needs no record

	runnable  engine.Time // when the task could first have been launched
	ref       uint32
	slot      int32
	index     int32         // in soleAttempts.progress, if it is followed
	width     int32         // slots held
	heldBy    int32         // tracker that runs it now, or its clean-up
	progress  float32       // as last reported, if it is watched
	onSlot    workload.Kind // type of slot: map or reduce
	status    taskState     // of the identity; not used in a clean-up
	released  bool          // its slot is free again
	reported  bool          // its end has been reported
	occupies  bool          // the JobTracker counts it as holding a slot
	closed    bool          // to be killed because its task has ended
	watched   bool          // its progress matters
	killOrder bool          // preemption will kill it, until the tracker reports the kill

	execute.Attempt

	firstReport engine.Time // the heartbeat after assignment
	cleans      *attempt    // attempt that a task clean-up belongs to
}

// taskInProgress is one task and its attempts (TaskInProgress). A task without
// a record has not been launched, has succeeded at the first attempt, or runs for the
// first time and cannot fail (jobInProgress.sole).
type taskInProgress struct {
	// The first 64 bytes are what reports of its attempts read.
	job       *jobInProgress
	index     int32
	ref       uint32
	kind      workload.Kind
	onSlot    workload.Kind
	failed    bool // given up, or killed with its job
	completes int32
	counted   int32 // active attempts in the job's counts
	launches  int32 // changes whenever the task starts or stops running
	progress  float64
	active    []*attempt // attempts that have not ended

	// The next 64 change when it is launched and when it ends.
	attempts   []*attempt     // reported and active attempts, by number
	space      [2][1]*attempt // where both lists begin
	winner     *attempt
	committer  *attempt
	onTrackers int32 // attempts, and clean-ups after them, that trackers hold
	next       int32 // number of the next attempt

	failures int32
	activeAt int32 // in taskTable.active
	failedOn []int32

	lostAt engine.Time // when the last tracker with an attempt or output of it was declared lost
}

// isMapOrReduce reports whether the task is not a set-up or clean-up of the
// job.
func (t *taskInProgress) isMapOrReduce() bool { return t.kind <= workload.Reduce }

func (t *taskInProgress) complete() bool { return t.completes > 0 }
func (t *taskInProgress) running() bool  { return len(t.active) > 0 }
func (t *taskInProgress) runnable() bool { return !t.failed && t.completes == 0 }

// endedFor returns the final state after an unclean end.
func endedFor(s taskState) taskState {
	switch s {
	case failedUnclean:
		return failed
	case killedUnclean:
		return killed
	}
	return s
}

// ended returns the final state of an attempt.
func (a *attempt) ended() workload.State {
	if a.End == execute.Open {
		return workload.Running
	}
	switch a.own().status {
	case succeeded:
		return workload.Succeeded
	case failed, failedUnclean:
		return workload.Failed
	}
	return workload.Killed
}

// own returns the attempt whose identity a carries.
func (a *attempt) own() *attempt {
	if a.cleans != nil {
		return a.cleans
	}
	return a
}

// mayCommit reports whether the JobTracker permits an attempt to commit that asks.
func (a *attempt) mayCommit() bool {
	return a.task == nil || !a.task.complete() && a.task.committer == a
}

func (t *taskInProgress) deactivate(a *attempt) {
	if i := slices.Index(t.active, a); i >= 0 {
		t.active = slices.Delete(t.active, i, i+1)
	}
}

// onlyCommitPending implements TaskInProgress.isOnlyCommitPending, which
// despite its name is true if any attempt is pending.
func (t *taskInProgress) onlyCommitPending() bool {
	for _, a := range t.attempts {
		if a.status == commitPending {
			return true
		}
	}
	return false
}

// isAlone reports whether a single attempt runs that has not reached its end.
func (t *taskInProgress) isAlone() bool {
	return len(t.active) <= 1 && t.completes == 0 && !t.onlyCommitPending()
}

func (t *taskInProgress) ranOn(tracker int32) bool {
	for _, a := range t.active {
		if a.Node == tracker {
			return true
		}
	}
	return slices.Contains(t.failedOn, tracker)
}

// lastEnd returns when the JobTracker last learned of the loss of an attempt, or
// the last end of a past attempt.
func (t *taskInProgress) lastEnd(now engine.Time) engine.Time {
	last := t.lostAt
	for _, a := range t.attempts {
		if a.Finish < engine.Never && a.Finish <= now {
			last = max(last, a.Finish)
		}
	}
	return last
}

// recomputeProgress implements TaskInProgress.recomputeProgress.
func (t *taskInProgress) recomputeProgress() {
	switch {
	case t.complete():
		t.progress = 1
	case t.failed:
		t.progress = 0
	default:
		best := 0.0
	attempts:
		for _, a := range t.attempts {
			switch a.status {
			case succeeded:
				best = 1
				break attempts
			case commitPending:
				best = t.progress
			case running:
				if a.watched {
					best = max(best, float64(a.progress))
				}
			}
		}
		t.progress = best
	}
}

// update stores the status of an attempt and reports whether it is new
// (TaskInProgress.updateStatus).
func (t *taskInProgress) update(own *attempt, state taskState) bool {
	old := own.status
	changed := old != state
	if old != unreported {
		switch state {
		case succeeded, failed, killed:
			if !changed {
				return false
			}
		case running, unassigned:
			if old != running && old != unassigned {
				return false
			}
		}
		if old == failed || old == killed {
			own.killOrder = true
			return false
		}
	}
	own.status = state
	t.recomputeProgress()
	return changed
}

// incomplete removes an attempt from the task
// (TaskInProgress.incompleteSubTask).
func (t *taskInProgress) incomplete(own *attempt, jobEnded bool) {
	if own.killOrder {
		own.killOrder = false
		switch own.status {
		case failed, killed:
			own.status = killed
		default:
			own.status = killedUnclean
		}
	}
	t.deactivate(own)
	if t.kind == workload.Map && t.winner == own && t.completes > 0 && !jobEnded {
		t.completes--
		t.winner = nil
	}
	if own.status == failed {
		t.failures++
		if !slices.Contains(t.failedOn, own.Node) {
			t.failedOn = append(t.failedOn, own.Node)
		}
	}
}

// succeed marks the task as done by an attempt (TaskInProgress.completed).
func (t *taskInProgress) succeed(own *attempt) {
	t.deactivate(own)
	t.winner = own
	t.completes++
	t.recomputeProgress()
}

// settled reports whether the task is done and needs no clean-up.
func (t *taskInProgress) settled() bool {
	for _, a := range t.attempts {
		if a.status != succeeded && a.status != failed && a.status != killed {
			return false
		}
	}
	return t.complete()
}

// refuses reports whether the task may not run on a tracker where it failed,
// while it could elsewhere.
func (t *taskInProgress) refuses(tracker int32, hosts int) bool {
	return slices.Contains(t.failedOn, tracker) && len(t.failedOn) < hosts
}

// records are the tasks and attempts of all jobs.
type records struct {
	tasks    pool[taskInProgress]
	attempts pool[attempt]
}

func (r *records) newTask(j *jobInProgress, index int32, kind, onSlot workload.Kind) *taskInProgress {
	ref, t := r.tasks.get()
	attempts, active := t.attempts[:0], t.active[:0]
	if cap(attempts) == 0 {
		attempts, active = t.space[0][:0], t.space[1][:0]
	}
	*t = taskInProgress{ref: ref, job: j, index: index, kind: kind, onSlot: onSlot, attempts: attempts, active: active}
	return t
}

// newAttempt makes an attempt of a job's task, which is to run on a tracker now.
func (r *records) newAttempt(j *jobInProgress, kind workload.Kind, index, tracker int32) *attempt {
	ref, a := r.attempts.get()
	*a = attempt{Attempt: execute.NewAttempt(j.work, kind, index), ref: ref, job: j, width: 1}
	a.Node, a.Assigned = tracker, j.cluster.Now()
	return a
}

// recycle frees the records of a task and its attempts.
func (r *records) recycle(t *taskInProgress) {
	for _, a := range t.attempts {
		r.attempts.put(a.ref)
	}
	r.tasks.put(t.ref)
}

// taskTable holds the tasks of a job. A task has no record before it is launched, nor
// once it has finished, nor while its sole attempt runs (soleAttempts). Only pages with
// tasks of different states take memory. Of tasks that certainly have one attempt it
// holds only which have been launched.
type taskTable struct {
	*records
	pages                          [2][]taskPage
	launched                       [2]bitset          // nil: tasks may have several attempts
	active                         [2][]int32         // tasks with active attempts, in no order; not of a reliable job
	setup, cleanup                 [2]*taskInProgress // by slot type
	launchedSetup, launchedCleanup bool
	service                        bool // the job has set-up and clean-up tasks
}

// References of tasks without a record.
const (
	neverLaunched uint32 = iota
	finished             // at the first attempt
	firstRef
	soleRef uint32 = 1 << 31 // the rest is the reference of its sole attempt
)

// taskPage holds consecutive tasks of one type. Without refs, all of them are in
// one state: finished if none is left, and neverLaunched otherwise.
type taskPage struct {
	refs []uint32
	left int32 // tasks that have not finished
}

const pageTasks = 512

// ref returns neverLaunched, finished, or the reference of a record.
func (x *taskTable) ref(k workload.Kind, index int32) uint32 {
	switch p := &x.pages[k][index/pageTasks]; {
	case p.refs != nil:
		return p.refs[index%pageTasks]
	case p.left == 0:
		return finished
	}
	return neverLaunched
}

// gone reports whether a task need not be looked at again when tasks to launch are
// sought.
func (x *taskTable) gone(k workload.Kind, index int32) bool {
	if launched := x.launched[k]; launched != nil {
		return launched.has(index)
	}
	ref := x.ref(k, index)
	return ref == finished || ref >= soleRef
}

// at returns the record of a task, or nil.
func (x *taskTable) at(k workload.Kind, index int32) *taskInProgress {
	t, _ := x.find(k, index)
	return t
}

// find returns the record of a task, or its sole attempt if that may be followed by
// another, or neither.
func (x *taskTable) find(k workload.Kind, index int32) (*taskInProgress, *attempt) {
	if x.launched[k] != nil {
		return nil, nil
	}
	switch ref := x.ref(k, index); {
	case ref >= soleRef:
		return nil, x.attempts.at(ref &^ soleRef)
	case ref >= firstRef:
		return x.tasks.at(ref - firstRef), nil
	}
	return nil, nil
}

// all lists the maps and reduces that have a record, in their order.
func (x *taskTable) all(yield func(*taskInProgress) bool) {
	for k := range x.pages {
		for i := range x.pages[k] {
			for _, ref := range x.pages[k][i].refs {
				if ref >= firstRef && ref < soleRef && !yield(x.tasks.at(ref-firstRef)) {
					return
				}
			}
		}
	}
}

// setActive notes whether a task has active attempts.
func (x *taskTable) setActive(t *taskInProgress, active bool) {
	list := x.active[t.kind]
	if active {
		t.activeAt = int32(len(list))
		x.active[t.kind] = append(list, t.index)
		return
	}
	last := list[len(list)-1]
	list[t.activeAt] = last
	x.at(t.kind, last).activeAt = t.activeAt
	x.active[t.kind] = list[:len(list)-1]
}

// open creates the tasks of a job. Set-up and clean-up tasks are numbered after
// its maps or reduces.
func (x *taskTable) open(j *jobInProgress, tasks [2]int) {
	for k, n := range tasks {
		kind := workload.Kind(k)
		if j.sole[k] && !j.Speculates[k] {
			x.launched[k] = newBitset(n)
		} else {
			x.pages[k] = make([]taskPage, (n+pageTasks-1)/pageTasks)
		}
		for i := range x.pages[k] {
			x.pages[k][i].left = int32(min(pageTasks, n-i*pageTasks))
		}
		x.cleanup[k] = x.newTask(j, int32(n), workload.Cleanup, kind)
		x.setup[k] = x.newTask(j, int32(n)+1, workload.Setup, kind)
	}
}

// launch makes a record for the task of an attempt.
func (x *taskTable) launch(j *jobInProgress, k workload.Kind, index int32) *taskInProgress {
	t := x.at(k, index)
	if t == nil {
		t = x.newTask(j, index, k, k)
		x.setRef(k, index, t.ref+firstRef)
	}
	return t
}

// setRef changes the reference of a task.
func (x *taskTable) setRef(k workload.Kind, index int32, ref uint32) {
	p := &x.pages[k][index/pageTasks]
	if p.refs == nil {
		p.refs = make([]uint32, p.left)
	}
	p.refs[index%pageTasks] = ref
	if ref == finished {
		if p.left--; p.left == 0 {
			p.refs = nil
		}
	}
}

// finish frees the record of a task that has succeeded.
func (x *taskTable) finish(t *taskInProgress) {
	x.setRef(t.kind, t.index, finished)
	x.recycle(t)
}

// setUp reports whether the set-up of the job has ended.
func (x *taskTable) setUp() bool {
	for _, t := range x.setup {
		if t.complete() || t.failed {
			return true
		}
	}
	return false
}

// close frees all records.
func (x *taskTable) close() {
	for t := range x.all {
		x.recycle(t)
	}
	for k := range x.setup {
		if x.setup[k] != nil {
			x.recycle(x.setup[k])
			x.recycle(x.cleanup[k])
		}
	}
}
