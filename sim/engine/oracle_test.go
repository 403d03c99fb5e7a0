package engine

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// list is the simplest engine there is: what is set, sorted anew each time.
type list []setTimer

type setTimer struct {
	at    Time
	class Class
	rank  uint32
	id    int
}

func (l *list) stop(id int) {
	*l = slices.DeleteFunc(*l, func(s setTimer) bool { return s.id == id })
}

func (l *list) reset(s setTimer) {
	l.stop(s.id)
	*l = append(*l, s)
}

func (l *list) next() setTimer {
	slices.SortFunc(*l, func(a, b setTimer) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.class, b.class), cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id))
	})
	return (*l)[0]
}

// Timers of every class and of changing ranks are set, moved and stopped, inside
// handlers and outside: at each step the engine and the list agree on what fires
// next and when each timer will.
func TestAgainstSortedList(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		e := New()
		var ref list
		timers := make([]Timer, 1+rng.IntN(60))
		classes := make([]Class, len(timers))
		ranks := make([]uint32, len(timers))
		var fired []int
		// Few instants, so that many timers meet; and at times a leap.
		span := []int64{3, 100, 1 << 20, 1 << 50}[rng.IntN(4)]
		act := func() {
			for range rng.IntN(4) {
				i := rng.IntN(len(timers))
				switch rng.IntN(6) {
				case 0:
					timers[i].Stop()
					ref.stop(i)
				case 1: // counts from the next Reset on
					ranks[i] = rng.Uint32N(4)
					timers[i] = timers[i].Ranked(ranks[i])
				default:
					at := e.Now() + Time(rng.Int64N(span))
					timers[i].Reset(at)
					ref.reset(setTimer{at, classes[i], ranks[i], i})
				}
			}
		}
		for i := range timers {
			classes[i] = Class(rng.IntN(int(AfterHeartbeat) + 1))
			timers[i] = e.NewTimer(classes[i], int32(i), func(owner int32) {
				fired = append(fired, int(owner))
				act()
			})
		}
		for step := range 500 {
			act()
			for i := range timers {
				at, set := timers[i].Set()
				want := slices.IndexFunc(ref, func(s setTimer) bool { return s.id == i })
				if set != (want >= 0) || set && at != ref[want].at {
					t.Fatalf("seed %d, step %d: timer %d is set: %v, for %v", seed, step, i, set, at)
				}
			}
			if len(ref) == 0 {
				if e.Next() != Never || e.Step() {
					t.Fatalf("seed %d, step %d: the engine has a timer, the list none", seed, step)
				}
				continue
			}
			want := ref.next()
			ref.stop(want.id)
			if e.StepBy(want.at-1) || e.Next() != want.at || !e.StepBy(want.at) || e.Now() != want.at || fired[len(fired)-1] != want.id {
				t.Fatalf("seed %d, step %d: %v fired at %v, want %+v", seed, step, fired[len(fired)-1:], e.Now(), want)
			}
		}
		if e.Fired() != uint64(len(fired)) {
			t.Fatalf("seed %d: %d fired, want %d", seed, e.Fired(), len(fired))
		}
	}
}

// Of timers of one class at one instant those of lower rank fire first, whatever
// the order in which they were made and set.
func TestRanksAtOneInstant(t *testing.T) {
	e := New()
	var got []int32
	for i, rank := range []uint32{2, 0, 3, 1, 0, 1 << 31} {
		e.NewTimer(Heartbeat, int32(i), func(i int32) { got = append(got, i) }).Ranked(rank).Reset(5)
	}
	for e.Step() {
	}
	if want := []int32{1, 4, 3, 0, 2, 5}; !slices.Equal(got, want) {
		t.Fatalf("fired %v, want %v", got, want)
	}
}

// A timer that is set again and again leaves few stale entries behind: a long slot is
// cleared before it grows, and here every entry but the last is stale.
func TestStaleEntriesAreDropped(t *testing.T) {
	e := New()
	timer := e.NewTimer(Heartbeat, 0, func(int32) {})
	for i := range Time(10_000) {
		timer.Reset(1<<40 + i%3<<20)
		timer.Reset(1<<50 + i%3<<30)
	}
	left := len(e.run)
	for _, slot := range e.slots {
		left += len(slot)
	}
	const slots = 2 // that the instants fall into
	if left > slots*longSlot {
		t.Errorf("%d entries of one timer, want at most %d in each of %d slots", left, longSlot, slots)
	}
	if e.stale != left-1 {
		t.Errorf("%d stale entries counted, want %d", e.stale, left-1)
	}

	// Of a timer that is set to one instant again and again there is one entry.
	e = New()
	timer = e.NewTimer(Completion, 0, func(int32) {})
	e.NewTimer(Completion, 0, func(int32) {
		for range 10_000 {
			timer.Reset(e.Now())
		}
	}).Reset(5)
	timer.Reset(5)
	e.Step()
	e.Step()
	if len(e.run) != 1 || e.stale != 0 {
		t.Errorf("%d entries, %d of them stale, want 1 and 0", len(e.run), e.stale)
	}
}
