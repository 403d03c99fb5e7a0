package scheduler

import (
	"fmt"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// capacity0 is the capacity scheduler of 0.20. It assigns one task a heartbeat,
// of the type with more free slots on the tracker. The version of 0.21 assigns a
// reduce and a map, and supports a maximum capacity of queues.
type capacity0 struct {
	*jobQueuesManager
	pair bool
}

func newCapacity0(r *model.Release, base *jobQueuesManager) *capacity0 {
	// A job with nothing to launch is asked only if its tasks are wide enough to
	// block the queue.
	base.asks = func(j *Job, k int) bool { return j.Wants[k] || j.SlotsPerTask[k] > 1 }
	return &capacity0{jobQueuesManager: base, pair: r.CapacityPair}
}

// check rejects a job if the share of its queue rounds to no slot, because
// Hadoop then never looks at the queue.
func (s *capacity0) check(j *workload.Job, slots [2]int) error {
	q := s.queueOf(j.Queue)
	if q == nil {
		return nil // the job will be rejected
	}
	for k, tasks := range [...]int{j.Maps.Count, j.Reduces.Count} {
		if kind := workload.Kind(k); tasks > 0 && slots[k] > 0 && q.share(slots[k]) == 0 {
			return fmt.Errorf("queue %s: capacity = %g %% of %d %s slots is less than one slot: want at least %.4g %% for the %ss of job %s",
				q.name, q.percent, slots[k], kind, math.Ceil(1e6/float64(slots[k]))/1e4, kind, j.ID)
		}
	}
	return nil
}

// submitted implements JobQueuesManager.jobAdded.
func (s *capacity0) submitted(_ *Cluster, j *Job) { s.add(j) }

// tick runs the poller once.
func (s *capacity0) tick(*Cluster) bool { return s.poller(s.pick) }

// pick chooses jobs to initialise: a few per user, from a limited number of
// users (JobInitializationPoller.getJobsToInitialize).
func (s *capacity0) pick(q *capacityQueue) {
	q.started = slices.DeleteFunc(q.started, func(cj *capacityJob) bool {
		if !cj.left && cj.job.State == Running && cj.hasLaunched() {
			cj.unlist()
		}
		return !cj.listed
	})
	const moreUsers = 2
	maxUsers := 100/q.userMin + moreUsers
	seen, users, started := 0, 0, len(q.started)
	var of [numChances]int // users, by the jobs that the poller may still pick
	of[newcomer] = q.waitingUsers
	for cj := range q.waiting.all() {
		if of[hasRoom] == 0 && (of[newcomer] == 0 || users >= maxUsers && started == 0) {
			return // no user can get another one
		}
		u := q.meet(cj)
		was, old := u.chance(q), cj.initialised
		if old {
			started--
		}
		picks := !old && (was == hasRoom || was == newcomer && users < maxUsers)
		if old || picks {
			if u.met++; u.met == 1 {
				users++
			}
			seen++
		}
		if picks {
			cj.initialise()
			q.started = append(q.started, cj)
		}
		of[was]--
		of[u.chance(q)]++
		if !old && seen > maxUsers*q.maxInitJobs {
			return
		}
	}
}

// A chance is the number of jobs that the poller may still pick of a user at a
// tick.
type chance uint8

const (
	nothing  chance = iota
	newcomer        // a first job, if the queue has room for another user
	hasRoom         // another job
	numChances
)

func (u *capacityUser) chance(q *capacityQueue) chance {
	switch {
	case u.waiting == 0:
		return nothing
	case u.met == 0:
		return newcomer
	case u.met < q.maxInitJobs:
		return hasRoom
	}
	return nothing
}

// hasLaunched reports whether a task of the job has been launched.
func (cj *capacityJob) hasLaunched() bool {
	j := cj.job
	return j.Pending(workload.Map) < j.Tasks[workload.Map] || j.Pending(workload.Reduce) < j.Tasks[workload.Reduce]
}

// assign implements CapacityTaskScheduler.assignTasks.
func (s *capacity0) assign(c *Cluster, t *TaskTracker) {
	s.count(c)
	if s.pair {
		for _, k := range [...]workload.Kind{workload.Reduce, workload.Map} {
			if t.Free(k) > 0 && s.assignOne(c, t, int(k)) {
				c.declined(int(k), model.OneTaskPerHeartbeat)
			}
		}
		return
	}
	first, second := workload.Map, workload.Reduce
	if t.Free(workload.Reduce) > t.Free(workload.Map) {
		first, second = second, first
	}
	if s.assignOne(c, t, int(first)) || t.Free(second) > 0 && s.assignOne(c, t, int(second)) {
		c.declined(int(first), model.OneTaskPerHeartbeat)
		c.declined(int(second), model.OneTaskPerHeartbeat)
	}
}

func (s *capacity0) assignOne(c *Cluster, t *TaskTracker, k int) bool {
	for _, q := range s.sorted(k) {
		if q.capacity[k] == 0 || s.pair && !q.room(k, 1) {
			continue
		}
		launched, blocked := s.fromQueue(c, t, q, k)
		if launched || blocked {
			return launched
		}
	}
	return false
}

// fromQueue looks for a task first in the jobs of users below their limit, and
// then in all jobs. A job whose tasks are too wide for the tracker blocks the
// queue.
func (s *capacity0) fromQueue(c *Cluster, t *TaskTracker, q *capacityQueue, k int) (launched, blocked bool) {
	for _, limited := range [...]bool{true, false} {
		for cj := range q.candidates[k].all() {
			j := cj.job
			if !j.Wants[k] && j.SlotsPerTask[k] == 1 {
				continue // nothing to launch, and too narrow to block the queue
			}
			if j.State != Running {
				continue
			}
			if c.traced() {
				c.asks(j, k, cj.figures(k))
			}
			if limited && q.userOver(cj, k) {
				c.refused(model.AtUserLimit)
				continue
			}
			if s.pair && !q.room(k, j.SlotsPerTask[k]) {
				c.refused(model.AtQueueLimit)
				continue
			}
			if t.Free(workload.Kind(k)) < j.SlotsPerTask[k] && j.SlotsPerTask[k] > 1 {
				if j.Pending(workload.Kind(k)) != 0 {
					c.refused(model.MemoryLimit)
					c.declined(k, model.MemoryLimit)
					return false, true
				}
				continue
			}
			if launch(j, t, workload.Kind(k)) {
				return true, false
			}
		}
	}
	return false, false
}

// userOver applies the user limit of 0.20 (isUserOverLimit).
func (q *capacityQueue) userOver(cj *capacityJob, k int) bool {
	current := q.capacity[k]
	if q.occupied[k] >= current {
		current = q.occupied[k] + cj.job.SlotsPerTask[k]
	}
	limit := max(int(math.Ceil(float64(current)/float64(q.present))), int(math.Ceil(float64(q.userMin*current)/100)))
	return cj.user.occupied[k] >= limit
}

// held implements Policy.Held. The limits of users only order their jobs.
func (s *capacity0) held(j *Job, k int) (model.Reason, model.Figures) {
	cj := j.note.(*capacityJob)
	switch q := cj.queue; {
	case !cj.initialised && cj.user.pick == q.picks && cj.user.met >= q.maxInitJobs:
		return model.AtInitLimit, model.Figures{Pool: "user " + j.User, Running: cj.user.met, Limit: q.maxInitJobs}
	case j.State == Running && (q.capacity[k] == 0 || s.pair && !q.room(k, j.SlotsPerTask[k])):
		return model.AtQueueLimit, model.Figures{Pool: "queue " + q.name, Running: q.occupied[k], Demand: q.occupied[k] + j.Pending(workload.Kind(k)), Limit: q.maxCapacity[k]}
	}
	return model.NotDeclined, model.Figures{}
}
