// Package engine keeps simulated time and fires timers in order. It knows
// nothing of Hadoop.
package engine

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"
)

// Time is an instant of simulated time in nanoseconds from the start of the run.
type Time int64

// Never is later than every instant.
const Never Time = math.MaxInt64

// At returns the instant a duration after the start of the run.
func At(d time.Duration) Time { return Time(d) }

// Duration returns the time from the start of the run.
func (t Time) Duration() time.Duration { return time.Duration(t) }

func (t Time) String() string { return time.Duration(t).String() }

// Class orders the timers of one instant: a lower class fires first, then the
// lower rank, then the timer that was made first.
type Class uint8

// Classes of timers, in the order they fire at one instant.
const (
	Completion Class = iota
	Submission
	Arrival         // a tracker's first heartbeat
	BeforeHeartbeat // threads that recur more slowly than heartbeats
	Heartbeat
	AfterHeartbeat // threads that recur more quickly
)

// Engine holds the clock and all set timers.
//
// The timers that fire next lie in a short sorted run. The others lie unsorted
// in the slots of a hierarchical timing wheel: level l has 64 slots of 64^l ns,
// and a timer lies on the level of the highest bit in which its instant differs
// from the wheel's position. When the run is empty, the next occupied slot is
// sorted into it. A slot with many timers is dealt to the levels below instead.
// Every timer knows its position, so it is moved or stopped without a search.
//
//	operation   cost
//	fire        constant: a timer is moved once for each level it passes
//	Reset       constant; within the run, one step for each timer before it
//	Stop        constant; within the run, a scan of it
//
// Nothing is allocated once the slots have reached their final size.
type Engine struct {
	now    Time
	fired  uint64
	timers []timer
	fires  []func(owner int32) // what timers call

	run    []entry // latest first
	runEnd uint64  // timers before this instant belong in the run
	cursor uint64  // the wheel's position: no timer on it is earlier
	used   [levels]uint64
	slots  [levels * 64][]entry
	spare  [32][][]entry // buffers of emptied slots, by the logarithm of their size
}

// entry orders by instant, then by class and timer.
type entry struct {
	at  uint64 // Time, never negative
	key uint64 // class, rank and timer
}

// timer has no pointer and does not cross a line of the cache.
type timer struct {
	slot  int32 // of the wheel, or inRun, or unset
	index int32 // within the slot
	owner int32
	fire  int32 // index among fires
}

const (
	levels  = 11 // 11 x 6 bits cover 64
	longRun = 32 // a slot with more is dealt to the levels below
	fullRun = 64 // a longer run goes back to the wheel
)

const (
	unset int32 = -1
	inRun int32 = -2
)

// before returns 1 if a fires before b, else 0, without a branch.
func (a entry) before(b entry) uint64 {
	_, borrow := bits.Sub64(a.key, b.key, 0)
	_, borrow = bits.Sub64(a.at, b.at, borrow)
	return borrow
}

// A key has 4 bits of class, 32 of rank and 28 of timer.
const (
	timerBits = 28
	classBits = 4
)

func (a entry) timer() uint32 { return uint32(a.key) & (1<<timerBits - 1) }

// New makes an engine whose clock stands at zero.
func New() *Engine { return &Engine{} }

// Now returns the present instant.
func (e *Engine) Now() Time { return e.now }

// Fired counts the timers that have fired.
func (e *Engine) Fired() uint64 { return e.fired }

// Timer is owned by whoever waits for it.
type Timer struct {
	e   *Engine
	key uint64
}

func (t Timer) id() uint32 { return uint32(t.key) & (1<<timerBits - 1) }

// Ranked returns the timer with another rank within its class. The new rank
// counts from the next Reset on.
func (t Timer) Ranked(rank uint32) Timer {
	const mask = (1<<32 - 1) << timerBits
	return Timer{t.e, t.key&^uint64(mask) | uint64(rank)<<timerBits}
}

