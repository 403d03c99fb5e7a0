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

// fair1 is the fair scheduler of Hadoop 0.20 (contrib FairScheduler 1.0): jobs
// collect a deficit while they run fewer tasks than their fair share, and the
// largest deficit goes first. A tracker gets one task a heartbeat unless
// assignmultiple is on, and then at most one map and one reduce.
type fair1 struct {
	pools          map[string]*model.Pool
	users          map[string]int // most running jobs
	userDefault    int            // userMaxJobsDefault
	assignMultiple bool           // mapred.fairscheduler.assignmultiple, false
	sizeBased      bool           // mapred.fairscheduler.sizebasedweight, false
	boost          *booster

	infos    []*info1 // by submission
	list     []*info1 // for the time of one call
	updated  time.Duration
	restless bool // deficits, which never rest, have decided on guaranteed slots
}

// fairUpdate is how often shares are recomputed (FairScheduler.UPDATE_INTERVAL).
const fairUpdate = 500 * time.Millisecond

// info1 is FairScheduler.JobInfo. Pairs are by type of task.
type info1 struct {
	job      *Job
	pool     string
	runnable bool
	weight   [2]float64
	deficit  [2]int64 // task-milliseconds
	running  [2]int   // at the last update, and launched since
	needed   [2]int
	min      [2]int
	share    [2]float64
}

func (i *info1) runnableTasks(k int) int { return i.needed[k] + i.running[k] }

// booster is NewJobWeightBooster: young jobs weigh more.
type booster struct {
	factor   float64
	duration time.Duration
}

func (b *booster) adjust(c *Cluster, j *Job, weight float64) float64 {
	if c.Now-j.Submit < b.duration {
		return weight * b.factor
	}
	return weight
}

func newBooster(conf workload.Conf) (*booster, error) {
	name := conf.String("mapred.fairscheduler.weightadjuster", "")
	if name == "" {
		return nil, nil
	}
	if !strings.HasSuffix(name, "NewJobWeightBooster") {
		return nil, fmt.Errorf("mapred.fairscheduler.weightadjuster = %q: want org.apache.hadoop.mapred.NewJobWeightBooster", name)
	}
	factor, err := conf.Float("mapred.newjobweightbooster.factor", 3)
	if err != nil {
		return nil, err
	}
	ms, err := conf.Int("mapred.newjobweightbooster.duration", 5*60*1000)
	return &booster{float64(float32(factor)), time.Duration(ms) * time.Millisecond}, err
}

func newFair1(spec model.Scheduler, _ *model.Release) (Scheduler, error) {
	f := &fair1{pools: make(map[string]*model.Pool), users: make(map[string]int)}
	for i := range spec.Pools {
		f.pools[spec.Pools[i].Name] = &spec.Pools[i]
	}
	for _, u := range spec.Users {
		f.users[u.Name] = u.MaxRunningJobs
	}
	var err error
	if f.userDefault, err = spec.Conf.Int("userMaxJobsDefault", math.MaxInt32); err != nil {
		return nil, err
	}
	if f.assignMultiple, err = spec.Conf.Bool("mapred.fairscheduler.assignmultiple", false); err != nil {
		return nil, err
	}
	if f.sizeBased, err = spec.Conf.Bool("mapred.fairscheduler.sizebasedweight", false); err != nil {
		return nil, err
	}
	f.boost, err = newBooster(spec.Conf)
	return f, err
}

// PoolOf is the pool of a job: the one it names, else its user's, else default.
func PoolOf(pool, user string) string { return cmp.Or(pool, user, "default") }

// ReadsProgress: update counts lagging tasks as needed even where speculation
// is off.
func (f *fair1) ReadsProgress() bool { return true }

func (f *fair1) Interval() (time.Duration, bool) { return fairUpdate, f.boost == nil }

func (f *fair1) Submitted(c *Cluster, j *Job) {
	f.infos = append(f.infos, &info1{job: j, pool: PoolOf(j.Pool, j.User)})
	f.update(c)
	j.Init()
}

func (f *fair1) Tick(c *Cluster) bool {
	f.update(c)
	return f.restless
}

