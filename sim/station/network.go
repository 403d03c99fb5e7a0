package station

import (
	"math"

	"github.com/slotwave/slotwave/sim/engine"
)

// A Network shares its links among flows by weighted max-min fairness. All
// changes at one instant are settled together, after all other events of the
// instant.
//
// Every link has a level: the rate of a flow of weight 1 that nothing else
// limits. A flow moves at its weight times the lowest level on its path; the
// link of that level is the one that limits it. A level solves the equation
//
//	sum over flows of load * min(level, limit) = capacity,    load = cost * weight,
//
// where the limit of a flow is the lowest level elsewhere on its path, or its
// cap. A link is solved again only when its own equation has changed, so that a
// change spreads only where rates change.
type Network struct {
	// Slack is the fraction of a level that may be wrong before the level is
	// recomputed; 0: exact. A small slack saves much work where all flows depend
	// on each other, as through the uplinks of racks. It shifts ends by about the
	// same fraction.
	Slack float64

	eng       *engine.Engine
	timer     engine.Timer // the instant must be settled
	unsettled bool
	unlimited clock // flows that no link limits, in seconds
	started   uint64

	unsolved queue    // links by level, because low levels limit high ones
	moved    []*Link  // links whose level has changed
	unbound  []*Flow  // flows with a new limit
	stale    []*clock // links that must set their timers
}

// Link is one direction of a wire, or a disk that flows use.
type Link struct {
	clock // clock of the flows it limits, in work for weight 1
	conditions
	tally     Tally
	net       *Network
	capacity  float64
	curve     Curve
	crossings []crossing
	streams   float64 // sum of weights
	level     float64 // +Inf: the link is not full
	unsolved  place
	moved     bool
	served    float64
	busy      engine.Time // without the time of present flows
	since     engine.Time // when the first present flow came
}

// crossing is the use of a link by a flow.
type crossing struct {
	load  float64
	limit float64
	flow  *Flow
	hop   int32
}

// Hop is a link on the path of a flow.
type Hop struct {
	Link *Link
	Cost float64 // link capacity per unit of the flow

	level float64 // the link's
	limit float64 // index of the crossing
	slot  int32   // index among the link's crossings
}

// Receiver is called when all bytes of a flow have arrived. It may start flows,
// including this one again.
type Receiver interface {
	Received(*Flow)
}

// Flow is a transfer. Its user owns it. It goes through all its hops at one
// rate. The sums include all its starts.
type Flow struct {
	Receiver Receiver
	Hops     []Hop   // made with Through; must not change while the flow is active
	Weight   float64 // transfers in parallel that this one stands for; 0: 1
	Cap      float64 // highest rate; 0: no cap

	Bytes float64     // including those of the present transfer
	Time  engine.Time // time active, up to the last end

	place
	net    *Network // nil: not active
	on     *clock   // clock of what limits it; nil: not settled yet
	order  uint64
	bytes  float64
	weight float64
	cap    float64 // rate for weight 1
	lowest int32   // hop that limits it, or none
	was    int32   // hop that has limited it until now
	speed  float64 // bytes per unit of the clock
	begin  engine.Time
}

const (
	none    int32 = -1 // the cap limits the flow
	nowhere int32 = -2 // a flow without a clock
)

// NewNetwork makes a network without links.
func NewNetwork(e *engine.Engine) *Network {
	n := &Network{eng: e, unlimited: clock{eng: e, rate: 1}}
	n.unlimited.timer = e.NewTimer(engine.Completion, 0, n.unlimited.fire)
	n.timer = e.NewTimer(engine.Completion, 0, func(int32) { n.settle() }).Ranked(math.MaxUint32)
	return n
}

// NewLink adds a link that lets capacity per second pass. If the capacity
// depends on the number of streams, as on a disk, c gives it. Each flow counts
// by its weight.
func (n *Network) NewLink(capacity float64, c Curve) *Link {
	l := &Link{clock: clock{eng: n.eng}, conditions: normal, net: n, capacity: capacity, curve: c, level: math.Inf(1)}
	l.unsolved.of = l
	l.timer = n.eng.NewTimer(engine.Completion, 0, l.fire)
	return l
}

// Through adds a link to a path. nil is a link without a limit. A link that
// occurs twice costs twice.
func Through(path []Hop, l *Link, cost float64) []Hop {
	if l == nil {
		return path
	}
	for i := range path {
		if path[i].Link == l {
			path[i].Cost += cost
			return path
		}
	}
	return append(path, Hop{Link: l, Cost: cost})
}

