package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// fair2 is the fair scheduler of Hadoop 0.21 and 1.x (contrib FairScheduler
// 2.0): pools share the cluster, jobs share their pool, and the one that is
// furthest below its share goes first. Maps wait for a node, then a rack, that
// holds their data (delay scheduling).
type fair2 struct {
	assignMultiple bool          // mapred.fairscheduler.assignmultiple, true
	caps           [2]int        // mapred.fairscheduler.assignmultiple.{maps,reduces}, -1: no cap
	sizeBased      bool          // mapred.fairscheduler.sizebasedweight, false
	maxDiff        float64       // mapred.fairscheduler.load.max.diff, 0
	autoDelay      bool          // the delays follow the heartbeat interval
	nodeDelay      time.Duration // mapred.fairscheduler.locality.delay.node
	rackDelay      time.Duration // mapred.fairscheduler.locality.delay.rack
	updateEvery    time.Duration // mapred.fairscheduler.update.interval, 500 ms
	preempts       bool          // mapred.fairscheduler.preemption, false
	onlyLogs       bool          // mapred.fairscheduler.preemption.only.log, false
	preemptEvery   time.Duration // mapred.fairscheduler.preemption.interval, 15 s
	boost          *booster
	mode           string        // defaultPoolSchedulingMode, fair
	minTimeout     time.Duration // defaultMinSharePreemptionTimeout, never

	limits      limits
	fairTimeout time.Duration // fairSharePreemptionTimeout
	meter       bool          // a pool stops counting demand at its maximum (1.2)
	countGiven  bool          // what a heartbeat has given counts for the load (1.2)

	pools      []*pool2 // by name
	order      []*pool2 // as sorted for one task
	infos      []*info2 // by submission
	list       []*info2 // for the time of one call
	visited    []*info2 // asked for a map at this heartbeat
	preemptAt  time.Duration
	lastAssign time.Duration // 0: none yet
	skippers   []*info2      // refused a map at the last heartbeat
}

// limits are the numbers of jobs that pools and users may run.
type limits struct {
	pools       map[string]*model.Pool
	users       map[string]int
	poolDefault int // poolMaxJobsDefault
	userDefault int // userMaxJobsDefault
}

func (l *limits) user(name string) int {
	if n, ok := l.users[name]; ok {
		return n
	}
	return l.userDefault
}

func (l *limits) pool(name string) int {
	if p := l.pools[name]; p != nil && p.MaxRunningJobs != nil {
		return *p.MaxRunningJobs
	}
	return l.poolDefault
}

// pool2 is Pool and PoolSchedulable. Pairs are by type of task.
type pool2 struct {
	name       string
	fifo       bool
	weight     float64
	min        [2]int
	max        [2]int
	minTimeout time.Duration

	jobs        [2][]*info2 // in the order of the last sorting, where that matters
	running     [2]int      // tasks
	open        [2][]*info2 // the candidates, in no order that matters
	changes     [2]int      // of the cluster's jobs, as far as they are in open; -1: none
	demand      [2]int
	share       [2]float64
	atMinShare  [2]time.Duration // when it last had it
	atHalfShare [2]time.Duration
}

// info2 is JobInfo and JobSchedulable.
type info2 struct {
	job      *Job
	pool     *pool2
	runnable bool
	asked    bool // given to the initialiser
	demand   [2]int
	share    [2]float64
	weight   [2]float64 // while sorting

	lastLevel workload.Locality // of the last map launched
	waited    time.Duration     // for a local map, since then
	visited   bool              // asked for a map at this heartbeat
	launched  bool              // and gave one
}

const (
	maxAutoDelay  = 15 * time.Second
	noTimeout     = time.Duration(math.MaxInt64)
	unlimitedJobs = math.MaxInt32
)

