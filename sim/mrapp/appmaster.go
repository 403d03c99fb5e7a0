package mrapp

import (
	"time"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

const second = engine.Time(time.Second)

// jobState is a state of JobImpl.
type jobState uint8

const (
	jobSetup jobState = iota
	jobRunning
	jobFailWait // its tasks are being killed
	jobKillWait
	jobCommitting // or aborting
	jobEnded
)

// AppMaster is one attempt of a job's ApplicationMaster (MRAppMaster, JobImpl). It is
// a yarn.Application.
type AppMaster struct {
	allocator
	job        *Job
	generation int32 // of the ApplicationMaster, from 0
	master     yarn.Master
	registered yarn.Registration
	speculator speculator
	local      localLauncher
	uber       bool
	lost       bool // the process is gone

	state       jobState
	maptasks    []*task
	reducetasks []*task
	ended       [2]int // tasks that have succeeded, failed or been killed
	failed      [2]int
	tasks       *execute.Job         // what the execution keeps of the job
	known       int                  // maps with a valid success or no attempt left: what a poll finds
	successes   map[int32][]*attempt // nodesToSucceededTaskAttempts
	queue       []event              // of the dispatcher

	record JobRecord
}

// event is something that the dispatcher's thread handles after what is under way.
type event struct {
	assigned *attempt
	kill     *attempt
	again    bool
	ended    *attempt
	exit     yarn.Exit
	lost     []yarn.NodeReport
	local    bool // the launcher of an uber job looks for work
	large    bool // what a task needs is larger than any container
}

// New makes the program of the nth attempt, from 1, of a job's ApplicationMaster.
func New(job *Job, nth int) *AppMaster {
	if job.History == nil {
		job.History = &History{}
	}
	return &AppMaster{
		job: job, generation: int32(nth - 1), successes: map[int32][]*attempt{},
		allocator: allocator{onHost: map[int32][]*attempt{}, onRack: map[yarn.Place][]*attempt{}},
	}
}

// Start runs when the ApplicationMaster has registered. The job is initialised in no
// time; then the committer sets it up.
func (a *AppMaster) Start(master yarn.Master) {
	a.master, a.registered = master, master.Registered()
	a.requests = newRequestor(master, a.job)
	now := master.Now()
	a.uber = a.uberizes()
	a.record = JobRecord{Registered: now, Inited: now, Finished: None, Unregistered: None, Uber: a.uber, State: workload.Running}
	a.makeTasks()
	a.startSpeculator()
	a.after(a.job.Costs.Setup, a.schedule)
	if end := &a.job.Spec.Ends; end.After > 0 {
		a.after(max(0, engine.At(a.job.Spec.Submit+end.After)-now), a.endAsRecorded)
	}
}

// endAsRecorded ends a job that was killed, or that failed although its tasks did not
// fail often enough.
func (a *AppMaster) endAsRecorded() {
	switch {
	case a.state != jobRunning:
	case a.job.Spec.Ends.State == workload.Failed:
		a.endTasks(jobFailWait, workload.Failed)
	default:
		a.killJob()
	}
}

// makeTasks makes the tasks, and what the execution keeps of them: an execution that
// would refuse the job has done so before.
func (a *AppMaster) makeTasks() {
	a.maptasks = a.tasksOf(workload.Map, len(a.job.Hosts))
	a.reducetasks = a.tasksOf(workload.Reduce, a.job.Spec.Reduces.Count)
	var err error
	if a.tasks, err = a.job.Executor.NewJob(a.job.ID, a.job.Spec); err != nil {
		panic(err)
	}
	if len(a.maptasks) == 0 {
		a.tasks.Events.SetComplete(a.master.Now(), true)
	}
}

func (a *AppMaster) tasksOf(kind workload.Kind, n int) []*task {
	all := make([]task, n)
	tasks := make([]*task, n)
	for i := range all {
		all[i] = task{am: a, kind: kind, index: int32(i)}
		tasks[i] = &all[i]
	}
	return tasks
}

// schedule starts each task, maps first (SetupCompletedTransition).
func (a *AppMaster) schedule() {
	a.state = jobRunning
	for _, t := range a.maptasks {
		a.start(t)
	}
	for _, t := range a.reducetasks {
		a.start(t)
	}
	if len(a.maptasks)+len(a.reducetasks) == 0 {
		a.commitIfDone()
	}
}

// after lets the ApplicationMaster do something after a while, if it still lives, and
// then what that has made its dispatcher do.
func (a *AppMaster) after(d engine.Time, do func()) {
	a.master.At(a.master.Now()+d, func() {
		if !a.lost {
			do()
			a.settle()
		}
	})
}

// later leaves an event to the dispatcher.
func (a *AppMaster) later(e event) { a.queue = append(a.queue, e) }

// settle handles the dispatcher's events until there are none.
func (a *AppMaster) settle() {
	for i := 0; i < len(a.queue); i++ {
		switch e := a.queue[i]; {
		case e.assigned != nil:
			a.assigned(e.assigned)
		case e.kill != nil:
			a.kill(e.kill, e.again)
		case e.ended != nil:
			a.containerEnded(e.ended, e.exit)
		case e.local:
			a.local.next(a)
		case e.large:
			a.killJob()
		default:
			a.loseMaps(e.lost)
		}
	}
	a.queue = a.queue[:0]
	if !a.Idle() {
		a.master.Wake()
	}
}

// count is how many tasks of a kind there are.
func (a *AppMaster) count(kind workload.Kind) int {
	if kind == workload.Map {
		return len(a.maptasks)
	}
	return len(a.reducetasks)
}

// endedMaps counts the maps that have succeeded, failed or been killed
// (getCompletedMaps).
func (a *AppMaster) endedMaps() int { return a.ended[workload.Map] }

// taskEnded books a task that has succeeded, failed or been killed for good
// (TaskCompletedTransition).
func (a *AppMaster) taskEnded(t *task) {
	a.ended[t.kind]++
	if t.state == taskFailed {
		a.failed[t.kind]++
	}
	switch a.state {
	case jobRunning:
		if a.failedTooOften() {
			a.endTasks(jobFailWait, workload.Failed)
			return
		}
		a.commitIfDone()
	case jobFailWait, jobKillWait:
		a.abortIfOver()
	}
}

// failedTooOften reports whether more tasks have failed than the job allows
// (checkJobAfterTaskCompletion).
func (a *AppMaster) failedTooOften() bool {
	s := &a.job.Settings
	return a.failed[workload.Map]*100 > s.MapFailures*len(a.maptasks) ||
		a.failed[workload.Reduce]*100 > s.ReduceFailures*len(a.reducetasks)
}

// killJob ends a job whose containers are larger than any that the scheduler gives
// (JOB_KILL).
func (a *AppMaster) killJob() {
	if a.state == jobRunning {
		a.endTasks(jobKillWait, workload.Killed)
	}
}

// endTasks kills all tasks that are not over; the job waits for them.
func (a *AppMaster) endTasks(state jobState, final workload.State) {
	a.state = state
	a.record.State = final
	for _, tasks := range [][]*task{a.maptasks, a.reducetasks} {
		for _, t := range tasks {
			a.killTask(t)
		}
	}
	a.abortIfOver()
}

// abortIfOver aborts a failed or killed job once all its tasks are over
// (JobFailWaitTransition).
func (a *AppMaster) abortIfOver() {
	if a.allEnded() {
		a.state = jobCommitting
		a.after(a.job.Costs.JobCommit, a.finish)
	}
}

// commitIfDone commits a job whose tasks have all ended (checkReadyForCommit).
func (a *AppMaster) commitIfDone() {
	if a.allEnded() {
		a.state = jobCommitting
		a.record.State = workload.Succeeded
		a.after(a.job.Costs.JobCommit, a.finish)
	}
}

func (a *AppMaster) allEnded() bool {
	return a.ended[workload.Map] == len(a.maptasks) && a.ended[workload.Reduce] == len(a.reducetasks)
}

// finish is the end of the job. The services stop: what still runs is killed, and the
// ApplicationMaster unregisters (JobFinishEventHandler, RMCommunicator.serviceStop).
func (a *AppMaster) finish() {
	a.state = jobEnded
	a.record.Finished = a.master.Now()
	a.job.Recorder.Job(a.record) // its node may die before it exits
	for _, tasks := range [][]*task{a.maptasks, a.reducetasks} {
		for _, t := range tasks {
			for _, x := range t.attempts {
				a.stop(x)
			}
		}
	}
	a.unregister()
}

// unregister asks at the interval of heartbeats until the ResourceManager agrees
// (RMCommunicator.doUnregistration). Then the process sleeps for 5 s
// (MRAppMaster.shutDownJob) and exits.
func (a *AppMaster) unregister() {
	if !a.master.Unregister(a.record.State == workload.Succeeded) {
		a.after(a.job.Settings.Heartbeat, a.unregister)
		return
	}
	a.record.Unregistered = a.master.Now()
	a.job.Recorder.Job(a.record)
	a.after(5*second+a.job.Costs.AMExit, func() {
		a.tasks.Close()
		a.master.Exit()
	})
}

// Beating reports whether heartbeats go on: until the job has finished.
func (a *AppMaster) Beating() bool { return a.state != jobEnded }

// Idle implements yarn.Application. With maps that wait a heartbeat may preempt reduces,
// ask for more of them or take requests back, by the headroom or the time.
func (a *AppMaster) Idle() bool {
	if a.uber {
		return a.state != jobEnded
	}
	s := &a.job.Settings
	return a.state != jobEnded && !a.recalculate && a.requests.idle() && a.endedMaps()+a.ended[workload.Reduce] == a.lastEnded &&
		s.RunningMaps <= 0 && s.RunningReduces <= 0 && !a.speculator.mayStart() &&
		(a.maps.len == 0 || (len(a.reducetasks) == 0 || a.runningMaps.len > 0) && (a.pending.len == 0 || !a.slowstarted()))
}

// Lost tells that the ApplicationMaster's process is gone.
func (a *AppMaster) Lost() {
	a.lost = true
	a.state = jobEnded
}
