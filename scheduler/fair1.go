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
// largest deficit goes first. A tracker gets one task a heartbeat, or at most
// one map and one reduce if assignmultiple is set.
type fair1 struct {
	fairJobs[*jobInfo]
	assignMultiple bool // mapred.fairscheduler.assignmultiple, false
	sizeBased      bool // mapred.fairscheduler.sizebasedweight, false
	boost          *booster

	pools      []*fairPool
	poolIDs    map[string]int32
	guarantees [2]bool // some pool has guaranteed slots

	infos []*jobInfo   // by submission; nil for a job that has ended
	ended int          // of infos
	rows  [2]shareRows // by type of task

	// The following are buffers for a single call.
	needy   []int32
	factors []float64 // by pool

	updatedAt time.Duration
	slots     [2]int // at the last update
	byTie     bool   // deficits, which grow with time, have decided on guaranteed slots
}

// fairUpdate is the interval at which shares are recomputed
// (FairScheduler.UPDATE_INTERVAL).
const fairUpdate = 500 * time.Millisecond

// fairPool is a pool of the allocation file, or one that a job names.
type fairPool struct {
	quota
	weight float64
	min    [2]int  // guaranteed slots by type of task
	rows   []int32 // of its jobs
}

// jobInfo is FairScheduler.JobInfo. Its figures by type of task are in
// shareRows.
type jobInfo struct {
	fairJob
	row     int32   // index in shareRows and fair1.infos
	wanted  [2]bool // the job wanted tasks at the last look
	lagging [2]int  // lagging tasks at the last update
}

// booster is NewJobWeightBooster: it raises the weight of new jobs.
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

func (s *settings) booster() *booster {
	const key = "mapred.fairscheduler.weightadjuster"
	name := s.Conf.Text(key)
	if name == "" {
		return nil
	}
	if !strings.HasSuffix(name, "NewJobWeightBooster") {
		s.Note(fmt.Errorf("%s = %q: want org.apache.hadoop.mapred.NewJobWeightBooster", key, name))
	}
	return &booster{
		factor:   float64(float32(s.Number("mapred.newjobweightbooster.factor"))),
		duration: s.millis("mapred.newjobweightbooster.duration"),
	}
}

// weights rejects weights of 0 and other invalid ones.
func (s *settings) weights(pools []model.Pool) {
	for _, p := range pools {
		if p.Weight < 0 || math.IsInf(p.Weight, 1) || math.IsNaN(p.Weight) {
			s.Note(fmt.Errorf("pool %s: weight = %v: want a number, 0 or more", p.Name, p.Weight))
		}
	}
}

var fair1Policy = named{
	name:  "fair1",
	about: "FairScheduler of 0.20: deficits, one task a heartbeat",
	order: "fair1 first asks jobs that run fewer tasks than their minimum share. Then it asks the job with the largest deficit: the task time by which it has fallen behind its fair share.",
	make:  newFair1,
}

func newFair1(spec model.Scheduler, _ *model.Release) (Policy, error) {
	read := settingsIn(spec.Conf)
	f := &fair1{
		assignMultiple: read.Truth("mapred.fairscheduler.assignmultiple"),
		sizeBased:      read.Truth("mapred.fairscheduler.sizebasedweight"),
		poolIDs:        make(map[string]int32),
		fairJobs:       fairJobs[*jobInfo]{userDefault: read.int("userMaxJobsDefault", unlimitedJobs, 0)},
		boost:          read.booster(),
	}
	limited := false
	read.weights(spec.Pools)
	if read.Err != nil {
		return Policy{}, read.Err
	}
	for i := range spec.Pools {
		p := &spec.Pools[i]
		most := math.MaxInt
		if p.MaxRunningJobs != nil {
			most = *p.MaxRunningJobs
			limited = true
		}
		f.guarantees[0] = f.guarantees[0] || p.MinMaps > 0
		f.guarantees[1] = f.guarantees[1] || p.MinReduces > 0
		f.addPool(p.Name, &fairPool{weight: p.Weight, min: [2]int{p.MinMaps, p.MinReduces}, quota: quota{most: most}})
	}
	f.open(limited, spec.Users)
	return Policy{
		Assign: f.assign, Submitted: f.submitted, Updated: f.updated, check: f.check,
		TakeOver: func(c *Cluster) { f.updatedAt = c.Now }, // deficits grow from now on
		Tick:     f.tick, Interval: fairUpdate, Skips: f.boost == nil, Held: f.held,
		ReadsProgress: true, // lagging tasks count as needed even if speculation is off
	}, nil
}

