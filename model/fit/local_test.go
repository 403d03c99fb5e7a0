package fit_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model/fit"
)

var (
	runsX = [][]float64{{5, 20}, {5, 40}, {10, 20}, {10, 40}, {15, 20}, {15, 40}, {20, 20}, {20, 40}, {25, 40}, {25, 80}, {30, 40}, {30, 80}}
	runsY = []float64{31.0, 22.4, 55.2, 34.0, 84.1, 47.5, 118.0, 62.8, 79.9, 49.0, 99.1, 57.7}
)

// On a plane every bandwidth that determines the coefficients gives the plane.
func TestLocalOnPlane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := rapid.Float64Range(-9, 9).Draw(t, "a"), rapid.Float64Range(-9, 9).Draw(t, "b"), rapid.Float64Range(-9, 9).Draw(t, "c")
		y := make([]float64, len(runsX))
		for i, row := range runsX {
			y[i] = a + b*row[0] + c*row[1]
		}
		query := []float64{rapid.Float64Range(5, 30).Draw(t, "d"), rapid.Float64Range(20, 80).Draw(t, "r")}
		h := rapid.Float64Range(1, 50).Draw(t, "h")
		scale := rapid.SampledFrom([]string{"minmax", "zscore"}).Draw(t, "scale")
		f, err := fit.Local(runsX, y, query, h, fit.LocalOptions{Intercept: true, Scale: scale})
		if err != nil {
			t.Fatal(err)
		}
		if want := a + b*query[0] + c*query[1]; !near(f.Prediction, want, 1e-6) {
			t.Errorf("%v at %v, want %v", f.Prediction, query, want)
		}
	})
}

// A query thousands of bandwidths away: each weight underflows, the fit must
// not.
func TestLocalFarQuery(t *testing.T) {
	f, err := fit.Local(runsX, runsY, []float64{4000, 9000}, 200, fit.LocalOptions{Intercept: true, Scale: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Max(f.Weights) != 0 {
		t.Fatalf("weights %v: the query is not far enough", f.Weights)
	}
	if math.IsNaN(f.Prediction) {
		t.Error("prediction is NaN")
	}
}

func TestLocalErrors(t *testing.T) {
	o := fit.LocalOptions{Intercept: true, Scale: "zscore"}
	for _, c := range []struct {
		name  string
		query []float64
		h     float64
		o     fit.LocalOptions
		want  string
	}{
		{"zero h", []float64{10, 30}, 0, o, "h: 0"},
		{"NaN h", []float64{10, 30}, math.NaN(), o, "h: missing"},
		{"short query", []float64{10}, 1, o, "query: 1 values"},
		{"unknown scale", []float64{10, 30}, 1, fit.LocalOptions{Scale: "rank"}, "scale: unknown"},
		{"narrow", []float64{10, 20}, 1e-200, o, "do not determine"},
	} {
		_, err := fit.Local(runsX, runsY, c.query, c.h, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// Two bandwidths that predict the same: the larger wins. On a constant every
// bandwidth is exact.
func TestBandwidthTies(t *testing.T) {
	x, y := [][]float64{{1}, {2}, {3}, {4}}, []float64{0, 0, 0, 0}
	f, err := fit.Bandwidth(x, y, []float64{8, 4, 16, 2}, fit.LocalOptions{Intercept: true, Scale: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if f.H != 16 {
		t.Errorf("h = %v, want 16", f.H)
	}
}

func TestBandwidthAllSingular(t *testing.T) {
	_, err := fit.Bandwidth(runsX, runsY, []float64{1e-9, 1e-8}, fit.LocalOptions{Intercept: true, Scale: "none"})
	if !errors.Is(err, fit.ErrSingular) {
		t.Errorf("error %v, want ErrSingular", err)
	}
}

func TestBandwidthGrid(t *testing.T) {
	g := fit.BandwidthGrid()
	if len(g) != 12 || !near(g[0], 0.1, 1e-12) || !near(g[11], 10, 1e-12) {
		t.Fatalf("grid %v, want 12 values from 0.1 to 10", g)
	}
	for i := 1; i < len(g); i++ {
		if !near(g[i]/g[i-1], g[1]/g[0], 1e-12) {
			t.Errorf("ratio %v at %d, want %v", g[i]/g[i-1], i, g[1]/g[0])
		}
	}
}
