package analytic

import (
	"math"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/approx"
)

// hpRuns are runs whose durations are 2 + 3*D, times 1 to 6 for the six of them.
func hpRuns(data ...float64) []HPRun {
	var runs []HPRun
	for _, d := range data {
		v := 2 + 3*d
		p := ariaProfile()
		p.FirstShuffleAvg, p.FirstShuffleMax = v, 2*v
		p.ShuffleAvg, p.ShuffleMax = 3*v, 4*v
		p.ReduceAvg, p.ReduceMax = 5*v, 6*v
		runs = append(runs, HPRun{Profile: p, Data: d})
	}
	return runs
}

func TestHPProfile(t *testing.T) {
	p, err := HPProfile(hpRuns(1, 2, 4), 800, 10)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][2]float64{
		"Sh1_avg": {p.FirstShuffleAvg, 32}, "Sh1_max": {p.FirstShuffleMax, 64},
		"Sh_typ_avg": {p.ShuffleAvg, 96}, "Sh_typ_max": {p.ShuffleMax, 128},
		"R_avg": {p.ReduceAvg, 160}, "R_max": {p.ReduceMax, 192}, "M_avg": {p.MapAvg, 20}, "M_max": {p.MapMax, 26},
	} {
		if !approx.Equal(c[0], c[1]) {
			t.Errorf("%s = %v, want %v", name, c[0], c[1])
		}
	}
	if p.Maps != 800 || p.Reduces != 64 {
		t.Errorf("%d maps, %d reduces", p.Maps, p.Reduces)
	}
	if _, err := p.Bounds(32, 32, true); err != nil {
		t.Errorf("bounds of the predicted profile: %v", err)
	}
}

// From five runs on, one bad run does not move the line.
func TestHPScaleRobust(t *testing.T) {
	s, err := hpScale([]float64{1, 2, 3, 4, 5, 6}, []float64{5, 8, 11, 140, 17, 20}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if !approx.Within(s.Prediction, 32, 1e-6) {
		t.Errorf("%v at 10, want 32", s.Prediction)
	}
	four, err := hpScale([]float64{1, 2, 3, 4}, []float64{5, 8, 11, 140}, 10)
	if err != nil || approx.Within(four.Prediction, 32, 0.1) {
		t.Errorf("four runs: %v, %v, want least squares", four.Prediction, err)
	}
}

func TestHPErrors(t *testing.T) {
	other := hpRuns(1, 2)
	other[1].Profile.Reduces = 32
	for _, c := range []struct {
		runs []HPRun
		data float64
		want string
	}{
		{hpRuns(1), 5, "runs: 1"},
		{other, 5, "runs[1].N_R: 32: want 64"},
		{hpRuns(1, 2), math.NaN(), "data: missing"},
		{hpRuns(2, 2), 5, "do not determine"},
	} {
		if _, err := HPProfile(c.runs, 10, c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	runs := hpRuns(10, 20)
	runs[0].Profile.ReduceAvg, runs[0].Profile.ReduceMax = 1, 1
	if _, err := HPProfile(runs, 10, 0); err == nil || !strings.Contains(err.Error(), "too far from the runs") {
		t.Errorf("a negative prediction: error %v", err)
	}
}

func TestRelative(t *testing.T) {
	source, target := []float64{10, 20, 30, 40, 50, 60}, []float64{6, 11, 16, 210, 26, 31}
	robust, err := relative(source, target, 100, "bisquare")
	if err != nil || !approx.Within(robust.Prediction, 51, 1e-6) {
		t.Errorf("%v, %v, want 51 beside one bad benchmark", robust.Prediction, err)
	}
	if _, err := relative(source, target, 100, "tree"); err == nil || !strings.Contains(err.Error(), "weight") {
		t.Errorf("unknown weight: error %v", err)
	}
}