func (f *fair1) addPool(name string, p *fairPool) int32 {
	id := int32(len(f.pools))
	f.pools = append(f.pools, p)
	f.poolIDs[name] = id
	for k := range f.rows {
		f.rows[k].poolRaw = append(f.rows[k].poolRaw, 0)
	}
	return id
}

// PoolOf returns the pool of a job: the one it names, else its user's, else
// default.
func PoolOf(pool, user string) string { return cmp.Or(pool, user, "default") }

// submitted implements FairScheduler.jobAdded.
func (f *fair1) submitted(c *Cluster, j *Job) {
	name := PoolOf(j.Pool, j.User)
	pool, ok := f.poolIDs[name]
	if !ok {
		pool = f.addPool(name, &fairPool{weight: 1, quota: quota{most: math.MaxInt}})
	}
	i := &jobInfo{row: int32(len(f.infos))}
	f.come(i, j, &f.pools[pool].quota)
	f.infos = append(f.infos, i)
	for k := range f.rows {
		f.rows[k].add(pool, priorityFactor(j.Priority))
	}
	f.update(c)
	j.Init()
}

// tick runs the UpdateThread once.
func (f *fair1) tick(c *Cluster) bool {
	f.update(c)
	return f.byTie
}

// assign launches a map or a reduce on the tracker, or both if assignmultiple
// is set.
func (f *fair1) assign(c *Cluster, t *TaskTracker) {
	f.follow()
	f.catchUp(c)
	for k := range f.rows {
		// CapBasedLoadManager
		load := float64(f.rows[k].tasks) / float64(c.Slots[k])
		if t.Running[k] >= int(math.Ceil(float64(t.Slots[k])*math.Min(1, load))) {
			c.declined(k, model.LoadFactor)
			continue
		}
		if f.assignOne(c, t, k) {
			c.declined(k, model.OneTaskPerHeartbeat)
			if !f.assignMultiple {
				c.declined(int(workload.Reduce), model.OneTaskPerHeartbeat)
				return
			}
		}
	}
}

// assignOne launches one task. Jobs below their guaranteed slots go first, then
// those with larger deficits (DeficitComparator). Ties are in order of
// submission; in Hadoop they are in the order of a hash map.
func (f *fair1) assignOne(c *Cluster, t *TaskTracker, k int) bool {
	r := &f.rows[k]
	f.needy = f.needy[:0]
	for _, row := range r.guaranteed {
		if f.launchable(row, k) && f.isNeedy(row, k) {
			f.needy = append(f.needy, row)
		}
	}
	slices.SortStableFunc(f.needy, r.byDeficit)
	for _, row := range f.needy {
		if f.launchRow(c, t, row, k) {
			f.nextBest(c, 0, k)
			return true
		}
	}
	for n := 0; n < len(r.best) || f.findBest(r, k); n++ {
		row := r.best[n]
		if f.launchable(row, k) && !f.isNeedy(row, k) && f.launchRow(c, t, row, k) {
			f.nextBest(c, n+1, k)
			return true
		}
	}
	return false
}

// nextBest records the jobs that would have been asked next.
func (f *fair1) nextBest(c *Cluster, from, k int) {
	if !c.notesNext(k) {
		return
	}
	r := &f.rows[k]
	for n := from; n < min(from+mostNext, len(r.best)); n++ {
		if row := r.best[n]; f.launchable(row, k) && !f.isNeedy(row, k) {
			c.asks(f.infos[row].job, k, f.figures(row, k))
			c.refused(model.BehindOthers)
		}
	}
}

// figures returns the values of a job that decide when it is asked.
func (f *fair1) figures(row int32, k int) model.Figures {
	r := &f.rows[k]
	return model.Figures{
		Pool: PoolOf(f.infos[row].job.Pool, f.infos[row].job.User), Running: int(r.running[row]), Demand: int(r.running[row] + r.needed[row]),
		MinShare: int(r.min[row]), Share: r.share[row], Deficit: time.Duration(r.deficit[row]) * time.Millisecond,
	}
}

