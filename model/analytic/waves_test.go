package analytic

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/internal/approx"
)

// wavesEach plays every task on its slot.
func wavesEach(j WaveJob) (mapEnd, jobEnd float64) {
	earliest := func(free []float64) int { return slices.Index(free, slices.Min(free)) }
	slots := make([]float64, j.MapSlots)
	var ends []float64
	for i := range j.Maps {
		d := j.Map[0]
		if len(j.Map) > 1 {
			d = j.Map[i]
		}
		s := earliest(slots)
		slots[s] += d
		ends = append(ends, slots[s])
	}
	slices.Sort(ends)
	mapEnd = ends[len(ends)-1]
	need := max(1, int(math.Ceil(j.Slowstart*float64(j.Maps)-1e-9)))
	reduces := slices.Repeat([]float64{ends[need-1]}, j.ReduceSlots)
	jobEnd = mapEnd
	for range j.Reduces {
		s := earliest(reduces)
		t0 := reduces[s]
		shuffled := t0 + j.Shuffle
		if t0 < mapEnd && j.Shuffle <= mapEnd-t0 {
			shuffled = mapEnd + j.Shuffle/float64(j.Maps)
		}
		reduces[s] = shuffled + j.Sort + j.Reduce
		jobEnd = max(jobEnd, reduces[s])
	}
	return mapEnd, jobEnd
}

// Whole waves in closed form equal playing every task.
func TestWavesAgainstEachTask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Float64Range(0, 50)
		j := WaveJob{
			Maps: rapid.IntRange(1, 60).Draw(t, "maps"), Reduces: rapid.IntRange(0, 60).Draw(t, "reduces"),
			MapSlots: rapid.IntRange(1, 70).Draw(t, "map slots"), ReduceSlots: rapid.IntRange(1, 70).Draw(t, "reduce slots"),
			Shuffle: d.Draw(t, "shuffle"), Sort: d.Draw(t, "sort"), Reduce: d.Draw(t, "reduce"),
			Slowstart: rapid.Float64Range(0, 1).Draw(t, "slowstart"),
		}
		n := 1
		if rapid.Bool().Draw(t, "list") {
			n = j.Maps
		}
		j.Map = rapid.SliceOfN(d, n, n).Draw(t, "map")
		got, err := Waves(j)
		if err != nil {
			t.Fatal(err)
		}
		mapEnd, jobEnd := wavesEach(j)
		if !approx.Equal(got.MapEnd, mapEnd) || !approx.Equal(got.JobEnd, jobEnd) {
			t.Errorf("maps end at %v, job at %v, want %v, %v", got.MapEnd, got.JobEnd, mapEnd, jobEnd)
		}
	})
}

// A trillion tasks are as quick as ten.
func TestWavesHuge(t *testing.T) {
	w, err := Waves(WaveJob{
		Maps: 1e12, Reduces: 1e12, MapSlots: 10, ReduceSlots: 1, Map: []float64{1}, Shuffle: 1, Slowstart: 0.05,
	})
	if err != nil || w.MapEnd != 1e11 || w.Waves != 1e12 {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestWavesErrors(t *testing.T) {
	good := WaveJob{Maps: 3, Reduces: 1, MapSlots: 1, ReduceSlots: 1, Map: []float64{1}, Slowstart: 0.05}
	for _, c := range []struct {
		want   string
		change func(*WaveJob)
	}{
		{"M: 0", func(j *WaveJob) { j.Maps = 0 }},
		{"S_M: 0", func(j *WaveJob) { j.MapSlots = 0 }},
		{"S_R: 0", func(j *WaveJob) { j.ReduceSlots = 0 }},
		{"map: 0 values", func(j *WaveJob) { j.Map = nil }},
		{"map: 2 durations for 3 maps", func(j *WaveJob) { j.Map = []float64{1, 2} }},
		{"shuffle: missing", func(j *WaveJob) { j.Shuffle = math.NaN() }},
		{"slowstart: 1.5", func(j *WaveJob) { j.Slowstart = 1.5 }},
		{"reduce: -1", func(j *WaveJob) { j.Reduce = -1 }},
	} {
		j := good
		c.change(&j)
		if _, err := Waves(j); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
