package execute

import (
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Job is what executions know of a job.
type Job struct {
	ID      int // order of submission
	Spec    *workload.Job
	Events  Events
	LastMap engine.Time // when the last map known of ended

	plans   *plans     // nil where the times of tasks are given
	outputs *outputs   // nil unless attempts work on devices
	stored  *stored    // nil unless the times of tasks are those of their phases
	waiting []*Attempt // reduces that do not know all maps
	ended   bool
}

func (j *Job) maps() int { return j.Spec.Maps.Count }

// Publish adds a completion event: of a map whose output lies on a node, or of
// an attempt that left none. By it that many more maps are known.
func (j *Job) Publish(now engine.Time, maps int32, o Output) {
	j.Events.add(now, maps)
	if j.outputs != nil {
		j.outputs.publish(o)
	}
	if j.stored != nil {
		j.stored.publish(maps, o)
	}
}

// Close notes that the job has ended.
func (j *Job) Close() { j.ended, j.waiting = true, nil }

// wait enters a reduce among those that wait for maps.
func (j *Job) wait(a *Attempt) {
	a.waitIndex = int32(len(j.waiting))
	j.waiting = append(j.waiting, a)
}

// dismiss takes a reduce off those that wait for maps.
func (j *Job) dismiss(a *Attempt) {
	i, last := int(a.waitIndex), len(j.waiting)-1
	if i > last || j.waiting[i] != a {
		return // it was done with all others of its job
	}
	j.waiting[i], j.waiting[last] = j.waiting[last], nil
	if i < last {
		j.waiting[i].waitIndex = a.waitIndex
	}
	j.waiting = j.waiting[:last]
}

// Output is what a completion event says: on which node the output of a map
// lies, or that there is none.
type Output struct {
	Task int32
	Node int32 // or NoOutput, or Lost
}

// Nodes of outputs that are not there.
const (
	NoOutput int32 = -1 // to be fetched: the map was given up
	Lost     int32 = -2 // of this attempt
)
