package results

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

type interval struct{ from, to int64 }

// naiveBusy sums intervals bin by bin.
func naiveBusy(all []interval, width int64, bins int) []int64 {
	busy := make([]int64, bins)
	for _, v := range all {
		for i := range busy {
			from, to := max(v.from, int64(i)*width), min(v.to, int64(i+1)*width)
			busy[i] += max(0, to-from)
		}
	}
	return busy
}

// TestTimelineConserves checks the bins against plain sums for intervals of
// all lengths, in any order, while the bins widen.
func TestTimelineConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := newTimeline(1)
		scale := rapid.Int64Range(1, 1<<40).Draw(t, "scale")
		var all []interval
		for range rapid.IntRange(1, 40).Draw(t, "intervals") {
			from := rapid.Int64Range(0, scale).Draw(t, "from")
			to := from + rapid.Int64Range(0, scale).Draw(t, "length")
			if rapid.Bool().Draw(t, "aligned") { // ends on the edge of a bin
				from, to = from/line.width*line.width, to/line.width*line.width
			}
			line.reach(to)
			line.add(0, from, to)
			all = append(all, interval{from, to})
		}
		got := line.busy(0)
		if want := naiveBusy(all, line.width, line.bins()); !slices.Equal(got, want) {
			t.Fatalf("bins of %d ns hold %v: want %v", line.width, got, want)
		}
		if len(got) > maxBins {
			t.Fatalf("%d bins: want at most %d", len(got), maxBins)
		}
	})
}

// TestTimelineUsesItsBins checks that widening leaves at least half of them.
func TestTimelineUsesItsBins(t *testing.T) {
	line := newTimeline(1)
	for end := int64(firstBin); end < 1<<55; end = end*3/2 + 1 {
		line.reach(end)
		if n := line.bins(); n > maxBins || end > maxBins*int64(firstBin) && n < maxBins/2 {
			t.Fatalf("%d bins at %d ns", n, end)
		}
	}
}

// TestSketch checks the quantiles against exact ones: within 1/128.
func TestSketch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1<<50), 1, 200).Draw(t, "values")
		var s sketch
		exact := make([]float64, len(values))
		sum := 0.0
		for i, v := range values {
			s.add(v)
			exact[i] = float64(v)
			sum += exact[i]
		}
		slices.Sort(exact)
		for _, p := range []float64{0.01, 0.5, 0.95, 1} {
			want, got := stat.Quantile(p, stat.Empirical, exact, nil), float64(s.quantile(p))
			if math.Abs(got-want) > want/128+0.5 {
				t.Fatalf("quantile %g is %g: want %g within 1/128", p, got, want)
			}
		}
		if s.max != slices.Max(values) || math.Abs(float64(s.mean())-sum/float64(len(values))) > 1 {
			t.Fatalf("maximum %d, mean %d", s.max, s.mean())
		}
	})
}

func TestSketchBins(t *testing.T) {
	for _, v := range []int64{0, 1, 63, 64, 65, 127, 128, 1e9, math.MaxInt64} {
		if mid := sketchValue(sketchBin(v)); math.Abs(float64(mid-v)) > float64(v)/128 {
			t.Errorf("%d is shown as %d", v, mid)
		}
	}
	if last, bins := sketchBin(math.MaxInt64), len(sketch{}.count)<<sketchBits; last != bins-1 {
		t.Errorf("the largest duration falls into bin %d of %d", last, bins)
	}
}
