// Package execute spends the time of task attempts: by times that are given, by
// the phases of their plans, or on the disks, cores and links of their nodes.
//
// It knows no JobTracker. An attempt comes when it is assigned to a node and
// says when it will ask to commit and when it will end; what happens to it
// otherwise is decided by whoever runs it, the Host.
package execute

import (
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Execution is one way to spend the time of attempts. There is one for each
// fidelity.
type Execution interface {
	// NewJob takes in a job, or says why its tasks cannot be executed.
	NewJob(id int, spec *workload.Job) (*Job, error)
	// Profile is how long the tasks of a job are expected to take.
	Profile(j *Job) analytic.AriaProfile

	// Assign notes an attempt that its node has been given.
	Assign(a *Attempt)
	// Start begins an attempt at a.Start, when it has its slot, and sets as much
	// of its future as is known.
	Start(a *Attempt)
	// Release ends what an attempt does, because it leaves its slot or will
	// never have one.
	Release(a *Attempt)
	// Lose drops an attempt whose node is lost.
	Lose(a *Attempt)
	// Close forgets an attempt. Its times and data are entered in the row,
	// unless that is nil.
	Close(a *Attempt, row *workload.Attempt)

	// Progress is what the child of an attempt that has started reports.
	Progress(a *Attempt, now engine.Time) float32
	// MapsChanged follows a change in whether all maps of a job have ended.
	MapsChanged(j *Job)

	// Foresees reports whether the end of an attempt is known as soon as it is
	// settled, and not only when it comes.
	Foresees() bool
	// Usage is how busy the devices are, or nil if there are none.
	Usage() *Usage
}

// New makes the execution that a question's fidelity names.
func New(q *model.WhatIf, eng *engine.Engine, host Host, p Protocol) (Execution, error) {
	c := common{eng: eng, host: host, protocol: p, question: q, cluster: &q.Cluster}
	switch q.Fidelity {
	case model.Device:
		return newDevices(c)
	case model.Phase:
		return newPhased(c), nil
	}
	return newGiven(c), nil
}
