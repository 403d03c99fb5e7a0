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

// Both generations of the capacity scheduler share the queues' settings and the
// two-stage initialisation of jobs: a poller picks jobs at its ticks, and the
// queue's worker, which wakes just before the poller, initialises them a tick
// later (JobInitializationPoller).

// capQueue is one queue. Pairs are by type of task.
type capQueue struct {
	name         string
	percent      float32 // capacity
	maxPercent   float32 // maximum-capacity, -1: none (1.x)
	userMin      int     // minimum-user-limit-percent, 100
	userFactor   float32 // user-limit-factor, 1 (1.x)
	byPriority   bool    // supports-priority, false
	maxInitJobs  int     // maximum-initialized-jobs-per-user, 2 (0.20)
	maxTasks     int     // maximum-initialized-active-tasks, 200000 (1.x)
	maxUserTasks int     // maximum-initialized-active-tasks-per-user, 100000 (1.x)
	acceptFactor int     // init-accept-jobs-factor, 10 (1.x)

	waiting []*capJob // submitted; 0.20: until their first task has been launched
	picked  []*capJob // for the worker, at its next tick
	running []*capJob // set up and not ended

	capacity    [2]int // slots
	maxCapacity [2]int // slots, -1: none
	users       []*capUser

	// As of this heartbeat.
	occupied [2]int // slots
	active   [2]int // users with tasks to launch (1.x)
	present  int    // users with jobs that have not ended; 0: not counted yet
}

// capUser is what one user occupies in a queue.
type capUser struct {
	name     string
	occupied [2]int
	active   [2]bool
	present  bool
}

type capJob struct {
	job         *Job
	queue       *capQueue
	user        *capUser
	running     bool // is in the queue's list of those that run
	initialised bool // picked by the poller; 0.20: and no task launched yet
	missed      int  // trackers offered since its last local map (1.x)
}

// capBase is what both generations keep.
type capBase struct {
	queues []*capQueue
	order  [2][]*capQueue // as last sorted, by type of task
	jobs   []*capJob
	poll   time.Duration // mapred.capacity-scheduler.init-poll-interval

	changes int // of the cluster's jobs, as far as they have been followed
}

const capPrefix = "mapred.capacity-scheduler."

// readQueues reads the queues of capacity-scheduler.xml, or of the scenario.
func readQueues(spec model.Scheduler, r *model.Release) (*capBase, error) {
	b := &capBase{}
	read := settings{conf: spec.Conf}
	b.poll = read.millis(capPrefix+"init-poll-interval", int(ms(r.InitPoll)))
	names := []string{"default"}
	if list := spec.Conf.String("mapred.queue.names", ""); list != "" {
		names = strings.Split(list, ",")
	} else if len(spec.Queues) > 0 {
		names = nil
		for _, q := range spec.Queues {
			names = append(names, q.Name)
		}
	}
	unset := 0
	total := float32(0)
	for _, name := range names {
		name = strings.TrimSpace(name)
		q := settings{conf: queueConf(spec, name)}
		global := func(key string, def int) int { return read.int(capPrefix+"default-"+key, def) }
		queue := &capQueue{
			name:    name,
			percent: float32(q.float("capacity", -1)), maxPercent: float32(q.float("maximum-capacity", -1)),
			userMin:      q.int("minimum-user-limit-percent", global("minimum-user-limit-percent", 100)),
			userFactor:   float32(q.float("user-limit-factor", read.float(capPrefix+"default-user-limit-factor", 1))),
			byPriority:   q.bool("supports-priority", read.bool(capPrefix+"default-supports-priority", false)),
			maxInitJobs:  q.int("maximum-initialized-jobs-per-user", global("maximum-initialized-jobs-per-user", 2)),
			maxTasks:     q.int("maximum-initialized-active-tasks", global("maximum-active-tasks-per-queue", 200000)),
			maxUserTasks: q.int("maximum-initialized-active-tasks-per-user", global("maximum-active-tasks-per-user", 100000)),
			acceptFactor: q.int("init-accept-jobs-factor", global("init-accept-jobs-factor", 10)),
			maxCapacity:  [2]int{-1, -1},
		}
		if q.err != nil {
			return nil, fmt.Errorf("queue %s: %w", name, q.err)
		}
		if queue.userMin <= 0 || queue.userMin > 100 {
			return nil, fmt.Errorf("queue %s: minimum-user-limit-percent = %d: want 1 to 100", name, queue.userMin)
		}
		if queue.percent < 0 {
			unset++
		} else {
			total += queue.percent
		}
		b.queues = append(b.queues, queue)
	}
	if read.err != nil {
		return nil, read.err
	}
	for _, q := range b.queues {
		if q.percent < 0 {
			q.percent = (100 - total) / float32(unset)
		}
	}
	if total > 100 {
		return nil, fmt.Errorf("the queues' capacities add up to %g %%: want 100", total)
	}
	slices.SortStableFunc(b.queues, inHashMapOrder(names))
	b.order = [2][]*capQueue{slices.Clone(b.queues), slices.Clone(b.queues)}
	return b, nil
}

