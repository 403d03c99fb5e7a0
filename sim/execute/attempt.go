package execute

import (
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Attempt is one attempt of a task on a node. Instants that are not known yet
// are engine.Never.
type Attempt struct {
	// What is read at every heartbeat comes first.
	Kind      workload.Kind
	Locality  workload.Locality
	End       End
	Started   bool
	Permitted bool // to commit

	Finish     engine.Time // gives its slot back
	FinishSet  engine.Time // when the instant of the end was settled
	Pending    engine.Time // asks for permission to commit
	PendingSet engine.Time // when the instant of asking was settled
	Known      engine.Time // the child of a reduce knows every map output
	Start      engine.Time // gets its slot
	Begin      engine.Time // the child process begins

	Job       *Job
	Task      int32 // among those of its kind
	Number    int32
	Node      int32
	waitIndex int32 // among Job.waiting
	Assigned  engine.Time

	failAt  engine.Time
	commit  engine.Time // what a recorded time has of the commit and the wait for it
	shuffle engine.Time // after Known
	sort    engine.Time
	work    engine.Time // of a map all, of a reduce what follows the sort
	running running     // nil unless it works on devices
}

// running is an attempt at work on devices.
type running interface {
	stop() // at the present instant, if it goes on
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
	Open // not before the run ends
)

// ShuffleEnd is when a reduce has fetched all map outputs.
func (a *Attempt) ShuffleEnd() engine.Time { return a.Known + a.shuffle }

// Permit lets a child commit. It learns so at an instant and is done at another;
// Permit reports whether it does not fail before.
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
	a.Finish, a.End, a.FinishSet = at, Success, a.settled()
	a.failBy(at)
}

// commitAt sets when an attempt asks for permission to commit.
func (a *Attempt) commitAt(at engine.Time) {
	a.Pending, a.PendingSet = at, a.settled()
	a.Finish, a.End = engine.Never, Success
	if a.failAt <= at {
		a.Pending = engine.Never
	}
	a.failBy(engine.Never)
}

func (a *Attempt) failBy(end engine.Time) {
	if a.failAt < engine.Never && a.failAt <= end {
		a.Finish, a.End, a.FinishSet = a.failAt, Failure, a.Start
	}
}

// mayFail brings a recorded failure of the attempt in.
func (a *Attempt) mayFail(f workload.Failures) {
	if after, ok := f.After(int(a.Task), int(a.Number)); ok {
		a.failAt = min(a.failAt, a.Begin+engine.At(after))
	}
}

// settled is when the end of an attempt's work became certain: with its start,
// or, for a reduce, when its child knew all maps.
func (a *Attempt) settled() engine.Time {
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

// shuffle enters a reduce's time until it begins to reduce.
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

// moved enters the data that an attempt has moved, if it came to its end.
func (p *phases) moved(c *workload.Counters) {
	if p.row.State == workload.Succeeded {
		p.row.Counters = *c
	}
}

// startup opens the division of an attempt's time.
func startup(a *Attempt, row *workload.Attempt) phases {
	p := phases{row, a.Start, a.Finish}
	if a.Started {
		p.until(workload.PhaseStartup, a.Begin)
	}
	return p
}
