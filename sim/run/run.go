// Package run holds what every master of a simulated cluster works on: the
// question, the clock, the execution of attempts, where splits lie, when jobs come,
// and the record of what has happened.
//
//	sim.Simulator ── makes ──> run.Run, then the master of the release
//	     │                        ↑ reads, records
//	     └── steps the engine ──> sim/jobtracker ── assigns attempts ──> sim/execute
//
// It decides nothing: which task runs where, and who learns of it when, is for the
// master.
package run

import (
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// Run is one question on its way to an answer.
type Run struct {
	*engine.Engine
	Question *model.WhatIf
	Release  *model.Release
	Topology *execute.Topology
	Nodes    map[string]int32  // by name
	Exec     execute.Execution // made by the master, which is its host
	Recorder Recorder
	Tracer   model.Tracer // receives the offers; may be nil
	Jobs     Submissions  // made by the master, which is called when jobs are due
	Ended    int          // jobs
	warnings []string
}

// New starts the run of a question, whose attempts a recorder receives.
func New(q *model.WhatIf, to model.Recorder) (*Run, error) {
	release, err := model.FindRelease(q.Cluster.Hadoop)
	if err != nil {
		return nil, err
	}
	r := &Run{
		Engine: engine.New(), Question: q, Release: release, Topology: execute.NewTopology(&q.Cluster),
		Nodes: make(map[string]int32, len(q.Cluster.Nodes)),
	}
	r.Recorder = newRecorder(r, to)
	for i := range q.Cluster.Nodes {
		r.Nodes[q.Cluster.Nodes[i].Name] = int32(i)
	}
	return r, nil
}

// Warn adds a warning to the prediction.
func (r *Run) Warn(format string, args ...any) {
	const most = 20
	if w := fmt.Sprintf(format, args...); len(r.warnings) < most && !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}

// Cut ends a run before its jobs have ended.
func (r *Run) Cut(at engine.Time) {
	open := r.Recorder.cut()
	r.Warn("the run was cut at %v with %d of %d jobs unfinished", at.Duration(), open, len(r.Question.Jobs))
}

// Unfinished lists the jobs that have not ended.
func (r *Run) Unfinished() (names []string) {
	for i := range r.Question.Jobs {
		if !r.Jobs.Has(i) || r.Recorder.outcomes[i].Finish == never {
			names = append(names, r.Question.Jobs[i].ID)
		}
	}
	return names
}

// never marks an instant in an outcome that did not happen.
const never = time.Duration(-1)

// Recorder keeps the outcomes of jobs, and passes on each attempt that has
// ended.
type Recorder struct {
	run      *Run
	to       model.Recorder // may be nil
	outcomes []model.JobOutcome
	hosts    []hostName // by node
	row      workload.Attempt
}

func newRecorder(r *Run, to model.Recorder) Recorder {
	return Recorder{run: r, to: to, outcomes: make([]model.JobOutcome, len(r.Question.Jobs)), hosts: hostNames(&r.Question.Cluster)}
}

// hostName is the name of a node and of its rack.
type hostName struct{ node, rack string }

// hostNames lists the names of the cluster's nodes.
func hostNames(c *model.Cluster) []hostName {
	names := make([]hostName, len(c.Nodes))
	for i := range names {
		names[i].node = c.Nodes[i].Name
		if len(c.Racks) > 0 {
			names[i].rack = c.Racks[c.Nodes[i].Rack]
		}
	}
	return names
}

// Submissions holds the future jobs, and those whose initialisation or whose end
// is recorded.
type Submissions struct {
	eng         *engine.Engine
	jobs        []workload.Job
	queue       []int32 // jobs whose time of submission is known, in its order
	submitted   []bool
	after       [][]int32 // by job: those that wait for it; nil if none waits
	waits       []int32   // by job: for how many it waits
	inits       []int32   // jobs, in the order of their recorded initialisation
	ends        []int32   // jobs, in the order of the recorded orders to end
	submitTimer engine.Timer
	initTimer   engine.Timer
	endTimer    engine.Timer
}

// Has reports whether a job has been submitted.
func (s *Submissions) Has(job int) bool { return job < len(s.submitted) && s.submitted[job] }
