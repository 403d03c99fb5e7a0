package analytic

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/internal/approx"
	"github.com/slotwave/slotwave/workload"
)

func ariaProfile() AriaProfile {
	return AriaProfile{
		Maps: 200, Reduces: 64, MapAvg: 20, MapMax: 26,
		FirstShuffleAvg: 12, FirstShuffleMax: 15, ShuffleAvg: 18, ShuffleMax: 22, ReduceAvg: 9, ReduceMax: 14,
	}
}

// The makespan theorem holds for the greedy order of any tasks.
func TestMakespanTheorem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(0, 100), 1, 60).Draw(t, "durations")
		k := rapid.IntRange(1, 80).Draw(t, "slots")
		b, err := Makespan(d, k)
		if err != nil {
			t.Fatal(err)
		}
		if b.Greedy < b.Low-1e-9 || b.Greedy > b.Up+1e-9 {
			t.Errorf("%v is not between %v and %v", b.Greedy, b.Low, b.Up)
		}
		// Each slot in turn, without a heap.
		free := make([]float64, k)
		for _, x := range d {
			first := slices.Index(free, slices.Min(free))
			free[first] += x
		}
		if want := slices.Max(free); b.Greedy != want {
			t.Errorf("greedy %v, want %v", b.Greedy, want)
		}
	})
}

func TestMakespanErrors(t *testing.T) {
	for _, c := range []struct {
		d    []float64
		k    int
		want string
	}{
		{nil, 1, "durations: 0 values"}, {[]float64{1}, 0, "slots: 0"},
		{[]float64{1, -1}, 1, "durations[1]: -1"}, {[]float64{math.NaN()}, 1, "durations[0]: missing"},
	} {
		if _, err := Makespan(c.d, c.k); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v on %d: error %v, want one with %q", c.d, c.k, err, c.want)
		}
	}
	if b, err := Makespan([]float64{3, 1}, 1<<50); err != nil || b.Greedy != 3 {
		t.Errorf("more slots than memory: %v, %v", b, err)
	}
}

// Bounds from the profile of a job must contain the waves of that job without
// contention, whatever its maps take.
func TestAriaContainsWaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		maps := rapid.SliceOfN(rapid.Float64Range(0.1, 60), 2, 80).Draw(t, "maps")
		seconds := rapid.Float64Range(0, 60)
		j := WaveJob{
			Maps: len(maps), Map: maps, Reduces: rapid.IntRange(0, 60).Draw(t, "reduces"),
			MapSlots: rapid.IntRange(1, 40).Draw(t, "map slots"), ReduceSlots: rapid.IntRange(1, 40).Draw(t, "reduce slots"),
			Shuffle: seconds.Draw(t, "shuffle"), Sort: seconds.Draw(t, "sort"), Reduce: seconds.Draw(t, "reduce"),
			Slowstart: rapid.Float64Range(0, 1).Draw(t, "slowstart"),
		}
		w, err := Waves(j)
		if err != nil {
			t.Fatal(err)
		}
		p := AriaProfile{Maps: j.Maps, Reduces: j.Reduces, MapMax: slices.Max(maps)}
		for _, d := range maps {
			p.MapAvg += d / float64(len(maps))
		}
		if j.Reduces > 0 {
			first := w.First[1] - w.MapEnd + j.Sort
			p.FirstShuffleAvg, p.FirstShuffleMax = first, first
			p.ShuffleAvg, p.ShuffleMax = j.Shuffle+j.Sort, j.Shuffle+j.Sort
			p.ReduceAvg, p.ReduceMax = j.Reduce, j.Reduce
		}
		b, err := p.Bounds(j.MapSlots, j.ReduceSlots, true)
		if err != nil {
			t.Fatal(err)
		}
		if w.JobEnd < b.Low-1e-6 || w.JobEnd > b.Up+1e-6 {
			t.Errorf("job ends at %v, bounds %v to %v", w.JobEnd, b.Low, b.Up)
		}
	})
}

// Slots found for a deadline meet it, no pair with a smaller sum does, and the
// closed form agrees with the bounds as printed.
func TestAriaInvert(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := ariaProfile()
		p.Maps, p.Reduces = rapid.IntRange(1, 300).Draw(t, "maps"), rapid.IntRange(0, 100).Draw(t, "reduces")
		bound := rapid.SampledFrom([]string{"low", "avg", "up"}).Draw(t, "bound")
		deadline := rapid.Float64Range(30, 2000).Draw(t, "deadline")
		s, err := p.Invert(deadline, bound)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Solution.Feasible {
			if deadline > s.C {
				t.Errorf("deadline %v with constant part %v is called infeasible", deadline, s.C)
			}
			return
		}
		plan := s.Solution.SlotPlan
		b, err := p.Bounds(plan.MapSlots, max(1, plan.ReduceSlots), false)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{"low": b.Low, "avg": b.Avg, "up": b.Up}[bound]
		if s.B > 0 && got > deadline+1e-6 {
			t.Errorf("%d+%d slots: %v after the deadline %v", plan.MapSlots, plan.ReduceSlots, got, deadline)
		}
		if s.A/float64(plan.MapsRoundedUp)+s.B/float64(plan.RedsRoundedUp) > s.Solution.Time+1e-6 {
			t.Errorf("rounded up, %d+%d slots miss the deadline", plan.MapsRoundedUp, plan.RedsRoundedUp)
		}
		sum := plan.MapSlots + plan.ReduceSlots
		for m := 1; m < sum; m++ {
			if r := sum - 1 - m; s.B > 0 && r >= 1 && s.A/float64(m)+s.B/float64(r) < s.Solution.Time-1e-6 {
				t.Errorf("%d+%d slots meet the deadline, %d+%d were found", m, r, plan.MapSlots, plan.ReduceSlots)
			}
		}
	})
}

