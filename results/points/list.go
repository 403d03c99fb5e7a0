package points

import (
	"math"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
)

// Replication is one simulation of a point.
type Replication struct {
	Seed   uint64
	Values []float64 // one per metric; NaN: none
	Goals  []float64 // what each goal limits; NaN: a job did not succeed
	Slacks []float64 // factor by which the times of jobs may grow until a goal is missed, by goal
	Full   float64   // with goals: the fraction of the time in which all slots of a type were in use
}

// Factor is a key that varies, with its values in the order of the points.
type Factor struct {
	Key   string
	Count int
	Value func(k int) string
}

// Point is one combination of the factors' values.
type Point struct {
	Scenario string
	Levels   []int // number of the value of each factor
	Baseline int   // the point with which it is compared
}

// PointList are the points of a study with their simulations.
type PointList interface {
	Len() int
	Point(i int) Point
	Replications(i int) []Replication
}

// listedPoints are points in memory.
type listedPoints struct {
	points []Point
	runs   [][]Replication
}

func (l *listedPoints) Len() int                         { return len(l.points) }
func (l *listedPoints) Point(i int) Point                { return l.points[i] }
func (l *listedPoints) Replications(i int) []Replication { return l.runs[i] }

// NewPoints returns an empty study, whose factors are the given keys.
func NewPoints(keys []string) *Points {
	p := &Points{List: &listedPoints{}, listed: make([][]string, len(keys))}
	for f, key := range keys {
		p.Factors = append(p.Factors, Factor{Key: key, Value: func(k int) string { return p.listed[f][k] }})
	}
	return p
}

// Add adds a point with a value of each factor to one of NewPoints.
func (p *Points) Add(scenario string, values []string, baseline int, runs []Replication) {
	point := Point{Scenario: scenario, Baseline: baseline}
	for f, text := range values {
		k := slices.Index(p.listed[f], text)
		if k < 0 {
			k = len(p.listed[f])
			p.listed[f] = append(p.listed[f], text)
			p.Factors[f].Count++
		}
		point.Levels = append(point.Levels, k)
	}
	l := p.List.(*listedPoints)
	l.points, l.runs = append(l.points, point), append(l.runs, runs)
}

// numbers reports whether all values are numbers.
func (f *Factor) numbers() bool {
	for k := range f.Count {
		if _, err := strconv.ParseFloat(f.Value(k), 64); err != nil {
			return false
		}
	}
	return true
}

// number is a value of a factor whose values are numbers.
func (f *Factor) number(k int) float64 {
	v, _ := strconv.ParseFloat(f.Value(k), 64)
	return v
}

// Points are the points of a study. Replications with the same seed form pairs
// across points. They are for one goroutine at a time.
type Points struct {
	Factors []Factor
	List    PointList
	Metrics Metrics
	Goals   []model.Goal
	Assumed []string       // values without a source, for the terminal
	Labels  *figure.Labels // texts of the pictures that the user replaces
	Sampled bool           // factors are samples of ranges: those that advance together differ

	listed [][]string // values of the factors of NewPoints
	ranked map[int]*ranking
}

// ranking is about the points that are compared with one baseline: for each seed that
// all of them have, the best value of each metric, and how many points have it.
type ranking struct {
	points int
	best   [][]bestValue
}

type bestValue struct {
	value float64 // with the sign of the metric: more is better
	ties  float64
}

// rank returns the ranking of each baseline.
func (p *Points) rank() map[int]*ranking {
	if p.ranked == nil {
		p.ranked = map[int]*ranking{}
		for i := range p.List.Len() {
			base := p.List.Point(i).Baseline
			if p.ranked[base] == nil {
				p.ranked[base] = &ranking{}
			}
			p.ranked[base].add(p.Metrics.list(), p.List.Replications(i))
		}
	}
	return p.ranked
}

// add adds the simulations of a point.
func (g *ranking) add(metrics []metric, runs []Replication) {
	if g.points++; g.points == 1 {
		for range runs {
			g.best = append(g.best, slices.Repeat([]bestValue{{value: math.Inf(-1)}}, len(metrics)))
		}
	}
	g.best = g.best[:min(len(g.best), len(runs))]
	for seed, best := range g.best {
		for m := range metrics {
			switch v := float64(metrics[m].better) * runs[seed].Values[m]; {
			case v > best[m].value:
				best[m] = bestValue{v, 1}
			case v == best[m].value:
				best[m].ties++
			}
		}
	}
}

// best is the share of the common seeds with which a point has the best value of all
// points that are compared with the same baseline. NaN: it is compared with no other,
// or no value is better than another.
func (p *Points) best(i, m int) float64 {
	g, better := p.rank()[p.List.Point(i).Baseline], float64(p.Metrics.list()[m].better)
	if better == 0 || g.points < 2 {
		return math.NaN()
	}
	won, seeds, runs := 0.0, 0.0, p.List.Replications(i)
	for seed, best := range g.best {
		if best[m].ties == 0 {
			continue
		}
		seeds++
		if better*runs[seed].Values[m] == best[m].value {
			won += 1 / best[m].ties
		}
	}
	return won / seeds
}
