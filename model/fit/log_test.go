package fit_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model/fit"
)

func TestLog2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(math.SmallestNonzeroFloat64, math.MaxFloat64).Draw(t, "x")
		if got, want := fit.Log2(x), math.Log2(x); math.Abs(got-want) > 4e-16*max(1, math.Abs(want)) {
			t.Errorf("Log2(%v) = %v, want %v", x, got, want)
		}
	})
	for e := -1074; e < 1024; e++ {
		if got := fit.Log2(math.Ldexp(1, e)); got != float64(e) {
			t.Errorf("Log2(2^%d) = %v", e, got)
		}
	}
	if got := fit.Log(math.E); math.Abs(got-1) > 4e-16 {
		t.Errorf("Log(e) = %v", got)
	}
}
