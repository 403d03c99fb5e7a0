package sim_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// yarnWorld draws a small cluster on YARN with jobs whose tasks fail, whose nodes are
// slow, fail tasks or die, and with settings away from the defaults. In one of three
// times are rounded so that many events fall in one instant.
func yarnWorld(r *rand.Rand) *model.WhatIf {
	grain := time.Millisecond
	if r.IntN(3) == 0 {
		grain = 250 * time.Millisecond
	}
	seconds := func(least, most float64) time.Duration {
		return time.Duration((least + r.Float64()*(most-least)) * float64(time.Second)).Round(grain)
	}
	nodes := 3 + r.IntN(6)
	q := &model.WhatIf{
		Fidelity: model.Replay, Seed: 1, Until: 6 * time.Hour,
		Cluster: model.Cluster{
			Hadoop: "3.3.6", FromStart: true, Grain: time.Millisecond, Racks: []string{"/rack0", "/rack1"},
			Costs: model.Costs{Launch: seconds(0.2, 2), Setup: seconds(0, 1), Commit: seconds(0, 1)},
		},
		YARN: &model.YARN{
			Flat:   r.IntN(2) == 0,
			Policy: []string{"capacity", "capacity", "fair", "fair", "fifo"}[r.IntN(5)], Allocations: &model.Allocations{},
			Properties: yarnProperties(r),
			Costs: model.YARNCosts{
				AMLaunch: seconds(1, 4), AMExit: seconds(0, 1), Exit: seconds(0, 1), Kill: seconds(0, 1), JobCommit: seconds(0, 1), TaskAbort: seconds(0, 1),
			},
		},
	}
	for i := range nodes {
		n := model.Node{Name: fmt.Sprintf("c%03d", i), Rack: i % 2, Slowness: 1}
		if r.IntN(5) == 0 {
			n.Slowness = 1 + 4*r.Float64()
		}
		if i > 1 && r.IntN(8) == 0 {
			n.FailAfter = seconds(1, 10)
		} else if i > 1 && r.IntN(8) == 0 {
			n.Dies = seconds(20, 120)
		}
		q.Cluster.Nodes = append(q.Cluster.Nodes, n)
		q.Cluster.Phases = append(q.Cluster.Phases, seconds(0, 1))
		q.Cluster.Nodes[i].Resource = model.Resource{MemoryMiB: int64(4+r.IntN(8)) * 1024, VCores: 4}
	}
	for i := range 1 + r.IntN(4) {
		q.Jobs = append(q.Jobs, yarnWorldJob(r, i, nodes, seconds))
	}
	return q
}

// yarnProperties draws the settings of the schedulers.
func yarnProperties(r *rand.Rand) map[string]string {
	p := map[string]string{
		"yarn.scheduler.capacity.root.queues": "default,other", "yarn.scheduler.capacity.root.default.capacity": "70",
		"yarn.scheduler.capacity.root.other.capacity": "30", "yarn.nm.liveness-monitor.expiry-interval-ms": "30000",
	}
	set := func(odds int, key string, values ...string) {
		if r.IntN(odds) == 0 {
			p["yarn."+key] = values[r.IntN(len(values))]
		}
	}
	p["yarn.scheduler.capacity.maximum-am-resource-percent"] = "0.5"
	set(3, "scheduler.capacity.node-locality-delay", "-1", "3")
	set(4, "scheduler.capacity.rack-locality-additional-delay", "0", "4")
	set(4, "scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments", "3")
	set(4, "scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled", "false")
	set(2, "scheduler.capacity.root.default.user-limit-factor", "1", "2", "10")
	set(3, "scheduler.capacity.root.default.minimum-user-limit-percent", "30")
	set(3, "scheduler.capacity.root.default.ordering-policy", "fair")
	set(3, "scheduler.capacity.root.other.maximum-capacity", "40", "60")
	set(4, "scheduler.capacity.reservations-continue-look-all-nodes", "false")
	set(3, "scheduler.capacity.resource-calculator", "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator")
	set(4, "resourcemanager.scheduler.monitor.enable", "true")
	set(2, "scheduler.fair.assignmultiple", "true")
	set(3, "scheduler.fair.locality.threshold.node", "0.5")
	set(3, "scheduler.fair.locality.threshold.rack", "0.5")
	set(4, "scheduler.fair.preemption", "true")
	set(8, "scheduler.fair.continuous-scheduling-enabled", "true")
	p["yarn.scheduler.fair.continuous-scheduling-sleep-ms"] = "50"
	return p
}

