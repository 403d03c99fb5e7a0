package scheduler

import (
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// capacity1 is the capacity scheduler of 1.x. At a heartbeat it assigns maps to
// all free slots of the tracker until one is off-rack, and one reduce.
type capacity1 struct {
	*jobQueuesManager
	maxTasks    int  // mapred.capacity-scheduler.maximum-tasks-per-heartbeat, 32767
	afterOff    int  // mapred.capacity-scheduler.maximum-tasks-after-offswitch, 0
	maxJobs     int  // mapred.capacity-scheduler.maximum-system-jobs, 3000
	fitsExactly bool // a request that just fills the queue is allowed (1.2)

	reservations [2][]*capacityJob // by type of task and tracker; empty until the first reservation
}

func newCapacity1(spec model.Scheduler, r *model.Release, base *jobQueuesManager) (*capacity1, error) {
	read := settingsIn(spec.Conf)
	s := &capacity1{
		jobQueuesManager: base,
		maxTasks:         read.Whole(capPrefix + "maximum-tasks-per-heartbeat"),
		afterOff:         read.Whole(capPrefix + "maximum-tasks-after-offswitch"),
		maxJobs:          read.Whole(capPrefix + "maximum-system-jobs"),
		fitsExactly:      r.CapacityFits,
	}
	// A job is skipped if asking it changes nothing: it has no task to launch and
	// its tasks are too narrow to reserve a tracker. The trackers it declined count
	// as long as it may launch a map later.
	base.asks = func(j *Job, k int) bool {
		return j.SlotsPerTask[k] > 1 || !j.Spent[k] && (workload.Kind(k) == workload.Map || j.Wants[k])
	}
	return s, read.Err
}

// submitted adds a job unless its queue is full.
func (s *capacity1) submitted(_ *Cluster, j *Job) {
	s.releaseTrackers()
	s.follow()
	q := s.queueOf(j.Queue)
	if q != nil {
		if why := s.refusal(q, j); why != "" {
			j.Reject(why)
			return
		}
	}
	s.add(j)
}

// refusal implements CapacitySchedulerQueue.checkJobSubmissionLimits.
func (s *capacity1) refusal(q *capacityQueue, j *Job) string {
	if j.Tasks[0]+j.Tasks[1] > q.maxUserTasks {
		return "it has more tasks than its queue initialises for one user (maximum-initialized-active-tasks-per-user)"
	}
	mine := 0
	if u := q.users[j.User]; u != nil {
		mine = u.jobs
	}
	if q.jobs >= s.initJobs(q)*q.acceptFactor || mine >= s.userInitJobs(q)*q.acceptFactor {
		return "its queue accepts no more jobs (maximum-system-jobs, init-accept-jobs-factor)"
	}
	return ""
}

func (s *capacity1) initJobs(q *capacityQueue) int {
	return int(math.Ceil(float64(float32(s.maxJobs)*q.percent) / 100))
}

func (s *capacity1) userInitJobs(q *capacityQueue) int {
	return int(math.Ceil(float64(float32(s.maxJobs)*q.percent) / 100 * float64(q.userMin) / 100))
}

// tick runs the poller once.
func (s *capacity1) tick(*Cluster) bool {
	s.releaseTrackers()
	return s.poller(s.pick)
}

// releaseTrackers ends the reservations of jobs without a task left to launch.
func (s *capacity1) releaseTrackers() {
	for k := range s.reservations {
		for tracker, cj := range s.reservations[k] {
			if cj != nil && (cj.job.State == Done || cj.job.Pending(workload.Kind(k)) == 0) {
				s.endReservation(tracker, k)
			}
		}
	}
}

// pick chooses jobs to initialise within the limits of the queue and its users.
func (s *capacity1) pick(q *capacityQueue) {
	most, mostOfUser := s.initJobs(q), s.userInitJobs(q)
	full := 0 // users
	for cj := range q.waiting.all() {
		n := cj.job.Tasks[0] + cj.job.Tasks[1]
		if q.initialised.jobs >= most || q.initialised.tasks+n > q.maxTasks || full == q.waitingUsers {
			break
		}
		u := q.meet(cj)
		switch {
		case u.full:
		case u.initialised.jobs >= mostOfUser || u.initialised.tasks+n > q.maxUserTasks:
			u.full = true
			full++
		default:
			cj.initialise()
		}
	}
	for _, cj := range q.picked {
		cj.unlist()
	}
}

// assign implements CapacityTaskScheduler.assignTasks.
func (s *capacity1) assign(c *Cluster, t *TaskTracker) {
	s.count(c)
	s.assignMaps(c, t)
	if free := t.Free(workload.Reduce); free > 0 {
		if cj, _ := s.assignOne(c, t, int(workload.Reduce), free, true); cj != nil {
			c.declined(int(workload.Reduce), model.OneTaskPerHeartbeat)
		}
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
			c.declined(int(workload.Map), model.OneTaskPerHeartbeat)
			return
		}
		offRack = offRack && !far
		if !offRack {
			if after == 0 {
				c.declined(int(workload.Map), model.OneOffRackMap)
				return
			}
			after--
		}
		width := cj.job.SlotsPerTask[workload.Map]
		free -= width
		cj.occupy(int(workload.Map), width)
	}
}

