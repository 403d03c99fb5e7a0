package taskplan_test

import (
	"math"
	"testing"

	"github.com/slotwave/slotwave/internal/approx"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// What a JVM of its own adds to the work of a core: opening a file, fetching by
// the byte, and the first records, sqrt(Cold n) of them for n, whichever way the
// merges of a reduce divide them.
func TestYoungJVM(t *testing.T) {
	cpu := func(steps taskplan.Steps) (ns [workload.NumPhases]float64) {
		for _, s := range steps {
			if s.Resource == taskplan.CPU {
				ns[s.Phase] += s.Work
			}
		}
		return ns
	}
	const cold, n = 10_000, 40_000
	old := planner(t, defaultConf(), 2, func(p *taskplan.Planner) {
		p.Cost.PartitionCPU, p.Cost.SerdeCPU, p.Cost.SortCPU, p.Cost.MergeCPU = 100, 300, 10, 500
	})
	coldPlanner := planner(t, defaultConf(), 2, func(p *taskplan.Planner) {
		p.Cost, p.Cold, p.RecordCPU, p.OpenCPU, p.FetchCPU = old.Cost, cold, 200, 7e6, 3
	})
	flow := taskplan.MapFlow{InStored: 4e6, InBytes: 4e6, InRecords: n, OutBytes: 4e6, OutRecords: n}
	a, b := cpu(mapPlan(t, old, flow).Steps), cpu(mapPlan(t, coldPlanner, flow).Steps)
	extra := math.Sqrt(cold * n)
	for phase, want := range map[workload.Phase]float64{
		workload.PhaseRead: 7e6, workload.PhaseCollect: 200 * extra, workload.PhaseSpill: a[workload.PhaseSpill] * extra / n,
	} {
		if got := b[phase] - a[phase]; !approx.Equal(got, want) {
			t.Errorf("%v: %v ns more, want %v", phase, got, want)
		}
	}
	outputs := make([]taskplan.Segment, 12)
	for i := range outputs {
		outputs[i] = taskplan.Segment{Stored: 20e6, Raw: 20e6, Records: n}
	}
	before, after := old.Reduce(outputs), coldPlanner.Reduce(outputs)
	if before.InMemMerges < 2 {
		t.Fatalf("%d merges: want several", before.InMemMerges)
	}
	a, b = cpu(before.Steps), cpu(after.Steps)
	merges := 500*math.Sqrt(cold*12*n) + 3*12*20e6
	if got := b[workload.PhaseShuffle] + b[workload.PhaseMerge] - a[workload.PhaseShuffle] - a[workload.PhaseMerge]; !approx.Equal(got, merges) {
		t.Errorf("shuffle and sort: %v ns more, want %v", got, merges)
	}
	if got := b[workload.PhaseWrite] - a[workload.PhaseWrite]; !approx.Equal(got, 7e6) {
		t.Errorf("write: %v ns more, want %v", got, 7e6)
	}
}