// Start begins a flow of the given bytes. Starting a flow that has not ended
// causes a panic.
func (n *Network) Start(f *Flow, bytes float64) {
	if f.net != nil {
		panic("station: started a flow that has not ended")
	}
	if !(bytes >= 0) {
		panic("station: started a flow with negative bytes")
	}
	n.started++
	f.of, f.net, f.order, f.bytes, f.begin = f, n, n.started, bytes, n.eng.Now()
	f.Bytes += bytes
	f.weight, f.cap = f.Weight, math.Inf(1)
	if f.weight == 0 {
		f.weight = 1
	}
	if f.Cap > 0 {
		f.cap = f.Cap / f.weight
	}
	for i := range f.Hops {
		h := &f.Hops[i]
		h.Link.join(f, int32(i))
	}
	f.was, f.lowest = nowhere, nowhere
	f.propagate(none)
	n.unsettle()
}

// Cancel ends a flow early and returns the bytes that have not arrived. The
// receiver is not called. For a flow that has ended it returns 0.
func (f *Flow) Cancel() float64 {
	if f.net == nil {
		return 0
	}
	left := f.Left()
	f.depart(left)
	return left
}

// Left returns the bytes of the flow that have not arrived.
func (f *Flow) Left() float64 {
	switch {
	case f.net == nil:
		return 0
	case f.on == nil || math.IsInf(f.speed, 1):
		return f.bytes
	}
	return f.on.left(&f.place) * f.speed
}

// Rate returns the rate of a flow from now on, in bytes per second, until
// something changes. It is +Inf for an unlimited flow and 0 for one that has
// ended.
func (f *Flow) Rate() float64 {
	if f.net == nil {
		return 0
	}
	f.net.settle()
	return f.on.rate * f.speed
}

// Flows returns the number of flows on the link.
func (l *Link) Flows() int { return len(l.crossings) }

// Busy returns the time with a flow on the link.
func (l *Link) Busy() engine.Time {
	if len(l.crossings) == 0 {
		return l.busy
	}
	return l.busy + l.eng.Now() - l.since
}

// Work returns the work that has passed the link at its costs, including parts
// of present flows.
func (l *Link) Work() float64 {
	sum := l.served
	for _, x := range l.crossings {
		sum += float64(x.flow.Hops[x.hop].Cost * (x.flow.bytes - x.flow.Left()))
	}
	return sum
}

// count sums the use of the link up to now.
func (l *Link) count() {
	now := l.net.eng.Now()
	if now == l.tally.at {
		return
	}
	rate := l.capacity * l.speed * l.curve.at(l.streams+l.background)
	l.tally.add(now, l.streams, l.background, rate, 1)
}

// Tally returns the use of the link up to now.
func (l *Link) Tally() *Tally {
	l.count()
	return &l.tally
}

// Set changes the conditions of the link from now on. speed is a factor on its
// capacity, below 1 if it is slow or has foreign load, 0 if it stands still.
// background streams share it with its flows.
func (l *Link) Set(speed, background float64) {
	l.count()
	l.conditions = conditions{speed, background}
	l.unsolve()
	l.net.unsettle()
}

func (l *Link) join(f *Flow, hop int32) {
	if len(l.crossings) == 0 {
		l.since = l.eng.Now()
	}
	l.count()
	h := &f.Hops[hop]
	h.level, h.limit, h.slot = l.level, 0, int32(len(l.crossings))
	l.crossings = append(l.crossings, crossing{load: h.Cost * f.weight, flow: f, hop: hop})
	l.streams += f.weight
	l.unsolve()
}

func (l *Link) quit(h *Hop, f *Flow, left float64) {
	l.count()
	last := len(l.crossings) - 1
	moved := l.crossings[last]
	l.crossings[h.slot] = moved
	moved.flow.Hops[moved.hop].slot = h.slot
	l.crossings[last] = crossing{}
	l.crossings = l.crossings[:last]
	l.streams -= f.weight
	l.served += float64(h.Cost * (f.bytes - left))
	if last == 0 {
		l.streams = 0
		l.busy += l.eng.Now() - l.since
	}
	l.unsolve()
}

func (f *Flow) due() {
	f.depart(0)
	f.Receiver.Received(f)
}

func (f *Flow) depart(left float64) {
	n := f.net
	if f.on != nil {
		f.on.exit(&f.place)
		n.expire(f.on)
	}
	for i := range f.Hops {
		h := &f.Hops[i]
		h.Link.quit(h, f, left)
	}
	f.Bytes -= left
	f.Time += n.eng.Now() - f.begin
	f.net, f.on = nil, nil
	n.unsettle()
}

