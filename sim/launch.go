package sim

import (
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// seeker is who is looking for a task: it judges those a walk meets.
type seeker struct {
	job        *job
	kind       workload.Kind
	tracker    int32
	dropFailed bool // forget tasks that failed on this tracker
}

// judge is the test inside JobInProgress.findTaskFromList.
func (s *seeker) judge(index int32) verdict {
	switch s.job.refs[s.kind][index] {
	case virgin:
		if s.job.failing {
			return drop
		}
		return take
	case done:
		return drop
	}
	t := s.job.record(s.kind, index)
	if !t.runnable() || t.running() {
		return drop
	}
	if !slices.Contains(t.failedOn, s.tracker) || len(t.failedOn) >= s.job.jt.c.Hosts {
		return take
	}
	if s.dropFailed {
		return drop
	}
	return pass
}

// LaunchMap is JobInProgress.findNewMapTask and what its callers do with it.
func (j *job) LaunchMap(v *scheduler.TaskTracker, reach scheduler.Reach) (workload.Locality, bool) {
	jt := j.jt
	t := &jt.trackers[v.Index]
	if j.State != scheduler.Running || !j.needs.has(needMap) || !t.admits(jt, workload.Map, j.SlotsPerTask[workload.Map]) {
		return 0, false
	}
	j.clusterSize = jt.c.Trackers
	if j.refuses(t.id) {
		return 0, false
	}
	index, ok := j.findMap(t, reach)
	if !ok {
		return 0, false
	}
	local := j.locality(index, t)
	j.launch(workload.Map, index, t, local)
	return local, true
}

func (j *job) findMap(t *taskTracker, reach scheduler.Reach) (int32, bool) {
	if j.idle(workload.Map) {
		return 0, false
	}
	s := &j.jt.seeker
	*s = seeker{j, workload.Map, t.id, false}
	if len(j.failedMaps) > 0 {
		rest, found := walkSlice(j.failedMaps, s)
		j.failedMaps = rest
		if found >= 0 {
			return found, true
		}
	}
	if j.jt.release.Ideal {
		return j.unplaced.walk(0, s)
	}
	if reach != scheduler.BeyondRack {
		s.dropFailed = true
		if index, ok := j.nodes.walk(t.id, s); ok {
			return index, true
		}
		s.dropFailed = false
		if reach == scheduler.OnNode {
			return 0, false
		}
		if index, ok := j.racks.walk(t.rack, s); ok {
			return index, true
		}
		if reach == scheduler.InRack {
			return 0, false
		}
	}
	if index, ok := j.racks.walkOthers(int32(len(j.jt.q.Cluster.Racks)), t.rack, s); ok {
		return index, true
	}
	index, ok := j.unplaced.walk(0, s)
	j.UnplacedMaps = j.unplaced.size(0)
	if ok {
		return index, true
	}
	if j.Speculates[workload.Map] {
		return j.runningMaps.speculate(j, t)
	}
	return 0, false
}

// idle reports whether looking for a task would find none and change nothing.
func (j *job) idle(k workload.Kind) bool { return j.calm && j.waiting(k) == 0 && !j.lags(k) }

// LaunchReduce is JobInProgress.findNewReduceTask and what its callers do.
func (j *job) LaunchReduce(v *scheduler.TaskTracker) bool {
	jt := j.jt
	t := &jt.trackers[v.Index]
	if j.State != scheduler.Running || !j.needs.has(needReduce) || !t.admits(jt, workload.Reduce, j.SlotsPerTask[workload.Reduce]) {
		return false
	}
	j.clusterSize = jt.c.Trackers
	if j.refuses(t.id) {
		return false
	}
	s := &jt.seeker
	*s = seeker{j, workload.Reduce, t.id, false}
	index := int32(-1)
	if len(j.failedReduces) > 0 {
		j.failedReduces, index = walkSlice(j.failedReduces, s)
	}
	if index < 0 {
		if j.idle(workload.Reduce) {
			return false
		}
		var ok bool
		if index, ok = j.reduces.walk(0, s); !ok {
			if !j.Speculates[workload.Reduce] {
				return false
			}
			if index, ok = j.runningReduces.speculate(j, t); !ok {
				return false
			}
		}
	}
	j.launch(workload.Reduce, index, t, workload.NoLocality)
	return true
}

// launch starts the next attempt of a task on a tracker
// (TaskInProgress.getTaskToRun, JobInProgress.addRunningTaskToTIP).
func (j *job) launch(k workload.Kind, index int32, t *taskTracker, local workload.Locality) {
	task := j.record(k, index)
	if task == nil {
		task = j.jt.newTask(j, index, k, k)
		j.refs[k][index] = task.ref + firstRef
	}
	if !task.running() {
		task.round++
		j.noteRunning(task)
	}
	a := j.execute(task, t)
	a.local = local
	a.runnable = j.runnableAt(task)
	j.RunningTasks[k]++
	if len(task.active) > 1 {
		j.Speculative[k]++
		j.outcome.SpeculativeRuns++
	}
	j.settleNeeds()
	t.launch(j.jt, a)
}

// execute makes an attempt and enters it in the task.
func (j *job) execute(task *task, t *taskTracker) *attempt {
	a := j.jt.newAttempt()
	a.job, a.task, a.tracker, a.place = j, task, t.id, t.id
	a.kind, a.onSlot, a.width = task.kind, task.onSlot, 1
	a.number = task.next
	a.local = workload.NoLocality
	if task.kind == workload.Map || task.kind == workload.Reduce {
		a.width = int32(j.SlotsPerTask[task.kind])
	}
	a.assigned = j.jt.eng.Now()
	a.runnable = a.assigned
	a.watched = j.tracked[task.onSlot] && task.kind <= workload.Reduce
	task.next++
	task.onTrackers++
	j.onTrackers++
	task.attempts = append(task.attempts, a)
	task.active = append(task.active, a)
	j.recount(task)
	return a
}

// launchSetupOrCleanup gives the tracker the job's set-up or clean-up task of
// a slot type (JobInProgress.obtainJobSetupTask, obtainJobCleanupTask).
func (j *job) launchSetupOrCleanup(t *taskTracker, k, kind workload.Kind) bool {
	j.clusterSize = j.jt.c.Trackers
	if j.refuses(t.id) {
		return false
	}
	task := j.setup[k]
	if kind == workload.Cleanup {
		task = j.cleanup[k]
	}
	if !task.runnable() || task.running() ||
		slices.Contains(task.failedOn, t.id) && len(task.failedOn) < j.jt.c.Hosts {
		return false
	}
	if kind == workload.Setup {
		j.launchedSetup = true
	} else {
		j.launchedCleanup = true
	}
	a := j.execute(task, t)
	j.settleNeeds()
	t.launch(j.jt, a)
	return true
}

// launchTaskCleanup gives the tracker the clean-up after an attempt
// (JobInProgress.obtainTaskCleanupTask).
func (j *job) launchTaskCleanup(t *taskTracker, k workload.Kind) bool {
	if j.refuses(t.id) {
		return false
	}
	own := j.tidies[k][0]
	j.tidies[k] = j.tidies[k][1:]
	a := j.jt.newAttempt()
	a.job, a.task, a.tracker, a.cleans = j, own.task, t.id, own
	own.place = t.id
	a.kind, a.onSlot, a.width = workload.TaskCleanup, k, 1
	a.number = own.number
	a.local = workload.NoLocality
	a.assigned = j.jt.eng.Now()
	a.runnable = own.finish
	own.task.onTrackers++
	j.onTrackers++
	own.task.active = append(own.task.active, own)
	j.recount(own.task)
	j.settleNeeds()
	t.launch(j.jt, a)
	t.doomed = true // the task may have been completed elsewhere meanwhile
	return true
}

// noteRunning enters a task among those that may be speculated, or be counted
// for it (JobInProgress.scheduleMap, scheduleReduce).
func (j *job) noteRunning(t *task) {
	if !j.tracked[t.kind] {
		return
	}
	if t.kind == workload.Map {
		j.runningMaps.add(j, t)
	} else {
		j.runningReduces.add(j, t)
	}
}

// retire takes a task from those that may be speculated. The sets do it
// themselves when they meet a task whose round is over.
func (j *job) retire(t *task) { t.round++ }

// putBack makes a task available again (JobInProgress.failMap, failReduce).
func (j *job) putBack(t *task) {
	if t.failed {
		return
	}
	if j.jt.release.FailedMapsList {
		list := &j.failedMaps
		if t.kind == workload.Reduce {
			list = &j.failedReduces
		}
		at, _ := slices.BinarySearchFunc(*list, t, func(index int32, t *task) int {
			if d := t.failures - j.record(t.kind, index).failures; d != 0 {
				return int(d)
			}
			return int(index - t.index)
		})
		*list = slices.Insert(*list, at, t.index)
		return
	}
	if t.kind == workload.Reduce {
		j.reduces.putFront(0, t.index)
		return
	}
	hosts := j.hosts.of(j, t.index)
	if len(hosts) == 0 {
		j.unplaced.putFront(0, t.index)
		return
	}
	for _, h := range hosts {
		j.nodes.putFront(h.node, t.index)
		j.racks.putFront(h.rack, t.index)
	}
}

// runnableAt is since when an attempt could have been launched.
func (j *job) runnableAt(t *task) engine.Time {
	at := engine.At(j.outcome.Running)
	if t.kind == workload.Reduce {
		at = max(at, j.reducesAt)
	}
	for _, a := range t.attempts {
		if a.finish < engine.Never && a.finish <= j.jt.eng.Now() {
			at = max(at, a.finish)
		}
	}
	return at
}
