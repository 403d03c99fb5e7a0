package sim_test

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

// written writes all that a run reports: attempts, and apart from them offers and
// spans, because an attempt may be reported before or after the offer of its heartbeat.
type written struct {
	bytes.Buffer
	traced   bytes.Buffer
	attempts int
}

func (w *written) Attempt(a *workload.Attempt) {
	w.attempts++
	fmt.Fprintf(w, "%+v\n", *a)
}

func (w *written) Offer(o *model.Offer) { fmt.Fprintf(&w.traced, "%+v\n", *o) }

func (w *written) Span(s *model.Span) { fmt.Fprintf(&w.traced, "%+v\n", *s) }

// drawVariedWorld draws a world at any fidelity, whose jobs may come over days, whose
// tasks may be many, and whose transfers may be inexact.
func drawVariedWorld(t *rapid.T) *world {
	s := source{T: t}
	w := drawWorld(t)
	switch s.n("fidelity", 0, 3) {
	case 1:
		onDevices(t, w)
	case 2:
		onDevices(t, w)
		w.Fidelity = model.Phase
	}
	if s.rarely("days", 4) { // failures are forgotten and trackers come back
		for i := range w.Jobs {
			w.Jobs[i].Submit *= time.Duration(s.n("spread", 500, 2000))
		}
		w.Cluster.Conf.Set("mapred.max.tracker.blacklists", "1")
	}
	if s.rarely("network", 3) {
		w.Network = model.Network{Slack: []float64{0, 0.01, 0.2}[s.n("slack", 0, 2)], ExactFetches: s.n("exact fetches", 0, 20)}
	}
	if s.rarely("cut", 8) {
		w.Until = s.time("until", time.Second, 200*time.Second)
	}
	if s.rarely("other scheduler", 6) {
		w.Changes = []model.Change{{At: s.time("change", time.Second, 100*time.Second), Scheduler: model.Scheduler{Name: "fifo"}}}
	}
	return w
}

// drawSettings sets some of the properties of tasks away from their defaults, or to a limit,
// for all jobs.
func drawSettings(r *rand.Rand, jobs []workload.Job) {
	for _, key := range workload.Properties() {
		p, _ := workload.FindProperty(key)
		if !p.Phases || r.IntN(4) > 0 {
			continue
		}
		value, ok := p.Step(p.Default, r.IntN(4)-1)
		if form, least, most := p.Form(); form != "text" && form != "switch" && r.IntN(4) == 0 {
			value = fmt.Sprint([]float64{least, max(least, most)}[r.IntN(2)])
			ok = p.Check(value) == nil
		}
		for i := range jobs {
			if ok {
				jobs[i].Conf.Set(key, value)
			}
		}
	}
}

// shuffleWorld is a sort on two racks, whose shuffle has many flows on few links, slow uplinks and
// batches of fetches; links may miss a part of their capacity.
func shuffleWorld(i int) *world {
	w := &world{}
	w.Fidelity, w.Seed = model.Device, uint64(i)
	fast := server()
	fast.Uplink = []float64{30e6, 200e6}[i%2]
	w.Cluster = model.Cluster{
		Hadoop: []string{"0.20.2", "1.2.1"}[i/2%2], Nodes: alike(8+i, 2, 2), Racks: []string{"a", "b"}, Costs: eraCosts, Replication: 2,
		Machines: []model.Machine{fast},
	}
	for n := range w.Cluster.Nodes {
		w.Cluster.Nodes[n].Rack = n % 2
	}
	w.Scheduler.Name = "fifo"
	w.Programs = []model.Program{sortProgram()}
	w.Network = model.Network{Slack: []float64{0, 0.02, 0.2}[i%3], ExactFetches: []int{0, 1, 50}[i/3%3]}
	w.Jobs = []workload.Job{{
		ID: "j", Program: "sort", Conf: confOf("mapred.reduce.slowstart.completed.maps", "0.3"),
		Maps: workload.MapTasks{Count: 40, InputBytes: 40 * 24 << 20}, Reduces: workload.ReduceTasks{Count: 12 + i},
	}}
	return w
}

// What random runs report stays: attempts, offers, spans and the prediction. A line of the
// golden file says which run differs; -v writes what it reports. A change in them
// is a change in results.
func TestRunsStay(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	worlds := rapid.Custom(drawVariedWorld)
	const drawn = 1600 // a fifth of them in short tests
	for i := range layers.Draws(drawn, drawn) {
		w := worlds.Example(i)
		if i%100 == 0 {
			w = shuffleWorld(i / 100)
		}
		if i%2 == 1 {
			drawSettings(rand.New(rand.NewPCG(uint64(i), 37)), w.Jobs)
		}
		var out written
		run := sim.Simulator{Recorder: &out, Limit: longRun}
		if i%2 == 0 {
			run.Tracer, run.Spans = &out, &out
		}
		p, err := run.Predict(w.WhatIf)
		fmt.Fprintf(&out, "%s%+v %v\n", out.traced.String(), p, err)
		if testing.Verbose() {
			t.Logf("%d:\n%s", i, out.String())
		}
		fmt.Fprintf(&got, "%d %s %s %s: %d attempts, %.3f s, %.6x\n", i, w.Cluster.Hadoop, w.Scheduler.Name, w.Fidelity, out.attempts, p.Mean.Seconds(), sha256.Sum256(out.Bytes()))
	}
	vectortest.Lines(t, "testdata/runs.txt", got.String(), *update)
}

func TestAnswersStay(t *testing.T) {
	vectortest.Answers(t, vectors, "testdata/answers.txt", sim.Evaluators, *update)
}
