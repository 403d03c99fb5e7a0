package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/sim/mrapp"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// OnYARN is what a run on YARN has done. Times of containers, applications and
// attempts are from its start; those of what did not happen are yarn.None.
type OnYARN struct {
	Containers   []yarn.Row
	Applications []yarn.ApplicationRecord // by job of the question
	Jobs         []mrapp.JobRecord        // likewise; of the last ApplicationMaster
	Attempts     []YARNAttempt
	Finished     []engine.Time // by job: all its tasks have ended
}

// YARNAttempt is an attempt of a MapReduce task.
type YARNAttempt struct {
	Job    int
	Master int // attempt of the ApplicationMaster, from 1
	mrapp.AttemptRecord
}

// yarnRun simulates one question on YARN.
type yarnRun struct {
	q        *model.WhatIf
	engine   *engine.Engine
	executor *mrapp.Executor
	topology *execute.Topology
	hosts    map[string]int32
	done     OnYARN
}

// RunOnYARN simulates a question on YARN.
func RunOnYARN(q *model.WhatIf) (*OnYARN, error) {
	r := &yarnRun{q: q, engine: engine.New(), topology: execute.NewTopology(&q.Cluster), hosts: make(map[string]int32)}
	var err error
	if r.executor, err = mrapp.NewExecutor(q, r.engine); err != nil {
		return nil, err
	}
	r.done.Finished = slices.Repeat([]engine.Time{yarn.None}, len(q.Jobs))
	r.done.Jobs = slices.Repeat([]mrapp.JobRecord{{Inited: yarn.None, Finished: yarn.None, Unregistered: yarn.None}}, len(q.Jobs))
	config, err := r.config()
	if err != nil {
		return nil, err
	}
	rm, err := yarn.New(config)
	if err != nil {
		return nil, err
	}
	limit := engine.Never - 1
	if q.Until > 0 {
		limit = engine.At(q.Until)
	}
	if err := rm.Run(limit); err != nil {
		return nil, err
	}
	r.done.Containers, r.done.Applications = rm.Rows(), rm.Applications()
	return &r.done, nil
}

// config makes the cluster and its work. All nodes are in one rack for the
// ResourceManager, as without a topology script; racks decide task times.
func (r *yarnRun) config() (yarn.Config, error) {
	const rack = "/default-rack"
	q, y := r.q, r.q.YARN
	c := yarn.Config{Engine: r.engine, Scheduler: r.policy, Kill: engine.At(y.Costs.Kill)}
	var err error
	interval := func(key string, unset time.Duration) engine.Time {
		d, e := policy.Properties(y.Properties).Milliseconds(key, unset)
		if err == nil {
			err = e
		}
		return engine.At(d)
	}
	c.Heartbeat = interval("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", time.Second)
	c.Expiry = interval("yarn.nm.liveness-monitor.expiry-interval-ms", 10*time.Minute)
	c.AMExpiry = interval("yarn.am.liveness-monitor.expiry-interval-ms", 10*time.Minute)
	for i := range q.Cluster.Nodes {
		n := &q.Cluster.Nodes[i]
		r.hosts[n.Name] = int32(i)
		node := yarn.NodeConfig{Name: n.Name, Rack: rack, Total: y.Nodes[i], First: engine.At(q.Cluster.Phases[i]), Dies: engine.Never}
		if n.Dies > 0 {
			node.Dies = engine.At(n.Dies)
		}
		c.Nodes = append(c.Nodes, node)
	}
	for i := range q.Jobs {
		s, e := r.submission(i)
		if err == nil {
			err = e
		}
		c.Work = append(c.Work, s)
	}
	return c, err
}

func (r *yarnRun) policy(l policy.Listener) (policy.Scheduler, error) {
	y := r.q.YARN
	switch y.Policy {
	case "capacity":
		return policy.NewCapacity(y.Properties, l)
	case "fifo":
		return policy.NewFifo(y.Properties, l)
	case "fair":
		return policy.NewFair(y.Properties, y.Allocations, l)
	}
	return nil, fmt.Errorf("scheduler %q: want capacity, fair or fifo", y.Policy)
}

// size reads the size of a kind of container from a job's configuration.
func size(conf workload.Conf, memory, vcores string, mib int) (model.Resource, error) {
	m, err := conf.Int(memory, mib)
	if err != nil {
		return model.Resource{}, err
	}
	v, err := conf.Int(vcores, 1)
	return model.Resource{MemoryMiB: int64(m), VCores: int64(v)}, err
}

