package analytic

import (
	"fmt"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// capacity describes the cluster to a model without nodes: all slots, and the
// range of the nodes' speeds.
type capacity struct {
	maps, reduces    int
	fastest, slowest float64 // smallest and largest factor on task times
	warnings         []string
}

// capacityOf returns the capacity of a question's cluster, or an error if a model
// of slots cannot answer the question.
func capacityOf(q *model.WhatIf) (capacity, error) {
	g := capacity{fastest: math.Inf(1)}
	failing := false
	for i := range q.Cluster.Nodes {
		n := &q.Cluster.Nodes[i]
		g.maps, g.reduces = g.maps+n.MapSlots, g.reduces+n.ReduceSlots
		slowness := n.Slowness
		if slowness == 0 {
			slowness = 1
		}
		g.fastest, g.slowest = math.Min(g.fastest, slowness), math.Max(g.slowest, slowness)
		failing = failing || n.Dies > 0 || n.FailAfter > 0
	}
	needMaps, needReduces := false, false
	for i := range q.Jobs {
		j := &q.Jobs[i]
		needMaps, needReduces = needMaps || j.Maps.Count > 0, needReduces || j.Reduces.Count > 0
		failing = failing || slices.ContainsFunc(j.AttemptEnds(), func(e workload.AttemptEnd) bool { return e.State == workload.Failed })
	}
	switch {
	case len(q.Jobs) == 0:
		return g, model.NotApplicable("no jobs")
	case q.Cluster.SharedSlots:
		return g, model.NotApplicable("does not model slots shared by maps and reduces")
	case q.Until > 0:
		return g, model.NotApplicable("the scenario stops the run before its jobs end")
	case needMaps && g.maps == 0:
		return g, model.NotApplicable("the cluster has no map slots")
	case needReduces && g.reduces == 0:
		return g, model.NotApplicable("the cluster has no reduce slots")
	}
	if failing {
		g.warnings = append(g.warnings, "the model has no failing attempts or nodes")
	}
	return g, nil
}

// oneJob returns the only job of a question, for models of one job.
func oneJob(q *model.WhatIf) (*workload.Job, capacity, error) {
	if q.YARN != nil {
		return nil, capacity{}, model.NotApplicable("answers for slots; this cluster runs YARN")
	}
	g, err := capacityOf(q)
	switch {
	case err != nil:
		return nil, g, err
	case len(q.Jobs) > 1:
		return nil, g, model.NotApplicable("answers for a single job; this scenario has %d", len(q.Jobs))
	case q.Jobs[0].Maps.Count == 0:
		return nil, g, model.NotApplicable("the job has no maps")
	}
	return &q.Jobs[0], g, nil
}

// jobTimes are seconds from the submission of a job.
type jobTimes struct{ mapEnd, low, mean, high float64 }

// outcome returns the outcome of a job with the given times and task profile.
func (g *capacity) outcome(j *workload.Job, p *AriaProfile, t jobTimes) model.JobOutcome {
	const never = -1
	o := model.JobOutcome{
		ID: j.ID, Name: j.Name, User: j.User, Pool: j.Pool, Queue: j.Queue,
		Submit: j.Submit, Deadline: j.Deadline, Launch: never, Running: never, FirstMap: never, LastMap: never, ShuffleEnd: never,
		Finish: j.Submit + workload.Seconds(t.mean), Low: workload.Seconds(t.low), High: workload.Seconds(t.high),
		Maps: j.Maps.Count, Reduces: j.Reduces.Count,
		InBytes: j.Maps.InputBytes, ShuffleBytes: j.Reduces.ShuffleData, OutBytes: j.Reduces.OutputBytes,
	}
	if j.Maps.Count > 0 {
		o.FirstMap, o.LastMap = j.Submit, j.Submit+workload.Seconds(t.mapEnd)
		o.MapWaves = (j.Maps.Count + g.maps - 1) / g.maps
		o.MapTime = workload.Seconds(p.MapAvg * float64(j.Maps.Count))
	}
	if j.Reduces.Count > 0 {
		o.ReduceWaves = (j.Reduces.Count + g.reduces - 1) / g.reduces
		o.ReduceTime = workload.Seconds((p.ShuffleAvg + p.ReduceAvg) * float64(j.Reduces.Count))
	}
	return o
}

// phaseTime returns a phase with its mean time of s seconds.
func phaseTime(k workload.Kind, ph workload.Phase, s float64) model.PhaseTime {
	return model.PhaseTime{Kind: k, Phase: ph, Time: workload.Seconds(s)}
}

// phases returns the mean times of the phases that the profile has.
func (p *AriaProfile) phases() []model.PhaseTime {
	var list []model.PhaseTime
	if p.Maps > 0 {
		list = append(list, phaseTime(workload.Map, workload.PhaseMap, p.MapAvg))
	}
	if p.Reduces > 0 {
		list = append(list,
			phaseTime(workload.Reduce, workload.PhaseShuffle, p.ShuffleAvg),
			phaseTime(workload.Reduce, workload.PhaseReduce, p.ReduceAvg))
	}
	return list
}

// prediction returns the prediction of one job from its outcome.
func (g *capacity) prediction(name string, o model.JobOutcome, phases []model.PhaseTime) model.Prediction {
	return model.Prediction{
		Model: name, Jobs: []model.JobOutcome{o}, Phases: phases, Warnings: g.warnings,
		Low: o.Submit + o.Low, Mean: o.Finish, High: o.Submit + o.High,
	}
}

// mapOutputBytes returns the bytes of a job's map output, all maps together: the
// stated ones, or those that follow from its program.
func mapOutputBytes(q *model.WhatIf, j *workload.Job) (float64, error) {
	if j.Reduces.Count == 0 || j.Reduces.ShuffleData > 0 {
		return float64(j.Reduces.ShuffleData), nil
	}
	if j.Program == "" || j.Maps.InputBytes == 0 {
		return 0, model.NotApplicable("%s: the bytes of its shuffle are not given", j.ID)
	}
	p, err := plannerOf(q, j)
	if err != nil {
		return 0, err
	}
	m, err := p.Map(p.MapFlow(float64(j.Maps.InputBytes) / float64(j.Maps.Count)))
	return m.Output.Stored * float64(j.Maps.Count), err
}

// plannerOf returns the planner of a job's program on a cluster of one machine
// type.
func plannerOf(q *model.WhatIf, j *workload.Job) (*taskplan.Planner, error) {
	program, machine, err := programOf(q, j)
	if err != nil {
		return nil, err
	}
	c, err := taskplan.ReadConf(j.Conf)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.ID, err)
	}
	p, err := machine.Planner(program, c, j.Reduces.Count)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.ID, err)
	}
	return p, nil
}

// programOf returns the program of a job and the one machine type of the cluster.
func programOf(q *model.WhatIf, j *workload.Job) (*model.Program, *model.Machine, error) {
	program := q.Program(j)
	if program == nil || len(q.Cluster.Nodes) == 0 {
		return nil, nil, model.NotApplicable("needs data and cost statistics of the job")
	}
	machine := q.Cluster.Nodes[0].Machine
	for n := range q.Cluster.Nodes {
		if q.Cluster.Nodes[n].Machine != machine {
			return nil, nil, model.NotApplicable("nodes are of several types")
		}
	}
	if machine < 0 || machine >= len(q.Cluster.Machines) {
		return nil, nil, model.NotApplicable("needs a platform for the nodes")
	}
	return program, &q.Cluster.Machines[machine], nil
}
