package bench

import (
	"math/rand/v2"
	"testing"

	"github.com/slotwave/slotwave/sim/engine"
)

const holdCount = 2_000_000 // operations; the largest queue is gone through twice

// holds plays the hold model (Jones, An Empirical Comparison of Priority-Queue
// and Event-Set Implementations, 1986): the earliest entry is taken out and put
// back at a later instant, by an exponential time. The bare queue comes first.
func holds() (list []benchmark) {
	for _, n := range []int{1e3, 1e4, 1e5, 1e6} {
		list = append(list,
			benchmark{group: "event list", name: "bare priority queue", unit: "event", size: n, prepare: func(testing.TB) (func() (int64, error), error) { return holdQueue(n), nil }},
			benchmark{group: "event list", name: "engine", unit: "event", size: n, prepare: func(testing.TB) (func() (int64, error), error) { return holdEngine(n), nil }})
	}
	return list
}

// gaps are times between events, which both queues use in turn.
type gaps [1 << 14]int64

func newGaps() *gaps {
	g, rng := &gaps{}, rand.New(rand.NewPCG(1, 2))
	for i := range g {
		g[i] = int64(rng.ExpFloat64() * 1e9)
	}
	return g
}

func (g *gaps) at(k int) int64 { return g[k&(len(g)-1)] }

func holdEngine(n int) func() (int64, error) {
	g, e, k := newGaps(), engine.New(), 0
	var timers engine.Timers
	timers = e.NewTimers(engine.Completion, n, func(i int32) {
		k++
		timers.Of(i).Reset(e.Now() + engine.Time(g.at(k)))
	})
	for i := range n {
		k++
		timers.Of(int32(i)).Reset(engine.Time(g.at(k)))
	}
	for range 3 * n {
		e.Step()
	}
	return func() (int64, error) {
		for range holdCount {
			e.Step()
		}
		return holdCount, nil
	}
}

// queued is an entry of the bare queue: an instant, and who waits for it.
type queued struct {
	at int64
	id int32
}

func (a queued) before(b queued) bool { return a.at < b.at || a.at == b.at && a.id < b.id }

// queue is a binary heap, as a careful simulator would keep its events.
type queue []queued

func (q *queue) push(x queued) {
	*q = append(*q, x)
	h, i := *q, len(*q)-1
	for i > 0 {
		parent := (i - 1) / 2
		if !x.before(h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = x
}

func (q *queue) pop() queued {
	h := *q
	top, last := h[0], len(h)-1
	x := h[last]
	h = h[:last]
	*q = h
	i := 0
	for child := 1; child < last; child = 2*i + 1 {
		if child+1 < last && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(x) {
			break
		}
		h[i] = h[child]
		i = child
	}
	if last > 0 {
		h[i] = x
	}
	return top
}

func holdQueue(n int) func() (int64, error) {
	g, q, k := newGaps(), make(queue, 0, n), 0
	for i := range n {
		k++
		q.push(queued{g.at(k), int32(i)})
	}
	hold := func(times int) {
		for range times {
			x := q.pop()
			k++
			q.push(queued{x.at + g.at(k), x.id})
		}
	}
	hold(3 * n)
	return func() (int64, error) {
		hold(holdCount)
		return holdCount, nil
	}
}