// yarnContainers draws an application of given containers.
func yarnContainers(r *rand.Rand, nodes int, seconds func(float64, float64) time.Duration) (groups []workload.ContainerGroup) {
	for range 1 + r.IntN(2) {
		g := workload.ContainerGroup{Priority: 1 + r.IntN(3), MemoryMiB: int64(1+r.IntN(3)) * 1024, VCores: int64(1 + r.IntN(2))}
		near := r.IntN(2) == 0
		for range 1 + r.IntN(20) {
			g.Times = append(g.Times, seconds(1, 30))
			if near {
				g.Hosts = append(g.Hosts, []string{fmt.Sprintf("c%03d", r.IntN(nodes))})
			}
		}
		groups = append(groups, g)
	}
	return groups
}

func yarnWorldJob(r *rand.Rand, i, nodes int, seconds func(float64, float64) time.Duration) workload.Job {
	j := workload.Job{ID: fmt.Sprint("j", i), Queue: "default", User: fmt.Sprint("u", r.IntN(2)), Submit: 3*time.Second + time.Duration(i)*seconds(0, 5)}
	if r.IntN(3) == 0 {
		j.Queue = "other"
	}
	if r.IntN(4) == 0 {
		j.Containers = yarnContainers(r, nodes, seconds)
		j.Conf.Set("yarn.app.mapreduce.am.resource.mb", "1024")
		return j
	}
	set := func(odds int, key string, values ...string) {
		if r.IntN(odds) == 0 {
			j.Conf.Set(key, values[r.IntN(len(values))])
		}
	}
	j.Conf.Set("yarn.app.mapreduce.am.resource.mb", "1024")
	set(2, "mapreduce.map.speculative", "false")
	set(2, "mapreduce.reduce.speculative", "false")
	set(2, "mapreduce.reduce.memory.mb", "2048", "3072")
	set(2, "mapreduce.job.reduce.slowstart.completedmaps", "0", "0.5", "1")
	set(3, "yarn.app.mapreduce.am.job.reduce.rampup.limit", "0.1", "1")
	set(5, "mapreduce.job.running.map.limit", "1", "5")
	set(5, "mapreduce.job.running.reduce.limit", "1", "2")
	set(3, "mapreduce.job.ubertask.enable", "true")
	set(4, "mapreduce.job.reducer.preempt.delay.sec", "5")
	set(4, "mapreduce.map.maxattempts", "1", "2")
	set(4, "mapreduce.map.failures.maxpercent", "30")
	set(4, "yarn.app.mapreduce.am.job.recovery.enable", "false")
	set(3, "yarn.app.mapreduce.am.job.task.estimator.class",
		"org.apache.hadoop.mapreduce.v2.app.speculate.ExponentiallySmoothedTaskRuntimeEstimator",
		"org.apache.hadoop.mapreduce.v2.app.speculate.SimpleExponentialTaskRuntimeEstimator")
	j.Maps = workload.MapTasks{Count: r.IntN(60), InputBytes: 1 << 20, RackFactor: 1.2, OffFactor: 1.5, Ends: map[int][]workload.AttemptEnd{}}
	j.Reduces = workload.ReduceTasks{Count: r.IntN(8), Ends: map[int][]workload.AttemptEnd{}}
	ends := func(of map[int][]workload.AttemptEnd, n int) {
		for task := range n {
			for r.IntN(20) == 0 {
				of[task] = append(of[task], workload.AttemptEnd{State: workload.Failed, After: seconds(0, 15)})
			}
		}
	}
	for range j.Maps.Count {
		j.Maps.Time.Each = append(j.Maps.Time.Each, seconds(0.1, 30))
		j.Maps.Splits = append(j.Maps.Splits, workload.Split{Hosts: []string{fmt.Sprintf("c%03d", r.IntN(nodes)), fmt.Sprintf("c%03d", r.IntN(nodes))}})
	}
	for range j.Reduces.Count {
		j.Reduces.Shuffle.Each = append(j.Reduces.Shuffle.Each, seconds(0, 5))
		j.Reduces.Sort.Each = append(j.Reduces.Sort.Each, seconds(0, 2))
		j.Reduces.Time.Each = append(j.Reduces.Time.Each, seconds(0.1, 20))
	}
	ends(j.Maps.Ends, j.Maps.Count)
	ends(j.Reduces.Ends, j.Reduces.Count)
	return j
}

