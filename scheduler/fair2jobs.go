package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
)

// newPool makes a pool without an entry in the allocation file.
func (f *fair2) newPool(name string) *poolSchedulable {
	return &poolSchedulable{
		name: name, fifo: f.mode == "fifo", weight: 1, max: [2]int{math.MaxInt, math.MaxInt},
		minTimeout: f.minTimeout, jobsRunning: quota{most: f.poolDefault},
	}
}

// poolFrom makes a pool of the allocation file.
func (f *fair2) poolFrom(in *model.Pool) (*poolSchedulable, error) {
	p := f.newPool(in.Name)
	mode := f.mode
	if in.Mode != "" {
		mode = strings.ToLower(in.Mode)
	}
	if mode != "fair" && mode != "fifo" {
		return nil, fmt.Errorf("pool %s: scheduling mode %q: want fair or fifo", p.name, mode)
	}
	p.fifo, p.weight, p.min = mode == "fifo", in.Weight, [2]int{in.MinMaps, in.MinReduces}
	for k, most := range [...]*int{in.MaxMaps, in.MaxReduces} {
		if most != nil {
			p.max[k] = *most
		}
	}
	if in.MaxRunningJobs != nil {
		p.jobsRunning.most = *in.MaxRunningJobs
	}
	if in.MinShareTimeout != nil {
		p.minTimeout = *in.MinShareTimeout
	}
	return p, nil
}

func (f *fair2) addPool(p *poolSchedulable) {
	for k := range p.candidates {
		p.candidates[k] = newSorted(func(a, b *jobSchedulable) int { return p.compareJobs(a, b, k) })
	}
	i, _ := slices.BinarySearchFunc(f.pools, p, func(a, b *poolSchedulable) int { return cmp.Compare(a.name, b.name) })
	f.pools = slices.Insert(f.pools, i, p)
	f.byName[p.name] = p
}

// sortJobs sorts all jobs of a pool by their present weights.
func (f *fair2) sortJobs(c *Cluster, p *poolSchedulable, k int) {
	for _, i := range p.jobs[k] {
		i.weight[k] = f.jobWeight(c, i, k)
	}
	if p.fifo {
		slices.SortFunc(p.jobs[k], func(a, b *jobSchedulable) int { return byPriority(a.job, b.job) })
		return
	}
	sortLikeJava(p.jobs[k], func(a, b *jobSchedulable) int { return p.compareJobs(a, b, k) })
}

// jobWeight implements FairScheduler.getJobWeight.
func (f *fair2) jobWeight(c *Cluster, i *jobSchedulable, k int) float64 {
	if !i.runnable {
		return 1
	}
	weight := 1.0
	if f.sizeBased {
		weight = math.Log1p(float64(i.demand[k])) / math.Ln2
	}
	weight *= priorityFactor(i.job.Priority)
	if f.boost != nil {
		weight = f.boost.adjust(c, i.job, weight)
	}
	return weight
}

// follow updates the pools for the jobs that have changed.
func (f *fair2) follow() {
	for j, ok := f.next(); ok; j, ok = f.next() {
		if i := j.note.(*jobSchedulable); !i.left {
			f.mark(i)
			f.refresh(i)
		}
	}
}

// refresh moves a job to its position among the candidates of its pool, and the
// pool to its position among all.
func (f *fair2) refresh(i *jobSchedulable) {
	p, j := i.pool, i.job
	weight := 1.0
	if i.runnable {
		weight = priorityFactor(j.Priority)
	}
	for k := range p.running {
		launched := j.RunningTasks[k] - i.running[k]
		moves := launched != 0 || i.weight[k] != weight && !f.resorts
		candidate := !f.resorts && i.isCandidate(k)
		if !moves && candidate == i.candidate[k] {
			continue
		}
		f.unplace(p, k)
		stays := candidate && i.candidate[k]
		var at position
		if stays {
			at = p.candidates[k].find(i)
		} else {
			i.candidate[k] = p.candidates[k].set(i, i.candidate[k], false)
		}
		if moves {
			p.running[k] += launched
			f.running[k] += launched
			i.running[k] += launched
			i.weight[k] = weight
			f.unsort(i, k)
		}
		if stays {
			p.candidates[k].reorder(at)
		} else {
			i.candidate[k] = p.candidates[k].set(i, i.candidate[k], candidate)
		}
		f.place(p, k)
	}
}

// place adds a pool to those that are asked for tasks, if it has candidates or
// an order to record.
func (f *fair2) place(p *poolSchedulable, k int) {
	if f.resorts || f.weightless {
		return
	}
	p.asks[k] = f.asking[k].set(p, p.asks[k], !p.candidates[k].empty() || len(p.unsorted[k]) > 0)
}

// unplace removes a pool before its position changes. A pool that is alone keeps its.
func (f *fair2) unplace(p *poolSchedulable, k int) {
	if !p.asks[k] || !f.asking[k].single() {
		p.asks[k] = f.asking[k].set(p, p.asks[k], false)
	}
}

// unsort marks a job whose position must be recorded again when its pool is
// next asked for tasks.
func (f *fair2) unsort(i *jobSchedulable, k int) {
	if f.preempts && !f.resorts && !i.unsorted[k] {
		i.unsorted[k] = true
		i.pool.unsorted[k] = append(i.pool.unsorted[k], i)
	}
}

// drop removes a job that has ended from its pool.
func (f *fair2) drop(i *jobSchedulable) {
	p := i.pool
	for k := range p.running {
		f.unplace(p, k)
		i.candidate[k] = p.candidates[k].set(i, i.candidate[k], false)
		p.running[k] -= i.running[k]
		f.running[k] -= i.running[k]
		p.uncapped[k] -= i.demand[k]
		is := func(o *jobSchedulable) bool { return o == i }
		p.jobs[k] = slices.DeleteFunc(p.jobs[k], is)
		if i.unsorted[k] {
			p.unsorted[k] = slices.DeleteFunc(p.unsorted[k], is)
		}
		f.place(p, k)
		if !f.resorts {
			f.setDemand(p, k, min(p.uncapped[k], p.max[k]))
		}
	}
	i.left = true
	f.leave(i)
}

// updateDemand implements JobSchedulable.updateDemand and updates the sums of
// the pool.
func (f *fair2) updateDemand(i *jobSchedulable) {
	if f.resorts {
		return // the pools do it, in the order of their jobs
	}
	p := i.pool
	for k := range p.demand {
		demand := i.demandNow(k)
		if demand == i.demand[k] {
			continue
		}
		p.uncapped[k] += demand - i.demand[k]
		i.demand[k] = demand
		f.setDemand(p, k, min(p.uncapped[k], p.max[k]))
	}
}

func (f *fair2) setDemand(p *poolSchedulable, k, demand int) {
	if demand == p.demand[k] {
		return
	}
	f.unplace(p, k)
	f.demand[k] += demand - p.demand[k]
	p.demand[k] = demand
	f.place(p, k)
}
