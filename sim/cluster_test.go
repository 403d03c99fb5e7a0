package sim_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// table keeps every attempt of a run.
type table []workload.Attempt

func (t *table) Attempt(a *workload.Attempt) { *t = append(*t, *a) }

// observer is called with every attempt of a run.
type observer func(*workload.Attempt)

func (o observer) Attempt(a *workload.Attempt) { o(a) }

// of lists the attempts of a kind, in the order in which they ended.
func (t table) of(k workload.Kind) table {
	var some table
	for _, a := range t {
		if a.Kind == k {
			some = append(some, a)
		}
	}
	return some
}

// find is one attempt of one task.
func (t table) find(tb testing.TB, job string, k workload.Kind, task, number int) workload.Attempt {
	tb.Helper()
	for _, a := range t {
		if a.Job == job && a.Kind == k && a.Task == task && a.Number == number {
			return a
		}
	}
	tb.Fatalf("no attempt %d of %v %d of job %s", number, k, task, job)
	return workload.Attempt{}
}

func tryRun(q model.WhatIf) (model.Prediction, table, error) {
	var rows table
	p, err := sim.Simulator{Recorder: &rows}.Predict(q)
	return p, rows, err
}

func mustRun(tb testing.TB, q model.WhatIf) (model.Prediction, table) {
	tb.Helper()
	p, rows, err := tryRun(q)
	if err != nil {
		tb.Fatal(err)
	}
	return p, rows
}

// alike are n nodes with these slots each.
func alike(n, mapSlots, reduceSlots int) []model.Node {
	nodes := make([]model.Node, n)
	for i := range nodes {
		nodes[i] = model.Node{Name: fmt.Sprintf("n%d", i), MapSlots: mapSlots, ReduceSlots: reduceSlots, Slowness: 1}
	}
	return nodes
}

func idealCluster(nodes []model.Node) model.Cluster {
	return model.Cluster{Hadoop: "ideal", Nodes: nodes, Racks: []string{"r"}}
}

// dealt spreads slots over up to as many nodes at random.
func dealt(rng *rand.Rand, mapSlots, reduceSlots int) []model.Node {
	nodes := alike(1+rng.IntN(max(mapSlots, reduceSlots)), 0, 0)
	for range mapSlots {
		nodes[rng.IntN(len(nodes))].MapSlots++
	}
	for range reduceSlots {
		nodes[rng.IntN(len(nodes))].ReduceSlots++
	}
	return nodes
}

func confOf(pairs ...string) workload.Conf {
	var c workload.Conf
	for i := 0; i < len(pairs); i += 2 {
		c.Set(pairs[i], pairs[i+1])
	}
	return c
}

func all(d time.Duration) workload.Durations { return workload.Durations{All: d} }

func each(d ...time.Duration) workload.Durations { return workload.Durations{Each: d} }

// sec turns seconds into time; the tests' figures are exact in milliseconds.
func sec(s float64) time.Duration { return workload.Seconds(s) }

func mapsOnly(id string, times ...time.Duration) workload.Job {
	return workload.Job{ID: id, Maps: workload.MapTasks{Count: len(times), Time: each(times...)}}
}

// step is a change of something at an instant.
type step struct {
	at time.Duration
	by int
}

// walk follows a sum of steps, all those of one instant together.
func walk(steps []step, visit func(from, to time.Duration, level int) error) error {
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	level := 0
	for i, s := range steps {
		level += s.by
		if i+1 < len(steps) && steps[i+1].at > s.at {
			if err := visit(s.at, steps[i+1].at, level); err != nil {
				return err
			}
		}
	}
	return nil
}
