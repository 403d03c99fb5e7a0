package scheduler

import (
	"math"

	"github.com/slotwave/slotwave/model"
)

// unlimitedJobs is the number of running jobs that means no limit.
const unlimitedJobs = math.MaxInt32

// quota limits how many jobs of a pool or user run.
type quota struct {
	most    int
	running int
	round   int // round in which the jobs were counted
}

// left reports whether another job may run in a round.
func (q *quota) left(round int) bool {
	if q.round != round {
		q.round, q.running = round, 0
	}
	return q.running < q.most
}

// fairJob is what both fair schedulers keep of a job.
type fairJob struct {
	job        *Job
	user, pool *quota
	state      State // round of limits that allowed it
	runnable   bool
	changed    bool // is in fairJobs.changed
	active     int  // index in fairJobs.active plus 1; 0: not there
}

func (i *fairJob) common() *fairJob { return i }

// fairJobs are the jobs of a fair scheduler, as it keeps them.
type fairJobs[T interface {
	comparable
	common() *fairJob
}] struct {
	updates
	users       map[string]*quota
	userDefault int  // userMaxJobsDefault
	limited     bool // some pool or user has a limit of running jobs
	changed     []T  // since the last update
	active      []T  // with running attempts, which may lag later

	byRank   sorted[T] // by priority and submission, if there are limits
	round    int       // number of the round of limits
	unlisted bool      // a job has come, started or ended since the last round
}

// open states the limits of users.
func (f *fairJobs[T]) open(limited bool, users []model.UserLimit) {
	f.users = make(map[string]*quota)
	f.limited = limited || len(users) > 0 || f.userDefault < unlimitedJobs
	f.byRank = newSorted(func(a, b T) int { return byPriority(a.common().job, b.common().job) })
	for _, u := range users {
		f.users[u.Name] = &quota{most: u.MaxRunningJobs}
	}
}

// come adds a job that has been submitted, of a pool with a limit.
func (f *fairJobs[T]) come(i T, j *Job, pool *quota) {
	user := f.users[j.User]
	if user == nil {
		user = &quota{most: f.userDefault}
		f.users[j.User] = user
	}
	c := i.common()
	c.job, c.user, c.pool, j.note = j, user, pool, i
	if f.limited {
		f.byRank.insert(i)
		f.unlisted = true
	}
}

// leave removes a job that has ended.
func (f *fairJobs[T]) leave(i T) {
	f.setActive(i, false)
	if f.limited {
		f.byRank.remove(i)
		f.unlisted = true
	}
}

// mark marks a job so that the next update counts its tasks again.
func (f *fairJobs[T]) mark(i T) {
	if c := i.common(); !c.changed {
		c.changed = true
		f.changed = append(f.changed, i)
	}
}

// setActive updates the list of jobs with running attempts.
func (f *fairJobs[T]) setActive(i T, active bool) {
	c := i.common()
	switch last := len(f.active) - 1; {
	case active && c.active == 0:
		f.active = append(f.active, i)
		c.active = len(f.active)
	case !active && c.active > 0:
		moved := f.active[last]
		f.active[c.active-1], moved.common().active = moved, c.active
		clear(f.active[last:])
		f.active, c.active = f.active[:last], 0
	}
}

// updateRunnability lets jobs run in order of priority and submission until the limits
// of their user or pool are used up. Only those that count use them up.
func (f *fairJobs[T]) updateRunnability(counts func(T) bool, run func(T)) {
	for _, i := range f.changed {
		if c := i.common(); !f.limited {
			run(i)
		} else if c.state != c.job.State {
			c.state = c.job.State
			f.unlisted = true
		}
	}
	if !f.unlisted {
		return
	}
	f.unlisted = false
	f.round++
	for i := range f.byRank.all() {
		c := i.common()
		was := c.runnable
		c.runnable = false
		if counts(i) && c.user.left(f.round) && c.pool.left(f.round) {
			c.user.running++
			c.pool.running++
			run(i)
		}
		if c.runnable != was {
			f.mark(i)
		}
	}
}

// heldBy returns the limit of its pool or user that keeps a job from running.
func (i *fairJob) heldBy(pool string) (model.Reason, model.Figures) {
	for _, full := range []struct {
		of string
		*quota
	}{{"pool " + pool, i.pool}, {"user " + i.job.User, i.user}} {
		if full.running >= full.most {
			return model.AtJobLimit, model.Figures{Pool: full.of, Running: full.running, Limit: full.most}
		}
	}
	return model.NotDeclined, model.Figures{}
}
