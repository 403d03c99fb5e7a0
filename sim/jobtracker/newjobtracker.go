package jobtracker

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/sim/run"
	"github.com/slotwave/slotwave/workload"
)

// New builds the JobTracker and the TaskTrackers of a run before its first event.
func New(r *run.Run) (*JobTracker, error) {
	q := r.Question
	policies, err := newPolicies(q, r.Release)
	if err != nil {
		return nil, err
	}
	jt := &JobTracker{
		cluster: cluster{
			Run: r, policy: policies[0], protocol: newProtocol(r.Release, &q.Cluster), position: beforeHeartbeats,
			sharedSlots: q.Cluster.SharedSlots,
		},
		trackers:  make([]taskTracker, len(q.Cluster.Nodes)),
		jobList:   jobList{jobs: make([]*jobInProgress, len(q.Jobs))},
		beatsOver: -1,
	}
	jt.changes.jt = jt
	c := &jt.cluster
	jt.status = clusterStatus{cluster: c, trackers: jt.trackers}
	c.view.Traced = r.Tracer != nil
	band, err := jt.readConf()
	if err != nil {
		return nil, err
	}
	jt.buildTrackers()
	if jt.Exec, err = execute.New(q, r.Engine, jt, c.protocol.Protocol); err != nil {
		return nil, err
	}
	if !jt.Exec.Foresees() {
		c.slotFree = c.Engine.NewTimers(engine.Completion, len(jt.trackers), jt.giveSlots)
	}
	if c.protocol.heartbeats {
		jt.heartbeats = newHeartbeats(c, jt.trackers, band)
		jt.reports, jt.blacklist.heartbeats = jt.heartbeats, jt.heartbeats
		jt.startHeartbeats()
	} else {
		if c.nodesDie {
			return nil, errors.New("a node dies: the release ideal has no heartbeats, so a lost node would not be detected")
		}
		jt.instant = newInstantReports(c, len(jt.trackers), jt.offerAll)
		jt.reports = jt.instant
		for i := range jt.trackers {
			jt.startUp(&jt.trackers[i])
		}
	}
	if err := jt.checkJobs(policies[1:]); err != nil {
		return nil, err
	}
	jt.ticks.open(c, jt.tick)
	return jt, nil
}

// readConf reads the cluster's Hadoop properties.
func (jt *JobTracker) readConf() (outOfBand, error) {
	var band outOfBand
	conf := jt.Question.Cluster.Conf
	beat, err := jt.Release.HeartbeatOf(&jt.Question.Cluster, len(jt.trackers))
	if err != nil {
		return band, err
	}
	const expires = "mapred.tasktracker.expiry.interval"
	expiry, err := conf.Whole(expires)
	if err != nil {
		return band, err
	}
	dies := func(n model.Node) bool { return n.Dies > 0 }
	if least := beat.Milliseconds(); int64(expiry) <= least && slices.ContainsFunc(jt.Question.Cluster.Nodes, dies) {
		return band, fmt.Errorf("%s: got %d: want more than %d, the heartbeat interval in ms, since every tracker would be lost between two heartbeats", expires, expiry, least)
	}
	jt.expiry.interval = engine.At(time.Duration(expiry) * time.Millisecond)
	jt.expiry.every = engine.At(time.Duration(expiry/3) * time.Millisecond)
	jt.blacklist.trackers = jt.trackers
	if err := jt.blacklist.read(conf); err != nil {
		return band, err
	}
	if jt.memory, err = memoryUnder(jt.Question.Scheduler, jt.Release, conf); err != nil {
		return band, err
	}
	return band, band.read(conf, jt.Release)
}

