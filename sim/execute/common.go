package execute

import (
	"cmp"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// common is what all executions share.
type common struct {
	eng      *engine.Engine
	host     Host
	protocol Protocol
	question *model.WhatIf
	cluster  *model.Cluster
	slowness []float64 // by node, packed because every attempt reads it
	fail     bool      // attempts fail on some node
	events   mapEvents
}

func newCommon(q *model.WhatIf, eng *engine.Engine, host Host, p Protocol) common {
	c := common{eng: eng, host: host, protocol: p, question: q, cluster: &q.Cluster}
	for i := range q.Cluster.Nodes {
		n := &q.Cluster.Nodes[i]
		c.slowness = append(c.slowness, n.Slowness)
		c.fail = c.fail || n.FailAfter > 0
	}
	return c
}

// Assign implements Execution.
func (c *common) Assign(a *Attempt) {
	if a.Kind == workload.Reduce {
		c.events.expect(a)
	}
}

// Release implements Execution.
func (c *common) Release(a *Attempt) {
	if a.Kind == workload.Reduce {
		c.events.leave(a)
	}
}

// Lose implements Execution.
func (c *common) Lose(a *Attempt) {
	if a.Kind == workload.Reduce {
		c.events.drop(a)
	}
}

// MapsChanged implements Execution.
func (c *common) MapsChanged(j *Job) { c.events.resolve(j) }

// Foresees implements Execution.
func (c *common) Foresees() bool { return true }

// Trace implements Execution.
func (c *common) Trace(model.SpanRecorder) {}

// Usage implements Execution.
func (c *common) Usage() *Usage { return nil }

// begin starts an attempt in its slot. It reports whether the attempt is a map
// or a reduce. All others take a time that the cluster gives.
func (c *common) begin(a *Attempt) bool {
	costs := &c.cluster.Costs
	a.Begin = a.Start
	if !a.Inside {
		a.Begin += engine.At(costs.Launch)
	}
	a.Pending, a.Finish = engine.Never, engine.Never
	if c.fail {
		if after := c.cluster.Nodes[a.Node].FailAfter; after > 0 {
			a.failAt = a.Begin + engine.At(after)
		}
	}
	switch spec := a.Job.Spec; a.Kind {
	case workload.Map:
		a.localise(&spec.Maps.Localise)
		a.read(spec.Maps.Ends.Of(int(a.Task), int(a.Number)))
		return true
	case workload.Reduce:
		a.Known = engine.Never
		a.localise(&spec.Reduces.Localise)
		a.read(spec.Reduces.Ends.Of(int(a.Task), int(a.Number)))
		return true
	case workload.Setup:
		c.serve(a, cmp.Or(spec.SetupTime, costs.Setup), spec.SetupEnds)
	case workload.Cleanup:
		c.serve(a, cmp.Or(spec.CleanupTime, costs.Cleanup), spec.CleanupEnds)
	case workload.TaskCleanup, workload.ReduceTaskCleanup:
		a.failAt = engine.Never
		a.endAt(a.Begin + engine.At(costs.TaskCleanup))
	}
	return false
}

// serve sets the end of a set-up or clean-up. One that is recorded as killed works until
// then.
func (c *common) serve(a *Attempt, took time.Duration, ends []workload.AttemptEnd) {
	before := &a.Job.served[a.Kind-workload.Setup]
	if *before < len(ends) {
		a.read(ends[*before])
	}
	*before++
	done := a.Begin + engine.At(took)
	if a.KillAt < engine.Never {
		done = max(done, a.KillAt+Poll)
	}
	a.endAt(done)
}

// worked sets what follows once all work of an attempt but the commit is done.
func (c *common) worked(a *Attempt, at engine.Time) {
	if c.protocol.Commit {
		a.commitAt(at)
	} else {
		a.endAt(at)
	}
}

// finish makes an attempt end, or ask to commit, at the present instant.
func (c *common) finish(a *Attempt, commits bool) {
	now := c.eng.Now()
	if commits {
		c.worked(a, now)
	} else {
		a.endAt(now)
	}
	c.host.Worked(a)
}