func (f *fair1) Assign(c *Cluster, t *TaskTracker) {
	f.catchUp(c)
	var runnable [2]int
	for _, i := range f.infos {
		runnable[0] += i.runnableTasks(0)
		runnable[1] += i.runnableTasks(1)
	}
	for k := range runnable {
		// CapBasedLoadManager
		load := float64(runnable[k]) / float64(c.Slots[k])
		if t.Running[k] >= int(math.Ceil(float64(t.Slots[k])*math.Min(1, load))) {
			continue
		}
		if f.assignOne(t, k) && !f.assignMultiple {
			return
		}
	}
}

func (f *fair1) assignOne(t *TaskTracker, k int) bool {
	f.list = f.list[:0]
	for _, i := range f.infos {
		if i.job.Wants[k] && i.needed[k] > 0 {
			f.list = append(f.list, i)
		}
	}
	// DeficitComparator. Ties are in the order of a hash map in Hadoop.
	slices.SortStableFunc(f.list, func(a, b *info1) int {
		needyA, needyB := a.job.RunningTasks[k] < a.min[k], b.job.RunningTasks[k] < b.min[k]
		switch {
		case needyA && !needyB:
			return -1
		case needyB && !needyA:
			return 1
		case a.deficit[k] > b.deficit[k]:
			return -1
		case a.deficit[k] < b.deficit[k]:
			return 1
		}
		return 0
	})
	for _, i := range f.list {
		ok := false
		if workload.Kind(k) == workload.Map {
			_, ok = i.job.LaunchMap(t, Anywhere)
		} else {
			ok = i.job.LaunchReduce(t)
		}
		if ok {
			i.running[k]++
			i.needed[k]--
			return true
		}
	}
	return false
}

func (f *fair1) update(c *Cluster) {
	f.catchUp(c)
	f.updateDeficits(c.Now)
	f.infos = slices.DeleteFunc(f.infos, func(i *info1) bool { return i.job.State == Done })
	f.updateRunnability()
	for _, i := range f.infos {
		f.updateTaskCounts(i)
	}
	f.updateWeights(c)
	f.updateMinSlots()
	for k := range c.Slots {
		f.updateFairShares(c, k)
	}
}

// catchUp makes up for ticks that were skipped: shares and counts came out as
// before.
func (f *fair1) catchUp(c *Cluster) {
	for tick := (f.updated/fairUpdate + 1) * fairUpdate; tick <= c.LastTick; tick += fairUpdate {
		f.updateDeficits(tick)
	}
}

func (f *fair1) updateDeficits(now time.Duration) {
	delta := float64(ms(now) - ms(f.updated))
	for _, i := range f.infos {
		for k := range i.deficit {
			// The sum is cut to whole milliseconds, not the increment.
			i.deficit[k] = int64(float64(i.deficit[k]) + float64((i.share[k]-float64(i.running[k]))*delta))
		}
	}
	f.updated = now
}

// updateRunnability lets jobs run in order of priority and submission until
// the limits of their user or pool are used up.
func (f *fair1) updateRunnability() {
	f.list = append(f.list[:0], f.infos...)
	slices.SortStableFunc(f.list, func(a, b *info1) int { return byPriority(a.job, b.job) })
	users, pools := map[string]int{}, map[string]int{}
	for _, i := range f.list {
		i.runnable = false
		if i.job.State != Running {
			continue
		}
		user := i.job.User
		if users[user] < f.maxJobsOfUser(user) && pools[i.pool] < maxJobs(f.pools[i.pool]) {
			i.runnable = true
			users[user]++
			pools[i.pool]++
		}
	}
}

func (f *fair1) maxJobsOfUser(user string) int {
	if n, ok := f.users[user]; ok {
		return n
	}
	return f.userDefault
}

func maxJobs(p *model.Pool) int {
	if p == nil || p.MaxRunningJobs == nil {
		return math.MaxInt
	}
	return *p.MaxRunningJobs
}

func (f *fair1) updateTaskCounts(i *info1) {
	j := i.job
	if j.State != Running {
		return
	}
	for k := range i.running {
		i.running[k] = j.Active[k]
		i.needed[k] = j.Tasks[k] - j.Active[k] - j.Finished[k] + j.Speculatable(workload.Kind(k))
	}
	maps := float64(j.Tasks[workload.Map])
	if float64(j.Finished[workload.Map]) < math.Max(1, maps*0.05) {
		i.needed[workload.Reduce] = 0
	}
	if !i.runnable {
		i.needed = [2]int{}
	}
}

