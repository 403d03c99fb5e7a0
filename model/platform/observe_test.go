package platform_test

import (
	"slices"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/workload"
)

func TestObserve(t *testing.T) {
	const mib = 1 << 20
	task := workload.Attempt{Kind: workload.Map, Counters: workload.Counters{InBytes: 4 * mib, OutBytes: 2 * mib}}
	for i := range task.Phases {
		task.Phases[i] = time.Duration(i+1) * time.Second
	}
	ms := func(p workload.Phase) float64 { return 1000 * float64(p+1) }
	var p platform.Profile
	p.Observe(&task)
	task.Kind, task.InBytes, task.OutBytes, task.WaitFetch = workload.Reduce, 8*mib, 16*mib, 500*time.Millisecond
	p.Observe(&task)
	task.State = workload.Killed
	p.Observe(&task)
	want := []platform.PhaseRow{
		{MB: 4, MS: ms(workload.PhaseRead)}, {MB: 2, MS: ms(workload.PhaseCollect)},
		{MB: 2, MS: ms(workload.PhaseSpill)}, {MB: 2, MS: ms(workload.PhaseMerge)},
		{MB: 8, MS: ms(workload.PhaseShuffle) + ms(workload.PhaseMerge) - 500}, {MB: 16, MS: ms(workload.PhaseWrite)},
		{MB: 8, MS: ms(workload.PhaseMerge)},
	}
	if len(p) != len(want) {
		t.Fatalf("%d phases, want %d", len(p), len(want))
	}
	names := append(slices.Clone(platform.Phases[:]), platform.SortPhase)
	for i, phase := range p {
		if phase.Phase != names[i] || len(phase.Rows) != 1 || phase.Rows[0] != want[i] {
			t.Errorf("%s: %v, want one row of %s: %v", phase.Phase, phase.Rows, names[i], want[i])
		}
	}
}
