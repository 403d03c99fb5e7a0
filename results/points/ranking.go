package points

import (
	"cmp"
	"math"

	"github.com/slotwave/slotwave/results/spool"
)

// rank reads all points once.
func (p *Points) rank() *ranking {
	if p.ranked != nil {
		return p.ranked
	}
	r := &ranking{base: -1}
	for _, m := range p.Metrics.list() {
		r.better = append(r.better, float64(m.better))
	}
	p.ranked = r
	for i := range p.List.Len() {
		p.err = cmp.Or(p.err, r.load(p.List, p.List.Point(i).Baseline))
		r.group.add(r.better, p.runs(i))
		r.added = true
	}
	return r
}

// load has the group of a baseline in memory.
func (r *ranking) load(list PointList, base int) error {
	if r.base == base {
		return nil
	}
	if r.groups == nil && r.base >= 0 {
		r.groups = spool.New(list.Len(), max(1, r.group.seeds), 2+2*len(r.better))
	}
	if r.added {
		for seed, best := range r.group.best {
			if err := r.groups.Put(r.base, seed, append([]float64{float64(r.group.points), float64(r.group.seeds)}, best...)); err != nil {
				return err
			}
		}
	}
	r.base, r.group, r.added = base, rankedGroup{}, false
	if r.groups == nil {
		return nil
	}
	vectors, err := r.groups.Row(base)
	for _, v := range vectors {
		r.group.points, r.group.seeds = int(v[0]), int(v[1])
		r.group.best = append(r.group.best, v[2:])
	}
	return err
}

// add adds the simulations of a point.
func (g *rankedGroup) add(better []float64, runs []Replication) {
	if g.points == 0 {
		g.seeds = len(runs)
		for range runs {
			best := make([]float64, 2*len(better))
			for m := range better {
				best[m] = math.Inf(-1)
			}
			g.best = append(g.best, best)
		}
	}
	g.points++
	g.seeds = min(g.seeds, len(runs))
	for seed, best := range g.best[:g.seeds] {
		for m, sign := range better {
			switch v := sign * runs[seed].Values[m]; {
			case v > best[m]:
				best[m], best[len(better)+m] = v, 1
			case v == best[m]:
				best[len(better)+m]++
			}
		}
	}
}

// best is the share of the common seeds with which a point has the best value of all
// points that are compared with the same baseline. NaN: it is compared with no other,
// or no value is better than another.
func (p *Points) best(i, m int) float64 {
	r := p.rank()
	p.err = cmp.Or(p.err, r.load(p.List, p.List.Point(i).Baseline))
	if r.better[m] == 0 || r.group.points < 2 {
		return math.NaN()
	}
	won, seeds, runs := 0.0, 0.0, p.runs(i)
	for seed, best := range r.group.best[:min(r.group.seeds, len(runs))] {
		ties := best[len(r.better)+m]
		if ties == 0 {
			continue
		}
		seeds++
		if r.better[m]*runs[seed].Values[m] == best[m] {
			won += 1 / ties
		}
	}
	return won / seeds
}