// Random worlds on YARN come to an end, whatever fails: each job has a final state, each
// task of a successful job one attempt whose success counts, each container is given
// back, and no node holds more than its memory.
func TestYarnWorlds(t *testing.T) {
	seen := map[string]int{"attempt FAILED": 0, "attempt KILLED": 0, "job FAILED": 0, "uber": 0, "second master": 0, "surplus": 0}
	for seed := range uint64(layers.Draws(300, 1500)) {
		q := yarnWorld(rand.New(rand.NewPCG(seed, 29)))
		done, err := sim.RunOnYARN(q)
		if err != nil {
			t.Fatalf("world %d: %v", seed, err)
		}
		for i := range q.Jobs {
			if done.Applications[i].Ended == yarn.None {
				t.Fatalf("world %d: job %s has not ended", seed, q.Jobs[i].ID)
			}
		}
		checkSuccesses(t, seed, q, done)
		checkContainers(t, seed, q, done)
		countYARN(seen, done)
		if seed%10 == 0 {
			checkPrediction(t, seed, q, done)
		}
	}
	for what, n := range seen {
		if n == 0 {
			t.Errorf("no world has %s", what)
		}
	}
}

// Heartbeats that would do nothing are left out without any difference in what happens.
func TestLazyHeartbeatsOnYARN(t *testing.T) {
	worlds := uint64(layers.Draws(300, 1500))
	for seed := range worlds + worlds/2 {
		q := yarnWorld(rand.New(rand.NewPCG(seed, 31)))
		if seed >= worlds {
			q.Cluster.Hadoop = "2.7.7"
		}
		lazy, err := sim.RunOnYARN(q)
		if err != nil {
			t.Fatalf("world %d: %v", seed, err)
		}
		q.Cluster.EveryHeartbeat = true
		every, err := sim.RunOnYARN(q)
		if err != nil {
			t.Fatalf("world %d: %v", seed, err)
		}
		for i := range every.Containers {
			if i >= len(lazy.Containers) || lazy.Containers[i] != every.Containers[i] {
				t.Fatalf("world %d: container %d differs from that with every heartbeat: %+v", seed, i, every.Containers[i])
			}
		}
		if !reflect.DeepEqual(lazy, every) {
			t.Fatalf("world %d differs from that with every heartbeat", seed)
		}
	}
}

// checkPrediction checks that the same run as a prediction has the same attempts and
// ends, that the phases of each attempt fill its time, and that no two share a lane.
func checkPrediction(t *testing.T, seed uint64, q *model.WhatIf, done *sim.OnYARN) {
	var rows attemptsOnLanes
	var again sim.OnYARN
	p, err := sim.Simulator{Recorder: &rows, OnYARN: &again}.Predict(*q)
	if err != nil {
		t.Fatalf("world %d: %v", seed, err)
	}
	if rows.n != len(done.Attempts) || len(again.Containers) != len(done.Containers) {
		t.Errorf("world %d: the prediction has %d attempts and %d containers: want %d and %d", seed, rows.n, len(again.Containers), len(done.Attempts), len(done.Containers))
	}
	if rows.wrong != "" {
		t.Errorf("world %d: %s", seed, rows.wrong)
	}
	for i, o := range p.Jobs {
		want := done.Finished[i]
		if want == yarn.None {
			want = done.Applications[i].Ended
		}
		if o.Finish != want.Duration() {
			t.Errorf("world %d: job %s finishes at %v: want %v", seed, o.ID, o.Finish, want.Duration())
		}
	}
}

// attemptsOnLanes checks attempts as they end.
type attemptsOnLanes struct {
	n     int
	until map[[2]int]time.Duration // of a node and lane
	wrong string
}

func (r *attemptsOnLanes) Attempt(a *workload.Attempt) {
	r.n++
	sum := time.Duration(0)
	for _, d := range a.Phases {
		sum += d
	}
	if sum != a.Finish-a.Start || a.Runnable > a.Start || a.State == workload.Running {
		r.wrong = fmt.Sprintf("%s %v %d attempt %d %v: runnable at %v, from %v to %v, phases %v", a.Job, a.Kind, a.Task, a.Number, a.State, a.Runnable, a.Start, a.Finish, a.Phases)
	}
	if r.until == nil {
		r.until = map[[2]int]time.Duration{}
	}
	lane := [2]int{a.NodeIndex, a.Slot}
	if a.Start < r.until[lane] {
		r.wrong = fmt.Sprintf("%s %v %d attempt %d shares a lane of %s", a.Job, a.Kind, a.Task, a.Number, a.Node)
	}
	r.until[lane] = a.Finish
}