// NewTimer makes a timer that is not set; fire(owner) is called each time it
// goes off.
func (e *Engine) NewTimer(c Class, owner int32, fire func(owner int32)) Timer {
	e.fires = append(e.fires, fire)
	return e.newTimer(c, owner)
}

// newTimer makes a timer that calls the last of fires.
func (e *Engine) newTimer(c Class, owner int32) Timer {
	e.timers = append(e.timers, timer{slot: unset, owner: owner, fire: int32(len(e.fires) - 1)})
	return Timer{e, uint64(c)<<(64-classBits) | uint64(len(e.timers)-1)}
}

// Timers are the timers of a number of owners, with one handle for all.
type Timers struct {
	first Timer
}

// NewTimers makes a timer for each of the owners 0 to n-1, none of them set.
func (e *Engine) NewTimers(c Class, n int, fire func(owner int32)) Timers {
	first := Timer{e, uint64(c)<<(64-classBits) | uint64(len(e.timers))}
	e.fires = append(e.fires, fire)
	for i := range n {
		e.newTimer(c, int32(i))
	}
	return Timers{first}
}

// Of returns the timer of an owner.
func (t Timers) Of(owner int32) Timer { return Timer{t.first.e, t.first.key + uint64(owner)} }

// Reset sets the timer, whether or not it is set already. An instant in the
// past causes a panic.
func (t Timer) Reset(at Time) {
	e := t.e
	if at < e.now {
		panic(fmt.Sprintf("engine: timer set to %v, before now, %v", at, e.now))
	}
	if e.timers[t.id()].slot != unset {
		e.remove(t.id())
	}
	x := entry{uint64(at), t.key}
	if x.at < e.runEnd {
		e.intoRun(x)
		return
	}
	e.ontoWheel(x)
}

// Stop stops the timer. It does nothing if the timer is not set.
func (t Timer) Stop() {
	if t.e.timers[t.id()].slot != unset {
		t.e.remove(t.id())
	}
}

// Set returns when the timer will fire, and whether it is set.
func (t Timer) Set() (Time, bool) {
	e, own := t.e, t.e.timers[t.id()]
	switch own.slot {
	case unset:
		return Never, false
	case inRun:
		return Time(e.run[e.findInRun(t.id())].at), true
	}
	return Time(e.slots[own.slot][own.index].at), true
}

// Next returns the instant of the next timer, or Never.
func (e *Engine) Next() Time {
	if len(e.run) == 0 && !e.fill() {
		return Never
	}
	return Time(e.run[len(e.run)-1].at)
}

// Step fires the next timer and reports whether there was one.
func (e *Engine) Step() bool {
	if len(e.run) == 0 && !e.fill() {
		return false
	}
	last := len(e.run) - 1
	x := e.run[last]
	e.run = e.run[:last]
	e.now = Time(x.at)
	e.fired++
	own := &e.timers[x.timer()]
	own.slot = unset
	e.fires[own.fire](own.owner)
	return true
}

// Wait moves the clock to an instant at or before the next event, so that the
// caller can read the state at that instant. A later instant causes a panic.
func (e *Engine) Wait(to Time) {
	if to < e.now || to > e.Next() {
		panic(fmt.Sprintf("engine: wait until %v, at %v and with an event at %v", to, e.now, e.Next()))
	}
	e.now = to
}

// intoRun keeps the run sorted.
func (e *Engine) intoRun(x entry) {
	if len(e.run) >= fullRun && e.runEnd-uint64(e.now) > 1 {
		// The run has become too long to insert timers one by one.
		run := e.run
		e.run = e.run[:0]
		e.cursor, e.runEnd = uint64(e.now), uint64(e.now)
		for _, y := range run {
			e.ontoWheel(y)
		}
		e.ontoWheel(x)
		return
	}
	e.timers[x.timer()].slot = inRun
	e.run = append(e.run, x)
	i := len(e.run) - 1
	for i > 0 && e.run[i-1].before(x) != 0 {
		e.run[i] = e.run[i-1]
		i--
	}
	e.run[i] = x
}

