package diagnose

import (
	"context"
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
	in := w.input()
	in.Question = &model.WhatIf{Cluster: model.Cluster{Hadoop: "1.0.4", Heartbeat: 3 * s, Nodes: []model.Node{{Name: "n1", MapSlots: 2}}}}
	d, err := Run(context.Background(), in, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	sums := accountSums(d.Jobs[0].Ledger)
	if sums[schedulerLimit] != 22*s || sums[betweenAttempts] != 0 {
		t.Errorf("%v of the scheduler, %v between attempts: want 22 s and 0: %+v", sums[schedulerLimit], sums[betweenAttempts], d.Jobs[0].Ledger)
	}
	in.Jobs, in.Question.Cluster.Nodes[0].MapSlots = w.input().Jobs, 1
	if d, err = Run(context.Background(), in, DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	if sums := accountSums(d.Jobs[0].Ledger); sums[schedulerLimit] != 0 || sums[heartbeatTime] < 2*s {
		t.Errorf("with one slot: %+v", d.Jobs[0].Ledger)
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
	b := keep(p.input().Jobs, nil)
	if got := b.stopped(newResources(p.resources)); len(got) != 0 {
		t.Errorf("%+v: the disks go on", got)
	}
	for i := range p.resources {
		if u := &p.resources[i]; u.Node == "n4" && u.Time >= 20*s && u.Time < 80*s {
			u.ForeignBusy = 1
		}
	}
	if got := b.stopped(newResources(p.resources)); len(got) != 1 || got[0].node != "n4" || got[0].from != 20*s || got[0].until != 80*s || len(got[0].tasks) == 0 {
		t.Errorf("%+v: want n4 from 20 to 80 s", got)
	}
}
