package scheduler

import (
	"cmp"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// edf runs the job with the earliest deadline first; jobs without one come
// last, by priority and submission (SimMR, sections 4 and 5: MaxEDF). A frugal
// one gives a job no more slots than ARIA's model takes it to need (MinEDF).
type edf struct {
	frugal  bool
	queue   []*Job
	version int
}

func newMaxEDF(model.Scheduler, *model.Release) (Scheduler, error) { return &edf{version: -1}, nil }

func newMinEDF(model.Scheduler, *model.Release) (Scheduler, error) {
	return &edf{frugal: true, version: -1}, nil
}

func (e *edf) Assign(c *Cluster, t *TaskTracker) {
	if e.version != c.Version {
		e.version = c.Version
		e.queue = append(e.queue[:0], c.Jobs...)
		slices.SortStableFunc(e.queue, byDeadline)
	}
	for _, k := range [...]workload.Kind{workload.Map, workload.Reduce} {
		free := t.Free(k)
		for _, j := range e.queue {
			for free > 0 && j.State == Running && e.grants(j, k) && launchAny(j, t, k) {
				free -= j.SlotsPerTask[k]
			}
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

func launchAny(j *Job, t *TaskTracker, k workload.Kind) bool {
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
	if j.Policy == nil {
		j.Policy = fewestSlots(j)
	}
	return j.RunningTasks[k] < j.Policy.([2]int)[k]
}

// fewestSlots is what the mean of ARIA's bounds takes to meet the deadline from
// the submission on; every task a slot if nothing meets it.
func fewestSlots(j *Job) [2]int {
	s, err := j.Profile().Invert((j.Deadline - j.Submit).Seconds(), "avg")
	if err != nil || !s.Solution.Feasible {
		return j.Tasks
	}
	return [2]int{s.Solution.MapSlots, s.Solution.ReduceSlots}
}
