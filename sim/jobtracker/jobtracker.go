// Package jobtracker is the master of MRv1: the JobTracker, its TaskTrackers and the
// tasks of the jobs.
//
//	a tracker beats (tasktracker, heartbeats)
//	  └─> JobTracker.heartbeat
//	        ├─ takeReport    what has ended      ──> jobInProgress.updateStatus (jobstatus)
//	        ├─ assignTasks   set-up, clean-up, then the policy ──> jobInProgress.LaunchMap (launch)
//	        │                                          pending tasks: mapcache, tasklists
//	        │                                          lagging ones:  speculation, taskqueue
//	        ├─ giveKills     attempts whose task has ended
//	        └─ permitCommits attempts that asked to commit
//	      <─ the tracker starts attempts in its slots ──> sim/execute
//
// The JobTracker knows of an event only from the heartbeat that reports it, as in
// Hadoop, so everything that it has counted may differ from what is on the trackers.
// Heartbeats at which nothing could happen are not simulated: reports says which
// matter, in two forms, with heartbeats and for the release ideal without.
package jobtracker

import (
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// JobTracker is the master. It knows what the trackers have reported at their
// heartbeats, and answers each with tasks, kills and permissions (JobTracker).
type JobTracker struct {
	cluster
	trackers   []taskTracker
	reports    reports
	heartbeats *heartbeats     // nil without heartbeats
	instant    *instantReports // nil with heartbeats
	status     clusterStatus
	blacklist  blacklist
	expiry     expiry
	ticks      ticks
	offers     offerTrace
	memory     memory
	changes    changes

	jobList
	beatsOver engine.Time // last instant with an event after its heartbeats
}

// jobList holds the jobs of the run.
type jobList struct {
	jobs   []*jobInProgress // by ID; nil once nothing refers to them
	active []*jobInProgress // submitted and not ended, by ID
}

// at starts an event at a position of the present instant.
func (jt *JobTracker) at(m position) {
	jt.position = m
	jt.view.Now = jt.Now().Duration()
	if jt.ticks.timer.every > 0 {
		jt.view.LastTick = jt.ticks.lastTick().Duration()
	}
}

// changed handles a change that the scheduler may act on.
func (jt *JobTracker) changed() {
	jt.ticks.change()
	jt.reports.offer()
}

// heartbeat is one heartbeat of a tracker and the JobTracker's answer.
func (jt *JobTracker) heartbeat(id int32) {
	t, now := &jt.trackers[id], jt.Now()
	jt.position = position(t.rank)
	if !t.registered {
		jt.position = beforeHeartbeats
	}
	t.beating, t.set = true, engine.Never
	jt.status.update()
	jt.at(jt.position)
	if !t.registered {
		jt.register(t)
	}
	inStep := now == t.next || t.interval == 0 || (now-t.next)%t.interval == 0
	t.prev = now - t.interval
	if t.last == now || !inStep {
		t.prev = engine.Never // out of band: the change that triggered it has happened
	}
	t.last, t.given, t.givenSlots = now, [2]int32{}, [2]int32{}

	changed := t.mayHaveChanged(now)
	t.settle(now, changed)
	jt.blacklist.discardFault(t)
	jt.takeReport(t, changed)
	if t.asks() && !t.faults.listed {
		jt.assignTasks(t)
	}
	jt.giveKills(t, changed)
	jt.permitCommits(t, changed)
	if !t.regular || !inStep {
		jt.heartbeats.putLast(t)
	}
	t.interval = jt.cluster.heartbeatInterval()
	t.next = now + t.interval
	t.beating = false
	t.regular = true
	t.sweep(len(changed) > 0, jt.forget)
	jt.status.expect(t)

	jt.reports.changed(t)
	jt.reports.list(t)
	jt.changed()
}

// register handles a tracker's first heartbeat.
func (jt *JobTracker) register(t *taskTracker) {
	t.registered = true
	if jt.nodesDie {
		jt.expiry.add(lastReport{jt.Now(), t.id})
	}
	jt.heartbeats.register(t, 1)
	t.interval = jt.cluster.heartbeatInterval()
}

// takeReport handles the status of the attempts on a tracker that may have changed,
// and the progress of the others.
func (jt *JobTracker) takeReport(t *taskTracker, attempts []*attempt) {
	jt.status.report(t, attempts)
	next := 0
	for _, a := range attempts {
		next = t.reportProgress(next, a)
		a.reported = a.over(t, t.last)
		if a.watched {
			a.progress = 0
			if a.Started {
				a.progress = jt.Exec.Progress(&a.Attempt, t.last)
			}
		}
		a.job.updateStatus(a, a.state(t, t.last))
	}
	t.reportProgress(next, nil)
}

// giveSetupOrCleanup implements JobTracker.getSetupAndCleanupTasks: it goes
// through jobs in order of submission, and launches at most one task per
// heartbeat.
func (jt *JobTracker) giveSetupOrCleanup(t *taskTracker) bool {
	if !jt.demand.anyService() {
		return false
	}
	for _, k := range [...]workload.Kind{workload.Map, workload.Reduce} {
		if t.view.Used[k] >= t.view.Slots[k] {
			continue
		}
		if jt.firstWith(needCleanup, func(j *jobInProgress) bool {
			return j.launchSetupOrCleanup(t.id, k, workload.Cleanup)
		}) || jt.firstWith(needMapTaskCleanup+need(k), func(j *jobInProgress) bool {
			return j.launchTaskCleanup(t.id, k)
		}) || jt.firstWith(needSetup, func(j *jobInProgress) bool {
			return j.launchSetupOrCleanup(t.id, k, workload.Setup)
		}) {
			return true
		}
	}
	return false
}

// firstWith goes through the jobs that have a need until one of them launches a
// task.
func (jt *JobTracker) firstWith(n need, launch func(*jobInProgress) bool) bool {
	return slices.ContainsFunc(jt.services[n], launch)
}

// giveKills implements JobTracker.getTasksToKill: it kills attempts whose task
// has ended, whose job is over, which were preempted, or which a record has as killed
// by now.
func (jt *JobTracker) giveKills(t *taskTracker, changed []*attempt) {
	if jt.endsRecorded {
		t.orderRecordedKills(changed)
	}
	if !t.killsPending {
		return
	}
	t.killsPending = false
	for i := 0; i < len(t.held); i++ {
		a := t.held[i].attempt
		if !a.reported && a.shouldClose() {
			t.kill(a)
		}
		if a.own().killOrder {
			t.killsPending = true
		}
	}
}

// permitCommits answers the attempts that reported commit-pending
// (JobTracker.getTasksToSave). The child learns of the permission when it next
// asks.
func (jt *JobTracker) permitCommits(t *taskTracker, attempts []*attempt) {
	for _, a := range attempts {
		if a.status != commitPending || a.Permitted || a.reported || a.released || !a.mayCommit() {
			continue
		}
		if ask, done := permission(t, a.Pending); a.Permit(ask, done) {
			t.reportable(done)
		}
	}
}

// permission returns when a child that asks to commit from an instant on learns that it
// may, and when it has done so.
func permission(t *taskTracker, pending engine.Time) (ask, done engine.Time) {
	asks := (t.last - pending) / execute.Poll
	if asks == 0 || (t.last-pending)%execute.Poll != 0 || t.interval <= execute.Poll {
		asks++ // a request at this very instant comes before an out-of-band heartbeat
	}
	ask = pending + asks*execute.Poll
	return ask, ask + engine.At(t.cluster.Question.Cluster.Costs.Commit)
}

// assign launches an attempt on its tracker.
func (jt *JobTracker) assign(a *attempt) {
	t := &jt.trackers[a.Node]
	t.launch(a)
	if a.cleans != nil {
		t.killsPending = true // the task may have been completed elsewhere meanwhile
	}
}

// orderKills makes a tracker ask at its next heartbeat which attempts to kill.
func (jt *JobTracker) orderKills(node int32) {
	if t := &jt.trackers[node]; !t.lost && !t.killsPending {
		t.killsPending = true
		jt.reports.changed(t)
	}
}

// readAlways makes a tracker read an attempt at each heartbeat, because its state
// depends on others from now on.
func (jt *JobTracker) readAlways(a *attempt) {
	t := &jt.trackers[a.Node]
	h := &t.held[slices.IndexFunc(t.held, func(h heldAttempt) bool { return h.attempt == a })]
	h.changes, h.certain, t.reads = 0, false, true
}

// initialised makes sure that the policy looks at a job when it is old enough for
// speculation.
func (jt *JobTracker) initialised(j *jobInProgress) {
	if s := &j.speculation; s.tracked != [2]bool{} {
		jt.ticks.need(s.from)
	}
}

// oldEnough lets tasks of a job be speculated from now on.
func (jt *JobTracker) oldEnough(id int32) {
	jt.position = beforeHeartbeats
	jt.jobs[id].settleNeeds()
	jt.reports.offer()
}

// jobEnded takes a job off the list.
func (jt *JobTracker) jobEnded(j *jobInProgress, how workload.State) {
	jt.Ended++
	jt.Jobs.Release(j.ID)
	at := slices.Index(jt.active, j)
	jt.active, jt.view.Jobs = slices.Delete(jt.active, at, at+1), slices.Delete(jt.view.Jobs, at, at+1)
	if f := &j.failures; jt.Release.AvoidsTrackers && how == workload.Succeeded && f.flaky > 0 {
		for id := range int32(len(jt.trackers)) {
			if f.isFlaky(id) {
				jt.blacklist.addFault(&jt.trackers[id])
			}
		}
	}
	for t := range j.tasks.all {
		j.killActive(t)
	}
	j.work.Close()
	if j.onTrackers == 0 {
		jt.forgetJob(j)
	}
}

// forgetJob removes a job once none of its attempts runs.
func (jt *JobTracker) forgetJob(j *jobInProgress) {
	jt.jobs[j.ID] = nil
	j.release()
}

// forget records an attempt that has left its tracker. It frees the records that
// nothing refers to any more: its own if it cleaned up after another, those of
// its task if that has ended and its output cannot be lost, all if the job has
// ended.
func (jt *JobTracker) forget(a *attempt) {
	jt.Recorder.Attempt(&a.Attempt, a.ended(), a.slot, a.runnable)
	j, t := a.job, a.task
	if t == nil || a.cleans != nil {
		jt.records.attempts.put(a.ref)
	}
	j.onTrackers--
	if t != nil {
		t.onTrackers--
	}
	switch {
	case j.State == scheduler.Done:
		if j.onTrackers == 0 {
			jt.forgetJob(j)
		}
	case t != nil && t.onTrackers == 0 && t.isMapOrReduce() && !jt.nodesDie && t.settled():
		j.tasks.finish(t)
	}
}

// submit submits the jobs that are due.
func (jt *JobTracker) submit(int32) {
	jt.at(beforeHeartbeats)
	for id, ok := jt.Jobs.NextSubmitted(); ok; id, ok = jt.Jobs.NextSubmitted() {
		j := jt.newJob(id)
		jt.jobs[id] = j
		jt.active = append(jt.active, j)
		jt.view.Jobs = append(jt.view.Jobs, &j.Job)
		if s := jt.policy.Submitted; s != nil {
			s(&jt.view, &j.Job)
		} else {
			j.Init()
		}
	}
	jt.Jobs.Set()
	jt.changed()
}

func (jt *JobTracker) newJob(id int) *jobInProgress {
	spec := &jt.Question.Jobs[id]
	conf, err := jt.checkedConf(spec)
	if err != nil {
		panic(err) // the question's configurations were checked before
	}
	j, err := newJob(jt, id, conf)
	if err != nil {
		panic(err)
	}
	j.tasks.records = &jt.records
	j.outcome = jt.Recorder.Open(id)
	return j
}

// repeatRecorded initialises and ends the jobs for which that is recorded for this
// instant.
func (jt *JobTracker) repeatRecorded(int32) {
	jt.at(beforeHeartbeats)
	for id, ok := jt.Jobs.NextInitialised(); ok; id, ok = jt.Jobs.NextInitialised() {
		if j := jt.jobs[id]; j != nil {
			j.Init()
		}
	}
	for id, ok := jt.Jobs.NextEnded(); ok; id, ok = jt.Jobs.NextEnded() {
		if j := jt.jobs[id]; j != nil {
			killJob(j, jt.Question.Jobs[id].Ends.State)
		}
	}
	jt.Jobs.Set()
	jt.changed()
}

// tick calls the scheduler's periodic work.
func (jt *JobTracker) tick(int32) {
	jt.at(jt.ticks.timer.position())
	jt.ticks.fire()
	jt.reports.offer()
}

// Close ends the run: it records the attempts that are still on the trackers.
func (jt *JobTracker) Close(end engine.Time, how execute.End) {
	for i := range jt.trackers {
		t := &jt.trackers[i]
		now := min(end, t.dies)
		t.settle(now, t.attempts())
		for _, a := range t.attempts() {
			if a.Finish > now {
				a.End, a.Finish = how, now
				a.own().status = killed
			} else if !a.reported && a.cleans == nil {
				a.status = a.state(t, now)
				if a.status == succeeded && a.task != nil && a.task.complete() {
					a.status = killed // another attempt finished first
				}
			}
			if !a.Started {
				a.Start = now
			}
			jt.forget(a)
		}
		t.held = nil
	}
}
