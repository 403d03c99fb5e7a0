package workload

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

const sampleSteps = 100 // steps between the quantiles of a sample

// NewSample summarises values. It sorts them. Quantiles are the values
// themselves. For more than a hundred values they are at steps of a hundredth.
func NewSample(values []float64) Sample {
	nan := math.NaN()
	s := Sample{N: len(values), Mean: nan, SD: nan, Min: nan, Max: nan}
	if len(values) == 0 {
		return s
	}
	slices.Sort(values)
	s.Mean, s.Min, s.Max = stat.Mean(values, nil), values[0], values[len(values)-1]
	if len(values) == 1 {
		s.Quantiles = []float64{s.Min, s.Min}
		return s
	}
	s.SD = stat.StdDev(values, nil)
	last := len(values) - 1
	steps := min(last, sampleSteps)
	s.Quantiles = make([]float64, steps+1)
	for i := range s.Quantiles {
		q := empirical(values).at(float64(i*last) / float64(steps))
		s.Quantiles[i] = min(max(q, s.Quantiles[max(0, i-1)]), s.Max) // exact in spite of rounding
	}
	return s
}

func samples(lists []values) []Sample {
	all := make([]Sample, len(lists))
	for i := range lists {
		all[i] = lists[i].sample()
	}
	return all
}

// values are those behind a Sample.
type values []float64

func (v *values) add(more ...float64) { *v = append(*v, more...) }

// sample summarises the values, and sorts them.
func (v values) sample() Sample { return NewSample(v) }
