package scheduler

import (
	"cmp"
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// fifo is JobQueueTaskScheduler (0.20.2 and 1.x): jobs in order of priority and
// submission, load spread over the trackers, and some slots kept free.
type fifo struct {
	updates
	pad float32 // mapred.jobtracker.taskalloc.capacitypad

	launching   [2]sorted[*Job] // running jobs that want tasks of a type launched
	withReduces sorted[*Job]    // running jobs that have reduces
	needed      [2]int          // tasks of the jobs with reduces, launched or not
}

// queued says which lists of fifo a job is in.
type queued struct {
	launching   [2]bool
	withReduces bool
}

var fifoPolicy = named{
	name:  "fifo",
	about: "JobQueueTaskScheduler: priority, then submission; the default of Hadoop",
	order: "fifo asks the jobs in order of priority, then of submission.",
	make:  newFIFO,
}

func newFIFO(spec model.Scheduler, _ *model.Release) (Policy, error) {
	read := settingsIn(spec.Conf)
	pad := read.Number("mapred.jobtracker.taskalloc.capacitypad")
	f := &fifo{pad: float32(pad), withReduces: newSorted(byPriority)}
	for k := range f.launching {
		f.launching[k] = newSorted(byPriority)
	}
	return Policy{Assign: f.assign, Updated: f.jobUpdated}, read.Err
}

// byPriority is JobQueueJobInProgressListener.FIFO_JOB_QUEUE_COMPARATOR.
func byPriority(a, b *Job) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
}

// listsOf returns the lists that a job belongs in.
func listsOf(j *Job) queued {
	runs, wants := j.State == Running, j.Wants
	return queued{
		launching:   [2]bool{runs && wants[workload.Map], runs && wants[workload.Reduce]},
		withReduces: runs && j.Tasks[workload.Reduce] > 0,
	}
}

// jobUpdated is Policy.Updated. Most changes leave a job in its lists.
func (f *fifo) jobUpdated(j *Job) {
	if in, known := j.note.(*queued); !known || *in != listsOf(j) {
		f.updates.updated(j)
	}
}

// follow moves the jobs that have changed between the lists.
func (f *fifo) follow() {
	for j, ok := f.next(); ok; j, ok = f.next() {
		in, known := j.note.(*queued)
		if !known {
			in = &queued{}
			j.note = in
		}
		want := listsOf(j)
		for k := range f.launching {
			f.launching[k].set(j, in.launching[k], want.launching[k])
		}
		f.withReduces.set(j, in.withReduces, want.withReduces)
		for k := range f.needed {
			switch {
			case want.withReduces && !in.withReduces:
				f.needed[k] += j.Tasks[k]
			case in.withReduces && !want.withReduces:
				f.needed[k] -= j.Tasks[k]
			}
		}
		*in = want
	}
}

func (f *fifo) assign(c *Cluster, t *TaskTracker) {
	f.follow()
	f.assignMaps(c, t)
	f.assignReduce(c, t)
}

// room returns how many tasks the tracker may take if the load is spread
// evenly.
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
		c.declined(int(workload.Map), model.LoadFactor)
		return
	}
	padded := f.padExceeded(c, t, workload.Map)
slots:
	for range room {
		for j := range f.launching[workload.Map].all() {
			if c.traced() {
				c.asks(j, int(workload.Map), model.Figures{})
			}
			if _, ok := j.LaunchMap(t, InRack); ok {
				if padded {
					c.declined(int(workload.Map), model.PaddedSlots)
					return
				}
				continue slots
			}
			if _, ok := j.LaunchMap(t, BeyondRack); ok {
				c.declined(int(workload.Map), model.OneOffRackMap)
				return // at most one off-rack map
			}
		}
		return
	}
}

func (f *fifo) assignReduce(c *Cluster, t *TaskTracker) {
	const k = int(workload.Reduce)
	if c.Waiting[k] == 0 {
		return
	}
	if room(c, t, workload.Reduce) <= 0 {
		c.declined(k, model.LoadFactor)
		return
	}
	if f.padExceeded(c, t, workload.Reduce) {
		for first := range f.withReduces.all() {
			if c.traced() {
				c.asks(first, k, model.Figures{})
			}
			first.LaunchReduce(t)
			c.declined(k, model.PaddedSlots)
			return
		}
	}
	for j := range f.launching[workload.Reduce].all() {
		if c.traced() {
			c.asks(j, k, model.Figures{})
		}
		if j.LaunchReduce(t) {
			c.declined(k, model.OneTaskPerHeartbeat)
			return
		}
	}
}

// padExceeded reports whether the cluster is so full that only the first job
// may launch more. Jobs without reduces do not count.
func (f *fifo) padExceeded(c *Cluster, t *TaskTracker, k workload.Kind) bool {
	const smallCluster = 3
	if f.withReduces.empty() {
		return false
	}
	padding := 0
	if c.Trackers > smallCluster {
		padding = min(t.Slots[k], int(float32(f.needed[k])*f.pad))
	}
	return c.Running[k]+padding >= c.Slots[k]
}