func (n *Network) unsettle() {
	if !n.unsettled {
		n.unsettled = true
		n.timer.Reset(n.eng.Now())
	}
}

func (l *Link) unsolve() {
	if l.unsolved.index == 0 {
		l.net.unsolved.add(entry{key: l.level, place: &l.unsolved})
	}
}

// expire marks a clock whose first visitor or rate has changed.
func (n *Network) expire(c *clock) {
	if !c.stale {
		c.stale = true
		n.stale = append(n.stale, c)
	}
}

// settle computes the rates of all flows.
func (n *Network) settle() {
	if !n.unsettled {
		return
	}
	for len(n.unsolved) > 0 {
		n.unsolved[0].of.due()
	}
	for _, l := range n.moved {
		l.moved = false
		rate := l.level
		if math.IsInf(rate, 1) {
			rate = 0 // it limits no flow
		}
		l.run(rate)
		n.expire(&l.clock)
	}
	n.moved = n.moved[:0]
	for _, f := range n.unbound {
		f.bind()
	}
	clear(n.unbound)
	n.unbound = n.unbound[:0]
	for _, c := range n.stale {
		c.stale = false
		c.rearm()
	}
	n.stale = n.stale[:0]
	n.unsettled = false
}

// bind moves a flow to the clock of its limit.
func (f *Flow) bind() {
	if f.net == nil || f.lowest == f.was {
		return
	}
	left := f.Left()
	if f.on != nil {
		f.on.exit(&f.place)
		f.net.expire(f.on)
	}
	f.was = f.lowest
	if f.was == none {
		f.on, f.speed = &f.net.unlimited, f.cap*f.weight
	} else {
		f.on, f.speed = &f.Hops[f.was].Link.clock, f.weight
	}
	f.on.enter(&f.place, f.order, left/f.speed)
	f.net.expire(f.on)
}

// rounding is the fraction of a level below which a change is ignored.
const rounding = 1e-14

// due computes the level of a link and applies it to the flows on it.
func (l *Link) due() {
	l.net.unsolved.remove(&l.unsolved)
	old, level := l.level, l.fill()
	if level == old || math.Abs(level-old) <= max(rounding, l.net.Slack)*min(level, old) {
		return
	}
	l.level = level
	if !l.moved {
		l.moved = true
		l.net.moved = append(l.net.moved, l)
	}
	for i := range l.crossings {
		x := &l.crossings[i]
		x.flow.Hops[x.hop].level = level
		x.flow.propagate(x.hop)
	}
}

// fill returns the level at which the link is full, or +Inf if it never is.
// Newton's method finds it in a few steps, because the throughput is concave in
// the level.
func (l *Link) fill() float64 {
	n := l.streams + l.background
	capacity := l.capacity * l.speed * l.curve.at(n)
	level := l.level
	for last := -1.0; ; {
		rest, free, load := capacity, l.background, l.background
		for i := range l.crossings {
			x := &l.crossings[i]
			load += x.load
			if x.limit < level {
				rest -= float64(x.load * x.limit)
			} else {
				free += x.load
			}
		}
		if free == 0 && rest >= 0 {
			return math.Inf(1)
		}
		level = capacity / load // if no flow is limited elsewhere
		if free > 0 {
			level = max(level, rest/free)
		}
		if !(level > last) {
			return last
		}
		last = level
	}
}

// propagate updates the other links on a flow's path after the level of the link at
// hop has changed.
func (f *Flow) propagate(hop int32) {
	low, second, lowest := f.cap, math.Inf(1), none
	for i := range f.Hops {
		switch level := f.Hops[i].level; {
		case level < low:
			low, second, lowest = level, low, int32(i)
		case level < second:
			second = level
		}
	}
	if lowest != f.lowest {
		f.lowest = lowest
		f.net.unbound = append(f.net.unbound, f)
	}
	for i := range f.Hops {
		if int32(i) == hop {
			continue
		}
		h := &f.Hops[i]
		limit, was := low, h.limit
		if int32(i) == lowest {
			limit = second
		}
		if limit == was {
			continue
		}
		h.limit = limit
		h.Link.crossings[h.slot].limit = limit
		// A flow whose limit stays above a link's level does not affect that level.
		// A link that is not full stays so when a flow takes less.
		if min(was, limit) < h.level && (limit > was || h.level < math.Inf(1)) {
			h.Link.unsolve()
		}
	}
}