func (e *Engine) ontoWheel(x entry) {
	level := (bits.Len64((x.at^e.cursor)|1) - 1) / 6
	index := x.at >> (6 * level) & 63
	e.used[level] |= 1 << index
	at := int32(level*64) + int32(index)
	slot := e.slots[at]
	n := len(slot)
	if n == cap(slot) {
		slot = e.grow(slot)
	}
	slot = slot[:n+1]
	slot[n] = x
	e.slots[at] = slot
	own := &e.timers[x.timer()]
	own.slot, own.index = at, int32(n)
}

// grow moves a slot to a buffer of twice the size. Buffers of emptied slots are
// used again.
func (e *Engine) grow(slot []entry) []entry {
	class := max(3, bits.Len(uint(cap(slot))))
	var bigger []entry
	if n := len(e.spare[class]); n > 0 {
		bigger = e.spare[class][n-1]
		e.spare[class] = e.spare[class][:n-1]
	} else {
		bigger = make([]entry, 0, 1<<class)
	}
	bigger = append(bigger, slot...)
	e.recycle(slot)
	return bigger
}

func (e *Engine) recycle(slot []entry) {
	if class := bits.Len(uint(cap(slot))) - 1; class > 0 {
		e.spare[class] = append(e.spare[class], slot[:0])
	}
}

// fill makes the next run and reports whether any timer is set.
func (e *Engine) fill() bool {
	for level := 0; level < levels; {
		if e.used[level] == 0 {
			level++
			continue
		}
		index := bits.TrailingZeros64(e.used[level])
		shift := 6 * level
		start := e.cursor>>shift>>6<<6<<shift | uint64(index)<<shift
		at := level*64 + index
		slot := e.slots[at]
		e.slots[at] = nil
		e.used[level] &^= 1 << index
		if len(slot) > longRun && level > 0 {
			e.cursor = start
			for _, x := range slot {
				e.ontoWheel(x)
			}
			e.recycle(slot)
			level = 0
			continue
		}
		e.runEnd = start + 1<<shift
		e.cursor = e.runEnd - 1
		e.sortIntoRun(slot)
		e.recycle(slot)
		return true
	}
	return false
}

// sortIntoRun moves a slot into the run, sorted. It sorts small slots by
// counting for each timer how many come after it, which needs no branch.
func (e *Engine) sortIntoRun(slot []entry) {
	n := len(slot)
	if cap(e.run) < n {
		e.run = make([]entry, 2*n)
	}
	e.run = e.run[:n]
	if n > longRun {
		copy(e.run, slot)
		slices.SortFunc(e.run, func(a, b entry) int { return int(a.before(b)) - int(b.before(a)) })
	} else {
		var rank [longRun]uint8
		for i := 1; i < n; i++ {
			x := slot[i]
			for j, y := range slot[:i] {
				first := uint8(y.before(x))
				rank[j] += first
				rank[i] += 1 - first
			}
		}
		for i, x := range slot {
			e.run[rank[i]] = x
		}
	}
	for _, x := range e.run {
		e.timers[x.timer()].slot = inRun
	}
}

// findInRun returns the position of a timer in the run. It looks first at those
// that fire next, because a heartbeat mostly asks for the next one.
func (e *Engine) findInRun(id uint32) int {
	for i := len(e.run) - 1; i >= 0; i-- {
		if e.run[i].timer() == id {
			return i
		}
	}
	panic("engine: a timer of the run is not in it")
}

func (e *Engine) remove(id uint32) {
	own := &e.timers[id]
	if own.slot == inRun {
		i := e.findInRun(id)
		e.run = append(e.run[:i], e.run[i+1:]...)
	} else {
		slot := e.slots[own.slot]
		last := len(slot) - 1
		moved := slot[last]
		slot[own.index] = moved
		e.timers[moved.timer()].index = own.index
		e.slots[own.slot] = slot[:last]
		if last == 0 {
			e.used[own.slot/64] &^= 1 << (own.slot % 64)
		}
	}
	own.slot = unset
}
