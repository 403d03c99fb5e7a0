// Package sim is the simulated cluster: a JobTracker, its TaskTrackers and the
// attempts that run on them, driven by heartbeats.
package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Simulator answers a question by running it. It is a model.Predictor.
type Simulator struct {
	Recorder model.Recorder       // is given every attempt; may be nil
	Progress func(jobs, left int) // called as jobs end; may be nil
	Limit    time.Duration        // of simulated time; 0: a thousand days
}

var _ model.Predictor = Simulator{}

// Stalled is the error of a run that cannot end: work is left, and nothing will
// happen any more that could make it go on.
type Stalled struct {
	At   time.Duration
	Jobs []string // that have not ended
}

func (s *Stalled) Error() string {
	return fmt.Sprintf("the run stalled at %v with %d jobs unfinished (%s ...): no slot of the kind they need will ever be free",
		s.At, len(s.Jobs), s.Jobs[0])
}

// LimitReached is the error of a run that passed Simulator.Limit.
type LimitReached struct {
	Limit time.Duration
	Last  time.Duration // when the last job is submitted
}

func lastSubmit(jobs []workload.Job) (last time.Duration) {
	for i := range jobs {
		last = max(last, jobs[i].Submit)
	}
	return last
}

func (l *LimitReached) Error() string {
	text := fmt.Sprintf("the run passed %v of simulated time", l.Limit)
	if l.Last > l.Limit {
		text += fmt.Sprintf(": jobs are submitted up to %v after the first: want those of a time (first, last, jobs), or shorter gaps (scale_time, fold)", l.Last)
	}
	return text
}

// Predict simulates the question.
func (s Simulator) Predict(q model.WhatIf) (model.Prediction, error) {
	jt, err := newJobTracker(&q)
	if err != nil {
		return model.Prediction{}, err
	}
	jt.record, jt.report1 = s.Recorder, s.Progress
	limit := engine.At(s.Limit)
	if limit == 0 {
		limit = engine.At(1000 * 24 * time.Hour)
	}
	until := engine.Never
	if q.Until > 0 {
		until = engine.At(q.Until)
	}
	for jt.ended < len(jt.jobs) {
		next := jt.eng.Next()
		switch {
		case until < engine.Never && next > until:
			jt.cut(until)
			return jt.prediction(), nil
		case next == engine.Never:
			return model.Prediction{}, jt.stalled()
		case next > limit:
			return model.Prediction{}, &LimitReached{limit.Duration(), lastSubmit(q.Jobs)}
		}
		for jt.plant != nil && next >= jt.plant.usage.next {
			jt.eng.Wait(jt.plant.usage.next)
			jt.plant.look()
		}
		jt.eng.Step()
	}
	jt.close(jt.eng.Now(), endsKilled)
	return jt.prediction(), nil
}

// cut ends a run before its jobs have ended.
func (jt *jobTracker) cut(at engine.Time) {
	open := 0
	for i := range jt.outcomes {
		if jt.jobs[i] == nil && i >= jt.arrivals {
			jt.outcomes[i] = unborn(&jt.q.Jobs[i])
		}
		if jt.outcomes[i].Finish < 0 {
			jt.outcomes[i].State = workload.Running
			open++
		}
	}
	jt.warn("the run was cut at %v with %d of %d jobs unfinished", at.Duration(), open, len(jt.outcomes))
	jt.close(at, endsOpen)
}

// warn adds to what the reader of the prediction should know.
func (jt *jobTracker) warn(format string, args ...any) {
	const most = 20
	if w := fmt.Sprintf(format, args...); len(jt.warnings) < most && !slices.Contains(jt.warnings, w) {
		jt.warnings = append(jt.warnings, w)
	}
}

func (jt *jobTracker) stalled() error {
	e := &Stalled{At: jt.eng.Now().Duration()}
	for i, j := range jt.jobs {
		if i >= jt.arrivals || j != nil && j.State != scheduler.Done {
			e.Jobs = append(e.Jobs, jt.q.Jobs[i].ID)
		}
	}
	return e
}

