package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	maxRounds = 500
	tolerance = 1e-12 // of a coefficient
	rounding  = 1e-14 // of the line's largest term, which a smaller coefficient cannot beat

	// Rounds alternate with extrapolations: near the solution the steps shrink
	// by a constant factor, at times too slowly for maxRounds.
	plainRounds = 100
	leapEvery   = 10
	maxLeapPart = 0.999

	// normalMAD converts the median absolute residual to a standard deviation
	// for normal errors: the third quartile of the standard normal.
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

// Tuning constants are those in common use; ols gives every row the same weight.
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
	huber,
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

var huber = weightFunc{"huber", 1.345, func(u float64) float64 { return 1 / math.Max(1, math.Abs(u)) }}

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

	// Proportional says that rows scatter in proportion to their size: residuals
	// count relative to the line, and the scale is a part of 1.
	Proportional bool
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
// Welsch, 1977), starting from least squares. The scale is the median of the
// absolute residuals of all rows, about zero, over 0.6745.
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

	r := reweighting{
		x: x, y: y, options: o,
		lever: slices.Repeat([]float64{1}, len(x)), level: slices.Repeat([]float64{1}, len(x)),
		floor: scaleFloor(y),
		fit:   RobustLine{Weights: slices.Repeat([]float64{1}, len(x))},
		w:     make([]float64, len(x)), residuals: make([]float64, len(x)), sizes: make([]float64, len(x)),
	}
	for _, v := range x {
		r.span = math.Max(r.span, math.Abs(v))
	}
	if o.Leverage {
		leverage(x, r.lever)
	}
	if err := r.solve(); err != nil {
		return RobustLine{}, err
	}
	if o.Proportional {
		// Least squares depend on the largest times, and a redescending function
		// may not correct that.
		r.floor = 1e-6
		if err := r.run(huber); err != nil {
			return RobustLine{}, err
		}
	}
	if err := r.run(f); err != nil {
		return RobustLine{}, err
	}
	return r.fit, nil
}

// reweighting is the state of a robust fit.
type reweighting struct {
	x, y    []float64
	options RobustOptions
	lever   []float64 // sqrt(1 - leverage) of a row, or 1
	level   []float64 // relative scatter of a row
	floor   float64   // of the scale
	span    float64   // largest |x|

	fit              RobustLine
	w                []float64 // of the least squares step
	residuals, sizes []float64
}

// solve returns one weighted least squares step.
func (r *reweighting) solve() (err error) {
	for i, w := range r.fit.Weights {
		r.w[i] = w / r.level[i] / r.level[i]
	}
	if r.options.NonNegative {
		r.fit.Line, err = nonNegative(r.x, r.y, r.w)
	} else {
		r.fit.Line, err = weighted(r.x, r.y, r.w)
	}
	return err
}

// run reweights with one weight function until the line is as near its fixed
// point as tolerance says.
func (r *reweighting) run(f weightFunc) error {
	var last Line // the step of the round before; zero: none
	for round := range maxRounds {
		if r.options.Proportional {
			levelsAlong(r.fit.Line, r.x, r.level)
		}
		for i := range r.x {
			r.residuals[i] = (r.y[i] - r.fit.At(r.x[i])) / r.lever[i] / r.level[i]
			r.sizes[i] = math.Abs(r.residuals[i])
		}
		r.fit.Scale = math.Max(median(r.sizes)/normalMAD, r.floor)
		if f.name == "ols" && !r.options.Proportional {
			return nil
		}
		for i, u := range r.residuals {
			r.fit.Weights[i] = f.w(u / (f.tune * r.fit.Scale))
		}
		old := r.fit.Line
		if err := r.solve(); err != nil {
			return err
		}
		step := Line{r.fit.A - old.A, r.fit.B - old.B}
		part := r.part(step, last)
		if r.settled(step, part) {
			return nil
		}
		last = step
		if round >= plainRounds && round%leapEvery == 0 && part > 0 && part < maxLeapPart {
			r.fit.A += step.A * part / (1 - part)
			r.fit.B += step.B * part / (1 - part)
			last = Line{} // the next step says nothing about this one
		}
	}
	return fmt.Errorf("%w in %d rounds (weight %s)", ErrNotConverged, maxRounds, f.name)
}

// part returns the constant factor that fits a step and the one before it best; NaN
// if there is none before.
func (r *reweighting) part(step, last Line) float64 {
	lastA, lastB := last.A, last.B*r.span
	return (float64(step.A*lastA) + float64(step.B*r.span*lastB)) / (float64(lastA*lastA) + float64(lastB*lastB))
}

// settled reports whether neither this step nor the sum of all further ones, each
// part of the one before, moves a coefficient by more than its tolerance. Small
// steps alone do not show that: with a factor of 0.99 a hundred more follow.
func (r *reweighting) settled(step Line, part float64) bool {
	if step == (Line{}) {
		return true
	}
	if math.IsNaN(part) {
		return false
	}
	part = math.Min(part, maxLeapPart)
	further := math.Max(1, part/(1-part))
	floor := rounding * math.Max(math.Abs(r.fit.A), math.Abs(r.fit.B)*r.span)
	return math.Abs(step.A)*further <= math.Max(tolerance*math.Abs(r.fit.A), floor) &&
		math.Abs(step.B)*r.span*further <= math.Max(tolerance*math.Abs(r.fit.B)*r.span, floor)
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

// median returns the median and reorders v.
func median(v []float64) float64 {
	n := len(v)
	upper := Select(v, n/2)
	if n%2 == 1 {
		return upper
	}
	lower := v[0]
	for _, x := range v[:n/2] {
		lower = math.Max(lower, x)
	}
	return (lower + upper) / 2
}

// Select reorders v so that v[k] is as after sorting, with nothing larger
// before and nothing smaller after it. Hoare's selection is linear; sorting in
// every round would take most of a fit's time.
func Select(v []float64, k int) float64 {
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

// levelsAlong fills level with the height of a line at each x.
func levelsAlong(l Line, x, level []float64) {
	mean := 0.0
	for i, v := range x {
		level[i] = math.Abs(l.At(v))
		mean += level[i] / float64(len(x))
	}
	if mean == 0 {
		mean = 1
	}
	for i, v := range level {
		level[i] = math.Max(v, smallestPart*mean)
	}
}

// smallestPart is a lower limit on the level of a row, as a fraction of the mean
// level: times near 0 must not decide a fit.
const smallestPart = 0.01
