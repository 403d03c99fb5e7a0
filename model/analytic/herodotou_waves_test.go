package analytic

import (
	"strings"
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
	j, err := h.waves([]splitGroup{{Size: h.SplitSize, Count: h.Mappers}}, 1, corrected)
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

// A short last split has a short map; reduces see the average map.
func TestHerodotouWavesSplits(t *testing.T) {
	h := DefaultPhases()
	j, err := h.waves([]splitGroup{{Size: 64 << 20, Count: 39}, {Size: 1 << 20, Count: 1}}, 0.05, corrected)
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Map) != 40 || j.Map[39] >= j.Map[38]/10 || j.Map[0] != j.Map[38] {
		t.Errorf("map durations %v", j.Map)
	}
	all, err := h.waves([]splitGroup{{Size: (39*64 + 1) << 20 / 40.0, Count: 40}}, 0.05, corrected)
	if err != nil || !approx.Equal(all.Shuffle, j.Shuffle) || !approx.Equal(all.Reduce, j.Reduce) {
		t.Errorf("reduces of the average split %v, %v, want %v", all.Shuffle, err, j.Shuffle)
	}
	h.Reducers = 0
	if j, err = h.waves([]splitGroup{{Size: 64 << 20, Count: 8}}, 0.05, corrected); err != nil || j.Reduces != 0 || len(j.Map) != 1 {
		t.Errorf("map-only: %+v, %v", j, err)
	}
	for _, c := range []struct {
		splits []splitGroup
		want   string
	}{
		{nil, "splits: none"},
		{[]splitGroup{{Size: -1, Count: 1}}, "splits[0].size: -1"},
		{[]splitGroup{{Size: 1, Count: 0}}, "splits[0].count: 0"},
		{[]splitGroup{{Size: 1, Count: 1}, {Size: 2, Count: 1 << 40}}, "of several sizes"},
	} {
		if _, err := h.waves(c.splits, 0.05, corrected); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