// newJobTracker builds the cluster at rest.
func newJobTracker(q *model.WhatIf) (*jobTracker, error) {
	release, err := model.FindRelease(q.Cluster.Hadoop)
	if err != nil {
		return nil, err
	}
	sched, err := scheduler.New(q.Scheduler, release)
	if err != nil {
		return nil, err
	}
	seed := workload.Seed(q.Seed)
	jt := &jobTracker{
		eng: engine.New(), q: q, release: release, sched: sched,
		shared: q.Cluster.SharedSlots, every: q.Cluster.EveryHeartbeat,
		hosts: make(map[string]int32, len(q.Cluster.Nodes)),
		draws: newDraws(seed), placement: seed.Named("split placement"),
		turn: beforeBeats, planned: q.Fidelity >= model.Phase,
	}
	if jt.planned {
		jt.programs = make(map[string]*model.Program, len(q.Programs))
		for i := range q.Programs {
			jt.programs[q.Programs[i].Name] = &q.Programs[i]
		}
	}
	jt.submits, _ = sched.(scheduler.Submitter)
	jt.listens, _ = sched.(scheduler.Listener)
	jt.chooses, _ = sched.(scheduler.Chooser)
	if p, ok := sched.(scheduler.ProgressReader); ok {
		jt.progress = p.ReadsProgress()
	}
	if p, ok := sched.(scheduler.Rememberer); ok {
		jt.remembers = p.Remembers()
	}
	jt.instant.on = release.Ideal && q.Cluster.Heartbeat == 0
	if jt.ticks, _ = sched.(scheduler.Ticker); jt.ticks != nil && !jt.instant.on {
		every, skippable := jt.ticks.Interval()
		jt.tickEvery, jt.skippable = engine.At(every), skippable && !jt.every
	}
	if err := jt.readConf(); err != nil {
		return nil, err
	}
	jt.buildTrackers()
	if q.Fidelity == model.Device {
		if err := jt.buildPlant(); err != nil {
			return nil, err
		}
	}
	if jt.instant.on && jt.mortal {
		return nil, errors.New("nodes that die: without heartbeats (hadoop = ideal) nothing tells that one is lost")
	}
	if err := jt.buildJobs(); err != nil {
		return nil, err
	}
	return jt, nil
}

// readConf checks the cluster's Hadoop properties.
func (jt *jobTracker) readConf() error {
	conf := jt.q.Cluster.Conf
	if _, err := jt.release.HeartbeatInterval(1, conf); err != nil {
		return err
	}
	expiry, err := conf.Int("mapred.tasktracker.expiry.interval", 600_000)
	if err != nil {
		return err
	}
	jt.expiry.interval = engine.At(time.Duration(expiry) * time.Millisecond)
	jt.expiry.every = engine.At(time.Duration(expiry/3) * time.Millisecond)
	if err := jt.blacklist.read(conf); err != nil {
		return err
	}
	if err := jt.memory.read(conf, jt); err != nil {
		return err
	}
	return jt.outOfBand.read(conf, jt.release)
}

// interval is what trackers are told while n of them are known.
func (jt *jobTracker) interval(n int) engine.Time {
	if h := jt.q.Cluster.Heartbeat; h > 0 {
		return engine.At(h)
	}
	h, _ := jt.release.HeartbeatInterval(n, jt.q.Cluster.Conf)
	return engine.At(h)
}