func (f *fair1) launchable(row int32, k int) bool {
	return f.rows[k].needed[row] > 0 && f.infos[row].job.Wants[k]
}

// isNeedy reports whether a job runs fewer tasks than it is guaranteed.
func (f *fair1) isNeedy(row int32, k int) bool {
	least := f.rows[k].min[row]
	return least > 0 && f.infos[row].job.RunningTasks[k] < int(least)
}

// findBest continues the list of rows by deficit, and reports whether there are
// more.
func (f *fair1) findBest(r *shareRows, k int) bool {
	found := len(r.best)
	r.extendBest(func(row int32) bool { return f.infos[row].wanted[k] })
	return len(r.best) > found
}

func (f *fair1) launchRow(c *Cluster, t *TaskTracker, row int32, k int) bool {
	if c.traced() {
		c.asks(f.infos[row].job, k, f.figures(row, k))
	}
	if !launch(f.infos[row].job, t, workload.Kind(k)) {
		return false
	}
	f.rows[k].launched(row)
	return true
}

// follow records the jobs that have changed.
func (f *fair1) follow() {
	for j, ok := f.next(); ok; j, ok = f.next() {
		i := j.note.(*jobInfo)
		f.mark(i)
		for k := range i.wanted {
			if j.Wants[k] && !i.wanted[k] {
				f.rows[k].forgetBest()
			}
		}
		i.wanted = j.Wants
	}
}

// update implements FairScheduler.update. It skips whatever depends on nothing
// that has changed.
func (f *fair1) update(c *Cluster) {
	f.follow()
	f.catchUp(c)
	f.updateDeficits(c.Now)
	f.dropEnded()
	f.updateRunnability((*jobInfo).runs, (*jobInfo).run)
	f.updateTaskCounts()
	moved := f.slots != c.Slots || f.sizeBased || f.boost != nil
	f.slots = c.Slots
	byTie := f.byTie
	f.byTie = false
	for k := range f.rows {
		r := &f.rows[k]
		if moved || r.regrouped {
			f.updateWeights(c, k)
		}
		dealt := (moved || r.recounted || byTie) && f.updateMinSlots(k)
		if moved || r.regrouped || dealt {
			r.updateShares(float64(c.Slots[k]))
		}
		r.regrouped, r.recounted = false, false
	}
}

// catchUp does the work of skipped ticks, in which shares and counts did not
// change.
func (f *fair1) catchUp(c *Cluster) {
	for tick := (f.updatedAt/fairUpdate + 1) * fairUpdate; tick <= c.LastTick; tick += fairUpdate {
		f.updateDeficits(tick)
	}
}

func (f *fair1) updateDeficits(now time.Duration) {
	delta := float64(ms(now) - ms(f.updatedAt))
	for k := range f.rows {
		f.rows[k].updateDeficits(delta)
	}
	f.updatedAt = now
}

// dropEnded removes the jobs that have ended.
func (f *fair1) dropEnded() {
	f.changed = slices.DeleteFunc(f.changed, func(i *jobInfo) bool {
		if i.job.State != Done {
			return false
		}
		for k := range f.rows {
			f.rows[k].count(i.row, 0, 0, false)
		}
		f.leave(i)
		f.infos[i.row] = nil
		f.ended++
		return true
	})
	if f.ended <= len(f.infos)/8 {
		return
	}
	kept := func(row int) bool { return f.infos[row] != nil }
	for k := range f.rows {
		f.rows[k].compact(kept)
	}
	f.infos = slices.DeleteFunc(f.infos, func(i *jobInfo) bool { return i == nil })
	for row, i := range f.infos {
		i.row = int32(row)
	}
	f.ended = 0
}

func (i *jobInfo) runs() bool { return i.job.State == Running }

func (i *jobInfo) run() { i.runnable = i.runs() }

// held implements Policy.Held.
func (f *fair1) held(j *Job, _ int) (model.Reason, model.Figures) {
	if i := j.note.(*jobInfo); f.limited && !i.runnable {
		return i.heldBy(PoolOf(j.Pool, j.User))
	}
	return model.NotDeclined, model.Figures{}
}

