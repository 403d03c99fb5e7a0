package scheduler_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

// Trackers are the equal TaskTrackers of a cluster.
type Trackers struct {
	Count   int
	Maps    int // map slots of each tracker
	Reduces int // reduce slots of each tracker
	PerRack int // 0: all are in one rack

	Heartbeat time.Duration // interval; 0: 3 s
}

// Job is a job to submit.
type Job struct {
	Name     string
	User     string
	Pool     string
	Queue    string
	Priority workload.Priority
	Maps     int
	Reduces  int
	Deadline time.Duration // after the submission; 0: none

	On         []int                // trackers that hold the data of every map; nil: all do
	Unplaced   bool                 // no tracker holds the data
	WaitFactor float32              // mapreduce.job.locality.wait.factor
	Width      [2]int               // slots that a map and a reduce take; 0: one
	Slowstart  int                  // maps that must have ended before reduces start
	Speculates bool                 // lagging tasks may be speculated
	Lagging    int                  // running maps that lag
	SetUp      bool                 // stays in preparation until Start
	Profile    analytic.AriaProfile // how long its tasks take
}

// Cluster runs a scheduler without the simulator. A test submits jobs, sends
// heartbeats, and states which tasks must be launched.
//
//	c := newCluster(t, model.Scheduler{Name: "fifo"}, "1.0.4", Trackers{Count: 2, Maps: 1})
//	c.Submit(Job{Name: "old", Maps: 5})
//	c.Submit(Job{Name: "urgent", Maps: 1, Priority: workload.High})
//	c.Beat(0, "urgent map")
//	c.Beat(1, "old map")
//
// Tasks run until the test ends them. A tracker reports launches and ends at
// its next heartbeat, as in Hadoop.
type Cluster struct {
	tb       testing.TB
	policy   scheduler.Policy
	view     scheduler.Cluster
	trackers []*tracker
	perRack  int
	jobs     map[string]*job
	setUp    []*job   // initialised jobs that start before the next heartbeat or tick
	launched []string // at this heartbeat
	killed   []string
}

type tracker struct {
	view     scheduler.TaskTracker
	attempts []*attempt
}

type attempt struct {
	job     *job
	kind    workload.Kind
	tracker *tracker
	start   time.Duration
}

type job struct {
	scheduler.Job
	spec     Job
	c        *Cluster
	attempts []*attempt
	rejected string
}

// newCluster makes an idle cluster with the scheduler that spec names.
func newCluster(tb testing.TB, spec model.Scheduler, release string, trackers Trackers) *Cluster {
	tb.Helper()
	r, err := model.FindRelease(release)
	if err != nil {
		tb.Fatal(err)
	}
	policy, err := scheduler.New(spec, r)
	if err != nil {
		tb.Fatal(err)
	}
	c := &Cluster{tb: tb, policy: policy, perRack: max(trackers.PerRack, 0), jobs: make(map[string]*job)}
	c.view.Heartbeat = cmp.Or(trackers.Heartbeat, 3*time.Second)
	for i := range trackers.Count {
		t := &tracker{}
		t.view.Index, t.view.Slots = i, [2]int{trackers.Maps, trackers.Reduces}
		c.trackers = append(c.trackers, t)
		c.view.Slots[workload.Map] += trackers.Maps
		c.view.Slots[workload.Reduce] += trackers.Reduces
	}
	c.view.Trackers, c.view.Hosts = trackers.Count, trackers.Count
	return c
}