// buildTrackers makes all trackers, with no slot taken.
func (jt *JobTracker) buildTrackers() {
	nodes := jt.Question.Cluster.Nodes
	var timers engine.Timers
	if jt.protocol.heartbeats {
		timers = jt.Engine.NewTimers(engine.Heartbeat, len(nodes), jt.heartbeat)
	} else {
		timers = jt.Engine.NewTimers(engine.Completion, len(nodes), jt.report)
	}
	for i := range nodes {
		n, t := &nodes[i], &jt.trackers[i]
		jt.nodesDie = jt.nodesDie || n.Dies > 0
		jt.attemptsFail = jt.attemptsFail || n.FailAfter > 0
		t.cluster, t.id, t.rank = &jt.cluster, int32(i), uint32(i)
		t.dies, t.news, t.set = engine.Never, engine.Never, engine.Never
		if n.Dies > 0 {
			t.dies, t.everyBeat = engine.At(n.Dies), true
		}
		t.view.Index = i
		t.view.Slots = [2]int{n.MapSlots, n.ReduceSlots}
		all := n.MapSlots + n.ReduceSlots
		if jt.sharedSlots {
			t.view.Slots = [2]int{all, all}
		}
		for k := range t.slots {
			if words := (t.view.Slots[k] + 63) / 64; words > 1 {
				more := make([]uint64, words-1)
				t.slots[k].more = &more
			}
		}
		t.timer = timers.Of(t.id)
		if jt.protocol.heartbeats {
			t.timer = t.timer.Ranked(t.rank)
		}
	}
}

// startUp registers a tracker that is known from the beginning.
func (jt *JobTracker) startUp(t *taskTracker) {
	t.registered, t.regular = true, true
	jt.cluster.register(t, 1)
	jt.reports.list(t)
}

// startHeartbeats sets the first heartbeats. If the simulation does not begin
// with the start of the JobTracker, every tracker is known at time 0 and has
// just sent a heartbeat, each at its own phase.
func (jt *JobTracker) startHeartbeats() {
	phases := jt.phases()
	if jt.Question.Cluster.FromStart {
		for i := range jt.trackers {
			jt.trackers[i].next = phases[i]
		}
		jt.heartbeats.reset(jt.interval(0))
		for i := range jt.trackers {
			t := &jt.trackers[i]
			if t.next < t.dies {
				jt.Engine.NewTimer(engine.Arrival, t.id, jt.heartbeat).Reset(t.next)
			}
		}
	} else {
		interval := jt.interval(len(jt.trackers))
		for i := range jt.trackers {
			jt.trackers[i].next = phases[i]
		}
		jt.heartbeats.reset(interval)
		for i := range jt.trackers {
			t := &jt.trackers[i]
			t.interval = interval
			t.last = t.next - interval
			jt.startUp(t)
			if jt.nodesDie {
				jt.expiry.add(lastReport{0, t.id})
			}
			jt.reports.changed(t)
		}
	}
	if jt.nodesDie {
		jt.expiry.open(&jt.cluster, jt.expireTrackers)
	}
}

// phases returns the first heartbeat of each tracker.
func (jt *JobTracker) phases() []engine.Time {
	interval := jt.interval(len(jt.trackers))
	seed := jt.Question.Draws(model.DrawHeartbeatPhase)
	phases := make([]engine.Time, len(jt.trackers))
	for i := range phases {
		if given := jt.Question.Cluster.Phases; given != nil {
			phases[i] = engine.At(given[i])
		} else {
			phases[i] = engine.Time(seed.Stream(i, 0).Uniform() * float64(interval))
		}
	}
	return phases
}

// checkJobs checks that all jobs can be run, also by later schedulers, and sets
// their submissions.
func (jt *JobTracker) checkJobs(later []scheduler.Policy) (err error) {
	for i := range jt.Question.Jobs {
		spec := &jt.Question.Jobs[i]
		if _, err := jt.checkedConf(spec); err != nil {
			return fmt.Errorf("job %s: %w", spec.ID, err)
		}
		jt.endsRecorded = jt.endsRecorded || len(spec.AttemptEnds()) > 0
		if _, err := jt.Exec.NewJob(i, spec); err != nil {
			return fmt.Errorf("job %s: %w", spec.ID, err)
		}
	}
	if err := jt.changes.open(later); err != nil {
		return err
	}
	return jt.Jobs.Open(jt.Run, jt.submit, jt.repeatRecorded)
}

// checkedConf reads what a job's configuration says about its tasks, as the
// cluster can run them.
func (jt *JobTracker) checkedConf(spec *workload.Job) (jobConf, error) {
	conf, err := jt.conf.of(spec.Conf, jt.Release.Name)
	if err != nil {
		return conf, err
	}
	if jt.Release.NoSpeculation && conf.speculates != [2]bool{} {
		conf.speculates = [2]bool{}
		jt.Warn("speculation is left out: the rule of Hadoop %s is not simulated", jt.Release.Name)
	}
	conf.slotsPerTask, err = jt.memory.slotsPerTask(&conf)
	return conf, err
}