func (f *fair1) updateWeights(c *Cluster) {
	sums := map[string]*[2]float64{}
	for _, i := range f.infos {
		sum := sums[i.pool]
		if sum == nil {
			sum = new([2]float64)
			sums[i.pool] = sum
		}
		for k := range i.weight {
			i.weight[k] = f.rawWeight(c, i, k)
			if i.runnable && i.runnableTasks(k) > 0 {
				sum[k] += i.weight[k]
			}
		}
	}
	for _, i := range f.infos {
		for k, sum := range sums[i.pool] {
			if sum == 0 {
				i.weight[k] = 0
			} else {
				i.weight[k] *= poolWeight(f.pools[i.pool]) / sum
			}
		}
	}
}

func poolWeight(p *model.Pool) float64 {
	if p == nil {
		return 1
	}
	return p.Weight
}

func (f *fair1) rawWeight(c *Cluster, i *info1, k int) float64 {
	if !i.runnable {
		return 0
	}
	weight := 1.0
	if f.sizeBased {
		weight = math.Log1p(float64(i.runnableTasks(k))) / math.Ln2
	}
	weight *= priorityFactor(i.job.Priority)
	if f.boost != nil {
		weight = f.boost.adjust(c, i.job, weight)
	}
	return weight
}

func priorityFactor(p workload.Priority) float64 {
	switch p {
	case workload.VeryHigh:
		return 4
	case workload.High:
		return 2
	case workload.Normal:
		return 1
	case workload.Low:
		return 0.5
	}
	return 0.25
}

// updateMinSlots deals the guaranteed slots of each pool to its jobs in rounds,
// by weight and never more than a job can use.
func (f *fair1) updateMinSlots() {
	byPool := map[string][]*info1{}
	for _, i := range f.infos {
		i.min = [2]int{}
		byPool[i.pool] = append(byPool[i.pool], i)
	}
	done := map[string]bool{}
	f.restless = false
	for _, i := range f.infos {
		if p := f.pools[i.pool]; p != nil && !done[i.pool] {
			done[i.pool] = true
			for k, slots := range [...]int{p.MinMaps, p.MinReduces} {
				if dealMinSlots(slices.Clone(byPool[i.pool]), k, slots) {
					f.restless = true
				}
			}
		}
	}
}

// dealMinSlots reports whether it came down to the deficits.
func dealMinSlots(jobs []*info1, k, left int) (byDeficit bool) {
	give := func(i *info1, slots int) {
		slots = min(left, i.runnableTasks(k)-i.min[k], slots)
		left -= slots
		i.min[k] += slots
	}
	for left > 0 {
		jobs = slices.DeleteFunc(jobs, func(i *info1) bool { return !i.runnable || i.runnableTasks(k) <= i.min[k] })
		total := 0.0
		for _, i := range jobs {
			total += i.weight[k]
		}
		if total == 0 {
			return false
		}
		before := left
		for _, i := range jobs {
			give(i, int(math.Floor(float64(before)*i.weight[k]/total)))
		}
		if left < before {
			continue
		}
		// Too few for everybody: the heaviest get one more.
		slices.SortStableFunc(jobs, func(a, b *info1) int {
			d := b.weight[k] - a.weight[k]
			if d == 0 {
				byDeficit = true
				d = float64(b.deficit[k]) - float64(a.deficit[k])
			}
			return sign(d)
		})
		for _, i := range jobs {
			give(i, int(math.Ceil(float64(before)*i.weight[k]/total)))
		}
		return byDeficit
	}
	return false
}

func sign(x float64) int {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// updateFairShares shares the cluster by weight; jobs whose guaranteed slots
// are more than that get those instead.
func (f *fair1) updateFairShares(c *Cluster, k int) {
	var left []*info1
	for _, i := range f.infos {
		i.share[k] = 0
		if i.runnable && i.runnableTasks(k) > 0 {
			left = append(left, i)
		}
	}
	slots := float64(c.Slots[k])
	for len(left) > 0 {
		total := 0.0
		for _, i := range left {
			total += i.weight[k]
		}
		before := slots
		fair := func(i *info1) float64 { return i.weight[k] / total * before }
		rest := slices.DeleteFunc(slices.Clone(left), func(i *info1) bool {
			if float64(i.min[k]) <= fair(i) {
				return false
			}
			i.share[k] = float64(i.min[k])
			slots -= i.share[k]
			return true
		})
		if len(rest) == len(left) {
			for _, i := range left {
				i.share[k] = fair(i)
			}
			return
		}
		left = rest
	}
}
