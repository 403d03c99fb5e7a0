package execute

import (
	"fmt"
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/station"
	"github.com/slotwave/slotwave/workload"
)

// spanTrace passes on what the threads of attempts do. It has one span, which it
// uses again.
type spanTrace struct {
	to       model.SpanRecorder
	hardware *hardware
	usual    *model.Machine // whose devices are nominal
	links    map[*station.Link]tracedLink
	span     model.Span
}

// tracedLink is a link as spans name it.
type tracedLink struct {
	name        string
	node        int32 // -1: of a rack
	of          string
	read, write float64 // seconds on a usual device for a unit of work
}

// limited is a part of a step that one link limits.
type limited struct {
	link  *station.Link // nil: none
	until engine.Time
	own   float64 // seconds of its work alone on a usual device, or on what limits it then
	moved float64 // seconds of the flow
}

// Trace implements Execution.
func (d *devices) Trace(to model.SpanRecorder) {
	h := d.hardware
	t := &spanTrace{to: to, hardware: h, usual: &d.cluster.Machines[d.cluster.UsualMachine()], links: map[*station.Link]tracedLink{}}
	for i := range h.nodes {
		n, name := &h.nodes[i], d.cluster.Nodes[i].Name
		for k, disk := range n.disks {
			usual := t.usual.Disks[min(k, len(t.usual.Disks)-1)]
			t.links[disk.Link] = tracedLink{fmt.Sprintf("disk%d", k), int32(i), name, disk.read / usual.Read, disk.write / usual.Write}
		}
		t.links[n.up] = tracedLink{"network-out", int32(i), name, 1 / t.usual.NIC, 0}
		t.links[n.down] = tracedLink{"network-in", int32(i), name, 1 / t.usual.NIC, 0}
	}
	for i, r := range h.racks {
		if r.up != nil {
			t.links[r.up] = tracedLink{"uplink-out", -1, d.cluster.Racks[i], 1 / t.usual.Uplink, 0}
			t.links[r.down] = tracedLink{"uplink-in", -1, d.cluster.Racks[i], 1 / t.usual.Uplink, 0}
		}
	}
	h.trace, h.net.Watch = t, t.limit
}

// limit notes what has limited a flow of a thread since the last time.
func (t *spanTrace) limit(f *station.Flow) {
	of, ok := f.Receiver.(*thread)
	if !ok {
		return // the page cache writes
	}
	left := f.Left()
	moved := max(0, of.unmoved-left)
	of.unmoved = left
	now := t.hardware.eng.Now()
	part := limited{until: now, moved: moved}
	if h, still := f.Limit(); h != nil {
		link := t.links[h.Link]
		unit := link.read
		if h.IsWrite() {
			unit = link.write
		}
		part.link, part.own = h.Link, max(moved*h.Cost*unit, still*(now-of.marked).Duration().Seconds())
	}
	of.marked = now
	of.limit(part)
}

// cached notes that a write has waited for the page cache of a disk.
func (t *spanTrace) cached(of *thread, p *put) {
	of.limit(limited{p.onto.Link, t.hardware.eng.Now(), p.bytes / p.onto.write * t.links[p.onto.Link].write, 0})
}

// limit adds a part to the present step.
func (t *thread) limit(part limited) {
	if n := len(t.limits); n > 0 && (t.limits[n-1].link == part.link || t.limits[n-1].until == part.until) {
		last := &t.limits[n-1]
		last.until, last.own, last.moved = part.until, last.own+part.own, last.moved+part.moved
		return
	}
	t.limits = append(t.limits, part)
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

// computed reports a step of a thread that used a core until now.
func (t *spanTrace) computed(of *thread, s *taskplan.Step) {
	a, kind, copier := of.of.traced(of)
	span := t.of(a, kind, of.began[0])
	if span.End == span.Begin {
		return
	}
	speed := t.hardware.cluster.Machines[t.hardware.cluster.Nodes[of.node].Machine].Speed
	span.Copier, span.Phase, span.Device, span.Own = copier, s.Phase, "cpu", workload.Seconds(s.Work/1e9*speed/t.usual.Speed)
	t.to.Span(span)
}

// moved reports a step of a thread that read, wrote or fetched until now, a span for
// each part that one device has limited.
func (t *spanTrace) moved(of *thread, s *taskplan.Step) {
	begin, left, units := of.began[1], int64(s.Work), 0.0
	for i := range of.limits {
		units += of.limits[i].moved
	}
	for i := range of.limits {
		part := &of.limits[i]
		a, kind, copier := of.of.traced(of)
		span := t.of(a, kind, begin)
		if span.End = part.until.Duration(); span.End == span.Begin {
			continue
		}
		begin = part.until
		span.Copier, span.Phase = copier, s.Phase
		if link := t.links[part.link]; part.link != nil {
			span.Device, span.Own = link.name, workload.Seconds(part.own)
			if link.node != of.node {
				span.DeviceOf = link.of
			}
		}
		if of.from >= 0 && of.from != of.node {
			span.FromNode = t.hardware.cluster.Nodes[of.from].Name
		}
		span.Bytes = left
		if i < len(of.limits)-1 {
			span.Bytes = min(left, int64(s.Work*part.moved/max(units, math.SmallestNonzeroFloat64)))
		}
		left -= span.Bytes
		t.to.Span(span)
	}
}
