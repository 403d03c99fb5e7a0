package yarn

import (
	"math"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
)

// FixedGroup is a number of containers of one size that run for given times.
type FixedGroup struct {
	Priority Priority
	Size     model.Resource
	Times    []engine.Time // of each task, at a node of slowness 1
	Hosts    [][]string    // of each task: where it would rather run; nil: anywhere
}

// FixedJob is an application that runs containers for given times, whatever they do:
// what SLS, SYNTH and DynoYARN traces hold. It talks to the ResourceManager as
// AMRMClient does: absolute counts, of which the changed ones are sent.
type FixedJob struct {
	Groups []FixedGroup
	Launch engine.Time // from the start of a container to its work
	Exit   engine.Time // from unregistering to the end of the ApplicationMaster
	RackOf func(host string) string
	HostOf func(node int32) string

	// Slowness of a node, by which times are multiplied and rounded to whole ms.
	Slowness func(node int32) float64
}

// fixed is a running FixedJob.
type fixed struct {
	job      *FixedJob
	m        Master
	waiting  []waitingTasks // of each group
	counts   map[askKey]*Ask
	changed  []askKey
	releases []*Container
	running  map[*Container]fixedTask
	left     int // tasks that have not ended
	finished func(engine.Time)
	done     bool
}

type askKey struct {
	priority Priority
	place    Place
}

type fixedTask struct{ group, index int }

// New makes the program of an attempt. finished hears when all tasks have ended.
func (j *FixedJob) New(finished func(engine.Time)) Application {
	return &fixed{job: j, finished: finished, counts: make(map[askKey]*Ask), running: make(map[*Container]fixedTask)}
}

// Start implements Application.
func (f *fixed) Start(m Master) {
	f.m = m
	f.waiting = make([]waitingTasks, len(f.job.Groups))
	for g := range f.job.Groups {
		f.waiting[g] = waitingTasks{
			asked: make([]int32, len(f.job.Groups[g].Times)), atHost: make(map[string]*taskQueue), atRack: make(map[string]*taskQueue),
		}
		for i := range f.job.Groups[g].Times {
			f.ask(fixedTask{g, i})
			f.left++
		}
	}
}

// ask asks for a container for a task.
func (f *fixed) ask(t fixedTask) {
	var hosts []string
	if all := f.job.Groups[t.group].Hosts; all != nil {
		hosts = all[t.index]
	}
	f.waiting[t.group].add(t.index, hosts, f.job.RackOf)
	f.count(t, 1)
}

// count changes the counts of a task's hosts, their racks and Any.
func (f *fixed) count(t fixedTask, by int32) {
	g := &f.job.Groups[t.group]
	var racks []string
	if g.Hosts != nil {
		for _, host := range g.Hosts[t.index] {
			f.change(g, f.m.Place(host), by)
			if r := f.job.RackOf(host); !slices.Contains(racks, r) {
				racks = append(racks, r)
			}
		}
	}
	for _, r := range racks {
		f.change(g, f.m.Place(r), by)
	}
	f.change(g, Any, by)
}

func (f *fixed) change(g *FixedGroup, p Place, by int32) {
	k := askKey{g.Priority, p}
	a := f.counts[k]
	if a == nil {
		a = &Ask{Priority: g.Priority, Place: p, Size: g.Size}
		f.counts[k] = a
	}
	a.Count += by
	if !slices.Contains(f.changed, k) {
		f.changed = append(f.changed, k)
	}
}

// Beat implements Application.
func (f *fixed) Beat() {
	q := AllocateRequest{Releases: f.releases}
	for _, k := range f.changed {
		q.Asks = append(q.Asks, *f.counts[k])
		if f.counts[k].Count == 0 {
			delete(f.counts, k)
		}
	}
	f.changed = f.changed[:0]
	f.releases = nil
	r := f.m.Allocate(q)
	for _, c := range r.Granted {
		f.assign(c)
	}
	for _, e := range r.Ended {
		f.ended(e)
	}
	if f.left == 0 {
		f.done = true
		f.finished(f.m.Now())
		f.unregister()
	}
}

// Beating implements Application.
func (f *fixed) Beating() bool { return !f.done }

// Idle implements Application. What there is to send comes of heartbeats alone.
func (f *fixed) Idle() bool { return len(f.changed)+len(f.releases) == 0 && !f.done }

