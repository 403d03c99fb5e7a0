package sim

import (
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// jobTracker is the master: it knows what the trackers have told it at their
// heartbeats, and answers each with work, kills and permissions
// (org.apache.hadoop.mapred.JobTracker).
type jobTracker struct {
	eng     *engine.Engine
	q       *model.WhatIf
	release *model.Release
	record  model.Recorder

	sched     scheduler.Scheduler
	submits   scheduler.Submitter // or nil
	listens   scheduler.Listener  // or nil
	ticks     scheduler.Ticker    // or nil
	chooses   scheduler.Chooser   // or nil
	c         scheduler.Cluster
	progress  bool // the policy reads the progress of all tasks
	remembers bool // it is changed by heartbeats at which it launches nothing

	trackers  []taskTracker
	hosts     map[string]int32 // node names
	shared    bool
	every     bool // simulate every heartbeat
	mortal    bool // trackers may be lost, so finished maps are kept track of
	brittle   bool // attempts fail on some nodes
	programs  map[string]*model.Program
	plant     *plant // nil below fidelity device
	planned   bool   // the work of tasks decides on their times
	outOfBand outOfBand
	instant   instant
	blacklist blacklist
	memory    memory

	warnings []string
	outcomes []model.JobOutcome
	report1  func(ended, left int)
	jobs     []*job // by ID; nil once nothing refers to them
	active   []*job // submitted and not ended, by ID
	needs    [numNeeds]int
	arrivals int // jobs submitted so far
	ended    int

	submission engine.Timer
	inits      []int32 // jobs whose initialisation is recorded, in its order
	init       engine.Timer
	tick       periodic
	lags       []engine.Time // when jobs become old enough to speculate
	tickEvery  engine.Time
	ticked     engine.Time // last tick that was simulated
	skippable  bool        // ticks without a change since the one before
	dirty      bool        // something has changed since the last tick

	turn      turnOf // what is going on, in the order of this instant
	nextRank  uint32
	spread    bool // replicas go to different racks
	rackNodes [][]int32
	rackOf    []int32 // by tracker
	placement workload.Seed
	entries   [2][]entry

	offers   offers
	statuses statusQueue
	expiry   expiry
	seeker   seeker
	trial    fetcher

	tasks    pool[task]
	attempts pool[attempt]
	row      workload.Attempt

	draws draws
}

// A need is something a job waits for that a heartbeat can give it.
type need uint8

const (
	needSetup need = iota
	needCleanup
	needMapTidy // a task clean-up in a map slot
	needReduceTidy
	needMap
	needReduce
	numNeeds
)

const poll = engine.Time(time.Second) // a child asks its tracker so often

// beat is one heartbeat of a tracker and the JobTracker's answer.
func (jt *jobTracker) beat(id int32) {
	now := jt.eng.Now()
	t := &jt.trackers[id]
	jt.turn = turnOf(t.rank)
	if !t.registered {
		jt.turn = beforeBeats
	}
	t.beating = true
	jt.statuses.apply(jt)
	jt.setNow()
	if !t.registered {
		jt.register(t)
	}
	t.prev = now - t.interval
	if t.last == now || t.interval > 0 && (now-t.next)%t.interval != 0 {
		t.prev = engine.Never // out of band: what brought it forward has happened
	}
	t.last, t.given, t.givenSlots = now, [2]int{}, [2]int{}

	t.settle(jt, now)
	jt.blacklist.forgive(jt, t)
	jt.report(t)
	if t.asks() && !t.blacklisted {
		if !jt.giveSetupOrCleanup(t) {
			jt.sched.Assign(&jt.c, &t.view)
		}
	}
	jt.orderKills(t)
	jt.permitCommits(t)
	if !t.regular || (now-t.next)%t.interval != 0 {
		jt.putLast(t)
	}
	t.interval = engine.At(jt.c.Heartbeat)
	t.next = now + t.interval
	t.beating = false
	t.regular = true
	t.sweep(jt)
	jt.statuses.expect(t)

	jt.rearm(t)
	jt.offers.place(jt, t)
	jt.changed()
	jt.offer()
}

// count takes in how many attempts the tracker has.
func (jt *jobTracker) count(t *taskTracker) {
	var tasks, used [2]int
	for _, a := range t.attempts {
		if a.occupies(t, t.last) {
			tasks[a.onSlot]++
			used[a.onSlot] += int(a.width)
		}
	}
	jt.statuses.set(jt, t, tasks)
	t.view.Running = tasks
	if jt.shared {
		both := used[0] + used[1]
		used = [2]int{both, both}
	}
	t.view.Used = used
}

// report takes in the status of every attempt on the tracker.
func (jt *jobTracker) report(t *taskTracker) {
	jt.count(t)
	for _, a := range t.attempts {
		a.told = a.over(t, t.last)
		if a.watched {
			a.progress = a.progressAt(t, t.last)
		}
		a.job.updateStatus(a, a.state(t, t.last))
	}
}

// giveSetupOrCleanup is JobTracker.getSetupAndCleanupTasks: jobs in order of
// submission; whatever is found takes up the whole heartbeat.
func (jt *jobTracker) giveSetupOrCleanup(t *taskTracker) bool {
	for _, k := range [...]workload.Kind{workload.Map, workload.Reduce} {
		if t.view.Used[k] >= t.view.Slots[k] {
			continue
		}
		if jt.needs[needCleanup] > 0 {
			for _, j := range jt.active {
				if j.needs.has(needCleanup) && j.launchSetupOrCleanup(t, k, workload.Cleanup) {
					return true
				}
			}
		}
		tidy := needMapTidy + need(k)
		if jt.needs[tidy] > 0 {
			for _, j := range jt.active {
				if j.needs.has(tidy) && j.launchTaskCleanup(t, k) {
					return true
				}
			}
		}
		if jt.needs[needSetup] > 0 {
			for _, j := range jt.active {
				if j.needs.has(needSetup) && j.launchSetupOrCleanup(t, k, workload.Setup) {
					return true
				}
			}
		}
	}
	return false
}

// orderKills is JobTracker.getTasksToKill: attempts whose task has ended, whose
// job is over, or which were preempted.
func (jt *jobTracker) orderKills(t *taskTracker) {
	if !t.doomed {
		return
	}
	t.doomed = false
	for i := 0; i < len(t.attempts); i++ {
		a := t.attempts[i]
		if !a.told && a.shouldClose() {
			t.kill(jt, a)
		}
		if a.own().killOrder {
			t.doomed = true
		}
	}
}

// permitCommits answers the attempts that reported commit-pending
// (JobTracker.getTasksToSave). The child sees the permission when it next asks.
func (jt *jobTracker) permitCommits(t *taskTracker) {
	for _, a := range t.attempts {
		if a.status != commitPending || a.permitted || a.told || a.released || a.task.complete() || a.task.committer != a {
			continue
		}
		a.permitted = true
		asks := (t.last - a.pending) / poll
		if asks == 0 || (t.last-a.pending)%poll != 0 || t.interval <= poll {
			asks++ // an ask at this very instant comes before a quick heartbeat
		}
		ask := a.pending + asks*poll
		if done := ask + engine.At(jt.q.Cluster.Costs.Commit); done < a.failAt {
			a.finish, a.finishSet, a.end = done, ask+1, endsWell
			t.reportable(done)
		}
	}
}
