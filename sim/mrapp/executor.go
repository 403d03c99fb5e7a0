package mrapp

import (
	"iter"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// Executor runs the children of all jobs of a cluster: it is the host of their
// execution.
type Executor struct {
	execute.Execution
	held    [][]*attempt // processes, by node
	running [][2]int     // by job and kind
	most    [][2]int     // so many at once
}

var _ execute.Host = (*Executor)(nil)

// NewExecutor makes the execution of a question.
func NewExecutor(q *model.WhatIf, eng *engine.Engine) (*Executor, error) {
	x := &Executor{
		held: make([][]*attempt, len(q.Cluster.Nodes)), running: make([][2]int, len(q.Jobs)), most: make([][2]int, len(q.Jobs)),
	}
	var err error
	x.Execution, err = execute.New(q, eng, x, execute.Protocol{Commit: true, Poll: true, Master: true})
	return x, err
}

func (x *Executor) hold(t *attempt) {
	x.held[t.run.Node] = append(x.held[t.run.Node], t)
	n, most := &x.running[t.run.Job.ID][t.run.Kind], &x.most[t.run.Job.ID][t.run.Kind]
	*n++
	*most = max(*most, *n)
}

func (x *Executor) drop(t *attempt) {
	list := &x.held[t.run.Node]
	if i := slices.Index(*list, t); i >= 0 {
		*list = slices.Delete(*list, i, i+1)
		x.running[t.run.Job.ID][t.run.Kind]--
	}
}

// Waves divides the tasks of a job by the most of them that ran at once.
func (x *Executor) Waves(job int, kind workload.Kind, tasks int) int {
	most := max(1, x.most[job][kind])
	return (tasks + most - 1) / most
}

// Idle reports whether nothing runs but reduces that wait for maps.
func (x *Executor) Idle() bool {
	for _, list := range x.held {
		for _, t := range list {
			if t.task.kind == workload.Map || t.run.Known < engine.Never {
				return false
			}
		}
	}
	return true
}

// Close records the attempts that run when the simulation is cut.
func (x *Executor) Close(at engine.Time) {
	for _, list := range x.held {
		for _, t := range slices.Clone(list) {
			if !t.child.silent {
				t.run.Finish, t.run.End = at, execute.Open
				t.task.am.over(t)
			}
		}
	}
}

// FetchInterval implements execute.Host. No node asks for its reduces.
func (x *Executor) FetchInterval(int32) engine.Time { return execute.Poll }

// CommitWait implements execute.Host: the ApplicationMaster answers at once.
func (x *Executor) CommitWait(int32) engine.Time { return 0 }

// SplitNode implements execute.Host: a map reads from its own node if that holds its
// split, else from the first host in its rack, else from the first.
func (x *Executor) SplitNode(r *execute.Attempt) int32 {
	t := x.attempt(r)
	job := t.task.am.job
	hosts := job.Hosts[r.Task]
	if len(hosts) == 0 || slices.Contains(hosts, r.Node) {
		return r.Node
	}
	for _, h := range hosts {
		if job.Topology.RackOf[h] == job.Topology.RackOf[r.Node] {
			return h
		}
	}
	return hosts[0]
}

func (x *Executor) attempt(r *execute.Attempt) *attempt {
	for _, t := range x.held[r.Node] {
		if &t.run == r {
			return t
		}
	}
	panic("mrapp: an attempt works on a node that does not hold it")
}

// Attempts implements execute.Host.
func (x *Executor) Attempts(node int32) iter.Seq[*execute.Attempt] {
	return func(yield func(*execute.Attempt) bool) {
		for _, t := range x.held[node] {
			if !yield(&t.run) {
				return
			}
		}
	}
}

// Report implements execute.Host: some child of a node will have something to say at
// another instant than it was to have.
func (x *Executor) Report(node int32, _ engine.Time) {
	for _, t := range x.held[node] {
		t.task.am.watch(t)
	}
}

// Worked implements execute.Host.
func (x *Executor) Worked(r *execute.Attempt) {
	t := x.attempt(r)
	t.task.am.watch(t)
}

// HeartbeatsOver implements execute.Host. Children have no part in heartbeats.
func (x *Executor) HeartbeatsOver() {}
