package run

import (
	"fmt"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// notStarted returns the outcome of a job before its first event.
func notStarted(spec *workload.Job) model.JobOutcome {
	return model.JobOutcome{
		ID: spec.ID, Name: spec.Name, User: spec.User, Pool: spec.Pool, Queue: spec.Queue, After: spec.After,
		Submit: spec.Submit, Deadline: spec.Deadline, Launch: never, Running: never, FirstMap: never, LastMap: never,
		ShuffleEnd: never, Finish: never,
		Maps: spec.Maps.Count, Reduces: spec.Reduces.Count,
		InBytes: spec.Maps.InputBytes, ShuffleBytes: spec.Reduces.ShuffleData, OutBytes: spec.Maps.OutputBytes + spec.Reduces.OutputBytes,
	}
}

// Open returns the outcome of a job that is submitted.
func (r *Recorder) Open(job int) *model.JobOutcome {
	o := &r.outcomes[job]
	*o = notStarted(&r.run.Question.Jobs[job])
	return o
}

// Attempt adds an attempt that has ended to the outcome of its job and passes it
// on. Its task could first have been launched at the instant runnable.
func (r *Recorder) Attempt(a *execute.Attempt, state workload.State, slot int32, runnable engine.Time) {
	r.account(a, state)
	if r.to == nil {
		r.run.Exec.Close(a, nil)
		return
	}
	host, job := &r.hosts[a.Node], a.Job.Spec
	r.row = workload.Attempt{
		Job: job.ID, Task: int(a.Task), Kind: a.Kind, Number: int(a.Number), State: state,
		Node: host.node, Rack: host.rack, Slot: int(slot), Pool: job.Pool, Locality: a.Locality,
		NodeIndex: int(a.Node), Runnable: runnable.Duration(), Start: a.Start.Duration(), Finish: a.Finish.Duration(),
	}
	r.run.Exec.Close(a, &r.row)
	o := &r.outcomes[a.Job.ID]
	o.Spills += r.row.Spills
	o.MergePasses += r.row.MergePasses
	o.SpilledRecords += r.row.SpilledRecords
	r.to.Attempt(&r.row)
}

// account adds an attempt to its job's outcome.
func (r *Recorder) account(a *execute.Attempt, state workload.State) {
	o := &r.outcomes[a.Job.ID]
	start, finish := a.Start.Duration(), a.Finish.Duration()
	switch {
	case a.Kind >= workload.TaskCleanup: // its attempt has been counted
	case state == workload.Failed:
		o.Failed++
	case state == workload.Killed:
		o.Killed++
	}
	switch a.Kind {
	case workload.Map:
		accountMap(o, &a.Times, a.Locality, state)
	case workload.Reduce:
		o.ReduceTime += finish - start
		if state == workload.Succeeded {
			o.ShuffleEnd = max(o.ShuffleEnd, a.ShuffleEnd().Duration())
		}
	}
}

// accountMap adds an attempt of a map.
func accountMap(o *model.JobOutcome, t *execute.Times, l workload.Locality, state workload.State) {
	start, finish := t.Start.Duration(), t.Finish.Duration()
	o.Locality[l]++
	o.MapTime += finish - start
	if o.FirstMap < 0 || start < o.FirstMap {
		o.FirstMap = start
	}
	if state == workload.Succeeded {
		o.LastMap = max(o.LastMap, finish)
	}
}

// cut marks the jobs that have not ended when a run is cut short, and counts
// them.
func (r *Recorder) cut() (open int) {
	for i := range r.outcomes {
		if !r.run.Jobs.Has(i) {
			r.outcomes[i] = notStarted(&r.run.Question.Jobs[i])
		}
		if r.outcomes[i].Finish < 0 {
			r.outcomes[i].State = workload.Running
			open++
		}
	}
	return open
}

// Prediction returns the prediction from the run.
func (r *Recorder) Prediction() model.Prediction {
	p := model.Prediction{Model: "simulation", Jobs: r.outcomes, Warnings: r.run.warnings, Assumed: approximations(r.run.Question)}
	for i := range r.outcomes {
		o := &r.outcomes[i]
		p.Mean = max(p.Mean, o.Finish)
		if o.Finish < 0 {
			p.Mean = r.run.Question.Until
			continue
		}
		o.Low = o.Finish - o.Submit
		o.High = o.Low
	}
	p.Low, p.High = p.Mean, p.Mean
	if u := r.run.Exec.Usage(); u != nil {
		p.Devices = u.Shares()
	}
	return p
}

// approximations names what a question at fidelity device does not simulate
// exactly, with the error.
func approximations(q *model.WhatIf) (list []string) {
	if q.Fidelity != model.Device {
		return nil
	}
	if s := q.Network.Slack; s > 0 {
		list = append(list, fmt.Sprintf("network.slack = %v: a link may miss its capacity by %v %%; on average a transfer ends less than %v %% of the run earlier or later", s, 100*s, 10*s))
	}
	large, most := 0, q.Network.Exact()
	for i := range q.Jobs {
		if j := &q.Jobs[i]; j.Maps.Count*j.Reduces.Count > most {
			large++
		}
	}
	if large > 0 {
		list = append(list, fmt.Sprintf("network.exact_fetches = %d: the reduces of %s fetch several map outputs at a time; their shuffles end up to 10 %% of their length earlier or later",
			most, workload.Counted(large, "larger job", "larger jobs")))
	}
	return list
}
