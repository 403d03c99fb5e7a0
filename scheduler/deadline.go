package scheduler

import (
	"cmp"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// edf runs the job with the earliest deadline first; jobs without one come
// last, by priority and submission (SimMR, sections 4 and 5: MaxEDF). If
// frugal, it limits a job to the slots that it needs by ARIA's model (MinEDF).
type edf struct {
	updates
	frugal    bool
	launching [2]sorted[*Job] // running jobs that want a task of a type and may run one more
}

// allotment is the state of a job in edf.
type allotment struct {
	launching [2]bool
	slots     *[2]int // largest number of concurrent attempts, by MinEDF; nil: not computed yet
}

var maxEDFPolicy = named{
	name:  "maxedf",
	about: "earliest deadline first, as many slots as there are",
	order: "maxedf asks the job with the earliest deadline first.",
	make:  func(model.Scheduler, *model.Release) (Policy, error) { return newEDF(false), nil },
}

var minEDFPolicy = named{
	name:  "minedf",
	about: "earliest deadline first, as few slots as ARIA's model takes to meet it",
	order: "minedf asks the job with the earliest deadline first, and gives it as few slots as meet the deadline.",
	make:  func(model.Scheduler, *model.Release) (Policy, error) { return newEDF(true), nil },
}

func newEDF(frugal bool) Policy {
	e := &edf{frugal: frugal}
	for k := range e.launching {
		e.launching[k] = newSorted(byDeadline)
	}
	return Policy{Assign: e.assign, Updated: e.updated}
}

func (e *edf) assign(c *Cluster, t *TaskTracker) {
	for _, k := range [...]workload.Kind{workload.Map, workload.Reduce} {
		e.follow()
		free := t.Free(k)
		for j := range e.launching[k].all() {
			for free >= j.SlotsPerTask[k] {
				if c.traced() {
					c.asks(j, int(k), model.Figures{Running: j.RunningTasks[k], Demand: j.Remaining(k)})
				}
				if !e.grants(j, k) {
					c.refused(model.DeadlineMet)
					break
				}
				if !launch(j, t, k) {
					break
				}
				free -= j.SlotsPerTask[k]
			}
			if free <= 0 {
				break
			}
		}
	}
}

// follow moves changed jobs in or out of the lists.
func (e *edf) follow() {
	for j, ok := e.next(); ok; j, ok = e.next() {
		a, known := j.note.(*allotment)
		if !known {
			a = &allotment{}
			j.note = a
		}
		for k := range e.launching {
			kind := workload.Kind(k)
			may := j.State == Running && j.Wants[k] && e.grants(j, kind)
			a.launching[k] = e.launching[k].set(j, a.launching[k], may)
		}
	}
}

func byDeadline(a, b *Job) int {
	switch {
	case a.Deadline == 0 && b.Deadline != 0:
		return 1
	case b.Deadline == 0 && a.Deadline != 0:
		return -1
	}
	return cmp.Or(cmp.Compare(a.Deadline, b.Deadline), byPriority(a, b))
}

// launch starts a task of a type, for a map at any distance.
func launch(j *Job, t *TaskTracker, k workload.Kind) bool {
	if k == workload.Reduce {
		return j.LaunchReduce(t)
	}
	_, ok := j.LaunchMap(t, Anywhere)
	return ok
}

// grants reports whether the job may run one more task of a type.
func (e *edf) grants(j *Job, k workload.Kind) bool {
	if !e.frugal || j.Deadline == 0 {
		return true
	}
	a := j.note.(*allotment)
	if a.slots == nil {
		a.slots = fewestSlots(j)
	}
	return j.RunningTasks[k] < a.slots[k]
}

// fewestSlots returns the slots with which the mean of ARIA's bounds meets the
// deadline, counted from the submission. If none meets it, it returns a slot
// for every task.
func fewestSlots(j *Job) *[2]int {
	s, err := j.Profile().Invert((j.Deadline - j.Submit).Seconds(), "avg")
	if err != nil || !s.Solution.Feasible {
		tasks := j.Tasks
		return &tasks
	}
	return &[2]int{s.Solution.MapSlots, s.Solution.ReduceSlots}
}
