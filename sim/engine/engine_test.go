package engine

import (
	"container/heap"
	"math/rand/v2"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
)

// plain is the textbook structure the engine is held against: a binary heap of
// (instant, class, timer) in which a reset leaves a stale item behind.
type plain struct {
	items []plainItem
	live  map[int32]plainItem
}

type plainItem struct {
	at    Time
	class Class
	id    int32
}

func (p *plain) Len() int { return len(p.items) }
func (p *plain) Less(i, j int) bool {
	a, b := p.items[i], p.items[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.class != b.class {
		return a.class < b.class
	}
	return a.id < b.id
}
func (p *plain) Swap(i, j int) { p.items[i], p.items[j] = p.items[j], p.items[i] }
func (p *plain) Push(x any)    { p.items = append(p.items, x.(plainItem)) }
func (p *plain) Pop() any {
	x := p.items[len(p.items)-1]
	p.items = p.items[:len(p.items)-1]
	return x
}

func (p *plain) reset(it plainItem) {
	p.live[it.id] = it
	heap.Push(p, it)
}

func (p *plain) next() (plainItem, bool) {
	for p.Len() > 0 {
		it := heap.Pop(p).(plainItem)
		if cur, ok := p.live[it.id]; ok && cur == it {
			delete(p.live, it.id)
			return it, true
		}
	}
	return plainItem{}, false
}

// Waves, bursts at one instant, far futures, stops and resets from inside and
// outside handlers: the engine and the plain heap fire the same timers at the
// same instants in the same order.
func TestSameOrderAsPlainHeap(t *testing.T) {
	for seed := range uint64(layers.Draws(200, 200)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		e := New()
		ref := &plain{live: map[int32]plainItem{}}
		timers := make([]Timer, 1+rng.IntN(400))
		classes := make([]Class, len(timers))
		var fired []plainItem
		delay := func() Time {
			switch rng.IntN(4) {
			case 0:
				return 0
			case 1:
				return Time(rng.IntN(5))
			case 2:
				return 3000
			}
			return Time(rng.IntN(100000))
		}
		set := func(i int, at Time) {
			timers[i].Reset(at)
			ref.reset(plainItem{at, classes[i], int32(i)})
		}
		for i := range timers {
			classes[i] = Class(rng.IntN(4))
			timers[i] = e.NewTimer(classes[i], 0, func(int32) {
				fired = append(fired, plainItem{e.Now(), classes[i], int32(i)})
				for range rng.IntN(3) {
					j := rng.IntN(len(timers))
					if rng.IntN(5) == 0 {
						timers[j].Stop()
						delete(ref.live, int32(j))
						continue
					}
					set(j, e.Now()+1+delay())
				}
			})
		}
		for i := range timers {
			set(i, delay())
		}
		for range 4000 {
			want, ok := ref.next()
			if stepped := e.Step(); stepped != ok {
				t.Fatalf("seed %d: engine has a timer: %v, plain heap: %v", seed, stepped, ok)
			}
			if !ok {
				break
			}
			if got := fired[len(fired)-1]; got != want {
				t.Fatalf("seed %d: fired %+v, want %+v", seed, got, want)
			}
			if rng.IntN(50) == 0 { // a burst from outside
				for i := range timers {
					set(i, e.Now()+1+delay())
				}
			}
		}
	}
}

// Everything at one instant: completions, submissions, heartbeats, the rest;
// within a class the order of creation, whatever the order of setting.
func TestOrderAtOneInstant(t *testing.T) {
	e := New()
	var got []int
	classes := []Class{Heartbeat, Completion, AfterHeartbeat, Heartbeat, Submission, Completion}
	timers := make([]Timer, len(classes))
	for i, c := range classes {
		timers[i] = e.NewTimer(c, int32(i), func(i int32) { got = append(got, int(i)) })
	}
	for _, i := range []int{3, 2, 5, 0, 4, 1} {
		timers[i].Reset(7)
	}
	for e.Step() {
	}
	want := []int{1, 5, 4, 0, 3, 2}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("fired %v, want %v", got, want)
		}
	}
}

// A handler may set an earlier class at the present instant; it fires next.
func TestEarlierClassSetFromHandler(t *testing.T) {
	e := New()
	var got string
	done := e.NewTimer(Completion, 0, func(int32) { got += "c" })
	beat := e.NewTimer(Heartbeat, 0, func(int32) { got += "h"; done.Reset(e.Now()) })
	later := e.NewTimer(Heartbeat, 0, func(int32) { got += "l" })
	beat.Reset(5)
	later.Reset(5)
	for e.Step() {
	}
	if got != "hcl" {
		t.Fatalf("fired %q, want hcl", got)
	}
}

func TestPastPanics(t *testing.T) {
	e := New()
	a := e.NewTimer(Completion, 0, func(int32) {})
	a.Reset(10)
	e.Step()
	defer func() {
		if recover() == nil {
			t.Fatal("a timer in the past did not panic")
		}
	}()
	a.Reset(9)
}

func TestNoAllocation(t *testing.T) {
	_, run := hold(1000, exponential)
	run(500_000) // until every slot has grown to its size
	if n := testing.AllocsPerRun(100, func() { run(100) }); n != 0 {
		t.Fatalf("%v allocations in 100 events, want 0", n)
	}
}

// hold sets up the hold model: every timer that fires is set again.
func hold(pending int, increment func(*rand.Rand, int) Time) (*Engine, func(n int)) {
	rng := rand.New(rand.NewPCG(1, 2))
	const table = 1 << 14
	next := make([]Time, table)
	for i := range next {
		next[i] = increment(rng, i)
	}
	e := New()
	var k int
	var timers Timers
	timers = e.NewTimers(Completion, pending, func(i int32) {
		k++
		timers.Of(i).Reset(e.now + next[k&(table-1)])
	})
	for i := range pending {
		timers.Of(int32(i)).Reset(increment(rng, i))
	}
	return e, func(n int) {
		for range n {
			e.Step()
		}
	}
}

func exponential(rng *rand.Rand, _ int) Time { return Time(rng.ExpFloat64() * 1e9) }
