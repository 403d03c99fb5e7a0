package jobtracker

import (
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// LaunchMap implements JobInProgress.obtainNewMapTask.
func (j *jobInProgress) LaunchMap(v *scheduler.TaskTracker, reach scheduler.Reach) (workload.Locality, bool) {
	tracker := int32(v.Index)
	if !j.mayLaunch(workload.Map, v) {
		return 0, false
	}
	index, ok := j.findMap(tracker, reach)
	if !ok {
		return 0, false
	}
	local := workload.NodeLocal
	switch s := &j.pending.search; {
	case s.onNode:
	case s.inRack && j.reliable: // those on the node have all been launched
		local = workload.RackLocal
	default:
		local = j.pending.maps.hosts.Locality(index, tracker)
	}
	j.launch(workload.Map, index, tracker, local)
	return local, true
}

// HasLocal implements scheduler.Launcher. Delay scheduling asks each job in vain at
// most heartbeats.
func (j *jobInProgress) HasLocal(v *scheduler.TaskTracker) bool {
	return !j.reliable || !j.pending.maps.nodes.empty(int32(v.Index))
}

// LaunchReduce implements JobInProgress.obtainNewReduceTask.
func (j *jobInProgress) LaunchReduce(v *scheduler.TaskTracker) bool {
	if !j.mayLaunch(workload.Reduce, v) {
		return false
	}
	index, ok := j.findReduce(int32(v.Index))
	if ok {
		j.launch(workload.Reduce, index, int32(v.Index), workload.NoLocality)
	}
	return ok
}

// mayLaunch reports whether a tracker may get a task of the job. With separate
// slots the scheduler decides whether one is free, as in Hadoop. A shared slot is
// assigned only once.
func (j *jobInProgress) mayLaunch(k workload.Kind, v *scheduler.TaskTracker) bool {
	c := j.cluster
	if j.State != scheduler.Running || !j.needs.has(needMap+need(k)) ||
		c.sharedSlots && v.Free(k) < j.SlotsPerTask[k] {
		return false
	}
	j.failures.clusterSize = c.view.Trackers
	if j.failures.refuses(int32(v.Index)) {
		c.traceRefusal(model.AvoidedTracker)
		return false
	}
	return true
}

// idle reports whether a search for a task would find none and change nothing.
func idle(j *jobInProgress, k workload.Kind) bool {
	return j.reliable && unlaunched(&j.Job, k) == 0 && !j.anyLags(k)
}

// findMap implements JobInProgress.findNewMapTask.
func (j *jobInProgress) findMap(tracker int32, reach scheduler.Reach) (int32, bool) {
	if idle(j, workload.Map) {
		return 0, false
	}
	p := &j.pending
	s := p.searchFor(workload.Map, tracker, j.cluster.view.Hosts, j.failing)
	if index, ok := p.retry(s); ok {
		return index, true
	}
	if !j.cluster.protocol.locality {
		return p.maps.unplaced.search(0, s)
	}
	index, ok := p.maps.find(tracker, reach, s)
	j.UnplacedMaps = p.maps.left
	if !ok && !near(reach) && j.Speculates[workload.Map] {
		return j.speculation.findMap(tracker)
	}
	return index, ok
}

// findReduce implements JobInProgress.findNewReduceTask.
func (j *jobInProgress) findReduce(tracker int32) (int32, bool) {
	p := &j.pending
	s := p.searchFor(workload.Reduce, tracker, j.cluster.view.Hosts, j.failing)
	if index, ok := p.retry(s); ok {
		return index, true
	}
	if idle(j, workload.Reduce) {
		return 0, false
	}
	index, ok := p.reduces.search(0, s)
	if !ok && j.Speculates[workload.Reduce] {
		return j.speculation.findReduce(tracker)
	}
	return index, ok
}

// launch starts the next attempt of a task on a tracker
// (TaskInProgress.getTaskToRun, JobInProgress.addRunningTaskToTIP).
func (j *jobInProgress) launch(k workload.Kind, index, tracker int32, local workload.Locality) {
	var a *attempt
	var lastEnd engine.Time
	t, sole := j.tasks.find(k, index)
	if j.sole[k] && t == nil && sole == nil {
		a = j.addSoleAttempt(k, index, tracker)
	} else {
		if sole != nil {
			j.speculation.record(sole)
		}
		t = j.tasks.launch(j, k, index)
		if !t.running() {
			t.launches++
			j.speculation.add(t)
		}
		a = j.addAttempt(t, tracker)
		a.watched = j.speculation.tracked[k]
		lastEnd = t.lastEnd(j.cluster.Now())
		if len(t.active) > 1 {
			j.Speculative[k]++
			j.outcome.SpeculativeRuns++
		}
	}
	a.Locality = local
	if w := j.SlotsPerTask[k]; w > 1 {
		a.width = int32(w)
	}
	a.runnable = max(engine.At(j.outcome.Running), lastEnd)
	if k == workload.Reduce {
		a.runnable = max(a.runnable, j.reducesAt)
	}
	j.RunningTasks[k]++
	j.traceLaunch(a)
	j.jt.assign(a)
	j.settleNeeds()
	countWaves(j, k)
}

// countWaves divides the tasks of a kind by the most of them that had slots at once.
// Up to 1.0 a slot is offered while its task asks to commit; the next one then waits.
func countWaves(j *jobInProgress, k workload.Kind) {
	n := j.RunningTasks[k] - j.Speculative[k] - j.waiting[k]
	if n <= j.mostRunning[k] {
		return
	}
	j.mostRunning[k] = n
	waves := (j.Tasks[k] + n - 1) / n
	if k == workload.Map {
		j.outcome.MapWaves = waves
	} else {
		j.outcome.ReduceWaves = waves
	}
}

// addSoleAttempt makes the attempt of a task that needs no record.
func (j *jobInProgress) addSoleAttempt(k workload.Kind, index, tracker int32) *attempt {
	if launched := j.tasks.launched[k]; launched != nil {
		launched.set(index)
	}
	a := j.tasks.newAttempt(j, k, index, tracker)
	a.onSlot = k
	j.onTrackers++
	j.Active[k]++
	j.ActiveTasks[k]++
	return a
}

// addAttempt makes an attempt and adds it to its task.
func (j *jobInProgress) addAttempt(t *taskInProgress, tracker int32) *attempt {
	a := j.tasks.newAttempt(j, t.kind, t.index, tracker)
	a.task, a.onSlot, a.heldBy, a.Number, a.runnable = t, t.onSlot, tracker, t.next, a.Assigned
	t.next++
	t.onTrackers++
	j.onTrackers++
	t.attempts = append(t.attempts, a)
	t.active = append(t.active, a)
	j.recount(t)
	return a
}

// launchSetupOrCleanup launches the job's set-up or clean-up task of a slot
// type on a tracker (JobInProgress.obtainJobSetupTask, obtainJobCleanupTask).
func (j *jobInProgress) launchSetupOrCleanup(tracker int32, k, kind workload.Kind) bool {
	view := &j.cluster.view
	j.failures.clusterSize = view.Trackers
	if j.failures.refuses(tracker) {
		return false
	}
	t, launched := j.tasks.setup[k], &j.tasks.launchedSetup
	if kind == workload.Cleanup {
		t, launched = j.tasks.cleanup[k], &j.tasks.launchedCleanup
	}
	if !t.runnable() || t.running() || t.refuses(tracker, view.Hosts) {
		return false
	}
	*launched = true
	a := j.addAttempt(t, tracker)
	j.settleNeeds()
	j.jt.assign(a)
	return true
}

// launchTaskCleanup launches the clean-up of an attempt on a tracker
// (JobInProgress.obtainTaskCleanupTask).
func (j *jobInProgress) launchTaskCleanup(tracker int32, k workload.Kind) bool {
	if j.failures.refuses(tracker) {
		return false
	}
	own := j.cleanups[k][0]
	j.cleanups[k] = j.cleanups[k][1:]
	t := own.task
	a := j.tasks.newAttempt(j, [...]workload.Kind{workload.TaskCleanup, workload.ReduceTaskCleanup}[k], t.index, tracker)
	a.task, a.onSlot, a.cleans, a.Number, a.runnable = t, k, own, own.Number, own.Finish
	own.heldBy = tracker
	t.onTrackers++
	j.onTrackers++
	t.active = append(t.active, own)
	j.recount(t)
	j.settleNeeds()
	j.jt.assign(a)
	return true
}

// Speculatable counts the running tasks that lag (DefaultTaskSelector,
// neededSpeculativeMaps and -Reduces).
func (j *jobInProgress) Speculatable(k workload.Kind) int {
	s := &j.speculation
	switch {
	case s.recorded[k].any():
		return s.countAll(k)
	case !s.isOldEnough() || s.average(k) < speculativeGap || j.ActiveTasks[k] == 0:
		return 0
	case j.sole[k] && !j.Speculates[k]:
		return s.sole[k].count(s.average(k))
	case j.reliable:
		return s.running[k].count(s.pace(k))
	}
	return s.countAll(k)
}

// Attempts lists the attempts that a scheduler may kill
// (FairScheduler.getRunningTasks, TaskInProgress.killTask).
func (j *jobInProgress) Attempts(k workload.Kind) []scheduler.Attempt {
	var list []scheduler.Attempt
	for _, i := range slices.Sorted(slices.Values(j.tasks.active[k])) {
		for _, a := range j.tasks.at(k, i).active {
			if a.status == unreported && a.firstReport > j.cluster.Now() {
				continue
			}
			list = append(list, scheduler.Attempt{Start: a.Start.Duration(), Kill: func() {
				a.killOrder = true
				j.jt.orderKills(a.heldBy)
			}})
		}
	}
	return list
}
