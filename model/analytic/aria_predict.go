package analytic

import (
	"fmt"
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

var ariaModel = Model{
	Name: "aria", About: "ARIA: makespan bounds from average and longest tasks",
	Accounts: []Cause{Protocol, Overlap},
	Error:    [2]float64{0.78, 1.38},
	New:      withoutInputs(ariaPredictor{}),
}

// ariaPredictor bounds each job by ARIA. It bounds several jobs by the makespan
// theorem: from below by each job alone and by the work of all maps, from above by
// all tasks in one pool after the last submission. Under fifo a job waits only for
// the jobs before it.
type ariaPredictor struct{}

func (ariaPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	g, err := capacityOf(&q)
	if err != nil {
		return model.Prediction{}, err
	}
	p := model.Prediction{Model: "aria", Warnings: g.warnings}
	fifo := q.Scheduler.Name == "" || q.Scheduler.Name == "fifo"
	if len(q.Jobs) > 1 && !fifo {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the model assumes no order of jobs under %s: any job may end last", q.Scheduler.Name))
	}
	var all, pool, slow AriaProfile // tasks of the workload, and of the jobs that may overlap, on the fastest and the slowest nodes
	var began, end float64          // of the jobs that may overlap: first submission, latest end
	first := 0                      // job that may overlap
	spread := func(until int) {
		if fifo {
			return
		}
		for i := first; i < until; i++ {
			o := &p.Jobs[i]
			o.High = workload.Seconds(end) - o.Submit
			o.Finish = o.Submit + (o.Low+o.High)/2
		}
	}
	for i := range q.Jobs {
		j := &q.Jobs[i]
		submit := j.Submit.Seconds()
		own, tasks, err := g.ariaProfile(&q, j)
		if err != nil {
			return model.Prediction{}, err
		}
		if len(q.Jobs) > 1 && q.Fidelity > model.Profile && j.Program != "" { // recorded times contain it, and the protocol of a single job
			own = own.started(&q.Cluster.Costs)
		}
		if submit >= end {
			spread(i)
			pool, slow, began, first = AriaProfile{}, AriaProfile{}, submit, i
		}
		near, far := localityFactors(&j.Maps)
		fastest, slowest := own.scaled(g.fastest), own.scaled(g.slowest)
		fastest.MapAvg, fastest.MapMax = fastest.MapAvg*near, fastest.MapMax*near
		slowest.MapAvg, slowest.MapMax = slowest.MapAvg*far, slowest.MapMax*far
		all, pool, slow = all.with(own), pool.with(fastest), slow.with(slowest)

		least, err := fastest.boundsOn(&g)
		if err != nil {
			return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
		}
		most, err := slow.boundsOn(&g)
		if err != nil {
			return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
		}
		together, err := pool.boundsOn(&g)
		if err != nil {
			return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
		}
		var extra protocolTimes
		if len(q.Jobs) == 1 { // other jobs use the time between the tasks of a job
			if extra, err = g.protocol(&q, j, tasks, taskSpread{}); err != nil {
				return model.Prediction{}, err
			}
		}
		most.Up += extra.end
		least.Low += extra.end
		end = submit + most.Up
		o := g.outcome(j, &own, jobTimes{(least.MapLow+most.MapUp)/2 + extra.mapEnd, least.Low, (least.Low + most.Up) / 2, most.Up})
		p.Jobs = append(p.Jobs, o)
		p.Low = max(p.Low, o.Submit+o.Low, workload.Seconds(began+together.MapLow))
		p.High = workload.Seconds(end)
	}
	spread(len(q.Jobs))
	p.Mean = (p.Low + p.High) / 2
	p.Phases = all.phases()
	return p, nil
}

// boundsOn bounds the profile on the cluster's slots.
func (p AriaProfile) boundsOn(g *capacity) (AriaBounds, error) {
	if p.Maps == 0 {
		p.Maps = 1 // a map of 0 s
	}
	return p.Bounds(max(1, g.maps), max(1, g.reduces), true)
}

// with returns the profile of the tasks of both jobs together.
func (p AriaProfile) with(o AriaProfile) AriaProfile {
	merge := func(n, m int, avg, longest *float64, a, l float64) {
		if m > 0 {
			*avg = (float64(*avg*float64(n)) + float64(a*float64(m))) / float64(n+m)
			*longest = math.Max(*longest, l)
		}
	}
	merge(p.Maps, o.Maps, &p.MapAvg, &p.MapMax, o.MapAvg, o.MapMax)
	n, m := p.Reduces, o.Reduces
	merge(n, m, &p.FirstShuffleAvg, &p.FirstShuffleMax, o.FirstShuffleAvg, o.FirstShuffleMax)
	merge(n, m, &p.ShuffleAvg, &p.ShuffleMax, o.ShuffleAvg, o.ShuffleMax)
	merge(n, m, &p.ReduceAvg, &p.ReduceMax, o.ReduceAvg, o.ReduceMax)
	p.Maps, p.Reduces = p.Maps+o.Maps, n+m
	return p
}

type makespanQuestion struct {
	Durations []float64 `json:"durations" unit:"any one"`
	Slots     int       `json:"slots"`
}

func (q makespanQuestion) answer() (Bounds, error) { return Makespan(q.Durations, q.Slots) }

type boundsQuestion struct {
	Profile     AriaProfile `json:"profile"`
	MapSlots    int         `json:"S_M"`
	ReduceSlots int         `json:"S_R"`
	Guarded     bool        `json:"guarded,omitempty"`
}

func unknownBoundsQuestion() boundsQuestion { return unknown(boundsQuestion{Guarded: true}) }

func (q boundsQuestion) answer() (AriaBounds, error) {
	return q.Profile.Bounds(q.MapSlots, q.ReduceSlots, q.Guarded)
}

type invertQuestion struct {
	Profile  AriaProfile `json:"profile"`
	Deadline float64     `json:"deadline" unit:"s"`
	Bound    string      `json:"bound"`
}

func (q invertQuestion) answer() (AriaSlots, error) { return q.Profile.Invert(q.Deadline, q.Bound) }

type curveQuestion struct {
	invertQuestion
	MapSlots    int `json:"S_M"`
	ReduceSlots int `json:"S_R"`
}

type curveAnswer struct {
	Pairs [][2]int `json:"pairs"`
}

func (q curveQuestion) answer() (curveAnswer, error) {
	pairs, err := q.Profile.curve(q.Deadline, q.Bound, q.MapSlots, q.ReduceSlots)
	return curveAnswer{pairs}, err
}