func queueConf(spec model.Scheduler, name string) workload.Conf {
	var conf workload.Conf
	prefix := capPrefix + "queue." + name + "."
	for _, key := range spec.Conf.Keys() {
		if short, ok := strings.CutPrefix(key, prefix); ok {
			value, _ := spec.Conf.Lookup(key)
			conf.Set(short, value)
		}
	}
	for _, q := range spec.Queues {
		if q.Name == name {
			conf = conf.Over(q.Conf)
		}
	}
	return conf
}

// inHashMapOrder orders queues as a Java HashMap of their names is walked, which
// is how Hadoop first lists them.
func inHashMapOrder(names []string) func(a, b *capQueue) int {
	table := uint32(16)
	for len(names)*4 > int(table)*3 {
		table *= 2
	}
	bucket := func(name string) uint32 {
		h := uint32(0)
		for _, c := range name {
			h = 31*h + uint32(c)
		}
		return (h ^ h>>16) & (table - 1)
	}
	return func(a, b *capQueue) int { return cmp.Compare(bucket(a.name), bucket(b.name)) }
}

func (b *capBase) queueOf(j *Job) *capQueue {
	name := cmp.Or(j.Queue, "default")
	for _, q := range b.queues {
		if q.name == name {
			return q
		}
	}
	return nil
}

// Interval is that of the poller. Its ticks do nothing unless a job waits.
func (b *capBase) Interval() (time.Duration, bool) { return b.poll, true }

// Remembers: queues that are equally full keep the order of the heartbeat before,
// and jobs count the trackers they were offered in vain.
func (b *capBase) Remembers() bool { return true }

// add puts a submitted job into its queue. Hadoop ignores jobs for queues it
// does not know; here they fail.
func (b *capBase) add(j *Job) *capJob {
	q := b.queueOf(j)
	if q == nil {
		j.Reject(fmt.Sprintf("no queue %q", cmp.Or(j.Queue, "default")))
		return nil
	}
	cj := &capJob{job: j, queue: q, user: q.user(j.User)}
	b.jobs = append(b.jobs, cj)
	q.insert(&q.waiting, cj)
	return cj
}

func (q *capQueue) user(name string) *capUser {
	for _, u := range q.users {
		if u.name == name {
			return u
		}
	}
	u := &capUser{name: name}
	q.users = append(q.users, u)
	return u
}

// insert keeps a list in the order of the queue: submission, after priority if
// the queue supports it.
func (q *capQueue) insert(list *[]*capJob, j *capJob) {
	i, _ := slices.BinarySearchFunc(*list, j, func(a, b *capJob) int {
		if q.byPriority {
			return byPriority(a.job, b.job)
		}
		return cmp.Or(cmp.Compare(a.job.Submit, b.job.Submit), cmp.Compare(a.job.ID, b.job.ID))
	})
	*list = slices.Insert(*list, i, j)
}