func (jt *jobTracker) buildTrackers() {
	q := jt.q
	nodes := q.Cluster.Nodes
	jt.trackers = make([]taskTracker, len(nodes))
	jt.rackOf = make([]int32, len(nodes))
	jt.rackNodes = make([][]int32, max(1, len(q.Cluster.Racks)))
	words, slots := 0, 0
	for i := range nodes {
		slots += nodes[i].MapSlots + nodes[i].ReduceSlots
		words += (nodes[i].MapSlots+63)/64 + (nodes[i].ReduceSlots+63)/64 + 1
	}
	bitmap := make([]uint64, words)
	chains := make([]chain, slots)
	for i := range chains {
		chains[i].job = -1
	}
	for i := range nodes {
		n, t := &nodes[i], &jt.trackers[i]
		t.id, t.rack, t.rank = int32(i), int32(n.Rack), uint32(i)
		jt.hosts[n.Name] = t.id
		jt.rackOf[i] = t.rack
		jt.rackNodes[n.Rack] = append(jt.rackNodes[n.Rack], t.id)
		t.dies, t.news = engine.Never, engine.Never
		if n.Dies > 0 {
			t.dies = engine.At(n.Dies)
			t.steady = true
			jt.mortal = true
		}
		jt.brittle = jt.brittle || n.FailAfter > 0
		t.view.Index = i
		t.view.Slots = [2]int{n.MapSlots, n.ReduceSlots}
		if jt.shared {
			all := n.MapSlots + n.ReduceSlots
			t.view.Slots = [2]int{all, all}
		}
		for k := range t.slots {
			if jt.shared && k == 1 {
				break
			}
			words := (t.view.Slots[k] + 63) / 64
			t.slots[k], bitmap = slotMap(bitmap[:words:words]), bitmap[words:]
		}
		all := nodes[i].MapSlots + nodes[i].ReduceSlots
		t.chains, chains = chains[:all:all], chains[all:]
		if jt.instant.on {
			t.timer = jt.eng.NewTimer(engine.Completion, t.id, jt.tell)
		} else {
			t.timer = jt.eng.NewTimer(engine.Heartbeat, t.id, jt.beat).Ranked(t.rank)
		}
	}
	jt.nextRank = uint32(len(nodes))
	racks := 0
	for _, members := range jt.rackNodes {
		if len(members) > 0 {
			racks++
		}
	}
	jt.spread = racks > 1
	jt.startTrackers()
}

// startTrackers sets the first heartbeats. A cluster that is not watched from
// the start of its JobTracker is up at time 0: every tracker is known and has
// just beaten, each at its own phase.
func (jt *jobTracker) startTrackers() {
	if jt.instant.on {
		jt.instant.init(jt)
		for i := range jt.trackers {
			t := &jt.trackers[i]
			t.registered, t.regular = true, true
			jt.enlist(t)
			jt.instant.place(t)
		}
		return
	}
	c := &jt.q.Cluster
	phases := jt.placementOfHeartbeats()
	if c.FromStart {
		jt.c.Heartbeat = jt.interval(0).Duration()
		jt.offers.reset(len(jt.trackers), engine.At(jt.c.Heartbeat))
		for i := range jt.trackers {
			jt.trackers[i].next = phases[i]
			if phases[i] < jt.trackers[i].dies {
				jt.eng.NewTimer(engine.Arrival, int32(i), jt.beat).Reset(phases[i])
			}
		}
	} else {
		interval := jt.interval(len(jt.trackers))
		jt.c.Heartbeat = interval.Duration()
		jt.offers.reset(len(jt.trackers), interval)
		for i := range jt.trackers {
			t := &jt.trackers[i]
			t.registered, t.regular = true, true
			t.next, t.interval = phases[i], interval
			t.last = t.next - interval
			jt.enlist(t)
			if jt.mortal {
				jt.expiry.add(seen{0, t.id})
			}
			jt.offers.place(jt, t)
			jt.rearm(t)
		}
	}
	if jt.mortal {
		jt.expiry.timer = jt.newPeriodic(jt.expiry.every, jt.expireTrackers)
		jt.expiry.timer.set(jt, jt.expiry.every)
	}
}

// enlist counts a tracker that is there from the beginning.
func (jt *jobTracker) enlist(t *taskTracker) {
	jt.c.Trackers++
	jt.c.Hosts++
	jt.c.Slots[workload.Map] += t.view.Slots[workload.Map]
	jt.c.Slots[workload.Reduce] += t.view.Slots[workload.Reduce]
}

