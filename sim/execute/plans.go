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

// mapInput is what the data of a map follow from.
type mapInput struct {
	bytes float64           // of the split
	share workload.MapShare // zero: in proportion to the bytes
}

// plans are the plans of a job's tasks. Each is made once for a machine type
// and an input.
type plans struct {
	spec     *workload.Job
	conf     taskplan.Conf
	block    float64 // bytes read from HDFS
	machines []model.Machine
	planners []*taskplan.Planner // by machine; nil for a machine that no node has
	inputs   []mapInput          // distinct inputs of maps
	classes  []int32             // index in inputs by map; nil: the last map has the last input, all others the first
	maps     [][]*mapPlan        // by machine and input
	outputs  []taskplan.Segment  // by input: output of a map for all reduces together
	reduces  []*reducePlan       // by machine and reduce; equal shares use the first
	paces    [2]*workload.Dist   // of maps and of reduces: factor on the time of cores; nil: 1
	seed     workload.Seed       // of the paces
}

// mapPlan is the plan of a map on a type of machine.
type mapPlan struct {
	taskplan.MapPlan
	cost  taskplan.Cost
	alone [workload.NumPhases]time.Duration // without contention
	input []float64                         // by step: seconds to map the input from that step on, without contention
	sort  []float64                         // likewise to merge spills, which is a third of the progress on YARN; nil: it is none
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
	conf, err := x.conf(spec.Conf)
	if err != nil {
		return nil, err
	}
	p := &plans{spec: spec, conf: conf, machines: x.question.Cluster.Machines, seed: x.question.Draws(model.DrawPace).For(id)}
	if err := p.vary(program); err != nil {
		return nil, err
	}
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

// conf reads the configuration of a job's tasks.
func (x *planned) conf(of workload.Conf) (taskplan.Conf, error) {
	r, err := model.FindRelease(x.question.Cluster.Hadoop)
	if err != nil {
		return taskplan.Conf{}, err
	}
	return r.TaskConf(of)
}

// perConnection is the most outputs that a fetcher takes from one host at a time
// (ShuffleSchedulerImpl.MAX_MAPS_AT_ONCE).
func (p *plans) perConnection() int {
	if p.conf.MRv2 {
		return 20
	}
	return 1
}

// vary makes the distributions of the paces.
func (p *plans) vary(program *model.Program) (err error) {
	for kind, cv := range program.CV {
		if cv > 0 && err == nil {
			p.paces[kind], err = workload.NewDist("lognormal", workload.DistParams{Mean: 1, SD: cv})
		}
	}
	return err
}

// plannerFor returns the planner of an attempt.
func (p *plans) plannerFor(machine int, a *Attempt) *taskplan.Planner {
	paces := p.paces[a.Kind]
	if paces == nil {
		return p.planners[machine]
	}
	return p.planners[machine].Paced(paces.Draw(p.seed.For(int(a.Kind)).Stream(int(a.Task), int(a.Number))))
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

// split finds the inputs of the maps. If the input is in one piece, all splits but
// the last are a block. If blocks do not fit the number of splits, all are
// equal.
func (p *plans) split() error {
	m := &p.spec.Maps
	block, err := p.spec.Conf.Size("dfs.block.size")
	if err != nil {
		return err
	}
	p.block = float64(block)
	if m.Splits != nil || m.Shares != nil {
		p.classes = make([]int32, m.Count)
		known := map[mapInput]int32{}
		for i := range m.Count {
			var in mapInput
			if m.Shares != nil {
				in.share = m.Shares[i]
			}
			if in.bytes = in.share.Input * float64(m.InputBytes); m.Splits != nil {
				in.bytes = float64(m.Splits[i].Bytes)
			}
			c, ok := known[in]
			if !ok {
				c = int32(len(p.inputs))
				known[in] = c
				p.inputs = append(p.inputs, in)
			}
			p.classes[i] = c
		}
		return nil
	}
	if n := int64(m.Count); n == 0 || m.InputBytes > n*block || m.InputBytes <= (n-1)*block {
		p.inputs = []mapInput{{bytes: float64(m.InputBytes) / float64(max(1, n))}}
	} else {
		p.inputs = []mapInput{{bytes: float64(block)}, {bytes: float64(m.InputBytes - (n-1)*block)}}
	}
	return nil
}

// flow returns the input and output of a map.
func (p *plans) flow(planner *taskplan.Planner, in *mapInput) taskplan.MapFlow {
	f := planner.MapFlow(in.bytes)
	if in.share == (workload.MapShare{}) {
		return f
	}
	all := planner.MapFlow(float64(p.spec.Maps.InputBytes))
	f.InRecords = all.InRecords * in.share.InRecords
	f.OutBytes, f.OutRecords = all.OutBytes*in.share.OutBytes, all.OutRecords*in.share.OutRecords
	return f
}

// class returns the index in inputs of the input of a map.
func (p *plans) class(index int32) int {
	switch {
	case p.classes != nil:
		return int(p.classes[index])
	case int(index) == p.spec.Maps.Count-1:
		return len(p.inputs) - 1
	}
	return 0
}

// planMaps plans a map for each machine type and input.
func (p *plans) planMaps() (err error) {
	p.maps = make([][]*mapPlan, len(p.planners))
	p.outputs = make([]taskplan.Segment, len(p.inputs))
	for m, planner := range p.planners {
		p.maps[m] = make([]*mapPlan, len(p.inputs))
		if planner == nil {
			continue
		}
		for c := range p.inputs {
			if p.maps[m][c], err = newMapPlan(&p.machines[m], planner, p.flow(planner, &p.inputs[c])); err != nil {
				return err
			}
			p.outputs[c] = p.maps[m][c].Output
		}
	}
	return nil
}

func newMapPlan(on *model.Machine, p *taskplan.Planner, flow taskplan.MapFlow) (*mapPlan, error) {
	plan, err := p.Map(flow)
	m := &mapPlan{plan, p.Cost, on.MapTimes(p, flow, &plan), make([]float64, len(plan.Steps)+1), nil}
	if p.Conf.MRv2 && p.Reduces > 0 {
		m.sort = make([]float64, len(plan.Steps)+1)
	}
	for i := len(plan.Steps) - 1; i >= 0; i-- {
		if plan.Steps[i].Joined {
			continue
		}
		together := plan.Steps.Together(i)
		m.input[i] = m.input[i+len(together)]
		if together[0].Phase < workload.PhaseSpill {
			m.input[i] += together.Serial(p.Cost) / 1e9
		}
		if m.sort != nil {
			m.sort[i] = m.sort[i+len(together)]
			if together[0].Phase == workload.PhaseMerge {
				m.sort[i] += together.Serial(p.Cost) / 1e9
			}
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

// mapFor returns the plan of an attempt of a map.
func (p *plans) mapFor(machine int, a *Attempt) *mapPlan {
	if p.paces[workload.Map] == nil {
		return p.mapOn(machine, a.Task)
	}
	planner := p.plannerFor(machine, a)
	plan, err := newMapPlan(&p.machines[machine], planner, p.flow(planner, &p.inputs[p.class(a.Task)]))
	if err != nil {
		panic(err) // the plan for mapOn follows from the same data
	}
	return plan
}

// reduceFor returns the plan of an attempt of a reduce without contention.
func (p *plans) reduceFor(machine int, a *Attempt) *reducePlan {
	if p.paces[workload.Reduce] == nil {
		return p.reduceOn(machine, a.Task)
	}
	return p.planReduce(machine, p.plannerFor(machine, a), p.share(a.Task))
}

// reduceOn returns the plan of a reduce on a type of machine without
// contention.
func (p *plans) reduceOn(machine int, index int32) *reducePlan {
	at, share := machine, p.share(index)
	if shares := p.spec.Reduces.Shares; shares != nil {
		at = machine*len(shares) + slices.Index(shares, share)
	}
	if p.reduces[at] == nil {
		p.reduces[at] = p.planReduce(machine, p.planners[machine], share)
	}
	return p.reduces[at]
}

func (p *plans) planReduce(machine int, planner *taskplan.Planner, share float64) *reducePlan {
	segments := make([]taskplan.Segment, p.spec.Maps.Count)
	for i := range segments {
		segments[i] = p.segment(int32(i), share)
	}
	plan := planner.Reduce(segments)
	return &reducePlan{plan, p.machines[machine].ReduceTimes(planner, &plan)}
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
