package fit_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model/fit"
)

// The expected break of a 700 MB heap: ten spills of 323.4 MB.
const shuffleBreak = 3234

// shuffleRows are 40 reduces at each size from 1280 to 10240 MB (the paper's
// second grid, and four times as dense), 62 ms a MB. Beyond the break a joined
// second piece has 95 ms a MB; an apart one starts 18 % higher. Noise is normal
// and relative; outliers of two to ten times the time come with a probability.
func shuffleRows(piece string, noise, outliers float64, seed uint64) (x, y []float64) {
	r := rand.New(rand.NewPCG(seed, 2))
	for mb := 1280.0; mb <= 10240; mb += 160 {
		ms := 1800 + 62*mb
		if mb > shuffleBreak {
			switch piece {
			case "joined":
				ms += 33 * (mb - shuffleBreak)
			case "apart":
				ms = -70000 + 95*mb
			}
		}
		for range 40 {
			v := ms * (1 + noise*r.NormFloat64())
			if r.Float64() < outliers {
				v *= 2 + 8*r.Float64()
			}
			x, y = append(x, mb), append(y, v)
		}
	}
	return x, y
}

// share counts the seeds of 100 for which the answer is right: two lines that
// part within 10 % of the break, or one line.
func share(t *testing.T, o fit.SegmentOptions, piece string, noise, outliers float64) (n int) {
	t.Helper()
	for seed := range uint64(100) {
		x, y := shuffleRows(piece, noise, outliers, seed)
		f, err := fit.Segment(x, y, o)
		if err != nil {
			t.Fatal(err)
		}
		if piece == "straight" && !f.Two ||
			piece != "straight" && f.Two && math.Abs(*f.Tau-shuffleBreak) <= 0.1*shuffleBreak {
			n++
		}
	}
	return n
}

// Two lines must be found to part within 10 % of the break, and straight rows be
// called one line, in 95 of 100 seeds: by least squares on rows with noise, and
// with 10 % noise and 5 % gross outliers once the outliers are set aside.
func TestSegmentFindsBreak(t *testing.T) {
	for _, c := range []struct {
		piece           string
		continuous      bool
		noise, outliers float64
		setAside        bool
	}{
		{"joined", true, 0.10, 0, false},
		{"apart", false, 0.10, 0, false},
		{"straight", true, 0.10, 0, false},
		{"straight", false, 0.10, 0, false},
		{"joined", true, 0.10, 0.05, true},
		{"apart", false, 0.10, 0.05, true},
		{"straight", true, 0.10, 0.05, true},
		{"straight", false, 0.10, 0.05, true},
	} {
		o := fit.SegmentOptions{MinPoints: 3, Margin: fit.DefaultMargin, Continuous: c.continuous, SetAside: c.setAside}
		n := share(t, o, c.piece, c.noise, c.outliers)
		t.Logf("%+v: %d of 100", c, n)
		if n < 95 {
			t.Errorf("%+v: right in %d of 100 seeds, want 95", c, n)
		}
	}
}

// Without setting them aside, one gross outlier in twenty hides every break.
func TestSegmentBlindToOutliers(t *testing.T) {
	if n := share(t, fit.SegmentOptions{MinPoints: 3, Margin: fit.DefaultMargin}, "apart", 0.1, 0.05); n > 5 {
		t.Errorf("found the break in %d of 100 seeds: setting aside is not needed", n)
	}
}

// The quick search over sums must find what fitting every candidate finds.
func TestSegmentAgainstEachCandidate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(8, 24).Draw(t, "n")
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(rapid.IntRange(1, 12).Draw(t, "x"))
			y[i] = float64(rapid.IntRange(0, 200).Draw(t, "y"))
		}
		o := fit.SegmentOptions{MinPoints: rapid.IntRange(2, 4).Draw(t, "min_pts"), Margin: 10, Continuous: rapid.Bool().Draw(t, "continuous")}
		if distinct := slices.Compact(slices.Sorted(slices.Values(x))); len(distinct) < 2 {
			t.Skip()
		}
		f, err := fit.Segment(x, y, o)
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		for tau := 1.25; tau < 12; tau += 0.25 {
			if rss, ok := rssAt(x, y, tau, o); ok {
				least = math.Min(least, rss)
			}
		}
		switch {
		case f.Tau == nil && !math.IsInf(least, 1):
			t.Errorf("no breakpoint, but one has residual sum %v", least)
		case f.Tau != nil && *f.RSS2 > least*(1+1e-9)+1e-6:
			t.Errorf("tau %v leaves %v, another leaves %v", *f.Tau, *f.RSS2, least)
		}
	})
}

// rssAt fits both sides of a candidate by themselves; continuous pieces by least
// squares over all slopes of a fine grid would be slow, so that the hinge is
// solved by hand from its normal equations.
func rssAt(x, y []float64, tau float64, o fit.SegmentOptions) (float64, bool) {
	var sides [2][2][]float64
	var gap [2]float64 // nearest x on each side
	gap[0], gap[1] = math.Inf(-1), math.Inf(1)
	for i, v := range x {
		s := 0
		if v > tau {
			s = 1
			gap[1] = math.Min(gap[1], v)
		} else {
			gap[0] = math.Max(gap[0], v)
		}
		sides[s][0], sides[s][1] = append(sides[s][0], v), append(sides[s][1], y[i])
	}
	if math.Abs(tau-(gap[0]+gap[1])/2) > 1e-9 { // not a midpoint
		return 0, false
	}
	for _, s := range sides {
		if len(s[0]) < o.MinPoints || len(slices.Compact(slices.Sorted(slices.Values(s[0])))) < 2 {
			return 0, false
		}
	}
	if o.Continuous {
		return hingeResidual(x, y, tau), true
	}
	total := 0.0
	for _, s := range sides {
		l, err := fit.LeastSquares(s[0], s[1])
		if err != nil {
			return 0, false
		}
		for i, v := range s[0] {
			total += (s[1][i] - l.At(v)) * (s[1][i] - l.At(v))
		}
	}
	return total, true
}

