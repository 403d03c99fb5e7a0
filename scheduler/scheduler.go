// Package scheduler holds the schedulers that assign tasks at heartbeats, and
// the small views of cluster, TaskTracker and job that they need.
//
// A policy is one file and one line in the table of names. A scheduler is
// called when a tracker with a free slot reports, and launches tasks through
// the job views.
package scheduler

import (
	"fmt"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/workload"
)

// Scheduler decides which tasks a tracker runs next.
type Scheduler interface {
	// Assign launches the tasks on t that the scheduler assigns at this
	// heartbeat. It is called when t has a free slot of either type and got no
	// set-up or clean-up task.
	Assign(c Cluster, t TaskTracker)
}

// A Submitter is called when a job is submitted, and decides when its tasks are
// initialised (Job.Init). For other schedulers they are initialised at once.
type Submitter interface {
	Submitted(c Cluster, j Job)
}

// A Listener is called for every job that has changed: its state, a count of
// its tasks, or whether it has tasks to launch. The call may come during Assign
// (JobInProgressListener.jobUpdated).
type Listener interface {
	JobUpdated(j Job)
}

// A Ticker has periodic work at a fixed interval, counted from time 0. If its
// ticks are skippable, a tick with no change since the one before is not
// simulated. The scheduler does its work later. An interval of 0 means no
// ticks.
type Ticker interface {
	Interval() (every time.Duration, skippable bool)
	// Tick reports whether the next tick must be simulated even if nothing
	// changes before it.
	Tick(c Cluster) (more bool)
}

// A Chooser selects the heartbeats that must be simulated. At all others Assign
// would launch nothing and change no state. For other schedulers, every
// heartbeat of a tracker with a free slot is offered while a running job has a
// task of that type to launch.
type Chooser interface {
	Wants(c Cluster) Offers
}

// Offers are kinds of heartbeat: of trackers with a free map slot, with a free
// reduce slot, with any free slot.
type Offers struct{ Map, Reduce, Any bool }

// A Preemptor may kill running attempts.
type Preemptor interface {
	Preempts() bool
}

// A Rememberer changes its state even in an Assign that launches nothing. It is
// offered every heartbeat of a tracker with a free slot while running tasks may
// become speculated, even if none lags yet.
type Rememberer interface {
	Remembers() bool
}

// A Successor can take over from another scheduler in the course of a run. TakeOver
// is called before it is told of the jobs that have not ended.
type Successor interface {
	TakeOver(c Cluster)
}

// A ProgressReader reads the progress of running tasks even of jobs without
// speculation, so every report of progress must be simulated.
type ProgressReader interface {
	ReadsProgress() bool
}

// Launcher is the part of a job that acts.
type Launcher interface {
	// LaunchMap starts a map on t, at most as far from its data as r allows,
	// and returns its locality.
	LaunchMap(t TaskTracker, r Reach) (workload.Locality, bool)
	// HasLocal reports whether t may have a map to launch on the node that holds
	// its split. If not, LaunchMap with OnNode would change nothing.
	HasLocal(t TaskTracker) bool
	// LaunchReduce starts a reduce on t.
	LaunchReduce(t TaskTracker) bool
	// Init initialises the tasks; the job can then be set up.
	Init()
	// Reject fails the job instead.
	Reject(why string)
	// Profile returns how long the job's tasks are expected to take.
	Profile() analytic.AriaProfile
	// WaitFactor returns the share of the hosts that hold the job's input, or
	// mapreduce.job.locality.wait.factor.
	WaitFactor() float32
	// Speculatable counts the running tasks that lag.
	Speculatable(k workload.Kind) int
	// Attempts lists the attempts of unfinished tasks that their tracker
	// has reported, in the order of the tasks.
	Attempts(k workload.Kind) []Attempt
}

// Attempt is a running attempt that may be killed.
type Attempt struct {
	Start time.Duration
	Kill  func()
}

// Reach is the largest distance of a map from its data.
type Reach uint8

// Reaches (the cache levels of JobInProgress.findNewMapTask).
const (
	OnNode     Reach = iota // on a node that holds the split
	InRack                  // there or in its rack
	Anywhere                // also off-rack and speculatively
	BeyondRack              // only off-rack or speculatively
)

// policies is the table of names, sorted.
var policies = []struct {
	name  string
	about string
	make  func(model.Scheduler, *model.Release) (Scheduler, error)
}{
	{"capacity", "CapacityTaskScheduler: queues with capacities, user limits", newCapacity},
	{"fair1", "FairScheduler of 0.20: deficits, one task a heartbeat", newFair1},
	{"fair2", "FairScheduler of 0.21 and 1.x: pools, delay scheduling, preemption", newFair2},
	{"fifo", "JobQueueTaskScheduler: priority, then submission; the default of Hadoop", newFIFO},
	{"maxedf", "earliest deadline first, as many slots as there are", newMaxEDF},
	{"minedf", "earliest deadline first, as few slots as ARIA's model takes to meet it", newMinEDF},
}

// New makes the scheduler that spec names, as in the given release.
func New(spec model.Scheduler, r *model.Release) (Scheduler, error) {
	for _, p := range policies {
		if p.name == spec.Name {
			return p.make(spec, r)
		}
	}
	return nil, fmt.Errorf("unknown scheduler %q: want one of %s", spec.Name, strings.Join(Names(), ", "))
}

// Check returns an error if one of the jobs could never run under the scheduler
// that spec names, on a cluster with the given slots of each type.
func Check(spec model.Scheduler, r *model.Release, slots [2]int, jobs []workload.Job) error {
	policy, err := New(spec, r)
	if err != nil {
		return err
	}
	if c, ok := policy.(interface {
		check(j *workload.Job, slots [2]int) error
	}); ok {
		for i := range jobs {
			if err := c.check(&jobs[i], slots); err != nil {
				return err
			}
		}
	}
	return nil
}

// Names lists the schedulers.
func Names() []string {
	var names []string
	for _, p := range policies {
		names = append(names, p.name)
	}
	return names
}

// About describes a scheduler in one line.
func About(name string) string {
	for _, p := range policies {
		if p.name == name {
			return p.about
		}
	}
	return ""
}

// ms returns a duration in Hadoop's unit.
func ms(d time.Duration) int64 { return int64(d / time.Millisecond) }
