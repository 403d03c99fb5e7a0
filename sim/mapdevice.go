package sim

import (
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// mapRun is a map at work: the map's own thread and, beside it, the thread that
// spills.
type mapRun struct {
	a       *attempt
	recipe  *mapRecipe
	timer   engine.Timer // the begin, then the failure
	own     thread
	spiller thread
	files   files

	step     int // that the map's thread does or waits to begin
	spill    int // step that the spill thread does or will do next
	begun    bool
	ended    bool
	busy     bool // the map's thread does its step
	spilling bool

	phase workload.Phase // in which the map's thread is
	since engine.Time
	spent [workload.NumPhases]engine.Time
}

// runMap plans an attempt of a map on the devices.
func (p *plant) runMap(a *attempt) {
	var r *mapRun
	if last := len(p.mapRuns) - 1; last >= 0 {
		r, p.mapRuns = p.mapRuns[last], p.mapRuns[:last]
	} else {
		r = &mapRun{}
		r.own.init(r, p)
		r.spiller.init(r, p)
		r.own.files, r.spiller.files = &r.files, &r.files
		r.timer = p.jt.eng.NewTimer(engine.Completion, 0, r.fire)
	}
	recipes := a.job.recipes
	r.a, r.recipe = a, recipes.maps[p.jt.q.Cluster.Nodes[a.tracker].Machine][recipes.class(a.task.index)]
	r.own.node, r.spiller.node = a.tracker, a.tracker
	a.exec = r
	p.jt.ends(a, engine.Never)
	r.timer.Reset(max(a.begin, p.jt.eng.Now()))
}

// free gives the run back.
func (r *mapRun) free() {
	p := r.own.p
	r.timer.Stop()
	*r = mapRun{timer: r.timer, own: r.own, spiller: r.spiller}
	p.mapRuns = append(p.mapRuns, r)
}

// fire begins the work, or ends it with a failure.
func (r *mapRun) fire(int32) {
	if r.begun || r.own.p.nodes[r.a.tracker].dead {
		r.stop()
		return
	}
	r.begun = true
	if r.a.failAt < engine.Never {
		r.timer.Reset(max(r.a.failAt, r.own.p.jt.eng.Now()))
	}
	r.since = r.own.p.jt.eng.Now()
	r.spill = r.recipe.nextSpill(0)
	r.goOn()
}

// nextSpill is the next step of the spill thread, or the end of the plan.
func (m *mapRecipe) nextSpill(from int) int {
	for from < len(m.Steps) && !m.Steps[from].Background {
		from++
	}
	return from
}

// done is stepper.
func (r *mapRun) done(t *thread) {
	if t == &r.spiller {
		r.spilling = false
		r.spill = r.recipe.nextSpill(r.spill + len(t.steps))
	} else {
		r.busy = false
		r.step += len(t.steps)
	}
	r.goOn()
}

// turned is stepper.
func (r *mapRun) turned(t *thread) {
	if t == &r.own {
		r.enter(t.phase())
	}
}

// goOn has both threads do what they can.
func (r *mapRun) goOn() {
	steps := r.recipe.Steps
	for !r.busy && r.step < len(steps) {
		s := &steps[r.step]
		if s.Background {
			r.step++
			continue
		}
		if r.spill < r.step && steps[r.spill].Spills < s.Spills {
			r.enter(workload.PhaseSpill)
			break
		}
		r.busy = true
		r.own.serve(steps.Together(r.step))
	}
	if !r.spilling && r.spill < r.step {
		r.spilling = true
		r.spiller.serve(steps.Together(r.spill))
	}
	if r.step == len(steps) && !r.spilling {
		r.enter(r.phase)
		r.ended = true
		r.own.p.worked(r.a, r.a.job.Tasks[workload.Reduce] == 0)
	}
}

// enter books the time since the last change and goes over to a phase.
func (r *mapRun) enter(p workload.Phase) {
	now := r.own.p.jt.eng.Now()
	r.spent[r.phase] += now - r.since
	r.phase, r.since = p, now
}

// move is stepper.
func (r *mapRun) move(t *thread, s *taskplan.Step) {
	switch s.Resource {
	case taskplan.HDFSRead:
		from := r.source()
		disks := t.p.nodes[from].disks
		t.readBlock(from, disks[int(r.a.task.index)%len(disks)], s.Work, t.p.warm(from, r.a.job))
	case taskplan.HDFSWrite:
		t.writeBlocks(r.a, s.Work)
	default:
		t.local(s)
	}
}

// source is the node from which the split is read: this one if it has it, else
// one of the rack, else any that has. Input without a place is taken to be here.
func (r *mapRun) source() int32 {
	t := &r.own.p.jt.trackers[r.a.tracker]
	if r.a.local == workload.NodeLocal || r.a.local == workload.NoLocality {
		return t.id
	}
	from := t.id
	for _, h := range r.a.job.hosts.of(r.a.job, r.a.task.index) {
		if h.node >= 0 && (from == t.id || h.rack == t.rack && r.own.p.jt.trackers[from].rack != t.rack) {
			from = h.node
		}
	}
	return from
}

// stop is activity.
func (r *mapRun) stop() {
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

// fill is execution. What was cut goes on in its phase to its end.
func (r *mapRun) fill(a *attempt, d *division) {
	for p, t := range r.spent {
		d.until(workload.Phase(p), d.at+t)
	}
	if a.pending == engine.Never && a.end != endsWell {
		d.until(r.phase, d.finish)
	}
	d.fill(a, &r.recipe.Counters)
}

// progress is activity: the part of the input that has been mapped.
func (r *mapRun) progress(engine.Time) float32 {
	if r.step == len(r.recipe.Steps) {
		return 1
	}
	left := r.recipe.input[r.step]
	if r.busy {
		after := r.recipe.input[r.step+len(r.recipe.Steps.Together(r.step))]
		left = after + min(r.own.remaining(r.recipe.cost), left-after)
	}
	return float32(1 - left/max(r.recipe.input[0], 1e-300))
}