func newFair2(spec model.Scheduler, r *model.Release) (Scheduler, error) {
	f := &fair2{meter: r.MeteredDemand, countGiven: r.CountAssigned}
	read := settings{conf: spec.Conf}
	f.assignMultiple = read.bool("mapred.fairscheduler.assignmultiple", true)
	f.caps = [2]int{read.int("mapred.fairscheduler.assignmultiple.maps", -1), read.int("mapred.fairscheduler.assignmultiple.reduces", -1)}
	f.sizeBased = read.bool("mapred.fairscheduler.sizebasedweight", false)
	f.maxDiff = float64(float32(read.float("mapred.fairscheduler.load.max.diff", 0)))
	f.updateEvery = read.millis("mapred.fairscheduler.update.interval", 500)
	f.preempts = read.bool("mapred.fairscheduler.preemption", false)
	f.onlyLogs = read.bool("mapred.fairscheduler.preemption.only.log", false)
	f.preemptEvery = read.millis("mapred.fairscheduler.preemption.interval", 15000)
	delay := read.int("mapred.fairscheduler.locality.delay", -1)
	node := read.int("mapred.fairscheduler.locality.delay.node", delay)
	rack := read.int("mapred.fairscheduler.locality.delay.rack", delay)
	f.nodeDelay, f.rackDelay = time.Duration(node)*time.Millisecond, time.Duration(rack)*time.Millisecond
	f.autoDelay = delay == -1 && (node == -1 || rack == -1)
	f.limits = limits{
		pools: make(map[string]*model.Pool), users: make(map[string]int),
		poolDefault: read.int("poolMaxJobsDefault", unlimitedJobs),
		userDefault: read.int("userMaxJobsDefault", unlimitedJobs),
	}
	f.fairTimeout = read.timeout("fairSharePreemptionTimeout")
	f.minTimeout = read.timeout("defaultMinSharePreemptionTimeout")
	f.mode = strings.ToLower(read.conf.String("defaultPoolSchedulingMode", "fair"))
	if read.err != nil {
		return nil, read.err
	}
	for _, u := range spec.Users {
		f.limits.users[u.Name] = u.MaxRunningJobs
	}
	for i := range spec.Pools {
		p := &spec.Pools[i]
		f.limits.pools[p.Name] = p
		if err := f.addPool(p); err != nil {
			return nil, err
		}
	}
	if f.limits.pools["default"] == nil {
		if err := f.addPool(&model.Pool{Name: "default", Weight: 1}); err != nil {
			return nil, err
		}
	}
	var err error
	f.boost, err = newBooster(spec.Conf)
	return f, err
}

func (f *fair2) addPool(p *model.Pool) error {
	mode, minTimeout := f.mode, f.minTimeout
	if p.Mode != "" {
		mode = strings.ToLower(p.Mode)
	}
	if mode != "fair" && mode != "fifo" {
		return fmt.Errorf("pool %s: scheduling mode %q: want fair or fifo", p.Name, mode)
	}
	if p.MinShareTimeout != nil {
		minTimeout = *p.MinShareTimeout
	}
	f.insertPool(&pool2{
		name: p.Name, fifo: mode == "fifo", weight: p.Weight, minTimeout: minTimeout,
		min: [2]int{p.MinMaps, p.MinReduces}, max: [2]int{maxSlots(p.MaxMaps), maxSlots(p.MaxReduces)},
	})
	return nil
}

func maxSlots(n *int) int {
	if n == nil {
		return math.MaxInt
	}
	return *n
}

func (f *fair2) insertPool(p *pool2) {
	i, _ := slices.BinarySearchFunc(f.pools, p, func(a, b *pool2) int { return cmp.Compare(a.name, b.name) })
	f.pools = slices.Insert(f.pools, i, p)
}

