package scenarios

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// inContainers returns the question to a ResourceManager.
func (r *recorded) inContainers(run int) (*model.WhatIf, error) {
	q := r.question(run, r.Cluster.Nodes)
	q.YARN = &model.YARN{
		Policy: r.Scheduler.Type, Properties: make(map[string]string), Flat: true,
		Costs: model.YARNCosts{
			AMLaunch: millis(r.Costs.AMLaunch), AMExit: millis(r.Costs.AMExit), Exit: millis(r.Costs.Exit),
			Kill: millis(r.Costs.Kill), JobCommit: millis(r.Costs.JobCommit), TaskAbort: millis(r.Costs.TaskAbort),
		},
	}
	r.scheduler(q.YARN)
	for i := range r.Jobs {
		q.Jobs = append(q.Jobs, r.Jobs[i].job())
	}
	for i := range r.Apps {
		q.Jobs = append(q.Jobs, r.Apps[i].application())
	}
	return q, nil
}

// scheduler reads the properties and the queues.
func (r *recorded) scheduler(y *model.YARN) {
	maps.Copy(y.Properties, settingsOf(r.Scheduler.Properties))
	if y.Policy == "fair" {
		y.Allocations = &model.Allocations{Settings: settingsOf(r.Scheduler.Fair), Queues: queuesOf(r.Scheduler.Fair["queues"])}
		return
	}
	const prefix = "yarn.scheduler.capacity."
	y.Properties[prefix+"root.queues"], y.Properties[prefix+"root.default.capacity"] = "default", "100"
	for _, k := range slices.Sorted(maps.Keys(r.Scheduler.Capacity)) {
		y.Properties[prefix+k] = textOf(r.Scheduler.Capacity[k])
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

// conf holds the settings of a job, and the sizes of its containers under Hadoop's names.
func (w *caseJob) conf() workload.Conf {
	var conf workload.Conf
	conf.Set("mapreduce.map.speculative", "false")
	conf.Set("mapreduce.reduce.speculative", "false")
	conf.Set("yarn.app.mapreduce.am.job.recovery.enable", "false") // the recorded cluster keeps no history files
	for _, key := range slices.Sorted(maps.Keys(w.Properties)) {
		conf.Set(key, textOf(w.Properties[key]))
	}
	whole := func(key string, n int64) {
		if n > 0 {
			conf.Set(key, strconv.FormatInt(n, 10))
		}
	}
	whole("yarn.app.mapreduce.am.resource.mb", w.AM.Memory)
	whole("yarn.app.mapreduce.am.resource.cpu-vcores", w.AM.VCores)
	whole("mapreduce.map.memory.mb", w.Maps.Memory)
	whole("mapreduce.map.cpu.vcores", w.Maps.VCores)
	whole("mapreduce.reduce.memory.mb", w.Reduces.Memory)
	whole("mapreduce.reduce.cpu.vcores", w.Reduces.VCores)
	priority, _ := w.Priority.(float64)
	whole("mapreduce.job.priority", int64(priority))
	whole("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", w.Heartbeat)
	return conf
}

func (w *caseJob) common() workload.Job {
	return workload.Job{ID: w.Name, Name: w.Name, User: w.User, Queue: w.Queue, Submit: millis(w.Submit), Conf: w.conf()}
}

func (w *caseJob) job() workload.Job {
	const usualSplit = 128 << 20
	job := w.common()
	job.Maps, job.Reduces = w.tasks()
	job.Maps.Retry, job.Maps.InputBytes = durationsOf(w.Maps.Retry), cmp.Or(w.Maps.Bytes, usualSplit)*int64(w.Maps.Count)
	return job
}

func (w *caseJob) application() workload.Job {
	job := w.common()
	for i := range w.Tasks {
		t := &w.Tasks[i]
		g := workload.ContainerGroup{Priority: t.Priority, MemoryMiB: t.Memory, VCores: t.VCores, Hosts: t.Hosts}
		d := durationsOf(t.Time)
		for n := range t.Count {
			g.Times = append(g.Times, d.At(n, workload.Stream{}))
		}
		job.Containers = append(job.Containers, g)
	}
	return job
}
