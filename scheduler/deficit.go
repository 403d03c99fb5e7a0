package scheduler

import (
	"cmp"
	"math"
	"slices"
)

// shareRows holds the figures of all jobs for one type of task in fair1, in
// columns, because most of it is read for every job at every update. There is a
// row for each job, in order of submission.
type shareRows struct {
	pool    []int32
	raw     []float64 // weight within its pool
	weight  []float64
	running []int32 // at the last update, plus later launches
	needed  []int32
	divides []bool  // it is runnable and has tasks, so it gets a share of the slots
	min     []int32 // guaranteed slots
	share   []float64
	rate    []float64 // share minus running tasks, by which the deficit grows
	deficit []int64   // task-milliseconds

	poolRaw    []float64 // sums of raw by pool. Priorities are powers of two, so no order shows in them
	total      float64   // sum of weight
	guaranteed []int32   // rows with guaranteed slots
	settled    []bool    // by row, during updateShares
	tasks      int       // running and needed tasks of all rows
	regrouped  bool      // a row was added to or removed from the shares
	recounted  bool      // a count has changed

	best []int32 // rows of jobs with tasks to launch, by deficit; filled on demand
	more int     // how many to add next; 0: best is complete
}

const firstBest = 16

// add appends the row of a new job.
func (r *shareRows) add(pool int32, raw float64) {
	r.pool = append(r.pool, pool)
	r.raw = append(r.raw, raw)
	r.weight = append(r.weight, 0)
	r.running = append(r.running, 0)
	r.needed = append(r.needed, 0)
	r.divides = append(r.divides, false)
	r.min = append(r.min, 0)
	r.share = append(r.share, 0)
	r.rate = append(r.rate, 0)
	r.deficit = append(r.deficit, 0)
	r.settled = append(r.settled, false)
}

// compact drops the rows that are not kept. Dropped rows have no tasks.
func (r *shareRows) compact(kept func(row int) bool) {
	n := 0
	for row := range r.pool {
		if !kept(row) {
			continue
		}
		r.pool[n], r.raw[n], r.weight[n] = r.pool[row], r.raw[row], r.weight[row]
		r.running[n], r.needed[n], r.divides[n] = r.running[row], r.needed[row], r.divides[row]
		r.min[n], r.share[n], r.rate[n], r.deficit[n] = r.min[row], r.share[row], r.rate[row], r.deficit[row]
		n++
	}
	r.pool, r.raw, r.weight = r.pool[:n], r.raw[:n], r.weight[:n]
	r.running, r.needed, r.divides = r.running[:n], r.needed[:n], r.divides[:n]
	r.min, r.share, r.rate, r.deficit, r.settled = r.min[:n], r.share[:n], r.rate[:n], r.deficit[:n], r.settled[:n]
	r.guaranteed = r.guaranteed[:0]
	for row, least := range r.min {
		if least > 0 {
			r.guaranteed = append(r.guaranteed, int32(row))
		}
	}
	r.forgetBest()
}

// count sets the counts of a job's tasks.
func (r *shareRows) count(row int32, running, needed int, runnable bool) {
	had, has := int(r.running[row]+r.needed[row]), running+needed
	if int(r.running[row]) == running && int(r.needed[row]) == needed && r.divides[row] == (runnable && has > 0) {
		return
	}
	r.running[row], r.needed[row] = int32(running), int32(needed)
	r.tasks += has - had
	r.recounted = true
	if divides := runnable && has > 0; divides != r.divides[row] {
		r.divides[row] = divides
		r.regrouped = true
		if divides {
			r.poolRaw[r.pool[row]] += r.raw[row]
		} else {
			r.poolRaw[r.pool[row]] -= r.raw[row]
			r.share[row] = 0
		}
	}
	r.rate[row] = r.share[row] - float64(running)
}

// launched counts a task as running instead of needed.
func (r *shareRows) launched(row int32) {
	r.running[row]++
	r.needed[row]--
	r.rate[row] = r.share[row] - float64(r.running[row])
}

// updateDeficits adds the deficits of some milliseconds.
func (r *shareRows) updateDeficits(ms float64) {
	r.forgetBest()
	if r.tasks == 0 {
		return
	}
	deficit := r.deficit
	for row, rate := range r.rate {
		if rate != 0 {
			// It truncates the sum to whole milliseconds, not the
			// increment.
			deficit[row] = int64(float64(deficit[row]) + float64(rate*ms))
		}
	}
}

