package workload

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Dist is a named distribution of a duration in seconds or of a factor.
// Negative draws become zero.
type Dist struct {
	Name   string
	law    interface{ Quantile(p float64) float64 }
	mean   float64
	params DistParams // from which it was made
}

// Draw takes one value from a stream by inversion.
func (d *Dist) Draw(s Stream) float64 { return math.Max(0, d.law.Quantile(s.Uniform())) }

// Mean returns the expectation (before negative draws are cut).
func (d *Dist) Mean() float64 { return d.mean }

// DistParams are the parameters that a scenario may give. The name of a
// distribution decides which of them it needs (see NewDist). NaN means not
// given.
type DistParams struct {
	Mean, SD, Min, Max, Mode, Shape float64
	Quantiles                       []float64 // values at equal steps of probability, from 0 to 1
}

// DistNames lists the distributions NewDist knows.
var DistNames = []string{"constant", "empirical", "exponential", "gamma", "lognormal", "normal", "pareto", "triangle", "uniform", "weibull"}

// NewDist makes a distribution from its name and parameters:
//
//	constant     mean
//	exponential  mean
//	normal       mean, sd
//	lognormal    mean, sd (of the values, not of their logarithms)
//	gamma        mean, sd
//	weibull      mean, shape
//	pareto       min, shape (> 1)
//	uniform      min, max
//	triangle     min, max, mode
//	empirical    quantiles
func NewDist(name string, p DistParams) (*Dist, error) {
	need := func(cond bool, what string) error {
		if !cond { // this form is true for NaN
			return fmt.Errorf("%s distribution: want %s", name, what)
		}
		return nil
	}
	d := &Dist{Name: name, mean: p.Mean, params: p}
	for _, x := range []*float64{&d.params.Mean, &d.params.SD, &d.params.Min, &d.params.Max, &d.params.Mode, &d.params.Shape} {
		if math.IsNaN(*x) { // the law does not need it; numbers compare
			*x = 0
		}
	}
	// Beyond these the parameters of a law leave the range of numbers.
	const widest, leastShape = 1e6, 0.01
	comparable := p.SD >= p.Mean/widest && p.SD <= p.Mean*widest
	var err error
	switch name {
	case "constant":
		err = need(p.Mean >= 0, "mean >= 0")
		d.law = constant(p.Mean)
	case "exponential":
		err = need(p.Mean > 0, "mean > 0")
		d.law = distuv.Exponential{Rate: 1 / p.Mean}
	case "normal":
		err = need(p.Mean >= 0 && p.SD > 0, "mean >= 0 and sd > 0")
		d.law = distuv.Normal{Mu: p.Mean, Sigma: p.SD}
	case "lognormal":
		err = need(p.Mean > 0 && p.SD > 0 && comparable, "mean > 0 and sd > 0, of which one is at most 1e6 times the other")
		s2 := math.Log1p(p.SD * p.SD / (p.Mean * p.Mean))
		d.law = distuv.LogNormal{Mu: math.Log(p.Mean) - s2/2, Sigma: math.Sqrt(s2)}
	case "gamma":
		err = need(p.Mean > 0 && p.SD > 0 && comparable, "mean > 0 and sd > 0, of which one is at most 1e6 times the other")
		d.law = distuv.Gamma{Alpha: p.Mean * p.Mean / (p.SD * p.SD), Beta: p.Mean / (p.SD * p.SD)}
	case "weibull":
		err = need(p.Mean > 0 && p.Shape >= leastShape, fmt.Sprintf("mean > 0 and shape >= %v", leastShape))
		d.law = distuv.Weibull{K: p.Shape, Lambda: p.Mean / math.Gamma(1+1/p.Shape)}
	case "pareto":
		err = need(p.Min > 0 && p.Shape > 1, "min > 0 and shape > 1")
		law := distuv.Pareto{Xm: p.Min, Alpha: p.Shape}
		d.law, d.mean = law, law.Mean()
	case "uniform":
		err = need(p.Min >= 0 && p.Max > p.Min, "0 <= min < max")
		d.law, d.mean = distuv.Uniform{Min: p.Min, Max: p.Max}, (p.Min+p.Max)/2
	case "triangle":
		err = need(p.Min >= 0 && p.Max > p.Min && p.Mode >= p.Min && p.Mode <= p.Max, "0 <= min <= mode <= max and min < max")
		if err == nil {
			law := distuv.NewTriangle(p.Min, p.Max, p.Mode, nil)
			d.law, d.mean = law, law.Mean()
		}
	case "empirical":
		err = need(len(p.Quantiles) >= 2 && slices.IsSorted(p.Quantiles) && p.Quantiles[0] >= 0, "two or more quantiles, rising from >= 0")
		if err == nil {
			law := empirical(p.Quantiles)
			d.law, d.mean = law, law.mean()
		}
	default:
		return nil, fmt.Errorf("unknown distribution %q: want one of %v", name, DistNames)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

type constant float64

func (c constant) Quantile(float64) float64 { return float64(c) }

// empirical interpolates linearly between values at equal steps of probability.
type empirical []float64

func (e empirical) Quantile(p float64) float64 { return e.at(p * float64(len(e)-1)) }

// at returns the value at a position from 0, the first, to 1, the last.
func (e empirical) at(place float64) float64 {
	i := min(int(place), len(e)-2)
	return e[i] + (place-float64(i))*(e[i+1]-e[i])
}

func (e empirical) mean() float64 {
	sum := 0.0
	for i := range len(e) - 1 {
		sum += (e[i] + e[i+1]) / 2
	}
	return sum / float64(len(e)-1)
}
