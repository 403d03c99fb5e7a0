// Package engine keeps simulated time and fires timers in order. It knows
// nothing of Hadoop.
package engine

import (
	"cmp"
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
// The entries that fire next lie in a short sorted run. The others lie unsorted
// in the slots of a hierarchical timing wheel: level l has 64 slots of 64^l ns,
// and an entry lies on the level of the highest bit in which its instant differs
// from the wheel's position. When the run is empty, the next occupied slot is
// sorted into it. A slot with many entries is dealt to the levels below instead.
//
// A timer does not know where its entry lies. When it is stopped or set again, the
// entry stays behind as a stale one, which is dropped when its turn comes, or before
// a long slot would grow. So entries move without a look at their timers, which do not
// fit into the caches of the processor.
//
//	operation   cost
//	fire        constant: an entry is moved once for each level it passes
//	Reset       constant; within the run, one step for each timer before it
//	Stop        constant
//
// Nothing is allocated once the slots have reached their final size.
type Engine struct {
	now    Time
	fired  uint64
	timers []timer
	calls  []call

	run    []entry // latest first
	runEnd uint64  // timers before this instant belong in the run
	cursor uint64  // the wheel's position: no timer on it is earlier
	stale  int     // entries whose timers have been stopped or set again
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
	at   uint64 // or unset
	rank uint32
	call int32 // index among calls
}

// call is what the timers from a number on call, up to the next call.
type call struct {
	fire  func(owner int32)
	first int32 // timer
	owner int32 // of the first
}

const (
	levels   = 11  // 11 x 6 bits cover 64
	shortRun = 4   // entries that are inserted one by one
	longRun  = 255 // a slot with more is dealt to the levels below; at most a byte
	fullRun  = 256 // a longer run goes back to the wheel

	leastSlot = 5   // logarithm of the entries for which a slot has room at first
	longSlot  = 128 // a slot that is full with as many is cleared of stale entries
)

// unset is later than Never, so no entry of a timer that is not set is valid.
const unset = math.MaxUint64

// before reports whether a fires before b.
func (a entry) before(b entry) bool { return a.at < b.at || a.at == b.at && a.key < b.key }

// A key has 4 bits of class, 32 of rank and 28 of timer.
const (
	timerBits = 28
	classBits = 4
)

func (a entry) timer() uint32 { return uint32(a.key) & (1<<timerBits - 1) }
func (a entry) rank() uint32  { return uint32(a.key >> timerBits) }

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
	first := int32(len(e.timers))
	e.calls = append(e.calls, call{fire, first, owner})
	e.timers = append(e.timers, timer{at: unset, call: int32(len(e.calls) - 1)})
	return Timer{e, uint64(c)<<(64-classBits) | uint64(first)}
}

// Timers are the timers of a number of owners, with one handle for all.
type Timers struct {
	first Timer
}

