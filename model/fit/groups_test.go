package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// groupsOf draws values of groups under conditions with means of their own.
func groupsOf(seed uint64, groups, each int, effects map[int]float64) (values []GroupValue) {
	r := rand.New(rand.NewPCG(seed, 1))
	for condition, noise := range []float64{0.1, 0.3} {
		for g := range groups {
			for range each {
				values = append(values, GroupValue{g, condition, 5*float64(condition) + effects[g] + noise*r.NormFloat64()})
			}
		}
	}
	return values
}

// TestGroupEffects: groups that do not differ are said to in 5 of 100 draws at most;
// those that differ are found, and their effects are inside the intervals.
func TestGroupEffects(t *testing.T) {
	const draws, groups = 400, 10
	wrong, found, inside := 0, 0, 0
	for seed := range uint64(draws) {
		none := false
		for _, e := range GroupEffects(groupsOf(seed, groups, 8, nil), groups) {
			none = none || e.Differs
		}
		if none {
			wrong++
		}
		all := GroupEffects(groupsOf(seed, groups, 8, map[int]float64{3: 0.3, 7: -0.3}), groups)
		if all[3].Differs && all[7].Differs {
			found++
		}
		if all[3].Low < 0.3 && 0.3 < all[3].High && all[7].Low < -0.3 && -0.3 < all[7].High {
			inside++
		}
	}
	// Three standard deviations of a binomial beside 5 and 95 %.
	if wrong > draws/20+3*5 || found < draws*8/10 || inside < draws*19/20-3*5 {
		t.Errorf("of %d draws: %d with a difference where there is none, %d with both found, %d with both inside", draws, wrong, found, inside)
	}
}

// A straggler makes no slow group, and a group under one condition alone is compared there.
func TestGroupEffectsOfStragglers(t *testing.T) {
	values := groupsOf(1, 6, 8, nil)
	values[2*8].Value += 3
	values = append(values, GroupValue{6, 0, 0.01}, GroupValue{6, 0, -0.02})
	all := GroupEffects(values, 8)
	if all[2].Differs || all[6].Differs || all[6].Values != 2 || all[7].Values != 0 {
		t.Errorf("%+v", all)
	}
	if one := GroupEffects([]GroupValue{{0, 0, 1}, {0, 0, 2}}, 1); one[0].Values != 0 {
		t.Errorf("a group alone: %+v", one)
	}
}

// TestWithin: the variance within groups is that of the draws, whatever their means.
func TestWithin(t *testing.T) {
	s := Within(groupsOf(2, 40, 30, map[int]float64{0: 7, 5: -3}))
	if want := (0.01 + 0.09) / 2; math.Abs(s.Variance-want) > 4*s.Error || s.Error > want/10 || s.Freedom != 2*40*29 {
		t.Errorf("%+v, want a variance of %v and %d degrees of freedom", s, want, 2*40*29)
	}
}