// submission makes the application of a job.
func (r *yarnRun) submission(i int) (yarn.Submission, error) {
	const usualAM = 1536
	j, y := &r.q.Jobs[i], r.q.YARN
	s := yarn.Submission{
		Name: j.ID, Queue: j.Queue, User: j.User, At: engine.At(j.Submit), Attempts: 2, Launch: engine.At(y.Costs.AMLaunch),
	}
	var err error
	if s.AM, err = size(j.Conf, "yarn.app.mapreduce.am.resource.mb", "yarn.app.mapreduce.am.resource.cpu-vcores", usualAM); err != nil {
		return s, err
	}
	beat, err := j.Conf.Int("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", 1000)
	if err != nil {
		return s, err
	}
	s.Interval = engine.At(time.Duration(beat) * time.Millisecond)
	priority, err := j.Conf.Int("mapreduce.job.priority", 0)
	if err != nil {
		return s, err
	}
	s.Priority = int32(priority)
	if j.Containers != nil {
		s.New = r.fixed(i)
		return s, nil
	}
	job, err := r.mapreduce(i)
	s.New = func(attempt int) yarn.Application {
		own := *job
		own.Recorder = yarnRecorder{r, i, attempt}
		return mrapp.New(&own, attempt)
	}
	return s, err
}

// fixed makes an application of containers with given times.
func (r *yarnRun) fixed(i int) func(int) yarn.Application {
	q := r.q
	job := &yarn.FixedJob{
		Launch: engine.At(q.Cluster.Costs.Launch), Exit: engine.At(q.YARN.Costs.AMExit),
		HostOf:   func(node int32) string { return q.Cluster.Nodes[node].Name },
		RackOf:   func(host string) string { return q.Cluster.Racks[q.Cluster.Nodes[r.hosts[host]].Rack] },
		Slowness: func(node int32) float64 { return q.Cluster.Nodes[node].Slowness },
	}
	for _, g := range q.Jobs[i].Containers {
		group := yarn.FixedGroup{
			Priority: yarn.Priority(g.Priority), Size: model.Resource{MemoryMiB: g.MemoryMiB, VCores: g.VCores}, Hosts: g.Hosts,
		}
		for _, t := range g.Times {
			group.Times = append(group.Times, engine.At(t))
		}
		job.Groups = append(job.Groups, group)
	}
	return func(int) yarn.Application {
		return job.New(func(at engine.Time) { r.done.Finished[i] = at })
	}
}

// mapreduce makes the question of a MapReduce job.
func (r *yarnRun) mapreduce(i int) (*mrapp.Job, error) {
	const usualBlock = 128 << 20
	j, costs := &r.q.Jobs[i], &r.q.Cluster.Costs
	y := &r.q.YARN.Costs
	job := &mrapp.Job{
		ID: i, Spec: j, Topology: r.topology, BlockBytes: usualBlock,
		Executor: r.executor, History: &mrapp.History{},
		Costs: mrapp.Costs{
			Setup: engine.At(costs.Setup), Commit: engine.At(costs.Commit),
			Exit: engine.At(y.Exit), Abort: engine.At(y.TaskAbort), JobCommit: engine.At(y.JobCommit), AMExit: engine.At(y.AMExit),
		},
	}
	var err error
	if job.Release, err = mrapp.FindRelease(r.q.Cluster.Hadoop); err != nil {
		return nil, err
	}
	if job.Settings, err = mrapp.ReadSettings(j.Conf); err != nil {
		return nil, err
	}
	if job.AMSize, err = size(j.Conf, "yarn.app.mapreduce.am.resource.mb", "yarn.app.mapreduce.am.resource.cpu-vcores", 1536); err != nil {
		return nil, err
	}
	if job.MapSize, err = size(j.Conf, "mapreduce.map.memory.mb", "mapreduce.map.cpu.vcores", 1024); err != nil {
		return nil, err
	}
	if job.ReduceSize, err = size(j.Conf, "mapreduce.reduce.memory.mb", "mapreduce.reduce.cpu.vcores", 1024); err != nil {
		return nil, err
	}
	job.Hosts = make([][]int32, j.Maps.Count)
	for m := range j.Maps.Splits {
		for _, h := range j.Maps.Splits[m].Hosts {
			node, ok := r.hosts[h]
			if !ok {
				return nil, fmt.Errorf("job %s: map %d: host %q is not a node of the cluster", j.ID, m, h)
			}
			job.Hosts[m] = append(job.Hosts[m], node)
		}
	}
	return job, nil
}

// yarnRecorder keeps what becomes of one ApplicationMaster.
type yarnRecorder struct {
	r      *yarnRun
	job    int
	master int
}

// Attempt implements mrapp.Recorder.
func (x yarnRecorder) Attempt(a mrapp.AttemptRecord) {
	x.r.done.Attempts = append(x.r.done.Attempts, YARNAttempt{x.job, x.master, a})
}

// Job implements mrapp.Recorder.
func (x yarnRecorder) Job(j mrapp.JobRecord) {
	x.r.done.Jobs[x.job] = j
	x.r.done.Finished[x.job] = j.Finished
}