// The narrowed search for whole slots finds what trying every pair finds.
func TestProvisionSlotsAgainstAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(0, 5000).Draw(t, "a")
		b := rapid.Float64Range(1, 5000).Draw(t, "b")
		deadline := rapid.Float64Range(10, 500).Draw(t, "t")
		s, err := provisionSlots(a, b, deadline)
		if err != nil {
			t.Fatal(err)
		}
		bestM, bestR, sum, least := 0, 0, math.MaxInt, math.Inf(1)
		limit := s.MapsRoundedUp + s.RedsRoundedUp
		for m := int(math.Floor(a/deadline+1e-9)) + 1; m <= limit; m++ {
			rest := deadline - a/float64(m)
			if rest <= 0 {
				continue
			}
			r := int(math.Ceil(b/rest - 1e-9))
			took := a/float64(m) + b/float64(r)
			if m+r < sum || m+r == sum && took < least {
				bestM, bestR, sum, least = m, r, m+r, took
			}
		}
		if s.MapSlots != bestM || s.ReduceSlots != bestR {
			t.Errorf("%d+%d, want %d+%d", s.MapSlots, s.ReduceSlots, bestM, bestR)
		}
	})
}

// At the optimum both stages pay the same for a slot (Lagrange's condition).
func TestProvisionSlotsMultiplier(t *testing.T) {
	s, err := provisionSlots(4000, 1728, 306)
	if err != nil {
		t.Fatal(err)
	}
	if l := s.Maps * s.Maps / 4000; !approx.Equal(l, s.Lambda) {
		t.Errorf("S_M^2/a = %v, lambda = %v", l, s.Lambda)
	}
	if l := s.Reduces * s.Reduces / 1728; !approx.Equal(l, s.Lambda) {
		t.Errorf("S_R^2/b = %v, lambda = %v", l, s.Lambda)
	}
	if !approx.Equal(4000/s.Maps+1728/s.Reduces, 306) {
		t.Error("the slots are not on the curve")
	}
}

