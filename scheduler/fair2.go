package scheduler

import (
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// fair2 is the fair scheduler of Hadoop 0.21 and 1.x (contrib FairScheduler
// 2.0): pools share the cluster, jobs share their pool, and the one that is
// furthest below its share goes first. Maps wait for a node, then a rack, that
// holds their data (delay scheduling).
type fair2 struct {
	fairJobs[*jobSchedulable]
	fair2Conf
	fair2Tasks
	fair2Looks

	pools  []*poolSchedulable // by name
	byName map[string]*poolSchedulable
	asking [2]sorted[*poolSchedulable] // pools that have candidates, in fair order

	preemptedAt time.Duration

	// The following are buffers for a single call.
	order   []*poolSchedulable
	sharers []sharer
}

// fair2Tasks counts the tasks of all pools.
type fair2Tasks struct{ demand, running [2]int }

// fair2Looks are the jobs that were asked for maps.
type fair2Looks struct {
	lastAssign time.Duration     // 0: none yet
	visited    []*jobSchedulable // at this heartbeat
	skipped    []*jobSchedulable // at the last heartbeat, but gave none
}

const maxAutoDelay = 15 * time.Second

var fair2Policy = named{
	name:  "fair2",
	about: "FairScheduler of 0.21 and 1.x: pools, delay scheduling, preemption",
	order: "fair2 first asks the pools that run fewer tasks than their minimum share. Then it asks the pool with the fewest running tasks for its weight, and within the pool the job with the fewest.",
	make:  newFair2,
}

func newFair2(spec model.Scheduler, r *model.Release) (Policy, error) {
	conf, err := readFair2Conf(spec, r)
	if err != nil {
		return Policy{}, err
	}
	f := &fair2{
		fair2Conf: conf,
		byName:    make(map[string]*poolSchedulable),
		fairJobs:  fairJobs[*jobSchedulable]{userDefault: conf.userDefault},
	}
	limited := func(p model.Pool) bool { return p.MaxRunningJobs != nil }
	f.open(conf.poolDefault < unlimitedJobs || slices.ContainsFunc(spec.Pools, limited), spec.Users)
	for k := range f.asking {
		f.asking[k] = newSorted(func(a, b *poolSchedulable) int { return a.compare(b, k) })
	}
	for i := range spec.Pools {
		p, err := f.poolFrom(&spec.Pools[i])
		if err != nil {
			return Policy{}, err
		}
		f.addPool(p)
	}
	if f.byName["default"] == nil {
		f.addPool(f.newPool("default"))
	}
	return Policy{
		Assign: f.assign, Submitted: f.submitted, Updated: f.updated, TakeOver: f.takeOver, Wants: f.wants,
		Tick: f.tick, Interval: f.updateEvery, Skips: !f.preempts, Preempts: f.preempts, Held: f.held,
	}, nil
}

// takeOver starts the clocks of the pools, as the start of a JobTracker does.
func (f *fair2) takeOver(c *Cluster) {
	for _, p := range f.pools {
		p.atMinShare, p.atHalfShare = [2]time.Duration{c.Now, c.Now}, [2]time.Duration{c.Now, c.Now}
	}
}

// submitted implements FairScheduler.JobListener.jobAdded.
func (f *fair2) submitted(c *Cluster, j *Job) {
	name := PoolOf(j.Pool, j.User)
	p := f.byName[name]
	if p == nil {
		p = f.newPool(name)
		p.atMinShare, p.atHalfShare = [2]time.Duration{c.Now, c.Now}, [2]time.Duration{c.Now, c.Now}
		f.addPool(p)
	}
	i := &jobSchedulable{pool: p}
	f.come(i, j, &p.jobsRunning)
	for k := range p.jobs {
		if f.resorts {
			p.jobs[k] = append(p.jobs[k], i)
		}
		f.unsort(i, k)
		f.place(p, k)
	}
	f.mark(i)
	f.update(c)
}

// tick runs the UpdateThread once.
func (f *fair2) tick(c *Cluster) bool {
	f.update(c)
	if f.preempts && (f.preemptedAt == 0 || c.Now-f.preemptedAt >= f.preemptEvery) {
		f.preemptedAt = c.Now
		f.preempt(c)
	}
	return false
}

// wants returns which heartbeats matter. One matters while some pool with a job
// to ask runs fewer or more tasks than it demanded at the last update. The next
// heartbeat of any tracker also matters after jobs were refused, because it ends
// their wait.
func (f *fair2) wants(c *Cluster) Offers {
	want := Offers{Any: len(f.skipped) > 0}
	all := f.resorts || f.preempts || f.meter
	maps, reduces := all || c.Unspent[workload.Map] > 0, all || c.Waiting[workload.Reduce] > 0
	if maps || reduces {
		f.follow()
		want.Map = maps && f.demand[workload.Map] != f.running[workload.Map]
		want.Reduce = reduces && f.demand[workload.Reduce] != f.running[workload.Reduce]
	}
	return want
}

// assign implements FairScheduler.assignTasks. It launches tasks of the type
// with fewer running ones on the tracker, until both types are refused.
func (f *fair2) assign(c *Cluster, t *TaskTracker) {
	f.endWaits(c)
	f.follow()
	demand, running := f.demand, f.running
	var given [2]int
	var refused [2]bool
	for {
		for k := range refused {
			if !refused[k] {
				why := f.refuses(c, t, k, load{demand[k], running[k], given[k]})
				if refused[k] = why != model.NotDeclined; refused[k] {
					c.declined(k, why)
				}
			}
		}
		if refused[0] && refused[1] || !f.assignMultiple && given[0]+given[1] > 0 {
			break
		}
		k := f.choose(t, refused, given)
		if f.assignOne(c, t, k) {
			given[k]++
			running[k]++
		} else {
			refused[k] = true
		}
	}
	f.markSkipped()
}

// load counts tasks of a type: those that pools demand and run, and those that
// the tracker got at this heartbeat.
type load struct{ demand, running, given int }

// refuses returns why a tracker gets no more tasks of a type.
func (f *fair2) refuses(c *Cluster, t *TaskTracker, k int, l load) model.Reason {
	switch {
	case l.given == f.capacity(t, k):
		return model.OneTaskPerHeartbeat
	case l.running == l.demand:
		return model.NothingWaiting
	case f.loaded(c, t, k, l.demand, l.given):
		return model.LoadFactor
	}
	return model.NotDeclined
}

// capacity returns how many tasks of a type the tracker may get at a heartbeat.
func (f *fair2Conf) capacity(t *TaskTracker, k int) int {
	free := t.Free(workload.Kind(k))
	switch {
	case !f.assignMultiple:
		return 1
	case f.caps[k] == -1:
		return free
	case f.countGiven:
		return min(f.caps[k], free)
	}
	return f.caps[k]
}

// loaded applies CapBasedLoadManager, which spreads tasks evenly.
func (f *fair2Conf) loaded(c *Cluster, t *TaskTracker, k, demand, given int) bool {
	load := f.maxDiff + float64(demand)/float64(c.Slots[k])
	bound := int(math.Ceil(float64(t.Slots[k]) * math.Min(1, load)))
	running := t.Running[k]
	if f.countGiven {
		running += given
	}
	return running >= bound
}

// choose picks the type with fewer running tasks on the tracker.
func (f *fair2) choose(t *TaskTracker, refused [2]bool, given [2]int) int {
	switch {
	case refused[workload.Map]:
		return int(workload.Reduce)
	case refused[workload.Reduce]:
		return int(workload.Map)
	}
	maps, reduces := t.Running[workload.Map], t.Running[workload.Reduce]
	if f.countGiven {
		maps += given[workload.Map]
		reduces += given[workload.Reduce]
	}
	if maps <= reduces {
		return int(workload.Map)
	}
	return int(workload.Reduce)
}

// assignOne launches one task: pools in fair order, and the jobs of each in
// fair or FIFO order.
func (f *fair2) assignOne(c *Cluster, t *TaskTracker, k int) bool {
	f.follow()
	if f.resorts || f.weightless {
		return f.assignSorting(c, t, k)
	}
	launched, next := false, 0
	f.order = f.order[:0]
	for p := range f.asking[k].all() {
		if launched {
			if next == mostNext || next == 0 && !c.notesNext(k) {
				break
			}
			next++
			f.noteNext(c, p, k)
			continue
		}
		if p.running[k] >= p.max[k] {
			continue
		}
		if len(p.unsorted[k]) > 0 {
			p.noteOrder(k)
			f.order = append(f.order, p)
		}
		launched = f.fromPool(c, t, p, k)
	}
	for _, p := range f.order {
		f.place(p, k)
	}
	return launched
}

// noteNext records a pool that would have been asked next, by its first job.
func (f *fair2) noteNext(c *Cluster, p *poolSchedulable, k int) {
	for i := range p.candidates[k].all() {
		c.asks(i.job, k, f.figures(i, k))
		c.refused(model.BehindOthers)
		return
	}
}

// assignSorting is assignOne for an order that changes with time, or is
// inconsistent because 0/0 equals everything. It sorts everything for every
// task, as Hadoop does.
func (f *fair2) assignSorting(c *Cluster, t *TaskTracker, k int) bool {
	f.order = append(f.order[:0], f.pools...)
	sortLikeJava(f.order, func(a, b *poolSchedulable) int { return a.compare(b, k) })
	for _, p := range f.order {
		if p.running[k] >= p.max[k] {
			continue
		}
		if !f.resorts {
			p.noteOrder(k)
			if f.fromPool(c, t, p, k) {
				return true
			}
			continue
		}
		f.sortJobs(c, p, k)
		for _, i := range p.jobs[k] {
			if i.isCandidate(k) && f.launch(c, t, i, k) {
				return true
			}
		}
	}
	return false
}

func (f *fair2) fromPool(c *Cluster, t *TaskTracker, p *poolSchedulable, k int) bool {
	asks := c.traced() || workload.Kind(k) == workload.Reduce
	for _, block := range p.candidates[k].blocks {
		for _, i := range block {
			if (asks || !f.waits(c, t, i)) && f.launch(c, t, i, k) {
				return true
			}
		}
	}
	return false
}

// waits reports whether a job waits for a local map, and a tracker has none for it.
// Most jobs that are asked do, so it need not be asked.
func (f *fair2) waits(c *Cluster, t *TaskTracker, i *jobSchedulable) bool {
	if !i.waits && f.reach(c, i) == OnNode && !i.job.HasLocal(t) {
		i.waits = true
		f.visit(i)
	}
	return i.waits
}

// visit records that a job is asked for a map.
func (l *fair2Looks) visit(i *jobSchedulable) {
	if !i.visited {
		i.visited = true
		l.visited = append(l.visited, i)
	}
}

func (f *fair2) launch(c *Cluster, t *TaskTracker, i *jobSchedulable, k int) bool {
	if c.traced() {
		c.asks(i.job, k, f.figures(i, k))
	}
	if workload.Kind(k) == workload.Reduce {
		return i.job.LaunchReduce(t)
	}
	f.visit(i)
	reach := f.reach(c, i)
	local, ok := i.job.LaunchMap(t, reach)
	if !ok {
		if reach <= InRack && i.job.Wants[k] {
			c.refused(model.LocalityWait)
			c.declined(k, model.LocalityWait)
		}
		return false
	}
	i.launched = true
	i.lastLevel, i.waited = local, 0
	return true
}

// held implements Policy.Held.
func (f *fair2) held(j *Job, k int) (model.Reason, model.Figures) {
	i := j.note.(*jobSchedulable)
	p := i.pool
	if f.limited && !i.runnable {
		return i.heldBy(p.name)
	}
	if p.demand[k] >= p.max[k] {
		return model.AtPoolLimit, model.Figures{Pool: "pool " + p.name, Running: p.running[k], Demand: p.running[k] + j.Pending(workload.Kind(k)), Limit: p.max[k]}
	}
	return model.NotDeclined, model.Figures{}
}

// figures returns the values of a job and its pool that decide when it is asked.
func (f *fair2) figures(i *jobSchedulable, k int) model.Figures {
	p := i.pool
	figures := model.Figures{
		Pool: p.name, Running: p.running[k], Demand: p.demand[k], MinShare: p.min[k], Share: p.share[k],
	}
	if workload.Kind(k) == workload.Map {
		figures.Waited = i.waited
		switch i.lastLevel {
		case workload.NodeLocal:
			figures.Delay = f.nodeDelay
			if i.waited >= f.nodeDelay {
				figures.Delay += f.rackDelay
			}
		case workload.RackLocal:
			figures.Delay = f.rackDelay
		}
	}
	return figures
}

// reach returns how far a job's next map may be from its data. The distance
// grows with the wait since its last map (getAllowedLocalityLevel).
func (f *fair2) reach(c *Cluster, i *jobSchedulable) Reach {
	p := i.pool
	if i.job.UnplacedMaps > 0 || c.Now-p.atMinShare[workload.Map] > p.minTimeout ||
		c.Now-p.atHalfShare[workload.Map] > f.fairTimeout {
		return Anywhere
	}
	switch i.lastLevel {
	case workload.NodeLocal:
		switch {
		case i.waited >= f.nodeDelay+f.rackDelay:
			return Anywhere
		case i.waited >= f.nodeDelay:
			return InRack
		}
		return OnNode
	case workload.RackLocal:
		if i.waited >= f.rackDelay {
			return Anywhere
		}
		return InRack
	}
	return Anywhere
}

// endWaits adds the time since the last heartbeat to the waits of jobs that
// were refused at it.
func (f *fair2) endWaits(c *Cluster) {
	since := c.Now - f.lastAssign
	if f.lastAssign == 0 {
		since = 0
	}
	f.lastAssign = c.Now
	for _, i := range f.skipped {
		i.waited += since
	}
	f.skipped = f.skipped[:0]
}

// markSkipped flags the jobs that were asked for a map but launched none.
func (f *fair2) markSkipped() {
	for _, i := range f.visited {
		if !i.launched {
			f.skipped = append(f.skipped, i)
		}
		i.visited, i.launched, i.waits = false, false, false
	}
	f.visited = f.visited[:0]
}

// update implements FairScheduler.update: it starts the jobs that may run, and
// counts the demand of every pool.
func (f *fair2) update(c *Cluster) {
	if f.autoDelay {
		f.nodeDelay = min(maxAutoDelay, time.Duration(int64(1.5*float64(ms(c.Heartbeat))))*time.Millisecond)
		f.rackDelay = f.nodeDelay
	}
	f.follow()
	f.dropEnded()
	f.updateRunnability(func(*jobSchedulable) bool { return true }, (*jobSchedulable).run)
	f.follow()
	f.updateDemands()
	if f.preempts || c.Traced {
		f.updateShares(c)
	}
	if f.preempts {
		f.updateClocks(c)
	}
}

// dropEnded removes ended jobs from their pools, with their running attempts.
func (f *fair2) dropEnded() {
	ended := func(i *jobSchedulable) bool { return i.job.State == Done }
	dropped := len(f.changed)
	f.changed = slices.DeleteFunc(f.changed, func(i *jobSchedulable) bool {
		if ended(i) {
			f.drop(i)
		}
		return i.left
	})
	if len(f.changed) < dropped {
		f.skipped = slices.DeleteFunc(f.skipped, ended)
	}
}

// updateDemands counts the tasks of changed jobs and of jobs with running
// attempts.
func (f *fair2) updateDemands() {
	ended := f.changed[:0]
	for _, i := range f.changed {
		f.refresh(i)
		f.setActive(i, i.job.ActiveTasks != [2]int{})
		if i.active == 0 {
			f.updateDemand(i)
		}
		if i.changed = i.job.State == Done; i.changed {
			ended = append(ended, i) // at once after its initialisation
		}
	}
	f.changed = ended
	for _, i := range f.active {
		f.updateDemand(i)
	}
	if !f.resorts {
		return
	}
	for _, p := range f.pools {
		for k := range p.demand {
			f.setDemand(p, k, p.demandInOrder(k, f.meter))
		}
	}
}
