package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// growth simulates one question in ever larger sizes.
func growth() (list []benchmark) {
	for _, c := range []struct {
		group, unit string
		sizes       []int
		make        func(policy string, n int) (model.WhatIf, error)
		policies    []string
	}{
		{"jobs", "job", []int{10, 100, 1000, 10_000}, manyJobs, scheduler.Names()},
		{"maps", "map", []int{10_000, 100_000, 1_000_000}, fourJobs, scheduler.Names()},
		{"maps and a dying node", "map", []int{10_000, 100_000, 1_000_000}, dyingNode, scheduler.Names()},
		{"maps and preemption", "map", []int{10_000, 100_000, 1_000_000}, preemption, []string{"fair2"}},
		{"nodes", "node", []int{100, 1000, 10_000, 100_000}, manyNodes, []string{"fifo"}},
		{"nodes in one phase", "node", []int{100, 1000, 10_000, 100_000}, onePhase, []string{"fifo"}},
	} {
		for _, policy := range c.policies {
			for _, n := range c.sizes {
				list = append(list, benchmark{group: c.group, name: policy, unit: c.unit, size: n, prepare: func(testing.TB) (func() (int64, error), error) {
					q, err := c.make(policy, n)
					return func() (int64, error) { return int64(n), answered(q) }, err
				}})
			}
		}
	}
	return list
}

// answered simulates a question, all of whose jobs must succeed.
func answered(q model.WhatIf) error {
	p, err := (sim.Simulator{}).Predict(q)
	for i := range p.Jobs {
		if j := &p.Jobs[i]; err == nil && j.State != workload.Succeeded {
			err = fmt.Errorf("job %s ended as %v: want %v", j.ID, j.State, workload.Succeeded)
		}
	}
	return err
}

// scheduled is a question for a policy. The capacity scheduler would reject a job
// with more tasks than its limits, so these are raised.
func scheduled(c model.Cluster, policy string) model.WhatIf {
	q := question(c)
	q.Scheduler.Name = policy
	if policy == "capacity" {
		for _, limit := range []string{"maximum-active-tasks-per-queue", "maximum-active-tasks-per-user", "init-accept-jobs-factor"} {
			q.Scheduler.Conf.Set("mapred.capacity-scheduler.default-"+limit, "1000000000")
		}
	}
	return q
}

// mapsOnly adds a job of maps without reduces.
func mapsOnly(q *model.WhatIf, submit time.Duration, maps int, mean, sd float64) (*workload.Job, error) {
	j := workload.Job{ID: fmt.Sprintf("job%d", len(q.Jobs)), Submit: submit, Deadline: submit + time.Hour}
	var err error
	j.Maps.Count = maps
	j.Maps.Time, err = times(mean, sd)
	q.Jobs = append(q.Jobs, j)
	return &q.Jobs[len(q.Jobs)-1], err
}

func noSpeculation(j *workload.Job) {
	j.Conf.Set("mapred.map.tasks.speculative.execution", "false")
}

// manyJobs have ten maps each and come ten times as fast as 100 nodes can run
// them.
func manyJobs(policy string, n int) (model.WhatIf, error) {
	q := scheduled(nodes(100, 4, 2), policy)
	for i := range n {
		j, err := mapsOnly(&q, time.Duration(i)*75*time.Millisecond, 10, 30, 5)
		if err != nil {
			return q, err
		}
		j.User = fmt.Sprintf("user%d", i%10)
		noSpeculation(j)
	}
	return q, nil
}

// fourJobs have a quarter of the maps each, which speculate.
func fourJobs(policy string, n int) (model.WhatIf, error) {
	q := scheduled(nodes(1000, 4, 2), policy)
	for i := range 4 {
		j, err := mapsOnly(&q, time.Duration(i)*75*time.Second, n/4, 30, 5)
		if err != nil {
			return q, err
		}
		j.User = fmt.Sprintf("user%d", i)
	}
	return q, nil
}

func dyingNode(policy string, n int) (model.WhatIf, error) {
	q, err := fourJobs(policy, n)
	q.Cluster.Nodes[7].Dies = time.Minute
	return q, err
}

func preemption(policy string, n int) (model.WhatIf, error) {
	q, err := fourJobs(policy, n)
	q.Scheduler.Conf.Set("mapred.fairscheduler.preemption", "true")
	q.Scheduler.Conf.Set("fairSharePreemptionTimeout", "30")
	return q, err
}

// manyNodes run ten maps each, of twenty jobs.
func manyNodes(policy string, n int) (model.WhatIf, error) {
	q := scheduled(nodes(n, 2, 2), policy)
	for i := range 20 {
		j, err := mapsOnly(&q, time.Duration(i)*20*time.Second, n/2, 60, 20)
		if err != nil {
			return q, err
		}
		noSpeculation(j)
	}
	return q, nil
}

func onePhase(policy string, n int) (model.WhatIf, error) {
	q, err := manyNodes(policy, n)
	q.Cluster.Phases = make([]time.Duration, n)
	return q, err
}