// placementOfHeartbeats gives each tracker its phase within the interval.
func (jt *jobTracker) placementOfHeartbeats() []engine.Time {
	c := &jt.q.Cluster
	interval := jt.interval(len(jt.trackers))
	seed := workload.Seed(jt.q.Seed).Named("heartbeat phase")
	phases := make([]engine.Time, len(jt.trackers))
	for i := range phases {
		if c.Phases != nil {
			phases[i] = engine.At(c.Phases[i])
		} else {
			phases[i] = engine.Time(seed.Stream(i, 0).Uniform() * float64(interval))
		}
	}
	return phases
}

func (jt *jobTracker) buildJobs() error {
	q := jt.q
	jt.jobs = make([]*job, len(q.Jobs))
	jt.outcomes = make([]model.JobOutcome, len(q.Jobs))
	for i := range q.Jobs {
		if _, _, err := jt.readJob(&q.Jobs[i]); err != nil {
			return fmt.Errorf("job %s: %w", q.Jobs[i].ID, err)
		}
		if jt.planned {
			if _, err := jt.newRecipes(&q.Jobs[i]); err != nil {
				return fmt.Errorf("job %s: %w", q.Jobs[i].ID, err)
			}
		}
		if q.Jobs[i].Init > 0 {
			jt.inits = append(jt.inits, int32(i))
		}
		if i > 0 && q.Jobs[i].Submit < q.Jobs[i-1].Submit {
			return fmt.Errorf("job %s is submitted before job %s but listed after it", q.Jobs[i].ID, q.Jobs[i-1].ID)
		}
	}
	jt.submission = jt.eng.NewTimer(engine.Submission, 0, jt.submit)
	jt.init = jt.eng.NewTimer(engine.Submission, 1, jt.initialise)
	slices.SortStableFunc(jt.inits, func(a, b int32) int { return cmp.Compare(q.Jobs[a].Init, q.Jobs[b].Init) })
	jt.awaitInit()
	if len(q.Jobs) > 0 {
		jt.submission.Reset(engine.At(q.Jobs[0].Submit))
	}
	if jt.tickEvery > 0 {
		jt.tick = jt.newPeriodic(jt.tickEvery, jt.onTick)
		jt.setTick()
	}
	return nil
}

// submit takes in the jobs that are due.
func (jt *jobTracker) submit(int32) {
	now := jt.eng.Now()
	jt.turn = beforeBeats
	jt.setNow()
	for jt.arrivals < len(jt.q.Jobs) && engine.At(jt.q.Jobs[jt.arrivals].Submit) <= now {
		j, err := jt.newJob(jt.arrivals)
		if err != nil {
			panic(err) // the questions' configurations were checked before
		}
		jt.jobs[jt.arrivals] = j
		jt.arrivals++
		jt.active = append(jt.active, j)
		jt.c.Jobs = append(jt.c.Jobs, &j.Job)
		if jt.submits != nil {
			jt.submits.Submitted(&jt.c, &j.Job)
		} else {
			j.Init()
		}
	}
	if jt.arrivals < len(jt.q.Jobs) {
		jt.submission.Reset(engine.At(jt.q.Jobs[jt.arrivals].Submit))
	}
	jt.changed()
	jt.offer()
}

// initialise makes the tasks of the jobs for which the instant is recorded.
func (jt *jobTracker) initialise(int32) {
	now := jt.eng.Now()
	jt.turn = beforeBeats
	jt.setNow()
	for len(jt.inits) > 0 && engine.At(jt.q.Jobs[jt.inits[0]].Init) <= now {
		if j := jt.jobs[jt.inits[0]]; j != nil {
			j.Init()
		}
		jt.inits = jt.inits[1:]
	}
	jt.awaitInit()
	jt.changed()
	jt.offer()
}

// awaitInit sets the next recorded initialisation.
func (jt *jobTracker) awaitInit() {
	if len(jt.inits) > 0 {
		jt.init.Reset(engine.At(jt.q.Jobs[jt.inits[0]].Init))
	}
}

// changed makes sure that the policy's next tick is simulated.
func (jt *jobTracker) changed() {
	if jt.tickEvery == 0 || jt.dirty {
		return
	}
	jt.dirty = true
	jt.setTick()
}

