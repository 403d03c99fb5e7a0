package execute

import (
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// reduceTask is a running reduce. It has the thread that asks for completion
// events (GetMapEventsThread), the copiers (MapOutputCopier), the two threads
// that merge (InMemFSMergeThread, LocalFSMerger), and the reduce's own thread.
type reduceTask struct {
	worker
	idle    *idle[copier]
	planner *taskplan.Planner
	shuffle *taskplan.ReduceTask
	plan    taskplan.ReducePlan // steps after the shuffle
	share   float64             // share of the map output

	poll   engine.Timer // when the child asks for events
	wake   engine.Timer // when the scheduling loop looks again
	step   int
	inMem  merger
	onDisk merger

	asks  engine.Time // first time that the child asks for events
	state reduceState

	read      int32 // events
	listening bool  // all events are read
	outputs   mapOutputs
	copies    int       // mapred.reduce.parallel.copies
	copiers   []*copier // copiers that fetch or are stalled
	stalled   []*copier // copiers that wait for memory, in order of arrival
	asleep    bool      // nothing is in flight and there was nothing to fetch
	sleepsAt  engine.Time

	waitFetch, waitMemory engine.Time
	waits                 engine.Time // copier waits are counted up to this instant
}

type reduceState uint8

const (
	toBegin reduceState = iota
	fetching
	fetched // all outputs are fetched
	merging // the shuffle is closed, while merges may still run
	reducing
	stopped
)

// merger is a thread that merges in the background.
type merger struct {
	thread
	merge *taskplan.BackgroundMerge
	step  int
}

func newReduceTask(c *common, h *hardware, copiers *idle[copier]) *reduceTask {
	r := &reduceTask{worker: worker{common: c, hardware: h}, idle: copiers}
	r.own.init(r, h)
	r.inMem.init(r, h)
	r.onDisk.init(r, h)
	r.own.files, r.inMem.files, r.onDisk.files = &r.files, &r.files, &r.files
	r.timer = c.eng.NewTimer(engine.Completion, 0, r.fire)
	r.poll = c.eng.NewTimer(engine.AfterHeartbeat, 0, r.ask)
	r.wake = c.eng.NewTimer(engine.AfterHeartbeat, 0, r.wakeUp)
	return r
}

// start starts the work of an attempt when its child begins.
func (r *reduceTask) start(a *Attempt, planner *taskplan.Planner, f fetches) {
	p := a.Job.plans
	r.a, r.planner, r.share = a, planner, p.share(a.Task)
	a.shuffle = openShuffle
	r.copies = p.conf.ParallelCopies
	r.outputs.fetches = f
	r.own.node, r.inMem.node, r.onDisk.node = a.Node, a.Node, a.Node
	r.own.replicas = 0
	r.timer.Reset(max(a.Begin, r.now()))
}

// reset makes the task ready for another attempt.
func (r *reduceTask) reset() {
	*r = reduceTask{
		worker: r.again(), idle: r.idle, poll: r.poll, wake: r.wake, inMem: merger{thread: r.inMem.thread}, onDisk: merger{thread: r.onDisk.thread},
		outputs: r.outputs, copiers: r.copiers[:0], stalled: r.stalled[:0],
	}
}

// fire begins the work, or ends it with a failure.
func (r *reduceTask) fire(int32) {
	if r.state != toBegin || r.hardware.nodes[r.a.Node].dead {
		r.stop()
		return
	}
	if r.a.failAt < engine.Never {
		r.timer.Reset(max(r.a.failAt, r.now()))
	}
	j := r.a.Job
	r.asks, r.since, r.waits = r.now(), r.now(), r.now()
	r.state, r.phase = fetching, workload.PhaseShuffle
	r.shuffle = r.planner.NewReduce(j.maps())
	r.outputs.open(r.hardware, r.a, r.shuffle, r.share)
	r.poll.Reset(r.now())
	if r.shuffle.Missing() > 0 {
		r.sleep() // the loop starts before the thread that asks for events
	}
}

// ask reads events from the tracker.
func (r *reduceTask) ask(int32) {
	r.common.host.HeartbeatsOver()
	if r.state == fetched {
		r.close()
		return
	}
	j, read := r.a.Job, int32(len(r.a.Job.outputs.log))
	if seen, waits := r.common.events.read(r.a, r.now()+1); waits {
		read = seen
	}
	for ; r.read < read; r.read++ {
		r.outputs.add(j.outputs.log[r.read])
	}
	if int(r.read) < len(j.outputs.log) {
		r.poll.Reset(r.now() + Poll)
	} else {
		r.listening = true
		j.outputs.listeners = append(j.outputs.listeners, r)
	}
	if !r.asleep {
		r.schedule()
	} else if r.outputs.any() || r.shuffle.Missing() == 0 {
		sleep := r.common.protocol.FetchSleep
		r.wake.Reset(r.sleepsAt + max(1, (r.now()-r.sleepsAt+sleep-1)/sleep)*sleep)
	}
}

// newEvent wakes a reduce that has read all events, because a new one has come.
func (r *reduceTask) newEvent() {
	r.listening = false
	at := r.now()
	if r.common.protocol.Poll {
		at = firstAsk(r.asks, at)
	}
	r.poll.Reset(at)
}

// wakeUp makes the loop that schedules fetches look again.
func (r *reduceTask) wakeUp(int32) {
	r.common.host.HeartbeatsOver()
	r.asleep = false
	r.schedule()
}

// schedule assigns outputs to the copiers (ReduceCopier.fetchOutputs).
func (r *reduceTask) schedule() {
	if r.state != fetching {
		return
	}
	r.count()
	if r.a.Job.plans.conf.MRv2 { // a merge that begins holds up the fetchers
		r.merge()
	}
	for len(r.copiers) < r.copies && r.outputs.any() && !r.shuffle.Merging() {
		c := r.idle.take(r.hardware.newCopier)
		c.open(r)
		if !r.outputs.take(c) {
			r.idle.put(c)
			continue
		}
		if r.hardware.trace != nil {
			c.number, c.taken = freeNumber(r.copiers), r.now()
		}
		r.copiers = append(r.copiers, c)
		if !r.fetch(c) {
			break
		}
	}
	r.merge()
	switch {
	case r.shuffle.Missing() == 0:
		r.complete()
	case len(r.copiers) == 0:
		r.sleep()
	}
}

// fetch begins a fetch, or lets the copier wait for memory. It reports whether others
// may begin: on YARN all wait until outputs have left memory.
func (r *reduceTask) fetch(c *copier) bool {
	switch {
	case !r.shuffle.InMemory(c.fetched) || r.shuffle.Reserve(c.fetched):
		c.begin()
	case r.a.Job.plans.conf.MRv2:
		r.shuffle.Abandon(c.fetched, true)
		r.outputs.putBack(c)
		r.drop(c)
		return false
	default:
		r.stalled = append(r.stalled, c)
	}
	return true
}

// sleep ends a round of the scheduling loop with nothing in flight. The loop
// then looks at intervals until it finds an output.
func (r *reduceTask) sleep() {
	if r.common.protocol.FetchSleep > 0 {
		r.asleep, r.sleepsAt = true, r.now()
	}
}

// arrived adds the outputs that a copier has fetched.
func (r *reduceTask) arrived(c *copier) {
	r.count()
	share, plans := r.share, r.a.Job.plans
	inMemory := r.shuffle.InMemory(c.fetched)
	for _, m := range c.maps {
		switch out := plans.segment(m, share); {
		case inMemory:
			r.shuffle.Copied(out)
			r.shuffle.Listed(out)
		default:
			r.shuffle.Stored(out)
		}
	}
	if c.follow(func(m int32) taskplan.Segment { return plans.segment(m, share) }) {
		r.fetch(c)
	} else {
		r.drop(c)
	}
	r.schedule()
}

// drop stops a copier and cancels its fetch.
func (r *reduceTask) drop(c *copier) {
	i := slices.Index(r.copiers, c)
	r.copiers = slices.Delete(r.copiers, i, i+1)
	r.outputs.release(c.host)
	r.idle.put(c)
}

// lose stops the fetches from a lost host.
func (r *reduceTask) lose(host int32) {
	if r.state != fetching {
		return
	}
	r.count()
	for i := 0; i < len(r.copiers); {
		c := r.copiers[i]
		if c.host != host {
			i++
			continue
		}
		c.cancel()
		if r.shuffle.InMemory(c.fetched) {
			k := slices.Index(r.stalled, c)
			r.shuffle.Abandon(c.fetched, k >= 0)
			if k >= 0 {
				r.stalled = slices.Delete(r.stalled, k, k+1)
			}
		}
		for _, m := range append(c.maps, c.left...) {
			r.outputs.unlist(m)
		}
		r.drop(c)
	}
	r.schedule()
}

// complete ends the fetching. The shuffle goes on until the thread that asks for
// events wakes up and ends.
func (r *reduceTask) complete() {
	r.state = fetched
	r.wake.Stop()
	r.stopListening()
	if !r.common.protocol.Poll {
		r.close()
		return
	}
	r.poll.Reset(firstAsk(r.asks, r.now()))
}

// stopListening stops reading events.
func (r *reduceTask) stopListening() {
	r.poll.Stop()
	if r.listening {
		r.listening = false
		l := r.a.Job.outputs.listeners
		i := slices.Index(l, eventListener(r))
		l[i] = l[len(l)-1]
		r.a.Job.outputs.listeners = l[:len(l)-1]
	}
}

func (r *reduceTask) close() {
	r.count()
	r.state = merging
	r.shuffle.Close()
	r.merged()
}

// merge starts the merges that are due.
func (r *reduceTask) merge() {
	if m := r.shuffle.MergeInMemory(); m != nil {
		r.inMem.merge = m
		r.serveMerge(&r.inMem)
	}
	if m := r.shuffle.MergeOnDisk(); m != nil {
		r.onDisk.merge = m
		r.serveMerge(&r.onDisk)
	}
}

// serveMerge does the next step of a merge, or ends the merge.
func (r *reduceTask) serveMerge(m *merger) {
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
		r.shuffle.OnDiskMerged(done.File)
	} else {
		for _, in := range done.Inputs {
			r.shuffle.Free(in)
		}
		r.shuffle.InMemMerged(done.File)
		for len(r.stalled) > 0 && r.shuffle.Retry(r.stalled[0].fetched) {
			c := r.stalled[0]
			r.stalled = slices.Delete(r.stalled, 0, 1)
			c.begin()
		}
		if r.state == fetching && r.a.Job.plans.conf.MRv2 {
			r.schedule()
		}
	}
	r.merge()
	r.merged()
}

