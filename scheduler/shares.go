package scheduler

import "math"

// sharer takes part in a division of slots.
type sharer struct {
	weight      float64
	min, demand int
	share       *float64
}

func (s *sharer) at(ratio float64) float64 {
	return math.Min(math.Max(float64(s.weight*ratio), float64(s.min)), float64(s.demand))
}

// computeFairShares finds the ratio of slots to weight at which the shares,
// each at least the minimum and at most the demand, add up to the slots
// (SchedulingAlgorithms.computeFairShares).
func computeFairShares(of []sharer, slots float64) {
	const iterations = 25
	used := func(ratio float64) float64 {
		sum := 0.0
		for i := range of {
			sum += of[i].at(ratio)
		}
		return sum
	}
	demand := 0.0
	for i := range of {
		demand += float64(of[i].demand)
	}
	goal := math.Min(demand, slots)
	right := 1.0
	for used(right) < goal {
		right *= 2
	}
	left := 0.0
	for range iterations {
		mid := (left + right) / 2
		if used(mid) < goal {
			left = mid
		} else {
			right = mid
		}
	}
	for i := range of {
		*of[i].share = of[i].at(right)
	}
}
