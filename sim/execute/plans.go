package execute

import (
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// plans are the plans of a job's tasks. Each is made once for a machine type
// and a split size.
type plans struct {
	spec     *workload.Job
	conf     taskplan.Conf
	block    float64 // bytes read from HDFS
	machines []model.Machine
	planners []*taskplan.Planner // by machine; nil for a machine that no node has
	sizes    []float64           // split sizes, bytes
	classes  []int32             // size index by map; nil: the last map has the last size, all others the first
	maps     [][]*mapPlan        // by machine and size
	outputs  []taskplan.Segment  // by size: output of a map for all reduces together
	reduces  []*reducePlan       // by machine and reduce; equal shares use the first
}

// mapPlan is the plan of a map on a type of machine.
type mapPlan struct {
	taskplan.MapPlan
	cost  taskplan.Cost
	alone [workload.NumPhases]time.Duration // without contention
	input []float64                         // by step: seconds to map the input from that step on, without contention
}

// reducePlan is the plan of a reduce on a type of machine, without contention.
type reducePlan struct {
	taskplan.ReducePlan
	alone [workload.NumPhases]time.Duration
}

// planned is the common part of the executions that derive times from the work
// of tasks.
type planned struct {
	question *model.WhatIf
	programs map[string]*model.Program
}

func newPlanned(q *model.WhatIf) planned {
	p := planned{q, make(map[string]*model.Program, len(q.Programs))}
	for i := range q.Programs {
		p.programs[q.Programs[i].Name] = &q.Programs[i]
	}
	return p
}

// NewJob implements Execution: it finds the program of a job and checks that it
// can be planned on every machine.
func (x *planned) NewJob(id int, spec *workload.Job) (*Job, error) {
	fidelity := x.question.Fidelity
	program := x.programs[spec.Program]
	if program == nil {
		return nil, fmt.Errorf("no program is named %q: fidelity %v needs one", spec.Program, fidelity)
	}
	if spec.Maps.Count > 0 && spec.Maps.InputBytes == 0 && spec.Maps.Splits == nil {
		return nil, fmt.Errorf("input: missing: fidelity %v needs the bytes of the input", fidelity)
	}
	conf, err := taskplan.ReadConf(spec.Conf)
	if err != nil {
		return nil, err
	}
	p := &plans{spec: spec, conf: conf, machines: x.question.Cluster.Machines}
	if p.planners, err = x.planners(program, conf, spec.Reduces.Count); err != nil {
		return nil, err
	}
	if err := p.split(); err != nil {
		return nil, err
	}
	if err := p.planMaps(); err != nil {
		return nil, err
	}
	p.reduces = make([]*reducePlan, len(p.planners)*max(1, len(spec.Reduces.Shares)))
	return &Job{ID: id, Spec: spec, plans: p}, nil
}

// planners makes a planner for each machine type that some node has.
func (x *planned) planners(program *model.Program, conf taskplan.Conf, reduces int) ([]*taskplan.Planner, error) {
	c := &x.question.Cluster
	planners := make([]*taskplan.Planner, len(c.Machines))
	for i := range c.Nodes {
		m := c.Nodes[i].Machine
		if m < 0 || m >= len(planners) {
			return nil, fmt.Errorf("node %s has no platform: fidelity %v needs one", c.Nodes[i].Name, x.question.Fidelity)
		}
		if planners[m] != nil {
			continue
		}
		planner, err := c.Machines[m].Planner(program, conf, reduces)
		if err != nil {
			return nil, fmt.Errorf("on %s: %w", c.Machines[m].Name, err)
		}
		planners[m] = planner
	}
	return planners, nil
}

// Profile implements Execution.
func (x *planned) Profile(j *Job) analytic.AriaProfile { return j.plans.profile() }

// split computes the split sizes. If the input is in one piece, all splits but
// the last are a block. If blocks do not fit the number of splits, all are
// equal.
func (p *plans) split() error {
	m := &p.spec.Maps
	block, err := p.spec.Conf.Size("dfs.block.size")
	if err != nil {
		return err
	}
	p.block = float64(block)
	if m.Splits != nil {
		p.classes = make([]int32, m.Count)
		for i, s := range m.Splits {
			c := slices.Index(p.sizes, float64(s.Bytes))
			if c < 0 {
				c = len(p.sizes)
				p.sizes = append(p.sizes, float64(s.Bytes))
			}
			p.classes[i] = int32(c)
		}
		return nil
	}
	if n := int64(m.Count); n == 0 || m.InputBytes > n*block || m.InputBytes <= (n-1)*block {
		p.sizes = []float64{float64(m.InputBytes) / float64(max(1, n))}
	} else {
		p.sizes = []float64{float64(block), float64(m.InputBytes - (n-1)*block)}
	}
	return nil
}

// class returns the index in sizes of the size of a map's split.
func (p *plans) class(index int32) int {
	switch {
	case p.classes != nil:
		return int(p.classes[index])
	case int(index) == p.spec.Maps.Count-1:
		return len(p.sizes) - 1
	}
	return 0
}

// planMaps plans a map for each machine type and split size.
func (p *plans) planMaps() (err error) {
	p.maps = make([][]*mapPlan, len(p.planners))
	p.outputs = make([]taskplan.Segment, len(p.sizes))
	for m, planner := range p.planners {
		p.maps[m] = make([]*mapPlan, len(p.sizes))
		if planner == nil {
			continue
		}
		for c, size := range p.sizes {
			if p.maps[m][c], err = newMapPlan(&p.machines[m], planner, size); err != nil {
				return err
			}
			p.outputs[c] = p.maps[m][c].Output
		}
	}
	return nil
}

func newMapPlan(on *model.Machine, p *taskplan.Planner, split float64) (*mapPlan, error) {
	flow := p.MapFlow(split)
	plan, err := p.Map(flow)
	m := &mapPlan{plan, p.Cost, on.MapTimes(p, flow, &plan), make([]float64, len(plan.Steps)+1)}
	for i := len(plan.Steps) - 1; i >= 0; i-- {
		if plan.Steps[i].Joined {
			continue
		}
		together := plan.Steps.Together(i)
		m.input[i] = m.input[i+len(together)]
		if together[0].Phase < workload.PhaseSpill {
			m.input[i] += together.Serial(p.Cost) / 1e9
		}
	}
	return m, err
}

// share returns the part of the map output that goes to a reduce.
func (p *plans) share(index int32) float64 {
	if s := p.spec.Reduces.Shares; s != nil {
		return s[index]
	}
	return 1 / float64(p.spec.Reduces.Count)
}

// segment returns the part of a map's output that a reduce fetches.
func (p *plans) segment(index int32, share float64) taskplan.Segment {
	return p.outputs[p.class(index)].Part(share)
}

// mapOn returns the plan of a map on a type of machine.
func (p *plans) mapOn(machine int, index int32) *mapPlan { return p.maps[machine][p.class(index)] }

// reduceOn returns the plan of a reduce on a type of machine without
// contention.
func (p *plans) reduceOn(machine int, index int32) *reducePlan {
	at, share := machine, p.share(index)
	if shares := p.spec.Reduces.Shares; shares != nil {
		at = machine*len(shares) + slices.Index(shares, share)
	}
	if p.reduces[at] == nil {
		segments := make([]taskplan.Segment, p.spec.Maps.Count)
		for i := range segments {
			segments[i] = p.segment(int32(i), share)
		}
		planner := p.planners[machine]
		plan := planner.Reduce(segments)
		p.reduces[at] = &reducePlan{plan, p.machines[machine].ReduceTimes(planner, &plan)}
	}
	return p.reduces[at]
}

// profile returns the job's profile from the plans for the first machine type,
// with equal reduces.
func (p *plans) profile() analytic.AriaProfile {
	machine := slices.IndexFunc(p.planners, func(p *taskplan.Planner) bool { return p != nil })
	a := analytic.AriaProfile{Maps: p.spec.Maps.Count, Reduces: p.spec.Reduces.Count}
	for i := range a.Maps {
		t := total(p.mapOn(machine, int32(i)).alone[:]...).Seconds()
		a.MapAvg += t / float64(a.Maps)
		a.MapMax = max(a.MapMax, t)
	}
	if a.Reduces == 0 {
		return a
	}
	t := &p.reduceOn(machine, 0).alone
	a.ShuffleAvg = (t[workload.PhaseShuffle] + t[workload.PhaseMerge]).Seconds()
	a.ReduceAvg = (t[workload.PhaseReduce] + t[workload.PhaseWrite]).Seconds()
	a.FirstShuffleAvg = a.ShuffleAvg
	a.ShuffleMax, a.FirstShuffleMax, a.ReduceMax = a.ShuffleAvg, a.ShuffleAvg, a.ReduceAvg
	return a
}
