package execute

import (
	"iter"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// fakeHost runs one job without a JobTracker: at each heartbeat a node reports
// what has ended and fills its slots, with reduces once a part of the maps have
// ended.
type fakeHost struct {
	eng      *engine.Engine
	devices  *devices
	nodes    []model.Node
	job      *Job
	slow     int // maps that end before reduces start
	next     [2]int
	mapsDone int
	attempts [][]*Attempt // by node
	beats    []engine.Timer
	rows     []workload.Attempt
	nodeOf   map[int]int // by reduce
}

const heartbeat = engine.Time(3e9)

// play sets a job up on devices; run or the test itself has the engine go on.
func play(t *testing.T, q model.WhatIf) *fakeHost {
	t.Helper()
	h := &fakeHost{eng: engine.New(), nodes: q.Cluster.Nodes, attempts: make([][]*Attempt, len(q.Cluster.Nodes)), nodeOf: map[int]int{}}
	release, err := model.FindRelease(q.Cluster.Hadoop)
	if err != nil {
		t.Fatal(err)
	}
	x, err := New(&q, h.eng, h, Protocol{Poll: true, FetchSleep: engine.At(release.FetchSleep)})
	if err != nil {
		t.Fatal(err)
	}
	h.devices = x.(*devices)
	if h.job, err = x.NewJob(0, &q.Jobs[0]); err != nil {
		t.Fatal(err)
	}
	slowstart, err := q.Jobs[0].Conf.Number("mapred.reduce.slowstart.completed.maps")
	if err != nil {
		t.Fatal(err)
	}
	h.slow = int(slowstart * float64(h.job.maps()))
	for i := range h.nodes {
		timer := h.eng.NewTimer(engine.Heartbeat, int32(i), h.beat)
		timer.Reset(heartbeat * engine.Time(i) / engine.Time(len(h.nodes)))
		h.beats = append(h.beats, timer)
	}
	return h
}

func (h *fakeHost) over() bool { return len(h.rows) == h.job.maps()+h.job.Spec.Reduces.Count }

// run goes on to the end of the job.
func (h *fakeHost) run(t *testing.T) *fakeHost {
	t.Helper()
	for !h.over() {
		if !h.eng.Step() {
			t.Fatalf("the run stalled with %d attempts ended", len(h.rows))
		}
	}
	return h
}

// fill starts tasks on a node until it has no slot for one.
func (h *fakeHost) fill(node int32) {
	for k, slots := range [...]int{h.nodes[node].MapSlots, h.nodes[node].ReduceSlots} {
		kind := workload.Kind(k)
		tasks := [...]int{h.job.maps(), h.job.Spec.Reduces.Count}[k]
		ready := kind == workload.Map || h.mapsDone >= h.slow
		for ready && h.next[k] < tasks && h.held(node, kind) < slots {
			h.start(node, kind)
		}
	}
}

func (h *fakeHost) held(node int32, k workload.Kind) (n int) {
	for _, a := range h.attempts[node] {
		if a.Kind == k {
			n++
		}
	}
	return n
}

func (h *fakeHost) start(node int32, k workload.Kind) {
	a := new(NewAttempt(h.job, k, int32(h.next[k])))
	a.Node, a.Assigned = node, h.eng.Now()
	if k == workload.Reduce {
		h.nodeOf[h.next[k]] = int(node)
	}
	h.next[k]++
	h.attempts[node] = append(h.attempts[node], a)
	h.devices.Assign(a)
	a.Started, a.Start = true, h.eng.Now()
	h.devices.Start(a)
}

// beat takes in what has ended on a node, and fills its slots.
func (h *fakeHost) beat(node int32) {
	now := h.eng.Now()
	h.beats[node].Reset(now + heartbeat)
	for _, a := range h.attempts[node] {
		if a.Finish > now {
			continue
		}
		row := workload.Attempt{Kind: a.Kind, Task: int(a.Task), State: workload.Succeeded, Start: a.Start.Duration(), Finish: a.Finish.Duration()}
		h.devices.Release(a)
		h.devices.Close(a, &row)
		h.rows = append(h.rows, row)
		if a.Kind == workload.Map {
			h.mapsDone++
			h.job.LastMap = a.Finish
			h.job.Publish(now, 1, Output{Task: a.Task, Node: node})
			if h.mapsDone == h.job.maps() {
				h.job.Events.SetComplete(now, true)
				h.devices.MapsChanged(h.job)
			}
		}
	}
	h.attempts[node] = slices.DeleteFunc(h.attempts[node], func(a *Attempt) bool { return a.Finish <= now })
	h.fill(node)
}

func (h *fakeHost) FetchInterval(int32) engine.Time { return heartbeat }
func (h *fakeHost) CommitWait(int32) engine.Time    { return heartbeat }
func (h *fakeHost) SplitNode(a *Attempt) int32      { return a.Node }
func (h *fakeHost) Report(int32, engine.Time)       {}
func (h *fakeHost) HeartbeatsOver()                 {}
func (h *fakeHost) Worked(*Attempt)                 {}

func (h *fakeHost) Attempts(node int32) iter.Seq[*Attempt] { return slices.Values(h.attempts[node]) }
