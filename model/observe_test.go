package model_test

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

func TestObserve(t *testing.T) {
	const mib = 1 << 20
	task := workload.Attempt{Kind: workload.Map, Counters: workload.Counters{InBytes: 4 * mib, OutBytes: 2 * mib}}
	for i := range task.Phases {
		task.Phases[i] = time.Duration(i+1) * time.Second
	}
	ms := func(p workload.Phase) float64 { return 1000 * float64(p+1) }
	var p model.PlatformProfile
	p.Observe(&task)
	task.Kind, task.InBytes, task.OutBytes = workload.Reduce, 8*mib, 16*mib
	p.Observe(&task)
	task.State = workload.Killed
	p.Observe(&task)
	want := []model.PhaseRow{
		{MB: 4, MS: ms(workload.PhaseRead)}, {MB: 2, MS: ms(workload.PhaseCollect)},
		{MB: 2, MS: ms(workload.PhaseSpill)}, {MB: 2, MS: ms(workload.PhaseMerge)},
		{MB: 8, MS: ms(workload.PhaseShuffle) + ms(workload.PhaseMerge)}, {MB: 16, MS: ms(workload.PhaseWrite)},
	}
	if len(p) != len(want) {
		t.Fatalf("%d phases, want %d", len(p), len(want))
	}
	for i, phase := range p {
		if phase.Phase != model.PlatformPhases[i] || len(phase.Rows) != 1 || phase.Rows[0] != want[i] {
			t.Errorf("%s: %v, want one row of %s: %v", phase.Phase, phase.Rows, model.PlatformPhases[i], want[i])
		}
	}
}

// Times that jump from 0 to a line, as merges do where the second spill comes,
// leave robust weights at one x, and a size to go by at none.
func TestFitStep(t *testing.T) {
	var p model.PlatformProfile
	for _, phase := range model.PlatformPhases {
		for mb := 1; mb <= 120; mb += 3 {
			for i := range 40 {
				ms := 0.0
				if phase != "merge" || mb > 25 {
					ms = 50 * float64(mb)
					if i < 3 {
						ms *= 1 + 0.1*float64(i+1)
					}
				}
				p.Add(phase, model.PhaseRow{MB: float64(mb), MS: ms})
			}
		}
	}
	for _, o := range []model.PlatformOptions{{}, {EqualSpread: true}} {
		platform, _, err := model.FitPlatform(p, o)
		if err != nil {
			t.Fatal(err)
		}
		if m := platform.Merge; m.Tau < 25 || m.Tau > 28 || m.At(20) != 0 || m.At(100) < 4990 || m.At(100) > 5100 {
			t.Errorf("equal spread %t: merge %+v, want 0 up to 26.5 MB and 50/MB beyond", o.EqualSpread, m)
		}
	}
}
