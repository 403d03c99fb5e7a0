package mrapp

import (
	"fmt"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// recorded is the release whose decisions are recorded.
var recorded, _ = model.FindRelease("3.3.6")

type forget struct{}

func (forget) Attempt(AttemptRecord) {}
func (forget) Job(JobRecord)         {}

// varied are times from 20 to 40 s.
func varied(n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = 20*time.Second + time.Duration(i*7919%20000)*time.Millisecond + time.Duration(i)
	}
	return out
}

// One job of 100,000 maps and 100 reduces on 1,000 nodes of 20 containers, to the end.
func BenchmarkLargeJob(b *testing.B) {
	const nodes, maps = 1000, 100000
	for b.Loop() {
		e := engine.New()
		q := &model.WhatIf{Fidelity: model.Replay, Cluster: model.Cluster{Racks: []string{"r"}, Costs: model.Costs{Launch: time.Second}}}
		c := yarn.Config{
			Engine: e, Heartbeat: second, Kill: second / 10, Expiry: 600 * second, AMExpiry: 600 * second,
			Scheduler: func(l policy.Listener) (policy.Scheduler, error) {
				return policy.New(&model.YARN{Policy: "capacity", Properties: policy.Properties{
					"yarn.scheduler.capacity.root.queues": "default", "yarn.scheduler.capacity.root.default.capacity": "100",
				}}, recorded.YARN, l)
			},
		}
		for i := range nodes {
			n := fmt.Sprint("n", i)
			q.Cluster.Nodes = append(q.Cluster.Nodes, model.Node{Name: n, Slowness: 1})
			c.Nodes = append(c.Nodes, yarn.NodeConfig{
				Name: n, Rack: "/default-rack", Total: model.Resource{MemoryMiB: 20 * gib, VCores: 20}, First: engine.Time(i) * second / nodes, Dies: engine.Never,
			})
		}
		q.Jobs = []workload.Job{{Maps: workload.MapTasks{Count: maps, Time: workload.Durations{Each: varied(maps)}}, Reduces: workload.ReduceTasks{Count: 100, Time: workload.Durations{All: time.Second}}}}
		x, err := NewExecutor(q, e)
		if err != nil {
			b.Fatal(err)
		}
		size := model.Resource{MemoryMiB: gib, VCores: 1}
		job := &Job{
			Spec: &q.Jobs[0], Topology: execute.NewTopology(&q.Cluster), MapSize: size, ReduceSize: size, AMSize: size,
			Settings: defaults(), Release: hadoop336, Executor: x, Recorder: forget{},
		}
		job.Settings.Speculation = SpeculationSettings{}
		for i := range maps {
			job.Hosts = append(job.Hosts, []int32{int32(i) % nodes, int32(7*i+1) % nodes, int32(13*i+5) % nodes})
		}
		c.Work = []yarn.Submission{{Name: "j", Queue: "default", User: "u", At: 3 * second, AM: size, Attempts: 2, Launch: second, Interval: second, New: func(n int) yarn.Application { return New(job, n) }}}
		rm, err := yarn.New(c)
		if err != nil {
			b.Fatal(err)
		}
		if err := rm.Run(engine.Never - 1); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(e.Now().Duration().Seconds(), "simulated-s")
		b.ReportMetric(float64(e.Fired()), "events")
	}
}
