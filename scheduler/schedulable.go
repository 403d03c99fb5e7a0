package scheduler

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// fair2Conf are the settings of fair2.
type fair2Conf struct {
	assignMultiple bool          // mapred.fairscheduler.assignmultiple, true
	caps           [2]int        // mapred.fairscheduler.assignmultiple.{maps,reduces}, -1: no cap
	sizeBased      bool          // mapred.fairscheduler.sizebasedweight, false
	maxDiff        float64       // mapred.fairscheduler.load.max.diff, 0
	autoDelay      bool          // the delays depend on the heartbeat interval
	nodeDelay      time.Duration // mapred.fairscheduler.locality.delay.node
	rackDelay      time.Duration // mapred.fairscheduler.locality.delay.rack
	updateEvery    time.Duration // mapred.fairscheduler.update.interval, 500 ms
	preempts       bool          // mapred.fairscheduler.preemption, false
	onlyLogs       bool          // mapred.fairscheduler.preemption.only.log, false
	preemptEvery   time.Duration // mapred.fairscheduler.preemption.interval, 15 s
	boost          *booster
	mode           string        // defaultPoolSchedulingMode, fair
	minTimeout     time.Duration // defaultMinSharePreemptionTimeout, never
	fairTimeout    time.Duration // fairSharePreemptionTimeout, never
	poolDefault    int           // poolMaxJobsDefault
	userDefault    int           // userMaxJobsDefault
	weightless     bool          // some pool has no weight
	resorts        bool          // weights change with time, so jobs are sorted for every task
	meter          bool          // a pool limits its demand to its maximum (1.2)
	countGiven     bool          // tasks assigned at this heartbeat count as load (1.2)
}

func readFair2Conf(spec model.Scheduler, r *model.Release) (fair2Conf, error) {
	read := settingsIn(spec.Conf.For("fair2"))
	delay := read.Whole("mapred.fairscheduler.locality.delay")
	node := read.wholeOr("mapred.fairscheduler.locality.delay.node", delay)
	rack := read.wholeOr("mapred.fairscheduler.locality.delay.rack", delay)
	f := fair2Conf{
		assignMultiple: read.Truth("mapred.fairscheduler.assignmultiple"),
		caps: [2]int{
			read.Whole("mapred.fairscheduler.assignmultiple.maps"),
			read.Whole("mapred.fairscheduler.assignmultiple.reduces"),
		},
		sizeBased:    read.Truth("mapred.fairscheduler.sizebasedweight"),
		maxDiff:      float64(float32(read.Number("mapred.fairscheduler.load.max.diff"))),
		autoDelay:    delay == -1 && (node == -1 || rack == -1),
		nodeDelay:    time.Duration(node) * time.Millisecond,
		rackDelay:    time.Duration(rack) * time.Millisecond,
		updateEvery:  read.millis("mapred.fairscheduler.update.interval"),
		preempts:     read.Truth("mapred.fairscheduler.preemption"),
		onlyLogs:     read.Truth("mapred.fairscheduler.preemption.only.log"),
		preemptEvery: read.millis("mapred.fairscheduler.preemption.interval"),
		mode:         strings.ToLower(spec.Conf.String("defaultPoolSchedulingMode", "fair")),
		minTimeout:   read.timeout("defaultMinSharePreemptionTimeout"),
		fairTimeout:  read.timeout("fairSharePreemptionTimeout"),
		poolDefault:  read.int("poolMaxJobsDefault", unlimitedJobs, 0),
		userDefault:  read.int("userMaxJobsDefault", unlimitedJobs, 0),
		boost:        read.booster(),
		meter:        r.MeteredDemand, countGiven: r.CountAssigned,
	}
	read.weights(spec.Pools)
	f.resorts = f.sizeBased || f.boost != nil
	f.weightless = slices.ContainsFunc(spec.Pools, func(p model.Pool) bool { return p.Weight == 0 })
	return f, read.Err
}

// poolSchedulable is Pool and PoolSchedulable. Arrays of two are by type of
// task.
type poolSchedulable struct {
	name       string
	fifo       bool
	weight     float64
	min, max   [2]int
	minTimeout time.Duration

	jobsRunning quota
	running     [2]int
	demand      [2]int
	uncapped    [2]int // sum of its jobs' demands
	share       [2]float64
	atMinShare  [2]time.Duration // when it last had it
	atHalfShare [2]time.Duration
	left        int // running tasks minus those being killed

	candidates [2]sorted[*jobSchedulable] // jobs that may launch a task, in order
	asks       [2]bool                    // it is in fair2.asking
	jobs       [2][]*jobSchedulable       // all, in the last sorted order, if fair2 sorts for every task
	unsorted   [2][]*jobSchedulable       // changed since the last recorded order, if fair2 preempts
}

