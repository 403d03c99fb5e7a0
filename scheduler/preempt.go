package scheduler

import (
	"cmp"
	"math"
	"slices"

	"github.com/slotwave/slotwave/workload"
)

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
