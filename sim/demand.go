package sim

// A need is something a job waits for that a heartbeat can give it.
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

// change follows a change in the needs of one job.
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

// waiting is how many jobs want a map, and how many a reduce launched.
func (d *demand) waiting() [2]int { return [2]int{d[needMap], d[needReduce]} }
