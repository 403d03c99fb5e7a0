package scheduler

import (
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/workload"
)

// Cluster, TaskTracker and Job are what the JobTracker knows. The simulator keeps
// them up to date; a policy reads them, and a test lets none write to them. Arrays
// of two are indexed by workload.Map and workload.Reduce.

// Cluster is what the JobTracker knows of the whole cluster (ClusterStatus).
type Cluster struct {
	Now       time.Duration
	LastTick  time.Duration // of the policy's own ticks, simulated or not
	Trackers  int           // registered and not blacklisted
	Hosts     int           // with at least one such tracker
	Slots     [2]int
	Running   [2]int        // as the trackers last reported
	Heartbeat time.Duration // the interval that trackers are given now
	Jobs      []*Job        // not yet ended, in order of submission
	Waiting   [2]int        // running jobs that want a task of the type launched
	Unspent   [2]int        // running jobs that may still launch a task of the type
	Remaining [2]int        // tasks of running jobs that have not succeeded; reduces only after slowstart
	Traced    bool          // decisions are recorded, so fair shares are wanted even if they decide nothing
	Offer     *model.Offer  // receives the decisions of this heartbeat; nil: they are not recorded
}

// TaskTracker is one tracker as it reports (TaskTrackerStatus).
type TaskTracker struct {
	Index   int // from 0
	Slots   [2]int
	Running [2]int // attempts, without those that only wait to commit
	Used    [2]int // slots they occupy
}

// Free is the number of slots of a type that were free when the tracker sent this
// heartbeat. Launching does not change it if the types have slots of their own: a
// policy counts what it launches. A task launched beyond the free slots waits on
// the tracker, as in Hadoop.
func (t *TaskTracker) Free(k workload.Kind) int { return t.Slots[k] - t.Used[k] }

// State is the run state of a job.
type State uint8

// Run states (JobStatus).
const (
	Prep State = iota
	Running
	Done
)

// Job is what the JobTracker knows of one job (JobInProgress).
type Job struct {
	ID          int // place in the order of submission
	Name        string
	User        string
	Pool        string
	Queue       string
	Priority    workload.Priority
	Submit      time.Duration
	Deadline    time.Duration // 0: none
	Initialised bool
	State       State

	Tasks        [2]int // in all
	RunningTasks [2]int // attempts launched and not known to have ended
	Finished     [2]int // tasks that succeeded
	FailedTasks  [2]int // tasks given up
	Speculative  [2]int // second attempts among RunningTasks
	Active       [2]int // attempts of tasks that have not succeeded
	ActiveTasks  [2]int // tasks that have not succeeded and have an attempt
	SlotsPerTask [2]int // more than one for a job that asks for much memory

	Wants        [2]bool // runs, and has a task to launch or to speculate
	Spent        [2]bool // will never launch a task of the type again
	ReducesReady bool    // enough maps have ended (slowstart)
	Speculates   [2]bool
	UnplacedMaps int // maps without hosts that have not been launched

	Launcher

	note    any  // set by the policy
	updated bool // it is among the updates of a policy
}

// Discharge removes what a policy has stored for the job, before another takes over.
func (j *Job) Discharge() { j.note, j.updated = nil, false }

// Remaining counts the tasks that have not succeeded.
func (j *Job) Remaining(k workload.Kind) int { return j.Tasks[k] - j.Finished[k] }

// Pending counts the tasks of a type that could still be launched, including second
// attempts of running tasks (JobInProgress.pendingMaps, pendingReduces).
func (j *Job) Pending(k workload.Kind) int {
	return j.Tasks[k] - j.RunningTasks[k] - j.FailedTasks[k] - j.Finished[k] + j.Speculative[k]
}

// Launcher is the part of a job that acts.
type Launcher interface {
	// LaunchMap starts a map on t, at most as far from its data as r allows,
	// and returns its locality.
	LaunchMap(t *TaskTracker, r Reach) (workload.Locality, bool)
	// HasLocal reports whether t may have a map to launch on the node that holds
	// its split. If not, LaunchMap with OnNode would change nothing.
	HasLocal(t *TaskTracker) bool
	// LaunchReduce starts a reduce on t.
	LaunchReduce(t *TaskTracker) bool
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

// mostAsked limits the jobs that an offer records before those that launch a task,
// and mostNext those that would have been asked next.
const (
	mostAsked = 6
	mostNext  = 2
)

// notesNext reports whether jobs are recorded that would have been asked next: at
// the first launch of a type.
func (c *Cluster) notesNext(k int) bool {
	o := c.Offer
	return o != nil && !slices.ContainsFunc(o.Asked, func(a model.Asked) bool { return int(a.Kind) == k && a.Reason == model.BehindOthers })
}

// traced reports whether the present heartbeat is recorded.
func (c *Cluster) traced() bool { return c.Offer != nil }

// asks records that a job is asked for a task. Whatever is launched then counts as
// its answer.
func (c *Cluster) asks(j *Job, k int, f model.Figures) {
	if o := c.Offer; o != nil && len(o.Asked) < mostAsked {
		o.Asked = append(o.Asked, model.Asked{Job: j.Name, Kind: workload.Kind(k), Task: -1, Reason: model.NothingWaiting, Figures: f})
	}
}

// refused records why the job that was asked last launched nothing.
func (c *Cluster) refused(why model.Reason) {
	if o := c.Offer; o != nil && len(o.Asked) > 0 {
		if last := &o.Asked[len(o.Asked)-1]; last.Task < 0 && last.Reason == model.NothingWaiting {
			last.Reason = why
		}
	}
}

// declined records why free slots of a type got nothing more.
func (c *Cluster) declined(k int, why model.Reason) {
	if o := c.Offer; o != nil && o.Reason[k] == model.NotDeclined {
		o.Reason[k] = why
	}
}

// updates collects the jobs that have changed since the policy last looked.
type updates struct{ jobs []*Job }

// updated is Policy.Updated of policies that look at changed jobs later.
func (u *updates) updated(j *Job) {
	if !j.updated {
		j.updated = true
		u.jobs = append(u.jobs, j)
	}
}

// next removes and returns one of the changed jobs, if any is left.
func (u *updates) next() (j *Job, ok bool) {
	last := len(u.jobs) - 1
	if last < 0 {
		return nil, false
	}
	j = u.jobs[last]
	u.jobs = u.jobs[:last]
	j.updated = false
	return j, true
}
