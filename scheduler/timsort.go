package scheduler

import "slices"

// sortLikeJava sorts up to 31 elements like java.util.Collections.sort: it
// takes the first run, reversed if it descends, and inserts the rest by binary
// search. This matters where Hadoop's comparison is inconsistent, such as the
// fair scheduler's weights of jobs without demand: 0/0 equals everything.
// Longer lists are sorted stably.
func sortLikeJava[E any](list []E, compare func(a, b E) int) {
	n := len(list)
	if n < 2 {
		return
	}
	if n >= 32 {
		slices.SortStableFunc(list, compare)
		return
	}
	run := 2
	if compare(list[1], list[0]) < 0 {
		for run < n && compare(list[run], list[run-1]) < 0 {
			run++
		}
		slices.Reverse(list[:run])
	} else {
		for run < n && compare(list[run], list[run-1]) >= 0 {
			run++
		}
	}
	for ; run < n; run++ {
		pivot := list[run]
		left, right := 0, run
		for left < right {
			if mid := (left + right) / 2; compare(pivot, list[mid]) < 0 {
				right = mid
			} else {
				left = mid + 1
			}
		}
		copy(list[left+1:run+1], list[left:run])
		list[left] = pivot
	}
}
