package analytic

import (
	"testing"

	"github.com/slotwave/slotwave/internal/approx"
)

var corrected = HerodotouOptions{Mode: Corrected}

// With splits of one size the waves of the virtual profile, reduces after all
// maps, take the phase model's whole waves.
func TestHerodotouWaves(t *testing.T) {
	h := DefaultPhases()
	p, err := h.Phases(corrected)
	if err != nil {
		t.Fatal(err)
	}
	j, err := h.waves(1, corrected)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Waves(j)
	if err != nil {
		t.Fatal(err)
	}
	if !approx.Equal(w.JobEnd*1000, p.WaveJobTime) {
		t.Errorf("waves end at %v s, the phase model says %v ms", w.JobEnd, p.WaveJobTime)
	}
}

// A job without reduces has maps alone.
func TestHerodotouWavesMapOnly(t *testing.T) {
	h := DefaultPhases()
	h.Reducers = 0
	if j, err := h.waves(0.05, corrected); err != nil || j.Reduces != 0 || len(j.Map) != 1 {
		t.Errorf("map-only: %+v, %v", j, err)
	}
}
