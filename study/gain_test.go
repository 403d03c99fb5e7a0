package study_test

import (
	"math"
	"testing"

	"github.com/slotwave/slotwave/study/search"
)

// The interval of two pairs is 12.7 standard errors wide to each side, that of
// four 3.18; a change whose interval includes 0 makes no difference.
func TestNewGain(t *testing.T) {
	for _, c := range []struct {
		after      []float64
		mean, half float64
		effect     search.Effect
	}{
		{[]float64{90, 80}, 0.15, 12.7062 * 0.05, search.NoDifference},
		{[]float64{80, 82, 78, 80}, 0.2, 3.18245 * 0.00816497, search.Faster},
		{[]float64{120, 122, 118, 120}, -0.2, 3.18245 * 0.00816497, search.Slower},
		{[]float64{100, 100}, 0, 0, search.NoDifference},
	} {
		before := make([]float64, len(c.after))
		for i := range before {
			before[i] = 100
		}
		g := search.NewGain(before, c.after)
		// The quantiles above have six digits.
		if math.Abs(g.Mean-c.mean) > 1e-12 || math.Abs(g.High-g.Low-2*c.half) > 1e-5 || g.Effect() != c.effect || g.Pairs != len(before) {
			t.Errorf("%v: %+v %s, want %v ± %v %s", c.after, g, g.Effect(), c.mean, c.half, c.effect)
		}
	}
}

// One success of one shows little; of many the interval is that of the normal distribution.
func TestWilson(t *testing.T) {
	if low, high := search.Wilson(1, 1); math.Abs(low-0.2065) > 1e-4 || math.Abs(high-1) > 1e-12 {
		t.Errorf("1 of 1: got %.4f to %.4f, want 0.2065 to 1", low, high)
	}
	if low, high := search.Wilson(0.9, 10_000); math.Abs(low-0.8940) > 1e-4 || math.Abs(high-0.9057) > 1e-4 {
		t.Errorf("9,000 of 10,000: got %.4f to %.4f, want 0.8940 to 0.9057", low, high)
	}
}
