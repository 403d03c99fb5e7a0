package jobtracker

import (
	"cmp"
	"slices"
)

// A need is something that a job waits for and that a heartbeat can give it.
type need uint8

const (
	needSetup need = iota
	needCleanup
	needMapTaskCleanup // in a map slot
	needReduceTaskCleanup
	needMap
	needReduce
	numNeeds
)

type needSet uint8

func (s needSet) has(n need) bool { return s&(1<<n) != 0 }

// demand counts the jobs that have each need.
type demand [numNeeds]int

// change updates the counts when the needs of one job change.
func (d *demand) change(from, to needSet) {
	for n := range numNeeds {
		switch {
		case to.has(n) && !from.has(n):
			d[n]++
		case from.has(n) && !to.has(n):
			d[n]--
		}
	}
}

// serviceQueues lists the jobs that need a set-up or clean-up task, by need and in
// the order of their submission.
type serviceQueues [needMap][]*jobInProgress

// change moves a job whose needs change.
func (q *serviceQueues) change(j *jobInProgress, to needSet) {
	for n := range needMap {
		if to.has(n) == j.needs.has(n) {
			continue
		}
		at, _ := slices.BinarySearchFunc(q[n], j, func(x, j *jobInProgress) int { return cmp.Or(cmp.Compare(x.Submit, j.Submit), x.ID-j.ID) })
		if to.has(n) {
			q[n] = slices.Insert(q[n], at, j)
		} else {
			q[n] = slices.Delete(q[n], at, at+1)
		}
	}
}

// anyService reports whether some job needs a set-up or clean-up task.
func (d *demand) anyService() bool {
	return d[needSetup]+d[needCleanup]+d[needMapTaskCleanup]+d[needReduceTaskCleanup] > 0
}

// waiting returns how many jobs want a map launched, and how many a reduce.
func (d *demand) waiting() [2]int { return [2]int{d[needMap], d[needReduce]} }