// updateTaskCounts counts the tasks of changed jobs, and of jobs with a changed
// number of lagging tasks.
func (f *fair1) updateTaskCounts() {
	for _, i := range f.changed {
		runs := i.job.State == Running
		f.setActive(i, runs && i.job.ActiveTasks != [2]int{})
		if i.active > 0 {
			continue
		}
		i.changed, i.lagging = false, [2]int{}
		if runs {
			f.count(i)
		}
	}
	f.changed = f.changed[:0]
	for _, i := range f.active {
		if i.lags() || i.changed {
			i.changed = false
			f.count(i)
		}
	}
}

// lags counts the lagging tasks, and reports whether the number has changed.
func (i *jobInfo) lags() (changed bool) {
	for k := range i.lagging {
		n := 0
		if i.job.ActiveTasks[k] > 0 {
			n = i.job.Speculatable(workload.Kind(k))
		}
		changed = changed || n != i.lagging[k]
		i.lagging[k] = n
	}
	return changed
}

// check refuses a job with reduces and no maps, which FairScheduler of 0.20 never
// serves: reduces are needed once a map has ended.
func (f *fair1) check(j *workload.Job, _ [2]int) error {
	if j.Maps.Count == 0 && j.Reduces.Count > 0 {
		return fmt.Errorf("job %s has reduces and no maps: fair1 launches reduces only after a map has ended", j.ID)
	}
	return nil
}

// count computes the running and needed tasks of a job. Reduces are not needed
// before 5 % of the maps have ended.
func (f *fair1) count(i *jobInfo) {
	j := i.job
	maps := float64(j.Tasks[workload.Map])
	for k := range f.rows {
		needed := j.Tasks[k] - j.Active[k] - j.Finished[k] + i.lagging[k]
		early := workload.Kind(k) == workload.Reduce && float64(j.Finished[workload.Map]) < math.Max(1, maps*0.05)
		if early || !i.runnable {
			needed = 0
		}
		f.rows[k].count(i.row, j.Active[k], needed, i.runnable)
	}
}

// updateWeights sets every job's share of its pool's weight.
func (f *fair1) updateWeights(c *Cluster, k int) {
	r := &f.rows[k]
	if f.sizeBased || f.boost != nil {
		clear(r.poolRaw)
		for row, in := range r.divides {
			if in {
				r.raw[row] = f.rawWeight(c, r, row)
				r.poolRaw[r.pool[row]] += r.raw[row]
			}
		}
	}
	f.factors = f.factors[:0]
	for n := range f.pools {
		factor := 0.0
		if r.poolRaw[n] != 0 {
			factor = f.pools[n].weight / r.poolRaw[n]
		}
		f.factors = append(f.factors, factor)
	}
	r.updateWeights(f.factors)
}

// rawWeight implements FairScheduler.calculateRawWeight.
func (f *fair1) rawWeight(c *Cluster, r *shareRows, row int) float64 {
	j := f.infos[row].job
	weight := 1.0
	if f.sizeBased {
		weight = math.Log1p(float64(r.needed[row]+r.running[row])) / math.Ln2
	}
	weight *= priorityFactor(j.Priority)
	if f.boost != nil {
		weight = f.boost.adjust(c, j, weight)
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

// updateMinSlots divides the guaranteed slots of each pool among its jobs, and
// reports whether some job has or had any.
func (f *fair1) updateMinSlots(k int) bool {
	r := &f.rows[k]
	had := len(r.guaranteed) > 0
	r.clearMin()
	if !f.guarantees[k] {
		return had
	}
	for p := range f.pools {
		f.pools[p].rows = f.pools[p].rows[:0]
	}
	for row, in := range r.divides {
		if p := f.pools[r.pool[row]]; in && p.min[k] > 0 {
			p.rows = append(p.rows, int32(row))
		}
	}
	for n := range f.pools {
		p := f.pools[n]
		if len(p.rows) == 0 {
			continue
		}
		if r.dealMinSlots(p.rows, p.min[k]) {
			f.byTie = true
		}
		for _, row := range p.rows {
			if r.min[row] > 0 {
				r.guaranteed = append(r.guaranteed, row)
			}
		}
	}
	slices.Sort(r.guaranteed)
	return had || len(r.guaranteed) > 0
}
