// Package scheduler holds the policies that assign tasks at heartbeats, and what
// they read of cluster, TaskTracker and job.
//
//	sim/jobtracker ── a tracker with a free slot beats ──> Policy.Assign(cluster, tracker)
//	      ↑                                                     │ goes through the jobs
//	      └───── launches the task <── Job.LaunchMap, LaunchReduce
//
// A policy is one file and one line in the table of names. It chooses the job; the
// job chooses the task, because only the JobTracker knows where its data lie.
package scheduler

import (
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// Policy decides which tasks a tracker runs next. Only Assign must be set. The rest
// says what else the policy wants to know, and which heartbeats and ticks it can do
// without: what nobody would see is not simulated.
type Policy struct {
	// Assign launches the tasks on t that the policy assigns at this heartbeat. It
	// is called when t has a free slot of either type and got no set-up or clean-up
	// task.
	Assign func(c *Cluster, t *TaskTracker)
	// Submitted is called when a job is submitted, and decides when its tasks are
	// initialised (Job.Init). Nil: at once.
	Submitted func(c *Cluster, j *Job)
	// Updated is called for every job that has changed: its state, a count of its
	// tasks, or whether it has tasks to launch. The call may come during Assign
	// (JobInProgressListener.jobUpdated).
	Updated func(j *Job)
	// TakeOver is called when the policy replaces another in the course of a run,
	// before it learns of the jobs that have not ended.
	TakeOver func(c *Cluster)

	// Tick is periodic work, at this interval from time 0 on; 0: there is none. It
	// reports whether the next tick must be simulated even if nothing changes before
	// it.
	Tick     func(c *Cluster) (more bool)
	Interval time.Duration
	// Skips says that a tick with no change since the one before need not be
	// simulated: the policy does its work later.
	Skips bool

	// Wants selects the heartbeats that must be simulated. At all others Assign
	// would launch nothing and change no state. Nil: every heartbeat of a tracker
	// with a free slot is offered while a running job has a task of that type to
	// launch.
	Wants func(c *Cluster) Offers
	// Remembers says that Assign changes its state even if it launches nothing. It
	// is then offered every heartbeat of a tracker with a free slot while running
	// tasks may become speculated, even if none lags yet.
	Remembers bool
	// ReadsProgress says that the policy reads the progress of running tasks even of
	// jobs without speculation, so every report of progress must be simulated.
	ReadsProgress bool
	// Preempts says that the policy may kill running attempts.
	Preempts bool

	// Held says which limit keeps a job from tasks of a type on every tracker, with whose
	// it is (Pool), its value (Limit) and what is used of it (Running). NotDeclined: none.
	// Only traced runs call it. Nil: the policy has no such limits.
	Held func(j *Job, k int) (model.Reason, model.Figures)

	// check refuses a job that could never run, on a cluster with the given slots
	// of each type. It may be nil.
	check func(j *workload.Job, slots [2]int) error
}

// Offers are kinds of heartbeat: of trackers with a free map slot, with a free
// reduce slot, with any free slot.
type Offers struct{ Map, Reduce, Any bool }

// named is a policy as users know it.
type named struct {
	name  string
	about string // in one line
	order string // in which it asks jobs, a sentence for slotwave explain
	make  func(model.Scheduler, *model.Release) (Policy, error)
}

// ms returns a duration in Hadoop's unit.
func ms(d time.Duration) int64 { return int64(d / time.Millisecond) }
