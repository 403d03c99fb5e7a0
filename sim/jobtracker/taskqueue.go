package jobtracker

import (
	"math"
	"math/bits"

	"github.com/slotwave/slotwave/workload"
)

// taskQueue holds the running tasks in the order in which they started. A task
// that has ended stays until a search reaches it.
//
// A tournament of lower bounds finds the first lagging task. A task's progress
// only grows, so a task that was too far ahead at the last look is skipped
// until the average has caught up with it. When progress is lost (pace.losses)
// the bounds are reset.
type taskQueue struct {
	running *speculation
	kind    workload.Kind
	members []launched
	low     []float32 // low[1] is the minimum of all, low[len(low)/2+i] the bound of member i
	losses  int32
}

// pace is the average progress of a job.
type pace struct {
	average float64 // progress of its tasks of a kind
	losses  int32   // changes whenever a running task loses progress or an attempt
}

// speculativeGap is how far a task is behind the average of its job when it may
// be run a second time (TaskInProgress.SPECULATIVE_GAP).
const speculativeGap = 0.2

// lags reports whether a task is that far behind the average.
func lags(progress, average float64) bool { return average-progress >= speculativeGap }

// launched identifies a task since it last started to run.
type launched struct{ task, times int32 }

// ended is the bound of a task that will not be speculated.
var ended = float32(math.Inf(1))

// add adds a task. A split with several hosts in a rack occurs several times in a row.
func (q *taskQueue) add(m launched) {
	if len(q.members) == len(q.low)/2 {
		q.grow()
	}
	if n := len(q.members); n == 0 || q.members[n-1] != m {
		q.members = append(q.members, m)
		q.bound(n, 0)
	}
}

// grow makes room. It first removes the tasks that have ended.
func (q *taskQueue) grow() {
	const least = 4
	kept := q.members[:0]
	for _, m := range q.members {
		if _, runs := q.running.bound(q.kind, m); runs {
			kept = append(kept, m)
		}
	}
	q.members = kept
	if n := 1 << bits.Len(uint(max(least, len(kept)*2)-1)); len(q.low) != 2*n {
		q.low = make([]float32, 2*n)
	}
	q.restart()
}

// restart sets every bound to the lowest value.
func (q *taskQueue) restart() {
	n := len(q.low) / 2
	clear(q.low[n : n+len(q.members)])
	for i := n + len(q.members); i < 2*n; i++ {
		q.low[i] = ended
	}
	for i := n - 1; i > 0; i-- {
		q.low[i] = min(q.low[2*i], q.low[2*i+1])
	}
}

// bound sets the bound of a member.
func (q *taskQueue) bound(i int, low float32) {
	i += len(q.low) / 2
	q.low[i] = low
	for i /= 2; i > 0; i /= 2 {
		least := min(q.low[2*i], q.low[2*i+1])
		if q.low[i] == least {
			return
		}
		q.low[i] = least
	}
}

// next returns the first member from i on whose bound is that of a task that
// lags, or -1.
func (q *taskQueue) next(i int, average float64) int {
	n := len(q.low) / 2
	ahead := func(p int) bool { return !lags(float64(q.low[p]), average) }
	if i >= n || i == 0 && ahead(1) {
		return -1
	}
	p := n + i
	for ahead(p) {
		for p&1 == 1 {
			p /= 2
		}
		if p == 0 {
			return -1
		}
		p++
	}
	for p < n {
		if p *= 2; ahead(p) {
			p++
		}
	}
	return p - n
}

// lagging returns the index of the first lagging member at i or later, or -1.
func (q *taskQueue) lagging(p pace, i int) int {
	if q.losses != p.losses {
		q.losses = p.losses
		q.restart()
	}
	for i = q.next(i, p.average); i >= 0; i = q.next(i+1, p.average) {
		low, _ := q.running.bound(q.kind, q.members[i])
		q.bound(i, low)
		if lags(float64(low), p.average) {
			return i
		}
	}
	return -1
}

// count counts the members that lag.
func (q *taskQueue) count(p pace) (n int) {
	for i := q.lagging(p, 0); i >= 0; i = q.lagging(p, i+1) {
		n++
	}
	return n
}

// first returns the first lagging task that has not run on a tracker.
func (q *taskQueue) first(p pace, tracker int32) (int32, bool) {
	for i := q.lagging(p, 0); i >= 0; i = q.lagging(p, i+1) {
		if m := q.members[i]; !q.running.ranOn(q.kind, m, tracker) {
			return m.task, true
		}
	}
	return 0, false
}
