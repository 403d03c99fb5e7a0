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

// updateShares divides the cluster among the pools, and the share of each fair
// pool among its jobs.
func (f *fair2) updateShares(c *Cluster) {
	for k := range c.Slots {
		of := make([]sharer, len(f.pools))
		for i, p := range f.pools {
			of[i] = sharer{p.weight, p.min[k], p.demand[k], &p.share[k]}
		}
		computeFairShares(of, float64(c.Slots[k]))
		for _, p := range f.pools {
			of := make([]sharer, len(p.jobs[k]))
			for n, i := range p.jobs[k] {
				i.share[k] = 0
				of[n] = sharer{f.jobWeight(c, i, k), 0, i.demand[k], &i.share[k]}
			}
			if !p.fifo {
				computeFairShares(of, p.share[k])
			}
		}
	}
}

// updateClocks notes which pools have their minimum and half their fair share.
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
// theirs for too long.
func (f *fair2) preempt(c *Cluster) {
	for k := range c.Slots {
		wanted := 0
		for _, p := range f.pools {
			wanted += f.owed(c, p, k)
		}
		if wanted > 0 && !f.onlyLogs {
			f.killLatest(k, wanted)
		}
	}
}

// owed is how many tasks a pool may take from others (tasksToPreempt).
func (f *fair2) owed(c *Cluster, p *pool2, k int) int {
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

// killLatest kills the attempts that started last, as long as their pools stay
// above their shares.
func (f *fair2) killLatest(k, wanted int) {
	type victim struct {
		Attempt
		pool *pool2
	}
	var victims []victim
	left := map[*pool2]int{}
	for _, p := range f.pools {
		left[p] = p.running[k]
		if float64(left[p]) <= p.share[k] {
			continue
		}
		for _, i := range p.jobs[k] {
			for _, a := range i.job.Attempts(workload.Kind(k)) {
				victims = append(victims, victim{a, p})
			}
		}
	}
	slices.SortStableFunc(victims, func(a, b victim) int { return cmp.Compare(b.Start, a.Start) })
	for _, v := range victims {
		if float64(left[v.pool]) <= v.pool.share[k] {
			continue
		}
		v.Kill()
		if wanted--; wanted == 0 {
			return
		}
		left[v.pool]--
	}
}