// follow moves jobs whose state has changed: those that have been set up into
// the running list, those that have ended out of all.
func (b *capBase) follow(c *Cluster) {
	if b.changes == c.Changes {
		return
	}
	b.changes = c.Changes
	ended := false
	for _, cj := range b.jobs {
		switch cj.job.State {
		case Running:
			if !cj.running {
				cj.running = true
				cj.queue.insert(&cj.queue.running, cj)
			}
		case Done:
			ended = true
		}
	}
	if !ended {
		return
	}
	gone := func(cj *capJob) bool { return cj.job.State == Done }
	b.jobs = slices.DeleteFunc(b.jobs, gone)
	for _, q := range b.queues {
		q.waiting = slices.DeleteFunc(q.waiting, gone)
		q.running = slices.DeleteFunc(q.running, gone)
		q.picked = slices.DeleteFunc(q.picked, gone)
	}
}

// poller does a tick of the workers, then of the poller. What it picks is work
// for the next tick.
func (b *capBase) poller(c *Cluster, pick func(*capQueue)) bool {
	b.follow(c)
	b.runWorkers()
	picked := 0
	for _, q := range b.queues {
		pick(q)
		picked += len(q.picked)
	}
	return picked > 0
}

// runWorkers initialises what the poller picked at its last tick.
func (b *capBase) runWorkers() {
	for _, q := range b.queues {
		for _, cj := range q.picked {
			cj.job.Init()
		}
		q.picked = q.picked[:0]
	}
}

// sorted gives the queues of a type by how full they are; equally full ones
// keep their places.
func (b *capBase) sorted(k int) []*capQueue {
	full := func(q *capQueue) float64 {
		if q.capacity[k] == 0 {
			return 1
		}
		return float64(q.occupied[k]) / float64(q.capacity[k])
	}
	slices.SortStableFunc(b.order[k], func(a, b *capQueue) int { return cmp.Compare(full(a), full(b)) })
	return b.order[k]
}

// count works out how many slots the queues and their users occupy.
func (b *capBase) count(c *Cluster) {
	b.follow(c)
	for _, q := range b.queues {
		for _, u := range q.users {
			*u = capUser{name: u.name}
		}
		q.occupied, q.active, q.present = [2]int{}, [2]int{}, 0
		for k := range q.capacity {
			q.capacity[k] = int(q.percent * float32(c.Slots[k]) / 100)
			if q.maxPercent > 0 {
				q.maxCapacity[k] = int(q.maxPercent * float32(c.Slots[k]) / 100)
			}
		}
		for _, cj := range q.running {
			for k := range q.occupied {
				cj.occupy(k, cj.job.RunningTasks[k]*cj.job.SlotsPerTask[k])
			}
		}
	}
}

func (cj *capJob) occupy(k, slots int) {
	j, q, u := cj.job, cj.queue, cj.user
	q.occupied[k] += slots
	u.occupied[k] += slots
	if !u.active[k] && j.Pending(workload.Kind(k)) > 0 && (workload.Kind(k) == workload.Map || j.ReducesReady) {
		u.active[k] = true
		q.active[k]++
	}
}

func newCapacity(spec model.Scheduler, r *model.Release) (Scheduler, error) {
	base, err := readQueues(spec, r)
	if err != nil {
		return nil, err
	}
	if !r.Capacity1 {
		return &capacity0{capBase: base, pair: r.CapacityPair}, nil
	}
	return newCapacity1(spec, r, base)
}

// capacity0 is the capacity scheduler of 0.20: one task a heartbeat, of the type
// of which the tracker has more free slots. That of 0.21 gives a reduce and a
// map, and knows a queue's maximum capacity.
type capacity0 struct {
	*capBase
	pair bool
}

func (s *capacity0) Submitted(_ *Cluster, j *Job) { s.add(j) }

func (s *capacity0) Tick(c *Cluster) bool { return s.poller(c, s.pick) }

