package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// Both generations of the capacity scheduler share the settings of queues and
// the two-stage initialisation of jobs. A poller picks jobs at its ticks. The
// queue's worker, which wakes just before the poller, initialises them one tick
// later (JobInitializationPoller).

// capacityQueue is one queue (QueueSchedulingInfo, CapacitySchedulerQueue).
// Arrays of two are by type of task.
type capacityQueue struct {
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
	capacity     [2]int  // slots
	maxCapacity  [2]int  // slots, -1: none

	waiting    sorted[*capacityJob]    // submitted jobs; 0.20: until their first task has been launched
	started    []*capacityJob          // initialised jobs in waiting (0.20)
	picked     []*capacityJob          // jobs that the worker initialises at its next tick
	candidates [2]sorted[*capacityJob] // running jobs that may get tasks
	users      map[string]*capacityUser

	// The following values are those of the present heartbeat.
	occupied     [2]int // slots
	active       [2]int // users with tasks to launch (1.x)
	jobs         int    // jobs that have not ended
	present      int    // users of such jobs
	waitingUsers int    // users of jobs that wait to be picked
	initialised  count  // jobs that have not ended (1.x)
	picks        int    // ticks of the poller so far
}

// count is a number of jobs and of their tasks.
type count struct{ jobs, tasks int }

func (n *count) add(j *Job, by int) {
	n.jobs += by
	n.tasks += by * (j.Tasks[workload.Map] + j.Tasks[workload.Reduce])
}

// capacityUser is the state of one user in a queue.
type capacityUser struct {
	occupied    [2]int // slots
	active      [2]int // jobs with tasks to launch
	jobs        int    // jobs that have not ended
	waiting     int    // jobs that wait to be picked
	initialised count  // jobs that have not ended (1.x)

	pick int  // tick at which the poller last looked at a job of the user
	met  int  // jobs that count towards the limit at that tick (0.20)
	full bool // no more jobs are picked at that tick
}

// capacityJob is a job in its queue.
type capacityJob struct {
	job         *Job
	queue       *capacityQueue
	user        *capacityUser
	left        bool    // it has ended and is in no list
	initialised bool    // picked by the poller
	listed      bool    // it is in the queue's list waiting
	candidate   [2]bool // it is in the queue's list running
	occupied    [2]int  // counted slots
	active      [2]bool // counted as a job with tasks to launch
	reserved    [2]int  // reserved trackers (1.x)
	missed      int     // trackers offered since its last local map (1.x)
}

// jobQueuesManager is the common state of both generations.
type jobQueuesManager struct {
	updates
	queues []*capacityQueue
	byName map[string]*capacityQueue
	order  [2][]*capacityQueue      // as last sorted, by type of task
	poll   time.Duration            // mapred.capacity-scheduler.init-poll-interval
	slots  [2]int                   // of the cluster, at the last heartbeat
	asks   func(j *Job, k int) bool // whether a running job is asked for tasks
}

const capPrefix = "mapred.capacity-scheduler."

