package scenarios

import (
	"math"
	"testing"
)

// The first points are those of the published sequence, and in each dimension each of
// 2^k equal parts has one of 2^k points, whatever the shift. Each pair of dimensions
// fills 4 by 4 squares evenly with 2^12 points.
func TestSobol(t *testing.T) {
	want := [][]float64{
		{0, .5, .75, .25, .375, .875, .625, .125},
		{0, .5, .25, .75, .375, .875, .125, .625},
		{0, .5, .25, .75, .625, .125, .875, .375},
	}
	for d, points := range want {
		for i, got := range sobol(d, len(points), 0) {
			if math.Abs(got-points[i]) > 1e-9 {
				t.Errorf("dimension %d, point %d: got %v: want %v", d, i, got, points[i])
			}
		}
	}
	const n = 1 << 12
	var all [][]float64
	for d := range mostSobol {
		points := sobol(d, n, 0x9e3779b9*uint32(d+1))
		var seen [n]bool
		for _, x := range points {
			seen[int(x*n)] = true
		}
		for part, has := range seen {
			if !has {
				t.Fatalf("dimension %d: part %d of %d has no point", d, part, n)
			}
		}
		all = append(all, points)
	}
	for a := range all {
		for b := range a {
			var count [16]int
			for i := range n {
				count[int(all[a][i]*4)*4+int(all[b][i]*4)]++
			}
			for square, got := range count {
				if got != n/16 {
					t.Fatalf("dimensions %d and %d: square %d has %d points: want %d", a, b, square, got, n/16)
				}
			}
		}
	}
}