// assignOne launches one task of a type. It returns the job and whether the
// task is off-rack. A tracker that is reserved for a job gets a task of that
// job, or none.
func (s *capacity1) assignOne(c *Cluster, t *TaskTracker, k, free int, offRack bool) (*capacityJob, bool) {
	if cj := s.reserver(t.Index, k); cj != nil && cj.job.State == Running {
		if free < cj.job.SlotsPerTask[k] {
			return nil, false
		}
		s.endReservation(t.Index, k)
		cj.missed = math.MaxInt32 / 2
		return s.obtain(c, t, cj, k, true)
	}
	for _, q := range s.sorted(k) {
		if !q.room(k, 1) {
			continue
		}
		for cj := range q.candidates[k].all() {
			if !s.asks(cj.job, k) {
				continue
			}
			if cj.job.State != Running {
				continue
			}
			if c.traced() {
				c.asks(cj.job, k, cj.figures(k))
			}
			if !s.allows(q, cj, k) {
				c.refused(model.AtUserLimit)
				continue
			}
			if width := cj.job.SlotsPerTask[k]; width > 1 && free < width {
				c.refused(model.MemoryLimit)
				if s.reserve(t, cj, k) {
					c.declined(k, model.MemoryLimit)
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

// reserve reserves the tracker for a job whose tasks are too wide for its free
// slots, unless the job already has a reserved tracker for each of its tasks.
func (s *capacity1) reserve(t *TaskTracker, cj *capacityJob, k int) bool {
	pending := cj.job.Pending(workload.Kind(k))
	if pending == 0 || cj.reserved[k] >= pending {
		return false
	}
	if s.fitsExactly && cj.job.SlotsPerTask[k] > t.Slots[k] {
		return false
	}
	s.endReservation(t.Index, k)
	if n := t.Index + 1 - len(s.reservations[k]); n > 0 {
		s.reservations[k] = append(s.reservations[k], make([]*capacityJob, n)...)
	}
	s.reservations[k][t.Index] = cj
	cj.reserved[k]++
	s.updated(cj.job)
	return true
}

// reserver returns the job for which a tracker is reserved, or nil.
func (s *capacity1) reserver(tracker, k int) *capacityJob {
	if tracker < len(s.reservations[k]) {
		return s.reservations[k][tracker]
	}
	return nil
}

func (s *capacity1) endReservation(tracker, k int) {
	if cj := s.reserver(tracker, k); cj != nil {
		s.reservations[k][tracker] = nil
		cj.reserved[k]--
		s.updated(cj.job)
	}
}

func (s *capacity1) obtain(c *Cluster, t *TaskTracker, cj *capacityJob, k int, offRack bool) (*capacityJob, bool) {
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
	} else if j.Wants[k] {
		c.refused(model.LocalityWait)
		c.declined(k, model.LocalityWait)
	}
	return nil, false
}

// mayGoFar reports whether a job has declined enough trackers to take an
// off-rack map (JobInProgress.scheduleOffSwitch).
func (cj *capacityJob) mayGoFar(c *Cluster) bool {
	required := min(cj.job.Remaining(workload.Map), c.Trackers)
	return float32(required)*cj.job.WaitFactor() < float32(cj.missed)
}

// room reports whether the queue may use more slots.
func (q *capacityQueue) room(k, slots int) bool {
	return q.maxCapacity[k] <= 0 || q.occupied[k]+slots <= q.maxCapacity[k]
}

// allows applies the limits of queue and user (assignSlotsToJob).
func (s *capacity1) allows(q *capacityQueue, cj *capacityJob, k int) bool {
	width := cj.job.SlotsPerTask[k]
	return q.room(k, width) && cj.user.occupied[k]+width <= s.userLimit(q, k, width)
}

// userLimit returns the slots that each user of a queue may have.
func (s *capacity1) userLimit(q *capacityQueue, k, width int) int {
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
	return min(max(ceilDiv(current, users), ceilDiv(q.userMin*current, 100)), int(float32(capacity)*q.userFactor))
}

// held implements Policy.Held.
func (s *capacity1) held(j *Job, k int) (model.Reason, model.Figures) {
	cj := j.note.(*capacityJob)
	q, u := cj.queue, cj.user
	queue, user := "queue "+q.name, "user "+j.User
	switch {
	case !cj.initialised && q.initialised.jobs >= s.initJobs(q):
		return model.AtInitLimit, model.Figures{Pool: queue, Running: q.initialised.jobs, Limit: s.initJobs(q)}
	case !cj.initialised && u.initialised.jobs >= s.userInitJobs(q):
		return model.AtInitLimit, model.Figures{Pool: user, Running: u.initialised.jobs, Limit: s.userInitJobs(q)}
	case j.State == Running && !q.room(k, j.SlotsPerTask[k]):
		return model.AtQueueLimit, model.Figures{Pool: queue, Running: q.occupied[k], Demand: q.occupied[k] + j.Pending(workload.Kind(k)), Limit: q.maxCapacity[k]}
	case j.State == Running && !s.allows(q, cj, k):
		return model.AtUserLimit, model.Figures{Pool: user, Running: u.occupied[k], Demand: u.occupied[k] + j.Pending(workload.Kind(k)), Limit: s.userLimit(q, k, j.SlotsPerTask[k])}
	}
	return model.NotDeclined, model.Figures{}
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