// pick chooses jobs to initialise: few per user, and not of too many users.
func (s *capacity0) pick(q *capQueue) {
	const moreUsers = 2
	for i := 0; i < len(q.waiting); i++ {
		j := q.waiting[i].job
		launched := j.Pending(workload.Map) < j.Tasks[workload.Map] || j.Pending(workload.Reduce) < j.Tasks[workload.Reduce]
		if q.waiting[i].initialised && j.State == Running && launched {
			q.waiting = slices.Delete(q.waiting, i, i+1)
			i--
		}
	}
	maxUsers := 100/q.userMin + moreUsers
	byUser := map[string]int{}
	seen := 0
	for _, cj := range q.waiting {
		user := cj.job.User
		n, present := byUser[user]
		switch {
		case cj.initialised:
			byUser[user]++
			seen++
			continue
		case !present && len(byUser) < maxUsers, present && n < q.maxInitJobs:
			byUser[user]++
			seen++
			cj.initialised = true
			q.picked = append(q.picked, cj)
		}
		if seen > maxUsers*q.maxInitJobs {
			return
		}
	}
}

func (s *capacity0) Assign(c *Cluster, t *TaskTracker) {
	s.count(c)
	if s.pair {
		for _, k := range [...]workload.Kind{workload.Reduce, workload.Map} {
			if t.Free(k) > 0 {
				s.assignOne(t, int(k))
			}
		}
		return
	}
	first, second := workload.Map, workload.Reduce
	if t.Free(workload.Reduce) > t.Free(workload.Map) {
		first, second = second, first
	}
	if !s.assignOne(t, int(first)) && t.Free(second) > 0 {
		s.assignOne(t, int(second))
	}
}

func (s *capacity0) assignOne(t *TaskTracker, k int) bool {
	for _, q := range s.sorted(k) {
		if q.capacity[k] == 0 || s.pair && !q.room(k, 1) {
			continue
		}
		launched, blocked := s.fromQueue(t, q, k)
		if launched || blocked {
			return launched
		}
	}
	return false
}

// fromQueue looks for a task first in the jobs of users below their limit and
// then in all. A job whose tasks are too wide for the tracker blocks the queue.
func (s *capacity0) fromQueue(t *TaskTracker, q *capQueue, k int) (launched, blocked bool) {
	for _, limited := range [...]bool{true, false} {
		for _, cj := range q.running {
			j := cj.job
			if !j.Wants[k] && j.SlotsPerTask[k] == 1 {
				continue // nothing to launch, and too narrow to block
			}
			if j.State != Running || limited && q.userOver(cj, k) || s.pair && !q.room(k, j.SlotsPerTask[k]) {
				continue
			}
			if t.Free(workload.Kind(k)) < j.SlotsPerTask[k] && j.SlotsPerTask[k] > 1 {
				if j.Pending(workload.Kind(k)) != 0 {
					return false, true
				}
				continue
			}
			if launch(j, t, k) {
				return true, false
			}
		}
	}
	return false, false
}

func launch(j *Job, t *TaskTracker, k int) bool {
	if workload.Kind(k) == workload.Reduce {
		return j.LaunchReduce(t)
	}
	_, ok := j.LaunchMap(t, Anywhere)
	return ok
}

// userOver is the user limit of 0.20 (isUserOverLimit).
func (q *capQueue) userOver(cj *capJob, k int) bool {
	current := q.capacity[k]
	if q.occupied[k] >= current {
		current = q.occupied[k] + cj.job.SlotsPerTask[k]
	}
	limit := max(int(math.Ceil(float64(current)/float64(q.usersPresent()))), int(math.Ceil(float64(q.userMin*current)/100)))
	return cj.user.occupied[k] >= limit
}

// usersPresent counts those who have jobs in the queue that have not ended.
func (q *capQueue) usersPresent() int {
	if q.present > 0 {
		return q.present
	}
	for _, list := range [...][]*capJob{q.waiting, q.running} {
		for _, cj := range list {
			if !cj.user.present {
				cj.user.present = true
				q.present++
			}
		}
	}
	return q.present
}
