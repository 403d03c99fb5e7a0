package mrapp

import (
	"fmt"
	"sort"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// child is the process of an attempt (YarnChild) and what it says to the
// ApplicationMaster.
type child struct {
	work      Work
	node      int32
	launched  engine.Time
	begun     engine.Time
	mapsKnown engine.Time
	pending   engine.Time
	done      engine.Time
	outcome   workload.State
	silent    bool        // killed, gone, or on a dead node: it does nothing any more
	until     engine.Time // it fell silent
	polls     engine.Time // the poll that shall find all maps, or None
}

func (c *child) reset() {
	*c = child{launched: None, begun: None, mapsKnown: None, pending: None, done: None, outcome: workload.Running, polls: None, until: engine.Never}
}

// launch starts the container of an attempt. Its child asks for its task after the
// time that a process takes to start.
func (a *AppMaster) launch(t *attempt) {
	c := &t.child
	c.node = t.container.Node
	c.launched = a.master.Now()
	c.work = a.job.Tasks.Work(t.task.kind, t.task.index, t.number, c.node)
	t.container.What = fmt.Sprintf("%.1s%d_%d", t.task.kind, t.task.index, a.attemptNumber(t))
	if !a.master.Launch(t.container) {
		c.silent = true
		return
	}
	a.step(t, a.job.Costs.Launch, func() { a.begin(t) })
}

// attemptNumber is the number in an attempt's name. Each ApplicationMaster begins at its
// own thousand.
func (a *AppMaster) attemptNumber(t *attempt) int32 { return 1000*a.generation + t.number }

// step lets a process do something after a while, if it still lives.
func (a *AppMaster) step(t *attempt, d engine.Time, do func()) {
	a.master.At(a.master.Now()+d, func() {
		if !t.child.silent {
			do()
			a.settle()
		}
	})
}

// begin starts the work. A map works for its time; a reduce first learns of all maps.
func (a *AppMaster) begin(t *attempt) {
	c := &t.child
	c.begun = a.master.Now()
	if c.work.Fails != engine.Never {
		a.step(t, c.work.Fails, func() { a.crash(t) })
	}
	a.speculator.listen(t)
	if t.isMap() {
		a.step(t, c.work.Map, func() { a.worked(t) })
		return
	}
	a.shuffling = append(a.shuffling, t)
	a.poll(t)
}

// poll asks for map completion events (getMapCompletionEvents). A reduce asks when it
// begins and each second after that, until it knows a success of each map; only the
// polls that find the last one are simulated.
func (a *AppMaster) poll(t *attempt) {
	c := &t.child
	c.polls = None
	if a.lost || a.known < len(a.maptasks) {
		return
	}
	for i, x := range a.shuffling {
		if x == t {
			a.shuffling = append(a.shuffling[:i], a.shuffling[i+1:]...)
			break
		}
	}
	c.mapsKnown = a.master.Now()
	if c.outcome == workload.Running {
		a.step(t, c.work.Shuffle+c.work.Sort+c.work.Reduce, func() { a.worked(t) })
	}
}

// tellReduces sets the polls by which the reduces learn of the last map. quick says
// that the map's end was set less than a poll's interval ago, so that a poll of this
// instant comes before it.
func (a *AppMaster) tellReduces(quick bool) {
	now := a.master.Now()
	for _, t := range a.shuffling {
		c := &t.child
		if c.polls != None {
			continue
		}
		c.polls = c.begun + (now-c.begun+second-1)/second*second
		if c.polls == now && quick {
			c.polls += second
		}
		a.step(t, c.polls-now, func() { a.poll(t) })
	}
}

// mapEvent books the end of a map for the reduces, its success or its last failure
// (TaskAttemptCompletedEventTransition; EventFetcher waits for neither any more).
func (a *AppMaster) mapEvent(t *attempt) {
	if !t.isMap() {
		return
	}
	if t.task.success == t {
		node := t.child.node
		a.successes[node] = append(a.successes[node], t)
	}
	a.count(1)
	if a.known == len(a.maptasks) {
		a.tellReduces(min(t.child.work.Map, t.child.work.Fails) < second)
	}
}

// mapLost takes a success back (MapTaskRescheduledTransition).
func (a *AppMaster) mapLost() {
	a.ended[workload.Map]--
	a.count(-1)
}

func (a *AppMaster) count(by int) {
	a.known += by
	a.knownAt = append(a.knownAt, mark{a.master.Now(), a.known})
}

// crash is the failure that a child reports.
func (a *AppMaster) crash(t *attempt) {
	c := &t.child
	if c.outcome != workload.Running || a.lost {
		return
	}
	c.outcome, c.done = workload.Failed, a.master.Now()
	a.fail(t)
	a.exitSoon(t)
}

// worked is the end of a child's work. Reduces, and maps of jobs without reduces,
// commit their output; other maps are done.
func (a *AppMaster) worked(t *attempt) {
	c := &t.child
	if c.outcome != workload.Running || a.lost {
		return
	}
	a.speculator.report(t)
	if t.isMap() && len(a.reducetasks) > 0 {
		a.done(t)
		return
	}
	c.pending = a.master.Now()
	a.commitPending(t)
	a.mayCommit(t)
}

// commitPending lets the first attempt of a task commit and kills others
// (AttemptCommitPendingTransition).
func (a *AppMaster) commitPending(t *attempt) {
	if t.state != running {
		return
	}
	t.state = committing
	if t.task.commit == nil {
		t.task.commit = t
	} else if t.task.commit != t {
		a.later(event{kill: t})
	}
}

// mayCommit asks for permission, at once and then each second.
func (a *AppMaster) mayCommit(t *attempt) {
	if t.child.outcome != workload.Running || a.lost {
		return
	}
	if t.task.commit == t {
		a.step(t, a.job.Costs.Commit, func() { a.done(t) })
	} else {
		a.step(t, second, func() { a.mayCommit(t) })
	}
}

// done is a child's last call.
func (a *AppMaster) done(t *attempt) {
	c := &t.child
	if c.outcome != workload.Running || a.lost {
		return
	}
	c.outcome, c.done = workload.Succeeded, a.master.Now()
	a.succeed(t)
	a.exitSoon(t)
}

// exitSoon ends the process a while after its last call.
func (a *AppMaster) exitSoon(t *attempt) {
	if t.container == nil {
		a.over(t)
		a.local.next(a)
		return
	}
	a.step(t, a.job.Costs.Exit, func() {
		a.over(t)
		a.master.Ended(t.container, yarn.Success)
	})
}

// stop kills the process of an attempt, if there is one. The launcher's thread gives
// the order (ContainerLauncherImpl): what the process was to do in this instant comes
// before.
func (a *AppMaster) stop(t *attempt) {
	if t.container == nil || t.child.launched == None || t.child.silent {
		return
	}
	a.master.At(a.master.Now(), func() {
		if !t.child.silent {
			a.master.Stop(t.container)
		}
	})
}

// attemptIn returns the attempt that was given a container.
func (a *AppMaster) attemptIn(k *yarn.Container) *attempt {
	if int(k.Number) >= len(a.holder) {
		return nil
	}
	return a.holder[k.Number]
}

// Killed tells that a node kills a container: its process stops now.
func (a *AppMaster) Killed(k *yarn.Container) {
	t := a.attemptIn(k)
	if t == nil || t.child.silent {
		return
	}
	c := &t.child
	if c.outcome == workload.Running {
		c.outcome, c.done = workload.Killed, a.master.Now()
	}
	a.over(t)
}

// Died tells that a container's node is dead.
func (a *AppMaster) Died(k *yarn.Container) {
	if t := a.attemptIn(k); t != nil && !t.child.silent {
		a.over(t)
	}
}

// over ends a process and records its attempt.
func (a *AppMaster) over(t *attempt) {
	c := &t.child
	c.silent, c.until = true, a.master.Now()
	r := AttemptRecord{
		Kind: t.task.kind, Task: t.task.index, Attempt: a.attemptNumber(t), Node: c.node,
		Locality: c.work.Locality, Launched: c.launched, Begun: c.begun, MapsKnown: c.mapsKnown,
		Pending: c.pending, Done: c.done, State: c.outcome,
	}
	if t.container != nil {
		r.Container = t.container.Number
	}
	a.job.Recorder.Attempt(r)
}

// progress is what the last report of an attempt said. A child reports at fixed
// intervals from its begin and at the end of its work; an attempt that has ended
// stands at 1 (TaskAttemptImpl.finalizeProgress).
func (a *AppMaster) progress(t *attempt) float32 {
	c := &t.child
	if t.state != running && t.state != unassigned {
		return 1
	}
	if c.begun == None {
		return 0
	}
	now := min(a.master.Now(), c.until)
	every := a.job.reportInterval()
	n := (now - c.begun) / every
	if n == 0 {
		return 0
	}
	return a.progressAt(t, c.begun+n*every)
}

// progressAt is how far a child has come: a map in proportion to time, a reduce to a
// third with the maps it knows and then in proportion.
func (a *AppMaster) progressAt(t *attempt, at engine.Time) float32 {
	c := &t.child
	if t.isMap() {
		return fraction(at-c.begun, c.work.Map)
	}
	if c.mapsKnown != None && at >= c.mapsKnown {
		total := c.work.Shuffle + c.work.Sort + c.work.Reduce
		return float32(1./3 + 2./3*float64(fraction(at-c.mapsKnown, total)))
	}
	poll := c.begun + (at-c.begun)/second*second
	i := sort.Search(len(a.knownAt), func(i int) bool { return a.knownAt[i].at > poll })
	if i == 0 || len(a.maptasks) == 0 {
		return 0
	}
	return float32(1. / 3 * float64(a.knownAt[i-1].known) / float64(len(a.maptasks)))
}

func fraction(part, whole engine.Time) float32 {
	if whole <= 0 {
		return 1
	}
	return float32(min(1, float64(part)/float64(whole)))
}

// reportInterval is how often a child reports its progress.
func (j *Job) reportInterval() engine.Time {
	if j.Release.Progress > 0 {
		return j.Release.Progress
	}
	return j.Settings.Timeout / 100
}
