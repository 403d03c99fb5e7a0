package execute

import (
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// mapTask is a running map: its own thread and the thread that spills
// (MapTask.MapOutputBuffer.SpillThread).
type mapTask struct {
	worker
	plan    *mapPlan
	spiller thread

	step     int // step that the map's thread does or waits to begin
	spill    int // step that the spill thread does or will do next
	begun    bool
	ended    bool
	busy     bool // the map's thread is doing its step
	spilling bool
	waits    engine.Time // since when the map's thread waits for a spill; 0: it does not
}

func newMapTask(c *common, h *hardware) *mapTask {
	r := &mapTask{worker: worker{common: c, hardware: h}}
	r.own.init(r, h)
	r.spiller.init(r, h)
	r.own.files, r.spiller.files = &r.files, &r.files
	r.timer = c.eng.NewTimer(engine.Completion, 0, r.fire)
	return r
}

// start starts the work of an attempt when its child begins.
func (r *mapTask) start(a *Attempt, plan *mapPlan) {
	r.a, r.plan = a, plan
	r.own.node, r.spiller.node, r.own.replicas = a.Node, a.Node, 0
	r.timer.Reset(max(a.Begin, r.now()))
}

// reset makes the task ready for another attempt.
func (r *mapTask) reset() { *r = mapTask{worker: r.again(), spiller: r.spiller} }

// fire begins the work, or ends it with a failure.
func (r *mapTask) fire(int32) {
	if r.begun || r.hardware.nodes[r.a.Node].dead {
		r.stop()
		return
	}
	r.begun = true
	if r.a.failAt < engine.Never {
		r.timer.Reset(max(r.a.failAt, r.now()))
	}
	r.since = r.now()
	r.spill = r.plan.nextSpill(0)
	r.next()
}

// nextSpill returns the next step of the spill thread, or the end of the plan.
func (m *mapPlan) nextSpill(from int) int {
	for from < len(m.Steps) && !m.Steps[from].Background {
		from++
	}
	return from
}

// done implements stepper.
func (r *mapTask) done(t *thread) {
	if t == &r.spiller {
		r.spilling = false
		r.spill = r.plan.nextSpill(r.spill + len(t.steps))
	} else {
		r.busy = false
		r.step += len(t.steps)
	}
	r.next()
}

// traced implements stepper.
func (r *mapTask) traced(t *thread) (*Attempt, model.Thread, int) {
	if t == &r.spiller {
		return r.a, model.SpillThread, 0
	}
	return r.a, model.MainThread, 0
}

// next starts the next steps of both threads if they can start.
func (r *mapTask) next() {
	steps := r.plan.Steps
	for !r.busy && r.step < len(steps) {
		s := &steps[r.step]
		if s.Background {
			r.step++
			continue
		}
		if r.spill < r.step && steps[r.spill].Spills < s.Spills {
			r.enter(workload.PhaseSpill)
			if r.waits == 0 {
				r.waits = r.now()
			}
			break
		}
		if trace := r.hardware.trace; trace != nil && r.waits > 0 {
			trace.waited(r.a, model.WaitSpill, 0, r.waits)
		}
		r.busy, r.waits = true, 0
		r.own.serve(steps.Together(r.step))
	}
	if !r.spilling && r.spill < r.step {
		r.spilling = true
		r.spiller.serve(steps.Together(r.spill))
	}
	if r.step == len(steps) && !r.spilling {
		r.enter(r.phase)
		r.ended = true
		r.common.finish(r.a, r.a.Job.Spec.Reduces.Count == 0)
	}
}

// move implements stepper.
func (r *mapTask) move(t *thread, s *taskplan.Step) {
	switch s.Resource {
	case taskplan.HDFSRead:
		from := r.common.host.SplitNode(r.a)
		disks := r.hardware.nodes[from].disks
		t.readBlock(from, disks[int(r.a.Task)%len(disks)], s.Work, r.hardware.warm(from, r.a.Job))
	case taskplan.HDFSWrite:
		t.writeBlocks(r.a, s.Work)
	default:
		t.local(s)
	}
}

// stop implements running.
func (r *mapTask) stop() {
	if !r.begun || r.ended {
		r.timer.Stop()
		return
	}
	r.own.cancel()
	r.spiller.cancel()
	r.enter(r.phase)
	r.ended = true
	r.timer.Stop()
}

// fill implements running.
func (r *mapTask) fill(a *Attempt, p *phases) {
	r.worker.fill(a, p)
	p.moved(&r.plan.Counters)
}

// progress implements running: the share of the input that has been mapped, and on YARN
// two thirds of it and a third of the share of the spills that have been merged.
func (r *mapTask) progress(engine.Time) float32 {
	if r.step == len(r.plan.Steps) {
		return 1
	}
	mapped := r.passed(r.plan.input)
	switch sort := r.plan.sort; {
	case sort == nil:
		return float32(mapped)
	case sort[0] == 0:
		return float32(2 * mapped / 3)
	default:
		return float32((2*mapped + r.passed(sort)) / 3)
	}
}

// passed returns the share of seconds by step that have passed.
func (r *mapTask) passed(of []float64) float64 {
	left := of[r.step]
	if r.busy {
		after := of[r.step+len(r.plan.Together(r.step))]
		left = after + min(r.own.remaining(r.plan.cost), left-after)
	}
	return 1 - left/max(of[0], 1e-300)
}
