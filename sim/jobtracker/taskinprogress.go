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
// laid out for the cache, and fills two lines of it.
type attempt struct {
	execute.Attempt
	job *jobInProgress
	*attemptDetails

	runnable engine.Time // when the task could first have been launched
	ref      uint32
	slot     int32
	status   taskState // of the identity; not used in a clean-up
	released bool      // its slot is free again
	reported bool      // its end has been reported
	occupies bool      // the JobTracker counts it as holding a slot
}

// attemptDetails are the part of an attempt that ordinary maps share
// (execute.Details).
type attemptDetails struct {
	ref     uint32
	width   int32           // slots held
	onSlot  workload.Kind   // type of slot: map or reduce
	task    *taskInProgress // nil: the task has run once so far, and needs no record
	cleans  *attempt        // attempt that a task clean-up belongs to
	details execute.Details

	killOrder   bool        // preemption will kill it, until the tracker reports the kill
	closed      bool        // to be killed because its task has ended
	watched     bool        // its progress matters
	progress    float32     // as last reported
	place       int32       // tracker that runs it now, or its clean-up
	firstReport engine.Time // the heartbeat after assignment
}

// taskInProgress is one task and its attempts (TaskInProgress). A task without
// a record has not been launched, has succeeded at the first attempt, or runs for the
// first time and cannot fail (jobInProgress.runsOnce).
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
	place    int32 // in taskTable.active
	member   int32 // in speculation.running
	failedOn []int32

	lostAt engine.Time // when the last tracker with an attempt or output of it was declared lost

	_ [16]byte // fills three lines of a cache
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
	details  pool[attemptDetails]
	ordinary attemptDetails // shared by all ordinary maps
}

func newRecords() records {
	return records{ordinary: attemptDetails{width: 1, details: execute.NewDetails()}}
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

// newAttempt makes an attempt with ordinary details.
func (r *records) newAttempt(j *jobInProgress, index int32) *attempt {
	ref, a := r.attempts.get()
	*a = attempt{ref: ref, job: j, attemptDetails: &r.ordinary}
	a.Job, a.Details, a.Task, a.Locality = j.work, &r.ordinary.details, index, workload.NoLocality
	a.Finish, a.Pending = engine.Never, engine.Never
	return a
}

// detail gives an attempt details of its own. The task is nil if it runs once.
func (r *records) detail(a *attempt, t *taskInProgress) {
	ref, d := r.details.get()
	*d = r.ordinary
	d.ref, d.task = ref, t
	a.attemptDetails, a.Details = d, &d.details
}

func (r *records) freeAttempt(a *attempt) {
	if d := a.attemptDetails; d != &r.ordinary {
		r.details.put(d.ref)
	}
	r.attempts.put(a.ref)
}

// recycle frees the records of a task and its attempts.
func (r *records) recycle(t *taskInProgress) {
	for _, a := range t.attempts {
		r.freeAttempt(a)
	}
	r.tasks.put(t.ref)
}

// taskTable holds the tasks of a job. Each is neverLaunched, finished, or has a
// record, or is inPlace. Only pages with some tasks of different states take memory. Of
// tasks that certainly run once it holds only which of them have been launched.
type taskTable struct {
	*records
	pages                          [2][]taskPage
	once                           [2][]uint64        // without speculation: bits of those launched
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
	inPlace uint32 = 1 << 31 // the rest is the place in speculation.once of a running task
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
	if once := x.once[k]; once != nil {
		return once[index/64]>>(index%64)&1 != 0
	}
	ref := x.ref(k, index)
	return ref == finished || ref >= inPlace
}

// at returns the record of a task, or nil.
func (x *taskTable) at(k workload.Kind, index int32) *taskInProgress {
	t, _ := x.find(k, index)
	return t
}

// find returns the record of a task, or the place in speculation.once of one that runs
// and may still run a second time, or nil and -1.
func (x *taskTable) find(k workload.Kind, index int32) (t *taskInProgress, place int32) {
	if x.once[k] != nil {
		return nil, -1
	}
	switch ref := x.ref(k, index); {
	case ref >= inPlace:
		return nil, int32(ref &^ inPlace)
	case ref >= firstRef:
		return x.tasks.at(ref - firstRef), -1
	}
	return nil, -1
}

// all lists the maps and reduces that have a record, in their order.
func (x *taskTable) all(yield func(*taskInProgress) bool) {
	for k := range x.pages {
		for i := range x.pages[k] {
			for _, ref := range x.pages[k][i].refs {
				if ref >= firstRef && ref < inPlace && !yield(x.tasks.at(ref-firstRef)) {
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
		t.place = int32(len(list))
		x.active[t.kind] = append(list, t.index)
		return
	}
	last := list[len(list)-1]
	list[t.place] = last
	x.at(t.kind, last).place = t.place
	x.active[t.kind] = list[:len(list)-1]
}

// open creates the tasks of a job. Set-up and clean-up tasks are numbered after
// its maps or reduces.
func (x *taskTable) open(j *jobInProgress, tasks [2]int) {
	for k, n := range tasks {
		kind := workload.Kind(k)
		if j.runsOnce[k] && !j.Speculates[k] {
			x.once[k] = make([]uint64, (n+63)/64)
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
