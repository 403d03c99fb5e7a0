package jobtracker

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// rings hold trackers in the order of their heartbeats within one interval: for
// each type of slot those that have one free. A ring has a bucket for each tracker,
// which begins at the position that the tracker had when the rings were made. So
// trackers find their bucket at once, whether their heartbeats are spread over the
// interval or come together. A tracker has the same position in both.
type rings struct {
	interval engine.Time
	at       engine.Time // an instant, and its phase
	phase    engine.Time
	begins   []ringPosition // by bucket; the first has also what comes before it
	parts    []int32        // by part of the interval: the bucket in which it begins
	heads    [2][]int32     // by bucket: first tracker, or -1
	used     [2]bitset      // buckets that are not empty
	entries  []ringEntry    // by tracker
}

// ringPosition is a position in a ring: trackers at one phase are ordered by rank.
type ringPosition struct {
	phase engine.Time
	rank  uint32
}

func (p ringPosition) compare(o ringPosition) int {
	return cmp.Or(cmp.Compare(p.phase, o.phase), cmp.Compare(p.rank, o.rank))
}

func (p ringPosition) before(o ringPosition) bool {
	return p.phase < o.phase || p.phase == o.phase && p.rank < o.rank
}

// ringEntry is one tracker's position in the rings.
type ringEntry struct {
	ringPosition
	bucket int32    // of this position
	next   [2]int32 // the following one in its bucket, or -1
	in     [2]bool
}

// newRings makes empty rings for trackers that are expected at some positions, in
// their order.
func newRings(expected []ringPosition, interval engine.Time) rings {
	n := len(expected)
	r := rings{
		interval: interval,
		begins:   expected,
		parts:    make([]int32, n+1),
		entries:  make([]ringEntry, n),
	}
	b := 0
	for part := range r.parts {
		for b+1 < n && r.part(expected[b+1].phase) < part {
			b++
		}
		r.parts[part] = int32(b)
	}
	for k := range r.heads {
		r.heads[k], r.used[k] = make([]int32, n), newBitset(n)
		for i := range r.heads[k] {
			r.heads[k][i] = -1
		}
	}
	for i := range r.entries {
		r.entries[i].phase = -1
	}
	return r
}

// part returns the part of the interval in which a phase lies. There are as many
// as trackers.
func (r *rings) part(phase engine.Time) int {
	hi, lo := bits.Mul64(uint64(phase), uint64(len(r.entries)))
	q, _ := bits.Div64(hi, lo, uint64(r.interval))
	return int(q)
}

// phaseOf returns the phase of an instant. At one heartbeat it is asked for that
// instant and for the next heartbeat, which have the same phase.
func (r *rings) phaseOf(at engine.Time) engine.Time {
	if d := at - r.at; d != 0 && d != r.interval && d != -r.interval {
		r.at, r.phase = at, at%r.interval
	}
	return r.phase
}

// bucket returns the last bucket that does not begin after a position.
func (r *rings) bucket(p ringPosition) int32 {
	part := r.part(p.phase)
	low, high := int(r.parts[part]), int(r.parts[part+1])
	for low < high {
		if mid := (low + high + 1) / 2; p.before(r.begins[mid]) {
			high = mid - 1
		} else {
			low = mid
		}
	}
	return int32(low)
}

// move makes a tracker a member of some of the rings, and of no others.
func (r *rings) move(id int32, p ringPosition, member [2]bool) {
	own := &r.entries[id]
	if own.ringPosition != p && member != [2]bool{} {
		r.remove(id)
		own.ringPosition, own.bucket = p, r.bucket(p)
	}
	if own.in == member {
		return
	}
	for k := range member {
		switch {
		case member[k] && !own.in[k]:
			r.add(k, id)
		case own.in[k] && !member[k]:
			r.take(k, id)
		}
	}
}

// remove takes a tracker off both rings.
func (r *rings) remove(id int32) {
	for k, in := range r.entries[id].in {
		if in {
			r.take(k, id)
		}
	}
}

// add adds a tracker to a ring at its position.
func (r *rings) add(k int, id int32) {
	own := &r.entries[id]
	at := &r.heads[k][own.bucket]
	for *at >= 0 && r.entries[*at].before(own.ringPosition) {
		at = &r.entries[*at].next[k]
	}
	own.next[k], own.in[k] = *at, true
	*at = id
	r.used[k].set(own.bucket)
}

// take takes a tracker off a ring.
func (r *rings) take(k int, id int32) {
	own := &r.entries[id]
	at := &r.heads[k][own.bucket]
	for *at != id {
		at = &r.entries[*at].next[k]
	}
	*at, own.in[k] = own.next[k], false
	if r.heads[k][own.bucket] < 0 {
		r.used[k].clear(own.bucket)
	}
}

// after returns the tracker of a ring whose heartbeat comes next, and when.
// Heartbeats at this very instant that are over do not count: these are all up to
// the present position, and maybe others. The search is faster if the last tracker
// is the one whose heartbeat is now.
func (r *rings) after(k workload.Kind, now engine.Time, m position, last int32, over func(id int32) bool) (int32, engine.Time) {
	from := ringPosition{r.phaseOf(now), uint32(max(0, min(m, math.MaxUint32-1)+1))}
	own := &r.entries[last]
	heads, used := r.heads[k], &r.used[k]
	b, i := own.bucket, own.next[k]
	switch {
	case own.phase != from.phase || own.rank >= from.rank:
		b = r.bucket(from)
		i = heads[b]
	case !own.in[k]:
		i = heads[b]
	}
	for {
		for ; i >= 0; i = r.entries[i].next[k] {
			if at := r.entries[i].phase; at > from.phase || at == from.phase && !over(i) {
				return i, now + at - from.phase
			}
		}
		if b = used.from(b + 1); b < 0 {
			break
		}
		i = heads[b]
	}
	if b = used.from(0); b < 0 {
		return -1, engine.Never
	}
	i = heads[b]
	return i, now + r.entries[i].phase - from.phase + r.interval
}

// bitset is a set of small numbers, with a second level that has a bit for each
// word of the first.
type bitset struct{ words, some []uint64 }

func newBitset(n int) bitset {
	words := (n + 63) / 64
	return bitset{make([]uint64, words), make([]uint64, (words+63)/64)}
}

func (s *bitset) set(n int32) {
	s.words[n/64] |= 1 << (n % 64)
	s.some[n/4096] |= 1 << (n / 64 % 64)
}

func (s *bitset) clear(n int32) {
	if s.words[n/64] &^= 1 << (n % 64); s.words[n/64] == 0 {
		s.some[n/4096] &^= 1 << (n / 64 % 64)
	}
}

// from returns the first number of the set from n on, or -1.
func (s *bitset) from(n int32) int32 {
	w := n / 64
	if int(w) >= len(s.words) {
		return -1
	}
	if word := s.words[w] >> (n % 64) << (n % 64); word != 0 {
		return w*64 + int32(bits.TrailingZeros64(word))
	}
	above := ^uint64(0) << (w % 64) << 1
	for f := w / 64; int(f) < len(s.some); f++ {
		if word := s.some[f] & above; word != 0 {
			w = f*64 + int32(bits.TrailingZeros64(word))
			return w*64 + int32(bits.TrailingZeros64(s.words[w]))
		}
		above = ^uint64(0)
	}
	return -1
}
