package sim

import (
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// never stands for an instant that did not come, in outcomes.
const never = time.Duration(-1)

// newJob takes a job in as it is submitted.
func (jt *jobTracker) newJob(id int) (*job, error) {
	spec := &jt.q.Jobs[id]
	conf, width, err := jt.readJob(spec)
	if err != nil {
		return nil, err
	}
	j := &job{jt: jt, spec: spec, conf: conf, outcome: &jt.outcomes[id]}
	j.JobInProgress = scheduler.JobInProgress{
		ID: id, Name: spec.ID, User: spec.User, Pool: spec.Pool, Queue: spec.Queue, Priority: spec.Priority,
		Submit: spec.Submit, Deadline: spec.Deadline,
		Tasks:        [2]int{spec.Maps.Count, spec.Reduces.Count},
		Speculates:   conf.speculates,
		SlotsPerTask: width,
		Launcher:     j,
	}
	j.calm = j.isCalm()
	j.patient = j.calm && !jt.remembers
	for k := range j.tracked {
		j.tracked[k] = jt.progress || conf.speculates[k]
	}
	*j.outcome = unborn(spec)
	if jt.planned {
		j.recipes, err = jt.newRecipes(spec)
	}
	return j, err
}

// readJob reads what a job's configuration says about its tasks, and how many
// slots each of them takes.
func (jt *jobTracker) readJob(spec *workload.Job) (jobConf, [2]int, error) {
	conf, err := readJobConf(spec.Conf, !jt.release.Ideal && !jt.release.NoSpeculation)
	if err != nil {
		return conf, [2]int{}, err
	}
	if jt.release.NoSpeculation && (conf.speculates[0] || conf.speculates[1]) {
		conf.speculates = [2]bool{}
		jt.warn("speculation is left out: the rule of Hadoop %s is not simulated", jt.release.Name)
	}
	width, err := jt.memory.slotsPerTask(&conf)
	return conf, width, err
}

// unborn is the outcome of a job to which nothing has happened yet.
func unborn(spec *workload.Job) model.JobOutcome {
	return model.JobOutcome{
		ID: spec.ID, Name: spec.Name, User: spec.User, Pool: spec.Pool, Queue: spec.Queue,
		Submit: spec.Submit, Launch: never, Running: never, FirstMap: never, LastMap: never,
		ShuffleEnd: never, Finish: never,
		Maps: spec.Maps.Count, Reduces: spec.Reduces.Count,
		InBytes: spec.Maps.InputBytes, ShuffleBytes: spec.Reduces.ShuffleData, OutBytes: spec.Reduces.OutputBytes,
	}
}

func (jt *jobTracker) newTask(j *job, index int32, kind, onSlot workload.Kind) *task {
	ref, t := jt.tasks.get()
	*t = task{ref: ref, job: j, index: index, kind: kind, onSlot: onSlot}
	t.attempts, t.active = t.space[0][:0], t.space[1][:0]
	return t
}

func (jt *jobTracker) newAttempt() *attempt {
	ref, a := jt.attempts.get()
	*a = attempt{ref: ref, finish: engine.Never, pending: engine.Never, known: engine.Never}
	return a
}

// write enters an attempt that has ended in the outcome of its job and gives it
// to the recorder.
func (jt *jobTracker) write(a *attempt) {
	jt.account(a)
	r, runs := a.exec.(activity)
	if runs {
		r.stop()
	}
	if jt.record != nil {
		jt.record.Attempt(jt.rowOf(a))
	}
	if runs {
		a.exec = nil
		r.free()
	}
	jt.retire(a)
}

func (jt *jobTracker) rowOf(a *attempt) *workload.Attempt {
	row := &jt.row
	*row = workload.Attempt{
		Job: a.job.Name, Task: int(a.task.index), Kind: a.kind, Number: int(a.number), State: a.ended(),
		Node: jt.q.Cluster.Nodes[a.tracker].Name, Slot: int(a.slot), Pool: a.job.Pool, Locality: a.local,
		Runnable: a.runnable.Duration(), Start: a.start.Duration(), Finish: a.finish.Duration(),
	}
	if racks := jt.q.Cluster.Racks; len(racks) > 0 {
		row.Rack = racks[jt.trackers[a.tracker].rack]
	}
	a.fillPhases(row)
	return row
}

// ended is the state an attempt ends in for good.
func (a *attempt) ended() workload.State {
	if a.end == endsOpen {
		return workload.Running
	}
	switch a.own().status {
	case succeeded:
		return workload.Succeeded
	case failed, failedUnclean:
		return workload.Failed
	}
	return workload.Killed
}

// fillPhases divides an attempt's time among its phases.
func (a *attempt) fillPhases(row *workload.Attempt) {
	d := division{row, a.start, a.finish}
	if a.started {
		d.until(workload.PhaseStartup, a.begin)
	}
	switch {
	case a.exec != nil:
		a.exec.fill(a, &d)
	case a.kind == workload.Map:
		d.until(workload.PhaseMap, min(a.begin+a.work, a.pending))
	case a.kind == workload.Reduce:
		a.fillShuffle(&d)
		d.until(workload.PhaseReduce, a.pending)
	}
	d.until(workload.PhaseCommit, a.finish)
}

// fillShuffle is a reduce's time until it begins to reduce.
func (a *attempt) fillShuffle(d *division) {
	if a.known == engine.Never {
		d.row.WaitFetch = max(0, a.finish-d.at).Duration()
		d.until(workload.PhaseShuffle, a.finish)
		return
	}
	d.row.WaitFetch = max(0, min(a.known, a.finish)-d.at).Duration()
	d.until(workload.PhaseShuffle, a.known+a.shuffle)
	d.until(workload.PhaseMerge, a.known+a.shuffle+a.sort)
}

// account adds an attempt to its job's outcome.
func (jt *jobTracker) account(a *attempt) {
	o, state := a.job.outcome, a.ended()
	start, finish := a.start.Duration(), a.finish.Duration()
	switch state {
	case workload.Failed:
		o.Failed++
	case workload.Killed:
		o.Killed++
	}
	switch a.kind {
	case workload.Map:
		o.Locality[a.local]++
		o.MapTime += finish - start
		o.MapWaves = max(o.MapWaves, int(a.wave))
		if o.FirstMap < 0 || start < o.FirstMap {
			o.FirstMap = start
		}
		if state == workload.Succeeded {
			o.LastMap = max(o.LastMap, finish)
		}
	case workload.Reduce:
		o.ReduceTime += finish - start
		o.ReduceWaves = max(o.ReduceWaves, int(a.wave))
		if state == workload.Succeeded {
			o.ShuffleEnd = max(o.ShuffleEnd, (a.known + a.shuffle).Duration())
		}
	}
}

// retire gives back the records that nothing refers to any more once an attempt
// has left its tracker: its own if it cleaned up after another, those of its
// task if that has ended and its output cannot be lost, all if the job has.
func (jt *jobTracker) retire(a *attempt) {
	j, t := a.job, a.task
	if a.cleans != nil {
		jt.attempts.put(a.ref)
	}
	t.onTrackers--
	j.onTrackers--
	switch {
	case j.State == scheduler.Done:
		j.release()
	case t.onTrackers == 0 && t.kind <= workload.Reduce && !jt.mortal && t.settled():
		j.refs[t.kind][t.index] = done
		jt.recycle(t)
	}
}

// settled reports whether a task is done and nothing has to be cleaned up.
func (t *task) settled() bool {
	for _, a := range t.attempts {
		if a.status != succeeded && a.status != failed && a.status != killed {
			return false
		}
	}
	return t.complete()
}

func (jt *jobTracker) recycle(t *task) {
	for _, a := range t.attempts {
		jt.attempts.put(a.ref)
	}
	jt.tasks.put(t.ref)
}

// release forgets a job that has ended once nothing of it runs any more.
func (j *job) release() {
	if j.onTrackers > 0 {
		return
	}
	for k := range j.refs {
		for i := range j.refs[k] {
			if t := j.record(workload.Kind(k), int32(i)); t != nil {
				j.jt.recycle(t)
			}
		}
		if j.Initialised {
			j.jt.recycle(j.setup[k])
			j.jt.recycle(j.cleanup[k])
		}
	}
	j.jt.jobs[j.ID] = nil
	*j = job{JobInProgress: j.JobInProgress, jt: j.jt}
	j.Launcher = j
}

// close ends the run: what is still on the trackers is written down.
func (jt *jobTracker) close(end engine.Time, how ends) {
	for i := range jt.trackers {
		t := &jt.trackers[i]
		now := min(end, t.dies)
		t.settle(jt, now)
		for _, a := range t.attempts {
			if a.finish > now {
				a.end, a.finish = how, now
				a.own().status = killed
			} else if !a.told && a.cleans == nil {
				a.status = a.state(t, now)
				if a.status == succeeded && a.task.complete() {
					a.status = killed // another attempt was first
				}
			}
			if !a.started {
				a.start = now
			}
			jt.write(a)
		}
		t.attempts = nil
	}
}

func (jt *jobTracker) prediction() model.Prediction {
	p := model.Prediction{Model: "simulation", Jobs: jt.outcomes, Warnings: jt.warnings}
	for i := range jt.outcomes {
		o := &jt.outcomes[i]
		p.Mean = max(p.Mean, o.Finish)
		if o.Finish < 0 {
			p.Mean = jt.q.Until
			continue
		}
		o.Low = o.Finish - o.Submit
		o.High = o.Low
	}
	p.Low, p.High = p.Mean, p.Mean
	if jt.plant != nil {
		p.Devices = jt.plant.usages()
	}
	return p
}

// Attempts lists what a policy may kill (FairScheduler.getRunningTasks).
func (j *job) Attempts(k workload.Kind) []scheduler.Attempt {
	var list []scheduler.Attempt
	for _, i := range slices.Sorted(slices.Values(j.live[k])) {
		for _, a := range j.record(k, i).active {
			if a.status == unreported && a.firstReport > j.jt.eng.Now() {
				continue
			}
			list = append(list, scheduler.Attempt{Start: a.start.Duration(), Kill: func() { j.preempt(a) }})
		}
	}
	return list
}

// preempt orders an attempt to be killed (TaskInProgress.killTask).
func (j *job) preempt(a *attempt) {
	a.killOrder = true
	j.jt.trackers[a.place].doom(j.jt)
}