// poolOf finds the pool of a job; one that no file declares comes into being.
func (f *fair2) poolOf(c *Cluster, j *Job) *pool2 {
	name := PoolOf(j.Pool, j.User)
	for _, p := range f.pools {
		if p.name == name {
			return p
		}
	}
	unlimited := [2]int{math.MaxInt, math.MaxInt}
	p := &pool2{name: name, fifo: f.mode == "fifo", weight: 1, max: unlimited, minTimeout: f.minTimeout}
	p.atMinShare, p.atHalfShare = [2]time.Duration{c.Now, c.Now}, [2]time.Duration{c.Now, c.Now}
	f.insertPool(p)
	return p
}

func (f *fair2) Interval() (time.Duration, bool) { return f.updateEvery, !f.preempts }

func (f *fair2) Preempts() bool { return f.preempts }

func (f *fair2) Submitted(c *Cluster, j *Job) {
	p := f.poolOf(c, j)
	i := &info2{job: j, pool: p}
	j.Group = &p.running
	f.infos = append(f.infos, i)
	for k := range p.jobs {
		p.jobs[k] = append(p.jobs[k], i)
	}
	f.update(c)
}

func (f *fair2) Tick(c *Cluster) bool {
	f.update(c)
	if f.preempts && (f.preemptAt == 0 || c.Now-f.preemptAt >= f.preemptEvery) {
		f.preemptAt = c.Now
		f.preempt(c)
	}
	return false
}

// Wants: a heartbeat is looked at while some pool runs fewer, or more, tasks
// than it demanded at the last update, if there is a job to launch or refuse one,
// and when jobs have been refused, because the next heartbeat of any tracker ends
// the time they are taken to wait.
func (f *fair2) Wants(c *Cluster) Offers {
	want := Offers{Any: len(f.skippers) > 0}
	sorts := f.sizeBased || f.boost != nil || f.preempts || f.meter
	maps, reduces := sorts || c.Unspent[workload.Map] > 0, sorts || c.Waiting[workload.Reduce] > 0
	if maps || reduces {
		demand, running := f.totals()
		want.Map = maps && demand[workload.Map] != running[workload.Map]
		want.Reduce = reduces && demand[workload.Reduce] != running[workload.Reduce]
	}
	return want
}

func (f *fair2) totals() (demand, running [2]int) {
	for _, p := range f.pools {
		for k := range demand {
			demand[k] += p.demand[k]
			running[k] += p.running[k]
		}
	}
	return
}

func (f *fair2) Assign(c *Cluster, t *TaskTracker) {
	f.endWaits(c)
	runnable, running := f.totals()
	var given [2]int
	var rejected [2]bool
	for {
		for k := range rejected {
			if !rejected[k] {
				rejected[k] = given[k] == f.capacity(t, k) || running[k] == runnable[k] ||
					f.loaded(c, t, k, runnable[k], given[k])
			}
		}
		if rejected[0] && rejected[1] || !f.assignMultiple && given[0]+given[1] > 0 {
			break
		}
		k := f.choose(t, rejected, given)
		if f.assignOne(c, t, k) {
			given[k]++
			running[k]++
		} else {
			rejected[k] = true
		}
	}
	f.markSkipped()
}