// QueueNames lists the queues of the capacity scheduler.
func QueueNames(spec model.Scheduler) (names []string) {
	if _, set := spec.Conf.Lookup("mapred.queue.names"); !set && len(spec.Queues) > 0 {
		for _, q := range spec.Queues {
			names = append(names, q.Name)
		}
		return names
	}
	for _, name := range strings.Split(spec.Conf.Text("mapred.queue.names"), ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// readQueues reads the queues of capacity-scheduler.xml, or of the scenario.
func readQueues(spec model.Scheduler, r *model.Release) (*jobQueuesManager, error) {
	b := &jobQueuesManager{byName: make(map[string]*capacityQueue)}
	read := settingsIn(spec.Conf.For(r.Name))
	b.poll = read.millis(capPrefix + "init-poll-interval")
	names := QueueNames(spec)
	unset := 0
	total := float32(0)
	for _, name := range names {
		q := settingsIn(queueConf(spec, name))
		global := func(key string) int { return read.Whole(capPrefix + "default-" + key) }
		queue := &capacityQueue{
			name:    name,
			percent: float32(q.percent("capacity")), maxPercent: float32(q.percent("maximum-capacity")),
			userMin:      q.int("minimum-user-limit-percent", global("minimum-user-limit-percent"), 1),
			userFactor:   float32(q.float("user-limit-factor", read.Number(capPrefix+"default-user-limit-factor"), 0)),
			byPriority:   q.Bool("supports-priority", read.Truth(capPrefix+"default-supports-priority")),
			maxInitJobs:  q.int("maximum-initialized-jobs-per-user", global("maximum-initialized-jobs-per-user"), 1),
			maxTasks:     q.int("maximum-initialized-active-tasks", global("maximum-active-tasks-per-queue"), 1),
			maxUserTasks: q.int("maximum-initialized-active-tasks-per-user", global("maximum-active-tasks-per-user"), 1),
			acceptFactor: q.int("init-accept-jobs-factor", global("init-accept-jobs-factor"), 1),
			maxCapacity:  [2]int{-1, -1},
			users:        make(map[string]*capacityUser),
		}
		if q.Err != nil {
			return nil, fmt.Errorf("queue %s: %w", name, q.Err)
		}
		if queue.userMin > 100 {
			return nil, fmt.Errorf("queue %s: minimum-user-limit-percent = %d: want 1 to 100", name, queue.userMin)
		}
		if most := queue.maxPercent; r.Capacity1 && most > 0 && most < queue.percent {
			return nil, fmt.Errorf("queue %s: maximum-capacity = %v: want at least the capacity, %v", name, most, queue.percent)
		}
		if queue.percent < 0 {
			unset++
		} else {
			total += queue.percent
		}
		queue.waiting = newSorted(queue.compare)
		for k := range queue.candidates {
			queue.candidates[k] = newSorted(queue.compare)
		}
		b.queues = append(b.queues, queue)
		if b.byName[name] == nil {
			b.byName[name] = queue
		}
	}
	if read.Err != nil {
		return nil, read.Err
	}
	for _, q := range b.queues {
		if q.percent < 0 {
			q.percent = (100 - total) / float32(unset)
		}
	}
	if total > 100 {
		var list []string
		for _, q := range b.queues {
			list = append(list, fmt.Sprintf("%s %g %%", q.name, q.percent))
		}
		return nil, fmt.Errorf("the queues' capacities add up to %g %%: want 100: lower one of %s", total, strings.Join(list, ", "))
	}
	slices.SortStableFunc(b.queues, inHashMapOrder(names))
	b.order = [2][]*capacityQueue{slices.Clone(b.queues), slices.Clone(b.queues)}
	return b, nil
}

// percent reads a share of the cluster. If it is not set, percent returns -1.
func (s *settings) percent(key string) float64 {
	f := s.float(key, -1, -1)
	if f > 100 || f < 0 && f != -1 {
		s.Note(fmt.Errorf("%s = %v: want 0 to 100", key, f))
	}
	return f
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

// inHashMapOrder orders queues as Java iterates over a HashMap of their names.
// Hadoop first lists them in this order.
func inHashMapOrder(names []string) func(a, b *capacityQueue) int {
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
	return func(a, b *capacityQueue) int { return cmp.Compare(bucket(a.name), bucket(b.name)) }
}

// compare orders jobs within a queue by submission, after priority if the queue
// supports it.
func (q *capacityQueue) compare(a, b *capacityJob) int {
	if q.byPriority {
		return byPriority(a.job, b.job)
	}
	return bySubmission(a.job, b.job)
}

func (b *jobQueuesManager) queueOf(name string) *capacityQueue {
	return b.byName[cmp.Or(name, "default")]
}

// add adds a submitted job to its queue. Hadoop ignores jobs of unknown queues;
// here they fail.
func (b *jobQueuesManager) add(j *Job) {
	q := b.queueOf(j.Queue)
	if q == nil {
		j.Reject(fmt.Sprintf("no queue %q", cmp.Or(j.Queue, "default")))
		return
	}
	u := q.users[j.User]
	if u == nil {
		u = &capacityUser{}
		q.users[j.User] = u
	}
	cj := &capacityJob{job: j, queue: q, user: u, listed: true}
	j.note = cj
	q.waiting.insert(cj)
	q.jobs++
	if u.jobs++; u.jobs == 1 {
		q.present++
	}
	if u.waiting++; u.waiting == 1 {
		q.waitingUsers++
	}
}

// initialise passes a job to its queue's worker.
func (cj *capacityJob) initialise() {
	q, u := cj.queue, cj.user
	cj.initialised = true
	q.picked = append(q.picked, cj)
	q.initialised.add(cj.job, 1)
	u.initialised.add(cj.job, 1)
	if u.waiting--; u.waiting == 0 {
		q.waitingUsers--
	}
}

// figures returns the values of a job and its queue that decide when it is asked.
func (cj *capacityJob) figures(k int) model.Figures {
	q := cj.queue
	f := model.Figures{Pool: q.name, Running: q.occupied[k], Demand: cj.job.Pending(workload.Kind(k)), Share: float64(q.capacity[k])}
	if workload.Kind(k) == workload.Map {
		f.Skipped = cj.missed
	}
	if q.maxCapacity[k] > 0 {
		f.Limit = q.maxCapacity[k]
	}
	return f
}

// unlist removes a job from those that wait.
func (cj *capacityJob) unlist() { cj.listed = cj.queue.waiting.set(cj, cj.listed, false) }

// leave removes a job that has ended from its queue.
func (cj *capacityJob) leave() {
	q, u := cj.queue, cj.user
	cj.left = true
	cj.unlist()
	q.jobs--
	if u.jobs--; u.jobs == 0 {
		q.present--
	}
	if cj.initialised {
		q.initialised.add(cj.job, -1)
		u.initialised.add(cj.job, -1)
	} else if u.waiting--; u.waiting == 0 {
		q.waitingUsers--
	}
}

// follow updates the queues for the jobs that have changed.
func (b *jobQueuesManager) follow() {
	for j, ok := b.next(); ok; j, ok = b.next() {
		cj, ok := j.note.(*capacityJob)
		if !ok || cj.left {
			continue // rejected, or already removed from the counts
		}
		runs := j.State == Running
		for k := range cj.candidate {
			cj.candidate[k] = cj.queue.candidates[k].set(cj, cj.candidate[k], runs && b.asks(j, k))
			slots := 0
			if runs {
				slots = (j.RunningTasks[k] + cj.reserved[k]) * j.SlotsPerTask[k]
			}
			cj.occupy(k, slots-cj.occupied[k])
			cj.setActive(k, runs && j.Pending(workload.Kind(k)) > 0 && (workload.Kind(k) == workload.Map || j.ReducesReady))
		}
		if j.State == Done {
			cj.leave()
		}
	}
}

// occupy changes the count of slots that a job occupies.
func (cj *capacityJob) occupy(k, slots int) {
	cj.occupied[k] += slots
	cj.queue.occupied[k] += slots
	cj.user.occupied[k] += slots
}

// setActive records whether a job has tasks to launch.
func (cj *capacityJob) setActive(k int, active bool) {
	q, u := cj.queue, cj.user
	switch {
	case active && !cj.active[k]:
		if u.active[k]++; u.active[k] == 1 {
			q.active[k]++
		}
	case cj.active[k] && !active:
		if u.active[k]--; u.active[k] == 0 {
			q.active[k]--
		}
	}
	cj.active[k] = active
}

// count updates the figures of the queues at a heartbeat. They stay constant
// until the next heartbeat, whatever is launched.
func (b *jobQueuesManager) count(c *Cluster) {
	b.follow()
	if b.slots == c.Slots {
		return
	}
	b.slots = c.Slots
	for _, q := range b.queues {
		for k := range q.capacity {
			q.capacity[k] = q.share(c.Slots[k])
			if q.maxPercent > 0 {
				q.maxCapacity[k] = int(q.maxPercent * float32(c.Slots[k]) / 100)
			}
		}
	}
}

// share returns the guaranteed share of the queue in the cluster's slots.
func (q *capacityQueue) share(slots int) int { return int(q.percent * float32(slots) / 100) }

// sorted returns the queues of a type in ascending order of use. Queues with
// equal use keep their order.
func (b *jobQueuesManager) sorted(k int) []*capacityQueue {
	full := func(q *capacityQueue) float64 {
		if q.capacity[k] == 0 {
			return 1
		}
		return float64(q.occupied[k]) / float64(q.capacity[k])
	}
	slices.SortStableFunc(b.order[k], func(a, b *capacityQueue) int { return cmp.Compare(full(a), full(b)) })
	return b.order[k]
}

// poller does a tick of the workers, then one of the poller. The workers
// initialise the jobs that it picks at the next tick.
func (b *jobQueuesManager) poller(pick func(*capacityQueue)) (more bool) {
	b.follow()
	for _, q := range b.queues {
		for _, cj := range q.picked {
			cj.job.Init()
		}
		q.picked = q.picked[:0]
	}
	for _, q := range b.queues {
		q.picks++
		pick(q)
		more = more || len(q.picked) > 0
	}
	return more
}

// meet returns the user of a job that the poller looks at.
func (q *capacityQueue) meet(cj *capacityJob) *capacityUser {
	u := cj.user
	if u.pick != q.picks {
		u.pick, u.met, u.full = q.picks, 0, false
	}
	return u
}
