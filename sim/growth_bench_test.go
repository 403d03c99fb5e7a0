//go:build unix

package sim_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// few is four jobs with a quarter of the maps each, which speculate.
func few(policy string, maps int) model.WhatIf {
	q := model.WhatIf{Cluster: nodes(1000, 4, 2), Scheduler: model.Scheduler{Name: policy}, Seed: 1}
	for i := range 4 {
		q.Jobs = append(q.Jobs, workload.Job{
			ID: fmt.Sprintf("job%d", i), User: fmt.Sprintf("user%d", i),
			Submit:   time.Duration(i) * 75 * time.Second,
			Deadline: time.Duration(i+1) * time.Hour,
			Maps:     workload.MapTasks{Count: maps / 4, Time: lognormal(30, 5)},
		})
	}
	return q
}

func withDyingNode(policy string, maps int) model.WhatIf {
	q := few(policy, maps)
	q.Cluster.Nodes[7].Dies = time.Minute
	return q
}

func withPreemption(policy string, maps int) model.WhatIf {
	q := few(policy, maps)
	q.Scheduler.Conf.Set("mapred.fairscheduler.preemption", "true")
	q.Scheduler.Conf.Set("fairSharePreemptionTimeout", "30")
	return q
}

// crowded is ten maps for each node, in twenty jobs.
func crowded(policy string, n int) model.WhatIf {
	q := model.WhatIf{Cluster: nodes(n, 2, 2), Scheduler: model.Scheduler{Name: policy}, Seed: 1}
	for i := range 20 {
		q.Jobs = append(q.Jobs, workload.Job{
			ID: fmt.Sprintf("job%d", i), Submit: time.Duration(i) * 20 * time.Second,
			Deadline: time.Hour, Maps: workload.MapTasks{Count: n / 2, Time: lognormal(60, 20)},
		})
		alone(&q.Jobs[i])
	}
	return q
}

func inOnePhase(policy string, n int) model.WhatIf {
	q := crowded(policy, n)
	q.Cluster.Phases = make([]time.Duration, n)
	return q
}

// BenchmarkGrowth runs one question in ever larger sizes, and reports how the
// processor time grows: the exponent of the size in a fit over all of them, and
// the time of a job, map or node at the largest. An exponent of 1 is
// proportional.
func BenchmarkGrowth(b *testing.B) {
	for _, c := range []struct {
		of    string
		sizes []int
		make  func(policy string, n int) model.WhatIf
		only  string // policy; empty: all
	}{
		{"jobs", []int{100, 1000, 10_000}, crowd, ""},
		{"maps", []int{10_000, 100_000, 400_000}, few, ""},
		{"maps with a dying node", []int{10_000, 100_000, 400_000}, withDyingNode, ""},
		{"maps with preemption", []int{10_000, 100_000, 400_000}, withPreemption, "fair2"},
		{"nodes", []int{100, 1000, 10_000, 100_000}, crowded, "fifo"},
		{"nodes in one phase", []int{100, 1000, 10_000, 100_000}, inOnePhase, "fifo"},
	} {
		for _, policy := range scheduler.Names() {
			if c.only != "" && c.only != policy {
				continue
			}
			b.Run(c.of+"/"+policy, func(b *testing.B) {
				var size, spent []float64
				for b.Loop() {
					for _, n := range c.sizes {
						before := cpuTime()
						if _, err := (sim.Simulator{}).Predict(c.make(policy, n)); err != nil {
							b.Fatal(err)
						}
						size = append(size, math.Log(float64(n)))
						spent = append(spent, math.Log(float64(cpuTime()-before)))
					}
				}
				_, exponent := stat.LinearRegression(size, spent, nil, false)
				last := len(size) - 1
				b.ReportMetric(exponent, "exponent")
				b.ReportMetric(math.Exp(spent[last]-size[last]), "ns/"+strconv.Itoa(c.sizes[len(c.sizes)-1]))
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