// jobSchedulable is FairScheduler.JobInfo and JobSchedulable.
type jobSchedulable struct {
	fairJob
	pool  *poolSchedulable
	asked bool // passed to the initialiser
	left  bool // removed from its pool

	demand    [2]int
	running   [2]int // counts in the pool's sums
	weight    [2]float64
	candidate [2]bool // is in its pool's candidates
	unsorted  [2]bool // is in its pool's list of changed jobs
	rank      [2]rank // position in the last recorded order of its pool

	lastLevel workload.Locality // locality of the last map launched
	waited    time.Duration     // wait for a local map since then
	visited   bool              // asked for a map at this heartbeat
	launched  bool              // and launched one
	waits     bool              // and waits for a local map that this tracker has not
}

// rank is a job's position in the last recorded order of its pool.
type rank struct {
	known bool
	ratio float64 // ratio of tasks to weight
}

// compare implements SchedulingAlgorithms.FairShareComparator.
func (p *poolSchedulable) compare(o *poolSchedulable, k int) int {
	least, other := min(p.min[k], p.demand[k]), min(o.min[k], o.demand[k])
	needy, otherNeedy := p.running[k] < least, o.running[k] < other
	order := 0
	switch {
	case needy && !otherNeedy:
		return -1
	case otherNeedy && !needy:
		return 1
	case needy:
		order = sign(float64(p.running[k])/math.Max(float64(least), 1) - float64(o.running[k])/math.Max(float64(other), 1))
	default:
		order = sign(float64(p.running[k])/p.weight - float64(o.running[k])/o.weight)
	}
	if order != 0 {
		return order
	}
	return cmp.Compare(p.name, o.name)
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

// compareJobs implements FifoComparator or FairShareComparator; a job's minimum
// share is 0.
func (p *poolSchedulable) compareJobs(a, b *jobSchedulable, k int) int {
	if p.fifo {
		return byPriority(a.job, b.job)
	}
	if order := sign(float64(a.running[k])/a.weight[k] - float64(b.running[k])/b.weight[k]); order != 0 {
		return order
	}
	return bySubmission(a.job, b.job)
}

func bySubmission(a, b *Job) int {
	return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
}

// isCandidate reports whether a job may launch a task now or later. A job that
// cannot now is also asked for a map, and refused one.
func (i *jobSchedulable) isCandidate(k int) bool {
	j := i.job
	return i.runnable && j.State == Running && (j.Wants[k] || workload.Kind(k) == workload.Map && !j.Spent[k])
}

// noteOrder records the order of a pool's jobs. It decides later whose attempts
// are killed first.
func (p *poolSchedulable) noteOrder(k int) {
	for _, i := range p.unsorted[k] {
		i.unsorted[k] = false
		i.rank[k] = rank{known: true, ratio: float64(i.running[k]) / i.weight[k]}
	}
	p.unsorted[k] = p.unsorted[k][:0]
}

// byNotedOrder returns the pool's jobs in the last recorded order, with those
// submitted since at the end.
func byNotedOrder(a, b *jobSchedulable, k int) int {
	x, y := &a.rank[k], &b.rank[k]
	switch {
	case x.known != y.known:
		if x.known {
			return -1
		}
		return 1
	case x.known && a.pool.fifo:
		return byPriority(a.job, b.job)
	case x.known && x.ratio != y.ratio:
		return cmp.Compare(x.ratio, y.ratio)
	}
	return bySubmission(a.job, b.job)
}

// run lets a job run, or has it initialised first.
func (i *jobSchedulable) run() {
	if i.job.State != Running && !i.asked {
		i.asked = true
		i.job.Init()
	}
	i.runnable = i.job.State == Running
}

// demandNow counts the attempts of every unfinished task, at least one each.
func (i *jobSchedulable) demandNow(k int) int {
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

// demandInOrder counts the demand of a pool's jobs. A metered pool stops at its
// maximum and leaves the demands of its other jobs unchanged.
func (p *poolSchedulable) demandInOrder(k int, meter bool) int {
	demand := 0
	for _, i := range p.jobs[k] {
		i.demand[k] = i.demandNow(k)
		demand += i.demand[k]
		if meter && demand >= p.max[k] {
			break
		}
	}
	return min(demand, p.max[k])
}