// capacity is how many tasks of a type a heartbeat may give a tracker.
func (f *fair2) capacity(t *TaskTracker, k int) int {
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

// loaded is the refusal of CapBasedLoadManager: tasks are spread evenly.
func (f *fair2) loaded(c *Cluster, t *TaskTracker, k, runnable, given int) bool {
	load := f.maxDiff + float64(runnable)/float64(c.Slots[k])
	bound := int(math.Ceil(float64(t.Slots[k]) * math.Min(1, load)))
	running := t.Running[k]
	if f.countGiven {
		running += given
	}
	return running >= bound
}

// choose picks the type of which the tracker runs fewer.
func (f *fair2) choose(t *TaskTracker, rejected [2]bool, given [2]int) int {
	switch {
	case rejected[workload.Map]:
		return int(workload.Reduce)
	case rejected[workload.Reduce]:
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
	f.order = append(f.order[:0], f.pools...)
	sortLikeJava(f.order, func(a, b *pool2) int {
		return cmp.Or(fairOrder(a.running[k], a.min[k], a.demand[k], a.weight, b.running[k], b.min[k], b.demand[k], b.weight),
			cmp.Compare(a.name, b.name))
	})
	for _, p := range f.order {
		if p.running[k] >= p.max[k] {
			continue
		}
		for _, i := range f.candidates(c, p, k) {
			if f.launch(c, t, i, k) {
				return true
			}
		}
	}
	return false
}

// candidates lists the jobs of a pool that may launch a task, in their order.
// Of the others, those that may do so later are asked for a map as well: they
// are refused one.
func (f *fair2) candidates(c *Cluster, p *pool2, k int) []*info2 {
	keep := f.remembersOrder(p, k)
	if keep {
		f.sortJobs(c, p, p.jobs[k], k)
	}
	if keep || p.changes[k] != c.Changes {
		p.changes[k] = c.Changes
		p.open[k] = p.open[k][:0]
		for _, i := range p.jobs[k] {
			j := i.job
			if i.runnable && j.State == Running && (j.Wants[k] || workload.Kind(k) == workload.Map && !j.Spent[k]) {
				p.open[k] = append(p.open[k], i)
			}
		}
	}
	if !keep {
		f.sortJobs(c, p, p.open[k], k)
	}
	return p.open[k]
}

// remembersOrder reports whether the order of a pool's jobs, spent ones too,
// makes a difference later: because it may depend on the one before, or because
// sums and lists are made in it.
func (f *fair2) remembersOrder(p *pool2, k int) bool {
	return f.sizeBased || f.boost != nil || f.preempts || f.meter && p.max[k] != math.MaxInt
}

// fairOrder is SchedulingAlgorithms.FairShareComparator without its last
// resort.
func fairOrder(run1, min1, demand1 int, weight1 float64, run2, min2, demand2 int, weight2 float64) int {
	share1, share2 := min(min1, demand1), min(min2, demand2)
	needy1, needy2 := run1 < share1, run2 < share2
	switch {
	case needy1 && !needy2:
		return -1
	case needy2 && !needy1:
		return 1
	case needy1:
		return sign(float64(run1)/math.Max(float64(share1), 1) - float64(run2)/math.Max(float64(share2), 1))
	}
	return sign(float64(run1)/weight1 - float64(run2)/weight2)
}

func (f *fair2) sortJobs(c *Cluster, p *pool2, jobs []*info2, k int) {
	if p.fifo {
		slices.SortStableFunc(jobs, func(a, b *info2) int { return byPriority(a.job, b.job) })
		return
	}
	for _, i := range jobs {
		i.weight[k] = f.jobWeight(c, i, k)
	}
	sortLikeJava(jobs, func(a, b *info2) int {
		return cmp.Or(fairOrder(a.job.RunningTasks[k], 0, a.demand[k], a.weight[k], b.job.RunningTasks[k], 0, b.demand[k], b.weight[k]),
			cmp.Compare(a.job.Submit, b.job.Submit), cmp.Compare(a.job.ID, b.job.ID))
	})
}

func (f *fair2) jobWeight(c *Cluster, i *info2, k int) float64 {
	if !i.runnable {
		return 1
	}
	weight := 1.0
	if f.sizeBased {
		weight = math.Log1p(float64(i.demand[k])) / math.Ln2
	}
	weight *= priorityFactor(i.job.Priority)
	if f.boost != nil {
		weight = f.boost.adjust(c, i.job, weight)
	}
	return weight
}

func (f *fair2) launch(c *Cluster, t *TaskTracker, i *info2, k int) bool {
	if workload.Kind(k) == workload.Reduce {
		return i.job.LaunchReduce(t)
	}
	if !i.visited {
		i.visited = true
		f.visited = append(f.visited, i)
	}
	local, ok := i.job.LaunchMap(t, f.reach(c, i))
	if !ok {
		return false
	}
	i.launched = true
	i.lastLevel, i.waited = local, 0
	return true
}

// reach is how far a job's next map may be from its data: the farther, the
// longer it has waited since its last one (getAllowedLocalityLevel).
func (f *fair2) reach(c *Cluster, i *info2) Reach {
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

// endWaits adds the time since the last heartbeat to the waits of the jobs that
// were refused at it.
func (f *fair2) endWaits(c *Cluster) {
	since := c.Now - f.lastAssign
	if f.lastAssign == 0 {
		since = 0
	}
	f.lastAssign = c.Now
	for _, i := range f.skippers {
		i.waited += since
	}
	f.skippers = f.skippers[:0]
}

// markSkipped flags the jobs that were asked for a map and gave none.
func (f *fair2) markSkipped() {
	for _, i := range f.visited {
		if !i.launched {
			f.skippers = append(f.skippers, i)
		}
		i.visited, i.launched = false, false
	}
	f.visited = f.visited[:0]
}

func (f *fair2) update(c *Cluster) {
	if f.autoDelay {
		f.nodeDelay = min(maxAutoDelay, time.Duration(int64(1.5*float64(ms(c.Heartbeat))))*time.Millisecond)
		f.rackDelay = f.nodeDelay
	}
	gone := func(i *info2) bool { return i.job.State == Done }
	for _, i := range f.infos {
		if gone(i) {
			i.leave()
		}
	}
	f.skippers = slices.DeleteFunc(f.skippers, gone)
	f.infos = slices.DeleteFunc(f.infos, gone)
	for _, p := range f.pools {
		p.changes = [2]int{-1, -1}
		for k := range p.jobs {
			p.jobs[k] = slices.DeleteFunc(p.jobs[k], gone)
		}
	}
	f.updateRunnability()
	for _, p := range f.pools {
		for k := range p.demand {
			f.updateDemand(p, k)
		}
	}
	if f.preempts {
		f.updateShares(c)
		f.updateClocks(c)
	}
}

// updateRunnability lets jobs run, and has them initialised, in order of
// priority and submission until the limits are used up.
func (f *fair2) updateRunnability() {
	f.list = append(f.list[:0], f.infos...)
	slices.SortStableFunc(f.list, func(a, b *info2) int { return byPriority(a.job, b.job) })
	users, pools := map[string]int{}, map[string]int{}
	for _, i := range f.list {
		i.runnable = false
		user, pool := i.job.User, i.pool.name
		if users[user] >= f.limits.user(user) || pools[pool] >= f.limits.pool(pool) {
			continue
		}
		users[user]++
		pools[pool]++
		if i.job.State != Running && !i.asked {
			i.asked = true
			i.job.Init()
		}
		i.runnable = i.job.State == Running
	}
}

// leave takes what still runs of a job that has ended from its pool's count.
func (i *info2) leave() {
	for k := range i.pool.running {
		i.pool.running[k] -= i.job.RunningTasks[k]
	}
	i.job.Group = nil
}

func (f *fair2) updateDemand(p *pool2, k int) {
	p.demand[k] = 0
	for _, i := range p.jobs[k] {
		i.demand[k] = i.demandNow(k)
		p.demand[k] += i.demand[k]
		if f.meter && p.demand[k] >= p.max[k] {
			break
		}
	}
	p.demand[k] = min(p.demand[k], p.max[k])
}

// demandNow counts for every unfinished task its attempts, or one.
func (i *info2) demandNow(k int) int {
	j := i.job
	if !i.runnable || j.State != Running || workload.Kind(k) == workload.Reduce && !j.ReducesReady {
		return 0
	}
	n := j.Tasks[k] - j.Finished[k] - j.ActiveTasks[k] + j.Active[k]
	if j.Speculates[k] {
		n += j.Speculatable(workload.Kind(k))
	}
	return n
}
