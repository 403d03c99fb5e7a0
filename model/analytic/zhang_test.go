package analytic

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/internal/approx"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/platform"
)

// The platform of the worked example.
func fittedPlatform() platform.Model {
	line := func(a, b float64) platform.PhaseModel { return platform.OneLine(fit.Line{A: a, B: b}) }
	return platform.Model{
		Read: line(300, 105), Collect: line(120, 46), Spill: line(150, 61), Merge: line(40, 38),
		Shuffle: platform.PhaseModel{Line: fit.Line{A: 1800, B: 62}, Tau: 3200, Beyond: fit.Line{A: -90000, B: 95}},
		Write:   line(260, 88),
	}
}

// The record selectivity is the size selectivity where it is not known; a phase
// is never negative; overhead counts once a task.
func TestPlatformPredict(t *testing.T) {
	nan := math.NaN()
	j := ZhangJob{
		Maps: 495, Reduces: 240, BlockMBAvg: 62.6, BlockMBMax: 64, BlockRecsAvg: 656000, BlockRecsMax: 671088,
		MapSel: 0.5, MapRecSel: nan, ReduceSel: 1, MapMSPerRec: 0.0009, ReduceMSPerRec: 0.0011, Skew: 1,
	}
	same, err := j.Times(ptr(fittedPlatform()), 128, 128)
	if err != nil {
		t.Fatal(err)
	}
	j.MapRecSel = 0.5
	if got, err := j.Times(ptr(fittedPlatform()), 128, 128); err != nil || got != same {
		t.Errorf("%+v, %v, want %+v", got, err, same)
	}
	j.OverheadMS = 1000
	if got, _ := j.Times(ptr(fittedPlatform()), 128, 128); !approx.Equal(got.MapAvg, same.MapAvg+1000) || !approx.Equal(got.ReduceMax, same.ReduceMax+1000) {
		t.Errorf("overhead of 1000 ms: %+v, without %+v", got, same)
	}
	j.Reduces, j.ReduceSel, j.ReduceMSPerRec = 0, nan, nan
	if got, err := j.Times(ptr(fittedPlatform()), 128, 0); err != nil || got.ReduceAvg != 0 || got.ShuffleMB != 0 {
		t.Errorf("map-only: %+v, %v", got, err)
	}
	if ms := platform.OneLine(fit.Line{A: -50, B: 1}).At(10); ms != 0 {
		t.Errorf("a phase of %v ms, want 0", ms)
	}
}

func TestPlatformPredictErrors(t *testing.T) {
	good := ZhangJob{
		Maps: 4, Reduces: 2, BlockMBAvg: 62.6, BlockMBMax: 64, BlockRecsAvg: 656000, BlockRecsMax: 671088,
		MapSel: 1, MapRecSel: 1, ReduceSel: 1, Skew: 1,
	}
	for _, c := range []struct {
		want   string
		change func(*ZhangJob)
		sm, sr int
	}{
		{"S_M: 0", func(*ZhangJob) {}, 0, 1},
		{"S_R: 0", func(*ZhangJob) {}, 1, 0},
		{"map_sel: -1", func(j *ZhangJob) { j.MapSel = -1 }, 1, 1},
		{"map_rec_sel: -1", func(j *ZhangJob) { j.MapRecSel = -1 }, 1, 1},
		{"red_sel: missing", func(j *ZhangJob) { j.ReduceSel = math.NaN() }, 1, 1},
		{"skew: 0.5", func(j *ZhangJob) { j.Skew = 0.5 }, 1, 1},
		{"block_mb_max: 10", func(j *ZhangJob) { j.BlockMBMax = 10 }, 1, 1},
	} {
		j := good
		c.change(&j)
		if _, err := j.Times(ptr(fittedPlatform()), c.sm, c.sr); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func TestPlatformJobErrors(t *testing.T) {
	m := ZhangTask{Kind: "map", InBytes: 10, InRecs: 1, OutBytes: 5, OutRecs: 1}
	for _, c := range []struct {
		tasks []ZhangTask
		want  string
	}{
		{nil, "no map"},
		{[]ZhangTask{m, {Kind: "combine"}}, `tasks[1].kind: unknown "combine"`},
		{[]ZhangTask{{Kind: "map"}}, "the map tasks read nothing"},
		{[]ZhangTask{m, {Kind: "reduce"}}, "the reduce tasks read nothing"},
		{[]ZhangTask{m, {Kind: "reduce", InBytes: -1}}, "tasks[1].in_bytes: -1"},
	} {
		if _, err := ZhangJobOf(c.tasks); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// The platform's bounds contain the waves of the tasks it predicts, when all
// maps are average ones.
func TestPlatformContainsWaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := ZhangJob{
			Maps: rapid.IntRange(1, 300).Draw(t, "maps"), Reduces: rapid.IntRange(1, 100).Draw(t, "reduces"),
			BlockMBAvg: 64, BlockMBMax: 64, BlockRecsAvg: 6e5, BlockRecsMax: 6e5,
			MapSel: rapid.Float64Range(0, 3).Draw(t, "sel"), MapRecSel: math.NaN(), ReduceSel: 1, Skew: 1,
		}
		sm, sr := rapid.IntRange(1, 100).Draw(t, "map slots"), rapid.IntRange(1, 100).Draw(t, "reduce slots")
		p, err := j.Times(ptr(fittedPlatform()), sm, sr)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Waves(WaveJob{
			Maps: j.Maps, Reduces: j.Reduces, MapSlots: sm, ReduceSlots: sr,
			Map: []float64{p.MapAvg}, Reduce: p.ReduceAvg, Slowstart: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if w.JobEnd < p.Low*(1-1e-9) || w.JobEnd > p.Up*(1+1e-9) {
			t.Errorf("waves end at %v, bounds %v to %v", w.JobEnd, p.Low, p.Up)
		}
	})
}
