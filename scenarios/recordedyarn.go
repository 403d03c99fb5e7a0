package scenarios

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// inContainers reads the scheduler, the jobs and the scripted applications of a
// ResourceManager.
func (t caseTable) inContainers(q *model.WhatIf) {
	costs, in := t.object("costs"), t.object("scheduler")
	q.YARN = &model.YARN{
		Policy: in.str("type", ""), Properties: settingsOf(in.object("properties").values), Flat: true,
		Costs: model.YARNCosts{
			AMLaunch: costs.milliseconds("am_launch_ms"), AMExit: costs.milliseconds("am_exit_ms"), Exit: costs.milliseconds("exit_ms"),
			Kill: costs.milliseconds("kill_ms"), JobCommit: costs.milliseconds("job_commit_ms"), TaskAbort: costs.milliseconds("task_abort_ms"),
		},
	}
	if q.YARN.Policy == "fair" {
		fair := in.object("fair").values
		q.YARN.Allocations = &model.Allocations{Settings: settingsOf(fair), Queues: queuesOf(fair["queues"])}
	} else {
		q.YARN.Properties[capacityKey+"root.queues"], q.YARN.Properties[capacityKey+"root.default.capacity"] = "default", "100"
		capacity := in.object("capacity").values
		for _, k := range slices.Sorted(maps.Keys(capacity)) {
			q.YARN.Properties[capacityKey+k] = textOf(capacity[k])
		}
	}
	for _, job := range t.objects("jobs") {
		q.Jobs = append(q.Jobs, job.ofMapReduce())
	}
	for _, app := range t.objects("apps") {
		q.Jobs = append(q.Jobs, app.scripted())
	}
}

// settingsOf keeps what an element holds beside queues.
func settingsOf(m map[string]any) map[string]string {
	out := make(map[string]string)
	for k, v := range m {
		if k != "queues" {
			out[k] = textOf(v)
		}
	}
	return out
}

func queuesOf(v any) []model.AllocationQueue {
	m, _ := v.(map[string]any)
	var list []model.AllocationQueue
	for _, name := range slices.Sorted(maps.Keys(m)) {
		own, _ := m[name].(map[string]any)
		list = append(list, model.AllocationQueue{Name: name, Settings: settingsOf(own), Queues: queuesOf(own["queues"])})
	}
	return list
}

// container reads the size of a container.
func (t caseTable) container() model.Resource {
	return model.Resource{MemoryMiB: int64(t.integer("memory_mb", 0, 0, mostContainer)), VCores: int64(t.integer("vcores", 0, 0, mostContainer))}
}

// onYARN reads what a job and a scripted application have, and their settings, with the
// sizes of containers under Hadoop's names.
func (t caseTable) onYARN() workload.Job {
	j := t.job()
	j.Conf.Set("mapreduce.map.speculative", "false")
	j.Conf.Set("mapreduce.reduce.speculative", "false")
	j.Conf.Set("yarn.app.mapreduce.am.job.recovery.enable", "false") // the recorded cluster keeps no history files
	j.Conf = j.Conf.Over(t.properties("properties"))
	whole := func(key string, n int64) {
		if n > 0 {
			j.Conf.Set(key, strconv.FormatInt(n, 10))
		}
	}
	for _, of := range []struct{ object, memory, vcores string }{
		{"am", "yarn.app.mapreduce.am.resource.mb", "yarn.app.mapreduce.am.resource.cpu-vcores"},
		{"maps", "mapreduce.map.memory.mb", "mapreduce.map.cpu.vcores"},
		{"reduces", "mapreduce.reduce.memory.mb", "mapreduce.reduce.cpu.vcores"},
	} {
		size := t.object(of.object).container()
		whole(of.memory, size.MemoryMiB)
		whole(of.vcores, size.VCores)
	}
	whole("mapreduce.job.priority", int64(t.integer("priority", 0, -math.MaxInt32, math.MaxInt32)))
	whole("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", t.milliseconds("heartbeat_ms").Milliseconds())
	return j
}

// ofMapReduce reads a MapReduce job.
func (t caseTable) ofMapReduce() workload.Job {
	const usualSplit = 128 << 20
	j := t.onYARN()
	t.readTasks(&j)
	maps := t.object("maps")
	if maps.has("retry_ms") {
		j.Maps.Retry = maps.times("retry_ms", j.Maps.Count)
	}
	j.Maps.InputBytes = int64(cmp.Or(maps.integer("bytes", 0, 0, mostInput/max(1, j.Maps.Count)), usualSplit)) * int64(j.Maps.Count)
	return j
}

// scripted reads an application with given containers.
func (t caseTable) scripted() workload.Job {
	j := t.onYARN()
	for _, in := range t.objects("tasks") {
		count, size := in.count(), in.container()
		g := workload.ContainerGroup{
			Priority: in.integer("priority", 0, -math.MaxInt32, math.MaxInt32), MemoryMiB: size.MemoryMiB, VCores: size.VCores, Hosts: in.hosts(),
		}
		times := in.times("ms", count)
		if in.has("hosts") && len(g.Hosts) != count {
			in.failf("hosts", "%d lists: want one for each of %d tasks", len(g.Hosts), count)
		}
		for i := range count {
			g.Times = append(g.Times, times.At(i, workload.Stream{}))
		}
		j.Containers = append(j.Containers, g)
	}
	return j
}
