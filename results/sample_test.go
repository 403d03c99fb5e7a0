package results

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/workload"
)

// sampleJob is one job of a made-up workload.
type sampleJob struct {
	id, name, pool string
	submit         time.Duration
	maps, reduces  int
	mapTime        time.Duration
}

// sample makes a run without a simulator: tasks take the slot that is free
// first, in order of submission, and last a little differently each. It is
// meant to look like a run, not to be right.
func sample(t testing.TB, name string, cluster model.Cluster, seed uint64, jobs []sampleJob, to ...model.Recorder) *Run {
	t.Helper()
	q := &model.WhatIf{Name: name, Fidelity: model.Phase, Cluster: cluster, Seed: seed}
	q.Scheduler.Name = "fifo"
	rnd := workload.Seed(seed).Named(name)
	p := model.Prediction{Model: "simulator", Assumed: []string{"map_slots: not stated in the source"}}
	var attempts []workload.Attempt

	free := map[workload.Kind][]time.Duration{}
	where := map[workload.Kind][][2]int{} // node and slot
	for i, n := range cluster.Nodes {
		for s := range n.MapSlots {
			where[workload.Map] = append(where[workload.Map], [2]int{i, s})
		}
		for s := range n.ReduceSlots {
			where[workload.Reduce] = append(where[workload.Reduce], [2]int{i, n.MapSlots + s})
		}
	}
	for kind, slots := range where {
		free[kind] = make([]time.Duration, len(slots))
	}
	launch := func(a workload.Attempt, phases map[workload.Phase]time.Duration) workload.Attempt {
		type slot = [2]int
		best := 0
		for i, at := range free[a.Kind] {
			if at < free[a.Kind][best] {
				best = i
			}
		}
		var place slot = where[a.Kind][best]
		n := &cluster.Nodes[place[0]]
		a.Node, a.Rack, a.Slot = n.Name, cluster.Racks[n.Rack], place[1]
		a.Start = max(a.Runnable, free[a.Kind][best]) + 200*time.Millisecond
		a.Finish = a.Start
		for ph := range workload.NumPhases {
			d := phases[ph]
			if n.Slowness > 0 && ph != workload.PhaseShuffle {
				d = workload.Seconds(d.Seconds() * n.Slowness)
			}
			a.Phases[ph] = d
			a.Finish += d
		}
		free[a.Kind][best] = a.Finish
		attempts = append(attempts, a)
		return a
	}
	vary := func(d time.Duration, task, of int) time.Duration {
		return workload.Seconds(d.Seconds() * (0.85 + float64(0.3*rnd.For(of).Stream(task, of).Uniform())))
	}
	for i, j := range jobs {
		q.Jobs = append(q.Jobs, workload.Job{ID: j.id, Name: j.name, Submit: j.submit})
		out := model.JobOutcome{
			ID: j.id, Name: j.name, User: "ann", Pool: j.pool, Submit: j.submit, Launch: j.submit + time.Second,
			Running: j.submit + 2*time.Second, FirstMap: -1, LastMap: -1, ShuffleEnd: -1,
			Maps: j.maps, Reduces: j.reduces,
		}
		var slowstart time.Duration
		for k := range j.maps {
			d := j.mapTime
			a := workload.Attempt{Job: j.id, Task: k, Kind: workload.Map, Pool: j.pool, Runnable: out.Running, Locality: workload.Locality(k % 7 / 5)}
			a.InBytes, a.OutBytes, a.HDFSReadBytes, a.Spills, a.InRecords = 64<<20, 32<<20, 64<<20, 1, 671088
			phases := map[workload.Phase]time.Duration{
				workload.PhaseStartup: 800 * time.Millisecond,
				workload.PhaseRead:    vary(d/5, k, 10*i),
				workload.PhaseMap:     vary(d/2, k, 10*i+1),
				workload.PhaseCollect: vary(d/20, k, 10*i+2),
				workload.PhaseSpill:   vary(d/5, k, 10*i+3),
				workload.PhaseMerge:   vary(d/20, k, 10*i+4),
			}
			if k%23 == 11 {
				a.State = workload.Failed
				b := launch(a, map[workload.Phase]time.Duration{workload.PhaseStartup: 800 * time.Millisecond, workload.PhaseRead: d / 4})
				out.Failed++
				out.MapTime += b.Duration()
				out.Locality[b.Locality]++
				a.State, a.Number, a.Runnable = workload.Succeeded, 1, b.Finish
			}
			b := launch(a, phases)
			if out.FirstMap < 0 {
				out.FirstMap = b.Start
			}
			if k == j.maps/20 {
				slowstart = b.Finish
			}
			out.LastMap = max(out.LastMap, b.Finish)
			out.MapTime += b.Duration()
			out.Locality[b.Locality]++
			out.InBytes += b.InBytes
		}
		out.Finish = out.LastMap
		for k := range j.reduces {
			a := workload.Attempt{Job: j.id, Task: k, Kind: workload.Reduce, Pool: j.pool, Runnable: slowstart, Locality: workload.NoLocality}
			first := slices.Min(free[workload.Reduce])
			start := max(slowstart, first) + time.Second
			a.ShuffleBytes, a.HDFSWriteBytes, a.OutBytes = 300<<20, 200<<20, 200<<20
			phases := map[workload.Phase]time.Duration{
				workload.PhaseStartup: 800 * time.Millisecond,
				workload.PhaseShuffle: max(0, out.LastMap-start) + vary(2*time.Second, k, 10*i+5),
				workload.PhaseMerge:   vary(2*time.Second, k, 10*i+6),
				workload.PhaseReduce:  vary(6*time.Second, k, 10*i+7),
				workload.PhaseWrite:   vary(4*time.Second, k, 10*i+8),
				workload.PhaseCommit:  300 * time.Millisecond,
			}
			if k%9 == 4 {
				a.State = workload.Killed
				a.WaitFetch = time.Second
				b := launch(a, map[workload.Phase]time.Duration{workload.PhaseStartup: 800 * time.Millisecond, workload.PhaseShuffle: 3 * time.Second})
				out.Killed++
				out.ReduceTime += b.Duration()
				a.State, a.Number, a.Runnable = workload.Succeeded, 1, b.Finish
			}
			b := launch(a, phases)
			out.ShuffleEnd = max(out.ShuffleEnd, b.Finish-b.Phases[workload.PhaseMerge]-b.Phases[workload.PhaseReduce]-b.Phases[workload.PhaseWrite]-b.Phases[workload.PhaseCommit])
			out.Finish = max(out.Finish, b.Finish)
			out.ReduceTime += b.Duration()
			out.ShuffleBytes += b.ShuffleBytes
			out.OutBytes += b.OutBytes
		}
		out.Finish += 2 * time.Second
		out.Low, out.High = out.Finish-out.Submit, out.Finish-out.Submit
		out.MapWaves = (j.maps + len(where[workload.Map]) - 1) / len(where[workload.Map])
		out.ReduceWaves = (j.reduces + len(where[workload.Reduce]) - 1) / max(1, len(where[workload.Reduce]))
		p.Jobs = append(p.Jobs, out)
		p.Mean = max(p.Mean, out.Finish)
	}
	p.Low, p.High = p.Mean, p.Mean
	slices.SortStableFunc(attempts, func(a, b workload.Attempt) int { return cmp.Compare(a.Finish, b.Finish) })
	s := NewStats(q, true)
	for i := range attempts {
		s.Attempt(&attempts[i])
		Recorders(to).Attempt(&attempts[i])
	}
	return &Run{Title: name, Question: q, Predictions: []model.Prediction{p}, Stats: s}
}

