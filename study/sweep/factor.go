package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/scenarios"
)

// Listed is a factor with a list of values.
func Listed(key, where string, levels []FactorLevel) Factor {
	return Factor{Key: key, where: where, Count: len(levels), Level: func(k int) FactorLevel { return levels[k] }}
}

// varied are the keys that a scenario varies.
func varied(runs []scenarios.Run) (all []Factor) {
	var keys []string
	var lists [][]FactorLevel
	for i := range runs {
		for k, level := range runs[i].Levels {
			if k == len(keys) {
				keys, lists = append(keys, level.Key), append(lists, nil)
			}
			one := FactorLevel{level.Text, []string{level.Key + "=" + level.TOML}}
			if !slices.ContainsFunc(lists[k], func(l FactorLevel) bool { return slices.Equal(l.Set, one.Set) }) {
				lists[k] = append(lists[k], one)
			}
		}
	}
	for k, key := range keys {
		all = append(all, Listed(key, "", lists[k]))
	}
	return all
}

func (f *Factor) tries(level int) bool {
	return f.Tried == 0 || level == f.First || f.Tried == 2 && level == f.Count-1
}

// maxPoints is how many points a study may have.
const maxPoints = 1_000_000

// combine puts the factors on wheels, and counts the points.
func combine(factors []Factor) (wheels []wheel, points int, err error) {
	for i, f := range factors {
		w := slices.IndexFunc(wheels, func(w wheel) bool { return f.zip != "" && factors[w.factors[0]].zip == f.zip })
		if w < 0 {
			wheels = append(wheels, wheel{factors: []int{i}, count: f.Count})
			continue
		}
		if wheels[w].count != f.Count {
			first := factors[wheels[w].factors[0]]
			return nil, 0, fmt.Errorf("%szip %s: %s has %d values and %s has %d: want the same number", f.where, f.zip, first.Key, first.Count, f.Key, f.Count)
		}
		wheels[w].factors = append(wheels[w].factors, i)
	}
	points = 1
	for _, w := range wheels {
		if points *= w.count; points > maxPoints {
			return nil, 0, fmt.Errorf("the factors make more than %d points: want fewer", maxPoints)
		}
	}
	return wheels, points, nil
}

// levels are those of the factors of a point.
func (s *Sweep) levels(point int) []int {
	levels := make([]int, len(s.Factors))
	for _, w := range slices.Backward(s.wheels) {
		for _, f := range w.factors {
			levels[f] = point % w.count
		}
		point /= w.count
	}
	return levels
}

// baseline is the point with which a point is compared: the one that has the values of
// the file's baseline, and the point's own values of all other factors but those that
// advance with one in the baseline. Without a baseline it is the first point.
func (s *Sweep) baseline(point int) int {
	base, size := 0, 1
	for _, w := range slices.Backward(s.wheels) {
		level := point % w.count
		if w.compared >= 0 {
			level = w.compared
		}
		base += level * size
		point /= w.count
		size *= w.count
	}
	return base
}

// readBaseline finds the levels that have the values of the file's baseline.
func (s *Sweep) readBaseline() error {
	if len(s.File.Baseline) == 0 {
		return nil
	}
	found := 0
	for i := range s.wheels {
		w := &s.wheels[i]
		var wanted []scenarios.Level
		for _, level := range s.File.Baseline {
			if slices.ContainsFunc(w.factors, func(f int) bool { return s.Factors[f].Key == level.Key }) {
				wanted = append(wanted, level)
			}
		}
		if w.compared = -1; len(wanted) == 0 {
			continue
		}
		for k := range w.count {
			if s.matches(w, k, wanted) {
				w.compared = k
				found += len(wanted)
				break
			}
		}
	}
	if found < len(s.File.Baseline) {
		var wanted []string
		for _, level := range s.File.Baseline {
			wanted = append(wanted, level.Key+"="+level.Text)
		}
		place := s.StudyName + ": baseline"
		if len(s.Asked.Baseline) > 0 {
			place = "--baseline"
		}
		var factors []string
		for i := range s.Factors {
			f := &s.Factors[i]
			values := []string{f.Level(0).Text}
			if f.Count > 2 {
				values = append(values, "...")
			}
			if f.Count > 1 {
				values = append(values, f.Level(f.Count-1).Text)
			}
			factors = append(factors, f.Key+"="+strings.Join(values, ", "))
		}
		return fmt.Errorf("%s: got %s: want values of the factors, %s", place, strings.Join(wanted, " "), strings.Join(factors, "; "))
	}
	return nil
}

// matches reports whether a level of a wheel has values.
func (s *Sweep) matches(w *wheel, level int, wanted []scenarios.Level) bool {
	return !slices.ContainsFunc(wanted, func(want scenarios.Level) bool {
		return !slices.ContainsFunc(w.factors, func(f int) bool {
			return s.Factors[f].Key == want.Key && s.Factors[f].Level(level).Text == want.Text
		})
	})
}
