package scheduler

import (
	"iter"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/workload"
)

// The simulator keeps what the JobTracker knows in ClusterStatus,
// TaskTrackerStatus and JobInProgress. Policies see the same through the views
// Cluster, TaskTracker and Job, which they cannot change. Arrays of two are indexed
// by workload.Map and workload.Reduce.

// ClusterStatus is what the JobTracker knows of the whole cluster.
type ClusterStatus struct {
	Now       time.Duration
	LastTick  time.Duration // of the policy's own ticks, simulated or not
	Trackers  int           // registered and not blacklisted
	Hosts     int           // with at least one such tracker
	Slots     [2]int
	Running   [2]int        // as the trackers last reported
	Heartbeat time.Duration // the interval trackers are told now
	Jobs      []Job         // not yet ended, in order of submission
	Waiting   [2]int        // running jobs that want a task of the type launched
	Unspent   [2]int        // running jobs that may still launch a task of the type
	Remaining [2]int        // tasks of running jobs that have not succeeded; reduces only after slowstart
	Traced    bool          // decisions are recorded
	Offer     *model.Offer  // receives the decisions of this heartbeat; nil: they are not recorded
}

// View returns the policy's view of the cluster.
func (s *ClusterStatus) View() Cluster { return Cluster{s} }

// TaskTrackerStatus is one tracker as it reports.
type TaskTrackerStatus struct {
	Index   int
	Slots   [2]int
	Running [2]int // attempts, without those that only wait to commit
	Used    [2]int // slots they occupy
}

// View returns the policy's view of the tracker.
func (s *TaskTrackerStatus) View() TaskTracker { return TaskTracker{s} }

// Free is the number of slots of a type that the JobTracker takes to be free.
func (s *TaskTrackerStatus) Free(k workload.Kind) int { return s.Slots[k] - s.Used[k] }

// State is the run state of a job.
type State uint8

// Run states (JobStatus).
const (
	Prep State = iota
	Running
	Done
)

