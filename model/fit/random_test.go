package fit_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/vectortest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// rounded writes numbers with seven digits, as sums in another order agree only nearly.
func rounded(values ...any) string {
	var b strings.Builder
	for _, v := range values {
		switch v := v.(type) {
		case *float64:
			if v == nil {
				b.WriteString("none ")
				continue
			}
			fmt.Fprintf(&b, "%.7g ", *v)
		case []*float64:
			for _, x := range v {
				b.WriteString(rounded(x))
			}
		case fit.Line:
			fmt.Fprintf(&b, "%.7g %.7g ", v.A, v.B)
		case []fit.Line:
			for _, l := range v {
				b.WriteString(rounded(l))
			}
		case float64, []float64:
			fmt.Fprintf(&b, "%.7g ", v)
		default:
			fmt.Fprintf(&b, "%v ", v)
		}
	}
	return b.String()
}

// Fits of random rows stay: on one line or on two, exact or scattered, with outliers, with
// few distinct x, in each way of fitting. -v shows them.
func TestFitsStay(t *testing.T) {
	var got strings.Builder
	const drawn = 150 // a fifth of them in short tests
	for seed := range uint64(layers.Draws(drawn, drawn)) {
		r := rand.New(rand.NewPCG(seed, 5))
		n := []int{2, 3, 4, 5, 8, 20, 60, 200}[r.IntN(8)]
		a, b, noise := float64(r.IntN(50)-10), float64(r.IntN(9)-1), []float64{0, 0.02, 0.3}[r.IntN(3)]
		bend, proportional := float64(r.IntN(4)), r.IntN(2) == 0
		var x, y []float64
		var rows [][]float64
		for range n {
			at := float64(r.IntN(1 + n/(1+r.IntN(3))))
			v := a + b*at + bend*max(0, at-float64(n)/2)
			if proportional {
				v *= 1 + noise*r.NormFloat64()
			} else {
				v += 20 * noise * r.NormFloat64()
			}
			if r.IntN(15) == 0 {
				v *= 4
			}
			x, y = append(x, at), append(y, v)
			rows = append(rows, []float64{1 + at, float64(r.IntN(5)), float64(r.IntN(2))})
		}
		var out strings.Builder
		say := func(what string, values ...any) { fmt.Fprintf(&out, "%s: %s\n", what, rounded(values...)) }
		line, err := fit.LeastSquares(x, y)
		say("line", line, err)
		for _, weight := range append(fit.Weights(), "", "none") {
			for k := range 8 {
				o := fit.RobustOptions{Weight: weight, NonNegative: k&1 > 0, Leverage: k&2 > 0, Proportional: k&4 > 0}
				if seed%5 == 0 {
					o.Tune = 2
				}
				l, err := fit.Robust(x, y, o)
				say(weight, l.Line, l.Scale, l.Weights, err)
			}
		}
		for k := range 8 {
			o := fit.SegmentOptions{MinPoints: 1 + r.IntN(4), Margin: float64(r.IntN(3)) * 5, Continuous: k&1 > 0, SetAside: k&2 > 0, Proportional: k&4 > 0}
			s, err := fit.Segment(x, y, o)
			say("segment", s.Line, s.RSS1, s.RSS2, s.Tau, s.Pieces, s.BIC1, s.BIC2, s.F, s.Two, err)
		}
		f, p, err := fit.Chow(x, y, float64(n)/4, r.IntN(2) == 0)
		say("chow", f, p, err)
		keptX, keptY := fit.WithoutOutliers(x, y)
		say("without outliers", keptX, keptY, fit.Proportional(x, y))
		e, err := fit.Errors(y, x, fit.ErrorThresholds)
		say("errors", e.Errors, e.Fractions, e.Mean, e.Max, err)
		beta, err := fit.NonNegative(rows, y)
		say("non-negative", beta, err)
		if n < 60 {
			o := fit.LocalOptions{Intercept: r.IntN(2) == 0, Scale: fit.Scales[r.IntN(len(fit.Scales))]}
			for _, h := range []float64{0.1, 1, 10} {
				l, err := fit.Local(rows, y, rows[0], h, o)
				say("local", l.Prediction, l.Beta, l.Weights, err)
			}
			w, err := fit.Bandwidth(rows, y, fit.BandwidthGrid(), o)
			say("bandwidth", w.H, w.MSE, err)
		}
		for _, v := range append(y, 0.5, 1e-9, 3-1e-12, 3+1e-12) {
			say("rounding", fit.Ceil(v), fit.Floor(v), fit.Log(1+v*v), fit.Log2(1+v*v))
		}
		if testing.Verbose() {
			t.Logf("%d: %v %v\n%s", seed, x, y, out.String())
		}
		fmt.Fprintf(&got, "%d: %d rows, %.6x\n", seed, n, sha256.Sum256([]byte(out.String())))
	}
	vectortest.Lines(t, "testdata/fits.txt", got.String(), *update)
}