func (r *shareRows) byDeficit(a, b int32) int {
	return cmp.Or(cmp.Compare(r.deficit[b], r.deficit[a]), cmp.Compare(a, b))
}

// forgetBest discards the list of rows with the largest deficits.
func (r *shareRows) forgetBest() { r.best, r.more = r.best[:0], firstBest }

// extendBest adds the rows that follow those in best. It doubles the number
// each time, so that the total cost is at most that of sorting.
func (r *shareRows) extendBest(wanted func(row int32) bool) {
	done := len(r.best)
	room := r.more
	if room == 0 {
		return
	}
	least := int64(math.MinInt64) // smallest deficit in the list
	for n, deficit := range r.deficit {
		row := int32(n)
		if deficit < least || r.needed[n] <= 0 || done > 0 && r.byDeficit(row, r.best[done-1]) <= 0 || !wanted(row) {
			continue
		}
		if len(r.best)-done == room {
			r.best = r.best[:len(r.best)-1]
		}
		at, _ := slices.BinarySearchFunc(r.best[done:], row, r.byDeficit)
		r.best = slices.Insert(r.best, done+at, row)
		if len(r.best)-done == room {
			least = r.deficit[r.best[len(r.best)-1]] + 1 // index of equal deficits
		}
	}
	if len(r.best)-done < room {
		r.more = 0
	} else {
		r.more = 2 * room
	}
}

func (r *shareRows) clearMin() {
	for _, row := range r.guaranteed {
		r.min[row] = 0
	}
	r.guaranteed = r.guaranteed[:0]
}

// dealMinSlots divides the guaranteed slots of a pool among its jobs in rounds,
// by weight. No job gets more than it can use. It reports whether the result
// depended on deficits.
func (r *shareRows) dealMinSlots(rows []int32, left int) (byDeficit bool) {
	give := func(row int32, slots int) {
		slots = min(left, int(r.needed[row]+r.running[row]-r.min[row]), slots)
		left -= slots
		r.min[row] += int32(slots)
	}
	open := slices.Clone(rows)
	for left > 0 {
		open = slices.DeleteFunc(open, func(row int32) bool { return r.needed[row]+r.running[row] <= r.min[row] })
		total := 0.0
		for _, row := range open {
			total += r.weight[row]
		}
		if total == 0 {
			return false
		}
		before := left
		for _, row := range open {
			give(row, int(float64(before)*r.weight[row]/total))
		}
		if left < before {
			continue
		}
		// If too few are left for all, the heaviest jobs get one more.
		slices.SortStableFunc(open, func(a, b int32) int {
			if r.weight[a] == r.weight[b] {
				byDeficit = true
				return cmp.Compare(r.deficit[b], r.deficit[a])
			}
			return cmp.Compare(r.weight[b], r.weight[a])
		})
		for _, row := range open {
			give(row, int(math.Ceil(float64(before)*r.weight[row]/total)))
		}
		return byDeficit
	}
	return false
}

// updateWeights sets every job's weight in the cluster: its weight in its pool
// times a factor.
func (r *shareRows) updateWeights(factors []float64) {
	r.total = 0
	for row, in := range r.divides {
		if in {
			r.weight[row] = r.raw[row] * factors[r.pool[row]]
			r.total += r.weight[row]
		}
	}
}

// updateShares divides the slots by weight. Jobs with more guaranteed slots than
// that get those instead, and the others share the rest. If nothing is left to
// share, jobs get only their guaranteed slots.
func (r *shareRows) updateShares(slots float64) {
	for total := r.total; ; total = r.unsettled() {
		before := slots
		for _, row := range r.guaranteed {
			if !r.settled[row] && float64(r.min[row]) > r.weight[row]/total*before {
				r.settled[row] = true
				r.setShare(row, float64(r.min[row]))
				slots -= r.share[row]
			}
		}
		if slots != before {
			continue
		}
		for row, in := range r.divides {
			if in && !r.settled[row] {
				share := float64(r.min[row])
				if total > 0 && before >= 0 {
					share = r.weight[row] / total * before
				}
				r.setShare(int32(row), share)
			}
		}
		break
	}
	for _, row := range r.guaranteed {
		r.settled[row] = false
	}
}

// unsettled returns the weight of the jobs without a final share.
func (r *shareRows) unsettled() float64 {
	total := 0.0
	for row, in := range r.divides {
		if in && !r.settled[row] {
			total += r.weight[row]
		}
	}
	return total
}

func (r *shareRows) setShare(row int32, share float64) {
	r.share[row] = share
	r.rate[row] = share - float64(r.running[row])
}
