package sim

import "math/bits"

// slotPool is the slots of one type on a tracker.
type slotPool struct {
	taken []uint64
	busy  int // slots held; an attempt may hold several
}

// take assigns the lowest free slots to an attempt and returns the first.
func (p *slotPool) take(width int) int32 {
	p.busy += width
	for i, word := range p.taken {
		if word != ^uint64(0) {
			bit := bits.TrailingZeros64(^word)
			p.taken[i] |= 1 << bit
			return int32(i*64 + bit)
		}
	}
	panic("sim: a tracker started more than it has slots")
}

// give frees a slot.
func (p *slotPool) give(slot int32, width int) {
	p.busy -= width
	p.taken[slot/64] &^= 1 << (slot % 64)
}

// wave counts how many attempts of one job a slot has run in a row.
type wave struct{ job, number int32 }

// next returns the wave of the next attempt of a job.
func (w *wave) next(job int32) int32 {
	if w.job != job {
		*w = wave{job: job}
	}
	w.number++
	return w.number
}
