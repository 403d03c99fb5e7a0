package sim_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// launches collects the launches of all offers.
type launches struct {
	t    *rapid.T
	node map[launchKey]model.Offer
}

type launchKey struct {
	job           string
	kind          workload.Kind
	task, attempt int
}

func (l *launches) Offer(o *model.Offer) {
	var given [2]int
	for _, a := range o.Asked {
		if a.Task < 0 {
			if a.Reason == model.NotDeclined {
				l.t.Fatalf("%v, %s: %s launched nothing, for no reason", o.Time, o.Node, a.Job)
			}
			continue
		}
		given[a.Kind]++
		k := launchKey{job: a.Job, kind: a.Kind, task: a.Task, attempt: a.Attempt}
		if _, twice := l.node[k]; twice || a.Reason != model.NotDeclined {
			l.t.Fatalf("%+v launched twice, or for a reason not: %v", k, a.Reason)
		}
		l.node[k] = *o
	}
	for k, why := range o.Reason {
		if less := given[k] < o.Free[k]; less != (why != model.NotDeclined) {
			l.t.Fatalf("%v, %s: %d of %d %v slots used: reason %v", o.Time, o.Node, given[k], o.Free[k], workload.Kind(k), why)
		}
	}
}

// A traced run is the same run, and its offers launch each attempt once, on its
// node and before it starts.
func TestTrace(t *testing.T) {
	check(t, 500, 5000, func(t *rapid.T) {
		w := drawWorld(t)
		if w.instant { // no heartbeats
			return
		}
		plain := w.run(t)
		var rows table
		offers := launches{t: t, node: map[launchKey]model.Offer{}}
		p, err := sim.Simulator{Recorder: &rows, Tracer: &offers, Limit: longRun}.Predict(w.WhatIf)
		if err != nil {
			t.Fatal(err)
		}
		if err := different(plain.Prediction, p, plain.rows, rows); err != nil {
			t.Fatalf("plain and traced: %v", err)
		}
		n := 0
		for _, a := range rows {
			if a.Kind != workload.Map && a.Kind != workload.Reduce {
				continue
			}
			n++
			o, ok := offers.node[launchKey{job: a.Job, kind: a.Kind, task: a.Task, attempt: a.Number}]
			if !ok || o.Node != a.Node || o.Time > a.Start {
				t.Fatalf("%+v: launched by %+v", a, o)
			}
		}
		if n != len(offers.node) {
			t.Fatalf("%d maps and reduces, %d launched by offers", n, len(offers.node))
		}
	})
}
