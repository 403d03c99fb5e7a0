package execute

import (
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Attempt is one attempt of a task on a node. Instants that are not known yet
// are engine.Never. Fields that every attempt uses come first: a cluster holds many,
// and visits each when it starts and when it ends.
type Attempt struct {
	Times
	Kind      workload.Kind
	Locality  workload.Locality
	End       End
	Started   bool
	Permitted bool // to commit
	Inside    bool // runs in the process of its master, which need not start another (uber)
	certain   bool // it does not succeed before failAt
	Job       *Job

	Task     int32 // index among those of its kind
	Number   int32
	Node     int32
	failAt   engine.Time // Never: it succeeds, unless it is killed
	KillAt   engine.Time // when it is ordered to be killed, if that is recorded
	Assigned engine.Time
	commit   engine.Time // part of a recorded time that is the commit and the wait for it

	Known     engine.Time // when the child of a reduce knows every map output
	shuffle   engine.Time // after Known
	sort      engine.Time
	waitIndex int32   // index in Job.waiting
	running   running // nil unless it works on devices
}

// NewAttempt returns an attempt of a task that has not been assigned to a node.
func NewAttempt(j *Job, kind workload.Kind, task int32) Attempt {
	return Attempt{
		Job: j, Kind: kind, Task: task, Locality: workload.NoLocality,
		Times: Times{Finish: engine.Never, Pending: engine.Never}, Known: engine.Never, failAt: engine.Never, KillAt: engine.Never,
	}
}

// Times are what is known of the time of an attempt.
type Times struct {
	Finish    engine.Time // leaves its slot
	Pending   engine.Time // when it asks for permission to commit
	FinishSet engine.Time // when end was settled
	Start     engine.Time // gets its slot
	Begin     engine.Time // when the child process begins
	work      engine.Time // of a map everything, of a reduce the phases after the sort
}

// MapProgress returns the progress of a map that does not work on devices.
func (t *Times) MapProgress(now engine.Time) float32 {
	if now <= t.Begin {
		return 0
	}
	return min(1, float32(float64(now-t.Begin)/float64(max(t.work, 1))))
}

// running is an attempt that runs on devices.
type running interface {
	stop() // at the present instant, if it is not stopped
	progress(now engine.Time) float32
	fill(a *Attempt, p *phases)
}

// End is how an attempt leaves its slot.
type End uint8

// Ends of an attempt.
const (
	Success End = iota
	Failure
	Kill
	Open // does not end during the run
)

// openShuffle is the time of a shuffle on devices that has not ended.
const openShuffle = engine.Never / 2

// ShuffleEnd returns when a reduce has fetched all map outputs.
func (a *Attempt) ShuffleEnd() engine.Time { return a.Known + a.shuffle }

// Permit lets a child commit. The child learns of it at one instant and finishes
// at another. Permit reports whether the attempt finishes before it fails.
func (a *Attempt) Permit(at, done engine.Time) bool {
	a.Permitted = true
	if done >= a.failAt {
		return false
	}
	a.Finish, a.FinishSet, a.End = done, at+1, Success
	return true
}

// endAt sets the end of an attempt that needs no permission.
func (a *Attempt) endAt(at engine.Time) {
	a.Pending = engine.Never
	a.Finish, a.End, a.FinishSet = at, Success, a.Settled()
	a.failBy(at)
}

// commitAt sets when an attempt asks for permission to commit.
func (a *Attempt) commitAt(at engine.Time) {
	a.Pending = at
	a.Finish, a.End = engine.Never, Success
	if a.failAt <= at || a.certain {
		a.Pending = engine.Never
	}
	a.failBy(engine.Never)
}

func (a *Attempt) failBy(end engine.Time) {
	if a.failAt < engine.Never && (a.failAt <= end || a.certain) {
		a.Finish, a.End, a.FinishSet = a.failAt, Failure, a.Start
	}
}

// localise adds the recorded time in which the tracker fetches the files of the
// job, before it launches the first attempt of a task.
func (a *Attempt) localise(d *workload.Durations) {
	switch {
	case a.Number > 0:
	case len(d.Each) > 0:
		a.Begin += engine.At(d.Each[a.Task])
	default:
		a.Begin += engine.At(d.All)
	}
}

// read applies what is recorded of the attempt.
func (a *Attempt) read(e workload.AttemptEnd) {
	at := a.Begin + engine.At(e.After)
	switch {
	case e.State == workload.Killed:
		a.KillAt = at
	case e.State == workload.Failed && at < a.failAt:
		a.failAt, a.certain = at, e.Certain
	}
}

// Settled returns when the end of an attempt's work became certain: at its
// start, or for a reduce when its child knew all maps.
func (a *Attempt) Settled() engine.Time {
	if a.Kind == workload.Reduce && a.Known < engine.Never {
		return a.Known + 1
	}
	return a.Start
}

// phases divides the time of an attempt among its phases, one after the other.
type phases struct {
	row        *workload.Attempt
	at, finish engine.Time
}

func (p *phases) until(phase workload.Phase, end engine.Time) {
	if end = min(end, p.finish); end > p.at {
		p.row.Phases[phase] += (end - p.at).Duration()
		p.at = end
	}
}

// rest adds what follows the work of an attempt: its commit and the wait for the
// permission. One that fails or is killed before it asks hung in its last phase.
func (p *phases) rest(a *Attempt) {
	if a.Started && a.End != Success && a.Pending == engine.Never && a.Kind <= workload.Reduce {
		p.until([]workload.Phase{workload.PhaseMap, workload.PhaseReduce}[a.Kind], a.Finish)
	}
	p.until(workload.PhaseCommit, a.Finish)
}

// shuffle adds the phases of a reduce up to the end of its sort.
func (p *phases) shuffle(a *Attempt) {
	if a.Known == engine.Never {
		p.row.WaitFetch = max(0, a.Finish-p.at).Duration()
		p.until(workload.PhaseShuffle, a.Finish)
		return
	}
	p.row.WaitFetch = max(0, min(a.Known, a.Finish)-p.at).Duration()
	p.until(workload.PhaseShuffle, a.Known+a.shuffle)
	p.until(workload.PhaseMerge, a.Known+a.shuffle+a.sort)
}

// moved records the data that an attempt has moved, if it succeeded.
func (p *phases) moved(c *workload.Counters) {
	if p.row.State == workload.Succeeded {
		p.row.Counters = *c
	}
}

// startup adds the start-up phase, which is the first.
func startup(a *Attempt, row *workload.Attempt) phases {
	p := phases{row, a.Start, a.Finish}
	if a.Started {
		p.until(workload.PhaseStartup, a.Begin)
	}
	return p
}
