package sim_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// yarnQueues draws a world whose jobs are in queues of two levels, with settings of each
// kind of either scheduler. Some worlds stall, or are refused.
func yarnQueues(r *rand.Rand) *model.WhatIf {
	q := yarnWorld(r)
	q.Until = time.Hour
	q.YARN.Flat = r.IntN(2) == 0
	one := func(values ...string) string { return values[r.IntN(len(values))] }
	maybe := func(settings map[string]string, key string, values ...string) {
		if r.IntN(3) == 0 {
			settings[key] = one(values...)
		}
	}
	leafs := []string{"root.a", "root.b.c", "root.b.d"}
	users := []string{"ann", "bob", "eve"}
	for i := range q.Jobs {
		j := &q.Jobs[i]
		j.Queue, j.User = one(leafs...), one(users...)
		if q.YARN.Policy == "capacity" && r.IntN(2) == 0 {
			j.Queue = j.Queue[len(j.Queue)-1:]
		}
		j.Conf.Set("mapreduce.job.priority", one("LOW", "NORMAL", "HIGH"))
		j.Conf.Set("mapreduce.map.cpu.vcores", one("1", "2"))
	}
	p := q.YARN.Properties
	maybe(p, "yarn.scheduler.minimum-allocation-mb", "256", "1000")
	maybe(p, "yarn.scheduler.maximum-allocation-mb", "4096")
	maybe(p, "yarn.scheduler.maximum-allocation-vcores", "2")
	maybe(p, "yarn.scheduler.increment-allocation-mb", "300", "512")
	maybe(p, "yarn.scheduler.reservation-threshold.increment-multiple", "1", "3")
	if q.YARN.Policy == "fair" {
		for _, k := range []string{"locality.threshold.node", "locality.threshold.rack"} {
			maybe(p, "yarn.scheduler.fair."+k, "0.2", "1", "-1")
		}
		maybe(p, "yarn.scheduler.fair.max.assign", "1", "3")
		maybe(p, "yarn.scheduler.fair.dynamic.max.assign", "false")
		maybe(p, "yarn.scheduler.fair.sizebasedweight", "true")
		maybe(p, "yarn.scheduler.fair.preemption", "true")
		maybe(p, "yarn.scheduler.fair.preemption.cluster-utilization-threshold", "0", "0.5")
		f := q.YARN.Allocations
		f.Settings = map[string]string{}
		for _, k := range []string{"defaultMinSharePreemptionTimeout", "defaultFairSharePreemptionTimeout"} {
			maybe(f.Settings, k, "1", "10")
		}
		maybe(f.Settings, "defaultFairSharePreemptionThreshold", "0.9")
		maybe(f.Settings, "defaultQueueSchedulingPolicy", "fifo", "drf")
		maybe(f.Settings, "queueMaxAMShareDefault", "0.2", "-1")
		maybe(f.Settings, "queueMaxAppsDefault", "1")
		maybe(f.Settings, "userMaxAppsDefault", "1")
		queue := func(name string, below ...model.AllocationQueue) model.AllocationQueue {
			s := map[string]string{}
			maybe(s, "weight", "0.5", "3")
			maybe(s, "minResources", "2048 mb, 1 vcores", "30%")
			maybe(s, "maxResources", "6000 mb, 3 vcores", "60% memory, 80% cpu")
			maybe(s, "maxContainerAllocation", "2048 mb, 2 vcores")
			maybe(s, "maxRunningApps", "1", "2")
			maybe(s, "maxAMShare", "0.3", "1")
			maybe(s, "allowPreemptionFrom", "false")
			maybe(s, "schedulingPolicy", "fair", "drf")
			return model.AllocationQueue{Name: name, Settings: s, Queues: below}
		}
		f.Queues = []model.AllocationQueue{queue("a"), queue("b", queue("c"), queue("d"))}
		return q
	}
	capacity := func(key string, values ...string) { maybe(p, "yarn.scheduler.capacity."+key, values...) }
	p["yarn.scheduler.capacity.root.queues"], p["yarn.scheduler.capacity.root.b.queues"] = "a,b", "c,d"
	delete(p, "yarn.scheduler.capacity.root.default.capacity")
	share := 20 + r.IntN(60)
	p["yarn.scheduler.capacity.root.a.capacity"], p["yarn.scheduler.capacity.root.b.capacity"] = fmt.Sprint(share), fmt.Sprint(100-share)
	p["yarn.scheduler.capacity.root.b.c.capacity"], p["yarn.scheduler.capacity.root.b.d.capacity"] = "30", "70"
	capacity("maximum-am-resource-percent", "0.2", "1")
	capacity("maximum-applications", "2", "100")
	capacity("node-locality-delay", "0", "3", "-1")
	capacity("rack-locality-additional-delay", "2", "-1")
	capacity("rack-locality-full-reset", "false")
	capacity("reservations-continue-look-all-nodes", "false")
	capacity("per-node-heartbeat.multiple-assignments-enabled", "false")
	capacity("per-node-heartbeat.maximum-container-assignments", "1", "3")
	capacity("per-node-heartbeat.maximum-offswitch-assignments", "1", "4")
	capacity("resource-calculator", "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator")
	capacity("max-parallel-apps", "1", "2")
	capacity("user.ann.max-parallel-apps", "1")
	capacity("root.ordering-policy", "priority-utilization")
	for _, of := range []string{"a", "b", "b.c", "b.d"} {
		capacity("root."+of+".maximum-capacity", "80", "95")
		capacity("root."+of+".max-parallel-apps", "1", "2")
		capacity("root."+of+".priority", "2")
		capacity("root."+of+".minimum-user-limit-percent", "25", "50")
		capacity("root."+of+".user-limit-factor", "0.5", "3", "-1")
		if of == "b" {
			capacity("root.b.ordering-policy", "priority-utilization")
			continue
		}
		capacity("root."+of+".ordering-policy", "fair")
		capacity("root."+of+".ordering-policy.fair.enable-size-based-weight", "true")
		capacity("root."+of+".maximum-am-resource-percent", "0.1", "0.8")
	}
	maybe(p, "yarn.resourcemanager.scheduler.monitor.enable", "true")
	for k, values := range map[string][]string{
		"monitoring_interval": {"1000", "5000"}, "max_wait_before_kill": {"2000"}, "total_preemption_per_round": {"0.3", "1"},
		"max_ignored_over_capacity": {"0"}, "natural_termination_factor": {"1"},
	} {
		p["yarn.resourcemanager.monitor.capacity.preemption."+k] = values[len(q.Jobs)%len(values)]
	}
	return q
}

