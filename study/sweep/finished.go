package sweep

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/scenarios"
)

// A finished simulation is kept as a vector: the file that it is from, how full the
// slots were, then metrics, goals and their slacks. Its seed follows from the study.
const keptFigures = 2

// record keeps a finished simulation. file is the number of the file that it was read
// from, if that matters.
func (s *Sweep) record(t task, r points.Replication, file int) error {
	vector := append([]float64{float64(file), r.Full}, r.Values...)
	return s.done.Put(t.point, t.replication, slices.Concat(vector, r.Goals, r.Slacks))
}

// Runs are the finished simulations of a point, in order. Values is nil if one is not
// finished.
func (s *Sweep) Runs(point int) ([]points.Replication, error) {
	vectors, err := s.done.Row(point)
	if err != nil {
		return nil, err
	}
	runs := make([]points.Replication, len(vectors))
	for i, v := range vectors {
		if v != nil {
			slacks := len(v) - len(s.Goals)
			goals := slacks - len(s.Goals)
			runs[i] = points.Replication{Seed: s.seed(task{point, i}), Values: v[keptFigures:goals], Goals: v[goals:slacks], Slacks: v[slacks:], Full: v[1]}
		}
	}
	return runs, nil
}

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
func (s *Sweep) open(point int) (missing []int, needed int, err error) {
	runs, err := s.Runs(point)
	for needed = s.File.Replications; err == nil; {
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
	for r := needed; r < len(runs) && err == nil; r++ {
		err = s.done.Put(point, r, nil)
	}
	return missing, needed, err
}

// left counts the simulations that points need next, and all that they need.
func (s *Sweep) left(points iter.Seq[int]) (left, total int, err error) {
	for i := range points {
		missing, needed, err := s.open(i)
		if err != nil {
			return 0, 0, err
		}
		left += len(missing)
		total += needed
	}
	return left, total, nil
}

// missing gives the simulations that points need next. An error is the last.
func (s *Sweep) missing(points iter.Seq[int]) iter.Seq2[task, error] {
	return func(yield func(task, error) bool) { s.eachMissing(points, yield) }
}

func (s *Sweep) eachMissing(points iter.Seq[int], yield func(task, error) bool) {
	for i := range points {
		missing, _, err := s.open(i)
		if err != nil {
			yield(task{}, err)
			return
		}
		for _, r := range missing {
			if !yield(task{i, r}, nil) {
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
	for t, err := range s.missing(s.all()) {
		if err != nil {
			return err
		}
		if n++; n <= most {
			errs = append(errs, fmt.Errorf("point %d (%s), replication %d: missing", t.point+1, s.pointName(t.point), t.replication+1))
		}
	}
	if n > most {
		errs = append(errs, fmt.Errorf("and %d more", n-most))
	}
	return errors.Join(errs...)
}

// Close removes what is kept of finished simulations. The journal is another file.
func (s *Sweep) Close() error { return s.done.Close() }

// Points are the finished simulations, until the sweep is closed.
func (s *Sweep) Points() *points.Points {
	p := &points.Points{List: finishedPoints{s}, Metrics: s.Metrics, Assumed: s.assumptions(), Labels: s.Base.Scenario.Labels}
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

func (p finishedPoints) Replications(i int) ([]points.Replication, error) { return p.Runs(i) }
