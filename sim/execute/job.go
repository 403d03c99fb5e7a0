package execute

import (
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Job is the state that executions keep of a job.
type Job struct {
	ID      int // order of submission
	Spec    *workload.Job
	Events  Events
	LastMap engine.Time // when the last known map ended

	plans   *plans     // nil if the times of tasks are given
	outputs *outputs   // nil unless attempts work on devices
	stored  *stored    // nil unless task times come from phases
	waiting []*Attempt // reduces that do not know all maps
	served  [2]int     // attempts of set-ups and of clean-ups that began
	ended   bool
}

func (j *Job) maps() int { return j.Spec.Maps.Count }

// Publish adds a completion event: of a map whose output lies on a node, or of
// an attempt without output. maps is the change in the number of known maps.
func (j *Job) Publish(now engine.Time, maps int32, o Output) {
	if j.Spec.Reduces.Count == 0 {
		return // nobody asks for events
	}
	if e := &j.Events; len(e.counts) == cap(e.counts) {
		e.grow(j.maps())
	}
	j.Events.add(now, maps)
	if j.outputs != nil {
		j.outputs.publish(o)
	}
	if j.stored != nil {
		j.stored.publish(maps, o)
	}
}

// Close records that the job has ended.
func (j *Job) Close() { j.ended, j.waiting = true, nil }

// wait adds a reduce to those that wait for maps.
func (j *Job) wait(a *Attempt) {
	a.waitIndex = int32(len(j.waiting))
	j.waiting = append(j.waiting, a)
}

// dismiss removes a reduce from those that wait for maps.
func (j *Job) dismiss(a *Attempt) {
	i, last := int(a.waitIndex), len(j.waiting)-1
	if i > last || j.waiting[i] != a {
		return // removed with all others of its job
	}
	j.waiting[i], j.waiting[last] = j.waiting[last], nil
	if i < last {
		j.waiting[i].waitIndex = a.waitIndex
	}
	j.waiting = j.waiting[:last]
}

// Output is the content of a completion event: the node that holds the output
// of a map, or that there is none.
type Output struct {
	Task int32
	Node int32 // or NoOutput, or Lost
}

// Values for outputs that do not exist.
const (
	NoOutput int32 = -1 // reduces do not wait for it: the map was given up
	Lost     int32 = -2 // the output of this attempt is lost
)
