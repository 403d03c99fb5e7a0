package sim_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

// drawSuccessor draws a scheduler that can serve the jobs of a world. It skips
// worlds that some scheduler would not finish.
func (w *world) drawSuccessor(t *rapid.T) model.Scheduler {
	s := source{T: t}
	next := *w
	next.Scheduler = model.Scheduler{Name: s.oneOf("next policy", scheduler.Names()...)}
	next.drawPolicy(s)
	w.kills, w.limited = w.kills || next.kills, w.limited || next.limited
	switch next.Scheduler.Name {
	case "fair1":
		if slices.ContainsFunc(w.Jobs, func(j workload.Job) bool { return j.Maps.Count == 0 }) {
			t.Skip("without maps a job never gets reduces")
		}
	case "capacity":
		next.Scheduler.Queues = slices.Clone(w.Scheduler.Queues)
		if len(next.Scheduler.Queues) == 0 {
			next.Scheduler.Queues = []model.Queue{{Name: "default"}}
		}
		if w.Cluster.Hadoop == "ideal" && !w.instant {
			t.Skip("releases without set-up tasks have no poller")
		}
	}
	if w.wide {
		t.Skip("the schedulers differ in how wide tasks are")
	}
	return next.Scheduler
}

// A scheduler that takes over at the start serves the jobs as if it had been there
// before them, whichever scheduler it replaces.
func TestChangeAtTheStart(t *testing.T) {
	check(t, 500, 10_000, func(t *rapid.T) {
		w := drawWorld(t)
		next := w.drawSuccessor(t)
		w.Changes = []model.Change{{Scheduler: next}}
		changed := w.run(t)
		w.Changes, w.Scheduler = nil, next
		own := w.run(t)
		if err := different(changed.Prediction, own.Prediction, changed.rows, own.rows); err != nil {
			t.Fatalf("%s, to %s: %v", w.Cluster.Hadoop, next.Name, err)
		}
	})
}

// A scheduler that keeps nothing for itself can be replaced by its like at any time
// without a trace.
func TestChangeToTheSame(t *testing.T) {
	check(t, 500, 10_000, func(t *rapid.T) {
		w := drawWorld(t)
		if !slices.Contains([]string{"fifo", "maxedf", "minedf"}, w.Scheduler.Name) {
			return
		}
		plain := w.run(t)
		s := source{T: t}
		for range s.n("changes", 1, 3) {
			w.Changes = append(w.Changes, model.Change{At: s.time("change", 0, 5*time.Minute), Scheduler: w.Scheduler})
		}
		slices.SortStableFunc(w.Changes, func(a, b model.Change) int { return cmp.Compare(a.At, b.At) })
		changed := w.run(t)
		if err := different(plain.Prediction, changed.Prediction, plain.rows, changed.rows); err != nil {
			t.Fatalf("%s, %s at %v: %v", w.Cluster.Hadoop, w.Scheduler.Name, w.Changes[0].At, err)
		}
	})
}

// started lists the attempts that started before an instant.
func (o *outcome) started(before time.Duration) map[string]bool {
	all := map[string]bool{}
	for _, a := range o.rows {
		if a.Start < before {
			all[fmt.Sprintf("%s %v %d %d on %s at %v", a.Job, a.Kind, a.Task, a.Number, a.Node, a.Start)] = true
		}
	}
	return all
}

// Until the change the run is the one without it. The invariants hold after it too,
// and heartbeats that are not simulated leave no trace.
func TestChanges(t *testing.T) {
	differ := 0
	check(t, 1500, 10_000, func(t *rapid.T) {
		w := drawWorld(t)
		next := w.drawSuccessor(t)
		plain := w.run(t)
		at := source{T: t}.time("change", 0, 3*time.Minute)
		w.Changes = []model.Change{{At: at, Scheduler: next}}
		changed := w.run(t)
		name := fmt.Sprintf("%s, %s to %s at %v", w.Cluster.Hadoop, w.Scheduler.Name, next.Name, at)
		before, now := plain.started(at), changed.started(at)
		for a := range before {
			if !now[a] {
				t.Fatalf("%s: without the change %s", name, a)
			}
		}
		if len(now) != len(before) {
			t.Fatalf("%s: %d attempts started before it: %d without the change", name, len(now), len(before))
		}
		for _, invariant := range []func() error{
			changed.tasksEndOnce, changed.keysAreUnique, changed.attemptsAreSound, changed.slotsHoldOne, changed.slotsSuffice, changed.slowstartIsMet,
			changed.killsHaveCauses, changed.booksBalance, changed.littlesLaw,
		} {
			if err := invariant(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if different(plain.Prediction, changed.Prediction, plain.rows, changed.rows) != nil {
			differ++
		}
		if w.instant {
			return
		}
		w.Cluster.EveryHeartbeat = true
		every := w.run(t)
		if err := different(changed.Prediction, every.Prediction, changed.rows, every.rows); err != nil {
			t.Fatalf("%s, lazy and every: %v", name, err)
		}
	})
	t.Logf("%d runs were changed by their change", differ)
	if differ < 100 {
		t.Errorf("%d runs were changed by their change: want 100 or more", differ)
	}
}