// hingeResidual orthogonalises 1, x and the hinge in turn (Gram and Schmidt).
func hingeResidual(x, y []float64, tau float64) float64 {
	n := len(x)
	basis := make([][]float64, 3)
	for j := range basis {
		basis[j] = make([]float64, n)
	}
	for i, v := range x {
		basis[0][i], basis[1][i], basis[2][i] = 1, v, math.Max(0, v-tau)
	}
	dot := func(a, b []float64) (s float64) {
		for i := range a {
			s += a[i] * b[i]
		}
		return s
	}
	r := slices.Clone(y)
	for j, b := range basis {
		for range 2 {
			for _, done := range basis[:j] {
				k := dot(b, done) / dot(done, done)
				for i := range b {
					b[i] -= k * done[i]
				}
			}
		}
		k := dot(r, b) / dot(b, b)
		for i := range r {
			r[i] -= k * b[i]
		}
	}
	return dot(r, r)
}

// A straight line without noise, a constant and zeros are one line; a perfect
// break is two.
func TestSegmentPerfect(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		y   []float64
		two bool
	}{
		{[]float64{3, 5, 7, 9, 11, 13, 15, 17}, false},
		{[]float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, false},
		{[]float64{0, 0, 0, 0, 0, 0, 0, 0}, false},
		{[]float64{0.37, 0.67, 0.97, 1.27, 1.57, 1.87, 2.17, 2.47}, false},
		{[]float64{1e9 / 3, 2e9 / 3, 3e9 / 3, 4e9 / 3, 5e9 / 3, 6e9 / 3, 7e9 / 3, 8e9 / 3}, false},
		{[]float64{1e6 + 0.1, 1e6 + 0.1, 1e6 + 0.1, 1e6 + 0.1, 1e6 + 0.1, 1e6 + 0.1, 1e6 + 0.1, 1e6 + 0.1}, false},
		{[]float64{1, 2, 3, 4, 25, 30, 35, 40}, true},
	} {
		f, err := fit.Segment(x, c.y, fit.SegmentOptions{MinPoints: 2, Margin: 10})
		if err != nil {
			t.Errorf("%v: %v", c.y, err)
		} else if f.Two != c.two {
			t.Errorf("%v: two pieces %v, want %v", c.y, f.Two, c.two)
		}
	}
}

// Too few rows for a breakpoint: one line, and nothing about two.
func TestSegmentTooFewRows(t *testing.T) {
	f, err := fit.Segment([]float64{1, 2, 3}, []float64{1, 2, 4}, fit.SegmentOptions{MinPoints: 2, Margin: 10})
	if err != nil {
		t.Fatal(err)
	}
	if f.Two || f.Tau != nil || f.RSS2 != nil || f.F != nil || f.Pieces != nil {
		t.Errorf("%+v: want one line only", f)
	}
}

// Made with R 4.2.2: anova(lm(y ~ x), lm(y ~ x*g)) with g = x > 5.2, and with
// lm(y ~ x + pmax(0, x - 5.2)), on rows whose slope changes at 3.44.
func TestChowAgainstR(t *testing.T) {
	x := []float64{1.25, 1.875, 2.5, 3.125, 3.75, 4.375, 5, 5.625, 6.25, 6.875, 7.5, 8.125, 8.75, 9.375, 10}
	y := []float64{30.98, 46.95, 57.21, 69.84, 115.36, 140.35, 164.15, 187.41, 211.44, 235.52, 259.69, 283.85, 306.71, 328.46, 354.7}
	for _, c := range []struct {
		continuous bool
		f, p       float64
	}{
		{false, 0.336738021301385, 0.721204932741719},
		{true, 0.10906465630395, 0.746905767096077},
	} {
		f, p, err := fit.Chow(x, y, 5.2, c.continuous)
		if err != nil {
			t.Fatal(err)
		}
		if !near(f, c.f, 1e-9) || !near(p, c.p, 1e-9) {
			t.Errorf("continuous %v: F %v, p %v, want %v, %v", c.continuous, f, p, c.f, c.p)
		}
	}
	for _, tau := range []float64{0, 1.5, 9.5, 20, math.NaN()} {
		if _, _, err := fit.Chow(x, y, tau, false); err == nil || !strings.Contains(err.Error(), "tau") {
			t.Errorf("tau %v: error %v, want one about tau", tau, err)
		}
	}
}

func TestErrorsTable(t *testing.T) {
	if _, err := fit.Errors([]float64{0, 0}, []float64{1, 2}, nil); err == nil || !strings.Contains(err.Error(), "measured") {
		t.Errorf("all measured 0: error %v", err)
	}
	if _, err := fit.Errors([]float64{-1}, []float64{1}, nil); err == nil || !strings.Contains(err.Error(), "measured[0]") {
		t.Errorf("negative measurement: error %v", err)
	}
}

func BenchmarkSegment100k(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	x, y := make([]float64, 100_000), make([]float64, 100_000)
	for i := range x {
		x[i] = 10000 * r.Float64()
		y[i] = 100 + 5*x[i] + r.NormFloat64()
	}
	for b.Loop() {
		for _, continuous := range []bool{false, true} {
			o := fit.SegmentOptions{MinPoints: 3, Margin: fit.DefaultMargin, Continuous: continuous, SetAside: true}
			if _, err := fit.Segment(x, y, o); err != nil {
				b.Fatal(err)
			}
		}
	}
}
