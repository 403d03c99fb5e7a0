package analytic

import (
	"math"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/approx"
	"github.com/slotwave/slotwave/model/fit"
)

// The shape of the paper's Fig. 3.
func khanJob() ihpJob {
	return ihpJob{
		Maps: 80, MapSlots: 16, Reduces: 32, ReduceSlots: 16, MapAvg: 12, MapMax: 15,
		Shuffle1Avg: 50, Shuffle1Max: 58, Shuffle2Avg: 20, Shuffle2Max: 24, ReduceAvg: 8, ReduceMax: 11,
	}
}

// Counts by wave that follow from the slots are those of the vector, which gives
// them.
func TestIHPCounts(t *testing.T) {
	b, err := khanJob().Bounds()
	if err != nil || b.Low != 98 || b.Up != 119 || b.Avg != 108.5 {
		t.Errorf("%v to %v, mean %v, %v, want 98, 119, 108.5", b.Low, b.Up, b.Avg, err)
	}
	j := khanJob()
	wrong := 40
	j.ShuffleWave1 = &wrong
	if _, err := j.Bounds(); err == nil || !strings.Contains(err.Error(), "N_sh_w1: 40") {
		t.Errorf("more reduces in the first wave than there are: error %v", err)
	}
}

// With one wave the shuffle of later waves may be missing; with more it may not.
func TestIHPMissing(t *testing.T) {
	j := khanJob()
	j.Shuffle2Avg, j.Shuffle2Max = math.NaN(), math.NaN()
	if _, err := j.Bounds(); err == nil || !strings.Contains(err.Error(), "T_sh_w2_avg: missing") {
		t.Errorf("two waves: error %v", err)
	}
	j.ReduceSlots = 32
	if _, err := j.Bounds(); err != nil {
		t.Errorf("one wave: %v", err)
	}
	j.Reduces, j.ReduceAvg, j.Shuffle1Avg = 0, math.NaN(), math.NaN()
	if b, err := j.Bounds(); err != nil || b.Low != 12 {
		t.Errorf("map-only: %v, %v, want the map wave alone", b.Low, err)
	}
}

type ihpRun struct{ Data, Reduces, Duration float64 }

func fitRuns(runs []ihpRun, o fit.LocalOptions) (ihpRegression, error) {
	var x [][]float64
	var y []float64
	for _, r := range runs {
		x, y = append(x, []float64{r.Data, r.Reduces}), append(y, r.Duration)
	}
	return fitIHP(x, y, o)
}

// ihpAt fits and asks once.
func ihpAt(runs []ihpRun, data, reduces float64, o fit.LocalOptions) (duration, bandwidth float64, err error) {
	r, err := fitRuns(runs, o)
	if err != nil {
		return 0, 0, err
	}
	return r.At(data, reduces)
}

func TestIHPRegression(t *testing.T) {
	var runs []ihpRun
	for _, d := range []float64{5, 10, 15, 20, 25, 30} {
		for _, r := range []float64{20, 40, 80} {
			runs = append(runs, ihpRun{Data: d, Reduces: r, Duration: 60 + 4*d - 0.5*r})
		}
	}
	o := fit.LocalOptions{Intercept: true, Scale: "zscore"}
	got, h, err := ihpAt(runs, 12, 30, o)
	if err != nil || !approx.Within(got, 93, 1e-6) || h < 0.1 || h > 10 {
		t.Errorf("%v s with h = %v, %v, want 93 s", got, h, err)
	}
	if got, _, err := ihpAt(runs, 1, 400, o); err != nil || got != 0 {
		t.Errorf("far below zero: %v, %v, want 0", got, err)
	}
	if _, _, err := ihpAt(runs[:1], 12, 30, o); err == nil {
		t.Error("one run: no error")
	}
}

// Runs in two tight clusters predict one another with a narrow bandwidth that
// knows nothing between them; there a wider one must serve.
func TestIHPRegressionWidens(t *testing.T) {
	var runs []ihpRun
	for _, c := range []float64{0, 1000} {
		for i := range 8 {
			d, r := c+float64(i%3), c+float64(i/3)
			runs = append(runs, ihpRun{Data: d, Reduces: r, Duration: 10 + d*d/1000 + r})
		}
	}
	o := fit.LocalOptions{Intercept: true, Scale: "none"}
	_, near0, err := ihpAt(runs, 1, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	_, between, err := ihpAt(runs, 400, 500, o)
	if err != nil || between <= near0 {
		t.Errorf("h = %v between the clusters, %v in one, %v: want a wider one", between, near0, err)
	}
}

func TestIHPStagesErrors(t *testing.T) {
	j := ihpStageJob{
		MapIn: 64, MapSel: 1, MapAvg: 12, Maps: 80, MapSlots: 16, Reduces: 32, ReduceSlots: 16,
		ShuffleAvg: math.NaN(), Shuffle1Avg: 50, ShuffleWave1: 16, Shuffle2Avg: 20, ShuffleWave2: 16,
		ReduceIn: 160, ReduceSel: 0.5, ReduceAvg: 8,
	}
	if _, err := j.Stages(); err != nil {
		t.Errorf("two waves need no average over one: %v", err)
	}
	j.ShuffleWave2 = 10
	if _, err := j.Stages(); err == nil || !strings.Contains(err.Error(), "N_sh_w2") {
		t.Errorf("26 shuffles of 32 reduces: error %v", err)
	}
	j.ReduceSlots = 32
	if _, err := j.Stages(); err == nil || !strings.Contains(err.Error(), "T_sh_avg: missing") {
		t.Errorf("one wave: error %v", err)
	}
	j.Reduces = 0
	if s, err := j.Stages(); err != nil || s.Shuffle != 0 || s.ReduceTotal != 0 {
		t.Errorf("map-only: %+v, %v", s, err)
	}
}
