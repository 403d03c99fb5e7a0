package station

import (
	"math"

	"github.com/slotwave/slotwave/sim/engine"
)

// NewNetwork makes a network without links.
func NewNetwork(e *engine.Engine) *Network {
	n := &Network{eng: e, unlimited: clock{eng: e, rate: 1}, routes: make(map[trunks]*route), crowd: manyFlows}
	n.unlimited.timer = e.NewTimer(engine.Completion, 0, n.unlimited.fire)
	n.timer = e.NewTimer(engine.Completion, 0, func(int32) { n.settle() }).Ranked(math.MaxUint32)
	return n
}

// NewLink adds a link that lets capacity per second pass. If the capacity
// depends on the number of streams, as on a disk, c gives it. Each flow counts
// by its weight.
func (n *Network) NewLink(capacity float64, c Curve) *Link {
	l := &Link{clock: clock{eng: n.eng}, conditions: normal, net: n, capacity: capacity, curve: c, curved: c != nil, level: math.Inf(1)}
	l.timer = n.eng.NewTimer(engine.Completion, 0, l.fire)
	l.settleAt(-capacity, 0, 0)
	return l
}

// NewTrunk adds a link that very many flows may pass, such as the uplink of a
// rack. While they do, those that pass the same trunks are served together.
func (n *Network) NewTrunk(capacity float64) *Link {
	l := n.NewLink(capacity, nil)
	l.trunk = true
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

// Onto adds a link to a path, such as a disk that the flow writes to. Written
// counts its work.
func Onto(path []Hop, l *Link, cost float64) []Hop {
	path = Through(path, l, cost)
	for i := range path {
		if path[i].Link == l {
			path[i].write = true
		}
	}
	return path
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
	f.was, f.lowest, f.low = nowhere, nowhere, 0
	n.join(f)
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

// Limit returns the hop that limits an active flow, nil if no link does, and the part
// of its time that the flow would still need if that link had no limit and all else
// stayed. Of a route the limit is the trunk with the lowest level.
func (f *Flow) Limit() (limit *Hop, still float64) {
	if f.was == none || f.was == nowhere {
		return nil, 0
	}
	for i := range f.Hops {
		h := &f.Hops[i]
		if int32(i) == f.was || f.was == byRoute && h.slot == none && (limit == nil || h.Link.level < limit.Link.level) {
			limit = h
		}
	}
	if limit == nil || f.on == nil {
		return limit, 0
	}
	level, next := f.on.rate, math.Inf(1)
	for i := range f.Hops {
		h := &f.Hops[i]
		other := h.Link.level
		if left := -h.Link.excess; math.IsInf(other, 1) && left >= 0 { // what it has left is for this flow
			other = level + left/(h.Cost*f.weight)
		}
		if h != limit {
			next = min(next, other)
		}
	}
	if !(level < next) {
		return limit, 1
	}
	return limit, level / next
}

// IsWrite reports whether the flow writes to the link, a disk.
func (h *Hop) IsWrite() bool { return h.write }

// Uses returns a number that changes with each flow, or less than 0 while there is
// one.
func (l *Link) Uses() int64 {
	if l.flows > 0 {
		return -1
	}
	return int64(l.joined)
}

// Busy returns the time with a flow on the link.
func (l *Link) Busy() engine.Time {
	if l.flows == 0 {
		return l.busy
	}
	return l.busy + l.eng.Now() - l.since
}

// Work returns the work that has passed the link at its costs, including parts
// of present flows.
func (l *Link) Work() float64 { return l.served + l.underway(false) }

// Written returns the part of the work by flows that write.
func (l *Link) Written() float64 { return l.written + l.underway(true) }

// underway returns the work that present flows had so far, of all or of those that
// write.
func (l *Link) underway(writes bool) (sum float64) {
	for _, x := range l.crossings {
		if h := &x.flow.Hops[x.hop]; h.write || !writes {
			sum += float64(h.Cost * (x.flow.bytes - x.flow.Left()))
		}
	}
	for i := range l.legs {
		for k := range l.legs[i].route.members {
			f := l.legs[i].route.members[k].flow
			for h := range f.Hops {
				if f.Hops[h].Link == l && (f.Hops[h].write || !writes) {
					sum += float64(f.Hops[h].Cost * (f.bytes - f.Left()))
				}
			}
		}
	}
	return sum
}

// count sums the use of the link up to now.
func (l *Link) count() {
	now := l.net.eng.Now()
	if now == l.tally.at {
		return
	}
	if l.streams == 0 && l.background == 0 {
		l.tally.at = now
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

// join puts a flow onto its links. Up to mostTrunks trunks become its route if
// one of them is crowded.
func (n *Network) join(f *Flow) {
	var key trunks
	count, crowded := 0, false
	for i := range f.Hops {
		if l := f.Hops[i].Link; l.trunk {
			if count < mostTrunks {
				key[count] = l
			}
			count++
			crowded = crowded || int(l.flows) >= n.crowd
		}
	}
	f.route = nil
	if crowded && count <= mostTrunks {
		f.route = n.routeOver(key, count)
		f.route.join(f)
	}
	for i := range f.Hops {
		h := &f.Hops[i]
		h.Link.join(f, int32(i))
	}
}

func (l *Link) join(f *Flow, hop int32) {
	if l.flows == 0 {
		l.since = l.eng.Now()
	}
	l.count()
	l.flows++
	l.joined++
	l.streams += f.weight
	h := &f.Hops[hop]
	h.limit, h.slot = 0, none
	if l.trunk && f.route != nil {
		return
	}
	h.slot = int32(len(l.crossings))
	x := crossing{load: h.Cost * f.weight, flow: f, hop: hop}
	if f.route != nil {
		if l.lazy() {
			l.ask()
		}
		h.seen = f.route.level
		l.routed++
		l.least += float64(x.load * l.width)
		l.most -= float64(x.load * l.width)
	}
	l.crossings = append(l.crossings, x)
	l.touch(f)
}

func (l *Link) quit(h *Hop, f *Flow, left float64) {
	l.count()
	l.flows--
	l.streams -= f.weight
	work := float64(h.Cost * (f.bytes - left))
	l.served += work
	if h.write {
		l.written += work
	}
	if l.flows == 0 {
		l.streams = 0
		l.busy += l.eng.Now() - l.since
	}
	if h.slot == none {
		return
	}
	last := len(l.crossings) - 1
	x, moved := l.crossings[h.slot], l.crossings[last]
	l.crossings[h.slot] = moved
	moved.flow.Hops[moved.hop].slot = h.slot
	l.crossings[last] = crossing{}
	l.crossings = l.crossings[:last]
	if f.route != nil {
		l.routed--
	}
	l.touch(f)
	l.shift(-float64(x.load * min(x.limit, l.level)))
}

func (f *Flow) due() {
	f.depart(0)
	f.Receiver.Received(f)
}

func (f *Flow) depart(left float64) {
	n := f.net
	if f.on != nil {
		if n.Watch != nil {
			n.Watch(f)
		}
		f.on.exit(&f.place)
		n.expire(f.on)
	}
	for i := range f.Hops {
		h := &f.Hops[i]
		h.Link.quit(h, f, left)
	}
	if f.route != nil {
		f.route.leave(f)
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

// unsolve has the level computed again, whatever the flows ask for.
func (l *Link) unsolve() {
	l.excess = math.NaN()
	l.enqueue()
}

func (l *Link) enqueue() {
	if !l.isQueued {
		l.isQueued = true
		l.net.unsolved.add(l)
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
		if l := n.unsolved.next(); !l.holds() || !math.IsInf(l.level, 1) {
			l.solve()
		}
	}
	for _, l := range n.moved {
		l.isMoved = false
		rate := l.level
		if math.IsInf(rate, 1) {
			rate = 0 // it limits no flow
		}
		l.run(rate)
		n.expire(&l.clock)
	}
	n.moved = n.moved[:0]
	for _, r := range n.rerated {
		r.rerate()
	}
	n.rerated = n.rerated[:0]
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
		if f.net.Watch != nil {
			f.net.Watch(f)
		}
		f.on.exit(&f.place)
		f.net.expire(f.on)
	}
	f.was = f.lowest
	switch f.was {
	case none:
		f.on, f.speed = &f.net.unlimited, f.cap*f.weight
	case byRoute:
		f.on, f.speed = &f.route.clock, f.weight
	default:
		f.on, f.speed = &f.Hops[f.was].Link.clock, f.weight
	}
	f.on.enter(&f.place, f.order, left/f.speed)
	f.net.expire(f.on)
}

// rounding is the fraction of a level below which a change is ignored.
const rounding = 1e-14

// ample is the fraction of the capacity that must be free for a link that is not
// full to be left alone, against rounding.
const ample = 1e-6

// shift records that the flows ask for more of the link at its present level.
func (l *Link) shift(more float64) {
	l.excess += more
	if !l.holds() {
		l.exceed(more)
	}
}

// exceed has the level computed if a change has made it unfit for the flows.
func (l *Link) exceed(more float64) {
	if more != 0 {
		l.enqueue()
		l.net.unsettle()
	}
}

// touch queues the link after a change of one of its flows. If the level still
// holds when its turn comes, nothing is computed. The link is queued all the
// same, because the order of links decides how levels are rounded. A flow with a
// route only shifts the link.
func (l *Link) touch(f *Flow) {
	if l.curved {
		l.unsolve()
	} else if f.route == nil {
		l.enqueue()
	}
}

// lazy reports whether the link learns only of limits above those it knows. It is
// not full, so its level holds if it does with limits that are too high.
func (l *Link) lazy() bool {
	return math.IsInf(l.level, 1) && l.routed == 0 && (!l.trunk || len(l.legs) == 0)
}

// ask reads the limits that the link does not know: all if it is not full, or else
// those of the flows it limits. It reports whether any of them is new.
func (l *Link) ask() (changed bool) {
	full := !math.IsInf(l.level, 1)
	for i := range l.crossings {
		x := &l.crossings[i]
		if x.alone || full && x.limit < l.level || x.flow.route != nil {
			continue
		}
		limit := x.flow.limit(x.hop)
		if limit == x.limit {
			continue
		}
		if !full {
			l.excess += float64(x.load * (limit - x.limit))
		}
		x.limit, x.flow.Hops[x.hop].limit = limit, limit
		changed = true
	}
	return changed
}

// holds reports whether the level still fits the flows.
func (l *Link) holds() bool { return l.excess >= l.least && l.excess <= l.most }

// settleAt sets how far the excess may move. Of a link that is not full the
// flows may ask for less at will, and for more up to the capacity. Half of what
// is allowed is kept for changes of routes that are not passed on.
func (l *Link) settleAt(excess, free, load float64) {
	l.excess, l.width = excess, 0
	var allowed float64
	if math.IsInf(l.level, 1) {
		allowed = -excess - float64(ample*l.capacity*l.speed)
		l.least = math.Inf(-1)
	} else {
		allowed = l.net.Slack * min(l.capacity*l.speed, 2*l.level*free)
		l.least = excess - allowed
	}
	l.most = excess + allowed
	if l.routed > 0 && load > 0 {
		l.least, l.most = l.least+allowed/2, excess+allowed/2
		l.width = max(0, allowed/2/load)
	}
}

// solve computes the level of a link and applies it to the flows on it.
func (l *Link) solve() {
	if !l.holds() && l.lazy() {
		l.ask()
	}
	if l.holds() && (math.IsInf(l.level, 1) || len(l.legs) > 0 || l.routed > 0) {
		return // the link is not full, or one flow has taken the place of another
	}
	if l.routed > 0 {
		l.hearRoutes()
	}
	old := l.level
	level, rest, free, load := l.fill()
	if level > old && l.ask() {
		level, rest, free, load = l.fill()
	}
	if level != old && math.Abs(level-old) > rounding*min(level, old) {
		l.level = level
		if !l.isMoved {
			l.isMoved = true
			l.net.moved = append(l.net.moved, l)
		}
	}
	if math.IsInf(level, 1) {
		l.settleAt(-rest, free, load)
	} else {
		l.settleAt(0, free, load)
	}
	for i := range l.legs {
		g := &l.legs[i]
		g.asks = g.demand(l.level)
	}
	if l.level == old {
		l.narrowRoutes()
		return
	}
	lower := min(old, l.level)
	for i := range l.crossings {
		switch x := &l.crossings[i]; {
		case x.alone:
		case l.routed > 0 || x.limit >= lower && x.limit <= l.level:
			x.flow.propagate(x.hop)
			x.alone = x.flow.isAlone()
		case x.limit > l.level:
			x.flow.follow(x.hop)
			x.alone = x.flow.isAlone()
		default: // another link limits the flow, before and after
		}
	}
	for i := range l.legs {
		l.legs[i].route.update()
	}
	l.narrowRoutes()
}

// hearRoutes reads the levels of the routes whose flows pass the link.
func (l *Link) hearRoutes() {
	for i := range l.crossings {
		x := &l.crossings[i]
		if r := x.flow.route; r != nil {
			h := &x.flow.Hops[x.hop]
			h.seen = r.level
			x.limit = min(h.limit, h.seen)
		}
	}
}

// narrowRoutes says to the routes which changes of their level matter to the link.
func (l *Link) narrowRoutes() {
	if l.routed == 0 {
		return
	}
	for i := range l.crossings {
		x := &l.crossings[i]
		if r := x.flow.route; r != nil {
			r.narrow(l, &x.flow.Hops[x.hop])
		}
	}
}

// fill returns the level at which the link is full, or +Inf if it never is, with
// the capacity that the flows limited elsewhere leave, and the load of the
// others and of all. Newton's method finds it in a few steps, because the
// throughput is concave in the level.
func (l *Link) fill() (level, rest, free, load float64) {
	n := l.streams + l.background
	capacity := l.capacity * l.speed * l.curve.at(n)
	level = l.level
	for last := -1.0; ; {
		rest, free, load = capacity, l.background, l.background
		below, above := 0.0, math.Inf(1) // limits next to the level
		for i := range l.crossings {
			x := &l.crossings[i]
			load += x.load
			if x.limit < level {
				rest -= float64(x.load * x.limit)
				if x.limit > below {
					below = x.limit
				}
			} else {
				free += x.load
				if x.limit < above {
					above = x.limit
				}
			}
		}
		for i := range l.legs {
			taken, open, all := l.legs[i].split(level)
			rest, free, load = rest-taken, free+open, load+all
		}
		if free == 0 && rest >= 0 {
			return math.Inf(1), rest, free, load
		}
		level = capacity / load // if no flow is limited elsewhere
		if free > 0 {
			level = max(level, rest/free)
		}
		switch {
		case !(level > last):
			return last, rest, free, load
		case below < level && level <= above && len(l.legs) == 0:
			return level, rest, free, load // the next step would be the same
		}
		last = level
	}
}

// level returns the level of the link; the trunks of a route have a level together.
func (h *Hop) level() float64 {
	if h.slot == none {
		return math.Inf(1)
	}
	return h.Link.level
}

// limit returns the lowest level of the links of a flow without a route but one,
// and its cap.
func (f *Flow) limit(hop int32) float64 {
	low := f.cap
	for i := range f.Hops {
		if level := f.Hops[i].Link.level; level < low && int32(i) != hop {
			low = level
		}
	}
	return low
}

// propagate updates the other links on a flow's path, and its route, after the
// level of the link at hop has changed.
func (f *Flow) propagate(hop int32) {
	low, second, lowest, hops := f.cap, math.Inf(1), none, f.Hops
	for i := range hops {
		switch level := hops[i].level(); {
		case level < low:
			low, second, lowest = level, low, int32(i)
		case level < second:
			second = level
		}
	}
	rises := low > f.low
	f.low = low
	for i := range hops {
		h := &hops[i]
		if int32(i) == hop || h.slot == none {
			continue
		}
		if h.Link.lazy() {
			if rises {
				h.Link.permit(f, h)
			}
			continue
		}
		limit := low
		if int32(i) == lowest {
			limit = second
		}
		if limit != h.limit {
			h.limit = limit
			h.Link.restrict(f, h)
		}
	}
	if r := f.route; r != nil {
		r.restrict(f, low)
		if low >= r.level {
			lowest = byRoute
		}
	}
	if lowest != f.lowest {
		f.lowest = lowest
		f.net.unbound = append(f.net.unbound, f)
	}
}

// follow does the same if the link at hop limits the flow now.
func (f *Flow) follow(hop int32) {
	low, hops := f.Hops[hop].Link.level, f.Hops
	rises := low > f.low
	f.low = low
	for i := range hops {
		h := &hops[i]
		switch {
		case int32(i) == hop:
		case h.Link.lazy():
			if rises {
				h.Link.permit(f, h)
			}
		case low != h.limit:
			h.limit = low
			h.Link.restrict(f, h)
		}
	}
	if f.lowest != hop {
		f.lowest = hop
		f.net.unbound = append(f.net.unbound, f)
	}
}

// permit applies a higher limit of a flow to a link that is not full.
func (l *Link) permit(f *Flow, h *Hop) {
	if f.low > h.limit {
		x := &l.crossings[h.slot]
		l.excess += float64(x.load * (f.low - x.limit))
		x.limit, h.limit = f.low, f.low
	}
	l.touch(f)
}

// restrict applies a new limit of a flow. A flow whose limit stays above the
// link's level does not affect that level.
func (l *Link) restrict(f *Flow, h *Hop) {
	limit := h.limit
	if f.route != nil {
		h.seen = f.route.level
		limit = min(limit, h.seen)
	}
	x := &l.crossings[h.slot]
	was := x.limit
	x.limit = limit
	if level := l.level; was < level || limit < level {
		l.shift(float64(x.load * (min(limit, level) - min(was, level))))
		if limit > was || level < math.Inf(1) {
			l.touch(f)
		}
	}
	if f.route != nil {
		f.route.narrow(l, h)
	}
}

// isAlone reports whether a flow has one link and no cap, and the link's clock.
// A change of the level then changes nothing but the rate of the clock.
func (f *Flow) isAlone() bool {
	return len(f.Hops) == 1 && f.lowest == 0 && math.IsInf(f.cap, 1)
}
