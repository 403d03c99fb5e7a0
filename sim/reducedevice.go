package sim

import (
	"slices"

	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// reduceRun is a reduce at work: the thread that asks for map outputs, the
// copiers, the two threads that merge, and the reduce's own thread.
type reduceRun struct {
	a       *attempt
	p       *plant
	planner *taskplan.Planner
	task    *taskplan.ReduceTask
	plan    taskplan.ReducePlan // of what follows the shuffle
	share   float64             // of the map output

	timer  engine.Timer // the begin, then the failure
	poll   engine.Timer // the child asks for events
	wake   engine.Timer // the scheduling loop looks again
	own    thread
	files  files
	step   int
	inMem  merger
	onDisk merger

	asks  engine.Time // the first time
	state reduceState
	phase workload.Phase
	since engine.Time
	spent [workload.NumPhases]engine.Time

	read      int32 // events
	listening bool  // has read all
	queue     fetchQueue
	copiers   int
	fetches   []*fetch // that go on or are stalled
	stalled   []*fetch // wait for memory, in the order in which they came
	asleep    bool     // nothing is in flight and nothing was to be fetched
	sleeps    engine.Time

	waitFetch, waitMemory engine.Time
	waits                 engine.Time // since when they are not counted
}

type reduceState uint8

const (
	toBegin reduceState = iota
	fetching
	fetched // all outputs are here
	merging // the shuffle is closed, merges go on
	reducing
	stopped
)

// merger is a thread that merges in the background.
type merger struct {
	thread
	merge *taskplan.BackgroundMerge
	step  int
}

// runReduce plans an attempt of a reduce on the devices.
func (p *plant) runReduce(a *attempt) {
	var r *reduceRun
	if last := len(p.reduceRuns) - 1; last >= 0 {
		r, p.reduceRuns = p.reduceRuns[last], p.reduceRuns[:last]
	} else {
		r = &reduceRun{p: p}
		r.own.init(r, p)
		r.inMem.init(r, p)
		r.onDisk.init(r, p)
		r.own.files, r.inMem.files, r.onDisk.files = &r.files, &r.files, &r.files
		r.timer = p.jt.eng.NewTimer(engine.Completion, 0, r.fire)
		r.poll = p.jt.eng.NewTimer(engine.Housekeeping, 0, r.ask)
		r.wake = p.jt.eng.NewTimer(engine.Housekeeping, 0, r.awake)
	}
	recipes := a.job.recipes
	r.a, r.share = a, recipes.share(a.task.index)
	r.planner = recipes.planners[p.jt.q.Cluster.Nodes[a.tracker].Machine]
	r.copiers = recipes.conf.ParallelCopies
	r.own.node, r.inMem.node, r.onDisk.node = a.tracker, a.tracker, a.tracker
	a.exec = r
	p.jt.ends(a, engine.Never)
	r.timer.Reset(max(a.begin, p.jt.eng.Now()))
}

// free gives the run back.
func (r *reduceRun) free() {
	r.timer.Stop()
	*r = reduceRun{
		p: r.p, timer: r.timer, poll: r.poll, wake: r.wake,
		own: r.own, inMem: merger{thread: r.inMem.thread}, onDisk: merger{thread: r.onDisk.thread},
		queue: r.queue, fetches: r.fetches[:0], stalled: r.stalled[:0],
	}
	r.p.reduceRuns = append(r.p.reduceRuns, r)
}

func (r *reduceRun) now() engine.Time { return r.p.jt.eng.Now() }

// fire begins the work, or ends it with a failure.
func (r *reduceRun) fire(int32) {
	if r.state != toBegin || r.p.nodes[r.a.tracker].dead {
		r.stop()
		return
	}
	if r.a.failAt < engine.Never {
		r.timer.Reset(max(r.a.failAt, r.now()))
	}
	j := r.a.job
	r.asks, r.since, r.waits = r.now(), r.now(), r.now()
	r.state, r.phase = fetching, workload.PhaseShuffle
	r.task = r.planner.NewReduce(j.Tasks[workload.Map])
	r.queue.open(r)
	r.poll.Reset(r.now())
	if r.task.Missing() > 0 {
		r.doze() // the loop looks before the thread that asks for events has begun
	}
}

// ask is the child reading events from its tracker.
func (r *reduceRun) ask(int32) {
	r.p.after = r.now()
	if r.state == fetched {
		r.close()
		return
	}
	j, read := r.a.job, int32(len(r.a.job.outputs.log))
	if seen, waits := r.a.eventsRead(&r.p.jt.trackers[r.a.tracker], r.now()+1); waits {
		read = seen
	}
	for ; r.read < read; r.read++ {
		r.queue.add(r, j.outputs.log[r.read])
	}
	if int(r.read) < len(j.outputs.log) {
		r.poll.Reset(r.now() + poll)
	} else {
		r.listening = true
		j.outputs.listeners = append(j.outputs.listeners, r)
	}
	if !r.asleep {
		r.schedule()
	} else if r.queue.any() || r.task.Missing() == 0 {
		sleep := engine.At(r.p.jt.release.FetchSleep)
		r.wake.Reset(r.sleeps + max(1, (r.now()-r.sleeps+sleep-1)/sleep)*sleep)
	}
}

// hear tells a reduce which has read all events of a new one.
func (r *reduceRun) hear() {
	r.listening = false
	at := r.now()
	if !r.p.jt.release.Ideal {
		at = firstAsk(r.asks, at)
	}
	r.poll.Reset(at)
}

func (r *reduceRun) awake(int32) {
	r.p.after = r.now()
	r.asleep = false
	r.schedule()
}

// schedule gives the copiers work (ReduceCopier.fetchOutputs).
func (r *reduceRun) schedule() {
	if r.state != fetching {
		return
	}
	r.count()
	for len(r.fetches) < r.copiers && r.queue.any() {
		f := r.p.newFetch(r)
		if !r.queue.take(r, f) {
			r.p.fetches = append(r.p.fetches, f)
			continue
		}
		r.fetches = append(r.fetches, f)
		if r.task.InMemory(f.outputs) && !r.task.Reserve(f.outputs) {
			r.stalled = append(r.stalled, f)
			continue
		}
		f.begin()
	}
	r.merge()
	switch {
	case r.task.Missing() == 0:
		r.complete()
	case len(r.fetches) == 0:
		r.doze()
	}
}

// doze ends a round of the loop that schedules fetches with nothing in flight:
// it sleeps again and again until one of its looks finds something.
func (r *reduceRun) doze() {
	if r.p.jt.release.FetchSleep > 0 {
		r.asleep, r.sleeps = true, r.now()
	}
}

// arrived takes in what a copier has fetched.
func (r *reduceRun) arrived(f *fetch) {
	r.count()
	share, recipes := r.share, r.a.job.recipes
	inMemory := r.task.InMemory(f.outputs)
	for _, m := range f.maps {
		switch out := recipes.segment(m, share); {
		case inMemory:
			r.task.Copied(out)
			r.task.Listed(out)
		default:
			r.task.Stored(out)
		}
	}
	r.drop(f)
	r.schedule()
}

// drop takes a fetch off the copiers.
func (r *reduceRun) drop(f *fetch) {
	i := slices.Index(r.fetches, f)
	r.fetches = slices.Delete(r.fetches, i, i+1)
	r.queue.done(f)
	r.p.fetches = append(r.p.fetches, f)
}

// lose ends the fetches from a host that is lost.
func (r *reduceRun) lose(host int32) {
	if r.state != fetching {
		return
	}
	r.count()
	for i := 0; i < len(r.fetches); {
		f := r.fetches[i]
		if f.host != host {
			i++
			continue
		}
		f.cancel()
		if r.task.InMemory(f.outputs) {
			k := slices.Index(r.stalled, f)
			r.task.Abandon(f.outputs, k >= 0)
			if k >= 0 {
				r.stalled = slices.Delete(r.stalled, k, k+1)
			}
		}
		r.queue.unsee(f.maps[0])
		r.drop(f)
	}
	r.schedule()
}

// complete ends the fetching. The shuffle goes on until the thread that asks for
// events has woken up to end.
func (r *reduceRun) complete() {
	r.state = fetched
	r.wake.Stop()
	r.deaf()
	if r.p.jt.release.Ideal {
		r.close()
		return
	}
	r.poll.Reset(firstAsk(r.asks, r.now()))
}

// deaf stops listening to events.
func (r *reduceRun) deaf() {
	r.poll.Stop()
	if r.listening {
		r.listening = false
		l := r.a.job.outputs.listeners
		i := slices.Index(l, r)
		l[i] = l[len(l)-1]
		r.a.job.outputs.listeners = l[:len(l)-1]
	}
}

func (r *reduceRun) close() {
	r.count()
	r.state = merging
	r.task.Close()
	r.merged()
}

// merge begins the merges that are due.
func (r *reduceRun) merge() {
	if m := r.task.MergeInMemory(); m != nil {
		r.inMem.merge = m
		r.serveMerge(&r.inMem)
	}
	if m := r.task.MergeOnDisk(); m != nil {
		r.onDisk.merge = m
		r.serveMerge(&r.onDisk)
	}
}

// serveMerge does the next step of a merge, or ends it.
func (r *reduceRun) serveMerge(m *merger) {
	if m.step < len(m.merge.Steps) {
		together := m.merge.Steps.Together(m.step)
		m.step += len(together)
		m.serve(together)
		return
	}
	r.count()
	done := m.merge
	m.merge, m.step = nil, 0
	if m == &r.onDisk {
		r.task.OnDiskMerged(done.File)
	} else {
		for _, in := range done.Inputs {
			r.task.Free(in)
		}
		r.task.InMemMerged(done.File)
		for len(r.stalled) > 0 && r.task.Retry(r.stalled[0].outputs) {
			f := r.stalled[0]
			r.stalled = slices.Delete(r.stalled, 0, 1)
			f.begin()
		}
	}
	r.merge()
	r.merged()
}

// merged goes on to the sort when the shuffle is over.
func (r *reduceRun) merged() {
	if r.state != merging || !r.task.Done() {
		return
	}
	r.count()
	r.a.shuffle = r.now() - r.a.known
	r.plan = r.task.Finish()
	r.state = reducing
	r.goOn()
}

// goOn does the next step of what follows the shuffle.
func (r *reduceRun) goOn() {
	if r.step == len(r.plan.Steps) {
		r.enter(r.phase)
		r.state = stopped
		r.p.worked(r.a, true)
		return
	}
	together := r.plan.Steps.Together(r.step)
	r.step += len(together)
	r.own.serve(together)
}

// move is stepper.
func (r *reduceRun) move(t *thread, s *taskplan.Step) {
	if s.Resource == taskplan.HDFSWrite {
		t.writeBlocks(r.a, s.Work)
	} else {
		t.local(s)
	}
}

// turned is stepper.
func (r *reduceRun) turned(t *thread) {
	if t == &r.own {
		r.enter(t.phase())
	}
}

// done is stepper.
func (r *reduceRun) done(t *thread) {
	switch t {
	case &r.own:
		r.goOn()
	case &r.inMem.thread:
		r.serveMerge(&r.inMem)
	default:
		r.serveMerge(&r.onDisk)
	}
}

// enter books the time since the last change and goes over to a phase.
func (r *reduceRun) enter(p workload.Phase) {
	r.spent[r.phase] += r.now() - r.since
	r.phase, r.since = p, r.now()
}

// count books the waits of the copiers up to now: for outputs while none of them
// has anything to fetch, else for memory the part of them that is stalled. When
// all is fetched, what is waited for is the thread that asks for outputs, as far
// as nothing is merged meanwhile.
func (r *reduceRun) count() {
	passed := r.now() - r.waits
	r.waits = r.now()
	switch n := len(r.fetches); {
	case n > 0:
		r.waitMemory += passed * engine.Time(len(r.stalled)) / engine.Time(n)
	case r.state <= fetching, r.state == fetched && r.inMem.merge == nil && r.onDisk.merge == nil:
		r.waitFetch += passed
	}
}

// stop is activity.
func (r *reduceRun) stop() {
	r.timer.Stop()
	if r.state == toBegin || r.state == stopped {
		return
	}
	r.count()
	r.deaf()
	r.wake.Stop()
	for _, t := range [...]*thread{&r.own, &r.inMem.thread, &r.onDisk.thread} {
		t.cancel()
	}
	for _, f := range r.fetches {
		f.cancel()
		r.p.fetches = append(r.p.fetches, f)
	}
	r.fetches, r.stalled = r.fetches[:0], r.stalled[:0]
	r.enter(r.phase)
	r.state = stopped
}

// fill is execution. What was cut goes on in its phase to its end.
func (r *reduceRun) fill(a *attempt, d *division) {
	for p, t := range r.spent {
		d.until(workload.Phase(p), d.at+t)
	}
	if a.pending == engine.Never && a.end != endsWell {
		d.until(r.phase, d.finish)
	}
	d.row.WaitFetch, d.row.WaitMemory = r.waitFetch.Duration(), r.waitMemory.Duration()
	d.fill(a, &r.plan.Counters)
}

// progress is activity: a third each for the copies, the sort and the reduce.
func (r *reduceRun) progress(engine.Time) float32 {
	const third = 1.0 / 3
	maps := float64(max(1, r.a.job.Tasks[workload.Map]))
	switch r.state {
	case toBegin:
		return 0
	case fetching, fetched, merging:
		return float32(third * (1 - float64(r.task.Missing())/maps))
	}
	var whole, done [2]float64 // seconds of sorting, and of the rest
	for i := 0; i < len(r.plan.Steps); {
		together := r.plan.Steps.Together(i)
		i += len(together)
		k, t := 1, together.Serial(r.planner.Cost)/1e9
		if together[0].Phase == workload.PhaseMerge {
			k = 0
		}
		whole[k] += t
		switch {
		case i < r.step:
			done[k] += t
		case i == r.step:
			done[k] += max(0, t-r.own.remaining(r.planner.Cost))
		}
	}
	sum := third
	for k := range whole {
		if whole[k] > 0 {
			sum += third * done[k] / whole[k]
		} else {
			sum += third
		}
	}
	return min(1, float32(sum))
}
