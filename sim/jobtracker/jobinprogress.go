package jobtracker

import (
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// jobInProgress is the JobTracker's record of one job (JobInProgress). The
// embedded view holds the counts and flags that schedulers read.
type jobInProgress struct {
	scheduler.Job
	cluster *cluster
	jt      *JobTracker
	spec    *workload.Job
	conf    jobConf
	work    *execute.Job
	outcome *model.JobOutcome

	tasks       taskTable
	pending     pendingTasks
	speculation speculation
	failures    trackerFailures
	cleanups    [2][]*attempt // attempts that need a clean-up

	ending
	shortcuts
	reduceStart
	standing
}

// ending says how a job ends that was given up.
type ending struct {
	failing bool // given up: only its clean-up is left
	failsAs workload.State
}

// shortcuts are what a job can leave out, because nothing in it can go wrong.
type shortcuts struct {
	reliable   bool    // no attempt can fail, and attempts are killed only because another was faster
	skipsLooks bool    // it needs no heartbeats while no task lags
	sole       [2]bool // a task has a sole attempt, unless it gets a speculative one: its first succeeds
}

// reduceStart says when the reduces of a job may start.
type reduceStart struct {
	slowstart int // maps that must end before
	reducesAt engine.Time
}

// standing is what the cluster knows of a job.
type standing struct {
	needs       needSet
	counted     openCounts
	onTrackers  int    // attempts that trackers hold
	waiting     [2]int // attempts of maps and reduces that wait on a tracker for a slot
	mostRunning [2]int // most tasks that had slots at once, by type
	ended       bool   // under an earlier scheduler
}

// openCounts are what a job adds to the counts of the whole cluster.
type openCounts struct{ remaining, unspent [2]int }

var _ scheduler.Launcher = (*jobInProgress)(nil)

// newJob adds a job at its submission.
func newJob(jt *JobTracker, id int, conf jobConf) (*jobInProgress, error) {
	c := &jt.cluster
	spec := &c.Question.Jobs[id]
	work, err := c.Exec.NewJob(id, spec)
	if err != nil {
		return nil, err
	}
	j := &jobInProgress{cluster: c, jt: jt, spec: spec, conf: conf, work: work}
	j.tasks.service = c.protocol.serviceTasks && !spec.NoSetupCleanup
	j.Job = scheduler.Job{
		ID: id, Name: spec.ID, User: spec.User, Pool: spec.Pool, Queue: spec.Queue, Priority: spec.Priority,
		Submit: spec.Submit, Deadline: spec.Deadline,
		Tasks:        [2]int{spec.Maps.Count, spec.Reduces.Count},
		Speculates:   conf.speculates,
		SlotsPerTask: conf.slotsPerTask,
		Launcher:     j,
	}
	// In a reliable job a running task never becomes pending again, so lists and
	// queues need not be pruned at every heartbeat to stay equal to Hadoop's.
	j.reliable = j.tasks.service && !c.nodesDie && !c.attemptsFail && !c.policy.Preempts &&
		len(spec.AttemptEnds()) == 0
	for k, ends := range [...]map[int][]workload.AttemptEnd{spec.Maps.Ends, spec.Reduces.Ends} {
		if len(ends) > 0 && !conf.speculates[k] && c.Question.Fidelity == model.Replay {
			j.speculation.recorded[k] = findRecorded(workload.Kind(k), ends)
			j.Speculates[k] = j.speculation.recorded[k].any()
		}
	}
	j.skipsLooks = j.reliable && !c.policy.Remembers
	for k := range j.speculation.tracked {
		j.speculation.tracked[k] = c.policy.ReadsProgress || conf.speculates[k]
		j.sole[k] = j.reliable && spec.Ends.After == 0
	}
	j.failures.most = conf.maxTrackerFailures
	return j, nil
}

// Init creates the tasks (JobInProgress.initTasks).
func (j *jobInProgress) Init() {
	c := j.cluster
	if j.Initialised || j.State == scheduler.Done || c.Now() < engine.At(j.spec.Init) {
		return
	}
	j.Initialised = true
	j.outcome.Launch = c.Now().Duration()
	j.tasks.open(j, j.Tasks)
	j.placeSplits()
	j.pending.tasks, j.pending.reduces = &j.tasks, oneList(j.Tasks[workload.Reduce])
	j.speculation.open(j)
	j.slowstart = c.protocol.slowstart(j.conf.slowstart, j.Tasks[workload.Map])
	j.updateSlowstart()
	j.settleNeeds()
	j.jt.initialised(j)
	if !j.tasks.service {
		j.start()
	}
}

// placeSplits lists the maps by the hosts of their splits
// (JobInProgress.createCache).
func (j *jobInProgress) placeSplits() {
	c, m := j.cluster, &j.pending.maps
	m.racks, m.rackOf = len(c.Question.Cluster.Racks), c.Topology.RackOf
	if c.protocol.locality {
		m.hosts = c.Splits(j.ID)
	}
	m.open(j.Tasks[workload.Map], &j.tasks, &c.lists)
	j.UnplacedMaps = m.left
	m.wait.hosts = c.view.Hosts
}

// WaitFactor returns how long the job waits for hosts with its input.
func (j *jobInProgress) WaitFactor() float32 { return j.pending.maps.waitFactor(j.conf.waitFactor) }

// Reject fails the job.
func (j *jobInProgress) Reject(why string) {
	j.cluster.Warn("job %s was rejected: %s", j.Name, why)
	killJob(j, workload.Failed)
}

// Profile returns how long the job's tasks are expected to take.
func (j *jobInProgress) Profile() analytic.AriaProfile { return j.cluster.Exec.Profile(j.work) }

// start makes the job running, after its set-up has been reported.
func (j *jobInProgress) start() {
	c := j.cluster
	j.State = scheduler.Running
	j.outcome.Running = c.Now().Duration()
	if j.Tasks[workload.Map] == 0 {
		j.work.Events.SetComplete(c.Now(), true)
	}
	j.finishIfOver()
	j.settleNeeds()
}

// isOver reports whether no task of a job is left to run.
func isOver(j *jobInProgress) bool {
	for k := range j.Tasks {
		if j.Finished[k]+j.FailedTasks[k] != j.Tasks[k] {
			return false
		}
	}
	return true
}

// finishIfOver ends a job that has no clean-up task.
func (j *jobInProgress) finishIfOver() {
	if !j.tasks.service && isOver(j) {
		j.finish(workload.Succeeded)
	}
}

func (j *jobInProgress) updateSlowstart() {
	ended := j.Finished[workload.Map]
	if j.cluster.Release.FailedAreDone {
		ended += j.FailedTasks[workload.Map]
	}
	ready := ended >= j.slowstart
	if ready && !j.ReducesReady {
		j.reducesAt = j.cluster.Now()
	}
	j.ReducesReady = ready
}

// settleNeeds recomputes what the job waits for, after any change.
func (j *jobInProgress) settleNeeds() {
	c := j.cluster
	if now := needsOf(j); now != j.needs {
		c.demand.change(j.needs, now)
		c.services.change(j, now)
		j.needs = now
		c.view.Waiting = c.demand.waiting()
		j.Wants = [2]bool{now.has(needMap), now.has(needReduce)}
	}
	j.countOpen()
	if l := c.policy.Updated; l != nil && !j.standing.ended {
		l(&j.Job)
	}
}

// needsOf returns what a job needs now.
func needsOf(j *jobInProgress) (now needSet) {
	if !j.Initialised || j.State == scheduler.Done {
		return 0
	}
	if j.tasks.service {
		if j.State == scheduler.Prep && !j.tasks.launchedSetup && !j.failing {
			now |= 1 << needSetup
		}
		if !j.tasks.launchedCleanup && j.tasks.setUp() && (j.failing || isOver(j)) {
			now |= 1 << needCleanup
		}
	}
	if j.State != scheduler.Running || j.failing {
		return now
	}
	for k := range j.Tasks {
		if len(j.cleanups[k]) > 0 {
			now |= 1 << (needMapTaskCleanup + need(k))
		}
		if kind := workload.Kind(k); (kind == workload.Map || j.ReducesReady) && j.wants(kind) {
			now |= 1 << (needMap + need(k))
		}
	}
	return now
}

// wants reports whether some task could be launched, or could become
// speculated.
func (j *jobInProgress) wants(k workload.Kind) bool {
	return unlaunched(&j.Job, k) > 0 || j.Speculates[k] && j.ActiveTasks[k] > 0 && (!j.skipsLooks || j.anyLags(k))
}

// anyLags reports whether a tracker could get a second attempt of some task. A
// job that is not old enough asks again later.
func (j *jobInProgress) anyLags(k workload.Kind) bool {
	s := &j.speculation
	if !s.anyLags(k) {
		return false
	}
	if s.isOldEnough() {
		return true
	}
	if !s.timerSet {
		s.setTimer(int32(j.ID), j.jt.oldEnough)
	}
	return false
}

// countOpen updates the cluster's counts of unfinished work.
func (j *jobInProgress) countOpen() {
	var open openCounts
	for k := range j.Tasks {
		kind := workload.Kind(k)
		j.Spent[k] = j.reliable && unlaunched(&j.Job, kind) == 0 && (!j.Speculates[k] || j.Remaining(kind) == 0)
		if j.State != scheduler.Running {
			continue
		}
		if kind == workload.Map || j.ReducesReady {
			open.remaining[k] = j.Remaining(kind)
		}
		if !j.Spent[k] {
			open.unspent[k] = 1
		}
	}
	if open == j.counted {
		return
	}
	view := &j.cluster.view
	for k := range j.Tasks {
		view.Remaining[k] += open.remaining[k] - j.counted.remaining[k]
		view.Unspent[k] += open.unspent[k] - j.counted.unspent[k]
	}
	j.counted = open
}

// killJob ends a job by an order from outside (JobTracker.killJob).
func killJob(j *jobInProgress, how workload.State) {
	switch {
	case j.State == scheduler.Done || j.failing:
	case !j.Initialised:
		j.finish(how)
	default:
		j.fail(how)
	}
	j.settleNeeds()
}

// finish ends the job (JobInProgress.jobComplete, terminateJob).
func (j *jobInProgress) finish(how workload.State) {
	if j.State == scheduler.Done {
		return
	}
	j.State = scheduler.Done
	j.speculation.close()
	j.outcome.State = how
	j.outcome.Finish = j.cluster.Now().Duration()
	j.settleNeeds()
	j.jt.jobEnded(j, how)
}

// release removes a job that has ended once none of its attempts runs.
func (j *jobInProgress) release() {
	j.tasks.close()
	*j = jobInProgress{Job: j.Job, cluster: j.cluster}
	j.Launcher = j
}
