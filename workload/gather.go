package workload

import (
	"cmp"
	"math"
	"slices"
)

// gathering collects the values behind a Sample. It keeps them all until thin is
// called. Each call drops one of two neighbours among some thousand values, and
// the other then stands for two.
type gathering struct {
	n        int
	mean, m2 float64 // Welford's
	min, max float64
	kept     [][]float64 // each of kept[i] stands for 1<<i values
	upper    bool        // which of two neighbours is kept the next time
}

// keeper counts the values that all gatherings keep.
type keeper struct {
	kept int
	thin bool // from now on
}

const (
	exactValues = 4 << 20 // values kept in total before any are thinned: 32 MiB
	thinValues  = 4096    // values of a gathering with equal weight
)

func (t *gathering) add(k *keeper, values ...float64) {
	if len(values) == 0 {
		return
	}
	if t.n == 0 {
		t.min, t.max = values[0], values[0]
		t.kept = append(t.kept, nil)
	}
	for _, v := range values {
		t.n++
		d := v - t.mean
		t.mean += d / float64(t.n)
		t.m2 += float64(d * (v - t.mean))
		t.min, t.max = min(t.min, v), max(t.max, v)
		t.kept[0] = append(t.kept[0], v)
		k.kept++
		if k.thin {
			t.thin(k)
		}
	}
}

// thin halves lists that are too long, those with the lowest weight first.
func (t *gathering) thin(k *keeper) {
	for i := 0; i < len(t.kept) && len(t.kept[i]) >= thinValues; i++ {
		list := t.kept[i]
		slices.Sort(list)
		if i+1 == len(t.kept) {
			t.kept = append(t.kept, nil)
		}
		n := 0
		if t.upper {
			n = 1
		}
		t.upper = !t.upper
		pairs := len(list) &^ 1
		for ; n < pairs; n += 2 {
			t.kept[i+1] = append(t.kept[i+1], list[n])
		}
		k.kept -= pairs / 2
		left := list[pairs:]
		if cap(list) > 2*thinValues {
			list = nil
		}
		t.kept[i] = append(list[:0], left...)
	}
}

// sample returns the summary of the values. The quantiles of thinned values are
// off by at most levels / (2 * thinValues) of all values: 0.1 % of a million.
func (t *gathering) sample() Sample {
	if t.n == 0 {
		return NewSample(nil)
	}
	if len(t.kept) == 1 {
		return NewSample(t.kept[0])
	}
	type weighted struct {
		v float64
		n int
	}
	var all []weighted
	for i, list := range t.kept {
		for _, v := range list {
			all = append(all, weighted{v, 1 << i})
		}
	}
	slices.SortFunc(all, func(a, b weighted) int { return cmp.Or(cmp.Compare(a.v, b.v), cmp.Compare(a.n, b.n)) })
	s := Sample{N: t.n, Mean: t.mean, SD: math.Sqrt(t.m2 / float64(t.n-1)), Min: t.min, Max: t.max, Quantiles: make([]float64, sampleSteps+1)}
	below, at := 0, 0 // values below all[at]
	for i := range s.Quantiles {
		for rank := i * (t.n - 1) / sampleSteps; below+all[at].n <= rank; at++ {
			below += all[at].n
		}
		s.Quantiles[i] = all[at].v
	}
	s.Quantiles[0], s.Quantiles[sampleSteps] = s.Min, s.Max
	return s
}
