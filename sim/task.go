package sim

import (
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// reported is the state of an attempt as its tracker last told the JobTracker.
type reported uint8

const (
	unreported reported = iota // launched, no status yet
	unassigned                 // waits on the tracker for its slot
	running
	commitPending
	succeeded
	failedUnclean // ended, its clean-up attempt has not run
	killedUnclean
	failed
	killed
)

// ends says how an attempt leaves its slot if nobody kills it.
type ends uint8

const (
	endsWell ends = iota
	endsFailed
	endsKilled
	endsOpen // not before the run does
)

// attempt is one execution on a tracker. A task clean-up is an execution of its
// own that carries the identity of the attempt it cleans up after.
type attempt struct {
	ref     uint32
	job     *job
	task    *task
	cleans  *attempt // the attempt a task clean-up belongs to
	tracker int32
	place   int32 // tracker that runs it now, or its clean-up
	number  int32
	slot    int32
	kind    workload.Kind
	onSlot  workload.Kind // type of slot: map or reduce
	width   int32         // slots held
	local   workload.Locality
	end     ends
	status  reported // of the identity, so not used in a clean-up

	started   bool
	released  bool // its slot is free again
	told      bool // its end has been reported
	killOrder bool // told to die by preemption; lasts until the tracker reports it
	closed    bool // told to die because its task has ended
	permitted bool

	runnable engine.Time // when the task could first have been launched
	assigned engine.Time
	start    engine.Time // has its slot
	begin    engine.Time // the child process begins
	known    engine.Time // a reduce's child knows every map output
	pending  engine.Time // asks for permission to commit
	finish   engine.Time // gives its slot back; Never while that is open
	failAt   engine.Time

	pendingSet engine.Time // when the instant of asking was settled
	commit     engine.Time // what a recorded time has of the commit and the wait for it
	finishSet  engine.Time // when the instant of the end was

	firstReport engine.Time // the heartbeat after assignment

	shuffle, sort, work engine.Time // durations
	exec                execution   // nil where they are given
	progress            float32     // as last reported
	shufflingAt         int32       // its place among those of its job
	watched             bool        // its progress matters
	wave                int32       // how many attempts of the job in a row its slot has run
}

// task is a TaskInProgress: one task and its attempts. Tasks that have not been
// launched, or have succeeded without any trouble, need none.
type task struct {
	ref    uint32
	job    *job
	index  int32
	kind   workload.Kind
	onSlot workload.Kind

	attempts []*attempt // all that were reported or are active, by number
	active   []*attempt
	space    [2][2]*attempt // where both lists begin
	next     int32          // number of the next attempt

	completes int32
	failures  int32
	kills     int32
	failed    bool // given up, or killed with its job
	failedOn  []int32
	winner    *attempt
	committer *attempt

	progress   float64
	onTrackers int32 // attempts, and clean-ups after them, that trackers hold
	counted    int32 // active attempts in the job's counts
	among      int32 // place in job.live, if it is there
	round      int32 // changes whenever the task starts running anew
}

func (t *task) complete() bool { return t.completes > 0 }
func (t *task) running() bool  { return len(t.active) > 0 }
func (t *task) runnable() bool { return !t.failed && t.completes == 0 }

// own is the attempt whose identity a carries.
func (a *attempt) own() *attempt {
	if a.cleans != nil {
		return a.cleans
	}
	return a
}

func (t *task) deactivate(a *attempt) {
	if i := slices.Index(t.active, a); i >= 0 {
		t.active = slices.Delete(t.active, i, i+1)
	}
}

// onlyCommitPending is TaskInProgress.isOnlyCommitPending, which despite its
// name asks for any.
func (t *task) onlyCommitPending() bool {
	for _, a := range t.attempts {
		if a.status == commitPending {
			return true
		}
	}
	return false
}

func (t *task) ranOn(tracker int32) bool {
	for _, a := range t.active {
		if a.tracker == tracker {
			return true
		}
	}
	return slices.Contains(t.failedOn, tracker)
}

// recomputeProgress is TaskInProgress.recomputeProgress.
func (t *task) recomputeProgress() {
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
				best = max(best, float64(a.progress))
			}
		}
		t.progress = best
	}
}
