package execute

import (
	"math/rand/v2"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/station"
	"github.com/slotwave/slotwave/workload"
)

// thread does steps one after the other on the devices of its node and others.
// Within a group of overlapping steps it computes some steps while others read
// and write.
type thread struct {
	flow      station.Flow
	of        stepper
	hardware  *hardware
	steps     taskplan.Steps // steps that overlap
	computing int            // step that is computed; past the last one: none is left
	moving    int            // step that reads or writes, likewise
	node      int32
	from      int32  // node of the file that is read, or that is fetched; -1: several
	files     *files // of its task
	visit     station.Visit

	left     float64 // bytes of an output in blocks that are not yet begun
	block    float64 // bytes
	rate     float64 // bytes/s of the disk that writes the first replica
	replicas int
	draw     rand.PCG
	writing  writing

	began   [2]engine.Time // step that is computed and step that moves, in a traced run
	limits  []limited      // what has limited the step that moves, likewise
	unmoved float64        // by the flow, when that was noted
	marked  engine.Time    // when it was
}

// stepper is the owner of a thread.
type stepper interface {
	move(*thread, *taskplan.Step) // begins a step that reads or writes
	phaseChanged(*thread)         // the thread may be in another phase
	traced(*thread) (a *Attempt, kind model.Thread, copier int)
	done(*thread) // all overlapping steps are done
}

func (t *thread) init(of stepper, h *hardware) {
	t.of, t.hardware = of, h
	t.visit.Visitor, t.flow.Receiver = t, t
}

// serve starts overlapping steps.
func (t *thread) serve(steps taskplan.Steps) {
	t.steps, t.computing, t.moving = steps, -1, -1
	t.compute()
	t.move()
	t.of.phaseChanged(t)
}

// compute starts the next step that uses a core.
func (t *thread) compute() {
	for t.computing++; t.computing < len(t.steps); t.computing++ {
		if s := &t.steps[t.computing]; s.Resource == taskplan.CPU {
			t.began[0] = t.hardware.eng.Now()
			t.hardware.nodes[t.node].cpu.Start(&t.visit, s.Work/1e9)
			return
		}
	}
}

// move starts the next step that uses no core.
func (t *thread) move() {
	for t.moving++; t.moving < len(t.steps); t.moving++ {
		if s := &t.steps[t.moving]; s.Resource != taskplan.CPU {
			t.began[1], t.from, t.limits = t.hardware.eng.Now(), t.node, t.limits[:0]
			t.of.move(t, s)
			return
		}
	}
}

// start begins the flow, whose hops are set, with an amount in seconds of its first hop.
func (t *thread) start(seconds float64) {
	t.unmoved, t.marked = seconds, t.hardware.eng.Now()
	t.hardware.net.Start(&t.flow, seconds)
}

// phase returns the phase of the step that is computed, or else of the one that
// reads or writes.
func (t *thread) phase() workload.Phase {
	if t.computing < len(t.steps) {
		return t.steps[t.computing].Phase
	}
	return t.steps[t.moving].Phase
}

// Served implements station.Visitor.
func (t *thread) Served(*station.Visit) {
	if trace := t.hardware.trace; trace != nil {
		trace.computed(t, &t.steps[t.computing])
	}
	t.compute()
	t.next()
}

// Received implements station.Receiver.
func (t *thread) Received(*station.Flow) {
	if len(t.writing.onto) > 0 && !t.arrive() {
		return
	}
	if t.left > 0 {
		t.writeBlock()
		return
	}
	if trace := t.hardware.trace; trace != nil {
		trace.moved(t, &t.steps[t.moving])
	}
	t.move()
	t.next()
}

func (t *thread) next() {
	if n := len(t.steps); t.computing == n && t.moving == n {
		t.of.done(t)
	} else {
		t.of.phaseChanged(t)
	}
}

// files are the files that a task has written to the disks of its node.
type files struct {
	any   bool
	since float64 // disk traffic of the node before the first of them
}

// local reads or writes a file of the task. Files are placed on the disks in
// rotation.
func (t *thread) local(s *taskplan.Step) {
	n := &t.hardware.nodes[t.node]
	d := n.locals.Next()
	rate, bytes := d.read, s.Work
	if s.Resource == taskplan.LocalWrite {
		rate = d.write
		if !t.files.any {
			*t.files = files{true, n.traffic}
		}
	} else {
		bytes *= 1 - t.hardware.remembered(t.node, t.files.since)
	}
	t.flow.Hops = t.flow.Hops[:0]
	n.traffic += bytes
	if s.Resource == taskplan.LocalWrite && d.back != nil {
		t.writing.onto = append(t.writing.onto, d)
		t.writeThrough(bytes, rate)
		return
	}
	switch {
	case bytes == 0:
	case s.Resource == taskplan.LocalWrite:
		t.flow.Hops = station.Onto(t.flow.Hops, d.Link, 1)
	default:
		t.flow.Hops = station.Through(t.flow.Hops, d.Link, 1)
	}
	t.start(bytes / rate)
}

// remaining returns the seconds that the present steps would still take without
// contention.
func (t *thread) remaining(c taskplan.Cost) float64 {
	computing, moving := t.visit.Left(), t.flow.Left()+t.unwritten()
	if t.left > 0 {
		moving += t.left / t.rate
	}
	for i := range t.steps {
		s := &t.steps[i]
		switch {
		case s.Resource == taskplan.CPU && i > t.computing:
			computing += c.Time(*s) / 1e9
		case s.Resource != taskplan.CPU && i > t.moving:
			moving += c.Time(*s) / 1e9
		}
	}
	return max(computing, moving)
}

func (t *thread) cancel() {
	if trace := t.hardware.trace; trace != nil {
		if t.computing < len(t.steps) {
			trace.computed(t, &t.steps[t.computing])
		}
		if t.moving < len(t.steps) {
			trace.limit(&t.flow)
			trace.moved(t, &t.steps[t.moving])
		}
		t.steps = nil
	}
	t.visit.Cancel()
	t.flow.Cancel()
	t.stopWriting()
	t.left = 0
}
