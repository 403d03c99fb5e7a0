package sim

import (
	"math"
	"time"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// At fidelity phase a task takes as long as its plan does on a node that it has
// for itself. The shuffle of a reduce overlaps the maps as far as it keeps up
// with them.

// planPhases sets the times of an attempt from the plan of its task.
func (jt *jobTracker) planPhases(a *attempt, factor float64) {
	machine, r := jt.q.Cluster.Nodes[a.tracker].Machine, a.job.recipes
	if a.kind == workload.Map {
		recipe := r.maps[machine][r.class(a.task.index)]
		a.exec = recipe
		a.work = jt.stretched(engine.At(total(recipe.alone[:]...)), factor)
		return
	}
	recipe := r.reduce(machine, a.task.index)
	t := &recipe.alone
	a.exec = recipe
	a.sort = jt.stretched(engine.At(t[workload.PhaseMerge]), factor)
	a.work = jt.stretched(engine.At(total(t[workload.PhaseReduce:workload.PhaseCommit]...)), factor)
}

func total(times ...time.Duration) (sum time.Duration) {
	for _, t := range times {
		sum += t
	}
	return sum
}

func (m *mapRecipe) fill(a *attempt, d *division) {
	whole, end := total(m.alone[:]...), time.Duration(0)
	for p, t := range m.alone {
		end += t
		d.until(workload.Phase(p), a.begin+part(a.work, end, whole))
	}
	d.fill(a, &m.Counters)
}

func (r *reduceRecipe) fill(a *attempt, d *division) {
	a.fillShuffle(d)
	reduce, write := r.alone[workload.PhaseReduce], r.alone[workload.PhaseWrite]
	begin := a.known + a.shuffle + a.sort
	d.until(workload.PhaseReduce, begin+part(a.work, reduce, reduce+write))
	d.until(workload.PhaseWrite, begin+a.work)
	d.fill(a, &r.Counters)
}

// part is the share of a time that a part of a whole takes.
func part(t engine.Time, part, whole time.Duration) engine.Time {
	if part == whole {
		return t
	}
	return engine.Time(math.Round(float64(t) * (float64(part) / float64(whole))))
}