// assign gives a container to a waiting task: the first for which it is on the right
// host, else the first on the right rack, else the first.
func (f *fixed) assign(c *Container) {
	t, ok := f.choose(c)
	if !ok {
		f.releases = append(f.releases, c)
		return
	}
	group := &f.job.Groups[t.group]
	f.waiting[t.group].take(t.index)
	f.count(t, -1)
	f.running[c] = t
	var room [24]byte
	name := strconv.AppendInt(append(room[:0], 'g'), int64(t.group), 10)
	c.What = string(strconv.AppendInt(append(name, 't'), int64(t.index), 10))
	if !f.m.Launch(c) {
		return
	}
	work := engine.Time(math.Floor(float64(group.Times[t.index])/1e6*f.job.Slowness(c.Node)+0.5)) * 1e6
	f.m.At(f.m.Now()+f.job.Launch+work, func() { f.m.Ended(c, Success) })
}

// choose takes the waiting task that a container serves best, of all groups of its
// priority.
func (f *fixed) choose(c *Container) (t fixedTask, ok bool) {
	best := 3
	host := f.job.HostOf(c.Node)
	for g := range f.waiting {
		if f.job.Groups[g].Priority != c.Priority {
			continue
		}
		if i, n := f.waiting[g].best(host, f.job.RackOf); n < best {
			t, best = fixedTask{g, i}, n
		}
	}
	return t, best < 3
}

// waitingTasks are the tasks of a group that have no container, in the order in which
// they were asked for, and the same by host and rack.
type waitingTasks struct {
	asked  []int32 // times that each task was asked for; negative: it does not wait
	all    taskQueue
	atHost map[string]*taskQueue
	atRack map[string]*taskQueue
}

// taskQueue lists tasks with the number of the time that each was asked for. Entries
// of tasks that have been served since are dropped when they come to the front.
type taskQueue struct {
	entries []queuedTask
	front   int
}

type queuedTask struct {
	task int
	time int32
}

// add lets a task wait.
func (w *waitingTasks) add(t int, hosts []string, rackOf func(string) string) {
	w.asked[t] = 1 - w.asked[t]
	e := queuedTask{t, w.asked[t]}
	w.all.entries = append(w.all.entries, e)
	var racks []string
	for _, h := range hosts {
		into(w.atHost, h, e)
		if r := rackOf(h); !slices.Contains(racks, r) {
			racks = append(racks, r)
			into(w.atRack, r, e)
		}
	}
}

func into(m map[string]*taskQueue, name string, e queuedTask) {
	q := m[name]
	if q == nil {
		q = new(taskQueue)
		m[name] = q
	}
	q.entries = append(q.entries, e)
}

// take ends a task's wait.
func (w *waitingTasks) take(t int) { w.asked[t] = -w.asked[t] }

// first returns the first task of a queue that still waits, or -1.
func (w *waitingTasks) first(q *taskQueue) int {
	if q == nil {
		return -1
	}
	for ; q.front < len(q.entries); q.front++ {
		if e := q.entries[q.front]; w.asked[e.task] == e.time {
			return e.task
		}
	}
	return -1
}

// best returns the task that a host serves best and how near it is to its data: 0 on
// one of its hosts, 1 on the rack of one, 2 elsewhere, 3 if none waits.
func (w *waitingTasks) best(host string, rackOf func(string) string) (task, near int) {
	if t := w.first(w.atHost[host]); t >= 0 {
		return t, 0
	}
	if len(w.atRack) > 0 {
		if t := w.first(w.atRack[rackOf(host)]); t >= 0 {
			return t, 1
		}
	}
	if t := w.first(&w.all); t >= 0 {
		return t, 2
	}
	return -1, 3
}

// ended books the end of a container; the task of one that was lost is asked for again.
func (f *fixed) ended(e Ended) {
	t, ok := f.running[e.Container]
	if !ok {
		return
	}
	delete(f.running, e.Container)
	if e.Exit == Success {
		f.left--
		return
	}
	f.ask(t)
}

// unregister asks each second until the ResourceManager agrees, and exits.
func (f *fixed) unregister() {
	const second = engine.Time(1e9)
	if !f.m.Unregister(true) {
		f.m.At(f.m.Now()+second, f.unregister)
		return
	}
	f.m.At(f.m.Now()+f.job.Exit, f.m.Exit)
}

// Killed implements Application.
func (f *fixed) Killed(*Container) {}

// Died implements Application.
func (f *fixed) Died(*Container) {}

// Lost implements Application.
func (f *fixed) Lost() { f.done = true }
