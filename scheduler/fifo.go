package scheduler

import (
	"cmp"
	"fmt"
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

	changes int
	want    [2][]*Job // jobs that want tasks of a type launched, in order
	first   *Job      // that runs and has reduces
	padded  [2]int    // tasks of all such jobs, launched or not
}

func newFIFO(spec model.Scheduler, _ *model.Release) (Scheduler, error) {
	pad, err := spec.Conf.Float("mapred.jobtracker.taskalloc.capacitypad", 0.01)
	if err == nil && pad < 0 {
		err = fmt.Errorf("mapred.jobtracker.taskalloc.capacitypad = %v: want at least 0", pad)
	}
	return &fifo{pad: float32(pad), version: -1, changes: -1}, err
}

func byPriority(a, b *Job) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
}

// follow keeps the cluster's jobs by priority, then submission
// (JobQueueJobInProgressListener.FIFO_JOB_QUEUE_COMPARATOR), and those of them
// that matter.
func (f *fifo) follow(c *Cluster) {
	if f.version != c.Version {
		f.version = c.Version
		f.queue = append(f.queue[:0], c.Jobs...)
		slices.SortStableFunc(f.queue, byPriority)
	} else if f.changes == c.Changes {
		return
	}
	f.changes = c.Changes
	f.first, f.padded = nil, [2]int{}
	for k := range f.want {
		f.want[k] = f.want[k][:0]
	}
	for _, j := range f.queue {
		if j.State != Running {
			continue
		}
		for k := range f.want {
			if j.Wants[k] {
				f.want[k] = append(f.want[k], j)
			}
		}
		if j.Tasks[workload.Reduce] == 0 {
			continue
		}
		if f.first == nil {
			f.first = j
		}
		for k := range f.padded {
			f.padded[k] += j.Tasks[k]
		}
	}
}

func (f *fifo) Assign(c *Cluster, t *TaskTracker) {
	f.follow(c)
	f.assignMaps(c, t)
	f.assignReduce(c, t)
}

// room is how many tasks the tracker may take if the load is to be spread.
func room(c *Cluster, t *TaskTracker, k workload.Kind) int {
	load := 0.0
	if c.Slots[k] > 0 {
		load = float64(c.Remaining[k]) / float64(c.Slots[k])
	}
	capacity := min(int(math.Ceil(load*float64(t.Slots[k]))), t.Slots[k])
	return capacity - t.Running[k]
}

func (f *fifo) assignMaps(c *Cluster, t *TaskTracker) {
	if c.Waiting[workload.Map] == 0 {
		return
	}
	room := room(c, t, workload.Map)
	if room <= 0 {
		return
	}
	padded := f.padExceeded(c, t, workload.Map)
slots:
	for range room {
		for _, j := range f.want[workload.Map] {
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

func (f *fifo) assignReduce(c *Cluster, t *TaskTracker) {
	if c.Waiting[workload.Reduce] == 0 || room(c, t, workload.Reduce) <= 0 {
		return
	}
	if f.padExceeded(c, t, workload.Reduce) {
		f.first.LaunchReduce(t)
		return
	}
	for _, j := range f.want[workload.Reduce] {
		if j.LaunchReduce(t) {
			return
		}
	}
}

// padExceeded reports whether the cluster is so full that only the first job
// may launch more. Jobs without reduces are not looked at.
func (f *fifo) padExceeded(c *Cluster, t *TaskTracker, k workload.Kind) bool {
	const smallCluster = 3
	if f.first == nil {
		return false
	}
	padding := 0
	if c.Trackers > smallCluster {
		padding = min(t.Slots[k], int(float32(f.padded[k])*f.pad))
	}
	return c.Running[k]+padding >= c.Slots[k]
}
