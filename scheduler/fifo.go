package scheduler

import (
	"cmp"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// fifo is JobQueueTaskScheduler (0.20.2 and 1.x): jobs in order of priority and
// submission, load spread over the trackers, and some slots kept free.
type fifo struct {
	pad     float32 // mapred.jobtracker.taskalloc.capacitypad
	queue   []*Job
	version int
}

func newFIFO(spec model.Scheduler, _ *model.Release) (Scheduler, error) {
	pad, err := spec.Conf.Float("mapred.jobtracker.taskalloc.capacitypad", 0.01)
	return &fifo{pad: float32(pad), version: -1}, err
}

// jobsInOrder keeps a copy of the cluster's jobs by priority, then submission
// (JobQueueJobInProgressListener.FIFO_JOB_QUEUE_COMPARATOR).
func jobsInOrder(c *Cluster, queue []*Job, version *int) []*Job {
	if *version == c.Version {
		return queue
	}
	*version = c.Version
	queue = append(queue[:0], c.Jobs...)
	slices.SortStableFunc(queue, byPriority)
	return queue
}

func byPriority(a, b *Job) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
}

func (f *fifo) Assign(c *Cluster, t *TaskTracker) {
	f.queue = jobsInOrder(c, f.queue, &f.version)
	var remaining [2]int
	for _, j := range f.queue {
		if j.State != Running {
			continue
		}
		remaining[workload.Map] += j.Remaining(workload.Map)
		if j.ReducesReady {
			remaining[workload.Reduce] += j.Remaining(workload.Reduce)
		}
	}
	f.assignMaps(c, t, remaining[workload.Map])
	f.assignReduce(c, t, remaining[workload.Reduce])
}

// room is how many tasks the tracker may take if the load is to be spread.
func room(c *Cluster, t *TaskTracker, k workload.Kind, remaining int) int {
	load := 0.0
	if c.Slots[k] > 0 {
		load = float64(remaining) / float64(c.Slots[k])
	}
	capacity := min(int(math.Ceil(load*float64(t.Slots[k]))), t.Slots[k])
	return capacity - t.Running[k]
}

func (f *fifo) assignMaps(c *Cluster, t *TaskTracker, remaining int) {
	room := room(c, t, workload.Map, remaining)
	if room <= 0 || c.Waiting[workload.Map] == 0 {
		return
	}
	padded := f.padExceeded(c, t, workload.Map)
slots:
	for range room {
		for _, j := range f.queue {
			if j.State != Running {
				continue
			}
			if _, ok := j.LaunchMap(t, InRack); ok {
				if padded {
					return
				}
				continue slots
			}
			if _, ok := j.LaunchMap(t, BeyondRack); ok {
				return // at most one that steals from other racks
			}
		}
		return
	}
}

func (f *fifo) assignReduce(c *Cluster, t *TaskTracker, remaining int) {
	if room(c, t, workload.Reduce, remaining) <= 0 || c.Waiting[workload.Reduce] == 0 {
		return
	}
	padded := f.padExceeded(c, t, workload.Reduce)
	for _, j := range f.queue {
		if j.State != Running || j.Tasks[workload.Reduce] == 0 {
			continue
		}
		if j.LaunchReduce(t) || padded {
			return
		}
	}
}

// padExceeded reports whether the cluster is so full that only the first job
// may launch more. Jobs without reduces are not looked at.
func (f *fifo) padExceeded(c *Cluster, t *TaskTracker, k workload.Kind) bool {
	const smallCluster = 3
	needed := 0
	for _, j := range f.queue {
		if j.State != Running || j.Tasks[workload.Reduce] == 0 {
			continue
		}
		needed += j.Tasks[k]
		padding := 0
		if c.Trackers > smallCluster {
			padding = min(t.Slots[k], int(float32(needed)*f.pad))
		}
		if c.Running[k]+padding >= c.Slots[k] {
			return true
		}
	}
	return false
}