// Submit submits a job now. After its initialisation it runs from the next
// heartbeat or tick on, unless it stays in preparation.
func (c *Cluster) Submit(spec Job) {
	c.tb.Helper()
	if c.jobs[spec.Name] != nil {
		c.tb.Fatalf("job %s: submitted twice", spec.Name)
	}
	j := &job{spec: spec, c: c}
	width := spec.Width
	for k := range width {
		width[k] = max(width[k], 1)
	}
	deadline := spec.Deadline
	if deadline > 0 {
		deadline += c.view.Now
	}
	j.Job = scheduler.Job{
		ID: len(c.jobs), Name: spec.Name, User: spec.User, Pool: spec.Pool, Queue: spec.Queue,
		Priority: spec.Priority, Submit: c.view.Now, Deadline: deadline,
		Tasks: [2]int{spec.Maps, spec.Reduces}, SlotsPerTask: width,
		Speculates: [2]bool{spec.Speculates, spec.Speculates}, Launcher: j,
	}
	if spec.Unplaced {
		j.UnplacedMaps = spec.Maps
	}
	c.jobs[spec.Name] = j
	c.view.Jobs = append(c.view.Jobs, &j.Job)
	if c.policy.Submitted != nil {
		c.policy.Submitted(&c.view, &j.Job)
	} else {
		j.Init()
	}
}

// Start ends the set-up of a job.
func (c *Cluster) Start(name string) {
	c.tb.Helper()
	j := c.job(name)
	if !j.Initialised {
		c.tb.Fatalf("job %s: the policy has not had it initialised", name)
	}
	j.start()
}

func (j *job) start() {
	j.State = scheduler.Running
	j.changed()
}

// begin starts the jobs that have been initialised.
func (c *Cluster) begin() {
	for _, j := range c.setUp {
		j.start()
	}
	c.setUp = nil
}

// Beat sends the heartbeat of a tracker. The scheduler must launch the wanted
// tasks, such as "a map, b reduce", in this order, or "" for none.
func (c *Cluster) Beat(tracker int, want string) {
	c.tb.Helper()
	if got := c.Heartbeat(tracker); got != want {
		c.tb.Errorf("%v, tracker %d: the policy launched %q, want %q", c.view.Now, tracker, got, want)
	}
}

// Heartbeat is a heartbeat of a tracker. It returns what the policy launches.
func (c *Cluster) Heartbeat(number int) string {
	c.begin()
	t := c.trackers[number]
	for k := range t.view.Running {
		c.view.Running[k] -= t.view.Running[k]
	}
	t.view.Running, t.view.Used = t.count()
	for k := range t.view.Running {
		c.view.Running[k] += t.view.Running[k]
	}
	c.launched = nil
	if t.view.Free(workload.Map) > 0 || t.view.Free(workload.Reduce) > 0 {
		c.policy.Assign(&c.view, &t.view)
	}
	return strings.Join(c.launched, ", ")
}

// Pass advances the time. The scheduler's ticks in between take place, the last
// one at the very end.
func (c *Cluster) Pass(d time.Duration) {
	c.begin()
	end := c.view.Now + d
	if every := c.policy.Interval; every > 0 {
		for at := (c.view.Now/every + 1) * every; at <= end; at += every {
			c.begin()
			c.view.Now, c.view.LastTick = at, at-every
			c.policy.Tick(&c.view)
			c.view.LastTick = at
		}
	}
	c.view.Now = end
}

// Skip advances the time without ticks, as when nothing happens at them.
func (c *Cluster) Skip(d time.Duration) {
	c.begin()
	c.view.Now += d
	c.view.LastTick = c.view.Now / c.policy.Interval * c.policy.Interval
}

// End ends running tasks, such as "a map", with success, in order of launch. A
// job without tasks left ends too.
func (c *Cluster) End(task string, n int) {
	c.tb.Helper()
	j, k := c.parse(task)
	for range n {
		i := slices.IndexFunc(j.attempts, func(a *attempt) bool { return a.kind == k })
		if i < 0 {
			c.tb.Fatalf("no %s runs", task)
		}
		j.attempts[i].remove()
		j.Finished[k]++
	}
	if j.Finished == j.Tasks {
		j.State = scheduler.Done
		c.view.Jobs = slices.DeleteFunc(c.view.Jobs, func(x *scheduler.Job) bool { return x == &j.Job })
	}
	j.changed()
}

