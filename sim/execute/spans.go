package execute

import (
	"fmt"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// spanTrace passes on what the threads of attempts do. It has one span, which it
// uses again.
type spanTrace struct {
	to       model.SpanRecorder
	hardware *hardware
	usual    *model.Machine // whose devices are nominal
	disks    []string       // names by index
	span     model.Span
}

// Trace implements Execution.
func (d *devices) Trace(to model.SpanRecorder) {
	t := &spanTrace{to: to, hardware: d.hardware, usual: &d.cluster.Machines[d.cluster.UsualMachine()]}
	for i := range d.hardware.nodes {
		for n := len(t.disks); n < len(d.hardware.nodes[i].disks); n++ {
			t.disks = append(t.disks, fmt.Sprintf("disk%d", n))
		}
	}
	d.hardware.trace = t
}

// of begins a span of an attempt that ends now.
func (t *spanTrace) of(a *Attempt, thread model.Thread, begin engine.Time) *model.Span {
	t.span = model.Span{
		Job: a.Job.Spec.ID, Kind: a.Kind, Task: int(a.Task), Attempt: int(a.Number), Thread: thread,
		Begin: begin.Duration(), End: t.hardware.eng.Now().Duration(),
	}
	return &t.span
}

// waited reports a wait that ends now. Only a copier waits for memory, all others
// are waits of the main thread.
func (t *spanTrace) waited(a *Attempt, w model.Wait, copier int, begin engine.Time) {
	s := t.of(a, model.MainThread, begin)
	s.Wait, s.Phase, s.Copier = w, workload.PhaseShuffle, copier
	switch w {
	case model.WaitSpill:
		s.Phase = workload.PhaseSpill
	case model.WaitMemory:
		s.Thread = model.CopierThread
	}
	if s.End > s.Begin {
		t.to.Span(s)
	}
}

// bounds reports the start-up and the commit of an attempt that has ended.
func (t *spanTrace) bounds(a *Attempt, commits engine.Time) {
	if s := t.of(a, model.MainThread, a.Start); a.Begin > a.Start {
		s.End = min(a.Begin, a.Finish).Duration()
		t.to.Span(s)
	}
	if s := t.of(a, model.MainThread, commits); a.Finish > commits {
		s.End, s.Phase, s.Wait = a.Finish.Duration(), workload.PhaseCommit, model.WaitCommit
		t.to.Span(s)
	}
}

// step reports a step of a thread that ends now.
func (t *spanTrace) step(of *thread, s *taskplan.Step, begin engine.Time) {
	a, kind, copier := of.of.traced(of)
	span := t.of(a, kind, begin)
	if span.End == span.Begin {
		return
	}
	span.Copier, span.Phase = copier, s.Phase
	machine := &t.hardware.cluster.Machines[t.hardware.cluster.Nodes[of.node].Machine]
	own := 0.0
	switch s.Resource {
	case taskplan.CPU:
		span.Device, own = "cpu", s.Work/1e9*machine.Speed/t.usual.Speed
	case taskplan.Network:
		span.Device, own = "network-in", s.Work/t.usual.NIC
	default:
		at := slices.Index(t.hardware.nodes[of.from].disks, of.disk)
		span.Device = t.disks[at]
		usual := t.usual.Disks[min(at, len(t.usual.Disks)-1)]
		own = s.Work / usual.Read
		if s.Resource == taskplan.HDFSWrite || s.Resource == taskplan.LocalWrite {
			own = s.Work / usual.Write
		}
	}
	if s.Resource != taskplan.CPU {
		span.Bytes = int64(s.Work)
		if of.from >= 0 && of.from != of.node {
			span.FromNode = t.hardware.cluster.Nodes[of.from].Name
		}
	}
	span.Own = workload.Seconds(own)
	t.to.Span(span)
}
