package scenarios

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// recordedYARN is the case.json of a recorded ResourceManager: a small cluster and
// jobs or applications with given times, in milliseconds from its start.
type recordedYARN struct {
	Name   string `json:"name"`
	About  string `json:"about"`
	Hadoop string `json:"hadoop"`

	Cluster struct {
		caseMachines
		Nodes  int              `json:"nodes"`
		Memory oneOrEach[int64] `json:"memory_mb"`
		VCores oneOrEach[int64] `json:"vcores"`
	} `json:"cluster"`

	Scheduler struct {
		Type       string         `json:"type"`
		Properties map[string]any `json:"properties"`
		Capacity   map[string]any `json:"capacity"`
		Fair       map[string]any `json:"fair"`
	} `json:"scheduler"`

	Costs struct {
		AMLaunch  int64 `json:"am_launch_ms"`
		Launch    int64 `json:"launch_ms"`
		Setup     int64 `json:"setup_ms"`
		Commit    int64 `json:"commit_ms"`
		JobCommit int64 `json:"job_commit_ms"`
		Exit      int64 `json:"exit_ms"`
		AMExit    int64 `json:"am_exit_ms"`
		Kill      int64 `json:"kill_ms"`
		TaskAbort int64 `json:"task_abort_ms"`
	} `json:"costs"`

	Limit int64      `json:"limit_ms"`
	Runs  [][]int64  `json:"runs"`
	Jobs  []yarnWork `json:"jobs"`
	Apps  []yarnWork `json:"apps"`
}

// yarnSize is the size of a container.
type yarnSize struct {
	Memory int64 `json:"memory_mb"`
	VCores int64 `json:"vcores"`
}

// yarnWork is a job or a scripted application.
type yarnWork struct {
	Name       string         `json:"name"`
	Queue      string         `json:"queue"`
	User       string         `json:"user"`
	Submit     int64          `json:"submit_ms"`
	Priority   int            `json:"priority"`
	AM         yarnSize       `json:"am"`
	Heartbeat  int64          `json:"heartbeat_ms"`
	Properties map[string]any `json:"properties"`
	Maps       struct {
		yarnSize
		caseMaps
		Retry times `json:"retry_ms"`
		Bytes int64 `json:"bytes"`
	} `json:"maps"`
	Reduces struct {
		yarnSize
		caseReduces
	} `json:"reduces"`
	Tasks []struct {
		yarnSize
		Count    int        `json:"count"`
		Priority int        `json:"priority"`
		Time     times      `json:"ms"`
		Hosts    [][]string `json:"hosts"`
	} `json:"tasks"`
}

// OnYARN reports whether the scenario asks about containers instead of slots.
func (s *Scenario) OnYARN() bool { return len(s.Runs) > 0 && s.Runs[0].Question.YARN != nil }

// onYARN reports whether a recorded case is one of a ResourceManager.
func onYARN(data []byte) bool {
	var head struct {
		Hadoop string `json:"hadoop"`
	}
	if json.Unmarshal(data, &head) != nil {
		return false
	}
	r, err := model.FindRelease(head.Hadoop)
	return err == nil && r.YARN != nil && r.YARN.Recorded
}

// recordedYARN reads such a case.
func (f *File) recordedYARN(run int) (*Scenario, error) {
	var r recordedYARN
	if err := json.Unmarshal(f.data, &r); err != nil {
		return nil, jsonError(f.name, f.data, err)
	}
	if r.Name == "" {
		r.Name = f.slug
	}
	q, err := r.question(run)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return &Scenario{
		Name: slugOf(r.Name), Title: r.About, Source: "decisions of a real ResourceManager, " + r.Hadoop, Attempts: "csv", Case: true,
		Inputs: []Input{{f.name, f.data}},
		Runs:   []Run{{Question: *q}},
	}, nil
}

// check refuses what the case cannot mean.
func (r *recordedYARN) check(run int) error {
	c := &r.Cluster
	if c.Nodes < 1 {
		return fmt.Errorf("cluster.nodes: got %d: want 1 or more", c.Nodes)
	}
	if run < 1 || run > len(r.Runs) {
		return fmt.Errorf("run %d: want one from 1 to %d", run, len(r.Runs))
	}
	if n := len(r.Runs[run-1]); n != c.Nodes {
		return fmt.Errorf("runs[%d]: got %d nodes: want %d", run-1, n, c.Nodes)
	}
	if err := ofNodes("memory_mb", len(c.Memory), c.Nodes); err != nil {
		return err
	}
	if err := ofNodes("vcores", len(c.VCores), c.Nodes); err != nil {
		return err
	}
	for i := range r.Jobs {
		if err := r.Jobs[i].check(); err != nil {
			return fmt.Errorf("jobs[%d]: %w", i, err)
		}
	}
	for i := range r.Apps {
		if err := r.Apps[i].check(); err != nil {
			return fmt.Errorf("apps[%d]: %w", i, err)
		}
	}
	return nil
}