// setTick sets the next tick that is to be simulated.
func (jt *jobTracker) setTick() {
	at := engine.Never
	if jt.dirty || !jt.skippable {
		at = jt.tickFrom(jt.eng.Now())
	}
	if len(jt.lags) > 0 {
		at = min(at, jt.tickFrom(jt.lags[0]))
	}
	if at < engine.Never {
		jt.tick.set(jt, at)
	}
}

// periodic is the timer of a thread that recurs. A thread that runs less often
// than a tracker beats comes before the heartbeats of an instant, one that runs
// more often after them: of two things that recur, the slower one was decided
// on first.
type periodic struct {
	every       engine.Time
	early, late engine.Timer
}

func (jt *jobTracker) newPeriodic(every engine.Time, fire func(int32)) periodic {
	return periodic{
		every: every,
		early: jt.eng.NewTimer(engine.Overture, 0, fire),
		late:  jt.eng.NewTimer(engine.Housekeeping, 0, fire),
	}
}

func (p *periodic) slow(jt *jobTracker) bool { return p.every > engine.At(jt.c.Heartbeat) }

func (p *periodic) set(jt *jobTracker, at engine.Time) {
	if p.slow(jt) {
		p.late.Stop()
		p.early.Reset(at)
	} else {
		p.early.Stop()
		p.late.Reset(at)
	}
}

func (p *periodic) turn(jt *jobTracker) turnOf {
	if p.slow(jt) {
		return beforeBeats
	}
	return afterBeats
}

// setNow tells the policy the time. Slower ticks at this very instant are over
// when heartbeats come.
func (jt *jobTracker) setNow() {
	now := jt.eng.Now()
	jt.c.Now = now.Duration()
	if jt.tickEvery > 0 {
		past := now - 1
		if jt.turn > beforeBeats && jt.tick.slow(jt) {
			past = now
		}
		jt.c.LastTick = (past / jt.tickEvery * jt.tickEvery).Duration()
	}
}

// tickFrom is the first tick at or after an instant that has not been yet.
func (jt *jobTracker) tickFrom(at engine.Time) engine.Time {
	tick := at / jt.tickEvery * jt.tickEvery
	over := tick == jt.ticked || jt.tick.slow(jt) && at == jt.eng.Now() && jt.turn > beforeBeats
	if tick < at || over {
		tick += jt.tickEvery
	}
	return tick
}

func (jt *jobTracker) onTick(int32) {
	now := jt.eng.Now()
	jt.turn = jt.tick.turn(jt)
	jt.setNow()
	jt.ticked, jt.dirty = now, false
	for len(jt.lags) > 0 && jt.lags[0] <= now {
		jt.lags = jt.lags[1:]
	}
	if jt.ticks.Tick(&jt.c) {
		jt.dirty = true
	}
	jt.setTick()
	jt.offer()
}

// jobEnded takes a job off the list.
func (jt *jobTracker) jobEnded(j *job, how workload.State) {
	jt.ended++
	at, _ := slices.BinarySearchFunc(jt.active, j.ID, func(x *job, id int) int { return x.ID - id })
	jt.active, jt.c.Jobs = slices.Delete(jt.active, at, at+1), slices.Delete(jt.c.Jobs, at, at+1)
	if jt.release.AvoidsTrackers && how == workload.Succeeded && j.flaky > 0 {
		for id := range int32(len(jt.trackers)) {
			if j.blames[id] >= j.conf.maxTrackerFailures {
				jt.blacklist.avoided(jt, &jt.trackers[id])
			}
		}
	}
	for k := range j.refs {
		for i := range j.refs[k] {
			if t := j.record(workload.Kind(k), int32(i)); t != nil {
				for _, a := range t.active {
					jt.trackers[a.place].doom(jt)
				}
			}
		}
	}
	j.shuffling = nil
	j.release()
	if jt.report1 != nil {
		jt.report1(jt.ended, len(jt.jobs)-jt.ended)
	}
}
