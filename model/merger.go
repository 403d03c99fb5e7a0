package model

import (
	"cmp"
	"slices"
)

// Segment is one sorted run of records: a map's output for a reduce, a spill, a
// merged file.
type Segment struct {
	Stored  float64 // bytes on disk and on the wire
	Raw     float64 // bytes in memory
	Records float64
}

func (s Segment) plus(t Segment) Segment {
	return Segment{s.Stored + t.Stored, s.Raw + t.Raw, s.Records + t.Records}
}

// Part is a share of a segment, the same of its bytes and records.
func (s Segment) Part(share float64) Segment {
	return Segment{s.Stored * share, s.Raw * share, s.Records * share}
}

func total(segments []Segment) Segment {
	var sum Segment
	for _, s := range segments {
		sum = sum.plus(s)
	}
	return sum
}

func bySize(a, b Segment) int { return cmp.Compare(a.Stored, b.Stored) }

// mergeToFactor merges segments until one pass over at most factor of them is
// left (Merger.MergeQueue of 0.20.2 and 1.x). The first inMemory segments are in
// memory; all of them join the first pass and do not count for its size.
// Segments without records are dropped when they are met. It returns the inputs
// of every pass that writes a file, which merged sums up, and those of the last,
// which is not written here.
func mergeToFactor(segments []Segment, factor, inMemory int, merged func([]Segment) Segment) (passes [][]Segment, last []Segment) {
	queue := slices.Clone(segments)
	left := len(queue)
	take := firstPass(left-inMemory, factor)
	if left-inMemory <= factor {
		take = factor
	}
	for take += inMemory; ; take = factor {
		var inputs []Segment
		for len(inputs) < take && len(queue) > 0 {
			if queue[0].Records > 0 {
				inputs = append(inputs, queue[0])
			} else {
				left--
			}
			queue = queue[1:]
		}
		if left <= take {
			return passes, inputs
		}
		passes = append(passes, inputs)
		queue = append(queue, merged(inputs))
		left = len(queue)
		slices.SortStableFunc(queue, bySize)
	}
}
