package yarn

import (
	"fmt"
	"math"
	"slices"

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
	waiting  [][]int // tasks of each group that have no container, in order
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
	f.waiting = make([][]int, len(f.job.Groups))
	for g := range f.job.Groups {
		for i := range f.job.Groups[g].Times {
			f.ask(fixedTask{g, i})
			f.left++
		}
	}
}

// ask asks for a container for a task.
func (f *fixed) ask(t fixedTask) {
	f.waiting[t.group] = append(f.waiting[t.group], t.index)
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

// assign gives a container to a waiting task: the first for which it is on the right
// host, else the first on the right rack, else the first.
func (f *fixed) assign(c *Container) {
	g, i := f.choose(c)
	if g < 0 {
		f.releases = append(f.releases, c)
		return
	}
	group := &f.job.Groups[g]
	t := fixedTask{g, f.waiting[g][i]}
	f.waiting[g] = slices.Delete(f.waiting[g], i, i+1)
	f.count(t, -1)
	f.running[c] = t
	c.What = fmt.Sprintf("g%dt%d", t.group, t.index)
	if !f.m.Launch(c) {
		return
	}
	work := engine.Time(math.Floor(float64(group.Times[t.index])/1e6*f.job.Slowness(c.Node)+0.5)) * 1e6
	f.m.At(f.m.Now()+f.job.Launch+work, func() { f.m.Ended(c, Success) })
}

// choose returns the group and the position among its waiting tasks, or -1.
func (f *fixed) choose(c *Container) (group, at int) {
	group = -1
	best := 3
	host := f.job.HostOf(c.Node)
	for g := range f.job.Groups {
		if f.job.Groups[g].Priority != c.Priority {
			continue
		}
		for i, t := range f.waiting[g] {
			if n := f.nearness(g, t, host); n < best {
				group, at, best = g, i, n
			}
		}
	}
	return group, at
}

// nearness is 0 on a host of a task, 1 on a rack of one, 2 elsewhere.
func (f *fixed) nearness(g, t int, host string) int {
	hosts := f.job.Groups[g].Hosts
	if hosts == nil {
		return 2
	}
	near := 2
	for _, h := range hosts[t] {
		if h == host {
			return 0
		}
		if f.job.RackOf(h) == f.job.RackOf(host) {
			near = 1
		}
	}
	return near
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
