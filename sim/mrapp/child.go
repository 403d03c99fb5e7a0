package mrapp

import (
	"strconv"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// child is the process of an attempt (YarnChild) as far as its ApplicationMaster hears
// of it. Its work is the execution's.
type child struct {
	pending engine.Time // it asked to commit
	done    engine.Time // its last call, or it was killed
	outcome workload.State
	silent  bool        // killed, gone, or on a dead node: it does nothing any more
	until   engine.Time // it fell silent
	due     engine.Time // its next call, as far as that is known
	timer   yarn.Timer
}

// launch starts the container of an attempt. Its child asks for its task after the
// time that a process takes to start.
func (a *AppMaster) launch(t *attempt) {
	k := t.container
	var room [24]byte
	name := strconv.AppendInt(append(room[:0], t.task.kind.String()[0]), int64(t.task.index), 10)
	k.What = string(strconv.AppendInt(append(name, '_'), int64(a.attemptNumber(t)), 10))
	if !a.master.Launch(k) {
		t.child.silent = true
		return
	}
	a.work(t, k.Node)
}

// work starts the work of an attempt on a node.
func (a *AppMaster) work(t *attempt, node int32) {
	now := a.master.Now()
	t.run = execute.NewAttempt(a.tasks, t.task.kind, t.task.index)
	t.run.Number, t.run.Node, t.run.Locality = t.number, node, a.job.locality(t.task, node)
	t.run.Assigned, t.run.Inside = now, t.container == nil
	x := a.job.Executor
	x.hold(t)
	x.Assign(&t.run)
	t.run.Start, t.run.Started = now, true
	x.Start(&t.run)
	a.speculator.listen(t)
	a.watch(t)
}

// locality is the distance of a map to its split.
func (j *Job) locality(k *task, node int32) workload.Locality {
	if k.kind != workload.Map || len(j.Hosts[k.index]) == 0 {
		return workload.NoLocality
	}
	l := workload.OffRack
	for _, h := range j.Hosts[k.index] {
		switch {
		case h == node:
			return workload.NodeLocal
		case j.Topology.RackOf[h] == j.Topology.RackOf[node]:
			l = workload.RackLocal
		}
	}
	return l
}

// attemptNumber is the number in an attempt's name. Each ApplicationMaster begins at
// its own thousand.
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

// watch waits for the next call of a child: to ask for its commit, or to end.
func (a *AppMaster) watch(t *attempt) {
	c := &t.child
	next := t.run.Finish
	if c.pending == None {
		next = min(next, t.run.Pending)
	}
	if a.lost || c.outcome != workload.Running || c.silent || next == c.due {
		return
	}
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	c.due = next
	if next == engine.Never {
		return
	}
	c.timer = a.master.At(next, func() {
		c.timer, c.due = nil, engine.Never
		if !c.silent && !a.lost {
			a.call(t)
			a.settle()
		}
	})
}

// call is what a child has to say in this instant.
func (a *AppMaster) call(t *attempt) {
	switch now := a.master.Now(); {
	case t.child.pending == None && t.run.Pending == now:
		a.speculator.report(t)
		t.child.pending = now
		a.commitPending(t)
		a.mayCommit(t)
	case t.run.Finish > now:
		a.watch(t)
	case t.run.End == execute.Failure:
		a.crash(t)
	default:
		a.done(t)
	}
}

// crash is the failure that a child reports. Until its process exits, that of a reduce
// goes on asking for maps.
func (a *AppMaster) crash(t *attempt) {
	t.child.outcome, t.child.done = workload.Failed, a.master.Now()
	a.fail(t)
	a.exitSoon(t)
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
	if t.task.commit != t {
		a.step(t, execute.Poll, func() { a.mayCommit(t) })
		return
	}
	if !t.run.Permitted {
		now := a.master.Now()
		t.run.Permit(now, now+a.job.Costs.Commit)
	}
	a.watch(t)
}

// done is a child's last call.
func (a *AppMaster) done(t *attempt) {
	if t.child.pending == None {
		a.speculator.report(t)
	}
	t.child.outcome, t.child.done = workload.Succeeded, a.master.Now()
	a.job.Executor.Release(&t.run)
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
	if t.container == nil || !t.run.Started || t.child.silent {
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
	if c := &t.child; c.outcome == workload.Running {
		c.outcome, c.done = workload.Killed, a.master.Now()
		t.run.Finish, t.run.End = c.done, execute.Kill
	}
	a.over(t)
}

// Died tells that a container's node is dead.
func (a *AppMaster) Died(k *yarn.Container) {
	if t := a.attemptIn(k); t != nil && !t.child.silent {
		a.job.Executor.Lose(&t.run)
		t.run.Finish, t.run.End = min(t.run.Finish, a.master.Now()), execute.Kill
		a.over(t)
	}
}

// over ends a process and records its attempt.
func (a *AppMaster) over(t *attempt) {
	c, r, now := &t.child, &t.run, a.master.Now()
	c.silent, c.until = true, now
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.outcome == workload.Failed || c.outcome == workload.Killed {
		a.job.Executor.Release(r)
	}
	a.job.Executor.drop(t)
	record := AttemptRecord{
		Run: r, Kind: r.Kind, Task: r.Task, Node: r.Node, Locality: r.Locality, Attempt: a.attemptNumber(t), Launched: r.Start, Begun: None, MapsKnown: None,
		Pending: c.pending, Done: c.done, State: c.outcome, Lane: a.registered.Lane, Asked: t.asked,
	}
	if r.Begin <= now {
		record.Begun = r.Begin
	}
	if r.Kind == workload.Reduce && r.Known <= now {
		record.MapsKnown = r.Known
	}
	if t.container != nil {
		record.Container, record.Lane = t.container.Number, t.container.Lane
	}
	a.job.Recorder.Attempt(record)
}

// mapEvent books the end of a map for the reduces, its success or its last failure
// (TaskAttemptCompletedEventTransition; EventFetcher waits for neither any more).
func (a *AppMaster) mapEvent(t *attempt) {
	if t.task.kind != workload.Map {
		return
	}
	output := execute.Output{Task: t.task.index, Node: execute.NoOutput}
	if t.task.success == t {
		output.Node = t.run.Node
		a.successes[output.Node] = append(a.successes[output.Node], t)
		a.tasks.LastMap = max(a.tasks.LastMap, t.run.Finish)
	}
	a.publish(1, output)
}

// mapLost takes a success back (MapTaskRescheduledTransition).
func (a *AppMaster) mapLost(k *task) {
	a.ended[workload.Map]--
	a.speculator.open[workload.Map] = nil
	a.publish(-1, execute.Output{Task: k.index, Node: execute.Lost})
}

func (a *AppMaster) publish(by int32, o execute.Output) {
	now := a.master.Now()
	a.known += int(by)
	a.tasks.Publish(now, by, o)
	if all := a.known == len(a.maptasks); all != a.tasks.Events.Complete() {
		a.tasks.Events.SetComplete(now, all)
		a.job.Executor.MapsChanged(a.tasks)
	}
}

// progress is what the last report of an attempt said. A child reports at fixed
// intervals from its begin and at the end of its work; an attempt that has ended
// stands at 1 (TaskAttemptImpl.finalizeProgress). On devices progress is not known
// for the past: there it is that of this instant.
func (a *AppMaster) progress(t *attempt) float32 {
	if t.state != running && t.state != unassigned {
		return 1
	}
	now := min(a.master.Now(), t.child.until)
	if !t.run.Started || now < t.run.Begin {
		return 0
	}
	if a.job.Executor.Foresees() {
		now -= (now - t.run.Begin) % a.job.reportInterval()
	}
	return a.job.Executor.Progress(&t.run, now)
}

// reportInterval is how often a child reports its progress.
func (j *Job) reportInterval() engine.Time {
	if j.Release.Progress > 0 {
		return engine.At(j.Release.Progress)
	}
	return j.Settings.Progress
}