// sampleCluster has nodes in two racks.
func sampleCluster(nodes, mapSlots, reduceSlots int) model.Cluster {
	c := model.Cluster{Hadoop: "1.0.4", Racks: []string{"/rack0", "/rack1"}}
	for i := range nodes {
		c.Nodes = append(c.Nodes, model.Node{
			Name: fmt.Sprintf("node%02d", i), Rack: i % 2, MapSlots: mapSlots, ReduceSlots: reduceSlots, Slowness: 1,
		})
	}
	return c
}

// smallSample is the run behind the golden files: three jobs on six nodes, one
// of them slow.
func smallSample(t testing.TB, to ...model.Recorder) *Run {
	c := sampleCluster(6, 2, 2)
	c.Nodes[4].Slowness = 1.6
	return sample(t, "three-jobs", c, 1, []sampleJob{
		{"job_1", "sort", "etl", 0, 60, 8, 12 * time.Second},
		{"job_2", "grep", "adhoc", 20 * time.Second, 25, 0, 6 * time.Second},
		{"job_3", `say "hi", <b>you</b>`, "etl", 40 * time.Second, 30, 10, 9 * time.Second},
	}, to...)
}

// names lists a directory.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func create(t testing.TB, path string, force bool) *resultdir.Dir {
	t.Helper()
	d, err := resultdir.Create(path, resultdir.Purpose{Force: force})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
