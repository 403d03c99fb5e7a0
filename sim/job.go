package sim

import (
	"math"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// job is a JobInProgress: the JobTracker's record of one job. The counts and
// flags that policies read are in the embedded view.
type job struct {
	scheduler.Job
	jt   *jobTracker
	spec *workload.Job
	conf jobConf

	refs  [2][]uint32 // by kind and task: virgin, done, or a task record
	hosts hostLists   // where the splits lie

	recipes *recipes // nil where the times of tasks are given

	setup, cleanup                 [2]*task // by slot type
	launchedSetup, launchedCleanup bool
	failing                        bool // given up: only its clean-up is left
	nodes, racks                   taskLists
	unplaced                       taskLists
	strangers                      int     // hosts of splits that run no tracker
	failedMaps                     []int32 // 1.x: most failures first
	reduces                        taskLists
	failedReduces                  []int32 // 1.x, like failedMaps
	runningMaps                    runningSets
	runningReduces                 runningSet
	tidies                         [2][]*attempt // attempts to clean up after
	blames                         map[int32]int // failures by tracker
	flaky                          int           // trackers blamed often enough to be avoided
	clusterSize                    int
	mapProgress, reduceProgress    float32
	events                         events
	outputs                        outputs     // at fidelity device
	shuffling                      []*attempt  // reduces that do not know all maps yet
	lastMap                        engine.Time // when the last map known of ended
	slowstart                      int         // maps that must have ended before reduces may start
	initAt                         engine.Time
	reducesAt                      engine.Time // slowstart was met
	needs                          needSet
	onTrackers                     int // attempts that trackers hold
	outcome                        *model.JobOutcome
	counted, unspent               [2]int  // what it adds to the cluster's counts
	tracked                        [2]bool // progress is kept: somebody may act on it
	calm                           bool    // nothing in it fails
	patient                        bool    // it wants no heartbeats while no task lags
	setbacks                       int32   // changes whenever a running task loses progress or an attempt
	young                          bool    // and has tasks that will be speculated as soon as it is old enough
	matures                        engine.Timer
}

// References of tasks without a record.
const (
	virgin uint32 = iota // never launched
	done                 // succeeded at the first attempt
	firstRef
)

type needSet uint8

func (s needSet) has(n need) bool { return s&(1<<n) != 0 }

func (j *job) record(k workload.Kind, index int32) *task {
	if ref := j.refs[k][index]; ref >= firstRef {
		return j.jt.tasks.at(ref - firstRef)
	}
	return nil
}

// Init makes the tasks (JobInProgress.initTasks).
func (j *job) Init() {
	if j.Initialised || j.State == scheduler.Done || j.jt.eng.Now() < engine.At(j.spec.Init) {
		return
	}
	j.Initialised = true
	jt := j.jt
	j.initAt = jt.eng.Now()
	j.outcome.Launch = j.initAt.Duration()
	maps, reduces := j.Tasks[workload.Map], j.Tasks[workload.Reduce]
	j.refs[workload.Map] = make([]uint32, maps)
	j.refs[workload.Reduce] = make([]uint32, reduces)
	j.placeSplits()
	j.reduces = oneList(reduces)
	for k := range j.setup {
		// The job's own tasks are numbered after its maps or its reduces.
		n := int32(j.Tasks[k])
		j.cleanup[k] = jt.newTask(j, n, workload.Cleanup, workload.Kind(k))
		j.setup[k] = jt.newTask(j, n+1, workload.Setup, workload.Kind(k))
	}
	j.slowstart = int(math.Ceil(float64(float32(j.conf.slowstart) * float32(maps))))
	if jt.release.Ideal && maps > 0 {
		j.slowstart = max(1, int(math.Ceil(j.conf.slowstart*float64(maps)-1e-9)))
	}
	j.updateSlowstart()
	j.settleNeeds()
	if jt.tickEvery > 0 && (j.tracked[0] || j.tracked[1]) {
		jt.lags = append(jt.lags, j.initAt+speculativeLag)
		jt.setTick()
	}
	if jt.release.Ideal {
		j.start()
	}
}

// Reject fails the job before it is initialised.
func (j *job) Reject(why string) {
	j.jt.warn("job %s was rejected: %s", j.Name, why)
	j.finish(workload.Failed)
}

// start makes the job run: its set-up has been reported.
func (j *job) start() {
	j.State = scheduler.Running
	j.outcome.Running = j.jt.eng.Now().Duration()
	if j.Tasks[workload.Map] == 0 {
		j.events.setComplete(j.jt.eng.Now(), true)
	}
	if j.jt.release.Ideal && j.over() {
		j.finish(workload.Succeeded)
	}
	j.settleNeeds()
}

func (j *job) over() bool {
	for k := range j.Tasks {
		if j.Finished[k]+j.FailedTasks[k] != j.Tasks[k] {
			return false
		}
	}
	return true
}

func (j *job) updateSlowstart() {
	ended := j.Finished[workload.Map]
	if j.jt.release.FailedAreDone {
		ended += j.FailedTasks[workload.Map]
	}
	ready := ended >= j.slowstart
	if ready && !j.ReducesReady {
		j.reducesAt = j.jt.eng.Now()
	}
	j.ReducesReady = ready
}

// settleNeeds works out what the job waits for, after any change.
func (j *job) settleNeeds() {
	if l := j.jt.listens; l != nil {
		l.JobUpdated(&j.Job)
	}
	var now needSet
	if j.Initialised && j.State != scheduler.Done {
		setUp := j.setupFinished()
		if !j.jt.release.Ideal {
			if j.State == scheduler.Prep && !j.launchedSetup && !j.failing {
				now |= 1 << needSetup
			}
			if !j.launchedCleanup && setUp && (j.failing || j.over()) {
				now |= 1 << needCleanup
			}
		}
		if j.State == scheduler.Running && !j.failing {
			for k := range j.Tasks {
				if len(j.tidies[k]) > 0 {
					now |= 1 << (needMapTidy + need(k))
				}
				if kind := workload.Kind(k); (kind == workload.Map || j.ReducesReady) && j.wants(kind) {
					now |= 1 << (needMap + need(k))
				}
			}
		}
	}
	if changed := now ^ j.needs; changed != 0 {
		for n := range numNeeds {
			if changed.has(n) {
				if now.has(n) {
					j.jt.needs[n]++
				} else {
					j.jt.needs[n]--
				}
			}
		}
		j.needs = now
		j.jt.c.Waiting = [2]int{j.jt.needs[needMap], j.jt.needs[needReduce]}
		j.Wants = [2]bool{now.has(needMap), now.has(needReduce)}
	}
	j.countOpen()
}

// wants reports whether some task could be launched, or come to be speculated.
func (j *job) wants(k workload.Kind) bool {
	return j.waiting(k) > 0 || j.Speculates[k] && j.ActiveTasks[k] > 0 && (!j.patient || j.lags(k))
}

// spent reports whether no task of the type will be launched any more.
func (j *job) spent(k workload.Kind) bool {
	return j.calm && j.waiting(k) == 0 && (!j.Speculates[k] || j.Remaining(k) == 0)
}

// countOpen keeps the cluster's counts of what is still to be done.
func (j *job) countOpen() {
	var n, unspent [2]int
	for k := range n {
		kind := workload.Kind(k)
		if spent := j.spent(kind); spent != j.Spent[k] {
			j.Spent[k] = spent
		}
		if j.State != scheduler.Running {
			continue
		}
		if kind == workload.Map || j.ReducesReady {
			n[k] = j.Remaining(kind)
		}
		if !j.Spent[k] {
			unspent[k] = 1
		}
	}
	for k := range n {
		j.jt.c.Remaining[k] += n[k] - j.counted[k]
		j.jt.c.Unspent[k] += unspent[k] - j.unspent[k]
	}
	j.counted, j.unspent = n, unspent
}

func (j *job) setupFinished() bool {
	if j.jt.release.Ideal {
		return true
	}
	for _, t := range j.setup {
		if t.complete() || t.failed {
			return true
		}
	}
	return false
}

// progressOf is the job's progress as policies and speculation see it.
func (j *job) progressOf(k workload.Kind) float64 {
	if k == workload.Map {
		return float64(j.mapProgress)
	}
	return float64(j.reduceProgress)
}

// refuses reports whether too many attempts of the job failed on the tracker
// (JobInProgress.shouldRunOnTaskTracker).
func (j *job) refuses(tracker int32) bool {
	return j.blames != nil && float64(j.flaky) < float64(j.clusterSize)*0.25 &&
		j.blames[tracker] >= j.conf.maxTrackerFailures
}

// blame notes a failure on a tracker (JobInProgress.addTrackerTaskFailure).
func (j *job) blame(tracker int32) {
	if float64(j.flaky) >= float64(j.clusterSize)*0.25 {
		return
	}
	if j.blames == nil {
		j.blames = make(map[int32]int)
	}
	j.blames[tracker]++
	if j.blames[tracker] == j.conf.maxTrackerFailures {
		j.flaky++
	}
}

// updateStatus takes in one attempt's status (JobInProgress.updateTaskStatus).
func (j *job) updateStatus(a *attempt, state reported) {
	own, t := a.own(), a.task
	if own.status == state && !j.tracked[t.onSlot] {
		return
	}
	oldProgress := t.progress
	wasRunning, wasComplete := t.running(), t.complete()
	if (wasComplete || own.killOrder) && state == succeeded {
		state = killed
	}
	if (j.State == scheduler.Done || j.failing) && a.cleans == nil {
		switch state {
		case failedUnclean:
			state = failed
		case killedUnclean:
			state = killed
		}
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
				j.jt.trackers[a.place].doom(j.jt)
			}
			return // as Hadoop does, without counting the progress
		case failedUnclean, killedUnclean:
			j.incomplete(t, own)
			j.tidies[t.onSlot] = append(j.tidies[t.onSlot], own)
		case failed, killed:
			j.failed(t, own, wasRunning, wasComplete, slices.Contains(t.active, own))
		}
		j.settleNeeds()
	}
	j.addProgress(t, oldProgress)
}

