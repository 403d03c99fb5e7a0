package jobtracker

import (
	"cmp"
	"math"
	"sort"

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
		entries:  make([]ringEntry, n),
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
	after := sort.Search(len(r.begins), func(i int) bool { return p.before(r.begins[i]) })
	return int32(max(0, after-1))
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
// the present position, and maybe others.
func (r *rings) after(k workload.Kind, now engine.Time, m position, over func(id int32) bool) (int32, engine.Time) {
	from := ringPosition{r.phaseOf(now), uint32(max(0, min(m, math.MaxUint32-1)+1))}
	heads, used := r.heads[k], &r.used[k]
	b := r.bucket(from)
	i := heads[b]
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
