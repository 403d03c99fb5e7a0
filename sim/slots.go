package sim

import (
	"math/bits"

	"github.com/slotwave/slotwave/workload"
)

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

// wave counts the maps, or the reduces, of one job that a slot has run without
// another task between them.
type wave struct {
	job, number int32
	kind        workload.Kind
}

// next is the number of one more task of a job.
func (w *wave) next(job int32, kind workload.Kind) int32 {
	if w.job != job || w.kind != kind {
		*w = wave{job: job, kind: kind}
	}
	w.number++
	return w.number
}