func TestProvisionSlotsHuge(t *testing.T) {
	for _, c := range [][3]float64{{1e15, 1e15, 1}, {1e15, 1, 1}, {1, 1e15, 1}, {1e300, 1e300, 1e290}, {1e-300, 1e-300, 1e-300}} {
		if _, err := provisionSlots(c[0], c[1], c[2]); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, err := provisionSlots(1e300, 1, 1); err == nil || !strings.Contains(err.Error(), "slots") {
		t.Errorf("more slots than any cluster: error %v", err)
	}
}

// The curve is made of minimal pairs: one reduce slot less misses the deadline.
func TestAriaCurve(t *testing.T) {
	p := ariaProfile()
	pairs, err := p.curve(300, "low", 64, 64)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c, err := p.coefficients("low")
	if err != nil {
		t.Fatal(err)
	}
	took := func(m, r int) float64 { return a/float64(m) + b/float64(r) + c }
	for _, pair := range pairs {
		if took(pair[0], pair[1]) > 300+1e-6 || pair[1] > 1 && took(pair[0], pair[1]-1) <= 300 {
			t.Errorf("%v takes %v", pair, took(pair[0], pair[1]))
		}
	}
	p.Maps = 1 << 40
	if _, err := p.curve(300, "low", 1<<40, 64); err == nil || !strings.Contains(err.Error(), "S_M") {
		t.Errorf("a curve of 2^40 pairs: error %v", err)
	}
}

// As printed the lower bound of the shuffle is negative with slots to spare;
// guarded, slots beyond the tasks change nothing.
func TestAriaGuarded(t *testing.T) {
	p := ariaProfile()
	printed, err := p.Bounds(32, 128, false)
	if err != nil || printed.ShuffleLow >= 0 {
		t.Errorf("printed shuffle %v, %v, want a negative one", printed.ShuffleLow, err)
	}
	guarded, err := p.Bounds(32, 128, true)
	if err != nil {
		t.Fatal(err)
	}
	enough, err := p.Bounds(32, 64, true)
	if err != nil || guarded != enough || guarded.ShuffleLow != 0 || guarded.ShuffleUp != 0 {
		t.Errorf("128 slots %+v, 64 slots %+v", guarded, enough)
	}
}

func TestAriaErrors(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*AriaProfile)
		sm, sr int
	}{
		{"N_M: 0", func(p *AriaProfile) { p.Maps = 0 }, 1, 1},
		{"N_R: -1", func(p *AriaProfile) { p.Reduces = -1 }, 1, 1},
		{"S_M: 0", func(*AriaProfile) {}, 0, 1},
		{"S_R: 0", func(*AriaProfile) {}, 1, 0},
		{"M_avg: -1", func(p *AriaProfile) { p.MapAvg = -1 }, 1, 1},
		{"M_max: 26: want M_avg = 30", func(p *AriaProfile) { p.MapAvg = 30 }, 1, 1},
		{"Sh1_avg: missing", func(p *AriaProfile) { p.FirstShuffleAvg = math.NaN() }, 1, 1},
		{"R_max: missing", func(p *AriaProfile) { p.ReduceMax = math.NaN() }, 1, 1},
	} {
		p := ariaProfile()
		c.change(&p)
		if _, err := p.Bounds(c.sm, c.sr, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	p := ariaProfile()
	p.Reduces, p.FirstShuffleAvg, p.ReduceMax = 0, math.NaN(), math.NaN()
	if _, err := p.Bounds(4, 0, true); err != nil {
		t.Errorf("map-only without reduce statistics: %v", err)
	}
	for _, bound := range []string{"", "mean"} {
		if _, err := ariaProfile().Invert(100, bound); err == nil || !strings.Contains(err.Error(), "bound") {
			t.Errorf("bound %q: error %v", bound, err)
		}
	}
}

func seconds(s float64) time.Duration { return workload.Seconds(s) }

func mapAttempt(start, finish float64) workload.Attempt {
	a := workload.Attempt{Kind: workload.Map, Start: seconds(start), Finish: seconds(finish)}
	a.InBytes, a.OutBytes = 100, 50
	return a
}

// reduceAttempt spends one second of its shuffle in the merge.
func reduceAttempt(start, shuffle, finish float64) workload.Attempt {
	a := workload.Attempt{Kind: workload.Reduce, Start: seconds(start), Finish: seconds(finish)}
	a.Phases[workload.PhaseShuffle], a.Phases[workload.PhaseMerge] = seconds(shuffle-1), seconds(1)
	a.InBytes, a.OutBytes = 40, 10
	return a
}

// Maps end at 10 and 14. The first reduce started before and has its shuffle at
// 17: 3 s after the last map. The second starts at 20 and shuffles 6 s.
func TestExtractAria(t *testing.T) {
	killed := mapAttempt(0, 99)
	killed.State = workload.Killed
	p, err := ExtractAria([]workload.Attempt{
		mapAttempt(0, 10), mapAttempt(4, 14), killed, reduceAttempt(5, 12, 20), reduceAttempt(20, 6, 30),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := AriaProfile{
		Maps: 2, Reduces: 2, MapMin: 10, MapAvg: 10, MapMax: 10, MapInputBytes: 100, MapSelectivity: 0.5,
		FirstShuffleAvg: 3, FirstShuffleMax: 3, ShuffleAvg: 6, ShuffleMax: 6,
		ReduceAvg: 3.5, ReduceMax: 4, ReduceSelectivity: 0.25,
	}
	if p != want {
		t.Errorf("%+v, want %+v", p, want)
	}

	p, err = ExtractAria([]workload.Attempt{mapAttempt(0, 10), reduceAttempt(5, 12, 20)})
	if err != nil || !p.ShuffleFromFirst || p.ShuffleAvg != 7 || p.FirstShuffleAvg != 7 {
		t.Errorf("one reduce wave: %+v, %v, want its first shuffle as the typical one", p, err)
	}
	p, err = ExtractAria([]workload.Attempt{mapAttempt(0, 10), reduceAttempt(10, 6, 20)})
	if err != nil || p.ShuffleFromFirst || p.FirstShuffleAvg != 6 || p.ShuffleAvg != 6 {
		t.Errorf("reduces after all maps: %+v, %v", p, err)
	}
	p, err = ExtractAria([]workload.Attempt{mapAttempt(0, 10)})
	if err != nil || p.Reduces != 0 || !math.IsNaN(p.ReduceAvg) {
		t.Errorf("map-only: %+v, %v", p, err)
	}
	if _, err := ExtractAria(nil); err == nil {
		t.Error("no attempts: no error")
	}
}

// Maxima below their averages are raised to them, each for itself.
func TestUncross(t *testing.T) {
	p := AriaProfile{FirstShuffleAvg: 3, FirstShuffleMax: 2, ShuffleAvg: 5, ShuffleMax: 4, ReduceAvg: 7, ReduceMax: 6}
	uncross(p.later())
	if want := (AriaProfile{FirstShuffleAvg: 3, FirstShuffleMax: 3, ShuffleAvg: 5, ShuffleMax: 5, ReduceAvg: 7, ReduceMax: 7}); p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
}

// Jobs may end within a second.
func TestAriaInvertShort(t *testing.T) {
	p := AriaProfile{Maps: 10, MapAvg: 0.05, MapMax: 0.05}
	if s, err := p.Invert(0.5, "up"); err != nil || !s.Solution.Feasible {
		t.Errorf("10 maps of 0.05 s within 0.5 s: %+v, %v", s, err)
	}
}
