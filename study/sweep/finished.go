package sweep

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/scenarios"
)

// record keeps a finished simulation.
func (s *Sweep) record(t task, r points.Replication) {
	runs := s.done[t.point]
	for len(runs) <= t.replication {
		runs = append(runs, points.Replication{})
	}
	runs[t.replication] = r
	s.done[t.point] = runs
}

// Runs are the finished simulations of a point, in order. Values is nil if one is not
// finished.
func (s *Sweep) Runs(point int) []points.Replication { return s.done[point] }

// all are the points of the study.
func (s *Sweep) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.NumPoints {
			if !yield(i) {
				return
			}
		}
	}
}

// open lists the replications that a point needs next, and counts those that it needs.
// Their number depends on the point's own figures alone.
func (s *Sweep) open(point int) (missing []int, needed int) {
	runs := s.done[point]
	for needed = s.File.Replications; ; {
		for r := range needed {
			if r >= len(runs) || runs[r].Values == nil {
				missing = append(missing, r)
			}
		}
		if len(missing) > 0 || s.Enough == nil || needed >= s.File.MaxReplications || s.Enough(runs[:needed]) {
			break
		}
		needed = min(s.File.MaxReplications, needed+max(1, needed/2))
	}
	if len(runs) > needed {
		s.done[point] = runs[:needed]
	}
	return missing, needed
}

// left counts the simulations that points need next, and all that they need.
func (s *Sweep) left(points iter.Seq[int]) (left, total int) {
	for i := range points {
		missing, needed := s.open(i)
		left += len(missing)
		total += needed
	}
	return left, total
}

// missing gives the simulations that points need next.
func (s *Sweep) missing(points iter.Seq[int]) iter.Seq[task] {
	return func(yield func(task) bool) { s.eachMissing(points, yield) }
}

func (s *Sweep) eachMissing(points iter.Seq[int], yield func(task) bool) {
	for i := range points {
		missing, _ := s.open(i)
		for _, r := range missing {
			if !yield(task{i, r}) {
				return
			}
		}
	}
}

// errIncomplete lists simulations that are not finished.
func (s *Sweep) errIncomplete() error {
	const most = 10
	var errs []error
	n := 0
	for t := range s.missing(s.all()) {
		if n++; n <= most {
			errs = append(errs, fmt.Errorf("point %d (%s), replication %d: missing", t.point+1, s.pointName(t.point), t.replication+1))
		}
	}
	if n > most {
		errs = append(errs, fmt.Errorf("and %d more", n-most))
	}
	return errors.Join(errs...)
}

// Points are the finished simulations.
func (s *Sweep) Points() *points.Points {
	p := &points.Points{List: finishedPoints{s}, Metrics: s.Metrics, Assumed: s.assumptions(), Labels: s.Base.Labels}
	p.Sampled = slices.ContainsFunc(s.File.Factors, func(f scenarios.Factor) bool { return f.Sampled })
	for _, f := range s.Factors {
		p.Factors = append(p.Factors, points.Factor{Key: f.Key, Count: f.Count, Value: func(k int) string { return f.Level(k).Text }})
	}
	return p
}

// finishedPoints are those of a sweep as results reads them.
type finishedPoints struct{ *Sweep }

func (p finishedPoints) Len() int { return p.NumPoints }

func (p finishedPoints) Point(i int) points.Point {
	return points.Point{Scenario: p.Base.Scenario.Name, Levels: p.levels(i), Baseline: p.baseline(i)}
}

func (p finishedPoints) Replications(i int) []points.Replication { return p.Runs(i) }
