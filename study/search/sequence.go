package search

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// sequenceError is the probability with which an interval misses the true probability,
// however many runs were made when one looked.
const sequenceError = 0.05

// Runs are what a number of runs gave: each the chance, from 0 to 1, that it meets a
// demand. Asked is the probability that is asked for, about which they decide soonest.
type Runs struct {
	Met   float64 // sum of the chances
	N     int
	Asked float64
}

// Mean is the mean chance.
func (r Runs) Mean() float64 { return r.Met / float64(r.N) }

// Interval is the 95 % interval of the probability.
func (r Runs) Interval() (low, high float64) {
	outside := func(at float64) bool { return r.evidence(at) >= math.Log(1/sequenceError) }
	return edge(0, r.Mean(), outside), edge(1, r.Mean(), outside)
}

// Wilson is the 95 % interval of a probability that was found in a part of n cases
// (Wilson, https://doi.org/10.1080/01621459.1927.10502953).
func Wilson(part float64, n int) (low, high float64) {
	z := distuv.UnitNormal.Quantile(0.975)
	square := z * z / float64(n)
	half := math.Sqrt(square * (part*(1-part) + square/4))
	return (part + square/2 - half) / (1 + square), (part + square/2 + half) / (1 + square)
}

// edge returns the end of an interval between a probability outside and p inside.
func edge(from, p float64, outside func(float64) bool) float64 {
	if !outside(from) {
		return from
	}
	for range 50 {
		if mid := (from + p) / 2; outside(mid) {
			from = mid
		} else {
			p = mid
		}
	}
	return p
}

// Shown reports whether the runs show that the probability is at least what is asked
// for, or less. Each of these errs with a probability of at most 5 % in the first
// attempt, half of it in the second, and so on: 5 % in all if attempts begin with 1.
// Attempt 0 errs with 5 % by itself.
func (r Runs) Shown(attempt int) (enough, tooFew bool) {
	if r.evidence(r.Asked) < math.Log(1/sequenceError)+float64(attempt)*math.Ln2 {
		return false, false
	}
	enough = r.Met > r.Asked*float64(r.N)
	return enough, !enough
}

// LeastRuns is the number of runs that show a probability in the first attempt if all of
// them meet the demand.
func LeastRuns(asked float64) (n int) {
	for enough := false; !enough; {
		n++
		enough, _ = Runs{float64(n), n, asked}.Shown(1)
	}
	return n
}

// evidence is the logarithm of the likelihood of the runs, averaged over what the
// probability may be, relative to their likelihood at the given one. If that is the true
// one, the ratio ever reaches 1/a with a probability of at most a, so that one may look
// after each run (Robbins, Statistical methods related to the law of the iterated
// logarithm, 1970). Half of the average is over a beta distribution about the probability
// asked for, which decides soon there; half is over the uniform distribution. A chance
// between 0 and 1 counts as that part of a run: the ratio is convex in it, so that the
// bound holds.
func (r Runs) evidence(at float64) float64 {
	m, missed := r.Met, float64(r.N)-r.Met
	a := r.Asked / (1 - r.Asked)
	log := floats.LogSumExp([]float64{
		mathext.Lbeta(a+m, 1+missed) - mathext.Lbeta(a, 1),
		mathext.Lbeta(1+m, 1+missed),
	}) - math.Ln2
	if m > 0 {
		log -= m * math.Log(at)
	}
	if missed > 0 {
		log -= missed * math.Log1p(-at)
	}
	return log
}
