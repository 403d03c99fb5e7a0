package fit

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrNotConverged says that reweighting did not settle; redescending weight
// functions can cycle.
var ErrNotConverged = errors.New("the robust fit did not converge")

const (
	maxRounds = 500
	tolerance = 1e-12

	// Rounds without, between and for an extrapolation: close to the answer the
	// steps shrink by a constant part, at times too slowly for maxRounds.
	plainRounds = 100
	leapEvery   = 10
	maxLeapPart = 0.999

	// normalMAD turns the median absolute residual into a standard deviation
	// where the errors are normal: the third quartile of the standard normal.
	normalMAD = 0.6744897501960817

	// maxLeverage keeps an exactly determined row from dividing by zero.
	maxLeverage = 0.9999
)

// weightFunc is one weight function of the residual in units of tune*scale. At
// its tune it has 95 % of the efficiency of least squares under normal errors.
type weightFunc struct {
	name string
	tune float64
	w    func(u float64) float64
}

// The table of models.md section 7.3; ols gives every row the same weight.
var weightFuncs = []weightFunc{
	{"andrews", 1.339, func(u float64) float64 {
		if u = math.Abs(u); u >= math.Pi {
			return 0
		}
		return ratio(math.Sin(u), u)
	}},
	{"bisquare", 4.685, func(u float64) float64 {
		if u *= u; u >= 1 {
			return 0
		}
		return (1 - u) * (1 - u)
	}},
	{"cauchy", 2.385, func(u float64) float64 { return 1 / (1 + float64(u*u)) }},
	{"fair", 1.400, func(u float64) float64 { return 1 / (1 + math.Abs(u)) }},
	{"huber", 1.345, func(u float64) float64 { return 1 / math.Max(1, math.Abs(u)) }},
	{"logistic", 1.205, func(u float64) float64 { return ratio(math.Tanh(u), u) }},
	{"ols", 1, func(float64) float64 { return 1 }},
	{"talwar", 2.795, func(u float64) float64 {
		if math.Abs(u) >= 1 {
			return 0
		}
		return 1
	}},
	{"welsch", 2.985, func(u float64) float64 { return math.Exp(-float64(u * u)) }},
}

// ratio is f(u)/u for an f with f(0) = 0 and slope 1 there.
func ratio(f, u float64) float64 {
	if u == 0 {
		return 1
	}
	return f / u
}

// Weights lists the weight functions, sorted.
func Weights() []string {
	names := make([]string, len(weightFuncs))
	for i, f := range weightFuncs {
		names[i] = f.name
	}
	return names
}

// RobustOptions choose a robust fit; the zero value is bisquare at its usual
// tuning constant.
type RobustOptions struct {
	Weight      string  // one of Weights; empty: bisquare
	Tune        float64 // c in u = r/(c*s); 0: the weight function's own
	NonNegative bool    // A >= 0 and B >= 0
	Leverage    bool    // residuals over sqrt(1 - leverage)
}

func (o RobustOptions) weightFunc() (weightFunc, error) {
	name := o.Weight
	if name == "" {
		name = "bisquare"
	}
	for _, f := range weightFuncs {
		if f.name == name {
			if o.Tune != 0 {
				f.tune = o.Tune
			}
			return f, nil
		}
	}
	return weightFunc{}, fmt.Errorf("weight: unknown function %q; want one of %s", name, strings.Join(Weights(), ", "))
}

// RobustLine is a line with the scale of its residuals and the weight that each
// row was given.
type RobustLine struct {
	Line
	Scale   float64   `json:"scale"`
	Weights []float64 `json:"weights"`
}

