package analytic

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/workload"
)

// A bowl with its bottom at (3, -2) in a box: found within 2 % of the box for
// every seed, and the same seed finds the same point.
func TestSearchFindsMinimum(t *testing.T) {
	space := []SearchParam{{Name: "x", Min: -10, Max: 10}, {Name: "y", Min: -10, Max: 10}}
	bowl := func(at []float64) float64 { return math.Pow(at[0]-3, 2) + 4*math.Pow(at[1]+2, 2) }
	for seed := range workload.Seed(50) {
		got, err := recursiveRandomSearch(space, seed, bowl)
		if err != nil {
			t.Fatal(err)
		}
		if math.Hypot(got.At[0]-3, got.At[1]+2) > 0.4 {
			t.Errorf("seed %d: %v after %d evaluations", seed, got.At, got.Evaluations)
		}
		if limit := int(150*math.Pow(2, 1.2)) + 1; got.Evaluations > limit {
			t.Errorf("seed %d: %d evaluations, want at most %d", seed, got.Evaluations, limit)
		}
		again, err := recursiveRandomSearch(space, seed, bowl)
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("seed %d: %v, then %v, %v", seed, got, again, err)
		}
	}
}

// The search goes where it went: the points and values that it found for twenty seeds, on a
// function with many hollows, add up to the same.
func TestSearchStays(t *testing.T) {
	space := []SearchParam{{Name: "x", Min: -10, Max: 10}, {Name: "n", Min: 0, Max: 50, Whole: true}}
	tried, sum := 0, 0.0
	for seed := range workload.Seed(20) {
		got, err := recursiveRandomSearch(space, seed, func(at []float64) float64 {
			return math.Abs(at[0]) + math.Abs(at[1]-20)/10 + 2*math.Cos(3*at[0])*math.Cos(at[1])
		})
		if err != nil {
			t.Fatal(err)
		}
		tried += got.Evaluations
		sum += got.Value + got.At[0] + got.At[1]
	}
	if tried != 5790 || math.Abs(sum-383.431945) > 1e-6 {
		t.Errorf("got %d points and the sum %.6f: want 5790 and 383.431945", tried, sum)
	}
}

// Spaces of fewer than 44 points are tried whole.
func TestSearchEnumerates(t *testing.T) {
	space := []SearchParam{{Name: "a", Min: 0, Max: 1, Whole: true}, {Name: "b", Min: -3, Max: 4, Whole: true}, {Name: "c", Min: 7, Max: 7}}
	seen := map[[3]float64]int{}
	got, err := recursiveRandomSearch(space, 1, func(at []float64) float64 {
		seen[[3]float64(at)]++
		return math.Abs(at[1]-2) - at[0]
	})
	if err != nil || got.Evaluations != 16 || len(seen) != 16 || got.At[0] != 1 || got.At[1] != 2 {
		t.Errorf("%+v of %d points, %v, want (1, 2) of 16", got, len(seen), err)
	}
}

// Points stay in the box, whole dimensions whole, and refused points are never
// the answer.
func TestSearchConstraints(t *testing.T) {
	space := []SearchParam{{Name: "x", Min: 1, Max: 3}, {Name: "n", Min: -5, Max: 500, Whole: true}}
	got, err := recursiveRandomSearch(space, 9, func(at []float64) float64 {
		if at[0] < 1 || at[0] > 3 || at[1] < -5 || at[1] > 500 || at[1] != math.Trunc(at[1]) {
			t.Errorf("tried %v", at)
		}
		switch {
		case at[0] > 2:
			return math.Inf(1)
		case at[1] > 400:
			return math.NaN()
		}
		return at[0] + at[1]/100
	})
	if err != nil || got.At[0] > 1.1 || got.At[1] > 10 {
		t.Errorf("%+v, %v, want the corner (1, -5)", got, err)
	}
	if _, err := recursiveRandomSearch(space, 9, func([]float64) float64 { return math.Inf(1) }); err == nil {
		t.Error("nothing is allowed: no error")
	}
}

func TestSearchErrors(t *testing.T) {
	for _, c := range []struct {
		space []SearchParam
		want  string
	}{
		{nil, "no parameter"},
		{[]SearchParam{{Name: "x", Min: 2, Max: 1}}, "x.max: 1"},
		{[]SearchParam{{Name: "x", Min: math.NaN(), Max: 1}}, "x.min: missing"},
		{[]SearchParam{{Name: "x", Min: 0.5, Max: 1, Whole: true}}, "want whole numbers"},
		{[]SearchParam{{Name: "x", Min: 0, Max: 1e300, Whole: true}}, "want whole numbers"},
	} {
		if _, err := recursiveRandomSearch(c.space, 1, func([]float64) float64 { return 0 }); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.space, err, c.want)
		}
	}
	for _, c := range []struct {
		p, r, q, v float64
		want       string
	}{
		{1, 0.1, 0.99, 0.8, "p: 1"}, {0.99, 0, 0.99, 0.8, "r: 0"}, {0.99, 0.1, math.NaN(), 0.8, "q: missing"},
		{0.99, 0.1, 0.99, 1e-300, "v: 1e-300: too small"},
	} {
		if _, err := rrsSamples(c.p, c.r, c.q, c.v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// A search of n parameters ends after 80 n^1.2 points without improvement, and at
// the latest after 150 n^1.2.
func TestSearchEnds(t *testing.T) {
	space := []SearchParam{{Name: "x", Min: 0, Max: 1}, {Name: "y", Min: 0, Max: 1}}
	flat, err := recursiveRandomSearch(space, 3, func([]float64) float64 { return 1 })
	if want := 1 + 183; err != nil || flat.Evaluations != want { // 80 * 2^1.2 = 183.8
		t.Errorf("a flat function: %d points, %v: want %d", flat.Evaluations, err, want)
	}
	fall := 0.0
	falling, err := recursiveRandomSearch(space, 3, func([]float64) float64 { fall--; return fall })
	if want := 344; err != nil || falling.Evaluations != want { // 150 * 2^1.2 = 344.6
		t.Errorf("a function that falls with each call: %d points, %v: want %d", falling.Evaluations, err, want)
	}
}
