package taskplan

import (
	"cmp"
	"slices"
)

// Segment is one sorted run of records: the output of a map for a reduce, a spill,
// or a merged file.
type Segment struct {
	Stored  float64 // bytes on disk and on the wire
	Raw     float64 // bytes in memory
	Records float64
}

// Plus returns the sum of two segments.
func (s Segment) Plus(t Segment) Segment {
	return Segment{s.Stored + t.Stored, s.Raw + t.Raw, s.Records + t.Records}
}

// Part returns a share of a segment: the same part of its bytes and of its
// records.
func (s Segment) Part(share float64) Segment {
	return Segment{float64(s.Stored * share), float64(s.Raw * share), float64(s.Records * share)}
}

func total(segments []Segment) Segment {
	var sum Segment
	for _, s := range segments {
		sum = sum.Plus(s)
	}
	return sum
}

func bySize(a, b Segment) int { return cmp.Compare(a.Stored, b.Stored) }

// mergeToFactor merges segments until one pass over at most factor of them is left
// (Merger.MergeQueue of 0.20.2 and 1.x). The first inMemory segments are in
// memory; all of them join the first pass and do not count towards its size. The
// first pass takes segments in the given order, later passes the smallest.
// Segments without records are dropped when a pass meets them. It returns the
// inputs of every pass that writes a file, whose output merged returns, and the
// inputs of the last pass.
func mergeToFactor(segments []Segment, factor, inMemory int, merged func([]Segment) Segment) (passes [][]Segment, last []Segment) {
	queue := mergeQueue{first: slices.Clone(segments)}
	left := len(segments)
	take := factor
	if left-inMemory > factor {
		take = firstPass(left-inMemory, factor)
	}
	for take += inMemory; ; take = factor {
		var inputs []Segment
		for len(inputs) < take && queue.len() > 0 {
			if s := queue.take(); s.Records > 0 {
				inputs = append(inputs, s)
			} else {
				left--
			}
		}
		if left <= take {
			return passes, inputs
		}
		if len(passes) == 0 {
			slices.SortStableFunc(queue.first, bySize)
		}
		passes = append(passes, inputs)
		queue.put(merged(inputs))
		left = queue.len()
	}
}

// mergeQueue yields segments by size. Merged files come out nearly in order, so
// inserting one is cheap.
type mergeQueue struct{ first, merged []Segment }

func (q *mergeQueue) len() int { return len(q.first) + len(q.merged) }

func (q *mergeQueue) take() (s Segment) {
	from := &q.first
	if len(q.first) == 0 || len(q.merged) > 0 && q.merged[0].Stored < q.first[0].Stored {
		from = &q.merged
	}
	s, *from = (*from)[0], (*from)[1:]
	return s
}

func (q *mergeQueue) put(s Segment) {
	i := len(q.merged)
	for i > 0 && q.merged[i-1].Stored > s.Stored {
		i--
	}
	q.merged = slices.Insert(q.merged, i, s)
}
