package points

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/spool"
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

// PointList gives the points of a study one at a time, so that the memory for their
// figures does not grow with their number.
type PointList interface {
	Len() int
	Point(i int) Point
	Replications(i int) ([]Replication, error)
}

// listedPoints are points in memory.
type listedPoints struct {
	points []Point
	runs   [][]Replication
}

func (l *listedPoints) Len() int                                  { return len(l.points) }
func (l *listedPoints) Point(i int) Point                         { return l.points[i] }
func (l *listedPoints) Replications(i int) ([]Replication, error) { return l.runs[i], nil }

// NewPoints returns an empty study in memory, whose factors are the given keys.
func NewPoints(keys []string) *Points {
	p := &Points{List: &listedPoints{}, listed: make([][]string, len(keys))}
	for f, key := range keys {
		p.Factors = append(p.Factors, Factor{Key: key, Value: func(k int) string { return p.listed[f][k] }})
	}
	return p
}

// Add adds a point with a value of each factor to a study in memory.
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

// readPoint is a point whose simulations were read.
type readPoint struct {
	number int // from 1
	runs   []Replication
}

// runs are the simulations of a point. Those of the two points that were asked for last
// are kept: mostly a point and its baseline. The first error ends up in p.err.
func (p *Points) runs(i int) []Replication {
	last := &p.read
	if last[0].number != i+1 {
		last[0], last[1] = last[1], last[0]
	}
	if last[0].number != i+1 {
		runs, err := p.List.Replications(i)
		p.err = cmp.Or(p.err, err)
		last[0] = readPoint{i + 1, runs}
	}
	return last[0].runs
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
	Assumed []string      // values without a source, for the terminal
	Labels  figure.Labels // texts of the pictures that the user replaces
	Sampled bool          // factors are samples of ranges: those that advance together differ

	listed [][]string // values of the factors of NewPoints
	read   [2]readPoint
	ranked *ranking
	err    error // of reading points
}

// ranking has, for each baseline and seed, the best value of the points that are
// compared with this baseline. The points that have it share the seed.
type ranking struct {
	better []float64   // by metric: 1, more is better; -1, less is; 0, neither
	groups *spool.File // of all baselines but one
	base   int         // the baseline whose group is in memory; -1: none
	group  rankedGroup
	added  bool // points to the group since it is in memory
}

// rankedGroup are the points that are compared with one baseline.
type rankedGroup struct {
	points, seeds int         // seeds that all points have
	best          [][]float64 // by seed: the best value of each metric, then how many points have it
}
