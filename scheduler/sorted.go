package scheduler

import (
	"iter"
	"slices"
)

// sorted keeps items in order under insertions and removals. It is a list of
// short blocks, so that a change moves few items.
type sorted[T comparable] struct {
	compare func(a, b T) int // 0 for an item and itself alone
	blocks  [][]T            // none of them empty
	spare   [][]T            // empty blocks for reuse
}

const (
	itemsPerBlock = 64
	fewItems      = 16 // are searched faster from the first to the last
)

func newSorted[T comparable](compare func(a, b T) int) sorted[T] { return sorted[T]{compare: compare} }

// block returns the block that holds x, or to which it belongs.
func (s *sorted[T]) block(x T) int {
	if len(s.blocks) == 1 {
		return 0
	}
	b, _ := slices.BinarySearchFunc(s.blocks, x, func(block []T, x T) int { return s.compare(block[len(block)-1], x) })
	return min(b, len(s.blocks)-1)
}

// fresh returns an empty block.
func (s *sorted[T]) fresh() []T {
	last := len(s.spare) - 1
	if last < 0 {
		return make([]T, 0, itemsPerBlock)
	}
	block := s.spare[last]
	s.spare = s.spare[:last]
	return block
}

// insert adds an item that is not in the list.
func (s *sorted[T]) insert(x T) {
	if len(s.blocks) == 0 {
		s.blocks = append(s.blocks, append(s.fresh(), x))
		return
	}
	b := s.block(x)
	if full := s.blocks[b]; len(full) == itemsPerBlock {
		const half = itemsPerBlock / 2
		s.blocks = slices.Insert(s.blocks, b+1, append(s.fresh(), full[half:]...))
		clear(full[half:])
		s.blocks[b] = full[:half]
		if s.compare(x, s.blocks[b+1][0]) > 0 {
			b++
		}
	}
	i, _ := slices.BinarySearchFunc(s.blocks[b], x, s.compare)
	s.blocks[b] = slices.Insert(s.blocks[b], i, x)
}

// position is where an item is: in which block, and where there.
type position struct{ block, index int }

// find returns where an item is, which must compare as it did when it was inserted.
func (s *sorted[T]) find(x T) position {
	b := s.block(x)
	if len(s.blocks[b]) <= fewItems {
		return position{b, slices.Index(s.blocks[b], x)}
	}
	i, _ := slices.BinarySearchFunc(s.blocks[b], x, s.compare)
	return position{b, i}
}

// remove removes an item, which must compare as it did when it was inserted.
func (s *sorted[T]) remove(x T) { s.removeAt(s.find(x)) }

func (s *sorted[T]) removeAt(at position) {
	b, i := at.block, at.index
	s.blocks[b] = slices.Delete(s.blocks[b], i, i+1)
	if len(s.blocks[b]) == 0 {
		s.spare = append(s.spare, s.blocks[b])
		s.blocks = slices.Delete(s.blocks, b, b+1)
	}
}

// reorder moves an item that compares otherwise than when it was inserted, unless it
// still belongs between its neighbours.
func (s *sorted[T]) reorder(at position) {
	block, i := s.blocks[at.block], at.index
	x := block[i]
	last := len(block) - 1
	behind := i == 0 && at.block == 0 || i > 0 && s.compare(block[i-1], x) < 0
	before := i == last && at.block == len(s.blocks)-1 || i < last && s.compare(x, block[i+1]) < 0
	if behind && before {
		return
	}
	s.removeAt(at)
	s.insert(x)
}

// set inserts or removes an item if necessary, and returns whether it is in the
// list.
func (s *sorted[T]) set(x T, is, want bool) bool {
	switch {
	case want && !is:
		s.insert(x)
	case is && !want:
		s.remove(x)
	}
	return want
}

func (s *sorted[T]) empty() bool { return len(s.blocks) == 0 }

func (s *sorted[T]) single() bool { return len(s.blocks) == 1 && len(s.blocks[0]) == 1 }

// all walks the items in order. The list must not change meanwhile.
func (s *sorted[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, block := range s.blocks {
			for _, x := range block {
				if !yield(x) {
					return
				}
			}
		}
	}
}
