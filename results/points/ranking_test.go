package points

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The share of seeds with which a point is the best of its group is the one that a
// count over the group's points finds, for points of many groups in turns, with ties,
// figures that do not exist, and points that lack seeds.
func TestRanking(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	const groups, points, makespan = 300, 1200, 0
	p := NewPoints(nil)
	var all [][]Replication
	for i := range points {
		var runs []Replication
		for range 3 + random.IntN(2) {
			v := make([]float64, len(metrics))
			if v[makespan] = float64(random.IntN(4)); random.IntN(10) == 0 {
				v[makespan] = math.NaN()
			}
			runs = append(runs, Replication{Values: v})
		}
		all = append(all, runs)
		p.Add("s", nil, i%groups, runs)
	}
	for i := range points {
		won, seeds := 0.0, 0.0
		n := 4
		for k := i % groups; k < points; k += groups {
			n = min(n, len(all[k]))
		}
		for seed := range n {
			least, ties := math.Inf(1), 0.0
			for k := i % groups; k < points; k += groups {
				if v := all[k][seed].Values[makespan]; v < least {
					least, ties = v, 1
				} else if v == least {
					ties++
				}
			}
			if ties > 0 {
				seeds++
			}
			if all[i][seed].Values[makespan] == least {
				won += 1 / ties
			}
		}
		if got, want := p.best(i, makespan), won/seeds; got != want && !(math.IsNaN(got) && seeds == 0) {
			t.Fatalf("point %d: got %v: want %v", i, got, want)
		}
	}
}
