package station

import (
	"math"

	"github.com/slotwave/slotwave/sim/engine"
)

// A Network shares its links among flows by weighted max-min fairness. What
// happens at one instant is settled together when all else has been done.
//
// Every link has a level: the rate of a flow of weight 1 that nothing else
// limits. A flow moves at its weight times the lowest level on its path; the
// link of that level is the one that limits it. A level solves
//
//	sum over flows of load * min(level, limit) = capacity,    load = cost * weight,
//
// where the limit of a flow is the lowest level elsewhere on its path, or its
// cap. A link is solved again only when its own equation has changed, so that a
// change spreads only where rates change.
type Network struct {
	// Slack is the part of a level by which it may be wrong before it is changed;
	// 0: exact. A little of it saves much where every flow is tied to every other,
	// as by the uplinks of racks, and moves ends by about as much.
	Slack float64

	eng       *engine.Engine
	timer     engine.Timer // the instant is to be settled
	unsettled bool
	unlimited clock // of flows that no link limits, in seconds
	started   uint64

	unsolved queue    // of links by level, as low ones limit those above
	moved    []*Link  // have got another level
	unbound  []*Flow  // something else limits them now
	stale    []*clock // have to set their timers
}

// Link is a direction of a wire, or a disk that flows go through.
type Link struct {
	clock // of the flows it limits, in work for weight 1
	conditions
	net       *Network
	capacity  float64
	curve     Curve
	crossings []crossing
	streams   float64 // sum of weights
	level     float64 // +Inf: the link is not full
	unsolved  place
	moved     bool
	served    float64
	busy      engine.Time // without the present flows' time
	since     engine.Time // of the first of the present flows
}

// crossing is a flow on a link.
type crossing struct {
	load  float64
	limit float64
	flow  *Flow
	hop   int32
}

// Hop is a link on the path of a flow.
type Hop struct {
	Link *Link
	Cost float64 // of the link's capacity for 1 of the flow

	level float64 // the link's
	limit float64 // the crossing's
	slot  int32   // among the link's crossings
}

// Receiver is told that a flow has got all its bytes through. It may start
// flows, this one again among them.
type Receiver interface {
	Received(*Flow)
}

// Flow is a transfer, owned by whoever wants it done. It goes through all its
// hops at one rate. The sums run over all the times it was started.
type Flow struct {
	Receiver Receiver
	Hops     []Hop   // made with Through; not to be changed while it goes on
	Weight   float64 // transfers in parallel that this one stands for; 0: 1
	Cap      float64 // highest rate; 0: none

	Bytes float64     // those of a flow that goes on included
	Time  engine.Time // on the way, up to the last end

	place
	net    *Network // nil: it does not go on
	on     *clock   // of what limits it; nil: not settled yet
	order  uint64
	bytes  float64
	weight float64
	cap    float64 // for weight 1
	lowest int32   // hop that limits it, or none
	was    int32   // hop that has limited it so far
	speed  float64 // bytes for 1 on the clock
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

// NewLink adds a link that lets capacity per second pass. Where the capacity
// depends on the streams, as on a disk, c says how; each flow counts as many as
// it has weight.
func (n *Network) NewLink(capacity float64, c Curve) *Link {
	l := &Link{clock: clock{eng: n.eng}, conditions: normal, net: n, capacity: capacity, curve: c, level: math.Inf(1)}
	l.unsolved.of = l
	l.timer = n.eng.NewTimer(engine.Completion, 0, l.fire)
	return l
}

// Through adds a link to a path; nil stands for one without a limit. A link
// that is met twice costs twice.
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

// Start begins a flow of some bytes. Starting one that has not ended is
// a panic.
func (n *Network) Start(f *Flow, bytes float64) {
	if f.net != nil {
		panic("station: a flow starts that goes on")
	}
	if !(bytes >= 0) {
		panic("station: a flow of less than no bytes")
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

// Cancel ends a flow early and returns the bytes it has not got through; the
// receiver is not told. A flow that does not go on has none left.
func (f *Flow) Cancel() float64 {
	if f.net == nil {
		return 0
	}
	left := f.Left()
	f.depart(left)
	return left
}

// Left returns the bytes that the flow has not got through.
func (f *Flow) Left() float64 {
	switch {
	case f.net == nil:
		return 0
	case f.on == nil || math.IsInf(f.speed, 1):
		return f.bytes
	}
	return f.on.left(&f.place) * f.speed
}

// Rate returns the bytes per second of a flow from now on, until something
// changes. It is +Inf for a flow that nothing limits, 0 for one that does not
// go on.
func (f *Flow) Rate() float64 {
	if f.net == nil {
		return 0
	}
	f.net.settle()
	return f.on.rate * f.speed
}

// Flows counts those on the link.
func (l *Link) Flows() int { return len(l.crossings) }

// Busy returns the time with a flow on the link.
func (l *Link) Busy() engine.Time {
	if len(l.crossings) == 0 {
		return l.busy
	}
	return l.busy + l.eng.Now() - l.since
}

// Work returns what has passed the link at its costs, parts of flows that go on
// included.
func (l *Link) Work() float64 {
	sum := l.served
	for _, x := range l.crossings {
		sum += float64(x.flow.Hops[x.hop].Cost * (x.flow.bytes - x.flow.Left()))
	}
	return sum
}

// Set changes how well the link does from now on: speed is a factor on its
// capacity, below 1 where it is slow or others take a part of it, 0 where it stands
// still; background streams share with those who are here.
func (l *Link) Set(speed, background float64) {
	l.conditions = conditions{speed, background}
	l.unsolve()
	l.net.unsettle()
}

func (l *Link) join(f *Flow, hop int32) {
	if len(l.crossings) == 0 {
		l.since = l.eng.Now()
	}
	h := &f.Hops[hop]
	h.level, h.limit, h.slot = l.level, 0, int32(len(l.crossings))
	l.crossings = append(l.crossings, crossing{load: h.Cost * f.weight, flow: f, hop: hop})
	l.streams += f.weight
	l.unsolve()
}

func (l *Link) quit(h *Hop, f *Flow, left float64) {
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

// expire notes that a clock has another first visitor, or another rate.
func (n *Network) expire(c *clock) {
	if !c.stale {
		c.stale = true
		n.stale = append(n.stale, c)
	}
}

// settle gives every flow its rate.
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
			rate = 0 // it limits nobody
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

// bind puts a flow on the clock of what limits it.
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

// rounding is the part of a level below which a change is none.
const rounding = 1e-14

// due works out the level of a link and passes it to the flows on it.
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

// fill returns the level at which the link is full, +Inf if that never is.
// Newton's method finds it in a few steps, as what flows through is concave in
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
		level = capacity / load // where nobody is limited elsewhere
		if free > 0 {
			level = max(level, rest/free)
		}
		if !(level > last) {
			return last
		}
		last = level
	}
}

// propagate lets the other links on a flow's path know its limit, after the level of
// the link at hop has changed.
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
		// A flow does not matter to a link's level while its limit is above; a link
		// that is not full stays so when a flow takes less.
		if min(was, limit) < h.level && (limit > was || h.level < math.Inf(1)) {
			h.Link.unsolve()
		}
	}
}
