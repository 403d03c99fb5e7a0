package fit

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// GroupValue is a value of a group, such as a machine, under a condition, such as
// the maps of a job. Values of one condition would be equal but for chance and
// their groups.
type GroupValue struct {
	Group, Condition int
	Value            float64
}

// GroupEffect is how far the values of a group are from those of the median group
// under the same conditions.
type GroupEffect struct {
	Values    int // that were compared; 0: none, and the rest has no meaning
	Effect    float64
	Low, High float64 // simultaneous 95 % interval: all groups are inside with 95 %
	Differs   bool    // 0 is outside after Holm's correction
}

// Scatter is the variance of values within groups under one condition.
type Scatter struct {
	Variance float64
	Freedom  int     // degrees of freedom
	Error    float64 // standard error of the variance, with the kurtosis of the values
}

// familyError is the probability that any group is said to differ although none
// does.
const familyError = 0.05

// groupMean is the mean of a group under one condition.
type groupMean struct {
	group, n  int
	mean, err float64 // err: squared standard error
}

// GroupEffects compares groups. Far values count as if they were nearer: a few
// stragglers make no slow group. Effects under several conditions are combined
// with weights that allow for effects that differ between conditions (DerSimonian
// and Laird).
func GroupEffects(values []GroupValue, groups int) []GroupEffect {
	found := make([]GroupEffect, groups)
	of := make([][]groupMean, groups)
	free := 0
	for _, condition := range conditions(values) {
		means, freedom := conditionMeans(condition)
		if len(means) < 2 || freedom < 1 {
			continue
		}
		free += freedom
		for _, m := range means {
			of[m.group] = append(of[m.group], m)
			found[m.group].Values += m.n
		}
	}
	effects, errs := make([]float64, groups), make([]float64, groups)
	var all []float64
	for g := range of {
		if len(of[g]) > 0 {
			effects[g], errs[g] = combine(of[g])
			all = append(all, effects[g])
		}
	}
	if len(all) < 2 {
		return make([]GroupEffect, groups)
	}
	center, student := middle(all), distuv.StudentsT{Sigma: 1, Nu: float64(free)}
	type test struct {
		group int
		p     float64
	}
	var tests []test
	for g := range of {
		if len(of[g]) == 0 {
			continue
		}
		x := &found[g]
		se := math.Sqrt(errs[g])
		wide := se * student.Quantile(1-familyError/float64(2*len(all)))
		x.Effect = effects[g] - center
		x.Low, x.High = x.Effect-wide, x.Effect+wide
		tests = append(tests, test{g, 2 * student.Survival(math.Abs(x.Effect)/se)})
	}
	slices.SortFunc(tests, func(a, b test) int { return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.group, b.group)) })
	for i, t := range tests {
		if t.p > familyError/float64(len(tests)-i) {
			break
		}
		found[t.group].Differs = true
	}
	return found
}

// conditions divides values by condition, in the order of the first of each.
func conditions(values []GroupValue) (all [][]GroupValue) {
	at := map[int]int{}
	for _, v := range values {
		i, known := at[v.Condition]
		if !known {
			i = len(all)
			at[v.Condition], all = i, append(all, nil)
		}
		all[i] = append(all[i], v)
	}
	return all
}

func byGroup(values []GroupValue) map[int][]float64 {
	of := map[int][]float64{}
	for _, v := range values {
		of[v.Group] = append(of[v.Group], v.Value)
	}
	return of
}

// conditionMeans returns the means of the groups under one condition, from the
// median group on, and the degrees of freedom within the groups.
func conditionMeans(values []GroupValue) (means []groupMean, freedom int) {
	of := byGroup(values)
	groups := slices.Sorted(maps.Keys(of))
	const most = 2.5 // standard deviations from the median of the group that a value counts
	var off []float64
	for _, g := range groups {
		m := middle(of[g])
		for _, v := range of[g] {
			if len(of[g]) > 1 {
				off = append(off, math.Abs(v-m))
			}
		}
	}
	if len(off) == 0 {
		return nil, 0
	}
	limit := most * middle(off) / normalMAD
	within := 0.0
	var centers []float64
	for _, g := range groups {
		m, sum := middle(of[g]), 0.0
		nearer := slices.Clone(of[g])
		for i, v := range nearer {
			if len(nearer) > 2 {
				nearer[i] = math.Max(m-limit, math.Min(m+limit, v))
			}
			sum += nearer[i]
		}
		mean := sum / float64(len(nearer))
		for _, v := range nearer {
			within += float64((v - mean) * (v - mean))
		}
		freedom += len(nearer) - 1
		means = append(means, groupMean{group: g, n: len(nearer), mean: mean})
		centers = append(centers, mean)
	}
	if freedom < 1 {
		return nil, 0
	}
	center, variance := middle(centers), math.Max(within/float64(freedom), leastVariance)
	for i := range means {
		m := &means[i]
		m.mean -= center
		m.err = variance/float64(m.n) + math.Pi/2*variance/float64(len(values)) // and that of the median
	}
	return means, freedom
}

// leastVariance is that of times in whole milliseconds of a task of a second.
const leastVariance = 1e-7

// combine returns the mean effect of a group and its squared standard error.
func combine(means []groupMean) (effect, err float64) {
	weighted := func(between float64) (mean, weight, squares float64) {
		for _, m := range means {
			w := 1 / (m.err + between)
			mean += float64(w * m.mean)
			weight += w
			squares += float64(w * w)
		}
		return mean / weight, weight, squares
	}
	mean, weight, squares := weighted(0)
	between := 0.0
	if len(means) > 1 {
		q := 0.0
		for _, m := range means {
			q += float64((m.mean - mean) * (m.mean - mean) / m.err)
		}
		between = math.Max(0, (q-float64(len(means)-1))/(weight-squares/weight))
		mean, weight, _ = weighted(between)
	}
	return mean, 1 / weight
}

// middle returns the median.
func middle(values []float64) float64 { return median(slices.Clone(values)) }

// Within returns the scatter of values within their groups under one condition.
func Within(values []GroupValue) Scatter {
	var off []float64
	s := Scatter{}
	for _, condition := range conditions(values) {
		of, mean := byGroup(condition), map[int]float64{}
		for _, g := range slices.Sorted(maps.Keys(of)) {
			sum := 0.0
			for _, v := range of[g] {
				sum += v
			}
			mean[g] = sum / float64(len(of[g]))
		}
		for _, v := range condition {
			if n := float64(len(of[v.Group])); n > 1 {
				off = append(off, (v.Value-mean[v.Group])*math.Sqrt(n/(n-1)))
			}
		}
		s.Freedom += len(condition) - len(of)
	}
	if len(off) == 0 {
		return s
	}
	fourth := 0.0
	for _, d := range off {
		s.Variance += float64(d*d) / float64(len(off))
	}
	for _, d := range off {
		fourth += float64(d*d*d*d) / float64(len(off))
	}
	s.Error = math.Sqrt(math.Max(fourth-s.Variance*s.Variance, 2*s.Variance*s.Variance) / float64(s.Freedom))
	return s
}
