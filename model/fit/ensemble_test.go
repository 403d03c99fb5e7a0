package fit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// Three of five unknowns act on four rows, two of them only as a product. The truth is
// in the members' range, and what no row tells keeps its spread.
func TestEnsemble(t *testing.T) {
	show := func(v []float64) []float64 {
		return []float64{math.Log(2 * v[0]), math.Log(v[1]*v[2] + 1), math.Log(v[0] + v[1]*v[2]), math.Log(5 + v[0])}
	}
	truth := []float64{3, 0.5, 8, 1, 1}
	e := Ensemble{Want: show(truth), Noise: []float64{0.02, 0.02, 0.02, 0.02}, Keep: func(int) {}}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		e.Unknowns = append(e.Unknowns, Unknown{Name: name, Likely: 1, Spread: 1.5, Least: 0, Most: math.MaxFloat64})
	}
	e.Show = func(_ int, v []float64) ([]float64, error) { return show(v), nil }
	found, err := e.Find(40, 3, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	// spread over the 19 best of a function of the values
	spread := func(of func(v []float64) float64) (mean, sd float64) {
		var logs []float64
		for _, m := range found[:19] {
			logs = append(logs, math.Log(of(m.Values)))
		}
		return stat.MeanStdDev(logs, nil)
	}
	for _, x := range []struct {
		name        string
		of          func(v []float64) float64
		want        float64
		least, most float64 // of the standard deviation of the logarithm
	}{
		{"a", func(v []float64) float64 { return v[0] }, 3, 0, 0.1},
		{"b times c", func(v []float64) float64 { return v[1] * v[2] }, 4, 0, 0.15},
		{"b by c", func(v []float64) float64 { return v[1] / v[2] }, 1. / 16, 1, 4},
		{"d", func(v []float64) float64 { return v[3] }, 1, 0.8, 2.2},
	} {
		mean, sd := spread(x.of)
		if math.Abs(mean-math.Log(x.want)) > 3*math.Max(sd, 0.02) || sd < x.least || sd > x.most {
			t.Errorf("%s: exp(%.2f ± %.2f), want %.2f, spread %v to %v", x.name, mean, sd, math.Log(x.want), x.least, x.most)
		}
	}
}
