package fit_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model/fit"
)

// Optimality (Karush, Kuhn, Tucker): nothing negative; the gradient is 0 where a
// coefficient is positive and not positive where it is 0.
func TestNonNegativeIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.IntRange(1, 6).Draw(t, "p")
		n := rapid.IntRange(1, 12).Draw(t, "n")
		value := rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(-20, 20).Draw(t, "v"))
		})
		x, y := make([][]float64, n), make([]float64, n)
		for i := range x {
			x[i] = rapid.SliceOfN(value, p, p).Draw(t, "row")
			y[i] = value.Draw(t, "y")
		}
		beta, err := fit.NonNegative(x, y)
		if err != nil {
			t.Fatal(err)
		}
		for j := range p {
			g, size := 0.0, 1.0
			for i := range x {
				r := y[i]
				for k := range beta {
					r -= x[i][k] * beta[k]
				}
				g += x[i][j] * r
				size += math.Abs(x[i][j] * y[i])
			}
			if beta[j] < 0 || g > 1e-8*size || beta[j] > 0 && g < -1e-8*size {
				t.Errorf("beta = %v: gradient %v at %d", beta, g, j)
			}
		}
	})
}

func TestNonNegativeErrors(t *testing.T) {
	for _, c := range []struct {
		x    [][]float64
		y    []float64
		want string
	}{
		{nil, nil, "X: no rows"},
		{[][]float64{{}}, []float64{1}, "X[0]: no columns"},
		{[][]float64{{1}, {1, 2}}, []float64{1, 2}, "X[1]: 2 columns"},
		{[][]float64{{1}}, []float64{1, 2}, "y: 2 values"},
		{[][]float64{{math.NaN()}}, []float64{1}, "X[0][0]"},
	} {
		if _, err := fit.NonNegative(c.x, c.y); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v: error %v, want one with %q", c.x, c.y, err, c.want)
		}
	}
}

// The first column has nothing to do with y itself, only with what the second
// leaves of it.
func TestNonNegativeEntersLate(t *testing.T) {
	beta, err := fit.NonNegative([][]float64{{0, -1}, {1, -1}}, []float64{-1, 0})
	if err != nil || math.Abs(beta[0]-1) > 1e-9 || math.Abs(beta[1]-1) > 1e-9 {
		t.Errorf("%v, %v, want [1 1]", beta, err)
	}
}

// A column that all but equals another cannot be told from it, though it would
// fit a little better: it stays out, and the fit goes on.
func TestNonNegativeTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		x, y := make([][]float64, 8), make([]float64, 8)
		for i := range x {
			a, b := float64(r.IntN(20)), float64(r.IntN(20))
			x[i] = []float64{a, b, a + 1e-8*float64(r.IntN(3))}
			y[i] = float64(r.IntN(40) - 10)
		}
		if _, err := fit.NonNegative(x, y); err != nil {
			t.Fatalf("%v, %v: %v", x, y, err)
		}
	}
}

// Equal columns, columns of zeros and fewer rows than columns have many
// solutions; one of them must come out.
func TestNonNegativeDegenerate(t *testing.T) {
	for _, x := range [][][]float64{
		{{1, 1}, {2, 2}, {3, 3}},
		{{1, 0}, {2, 0}, {3, 0}},
		{{1, 1, 1}},
	} {
		y := []float64{2, 4, 6}[:len(x)]
		beta, err := fit.NonNegative(x, y)
		if err != nil {
			t.Errorf("%v: %v", x, err)
			continue
		}
		for i, row := range x {
			sum := 0.0
			for j := range row {
				sum += row[j] * beta[j]
			}
			if math.Abs(sum-y[i]) > 1e-9 {
				t.Errorf("%v: beta %v gives %v, want %v", x, beta, sum, y[i])
			}
		}
	}
}
