package platform_test

import (
	"math/rand/v2"
	"testing"

	"github.com/slotwave/slotwave/model/platform"
)

// A platform profile of 100,000 rows; at most a second is asked for.
func BenchmarkFitPlatform100k(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 7))
	var p platform.Profile
	for i, name := range platform.Phases {
		phase := platform.PhaseRows{Phase: name}
		for range 100_000 / len(platform.Phases) {
			mb := 6400 * r.Float64()
			phase.Rows = append(phase.Rows, platform.PhaseRow{MB: mb, MS: phasesOf(fittedPlatform())[i].At(mb) * (1 + 0.1*r.NormFloat64())})
		}
		p = append(p, phase)
	}
	for b.Loop() {
		if _, _, err := platform.Fit(p, platform.FitOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