// NewTimers makes a timer for each of the owners 0 to n-1, none of them set.
func (e *Engine) NewTimers(c Class, n int, fire func(owner int32)) Timers {
	first := Timer{e, uint64(c)<<(64-classBits) | uint64(len(e.timers))}
	e.calls = append(e.calls, call{fire: fire, first: int32(len(e.timers))})
	for range n {
		e.timers = append(e.timers, timer{at: unset, call: int32(len(e.calls) - 1)})
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
	x := entry{uint64(at), t.key}
	own := &e.timers[t.id()]
	switch {
	case own.fires(x):
		return // it is set as asked
	case own.at != unset:
		e.stale++
	}
	own.at, own.rank = x.at, x.rank()
	if x.at < e.runEnd {
		e.intoRun(x)
		return
	}
	e.ontoWheel(x)
}

// Stop stops the timer. It does nothing if the timer is not set.
func (t Timer) Stop() {
	if own := &t.e.timers[t.id()]; own.at != unset {
		own.at = unset
		t.e.stale++
	}
}

// Set returns when the timer will fire, and whether it is set.
func (t Timer) Set() (Time, bool) {
	at := t.e.timers[t.id()].at
	if at == unset {
		return Never, false
	}
	return Time(at), true
}

// fires reports whether the timer of an entry is still set as the entry says. If
// the timer was set to the same instant again, either entry serves.
func (t *timer) fires(x entry) bool { return t.at == x.at && t.rank == x.rank() }

// Due reports whether a timer is set to the present instant. It leaves later timers on the
// wheel, where many more for one instant cost nothing.
func (e *Engine) Due() bool {
	if len(e.run) == 0 && e.runEnd > uint64(e.now) {
		return false
	}
	return e.Next() == e.now
}

// Next returns the instant of the next timer, or Never.
func (e *Engine) Next() Time {
	for len(e.run) > 0 || e.fill() {
		last := len(e.run) - 1
		if x := e.run[last]; e.timers[x.timer()].fires(x) {
			return Time(x.at)
		}
		e.run = e.run[:last]
		e.stale--
	}
	return Never
}

// Step fires the next timer and reports whether there was one.
func (e *Engine) Step() bool { return e.StepBy(Never) }

// StepBy fires the next timer if it is set to an instant or before, and reports
// whether it is.
func (e *Engine) StepBy(limit Time) bool {
	for len(e.run) > 0 || e.fill() {
		last := len(e.run) - 1
		x := e.run[last]
		own := &e.timers[x.timer()]
		if !own.fires(x) {
			e.run = e.run[:last]
			e.stale--
			continue
		}
		if Time(x.at) > limit {
			return false
		}
		e.run = e.run[:last]
		own.at = unset
		e.now = Time(x.at)
		e.fired++
		c := &e.calls[own.call]
		c.fire(c.owner + int32(x.timer()) - c.first)
		return true
	}
	return false
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
	if n := len(e.run); n >= fullRun && e.stale >= n/2 {
		e.run = e.live(e.run)
	}
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
	e.run = append(e.run, x)
	i := len(e.run) - 1
	for i > 0 && e.run[i-1].before(x) {
		e.run[i] = e.run[i-1]
		i--
	}
	e.run[i] = x
}

func (e *Engine) ontoWheel(x entry) {
	level := uint(bits.Len64((x.at^e.cursor)|1)-1) / 6
	index := uint(x.at>>(6*level&63)) & 63
	e.used[level] |= 1 << index
	slot := &e.slots[level*64+index]
	n := len(*slot)
	if n == cap(*slot) {
		*slot = e.grow(*slot)
		n = len(*slot)
	}
	*slot = (*slot)[:n+1]
	(*slot)[n] = x
}

// live drops the stale entries of a list.
func (e *Engine) live(list []entry) []entry {
	kept := 0
	for _, x := range list {
		list[kept] = x
		if e.timers[x.timer()].fires(x) {
			kept++
		}
	}
	e.stale -= len(list) - kept
	return list[:kept]
}

// single drops the stale entries of a list, and all but the first of a timer that was
// set to the same instant again.
func (e *Engine) single(list []entry) []entry {
	all := len(list)
	list = slices.DeleteFunc(list, func(x entry) bool {
		own := &e.timers[x.timer()]
		if !own.fires(x) {
			return true
		}
		own.at = unset
		return false
	})
	for _, x := range list {
		e.timers[x.timer()].at = x.at
	}
	e.stale -= all - len(list)
	return list
}

// grow makes room in a slot: it drops stale entries if it is long and may have many, or
// moves it to a buffer of twice the size. Buffers of emptied slots are used again.
func (e *Engine) grow(slot []entry) []entry {
	if n := len(slot) / 2; n >= longSlot/2 && e.stale >= n {
		if slot = e.single(slot); len(slot) <= n {
			return slot
		}
	}
	class := max(leastSlot, bits.Len(uint(cap(slot))))
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
		// All timers of the run are looked up here, where the processor can wait for
		// several of them at once.
		e.sortIntoRun(e.live(slot), start, shift)
		e.recycle(slot)
		if len(e.run) > 0 {
			return true
		}
		level = 0
	}
	return false
}

// sortIntoRun moves a slot into the run, sorted. The slot begins at start and is
// 1<<shift long. Entries are dealt to 64 equal parts of the slot, so that few of them
// are out of order, and inserted one by one.
func (e *Engine) sortIntoRun(slot []entry, start uint64, shift int) {
	n := len(slot)
	if cap(e.run) < n {
		e.run = make([]entry, 2*n)
	}
	e.run = e.run[:n]
	run := e.run
	switch {
	case n > longRun || n > shortRun && shift == 0:
		copy(run, slot)
		slices.SortFunc(run, func(a, b entry) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.key, a.key)) })
		return
	case n > shortRun:
		// Where each part ends in the run, the latest first, eight parts to a word:
		// first how many entries they have, then how many come before.
		var ends [8]uint64
		part := uint(shift-6) & 63
		for i := range slot {
			at := ^((slot[i].at - start) >> part)
			ends[at>>3&7] += 1 << (at & 7 * 8)
		}
		sum := uint64(0)
		for i, counts := range ends {
			const each = 0x0101010101010101
			upTo := counts*each + sum*each
			ends[i], sum = upTo-counts, upTo>>56
		}
		for _, x := range slot {
			at := ^((x.at - start) >> part)
			word, bit := &ends[at>>3&7], at&7*8
			run[*word>>bit&255] = x
			*word += 1 << bit
		}
	default:
		copy(run, slot)
	}
	for i := 1; i < len(run); i++ {
		if run[i-1].at > run[i].at {
			continue
		}
		x, j := run[i], i
		for ; j > 0 && run[j-1].before(x); j-- {
			run[j] = run[j-1]
		}
		run[j] = x
	}
}