// addProgress moves the job's progress, which Hadoop keeps in single precision
// and by increments.
func (j *job) addProgress(t *task, before float64) {
	if t.kind == workload.Setup || t.kind == workload.Cleanup || !j.tracked[t.onSlot] {
		return
	}
	delta := (t.progress - before) / float64(j.Tasks[t.onSlot])
	if t.onSlot == workload.Map {
		j.mapProgress = float32(float64(j.mapProgress) + delta)
	} else {
		j.reduceProgress = float32(float64(j.reduceProgress) + delta)
	}
	if delta < 0 {
		j.setbacks++
	}
	if k := t.onSlot; j.patient && !j.needs.has(needMap+need(k)) && j.Speculates[k] && j.waiting(k) == 0 && j.lags(k) {
		j.settleNeeds()
	}
}

// update notes a status and reports whether it is news
// (TaskInProgress.updateStatus).
func (t *task) update(own *attempt, state reported) bool {
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

// incomplete takes an attempt off the task (TaskInProgress.incompleteSubTask).
func (j *job) incomplete(t *task, own *attempt) {
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
	if t.kind == workload.Map && t.winner == own && t.completes > 0 && j.State != scheduler.Done {
		t.completes--
		t.winner = nil
	}
	if !t.complete() {
		j.setbacks++
	}
	j.recount(t)
	switch own.status {
	case failed:
		t.failures++
		if !slices.Contains(t.failedOn, own.tracker) {
			t.failedOn = append(t.failedOn, own.tracker)
		}
	case killed:
		t.kills++
	}
	if int(t.failures) >= j.conf.maxAttempts[t.onSlot] {
		j.giveUp(t)
	}
}

// recount keeps the job's counts of active attempts in step with the task.
func (j *job) recount(t *task) {
	if t.kind != workload.Map && t.kind != workload.Reduce {
		return
	}
	n := int32(0)
	if !t.complete() {
		n = int32(len(t.active))
	}
	j.Active[t.kind] += int(n - t.counted)
	j.ActiveTasks[t.kind] += min(int(n), 1) - min(int(t.counted), 1)
	t.counted = n
}

// giveUp ends a task without success (TaskInProgress.kill).
func (j *job) giveUp(t *task) {
	if t.complete() || t.failed {
		return
	}
	t.failed = true
	t.recomputeProgress()
	for _, a := range t.active {
		j.jt.trackers[a.place].doom(j.jt)
	}
}

// completed marks an attempt's task as done (JobInProgress.completedTask).
func (j *job) completed(t *task, own *attempt) {
	before := len(t.active)
	t.deactivate(own)
	t.winner = own
	t.completes++
	t.recomputeProgress()
	j.recount(t)
	if len(t.active) > 0 {
		for _, a := range t.active {
			j.jt.trackers[a.place].doom(j.jt)
		}
	}
	switch t.kind {
	case workload.Setup:
		j.giveUp(j.setup[1-t.onSlot])
		if j.State == scheduler.Prep {
			j.start()
		}
		return
	case workload.Cleanup:
		j.giveUp(j.cleanup[1-t.onSlot])
		if j.failing {
			j.finish(workload.Failed)
		} else {
			j.finish(workload.Succeeded)
		}
		return
	}
	j.RunningTasks[t.kind]--
	if before > 1 {
		j.Speculative[t.kind] -= before - len(t.active)
	}
	j.Finished[t.kind]++
	j.retire(t)
	if j.Finished[t.kind]+j.FailedTasks[t.kind] == j.Tasks[t.kind] {
		if t.kind == workload.Map {
			j.mapProgress = 1
		} else {
			j.reduceProgress = 1
		}
	}
	if t.kind == workload.Map {
		j.lastMap = max(j.lastMap, own.finish)
		j.publish(t, 1, own.tracker)
		j.mapsChanged()
	}
	if j.jt.release.Ideal && j.over() {
		j.finish(workload.Succeeded)
	}
}

// mapsChanged follows a change in how many maps have ended.
func (j *job) mapsChanged() {
	j.updateSlowstart()
	all := j.Finished[workload.Map]+j.FailedTasks[workload.Map] == j.Tasks[workload.Map]
	if all != j.events.complete() {
		j.events.setComplete(j.jt.eng.Now(), all)
		j.resolveShuffles()
	}
}

// failed ends an attempt without success (JobInProgress.failedTask).
func (j *job) failed(t *task, own *attempt, wasRunning, wasComplete, wasActive bool) {
	r := j.jt.release
	wasFailed := t.failed
	j.incomplete(t, own)
	ordinary := t.kind == workload.Map || t.kind == workload.Reduce
	stopped := wasRunning && !t.running()
	if ordinary && (r.PerAttempt && wasActive && j.State != scheduler.Done || !r.PerAttempt && stopped) {
		j.RunningTasks[t.kind]--
	}
	if stopped {
		switch {
		case t.kind == workload.Cleanup:
			j.launchedCleanup = false
		case t.kind == workload.Setup:
			j.launchedSetup = false
		case !t.complete():
			j.retire(t)
			j.putBack(t)
		}
	}
	if t.kind == workload.Map {
		switch {
		case wasComplete && !t.complete():
			j.publish(t, -1, lost)
		case t.failed && !wasFailed:
			j.publish(t, 1, noOutput)
		default:
			j.publish(t, 0, lost)
		}
	}
	if wasComplete && !t.complete() && t.kind == workload.Map {
		j.putBack(t)
		j.Finished[workload.Map]--
		j.mapsChanged()
	}
	if own.status == failed {
		j.blame(own.tracker)
	}
	if !wasFailed && t.failed {
		j.taskFailed(t)
	}
}

// taskFailed decides whether a task given up ends the job.
func (j *job) taskFailed(t *task) {
	fatal := true
	if t.kind == workload.Map || t.kind == workload.Reduce {
		j.FailedTasks[t.kind]++
		fatal = j.FailedTasks[t.kind]*100 > j.conf.failuresPercent[t.kind]*j.Tasks[t.kind]
		if t.kind == workload.Map {
			j.mapsChanged()
		}
	}
	if !fatal {
		if j.jt.release.Ideal && j.over() {
			j.finish(workload.Succeeded)
		}
		return
	}
	if t.kind == workload.Cleanup {
		j.giveUp(j.cleanup[1-t.onSlot])
		j.finish(workload.Failed)
		return
	}
	if t.kind == workload.Setup {
		j.giveUp(j.setup[1-t.onSlot])
	}
	j.fail()
}

// fail gives the job up: every task is killed and only the clean-up is left
// (JobInProgress.terminate).
func (j *job) fail() {
	if j.failing || j.State == scheduler.Done {
		return
	}
	j.failing = true
	for k := range j.tidies {
		for _, own := range j.tidies[k] {
			// Hadoop hands the same status object in twice and takes it for a
			// duplicate, so these attempts are not counted as failures.
			own.status = endedFor(own.status)
		}
		j.tidies[k] = nil
	}
	for _, t := range j.setup {
		j.giveUp(t)
	}
	for k := range j.refs {
		for i := range j.refs[k] {
			if t := j.record(workload.Kind(k), int32(i)); t != nil {
				j.giveUp(t)
			}
		}
	}
	if j.jt.release.Ideal {
		j.finish(workload.Failed)
	}
}

// endedFor is the end state that an unclean one leads to.
func endedFor(s reported) reported {
	switch s {
	case failedUnclean:
		return failed
	case killedUnclean:
		return killed
	}
	return s
}

// finish ends the job (JobInProgress.jobComplete, terminateJob).
func (j *job) finish(how workload.State) {
	if j.State == scheduler.Done {
		return
	}
	j.State = scheduler.Done
	if j.young {
		j.matures.Stop()
	}
	j.outcome.State = how
	j.outcome.Finish = j.jt.eng.Now().Duration()
	j.settleNeeds()
	j.jt.jobEnded(j, how)
}