// yarnOnDevices lets the tasks of a world do work on machines that are not alike.
func yarnOnDevices(r *rand.Rand, q *model.WhatIf) {
	q.Fidelity = []model.Fidelity{model.Phase, model.Device, model.Device}[r.IntN(3)]
	slow := server()
	slow.Cores, slow.Speed, slow.NIC, slow.Overlap, slow.Disks = 2, 0.5, 30e6, true, slow.Disks[:1]
	slow.PageCache, slow.Dirty = r.IntN(2) == 0, int64(r.IntN(3))<<25
	q.Cluster.Machines, q.Programs = []model.Machine{server(), slow}, []model.Program{sortProgram()}
	for i := range q.Cluster.Nodes {
		q.Cluster.Nodes[i].Machine = r.IntN(2)
	}
	for i := range q.Jobs {
		j := &q.Jobs[i]
		if len(j.Containers) > 0 {
			continue
		}
		j.Program, j.Maps.InputBytes = "sort", int64(j.Maps.Count)*int64(8+r.IntN(60))<<20
		j.Maps.Time, j.Reduces.Shuffle, j.Reduces.Sort, j.Reduces.Time = workload.Durations{}, workload.Durations{}, workload.Durations{}, workload.Durations{}
	}
}

// What random worlds in queues of YARN report stays: containers, attempts, ends or the
// refusal, and of every fourth world, whose tasks use devices, also phases and counters. A
// change in a line of the golden file is a change in results; -v shows what the world
// reports.
func TestYarnQueuesStay(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	const drawn = 400 // a fifth of them in short tests
	for seed := range uint64(layers.Draws(drawn, drawn)) {
		r := rand.New(rand.NewPCG(seed, 31))
		q := yarnQueues(r)
		var text bytes.Buffer
		if seed%4 == 3 {
			yarnOnDevices(r, q)
			var out written
			p, err := sim.Simulator{Recorder: &out, Spans: &out}.Predict(*q)
			fmt.Fprintf(&text, "%s%s%+v %v\n", out.String(), out.traced.String(), p, err)
		}
		done, err := sim.RunOnYARN(q)
		states := map[workload.State]int{}
		fmt.Fprintln(&text, err)
		if err == nil {
			for _, a := range done.Attempts {
				states[a.State]++
			}
			fmt.Fprintf(&text, "%+v\n%+v\n%v\n%+v\n", done.Applications, done.Jobs, done.Finished, done.Queues)
			for _, a := range done.Attempts {
				a.Run = nil // where it lies in memory
				fmt.Fprintln(&text, a)
			}
			for _, c := range done.Containers {
				fmt.Fprintln(&text, c)
			}
		}
		if testing.Verbose() {
			t.Logf("%d: %s", seed, &text)
		}
		fmt.Fprintf(&got, "%d %s: %d succeeded, %d failed, %d killed, %.6x\n", seed, q.YARN.Policy, states[workload.Succeeded], states[workload.Failed], states[workload.Killed], sha256.Sum256(text.Bytes()))
	}
	vectortest.Lines(t, "testdata/yarnqueues.txt", got.String(), *update)
}