// Lag sets how many running maps of a job lag.
func (c *Cluster) Lag(name string, n int) {
	j := c.job(name)
	j.spec.Lagging = n
	j.changed()
}

// Killed lists the tasks that the scheduler has killed since the last call.
func (c *Cluster) Killed() string {
	killed := strings.Join(c.killed, ", ")
	c.killed = nil
	return killed
}

// Offers returns which heartbeats the scheduler wants to see now.
func (c *Cluster) Offers() scheduler.Offers { return c.policy.Wants(&c.view) }

// Rejected returns why the scheduler rejected a job; empty: it did not.
func (c *Cluster) Rejected(name string) string { return c.job(name).rejected }

// Initialised reports whether the scheduler has initialised a job.
func (c *Cluster) Initialised(name string) bool { return c.job(name).Initialised }

func (c *Cluster) job(name string) *job {
	c.tb.Helper()
	j := c.jobs[name]
	if j == nil {
		c.tb.Fatalf("no job %s", name)
	}
	return j
}

func (c *Cluster) parse(task string) (*job, workload.Kind) {
	c.tb.Helper()
	name, kind, _ := strings.Cut(task, " ")
	k := slices.Index([]string{"map", "reduce"}, kind)
	if k < 0 {
		c.tb.Fatalf("%q: want a job and map or reduce", task)
	}
	return c.job(name), workload.Kind(k)
}

// count returns the attempts on a tracker and the slots they take.
func (t *tracker) count() (running, used [2]int) {
	for _, a := range t.attempts {
		running[a.kind]++
		used[a.kind] += a.job.SlotsPerTask[a.kind]
	}
	return running, used
}

// changed updates the view of a changed job, and calls the scheduler.
func (j *job) changed() {
	j.ReducesReady = j.Finished[workload.Map] >= j.spec.Slowstart
	for k := range j.Wants {
		waiting := j.Tasks[k] - j.Finished[k] - j.ActiveTasks[k]
		lags := j.Speculates[k] && j.Speculatable(workload.Kind(k)) > 0
		j.Wants[k] = j.State == scheduler.Running && (waiting > 0 || lags) && (workload.Kind(k) == workload.Map || j.ReducesReady)
		j.Spent[k] = waiting == 0 && (!j.Speculates[k] || j.Remaining(workload.Kind(k)) == 0)
	}
	c := &j.c.view
	c.Waiting, c.Unspent, c.Remaining = [2]int{}, [2]int{}, [2]int{}
	for _, o := range c.Jobs {
		for k := range c.Waiting {
			if o.Wants[k] {
				c.Waiting[k]++
			}
			if o.State == scheduler.Running && !o.Spent[k] {
				c.Unspent[k]++
			}
			if o.State == scheduler.Running && (workload.Kind(k) == workload.Map || o.ReducesReady) {
				c.Remaining[k] += o.Remaining(workload.Kind(k))
			}
		}
	}
	if updated := j.c.policy.Updated; updated != nil {
		updated(&j.Job)
	}
}

// HasLocal implements scheduler.Launcher.
func (j *job) HasLocal(v *scheduler.TaskTracker) bool {
	return j.locality(v.Index) == workload.NodeLocal
}

// LaunchMap implements scheduler.Launcher.
func (j *job) LaunchMap(v *scheduler.TaskTracker, reach scheduler.Reach) (workload.Locality, bool) {
	at := j.locality(v.Index)
	switch reach {
	case scheduler.OnNode:
		if at > workload.NodeLocal {
			return 0, false
		}
	case scheduler.InRack:
		if at > workload.RackLocal {
			return 0, false
		}
	case scheduler.BeyondRack:
		if at <= workload.RackLocal {
			return 0, false
		}
	}
	return at, j.launch(v, workload.Map)
}

