package execute

import (
	"math"
	"time"

	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// phased executes attempts by the phases of their plans (fidelity phase): a task
// takes as long as if it were alone on its node. The shuffle of a reduce
// overlaps the maps while it keeps up with them.
type phased struct {
	alone
	planned
}

func newPhased(c common) *phased {
	x := &phased{alone{common: c}, newPlanned(c.question)}
	x.times = x
	x.events = newMapEvents(&x.common, x)
	return x
}

func (x *phased) machine(a *Attempt) int { return x.cluster.Nodes[a.Node].Machine }

func (x *phased) mapPlan(a *Attempt) *mapPlan { return a.Job.plans.mapFor(x.machine(a), a) }

func (x *phased) reducePlan(a *Attempt) *reducePlan {
	return a.Job.plans.reduceFor(x.machine(a), a)
}

// Start implements Execution.
func (x *phased) Start(a *Attempt) {
	if !x.begin(a) {
		return
	}
	factor := x.factor(a)
	if a.Kind == workload.Map {
		a.work = x.stretched(engine.At(total(x.mapPlan(a).alone[:]...)), factor)
	} else {
		t := &x.reducePlan(a).alone
		a.sort = x.stretched(engine.At(t[workload.PhaseMerge]), factor)
		a.work = x.stretched(engine.At(total(t[workload.PhaseReduce:workload.PhaseCommit]...)), factor)
	}
	x.start(a)
}

// NewJob implements Execution.
func (x *phased) NewJob(id int, spec *workload.Job) (*Job, error) {
	j, err := x.planned.NewJob(id, spec)
	if err == nil {
		j.stored = newStored(j.plans, len(x.cluster.Nodes))
	}
	return j, err
}

// shuffleTime implements times. Outputs on the node of the reduce do not use
// the network.
func (x *phased) shuffleTime(a *Attempt) engine.Time {
	p := a.Job.plans
	local := taskplan.Step{Resource: taskplan.Network, Work: a.Job.stored.bytes[a.Node] * p.share(a.Task)}
	whole := engine.At(x.reducePlan(a).alone[workload.PhaseShuffle])
	whole = max(0, whole-engine.Time(math.Round(p.planners[x.machine(a)].Cost.Time(local))))
	return x.stretched(x.leftToCopy(a, whole), x.slowness[a.Node])
}

// Close implements Execution.
func (x *phased) Close(a *Attempt, row *workload.Attempt) {
	if row == nil {
		return
	}
	p := startup(a, row)
	if a.Started {
		switch a.Kind {
		case workload.Map:
			x.fillMap(a, &p)
		case workload.Reduce:
			x.fillReduce(a, &p)
		}
	}
	p.rest(a)
}

func (x *phased) fillMap(a *Attempt, p *phases) {
	plan := x.mapPlan(a)
	whole, end := total(plan.alone[:]...), time.Duration(0)
	for phase, t := range plan.alone {
		end += t
		p.until(workload.Phase(phase), a.Begin+part(a.work, end, whole))
	}
	p.moved(&plan.Counters)
}

func (x *phased) fillReduce(a *Attempt, p *phases) {
	plan := x.reducePlan(a)
	p.shuffle(a)
	reduce, write := plan.alone[workload.PhaseReduce], plan.alone[workload.PhaseWrite]
	begin := a.Known + a.shuffle + a.sort
	p.until(workload.PhaseReduce, begin+part(a.work, reduce, reduce+write))
	p.until(workload.PhaseWrite, begin+a.work)
	p.moved(&plan.Counters)
}

func total(times ...time.Duration) (sum time.Duration) {
	for _, t := range times {
		sum += t
	}
	return sum
}

// part returns the share of a time that belongs to part of a whole.
func part(t engine.Time, part, whole time.Duration) engine.Time {
	if part == whole {
		return t
	}
	return engine.Time(math.Round(float64(t) * (float64(part) / float64(whole))))
}
