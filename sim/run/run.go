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

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
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
	open := r.Recorder.cut(r.Jobs.Submitted)
	r.Warn("the run was cut at %v with %d of %d jobs unfinished", at.Duration(), open, len(r.Question.Jobs))
}

// Unfinished lists the jobs that have not ended.
func (r *Run) Unfinished() (names []string) {
	for i := range r.Question.Jobs {
		if i >= r.Jobs.Submitted || r.Recorder.outcomes[i].Finish == never {
			names = append(names, r.Question.Jobs[i].ID)
		}
	}
	return names
}