// ofNodes refuses a list that is neither one value nor one for each node.
func ofNodes(name string, n, nodes int) error {
	if n == 1 || n == nodes {
		return nil
	}
	return fmt.Errorf("cluster.%s: got %d values: want one, or one for each of %d nodes", name, n, nodes)
}

func (w *yarnWork) check() error {
	listed := func(what string, n, want int) error {
		if n == 1 || n == want || n == 0 && want == 0 {
			return nil
		}
		return fmt.Errorf("%s: got %d values: want one for each of %d tasks", what, n, want)
	}
	for _, err := range []error{
		listed("maps.ms", len(w.Maps.Time), w.Maps.Count), listed("reduces.shuffle_ms", len(w.Reduces.Shuffle), w.Reduces.Count),
		listed("reduces.sort_ms", len(w.Reduces.Sort), w.Reduces.Count), listed("reduces.reduce_ms", len(w.Reduces.Reduce), w.Reduces.Count),
	} {
		if err != nil {
			return err
		}
	}
	for g := range w.Tasks {
		t := &w.Tasks[g]
		if err := listed(fmt.Sprintf("tasks[%d].ms", g), len(t.Time), t.Count); err != nil {
			return err
		}
		if t.Hosts != nil && len(t.Hosts) != t.Count {
			return fmt.Errorf("tasks[%d].hosts: got %d lists: want %d", g, len(t.Hosts), t.Count)
		}
	}
	return nil
}

func (r *recordedYARN) question(run int) (*model.WhatIf, error) {
	if err := r.check(run); err != nil {
		return nil, err
	}
	c := &r.Cluster
	q := &model.WhatIf{
		Name: r.Name, Fidelity: model.Replay, Seed: 1, Until: millis(r.Limit),
		Cluster: model.Cluster{
			Hadoop: r.Hadoop, FromStart: true, Grain: millis(1),
			Costs: model.Costs{Launch: millis(r.Costs.Launch), Setup: millis(r.Costs.Setup), Commit: millis(r.Costs.Commit)},
		},
		YARN: &model.YARN{
			Policy: r.Scheduler.Type, Properties: make(map[string]string), Flat: true,
			Costs: model.YARNCosts{
				AMLaunch: millis(r.Costs.AMLaunch), AMExit: millis(r.Costs.AMExit), Exit: millis(r.Costs.Exit),
				Kill: millis(r.Costs.Kill), JobCommit: millis(r.Costs.JobCommit), TaskAbort: millis(r.Costs.TaskAbort),
			},
		},
	}
	q.Cluster.Racks = c.racks()
	for i := range c.Nodes {
		n := c.node(i)
		n.Resource = model.Resource{MemoryMiB: c.Memory.of(i), VCores: c.VCores.of(i)}
		q.Cluster.Nodes = append(q.Cluster.Nodes, n)
		q.Cluster.Phases = append(q.Cluster.Phases, millis(r.Runs[run-1][i]))
	}
	r.scheduler(q.YARN)
	for i := range r.Jobs {
		job, err := r.Jobs[i].job()
		if err != nil {
			return nil, fmt.Errorf("jobs[%d]: %w", i, err)
		}
		q.Jobs = append(q.Jobs, job)
	}
	for i := range r.Apps {
		q.Jobs = append(q.Jobs, r.Apps[i].application())
	}
	return q, nil
}

// scheduler reads the properties and the queues.
func (r *recordedYARN) scheduler(y *model.YARN) {
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
func (w *yarnWork) conf() workload.Conf {
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
	whole("mapreduce.job.priority", int64(w.Priority))
	whole("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", w.Heartbeat)
	return conf
}

func (w *yarnWork) common() workload.Job {
	return workload.Job{ID: w.Name, Name: w.Name, User: w.User, Queue: w.Queue, Submit: millis(w.Submit), Conf: w.conf()}
}

func (w *yarnWork) job() (workload.Job, error) {
	job := w.common()
	m := &w.Maps
	const usualSplit = 128 << 20
	var err error
	if job.Maps, err = m.tasks(); err != nil {
		return job, err
	}
	job.Maps.Retry, job.Maps.InputBytes = durationsOf(m.Retry), cmp.Or(m.Bytes, usualSplit)*int64(m.Count)
	job.Reduces, err = w.Reduces.tasks()
	return job, err
}

func (w *yarnWork) application() workload.Job {
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
