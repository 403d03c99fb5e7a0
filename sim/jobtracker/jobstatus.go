package jobtracker

import (
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// updateStatus handles one attempt's status (JobInProgress.updateTaskStatus).
func (j *jobInProgress) updateStatus(a *attempt, state taskState) {
	if a.isSole() {
		if a.status != state && state == succeeded {
			j.soleAttemptSucceeded(a.Kind, execute.Output{Task: a.Task, Node: a.Node}, a.Finish)
		}
		a.status = state
		return
	}
	own, t := a.own(), a.task
	if own.status == state && !j.speculation.tracked[a.onSlot] {
		return
	}
	before := t.progress
	wasRunning, wasComplete := t.running(), t.complete()
	if (wasComplete || own.killOrder) && state == succeeded {
		state = killed
	}
	if (j.State == scheduler.Done || j.failing) && a.cleans == nil {
		state = endedFor(state)
	}
	wasPending := state == commitPending && t.onlyCommitPending()
	if t.update(own, state) {
		switch state {
		case succeeded:
			j.completed(t, own)
		case commitPending:
			if !wasComplete && !wasPending {
				t.committer = own
			} else {
				j.jt.orderKills(a.heldBy)
			}
			return // as in Hadoop, without the progress
		case failedUnclean, killedUnclean:
			j.incomplete(t, own)
			j.cleanups[t.onSlot] = append(j.cleanups[t.onSlot], own)
		case failed, killed:
			j.failed(t, own, taskWas{wasRunning, wasComplete, slices.Contains(t.active, own)})
		}
		j.settleNeeds()
	}
	j.addProgress(t, before)
}

// soleAttemptSucceeded counts a task without a record that has been done.
func (j *jobInProgress) soleAttemptSucceeded(k workload.Kind, o execute.Output, finish engine.Time) {
	j.Active[k]--
	j.ActiveTasks[k]--
	j.taskSucceeded(k, o, finish)
	j.settleNeeds()
}

// taskWas is the state of a task before the status of an attempt arrived.
type taskWas struct {
	running, complete bool
	active            bool // the attempt was running
}

// addProgress adds to the job's progress. From now on some task may lag, or none.
func (j *jobInProgress) addProgress(t *taskInProgress, before float64) {
	k := t.onSlot
	if !t.isMapOrReduce() || !j.speculation.tracked[k] {
		return
	}
	j.speculation.advance(k, t.progress-before)
}

// incomplete removes an attempt from its task.
func (j *jobInProgress) incomplete(t *taskInProgress, own *attempt) {
	t.incomplete(own, j.State == scheduler.Done)
	if !t.complete() {
		j.speculation.losses++
	}
	j.recount(t)
	if int(t.failures) >= j.conf.maxAttempts[t.onSlot] {
		j.giveUp(t)
	}
}

// recount updates the job's counts of active attempts from the task.
func (j *jobInProgress) recount(t *taskInProgress) {
	if !t.isMapOrReduce() {
		return
	}
	n := int32(0)
	if !t.complete() {
		n = int32(len(t.active))
	}
	j.Active[t.kind] += int(n - t.counted)
	if by := min(int(n), 1) - min(int(t.counted), 1); by != 0 {
		j.ActiveTasks[t.kind] += by
		if !j.reliable {
			j.tasks.setActive(t, by > 0)
		}
	}
	t.counted = n
}

// giveUp ends a task without success (TaskInProgress.kill).
func (j *jobInProgress) giveUp(t *taskInProgress) {
	if t.complete() || t.failed {
		return
	}
	t.failed = true
	t.recomputeProgress()
	j.killActive(t)
}

// killActive kills the active attempts of a task.
func (j *jobInProgress) killActive(t *taskInProgress) {
	for _, a := range t.active {
		j.jt.orderKills(a.heldBy)
	}
}

// completed marks an attempt's task as done (JobInProgress.completedTask).
func (j *jobInProgress) completed(t *taskInProgress, own *attempt) {
	before := len(t.active)
	t.succeed(own)
	j.recount(t)
	j.killActive(t)
	switch t.kind {
	case workload.Setup:
		j.giveUp(j.tasks.setup[1-t.onSlot])
		if j.State == scheduler.Prep {
			j.start()
		}
		return
	case workload.Cleanup:
		j.giveUp(j.tasks.cleanup[1-t.onSlot])
		if j.failing {
			j.finish(j.failsAs)
		} else {
			j.finish(workload.Succeeded)
		}
		return
	}
	if before > 1 {
		j.Speculative[t.kind] -= before - len(t.active)
	}
	t.launches++
	j.taskSucceeded(own.Kind, execute.Output{Task: own.Task, Node: own.Node}, own.Finish)
	j.finishIfOver()
}

// taskSucceeded counts a map or a reduce that an attempt has done.
func (j *jobInProgress) taskSucceeded(k workload.Kind, o execute.Output, finish engine.Time) {
	j.RunningTasks[k]--
	j.Finished[k]++
	if j.Finished[k]+j.FailedTasks[k] == j.Tasks[k] {
		j.speculation.progress[k] = 1
	}
	if k == workload.Map {
		j.work.LastMap = max(j.work.LastMap, finish)
		j.publish(o.Task, 1, o.Node)
		j.mapsChanged()
	}
}

// publish adds a completion event of a map, which changes the number of known
// maps.
func (j *jobInProgress) publish(task, maps, node int32) {
	j.work.Publish(j.cluster.Now(), maps, execute.Output{Task: task, Node: node})
}

// mapsChanged handles a change in the number of finished maps.
func (j *jobInProgress) mapsChanged() {
	j.updateSlowstart()
	all := j.Finished[workload.Map]+j.FailedTasks[workload.Map] == j.Tasks[workload.Map]
	if all != j.work.Events.Complete() {
		j.work.Events.SetComplete(j.cluster.Now(), all)
		j.cluster.Exec.MapsChanged(j.work)
	}
}

// failed ends an attempt without success (JobInProgress.failedTask).
func (j *jobInProgress) failed(t *taskInProgress, own *attempt, was taskWas) {
	r := j.cluster.Release
	wasFailed := t.failed
	j.incomplete(t, own)
	stopped := was.running && !t.running()
	if t.isMapOrReduce() && (r.PerAttempt && was.active && j.State != scheduler.Done || !r.PerAttempt && stopped) {
		j.RunningTasks[t.kind]--
	}
	if stopped {
		switch {
		case t.kind == workload.Cleanup:
			j.tasks.launchedCleanup = false
		case t.kind == workload.Setup:
			j.tasks.launchedSetup = false
		case !t.complete():
			t.launches++
			j.pending.putBack(t, r.FailedMapsList)
		}
	}
	if t.kind == workload.Map {
		outputLost := was.complete && !t.complete()
		switch {
		case outputLost:
			j.publish(t.index, -1, execute.Lost)
		case t.failed && !wasFailed:
			j.publish(t.index, 1, execute.NoOutput)
		default:
			j.publish(t.index, 0, execute.Lost)
		}
		if outputLost {
			j.pending.putBack(t, r.FailedMapsList)
			j.Finished[workload.Map]--
			j.mapsChanged()
		}
	}
	if own.status == failed {
		j.failures.add(own.Node)
	}
	if !wasFailed && t.failed {
		j.taskFailed(t)
	}
}

// taskFailed decides whether a failed task ends the job.
func (j *jobInProgress) taskFailed(t *taskInProgress) {
	fatal := true
	if t.isMapOrReduce() {
		j.FailedTasks[t.kind]++
		fatal = j.FailedTasks[t.kind]*100 > j.conf.failuresPercent[t.kind]*j.Tasks[t.kind]
		if t.kind == workload.Map {
			j.mapsChanged()
		}
	}
	if !fatal {
		j.finishIfOver()
		return
	}
	if t.kind == workload.Cleanup {
		j.giveUp(j.tasks.cleanup[1-t.onSlot])
		j.finish(workload.Failed)
		return
	}
	if t.kind == workload.Setup {
		j.giveUp(j.tasks.setup[1-t.onSlot])
	}
	j.fail(workload.Failed)
}

// fail ends the job without success: it kills every task and leaves only the
// clean-up (JobInProgress.terminate).
func (j *jobInProgress) fail(how workload.State) {
	if j.failing || j.State == scheduler.Done {
		return
	}
	j.failing, j.failsAs = true, how
	for k := range j.cleanups {
		for _, own := range j.cleanups[k] {
			// Hadoop passes the same status object twice and treats it as a
			// duplicate, so these attempts do not count as failures.
			own.status = endedFor(own.status)
		}
		j.cleanups[k] = nil
	}
	for _, t := range j.tasks.setup {
		j.giveUp(t)
	}
	for t := range j.tasks.all {
		j.giveUp(t)
	}
	if !j.tasks.service {
		j.finish(how)
	}
}
