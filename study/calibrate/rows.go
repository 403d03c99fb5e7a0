package calibrate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// jobTimes collects the times of a job's tasks that succeeded.
type jobTimes struct {
	spec                  *workload.Job // nil: a recorded one
	submit, lastMap, last time.Duration
	all                   []workload.Attempt // those that did not succeed too
	maps, merges          []time.Duration
	mapped                []workload.Attempt
	reduces               []workload.Attempt
	cpu                   [2][]time.Duration // of maps, of reduces
}

func (t *jobTimes) add(a *workload.Attempt) {
	t.all = append(t.all, *a)
	if a.State != workload.Succeeded || !workload.Known(a.Start) || !workload.Known(a.Finish) {
		return
	}
	t.last = max(t.last, a.Finish)
	if a.Kind <= workload.Reduce && a.CPUMillis != workload.Unknown {
		t.cpu[a.Kind] = append(t.cpu[a.Kind], time.Duration(a.CPUMillis)*time.Millisecond)
	}
	switch a.Kind {
	case workload.Map:
		t.lastMap = max(t.lastMap, a.Finish)
		t.maps, t.mapped = append(t.maps, a.Finish-a.Start), append(t.mapped, *a)
		if merge := a.Phases[workload.PhaseMerge]; workload.Known(merge) {
			t.merges = append(t.merges, merge)
		}
	case workload.Reduce:
		t.reduces = append(t.reduces, *a)
	}
}

// The rows of a job: mean times of its maps, of their merge, of the shuffle after
// the last map, of the sort and of the rest of reduces, its own time until its
// last task ends, and mean times that maps and reduces computed.
const (
	mapRow       = "map"
	mergeRow     = "merge"
	shuffleRow   = "shuffle"
	sortRow      = "sort"
	reduceRow    = "reduce"
	jobRow       = "job"
	mapCPURow    = "map-cpu"
	reduceCPURow = "reduce-cpu"
)

var runRows = []string{mapRow, mergeRow, shuffleRow, sortRow, reduceRow, mapCPURow, reduceCPURow, jobRow}

// What tasks beside each other cost each other: mean times of the third of the maps with
// the fewest attempts beside them, and of that with the most, and how much maps scatter.
const (
	aloneRow   = "map-alone"
	crowdedRow = "map-crowded"
	scatterRow = "map-scatter"
)

var besideRows = []string{aloneRow, crowdedRow, scatterRow}

// leastMS is added to the times of rows, about the time of a task start.
const leastMS = 100

// usualScatter is the deviation of the logarithms of equal maps for which their data are
// enough. As ms it counts as much as leastMS.
const usualScatter = 0.2

// besideRows adds the rows of what maps cost each other. load returns the mean number of
// attempts on the machine during an attempt.
func (t *jobTimes) besideRows(to *platform.Profile, job string, load func(*workload.Attempt) float64) {
	const least = 3 // maps in a third
	third := len(t.mapped) / 3
	if third < least {
		return
	}
	slices.SortStableFunc(t.mapped, func(a, b workload.Attempt) int { return cmp.Compare(load(&a), load(&b)) })
	var logs []float64
	sums := [3]float64{}
	for i := range t.mapped {
		took := t.mapped[i].Duration().Seconds()
		logs = append(logs, math.Log(max(0.001, took)))
		switch {
		case i < third:
			sums[0] += took
		case i >= len(t.mapped)-third:
			sums[1] += took
		}
	}
	for i, ms := range []float64{1000 * sums[0] / float64(third), 1000 * sums[1] / float64(third), stat.StdDev(logs, nil) / usualScatter * leastMS} {
		to.Add(besideRows[i]+" "+job, platform.PhaseRow{MS: ms})
	}
}

func (t *jobTimes) rows(to *platform.Profile, job string) {
	add := func(row string, times []time.Duration) {
		if len(times) == 0 {
			return
		}
		ms := 0.0
		for _, d := range times {
			ms += 1000 * d.Seconds() / float64(len(times))
		}
		to.Add(row+" "+job, platform.PhaseRow{MS: ms})
	}
	add(mapRow, t.maps)
	add(mapCPURow, t.cpu[workload.Map])
	add(reduceCPURow, t.cpu[workload.Reduce])
	add(mergeRow, t.merges)
	var shuffles, sorts, rests []time.Duration
	for i := range t.reduces {
		a := &t.reduces[i]
		startup := max(0, a.Phases[workload.PhaseStartup])
		shuffle, merge := a.Phases[workload.PhaseShuffle], a.Phases[workload.PhaseMerge]
		if !workload.Known(shuffle) || !workload.Known(merge) {
			continue
		}
		end := a.Start + startup + shuffle
		shuffles = append(shuffles, max(0, end-max(a.Start, t.lastMap)))
		sorts = append(sorts, merge)
		rests = append(rests, a.Finish-end-merge)
	}
	add(shuffleRow, shuffles)
	add(sortRow, sorts)
	add(reduceRow, rests)
	add(jobRow, []time.Duration{t.last - t.submit})
}

// runTimes records the jobs of a simulation.
type runTimes map[string]*jobTimes

// simulatedTimes simulates a question and returns the times of its jobs.
func simulatedTimes(q *model.WhatIf) (runTimes, error) {
	times := runTimes{}
	for i := range q.Jobs {
		times[q.Jobs[i].ID] = &jobTimes{spec: &q.Jobs[i], submit: q.Jobs[i].Submit}
	}
	_, err := sim.Simulator{Recorder: times}.Predict(*q)
	return times, err
}

func (r runTimes) Attempt(a *workload.Attempt) {
	if t := r[a.Job]; t != nil {
		one := launched(t.spec, *a)
		t.add(&one)
	}
}

// launched returns a simulated attempt from its launch on, as a record has it: without
// the recorded time since its assignment, which its start-up contains.
func launched(j *workload.Job, a workload.Attempt) workload.Attempt {
	if a.Number == 0 && a.Kind <= workload.Reduce {
		wait := [...]*workload.Durations{&j.Maps.Localise, &j.Reduces.Localise}[a.Kind].At(a.Task, workload.Stream{})
		a.Start += wait
		a.Phases[workload.PhaseStartup] = max(0, a.Phases[workload.PhaseStartup]-wait)
	}
	return a
}

// rowOf returns the time of a row, or -1 if there is none.
func rowOf(p platform.Profile, row string) float64 {
	i := slices.IndexFunc(p, func(r platform.PhaseRows) bool { return r.Phase == row })
	if i < 0 {
		return -1
	}
	return p[i].Rows[0].MS
}