// JobInProgress is what the JobTracker knows of one job.
type JobInProgress struct {
	ID          int // order of submission
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
func (j *JobInProgress) Discharge() { j.note, j.updated = nil, false }

// View returns the policy's view of the job.
func (j *JobInProgress) View() Job { return Job{j} }

// Remaining counts the tasks that have not succeeded.
func (j *JobInProgress) Remaining(k workload.Kind) int { return j.Tasks[k] - j.Finished[k] }

// Cluster is a policy's view of the cluster.
type Cluster struct{ record *ClusterStatus }

// Now is the time.
func (c Cluster) Now() time.Duration { return c.record.Now }

// LastTick is the time of the policy's last tick, simulated or not.
func (c Cluster) LastTick() time.Duration { return c.record.LastTick }

// Trackers counts the trackers that are registered and not blacklisted.
func (c Cluster) Trackers() int { return c.record.Trackers }

// Slots counts the slots of the trackers that Trackers counts.
func (c Cluster) Slots() [2]int { return c.record.Slots }

// Running counts attempts as the trackers last reported.
func (c Cluster) Running() [2]int { return c.record.Running }

// Heartbeat is the interval that trackers are told now.
func (c Cluster) Heartbeat() time.Duration { return c.record.Heartbeat }

// Waiting counts the running jobs that want a task of the type launched.
func (c Cluster) Waiting() [2]int { return c.record.Waiting }

// Unspent counts the running jobs that may still launch a task of the type.
func (c Cluster) Unspent() [2]int { return c.record.Unspent }

// Remaining counts the tasks of running jobs that have not succeeded. Reduces count
// only after slowstart.
func (c Cluster) Remaining() [2]int { return c.record.Remaining }

// Jobs lists the jobs that have not ended, in order of submission.
func (c Cluster) Jobs() iter.Seq[Job] { return slices.Values(c.record.Jobs) }

// mostAsked limits the jobs that an offer records before those that launch a task,
// and mostNext those that would have been asked next.
const (
	mostAsked = 6
	mostNext  = 2
)

// notesNext reports whether jobs are recorded that would have been asked next: at
// the first launch of a type.
func (c Cluster) notesNext(k int) bool {
	o := c.record.Offer
	return o != nil && !slices.ContainsFunc(o.Asked, func(a model.Asked) bool { return int(a.Kind) == k && a.Reason == model.BehindOthers })
}

// traced reports whether the present heartbeat is recorded.
func (c Cluster) traced() bool { return c.record.Offer != nil }

// asks records that a job is asked for a task. Whatever is launched then counts as
// its answer.
func (c Cluster) asks(j Job, k int, f model.Figures) {
	if o := c.record.Offer; o != nil && len(o.Asked) < mostAsked {
		o.Asked = append(o.Asked, model.Asked{Job: j.record.Name, Kind: workload.Kind(k), Task: -1, Reason: model.NothingWaiting, Figures: f})
	}
}

// refused records why the job that was asked last launched nothing.
func (c Cluster) refused(why model.Reason) {
	if o := c.record.Offer; o != nil && len(o.Asked) > 0 {
		if last := &o.Asked[len(o.Asked)-1]; last.Task < 0 && last.Reason == model.NothingWaiting {
			last.Reason = why
		}
	}
}

// declined records why free slots of a type got nothing more.
func (c Cluster) declined(k int, why model.Reason) {
	if o := c.record.Offer; o != nil && o.Reason[k] == model.NotDeclined {
		o.Reason[k] = why
	}
}

// keepsShares reports whether fair shares are wanted although they decide nothing.
func (c Cluster) keepsShares() bool { return c.record.Traced }

// TaskTracker is a policy's view of a tracker.
type TaskTracker struct{ record *TaskTrackerStatus }

// Index is the number of the tracker, from 0.
func (t TaskTracker) Index() int { return t.record.Index }

// Slots counts the slots of the tracker.
func (t TaskTracker) Slots() [2]int { return t.record.Slots }

// Running counts the attempts on the tracker, without those that only wait to
// commit.
func (t TaskTracker) Running() [2]int { return t.record.Running }

// Free is the number of slots of a type that were free when the tracker sent this
// heartbeat. Launching does not change it if the types have slots of their own: a
// policy counts what it launches. A task launched beyond the free slots waits on
// the tracker, as in Hadoop.
func (t TaskTracker) Free(k workload.Kind) int { return t.record.Free(k) }

// Job is a policy's view of a job. Two views of one job are equal.
type Job struct{ record *JobInProgress }

// ID is the position of the job in the order of submission.
func (j Job) ID() int { return j.record.ID }

// User is the user who submitted the job.
func (j Job) User() string { return j.record.User }

// Pool is the pool that the job names, if any.
func (j Job) Pool() string { return j.record.Pool }

// Queue is the queue that the job names, if any.
func (j Job) Queue() string { return j.record.Queue }

// Priority is the priority of the job.
func (j Job) Priority() workload.Priority { return j.record.Priority }

// Submit is the time of submission.
func (j Job) Submit() time.Duration { return j.record.Submit }

// Deadline is the time by which the job should have ended, 0 if it has none.
func (j Job) Deadline() time.Duration { return j.record.Deadline }

// State is the run state of the job.
func (j Job) State() State { return j.record.State }

// Tasks counts all tasks of the job.
func (j Job) Tasks() [2]int { return j.record.Tasks }

// RunningTasks counts attempts launched and not known to have ended.
func (j Job) RunningTasks() [2]int { return j.record.RunningTasks }

// Finished counts tasks that succeeded.
func (j Job) Finished() [2]int { return j.record.Finished }

// Active counts attempts of tasks that have not succeeded.
func (j Job) Active() [2]int { return j.record.Active }

// ActiveTasks counts tasks that have not succeeded and have an attempt.
func (j Job) ActiveTasks() [2]int { return j.record.ActiveTasks }

// SlotsPerTask is the number of slots that a task takes: more than one if the job
// asks for much memory.
func (j Job) SlotsPerTask() [2]int { return j.record.SlotsPerTask }

// Wants reports whether the job runs and has a task to launch or to speculate.
func (j Job) Wants() [2]bool { return j.record.Wants }

// Spent reports whether the job will never launch a task of the type again.
func (j Job) Spent() [2]bool { return j.record.Spent }

// ReducesReady reports whether enough maps have ended (slowstart).
func (j Job) ReducesReady() bool { return j.record.ReducesReady }

// Speculates reports whether lagging tasks may be run a second time.
func (j Job) Speculates() [2]bool { return j.record.Speculates }

// UnplacedMaps counts maps without hosts that have not been launched.
func (j Job) UnplacedMaps() int { return j.record.UnplacedMaps }

// WaitFactor is the share of the hosts that hold the job's input, or
// mapreduce.job.locality.wait.factor.
func (j Job) WaitFactor() float32 { return j.record.WaitFactor() }

// Pending counts the tasks of a type that could still be launched, including second
// attempts of running tasks (JobInProgress.pendingMaps, pendingReduces).
func (j Job) Pending(k workload.Kind) int {
	record := j.record
	return record.Tasks[k] - record.RunningTasks[k] - record.FailedTasks[k] - record.Finished[k] + record.Speculative[k]
}

// Remaining counts the tasks that have not succeeded.
func (j Job) Remaining(k workload.Kind) int { return j.record.Remaining(k) }

// LaunchMap calls Launcher.LaunchMap of the job.
func (j Job) LaunchMap(t TaskTracker, r Reach) (workload.Locality, bool) {
	return j.record.LaunchMap(t, r)
}

// HasLocal calls Launcher.HasLocal of the job.
func (j Job) HasLocal(t TaskTracker) bool { return j.record.HasLocal(t) }

// LaunchReduce calls Launcher.LaunchReduce of the job.
func (j Job) LaunchReduce(t TaskTracker) bool { return j.record.LaunchReduce(t) }

// Init calls Launcher.Init of the job.
func (j Job) Init() { j.record.Init() }

// Reject calls Launcher.Reject of the job.
func (j Job) Reject(why string) { j.record.Reject(why) }

// Profile calls Launcher.Profile of the job.
func (j Job) Profile() analytic.AriaProfile { return j.record.Profile() }

// Speculatable calls Launcher.Speculatable of the job.
func (j Job) Speculatable(k workload.Kind) int { return j.record.Speculatable(k) }

// Attempts calls Launcher.Attempts of the job.
func (j Job) Attempts(k workload.Kind) []Attempt { return j.record.Attempts(k) }

// Note returns the value that the policy has stored for the job, or nil.
func (j Job) Note() any { return j.record.note }

// SetNote stores a value for the job.
func (j Job) SetNote(note any) { j.record.note = note }

// updates collects the jobs that have changed since the policy last looked.
type updates struct{ jobs []Job }

// JobUpdated implements Listener.
func (u *updates) JobUpdated(j Job) {
	if !j.record.updated {
		j.record.updated = true
		u.jobs = append(u.jobs, j)
	}
}

// next removes and returns one of the changed jobs, if any is left.
func (u *updates) next() (j Job, ok bool) {
	last := len(u.jobs) - 1
	if last < 0 {
		return Job{}, false
	}
	j = u.jobs[last]
	u.jobs = u.jobs[:last]
	j.record.updated = false
	return j, true
}