func countYARN(seen map[string]int, done *sim.OnYARN) {
	count := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	for _, a := range done.Attempts {
		count("attempt "+a.State.String(), true)
		count("second master", a.Master > 1)
	}
	for _, j := range done.Jobs {
		count("job "+j.State.String(), true)
		count("uber", j.Uber)
	}
	for _, c := range done.Containers {
		count("surplus", c.What == "" && c.Allocated != yarn.None)
	}
}

func checkSuccesses(t *testing.T, seed uint64, q *model.WhatIf, done *sim.OnYARN) {
	type task struct {
		job, kind int
		index     int32
	}
	succeeded := map[task]int{}
	for _, a := range done.Attempts {
		if a.Begun != yarn.None && a.Begun < a.Launched || a.Done != yarn.None && a.Done < a.Launched || a.Pending > a.Done && a.Done != yarn.None {
			t.Fatalf("world %d: times in disorder: %+v", seed, a.AttemptRecord)
		}
		if a.State == workload.Succeeded {
			succeeded[task{a.Job, int(a.Kind), a.Task}]++
		}
	}
	for i := range q.Jobs {
		j := &q.Jobs[i]
		if done.Jobs[i].State != workload.Succeeded || j.Conf.String("mapreduce.map.failures.maxpercent", "0") != "0" {
			continue
		}
		for kind, n := range []int{j.Maps.Count, j.Reduces.Count} {
			for index := range int32(n) {
				if succeeded[task{i, kind, index}] == 0 {
					t.Fatalf("world %d: job %s succeeded without its %v %d", seed, j.ID, workload.Kind(kind), index)
				}
			}
		}
	}
}

func checkContainers(t *testing.T, seed uint64, q *model.WhatIf, done *sim.OnYARN) {
	type change struct {
		at     engine.Time
		memory int64
	}
	for i := range q.Cluster.Nodes {
		var changes []change
		for _, c := range done.Containers {
			if c.Node != int32(i) || c.Start == yarn.None {
				continue
			}
			changes = append(changes, change{c.Start, c.Size.MemoryMiB})
			if c.End != yarn.None {
				changes = append(changes, change{c.End, -c.Size.MemoryMiB})
			}
			if c.Freed == yarn.None {
				t.Fatalf("world %d: container %s %d is never given back", seed, c.Application, c.Number)
			}
		}
		for _, x := range changes {
			used := int64(0)
			for _, y := range changes {
				if y.at < x.at || y.at == x.at && y.memory < 0 || y == x {
					used += y.memory
				}
			}
			if dies := q.Cluster.Nodes[i].Dies; used > q.Cluster.Nodes[i].Resource.MemoryMiB && (dies == 0 || x.at < engine.At(dies)) {
				t.Fatalf("world %d: node %d holds %d MiB at %v", seed, i, used, x.at)
			}
		}
	}
}

// A run on YARN in which nothing will ever happen again has stalled: beside the
// ApplicationMaster of 2 GiB a node of 4 GiB has no room for a map of 3 GiB.
func TestYarnStalls(t *testing.T) {
	var conf workload.Conf
	conf.Set("mapreduce.map.memory.mb", "3072")
	q := &model.WhatIf{
		Fidelity: model.Replay, Cluster: model.Cluster{Hadoop: "3.3.6", Racks: []string{"/r"}},
		YARN: &model.YARN{Policy: "capacity", Properties: map[string]string{
			"yarn.scheduler.capacity.root.queues": "default", "yarn.scheduler.capacity.root.default.capacity": "100",
			"yarn.scheduler.maximum-allocation-mb": "4096",
		}},
	}
	q.Cluster.Nodes = []model.Node{{Name: "n", Slowness: 1, Resource: model.Resource{MemoryMiB: 4096, VCores: 4}}}
	q.Jobs = []workload.Job{{ID: "j", Conf: conf, Maps: workload.MapTasks{Count: 1, Time: workload.Durations{All: time.Second}}}}
	_, err := sim.Simulator{}.Predict(*q)
	var stalled *sim.Stalled
	if !errors.As(err, &stalled) || len(stalled.Jobs) != 1 || !strings.HasSuffix(err.Error(), " s with 1 job unfinished (j ...): no container that they ask for will ever be given: job j waits for nodes, with 2,048 of 4,096 MiB in use") {
		t.Fatalf("got %v, want a stalled run", err)
	}
	q.Until = time.Minute
	p, err := sim.Simulator{}.Predict(*q)
	if err != nil || p.Jobs[0].State != workload.Running || p.Mean != time.Minute {
		t.Errorf("cut at a minute: %v, %v", p, err)
	}
}
