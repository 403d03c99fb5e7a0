package scheduler

import "slices"

// sortLikeJava sorts as java.util.Collections.sort does up to 31 elements: the
// first run, turned round if it descends, and the rest by binary insertion. It
// matters where Hadoop compares by an order that is none, as the fair
// scheduler does with the weights of jobs that demand nothing: 0/0 equals
// everything. Longer lists are sorted stably.
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
