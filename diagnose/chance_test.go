package diagnose

import (
	"math"
	"testing"
)

// All orders of the values are counted one by one.
func chanceByCounting(a, b []float64) float64 {
	n := len(a) + len(b)
	above := func(mask int) (pairs int) {
		for i := range n {
			for j := range i {
				if mask>>i&1 == 1 && mask>>j&1 == 0 {
					pairs++
				}
			}
		}
		return pairs
	}
	want := 0
	for _, x := range a {
		for _, y := range b {
			if x > y {
				want++
			}
		}
	}
	some, all := 0, 0
	for mask := range 1 << n {
		ones := 0
		for i := range n {
			ones += mask >> i & 1
		}
		if ones != len(a) {
			continue
		}
		all++
		if above(mask) >= want {
			some++
		}
	}
	return float64(some) / float64(all)
}

func TestChanceLonger(t *testing.T) {
	for _, c := range [][2][]float64{
		{{5, 6, 7}, {1, 2, 3, 4}}, {{1, 6, 3.5}, {1, 2, 3, 4, 9}}, {{1}, {2, 3}}, {{4, 4}, {4, 4, 4}}, {{2, 9, 8, 7}, {1, 3, 4, 5, 6, 6.5, 2.5}},
	} {
		if got, want := chanceLonger(c[0], c[1]), chanceByCounting(c[0], c[1]); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v against %v: %v, want %v", c[0], c[1], got, want)
		}
	}
	// Beyond the limit of pairs the normal distribution takes over. One more small
	// value lowers the chance by less than half.
	var a, b []float64
	for i := range 20 {
		a, b = append(a, float64(3*i+14)), append(b, float64(3*i))
	}
	exact := chanceLonger(a, b)
	if near := chanceLonger(a, append(b, -1)); near > exact || near < 0.5*exact {
		t.Errorf("%v with 400 pairs, %v with one value more", exact, near)
	}
}
