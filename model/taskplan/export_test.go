package taskplan

import "time"

// MapOf plans a map whose output makes the given spills, such as the equal ones of
// Herodotou's report.
func (p *Planner) MapOf(f MapFlow, spills []Spill) MapPlan { return p.mapOf(f, spills) }

// NewShuffle is a shuffle without the reduce around it.
func (c *Conf) NewShuffle(maps int) Shuffle { return c.newShuffle(maps) }

// InMemMerge, OnDiskMerge and Sort are the merges as the shuffle decides on them,
// before a reduce plans their work.
func (s *Shuffle) InMemMerge() []Segment                        { return s.inMemMerge() }
func (s *Shuffle) OnDiskMerge() []Segment                       { return s.onDiskMerge() }
func (s *Shuffle) Sort(merged func([]Segment) Segment) sortPlan { return s.sort(merged) }

// Elapsed returns the sum of Alone.
func (s Steps) Elapsed(c Cost) (sum time.Duration) {
	for _, t := range s.Alone(c) {
		sum += t
	}
	return sum
}
