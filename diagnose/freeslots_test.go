package diagnose

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// A slot is free all the time while a map waits from 5 to 30 s. Its tracker
// offers it within a heartbeat; the scheduler has let the rest go by.
func TestSchedulerLimit(t *testing.T) {
	w := &world{}
	w.job("j", 0, 50*s)
	w.attempt(workload.Map, "n1", 0, 5*s, 6*s, 28*s)
	w.attempt(workload.Map, "n1", 0, 5*s, 30*s, 48*s)
	ledger := func(shared bool, node model.Node) []Step {
		in := w.input()
		in.Question = &model.WhatIf{Cluster: model.Cluster{Hadoop: "1.0.4", Heartbeat: 3 * s, SharedSlots: shared, Nodes: []model.Node{node}}}
		d, err := Run(context.Background(), in, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		return d.Jobs[0].Ledger
	}
	list := ledger(false, model.Node{Name: "n1", MapSlots: 2})
	if sums := accountSums(list); sums[schedulerLimit] != 22*s || sums[betweenAttempts] != 0 {
		t.Errorf("%v of the scheduler, %v between attempts: want 22 s and 0: %+v", sums[schedulerLimit], sums[betweenAttempts], list)
	}
	list = ledger(false, model.Node{Name: "n1", MapSlots: 1})
	if sums := accountSums(list); sums[schedulerLimit] != 0 || sums[heartbeatTime] < 2*s {
		t.Errorf("with one slot: %+v", list)
	}
	// Slots that serve both kinds of tasks are as good as two map slots.
	list = ledger(true, model.Node{Name: "n1", MapSlots: 1, ReduceSlots: 1})
	if sums := accountSums(list); sums[schedulerLimit] != 22*s {
		t.Errorf("shared slots: %v of the scheduler: want 22 s: %+v", sums[schedulerLimit], list)
	}
}

// Of free slots the one that has been free the longest is found.
func TestLongestFree(t *testing.T) {
	f := longestFree([]period{{1, 0, 10}, {2, 4, 20}, {3, 12, 14}, {4, 30, 40}})
	for _, c := range []struct {
		at    time.Duration
		node  int32
		since time.Duration
	}{{5, 1, 0}, {10, 1, 0}, {11, 2, 4}, {20, 2, 4}, {25, -1, 0}, {31, 4, 30}, {0, -1, 0}} {
		if got := f.before(c.at); got.node != c.node || got.node >= 0 && got.since != c.since {
			t.Errorf("before %d: %+v, want node %d since %d", c.at, got, c.node, c.since)
		}
	}
}

// Others have the processors and disks of a node for a minute: it stands still.
func TestStopped(t *testing.T) {
	p := newTestRun()
	p.use("n4", "cpu", func(u *Usage) {
		if u.Time >= 20*s && u.Time < 80*s {
			u.ForeignBusy = 1
		}
	})
	b := keep(p.input().Jobs, nil, nil)
	if got := b.stopped(newResources(p.resources)); len(got) != 0 {
		t.Errorf("%+v: the disks go on", got)
	}
	for i := range p.resources {
		if u := &p.resources[i]; u.Node == "n4" && u.Time >= 20*s && u.Time < 80*s {
			u.ForeignBusy = 1
		}
	}
	if got := b.stopped(newResources(p.resources)); len(got) != 1 || got[0].Host != "n4" || got[0].From != 20*s || got[0].To != 80*s || len(got[0].Held) == 0 {
		t.Errorf("%+v: want n4 from 20 to 80 s", got)
	}
}

// Two slots are free for 35 s, and one for a second, while maps wait; from the first
// runnable map to the last end it is 43 s. The maps themselves take only 8 s.
func TestFreeWhileWaiting(t *testing.T) {
	w := &world{question: slotsOf(2, "n1")}
	w.job("j", 0, 50*s)
	w.attempt(workload.Map, "n1", 0, 5*s, 40*s, 48*s)
	w.attempt(workload.Map, "n1", 1, 5*s, 41*s, 48*s)
	d := w.run(t)
	i := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Rule == "R15" })
	if want := 35.5 / 43; i < 0 || math.Abs(d.Findings[i].Value-want) > 1e-9 {
		t.Errorf("%+v: want R15 with %.3f of the slots", d.Findings, want)
	}
}
