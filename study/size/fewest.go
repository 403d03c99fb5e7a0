package size

import (
	"slices"

	"github.com/slotwave/slotwave/model/analytic"
)

// guessNodes returns the median of what the models find in the mean.
func guessNodes(models []analytic.Provisioned, without int) int {
	var means []int
	for _, m := range models {
		if m.Err == nil && m.Nodes > 0 {
			means = append(means, m.Nodes)
		}
	}
	if len(means) == 0 {
		return without
	}
	slices.Sort(means)
	return means[len(means)/2]
}

// fewestNodes returns the fewest nodes from 1 to most that meet a demand, or 0 if
// most nodes do not. It doubles or halves the first guess until the answer lies
// between, and then bisects. It takes for granted that more nodes are not worse.
func fewestNodes(guess, most int, meets func(nodes int) (bool, error)) (int, error) {
	at := guess
	ok, err := meets(at)
	if err != nil {
		return 0, err
	}
	low, high := 0, at // low misses, high meets
	for !ok {
		if at == most {
			return 0, nil
		}
		low, at = at, min(most, 2*at)
		if ok, err = meets(at); err != nil {
			return 0, err
		}
		high = at
	}
	for step := 1; low == 0 && high > 1; step *= 2 {
		at := max(1, high-step)
		ok, err := meets(at)
		if err != nil {
			return 0, err
		}
		if !ok {
			low = at
			break
		}
		high = at
	}
	for high-low > 1 {
		mid := (low + high) / 2
		ok, err := meets(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	return high, nil
}