// Robust fits a line by iteratively reweighted least squares (Holland and
// Welsch; models.md 7.3), starting from least squares. The scale is the median
// of the absolute residuals of all rows, about zero, over 0.6745.
func Robust(x, y []float64, o RobustOptions) (RobustLine, error) {
	f, err := o.weightFunc()
	if err != nil {
		return RobustLine{}, err
	}
	if !(f.tune > 0) || math.IsInf(f.tune, 1) {
		return RobustLine{}, fmt.Errorf("tune: %v: want a number more than 0", f.tune)
	}
	if err := checkRows(x, y); err != nil {
		return RobustLine{}, err
	}

	fit := RobustLine{Weights: make([]float64, len(x))}
	for i := range fit.Weights {
		fit.Weights[i] = 1
	}
	solve := weighted
	if o.NonNegative {
		solve = nonNegative
	}
	if fit.Line, err = solve(x, y, fit.Weights); err != nil {
		return RobustLine{}, err
	}

	spread := make([]float64, len(x)) // what a residual is divided by
	for i := range spread {
		spread[i] = 1
	}
	if o.Leverage {
		leverage(x, spread)
	}
	floor := scaleFloor(y)
	span := 0.0
	for _, v := range x {
		span = math.Max(span, math.Abs(v))
	}
	residuals, scratch := make([]float64, len(x)), make([]float64, len(x))
	var last Line // the step of the round before
	for round := range maxRounds {
		for i := range x {
			residuals[i] = (y[i] - fit.At(x[i])) / spread[i]
			scratch[i] = math.Abs(residuals[i])
		}
		fit.Scale = math.Max(median(scratch)/normalMAD, floor)
		if f.name == "ols" {
			return fit, nil
		}
		for i, r := range residuals {
			fit.Weights[i] = f.w(r / (f.tune * fit.Scale))
		}
		old := fit.Line
		if fit.Line, err = solve(x, y, fit.Weights); err != nil {
			return RobustLine{}, err
		}
		// A coefficient near 0 is settled when the line no longer moves.
		height := tolerance * math.Max(math.Abs(fit.A), math.Abs(fit.B)*span)
		if math.Abs(fit.A-old.A) <= height && math.Abs(fit.B-old.B)*span <= height {
			return fit, nil
		}
		step := Line{fit.A - old.A, fit.B - old.B}
		if round >= plainRounds && round%leapEvery == 0 {
			// Where each step is a fixed part of the one before, go to their sum.
			lastA, lastB := last.A, last.B*span
			part := (float64(step.A*lastA) + float64(step.B*span*lastB)) / (float64(lastA*lastA) + float64(lastB*lastB))
			if part > 0 && part < maxLeapPart {
				fit.A += step.A * part / (1 - part)
				fit.B += step.B * part / (1 - part)
			}
		}
		last = step
	}
	return RobustLine{}, fmt.Errorf("%w in %d rounds (weight %s)", ErrNotConverged, maxRounds, f.name)
}

// leverage fills spread with sqrt(1 - h) of every row.
func leverage(x, spread []float64) {
	n, mean, sxx := float64(len(x)), 0.0, 0.0
	for _, v := range x {
		mean += v
	}
	mean /= n
	for _, v := range x {
		sxx += float64((v - mean) * (v - mean))
	}
	for i, v := range x {
		h := 1/n + float64((v-mean)*(v-mean))/sxx
		spread[i] = math.Sqrt(1 - math.Min(maxLeverage, h))
	}
}

// scaleFloor is 1e-6 of the standard deviation of y, or 1 where y is constant:
// the scale of a perfect fit must not be 0.
func scaleFloor(y []float64) float64 {
	n, mean, ss := float64(len(y)), 0.0, 0.0
	for _, v := range y {
		mean += v
	}
	mean /= n
	for _, v := range y {
		ss += float64((v - mean) * (v - mean))
	}
	sd := math.Sqrt(ss / (n - 1))
	if sd == 0 {
		return 1
	}
	return 1e-6 * sd
}

// median returns the median and leaves v in another order.
func median(v []float64) float64 {
	n := len(v)
	upper := selectNth(v, n/2)
	if n%2 == 1 {
		return upper
	}
	lower := v[0]
	for _, x := range v[:n/2] {
		lower = math.Max(lower, x)
	}
	return (lower + upper) / 2
}

// selectNth reorders v until v[k] is what sorting would put there, with nothing
// larger before and nothing smaller behind it (Hoare's selection: linear, where
// sorting in every round would be most of a fit's time).
func selectNth(v []float64, k int) float64 {
	for low, high := 0, len(v)-1; low < high; {
		pivot := v[low+(high-low)/2]
		i, j := low, high
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return v[k]
		}
	}
	return v[k]
}