// LaunchReduce implements scheduler.Launcher.
func (j *job) LaunchReduce(v *scheduler.TaskTracker) bool { return j.launch(v, workload.Reduce) }

func (j *job) locality(tracker int) workload.Locality {
	switch rack := func(i int) int { return i / max(j.c.perRack, 1) }; {
	case j.spec.Unplaced:
		return workload.NoLocality
	case j.spec.On == nil || slices.Contains(j.spec.On, tracker):
		return workload.NodeLocal
	case j.c.perRack == 0 || slices.ContainsFunc(j.spec.On, func(i int) bool { return rack(i) == rack(tracker) }):
		return workload.RackLocal
	}
	return workload.OffRack
}

func (j *job) launch(v *scheduler.TaskTracker, k workload.Kind) bool {
	t := j.c.trackers[v.Index]
	_, used := t.count()
	if !j.Wants[k] {
		return false
	}
	if used[k]+j.SlotsPerTask[k] > v.Slots[k] {
		j.c.tb.Errorf("the policy launched a %v of %s on tracker %d, which has no slot left: want it to count its launches, since Free does not change during Assign",
			k, j.Name, v.Index)
		return false
	}
	if waiting := j.Tasks[k] - j.Finished[k] - j.ActiveTasks[k]; waiting > 0 {
		j.ActiveTasks[k]++
		j.UnplacedMaps = max(0, j.UnplacedMaps-1)
	} else {
		j.Speculative[k]++
		j.spec.Lagging--
	}
	j.RunningTasks[k]++
	j.Active[k]++
	a := &attempt{j, k, t, j.c.view.Now}
	j.attempts = append(j.attempts, a)
	t.attempts = append(t.attempts, a)
	j.c.launched = append(j.c.launched, a.name())
	j.changed()
	return true
}

func (a *attempt) name() string { return a.job.Name + " " + [...]string{"map", "reduce"}[a.kind] }

// remove removes an attempt from its tracker.
func (a *attempt) remove() {
	is := func(o *attempt) bool { return o == a }
	j := a.job
	j.attempts = slices.DeleteFunc(j.attempts, is)
	a.tracker.attempts = slices.DeleteFunc(a.tracker.attempts, is)
	j.RunningTasks[a.kind]--
	j.Active[a.kind]--
	if j.Speculative[a.kind] > 0 {
		j.Speculative[a.kind]--
	} else {
		j.ActiveTasks[a.kind]--
	}
}

// Init implements scheduler.Launcher.
func (j *job) Init() {
	if j.Initialised || j.State == scheduler.Done {
		return
	}
	j.Initialised = true
	j.changed()
	if !j.spec.SetUp {
		j.c.setUp = append(j.c.setUp, j)
	}
}

// Reject implements scheduler.Launcher.
func (j *job) Reject(why string) {
	j.rejected, j.State = why, scheduler.Done
	j.c.view.Jobs = slices.DeleteFunc(j.c.view.Jobs, func(x *scheduler.Job) bool { return x == &j.Job })
	j.changed()
}

// Profile implements scheduler.Launcher.
func (j *job) Profile() analytic.AriaProfile { return j.spec.Profile }

func (j *job) WaitFactor() float32 { return j.spec.WaitFactor }

// Speculatable implements scheduler.Launcher.
func (j *job) Speculatable(k workload.Kind) int {
	if k == workload.Map {
		return min(j.spec.Lagging, j.ActiveTasks[workload.Map])
	}
	return 0
}

// Attempts implements scheduler.Launcher.
func (j *job) Attempts(k workload.Kind) []scheduler.Attempt {
	var list []scheduler.Attempt
	for _, a := range j.attempts {
		if a.kind == k {
			list = append(list, scheduler.Attempt{Start: a.start, Kill: func() {
				j.c.killed = append(j.c.killed, a.name())
				a.remove()
				j.changed()
			}})
		}
	}
	return list
}
