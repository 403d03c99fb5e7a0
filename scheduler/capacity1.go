package scheduler

import (
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// capacity1 is the capacity scheduler of 1.x: as many maps a heartbeat as the
// tracker has free slots, until one had to be taken from another rack, and one
// reduce.
type capacity1 struct {
	*capBase
	maxTasks     int  // mapred.capacity-scheduler.maximum-tasks-per-heartbeat, 32767
	afterOff     int  // mapred.capacity-scheduler.maximum-tasks-after-offswitch, 0
	maxJobs      int  // mapred.capacity-scheduler.maximum-system-jobs, 3000
	fitsExactly  bool // a request that just fills the queue is within it (1.2)
	reservations [2]map[int]*capJob
}

func newCapacity1(spec model.Scheduler, r *model.Release, base *capBase) (Scheduler, error) {
	read := settings{conf: spec.Conf}
	s := &capacity1{
		capBase:     base,
		maxTasks:    read.int(capPrefix+"maximum-tasks-per-heartbeat", math.MaxInt16),
		afterOff:    read.int(capPrefix+"maximum-tasks-after-offswitch", 0),
		maxJobs:     read.int(capPrefix+"maximum-system-jobs", 3000),
		fitsExactly: r.CapacityFits,
	}
	for k := range s.reservations {
		s.reservations[k] = map[int]*capJob{}
	}
	return s, read.err
}

// Submitted takes a job in unless its queue has enough of them already.
func (s *capacity1) Submitted(c *Cluster, j *Job) {
	s.follow(c)
	q := s.queueOf(j)
	if q != nil {
		if why := s.refusal(q, j); why != "" {
			j.Reject(why)
			return
		}
	}
	s.add(j)
}

// refusal is CapacitySchedulerQueue.checkJobSubmissionLimits.
func (s *capacity1) refusal(q *capQueue, j *Job) string {
	if j.Tasks[0]+j.Tasks[1] > q.maxUserTasks {
		return "it has more tasks than its queue initialises for one user (maximum-initialized-active-tasks-per-user)"
	}
	all, mine := 0, 0
	for _, cj := range s.jobs {
		if cj.queue == q {
			all++
			if cj.job.User == j.User {
				mine++
			}
		}
	}
	if all >= s.initJobs(q)*q.acceptFactor || mine >= s.userInitJobs(q)*q.acceptFactor {
		return "its queue accepts no more jobs (maximum-system-jobs, init-accept-jobs-factor)"
	}
	return ""
}

func (s *capacity1) initJobs(q *capQueue) int {
	return int(math.Ceil(float64(float32(s.maxJobs)*q.percent) / 100))
}

func (s *capacity1) userInitJobs(q *capQueue) int {
	return int(math.Ceil(float64(float32(s.maxJobs)*q.percent) / 100 * float64(q.userMin) / 100))
}

func (s *capacity1) Tick(c *Cluster) bool {
	s.follow(c)
	return s.poller(c, s.pick)
}

// pick chooses jobs to initialise within the limits of the queue and of users.
func (s *capacity1) pick(q *capQueue) {
	jobs, tasks := 0, 0
	userJobs, userTasks := map[string]int{}, map[string]int{}
	take := func(j *Job) {
		n := j.Tasks[0] + j.Tasks[1]
		jobs++
		tasks += n
		userJobs[j.User]++
		userTasks[j.User] += n
	}
	for _, cj := range s.jobs {
		if cj.queue == q && cj.initialised {
			take(cj.job)
		}
	}
	over := map[string]bool{}
	left := q.waiting[:0]
	full := false
	for _, cj := range q.waiting {
		j := cj.job
		n := j.Tasks[0] + j.Tasks[1]
		full = full || jobs >= s.initJobs(q) || tasks+n > q.maxTasks
		over[j.User] = over[j.User] || userJobs[j.User] >= s.userInitJobs(q) || userTasks[j.User]+n > q.maxUserTasks
		if full || over[j.User] {
			left = append(left, cj)
			continue
		}
		take(j)
		cj.initialised = true
		q.picked = append(q.picked, cj)
	}
	q.waiting = left
}

func (s *capacity1) Assign(c *Cluster, t *TaskTracker) {
	s.count(c)
	s.addReserved()
	s.assignMaps(c, t)
	if free := t.Free(workload.Reduce); free > 0 {
		s.assignOne(c, t, int(workload.Reduce), free, true)
	}
}

func (s *capacity1) assignMaps(c *Cluster, t *TaskTracker) {
	free, given := t.Free(workload.Map), 0
	offRack := true
	after := s.afterOff
	for free > 0 {
		cj, far := s.assignOne(c, t, int(workload.Map), free, offRack)
		if cj == nil {
			return
		}
		if given++; given >= s.maxTasks {
			return
		}
		offRack = offRack && !far
		if !offRack {
			if after == 0 {
				return
			}
			after--
		}
		width := cj.job.SlotsPerTask[workload.Map]
		free -= width
		cj.occupy(int(workload.Map), width)
	}
}

// assignOne launches one task of a type and reports whose it was and whether it
// had to come from another rack. A tracker that is reserved for a job with wide
// tasks gets one of them, or nothing.
func (s *capacity1) assignOne(c *Cluster, t *TaskTracker, k, free int, offRack bool) (*capJob, bool) {
	if cj := s.reservations[k][t.Index]; cj != nil && cj.job.State == Running {
		if free < cj.job.SlotsPerTask[k] {
			return nil, false
		}
		delete(s.reservations[k], t.Index)
		cj.missed = math.MaxInt32 / 2
		return s.obtain(c, t, cj, k, true)
	}
	for _, q := range s.sorted(k) {
		if !q.room(k, 1) {
			continue
		}
		for _, cj := range q.running {
			if cj.idle(k) {
				continue
			}
			if cj.job.State != Running || !s.allows(q, cj, k) {
				continue
			}
			if width := cj.job.SlotsPerTask[k]; width > 1 && free < width {
				if s.reserve(t, cj, k) {
					return nil, false
				}
				continue
			}
			if from, far := s.obtain(c, t, cj, k, offRack); from != nil {
				return from, far
			}
		}
	}
	return nil, false
}

// reserve keeps the tracker's slots for a job whose tasks are too wide for what
// is free now, unless as many trackers are reserved as it has tasks.
func (s *capacity1) reserve(t *TaskTracker, cj *capJob, k int) bool {
	pending := cj.job.Pending(workload.Kind(k))
	if pending == 0 || s.reserved(cj, k) >= pending {
		return false
	}
	if s.fitsExactly && cj.job.SlotsPerTask[k] > t.Slots[k] {
		return false
	}
	s.reservations[k][t.Index] = cj
	return true
}

func (s *capacity1) reserved(cj *capJob, k int) int {
	n := 0
	for _, owner := range s.reservations[k] {
		if owner == cj {
			n++
		}
	}
	return n
}

// addReserved counts reserved trackers as occupied.
func (s *capacity1) addReserved() {
	for k := range s.reservations {
		if len(s.reservations[k]) == 0 {
			continue
		}
		for _, cj := range s.jobs {
			if cj.job.State == Done {
				continue
			}
			if n := s.reserved(cj, k); n > 0 {
				cj.occupy(k, n*cj.job.SlotsPerTask[k])
			}
		}
	}
}

// follow also frees the trackers reserved for jobs that have ended.
func (s *capacity1) follow(c *Cluster) {
	for k := range s.reservations {
		for tracker, cj := range s.reservations[k] {
			if cj.job.State == Done || cj.job.Pending(workload.Kind(k)) == 0 {
				delete(s.reservations[k], tracker)
			}
		}
	}
	s.capBase.follow(c)
}

func (s *capacity1) obtain(c *Cluster, t *TaskTracker, cj *capJob, k int, offRack bool) (*capJob, bool) {
	j := cj.job
	if workload.Kind(k) == workload.Reduce {
		if j.LaunchReduce(t) {
			return cj, false
		}
		return nil, false
	}
	cj.missed++
	if _, ok := j.LaunchMap(t, InRack); ok {
		cj.missed = 0
		return cj, false
	}
	if j.SlotsPerTask[k] > 1 || offRack && cj.mayGoFar(c) {
		if _, ok := j.LaunchMap(t, BeyondRack); ok {
			return cj, true
		}
	}
	return nil, false
}

// idle reports whether asking the job would change nothing that matters: it has
// no task to launch and its tasks are too narrow to reserve a tracker for. The
// trackers it was offered in vain count as long as it may launch a map later.
func (cj *capJob) idle(k int) bool {
	j := cj.job
	return j.SlotsPerTask[k] == 1 && (j.Spent[k] || workload.Kind(k) == workload.Reduce && !j.Wants[k])
}

// mayGoFar reports whether a job has been offered so many trackers in vain that
// it may take a map from another rack (JobInProgress.scheduleOffSwitch).
func (cj *capJob) mayGoFar(c *Cluster) bool {
	required := min(cj.job.Remaining(workload.Map), c.Trackers)
	return float32(required)*cj.job.WaitFactor < float32(cj.missed)
}

// room reports whether the queue may take more slots.
func (q *capQueue) room(k, slots int) bool {
	return q.maxCapacity[k] <= 0 || q.occupied[k]+slots <= q.maxCapacity[k]
}

// allows applies the limits of queue and user (assignSlotsToJob).
func (s *capacity1) allows(q *capQueue, cj *capJob, k int) bool {
	width := cj.job.SlotsPerTask[k]
	if !q.room(k, width) {
		return false
	}
	capacity := max(q.capacity[k], width)
	within := q.occupied[k] < capacity
	if s.fitsExactly {
		within = q.occupied[k]+width <= capacity
	}
	current := capacity
	if !within {
		current = q.occupied[k] + width
	}
	users := max(1, q.active[k])
	limit := min(max(ceilDiv(current, users), ceilDiv(q.userMin*current, 100)), int(float32(capacity)*q.userFactor))
	return cj.user.occupied[k]+width <= limit
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
