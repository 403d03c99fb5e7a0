package sim

import (
	"math/bits"

	"github.com/slotwave/slotwave/sim/engine"
)

// ring holds trackers in the order of their heartbeats within one interval.
type ring struct {
	interval engine.Time
	heads    []int32     // by bucket of phases: first tracker, or -1
	used     []uint64    // buckets that are not empty
	entries  []ringEntry // by tracker
}

// ringEntry is one tracker's place in a ring.
type ringEntry struct {
	phase engine.Time
	rank  uint32 // trackers at one phase are ordered by number
	next  int32  // the following one in its bucket, or -1
	in    bool
}

func (b *ringEntry) before(phase engine.Time, rank uint32) bool {
	return b.phase < phase || b.phase == phase && b.rank < rank
}

func newRing(trackers int, interval engine.Time) ring {
	buckets := 64
	for buckets < trackers {
		buckets *= 2
	}
	r := ring{
		interval: interval,
		heads:    make([]int32, buckets),
		used:     make([]uint64, buckets/64),
		entries:  make([]ringEntry, trackers),
	}
	for i := range r.heads {
		r.heads[i] = -1
	}
	return r
}

func (r *ring) bucket(phase engine.Time) int {
	hi, lo := bits.Mul64(uint64(phase), uint64(len(r.heads)))
	q, _ := bits.Div64(hi, lo, uint64(r.interval))
	return int(q)
}

func (r *ring) add(id int32, phase engine.Time, rank uint32) {
	own := &r.entries[id]
	if own.in {
		if own.phase == phase && own.rank == rank {
			return
		}
		r.remove(id)
	}
	b := r.bucket(phase)
	at := &r.heads[b]
	for *at >= 0 && r.entries[*at].before(phase, rank) {
		at = &r.entries[*at].next
	}
	*own = ringEntry{phase, rank, *at, true}
	*at = id
	r.used[b/64] |= 1 << (b % 64)
}

func (r *ring) remove(id int32) {
	own := &r.entries[id]
	if !own.in {
		return
	}
	own.in = false
	b := r.bucket(own.phase)
	at := &r.heads[b]
	for *at != id {
		at = &r.entries[*at].next
	}
	*at = own.next
	if r.heads[b] < 0 {
		r.used[b/64] &^= 1 << (b % 64)
	}
}

// after returns the tracker whose heartbeat comes next, and how long after now.
// Heartbeats at this very instant that are over do not count.
func (r *ring) after(now engine.Time, over func(id int32) bool) (int32, engine.Time) {
	phase := now % r.interval
	b := r.bucket(phase)
	for i := r.heads[b]; i >= 0; i = r.entries[i].next {
		if at := r.entries[i].phase; at > phase || at == phase && !over(i) {
			return i, now + at - phase
		}
	}
	i := r.nextUsed(b)
	if i < 0 {
		return -1, engine.Never
	}
	ahead := r.entries[i].phase - phase
	if ahead <= 0 {
		ahead += r.interval
	}
	return i, now + ahead
}

// nextUsed returns the first tracker of the next bucket in use after b, around
// the ring and back to b itself.
func (r *ring) nextUsed(b int) int32 {
	w := b / 64
	word := r.used[w] &^ (1<<(b%64+1) - 1)
	if b%64 == 63 {
		word = 0
	}
	for range len(r.used) + 1 {
		if word != 0 {
			return r.heads[w*64+bits.TrailingZeros64(word)]
		}
		w = (w + 1) % len(r.used)
		word = r.used[w]
	}
	return -1
}
