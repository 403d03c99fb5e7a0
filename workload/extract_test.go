package workload

import (
	"math"
	"testing"
	"time"
)

// TestProfileExample: maps of 4, 6 and 8 s on two slots, so two waves; the
// last map ends at 12. Reduce 0 starts at 5, has shuffled at 14 and sorted at
// 15: a first shuffle of 3 s. Reduce 1 starts at 20 and needs 5 + 1 s: typical.
func TestProfileExample(t *testing.T) {
	sec := func(s int) time.Duration { return time.Duration(s) * time.Second }
	j := NewHistoryJob("job_1_1")
	j.Outcome, j.Submit, j.Finish = Succeeded, 0, sec(40)
	add := func(kind Kind, n, start, finish int, inBytes, outBytes int64) *HistoryAttempt {
		task := NewHistoryTask(kind, kind == Reduce, n)
		a := NewHistoryAttempt(j.ID, "", kind, n, 0)
		a.State, a.Start, a.Finish, a.InBytes, a.OutBytes = Succeeded, sec(start), sec(finish), inBytes, outBytes
		task.Attempts = []HistoryAttempt{a}
		j.Tasks = append(j.Tasks, task)
		return &j.Tasks[len(j.Tasks)-1].Attempts[0]
	}
	add(Map, 0, 0, 4, 100, 50)
	add(Map, 1, 0, 6, 100, 100)
	add(Map, 2, 4, 12, 200, 50)
	r := add(Reduce, 0, 5, 20, Unknown, Unknown)
	r.Phases[PhaseShuffle], r.Phases[PhaseMerge], r.ShuffleBytes = sec(9), sec(1), 300
	r = add(Reduce, 1, 20, 30, Unknown, Unknown)
	r.Phases[PhaseShuffle], r.Phases[PhaseMerge], r.ShuffleBytes = sec(5), sec(1), 100
	p := extractProfile(&j)
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"map mean", p.MapTime.Mean, 6}, {"map max", p.MapTime.Max, 8}, {"waves", float64(len(p.MapByWave)), 2},
		{"second wave", p.MapByWave[1].Mean, 8}, {"selectivity of sums", p.Data.MapSizeSel, 0.5}, // 200/400
		{"mean selectivity", p.TaskMeans.MapSizeSel, 1.75 / 3}, // 0.5, 1, 0.25
		{"first shuffle", p.FirstShuffle.Mean, 3}, {"typical shuffle", p.TypicalShuffle.Mean, 6},
		{"reduce", p.ReduceTime.Mean, 4.5}, // 15-20 and 26-30
		{"skew", p.ReduceSkew, 1.5}, {"shuffle cost", p.Cost.ShufflePerByte, 5e9 / 100},
	} {
		if math.Abs(x.got-x.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", x.what, x.got, x.want)
		}
	}
	if !math.IsNaN(p.Data.CombineRecsSel) || !math.IsNaN(p.Cost.ReadPerByte) {
		t.Error("what is not recorded was made up")
	}
}
