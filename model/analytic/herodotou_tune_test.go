package analytic

import (
	"math"
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

// Stock settings spill three times; a larger record part and more reduces are
// there to be found.
func TestTune(t *testing.T) {
	h := DefaultPhases()
	before, err := h.Phases(corrected)
	if err != nil {
		t.Fatal(err)
	}
	space := []SearchParam{
		{Name: "pSortMB", Min: 50, Max: 400}, {Name: "pSortRecPerc", Min: 0.01, Max: 0.5},
		{Name: "pSortFactor", Min: 2, Max: 100}, {Name: "pNumReducers", Min: 1, Max: 64},
		{Name: "pShuffleInBufPerc", Min: 0.1, Max: 0.9}, {Name: "pUseCombine", Min: 0, Max: 0},
	}
	tuned, ms, err := h.Tune(space, 1)
	if err != nil {
		t.Fatal(err)
	}
	after, err := tuned.Phases(corrected)
	if err != nil || after.WaveJobTime != ms {
		t.Errorf("%v ms, %v, the tuned job takes %v", ms, err, after.WaveJobTime)
	}
	if ms > 0.9*before.WaveJobTime || after.NumSpills != 1 || tuned.SortMB > 200 {
		t.Errorf("%v ms after %v, %v spills with a buffer of %v MiB", ms, before.WaveJobTime, after.NumSpills, tuned.SortMB)
	}
	again, _, err := h.Tune(space, 1)
	if err != nil || again != tuned {
		t.Errorf("the same seed: %+v, then %+v, %v", tuned, again, err)
	}

	same, ms, err := h.Tune([]SearchParam{{Name: "pSortMB", Min: 1, Max: 5}}, 1)
	if err != nil || same != h || ms != before.WaveJobTime {
		t.Errorf("only worse settings: %v ms, %v, want the job as it came", ms, err)
	}
	if _, _, err := h.Tune([]SearchParam{{Name: "pSortMb", Min: 1, Max: 5}}, 1); err == nil || !strings.Contains(err.Error(), `did you mean "pSortMB"?`) {
		t.Errorf("unknown parameter: error %v", err)
	}
	h.SortCPU = math.NaN()
	if _, _, err := h.Tune(space, 1); err == nil || !strings.Contains(err.Error(), "csSortCPUCost") {
		t.Errorf("missing statistic: error %v", err)
	}
}
