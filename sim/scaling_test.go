//go:build unix

package sim_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// allocated returns the bytes that a run allocates.
func allocated(t *testing.T, q model.WhatIf) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := (sim.Simulator{}).Predict(q); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A map that is never launched takes a bit of memory: the hosts of splits are
// listed only as far as the maps of the first minute need, and pages of tasks
// that are all alike have no table. Each map took 76 bytes when all was listed.
func TestMemoryOfPendingMaps(t *testing.T) {
	run := func(maps int) uint64 {
		q := model.WhatIf{Cluster: nodes(100, 4, 2), Scheduler: model.Scheduler{Name: "fifo"}, Seed: 1, Until: time.Minute}
		q.Jobs = []workload.Job{{ID: "job", Maps: workload.MapTasks{Count: maps, Time: lognormal(30, 5)}}}
		return allocated(t, q)
	}
	const few, many = 200_000, 2_200_000
	if each := float64(run(many)-run(few)) / (many - few); each > 0.25 {
		t.Errorf("each pending map takes %.2f bytes, want 0.25 at most", each)
	}
}
