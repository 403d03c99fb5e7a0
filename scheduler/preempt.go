package scheduler

import (
	"cmp"
	"math"
	"slices"

	"github.com/slotwave/slotwave/workload"
)

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

// updateShares divides the cluster among the pools. Pools without demand get
// nothing.
func (f *fair2) updateShares(c *Cluster) {
	for k := range c.Slots {
		f.sharers = f.sharers[:0]
		for _, p := range f.pools {
			p.share[k] = 0
			if p.demand[k] > 0 {
				f.sharers = append(f.sharers, sharer{p.weight, p.min[k], p.demand[k], &p.share[k]})
			}
		}
		computeFairShares(f.sharers, float64(c.Slots[k]))
	}
}

// updateClocks implements FairScheduler.updatePreemptionVariables: it records
// which pools have their minimum and half their fair share.
func (f *fair2) updateClocks(c *Cluster) {
	for k := range c.Slots {
		for _, p := range f.pools {
			running := p.running[k]
			if running >= min(p.min[k], p.demand[k]) {
				p.atMinShare[k] = c.Now
			}
			if running >= int(math.Floor(math.Min(p.share[k]/2, float64(p.demand[k])))) {
				p.atHalfShare[k] = c.Now
			}
		}
	}
}

// preempt kills tasks of pools above their share for pools that have been below
// theirs for too long (preemptTasksIfNecessary).
func (f *fair2) preempt(c *Cluster) {
	for k := range c.Slots {
		wanted := 0
		for _, p := range f.pools {
			wanted += f.tasksToPreempt(c, p, k)
		}
		if wanted > 0 && !f.onlyLogs {
			f.preemptTasks(k, wanted)
		}
	}
}

// tasksToPreempt returns how many tasks a pool may take from others.
func (f *fair2) tasksToPreempt(c *Cluster, p *poolSchedulable, k int) int {
	running := p.running[k]
	byMin, byFair := 0, 0
	if c.Now-p.atMinShare[k] > p.minTimeout {
		byMin = min(p.min[k], p.demand[k]) - running
	}
	if c.Now-p.atHalfShare[k] > f.fairTimeout {
		byFair = int(math.Min(p.share[k], float64(p.demand[k]))) - running
	}
	return max(byMin, byFair, 0)
}

// preemptTasks kills the attempts that started last, while their pools stay
// above their shares.
func (f *fair2) preemptTasks(k, wanted int) {
	type victim struct {
		Attempt
		pool *poolSchedulable
	}
	var victims []victim
	for _, i := range f.inOrder(k) {
		i.pool.left = i.pool.running[k]
		if float64(i.pool.left) > i.pool.share[k] {
			for _, a := range i.job.Attempts(workload.Kind(k)) {
				victims = append(victims, victim{a, i.pool})
			}
		}
	}
	slices.SortStableFunc(victims, func(a, b victim) int { return cmp.Compare(b.Start, a.Start) })
	for _, v := range victims {
		if float64(v.pool.left) <= v.pool.share[k] {
			continue
		}
		v.Kill()
		if wanted--; wanted == 0 {
			return
		}
		v.pool.left--
	}
}

// inOrder lists the jobs with running attempts by pool, in the last recorded
// order of the pool.
func (f *fair2) inOrder(k int) []*jobSchedulable {
	jobs := slices.Clone(f.active)
	place := make(map[*jobSchedulable]int, len(jobs))
	for _, p := range f.pools {
		for n, i := range p.jobs[k] {
			place[i] = n
		}
	}
	slices.SortFunc(jobs, func(a, b *jobSchedulable) int {
		switch {
		case a.pool != b.pool:
			return cmp.Compare(a.pool.name, b.pool.name)
		case f.resorts:
			return cmp.Compare(place[a], place[b])
		}
		return byNotedOrder(a, b, k)
	})
	return jobs
}
