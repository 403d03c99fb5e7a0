package sim_test

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// different tells where two runs differ first.
func different(aOut, bOut model.Prediction, a, b table) error {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Errorf("attempt %d: %+v, and %+v", i, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Errorf("%d attempts, and %d", len(a), len(b))
	}
	if !reflect.DeepEqual(aOut, bOut) {
		return fmt.Errorf("predictions %+v, and %+v", aOut, bOut)
	}
	return nil
}

// Heartbeats that are not simulated leave no trace: the same attempts end in the
// same order as when every one is.
func TestLazyHeartbeats(t *testing.T) {
	check(t, 700, 10_000, func(t *rapid.T) {
		w := drawWorld(t)
		if w.instant || w.wide { // known gap: wide tasks do show what was not simulated
			return
		}
		lazy := w.run(t)
		w.Cluster.EveryHeartbeat = true
		every := w.run(t)
		if err := different(lazy.Prediction, every.Prediction, lazy.rows, every.rows); err != nil {
			t.Fatalf("%s, %s, lazy and every: %v", w.Cluster.Hadoop, w.Scheduler.Name, err)
		}
	})
}

// A task that runs once has no record of its own, and no attempt while its map is
// calm. The same attempts end in the same order if each task has one, because every
// job is to be killed after years.
func TestTasksThatRunOnce(t *testing.T) {
	check(t, 500, 10_000, func(t *rapid.T) {
		w := drawWorld(t)
		once := w.run(t)
		for i := range w.Jobs {
			w.Jobs[i].Ends.After = cmp.Or(w.Jobs[i].Ends.After, 100*365*24*time.Hour)
		}
		recorded := w.run(t)
		if err := different(once.Prediction, recorded.Prediction, once.rows, recorded.rows); err != nil {
			t.Fatalf("%s, %s, without and with records: %v", w.Cluster.Hadoop, w.Scheduler.Name, err)
		}
	})
}

// figures are those of the jobs that a scheduler asks.
type figures []model.Asked

func (f *figures) Offer(o *model.Offer) { *f = append(*f, o.Asked...) }

// Fair 1.0 counts lagging tasks even if none is to be speculated. The demands and
// deficits of jobs depend on the count, so they are the same only if tasks with and
// without records report the same progress. Jobs last longer than the minute before
// which no task lags.
func TestLaggingTasksThatRunOnce(t *testing.T) {
	check(t, 400, 5000, func(t *rapid.T) {
		w := drawWorld(t)
		if w.nodesDie || w.failing || w.Cluster.Hadoop == "ideal" {
			return // attempts may fail
		}
		w.Scheduler = model.Scheduler{Name: "fair1"}
		w.Scheduler.Conf.Set("mapred.fairscheduler.sizebasedweight", "true")
		for i := range w.Jobs {
			j := &w.Jobs[i]
			alone(j)
			j.NoSetupCleanup = false
			if j.Maps.Count == 0 {
				j.Reduces.Count = 0 // without maps it never gets reduces
			}
			for _, d := range []*workload.Durations{&j.Maps.Time, &j.Reduces.Time} {
				longer := func(t *time.Duration) { *t = min(10**t, 200*time.Second) }
				longer(&d.All)
				for i := range d.Each {
					longer(&d.Each[i])
				}
			}
		}
		var once, recorded figures
		for _, asked := range []*figures{&once, &recorded} {
			if _, err := (sim.Simulator{Tracer: asked, Limit: longRun}).Predict(w.WhatIf); err != nil {
				t.Fatal(err)
			}
			for i := range w.Jobs {
				w.Jobs[i].Ends.After = 100 * 365 * 24 * time.Hour
			}
		}
		if !slices.Equal(once, recorded) {
			t.Fatalf("%s: jobs without and with records of tasks have other figures when asked:\n%+v\n%+v", w.Cluster.Hadoop, once, recorded)
		}
	})
}

// Where no attempt can fail, bounds of progress tell how many tasks lag. If an end is
// recorded, here a success, attempts may fail, and each task is looked at: the attempts
// are the same.
func TestBoundsOfProgress(t *testing.T) {
	check(t, 500, 10_000, func(t *rapid.T) {
		w := drawWorld(t)
		bounds := w.run(t)
		for i := range w.Jobs {
			if j := &w.Jobs[i]; j.Maps.Count > 0 && j.Maps.Ends == nil {
				j.Maps.Ends = map[int][]workload.AttemptEnd{0: {{State: workload.Succeeded}}}
			}
		}
		looks := w.run(t)
		if err := different(bounds.Prediction, looks.Prediction, bounds.rows, looks.rows); err != nil {
			t.Fatalf("%s, %s, with bounds and with looks: %v", w.Cluster.Hadoop, w.Scheduler.Name, err)
		}
	})
}

// The same question has the same answer, on one processor and on two.
func TestDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	check(t, 300, 3000, func(t *rapid.T) {
		w := drawWorld(t)
		runtime.GOMAXPROCS(1)
		one := w.run(t)
		runtime.GOMAXPROCS(2)
		two := w.run(t)
		if err := different(one.Prediction, two.Prediction, one.rows, two.rows); err != nil {
			t.Fatal(err)
		}
	})
}

// The seed matters where something is drawn, and nowhere else.
func TestSeeds(t *testing.T) {
	times, err := workload.NewDist("uniform", workload.DistParams{Min: 1, Max: 9})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		random bool
		change func(*model.WhatIf)
	}{
		{"all given", false, func(*model.WhatIf) {}},
		{"map times drawn", true, func(q *model.WhatIf) { q.Jobs[0].Maps.Time = workload.Durations{Dist: times} }},
		{"reduce times drawn", true, func(q *model.WhatIf) { q.Jobs[0].Reduces.Time = workload.Durations{Dist: times} }},
		{"heartbeat phases drawn", true, func(q *model.WhatIf) { q.Cluster.Phases = nil }},
		{"splits placed", true, func(q *model.WhatIf) { q.Cluster.Replication, q.Jobs[0].Maps.Splits = 2, nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := model.WhatIf{
				Seed: 1,
				Cluster: model.Cluster{
					Hadoop: "1.0.4", Nodes: alike(4, 2, 1), Racks: []string{"r"},
					Phases: []time.Duration{0, sec(0.7), sec(1.4), sec(2.1)},
				},
				Scheduler: model.Scheduler{Name: "fifo"},
				Jobs: []workload.Job{{
					ID:      "j",
					Maps:    workload.MapTasks{Count: 20, Time: all(sec(5)), Splits: make([]workload.Split, 20)},
					Reduces: workload.ReduceTasks{Count: 3, Time: all(sec(2))},
				}},
			}
			for i := range q.Jobs[0].Maps.Splits {
				q.Jobs[0].Maps.Splits[i].Hosts = []string{q.Cluster.Nodes[i%4].Name}
			}
			c.change(&q)
			p1, rows1 := mustRun(t, q)
			q.Seed = 2
			p2, rows2 := mustRun(t, q)
			if err := different(p1, p2, rows1, rows2); (err != nil) != c.random {
				t.Errorf("random: %v, difference: %v", c.random, err)
			}
		})
	}
}
