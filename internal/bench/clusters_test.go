package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// clusters are whole clusters with given task times.
func clusters() []benchmark {
	list := []benchmark{
		simulated("cluster", "1,545 nodes, 11,829 tasks (as Mumak)", mumak),
		simulated("cluster", "10,000 nodes, 102,000 tasks", wide),
	}
	part := []string{"workload.jobs=2000"}
	name := "fb2010, 2,000 jobs, "
	if !testing.Short() {
		part, name = nil, "fb2010, "
	}
	for _, policy := range []string{"fifo", "fair1", "fair2", "capacity"} {
		list = append(list, simulated("cluster", name+policy, func() (model.WhatIf, error) {
			return shipped("fb2010", append(part[:len(part):len(part)], "scheduler.name="+policy)...)
		}))
	}
	for _, tasks := range []int{1e4, 1e5, 1e6} {
		b := simulated("tasks", "1,000 nodes", func() (model.WhatIf, error) { return waves(tasks) })
		b.size = tasks
		list = append(list, b)
	}
	return list
}

// shipped returns the question of a shipped scenario, with settings.
func shipped(name string, set ...string) (model.WhatIf, error) {
	f, err := scenarios.Open(name, set...)
	if err != nil {
		return model.WhatIf{}, err
	}
	s, err := f.Scenario(1)
	if err != nil {
		return model.WhatIf{}, err
	}
	return s.Runs[0].Question, nil
}

// simulated is the simulation of a question, by task.
func simulated(group, name string, make func() (model.WhatIf, error)) benchmark {
	return benchmark{group: group, name: name, unit: "task", prepare: func(testing.TB) (func() (int64, error), error) {
		q, err := make()
		return func() (int64, error) {
			_, err := (sim.Simulator{}).Predict(q)
			return int64(q.Tasks()), err
		}, err
	}}
}

// nodes makes a cluster of equal nodes, twenty to a rack.
func nodes(n, maps, reduces int) model.Cluster {
	c := model.Cluster{
		Hadoop: "1.0.4", Nodes: make([]model.Node, n), Replication: 3,
		Costs: model.Costs{Launch: time.Second, Setup: time.Second, Cleanup: time.Second, TaskCleanup: time.Second},
	}
	const rack = 20
	for i := range c.Nodes {
		c.Nodes[i] = model.Node{Name: fmt.Sprintf("n%05d", i), Rack: i / rack, MapSlots: maps, ReduceSlots: reduces, Slowness: 1}
	}
	for i := range (n + rack - 1) / rack {
		c.Racks = append(c.Racks, fmt.Sprintf("r%d", i))
	}
	return c
}

func question(c model.Cluster) model.WhatIf {
	return model.WhatIf{Cluster: c, Scheduler: model.Scheduler{Name: "fifo"}, Seed: 1}
}

// times returns a lognormal distribution of seconds.
func times(mean, sd float64) (workload.Durations, error) {
	d, err := workload.NewDist("lognormal", workload.DistParams{Mean: mean, SD: sd})
	return workload.Durations{Dist: d}, err
}

// load adds a job whose maps take mapMean seconds.
func load(q *model.WhatIf, submit time.Duration, maps, reduces int, mapMean float64) error {
	j := workload.Job{ID: fmt.Sprintf("job%d", len(q.Jobs)), Submit: submit}
	j.Maps.Count, j.Reduces.Count = maps, reduces
	var err error
	for _, part := range []struct {
		to       *workload.Durations
		mean, sd float64
	}{{&j.Maps.Time, mapMean, mapMean / 3}, {&j.Reduces.Shuffle, 20, 5}, {&j.Reduces.Sort, 2, 1}, {&j.Reduces.Time, 60, 20}} {
		if *part.to, err = times(part.mean, part.sd); err != nil {
			return err
		}
	}
	q.Jobs = append(q.Jobs, j)
	return nil
}

// mumak is of the size of the trace that comes with Mumak, the simulator of
// Hadoop: 19 jobs of unequal sizes.
func mumak() (model.WhatIf, error) {
	q, rng := question(nodes(1545, 2, 2)), rand.New(rand.NewPCG(1, 2))
	maps, reduces := 8573, 3256
	share := func(left *int, parts int) int {
		n := *left
		if parts > 1 {
			n = int(float64(*left) / float64(parts) * 2 * rng.Float64())
		}
		*left -= n
		return n
	}
	for i := range 19 {
		if err := load(&q, time.Duration(i)*400*time.Second, share(&maps, 19-i), share(&reduces, 19-i), 40); err != nil {
			return q, err
		}
	}
	return q, nil
}

// wide fills ten thousand nodes two and a half times with a few jobs.
func wide() (model.WhatIf, error) {
	q := question(nodes(10_000, 2, 2))
	for i := range 20 {
		if err := load(&q, time.Duration(i)*time.Minute, 5000, 100, 60); err != nil {
			return q, err
		}
	}
	return q, nil
}

// waves keeps a thousand nodes busy, the longer the more tasks there are.
func waves(tasks int) (model.WhatIf, error) {
	q := question(nodes(1000, 4, 2))
	const jobs = 20
	for i := range jobs {
		if err := load(&q, time.Duration(i)*time.Minute, tasks/jobs*9/10, tasks/jobs/10, 30); err != nil {
			return q, err
		}
	}
	return q, nil
}
