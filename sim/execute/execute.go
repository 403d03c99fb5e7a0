// Package execute computes how long task attempts take: from given times, from
// the phases of their plans, or from the disks, cores and links of their nodes.
//
//	the master ── Assign, Start, Release, Close ──> Execution
//	    ↑                                             ├─ given    recorded or drawn times
//	    └── Host: Report, Worked <── it has ended ──  ├─ phased   the plan of the task, added up
//	                                                  └─ devices  the same plan, served by sim/station
//
// It knows no master. An attempt arrives when it is assigned to a node, and
// the package returns when it will ask to commit and when it will end. The
// caller, the Host, decides everything else about it.
package execute

import (
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Execution is one way to compute the times of attempts. There is one for each
// fidelity.
type Execution interface {
	// NewJob adds a job, or returns an error if its tasks cannot be
	// executed.
	NewJob(id int, spec *workload.Job) (*Job, error)
	// Profile returns how long the tasks of a job are expected to take.
	Profile(j *Job) analytic.AriaProfile

	// Assign adds an attempt that its node has been given.
	Assign(a *Attempt)
	// Start begins an attempt at a.Start, when it has its slot, and sets its
	// later instants where they are known.
	Start(a *Attempt)
	// Release stops an attempt because it leaves its slot or will never
	// have one.
	Release(a *Attempt)
	// Lose drops an attempt whose node is lost.
	Lose(a *Attempt)
	// Close removes an attempt. It writes the times and data of the attempt
	// into the row, unless the row is nil.
	Close(a *Attempt, row *workload.Attempt)

	// Progress returns the progress that the child of a started attempt
	// reports.
	Progress(a *Attempt, now engine.Time) float32
	// MapsChanged is called when the number of unfinished maps of a job
	// reaches or leaves 0.
	MapsChanged(j *Job)

	// Foresees reports whether the end of an attempt is known as soon as it is
	// settled, and not only when it happens.
	Foresees() bool
	// Trace passes the spans of threads to a recorder, if tasks have threads.
	Trace(to model.SpanRecorder)
	// Usage returns how busy the devices are, or nil if there are none.
	Usage() *Usage
}

// New returns the execution for the fidelity of a question.
func New(q *model.WhatIf, eng *engine.Engine, host Host, p Protocol) (Execution, error) {
	c := newCommon(q, eng, host, p)
	switch q.Fidelity {
	case model.Device:
		return newDevices(c)
	case model.Phase:
		return newPhased(c), nil
	}
	return newGiven(c), nil
}
