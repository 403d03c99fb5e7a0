package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// onYARN simulates work of clusters() on YARN, with a container of 1 GiB for each slot.
func onYARN() []benchmark {
	list := []benchmark{
		simulated("yarn", "10,000 nodes, 102,000 tasks", asContainers(wide)),
		held("yarn", "1,000 nodes, a day with 1,000 containers", asContainers(quietDay)),
	}
	for _, tasks := range []int{1e4, 1e5, 1e6} {
		b := simulated("yarn tasks", "1,000 nodes", asContainers(func() (model.WhatIf, error) { return waves(tasks) }))
		b.size = tasks
		list = append(list, b)
		b = held("yarn containers", "1,000 nodes", asContainers(func() (model.WhatIf, error) { return given(tasks) }))
		b.size = tasks
		list = append(list, b)
	}
	for _, n := range []int{10, 100, 1000} {
		b := held("yarn queues", "ten applications in each", asContainers(func() (model.WhatIf, error) { return manyQueues(n) }))
		b.size = n
		list = append(list, b)
	}
	return list
}

// held is the simulation of a question, by given container.
func held(group, name string, make func() (model.WhatIf, error)) benchmark {
	return benchmark{group: group, name: name, unit: "container", prepare: func(testing.TB) (func() (int64, error), error) {
		q, err := make()
		n := 0
		for i := range q.Jobs {
			for _, g := range q.Jobs[i].Containers {
				n += len(g.Times)
			}
		}
		return func() (int64, error) {
			_, err := (sim.Simulator{}).Predict(q)
			return int64(n), err
		}, err
	}}
}

// asContainers puts a question on YARN.
func asContainers(make func() (model.WhatIf, error)) func() (model.WhatIf, error) {
	return func() (model.WhatIf, error) {
		q, err := make()
		q.Fidelity = model.Replay
		q.Cluster.Hadoop = "3.3.6"
		for i := range q.Cluster.Nodes {
			n := &q.Cluster.Nodes[i]
			slots := int64(n.MapSlots + n.ReduceSlots)
			n.Resource = model.Resource{MemoryMiB: 1024 * slots, VCores: slots}
		}
		if q.YARN == nil {
			q.YARN = capacityQueues("default")
		}
		q.YARN.Costs = model.YARNCosts{AMLaunch: 2 * time.Second, Exit: 200 * time.Millisecond, Kill: 250 * time.Millisecond}
		return q, err
	}
}

// capacityQueues makes equal queues that may use the whole cluster.
func capacityQueues(names ...string) *model.YARN {
	const prefix = "yarn.scheduler.capacity."
	p := map[string]string{prefix + "root.queues": strings.Join(names, ","), prefix + "maximum-am-resource-percent": "1"}
	for _, name := range names {
		p[prefix+"root."+name+".capacity"] = fmt.Sprint(100 / float64(len(names)))
		p[prefix+"root."+name+".user-limit-factor"] = "100000"
	}
	return &model.YARN{Policy: "capacity", Properties: p}
}

// containers is an application of containers of one size.
func containers(i int, submit time.Duration, n int, mean time.Duration) workload.Job {
	g := workload.ContainerGroup{Priority: 1, MemoryMiB: 1024, VCores: 1}
	for k := range n {
		g.Times = append(g.Times, mean/2+mean*time.Duration(k*7919%1000)/1000+time.Duration(k))
	}
	return workload.Job{ID: fmt.Sprint("app", i), Submit: submit, Containers: []workload.ContainerGroup{g}}
}

// given is waves without MapReduce: 20 applications that only hold containers.
func given(n int) (model.WhatIf, error) {
	q := question(nodes(1000, 4, 2))
	for i := range 20 {
		q.Jobs = append(q.Jobs, containers(i, time.Duration(i)*time.Minute, n/20, 30*time.Second))
	}
	return q, nil
}

// quietDay has little to do: an application of ten containers each quarter of an hour.
func quietDay() (model.WhatIf, error) {
	q := question(nodes(1000, 4, 2))
	for i := range 96 {
		q.Jobs = append(q.Jobs, containers(i, time.Duration(i)*15*time.Minute, 10, 5*time.Minute))
	}
	return q, nil
}

// manyQueues has ten applications of ten containers in each of n queues, all at once, on a
// node for each queue.
func manyQueues(n int) (model.WhatIf, error) {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint("q", i))
	}
	q := question(nodes(n, 20, 10))
	q.YARN = capacityQueues(names...)
	for i := range 10 * n {
		j := containers(i, time.Duration(i%10)*10*time.Second, 10, 30*time.Second)
		j.Queue = names[i%n]
		q.Jobs = append(q.Jobs, j)
	}
	return q, nil
}
