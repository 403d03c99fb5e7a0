package jobtracker

import "math/bits"

// slotPool is the slots of one type on a tracker.
type slotPool struct {
	first uint64    // bits of the slots taken
	more  *[]uint64 // those of slots from 64 on; nil: there are none
	busy  int       // slots held; an attempt may hold several
}

// take assigns the lowest free slots to an attempt and returns the first.
func (p *slotPool) take(width int) int32 {
	p.busy += width
	word, at := &p.first, int32(0)
	for *word == ^uint64(0) {
		word = &(*p.more)[at/64] // it has as many words as there are slots for
		at += 64
	}
	bit := bits.TrailingZeros64(^*word)
	*word |= 1 << bit
	return at + int32(bit)
}

// give frees a slot.
func (p *slotPool) give(slot int32, width int) {
	p.busy -= width
	if slot < 64 {
		p.first &^= 1 << slot
	} else {
		(*p.more)[slot/64-1] &^= 1 << (slot % 64)
	}
}