// merged starts the sort when the shuffle is over.
func (r *reduceTask) merged() {
	if r.state != merging || !r.shuffle.Done() {
		return
	}
	r.count()
	r.a.shuffle = r.now() - r.a.Known
	r.common.events.copied(r.a)
	if trace := r.hardware.trace; trace != nil {
		trace.waited(r.a, model.WaitFetch, 0, r.asks)
	}
	r.plan = r.shuffle.Finish()
	r.state = reducing
	r.next()
}

// next does the next step after the shuffle.
func (r *reduceTask) next() {
	if r.step == len(r.plan.Steps) {
		r.enter(r.phase)
		r.state = stopped
		r.common.finish(r.a, true)
		return
	}
	together := r.plan.Steps.Together(r.step)
	r.step += len(together)
	r.own.serve(together)
}

// move implements stepper.
func (r *reduceTask) move(t *thread, s *taskplan.Step) {
	if s.Resource == taskplan.HDFSWrite {
		t.writeBlocks(r.a, s.Work)
	} else {
		t.local(s)
	}
}

// done implements stepper.
func (r *reduceTask) done(t *thread) {
	switch t {
	case &r.own:
		r.next()
	case &r.inMem.thread:
		r.serveMerge(&r.inMem)
	default:
		r.serveMerge(&r.onDisk)
	}
}

// traced implements stepper.
func (r *reduceTask) traced(t *thread) (*Attempt, model.Thread, int) {
	switch t {
	case &r.own:
		return r.a, model.MainThread, 0
	case &r.inMem.thread:
		return r.a, model.MemoryMergeThread, 0
	}
	return r.a, model.DiskMergeThread, 0
}

// count adds the waits of the copiers up to now. Copiers wait for outputs while
// none of them has anything to fetch. Otherwise the stalled ones wait for
// memory. When all outputs are fetched and no merge runs, they wait for the
// thread that asks for outputs.
func (r *reduceTask) count() {
	passed := r.now() - r.waits
	r.waits = r.now()
	switch n := len(r.copiers); {
	case n > 0:
		r.waitMemory += passed * engine.Time(len(r.stalled)) / engine.Time(n)
	case r.state <= fetching, r.state == fetched && r.inMem.merge == nil && r.onDisk.merge == nil:
		r.waitFetch += passed
	}
}

// stop implements running.
func (r *reduceTask) stop() {
	r.timer.Stop()
	if r.state == toBegin || r.state == stopped {
		return
	}
	r.count()
	r.stopListening()
	r.wake.Stop()
	for _, t := range [...]*thread{&r.own, &r.inMem.thread, &r.onDisk.thread} {
		t.cancel()
	}
	for _, c := range r.copiers {
		c.cancel()
		r.idle.put(c)
	}
	r.copiers, r.stalled = r.copiers[:0], r.stalled[:0]
	r.enter(r.phase)
	r.state = stopped
}

// fill implements running.
func (r *reduceTask) fill(a *Attempt, p *phases) {
	r.worker.fill(a, p)
	p.row.WaitFetch, p.row.WaitMemory = r.waitFetch.Duration(), r.waitMemory.Duration()
	p.moved(&r.plan.Counters)
}

// progress implements running: one third each for the copies, the sort and the
// reduce.
func (r *reduceTask) progress(engine.Time) float32 {
	const third = 1.0 / 3
	maps := float64(max(1, r.a.Job.maps()))
	switch r.state {
	case toBegin:
		return 0
	case fetching, fetched, merging:
		return float32(third * (1 - float64(r.shuffle.Missing())/maps))
	}
	var whole, done [2]float64 // seconds of the sort, and of the rest
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
