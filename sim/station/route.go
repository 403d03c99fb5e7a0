package station

import (
	"math"

	"github.com/slotwave/slotwave/sim/engine"
)

func (n *Network) routeOver(key trunks, count int) *route {
	r := n.routes[key]
	if r != nil {
		return r
	}
	r = &route{clock: clock{eng: n.eng}, net: n, trunks: append([]*Link(nil), key[:count]...), legs: make([]int32, count)}
	r.timer = n.eng.NewTimer(engine.Completion, 0, r.fire)
	n.routes[key] = r
	return r
}

// attach makes the trunks know the route, before its first flow.
func (r *route) attach() {
	for k, t := range r.trunks {
		if t.lazy() {
			t.ask()
		}
		r.legs[k] = int32(len(t.legs))
		t.legs = append(t.legs, leg{route: r, at: int32(k), limit: math.NaN()})
	}
	r.level = math.NaN()
	r.low, r.high = math.Inf(-1), math.Inf(1)
	r.update()
}

// detach makes the trunks forget the route, after its last flow.
func (r *route) detach() {
	for k, t := range r.trunks {
		last := len(t.legs) - 1
		moved := t.legs[last]
		t.legs[r.legs[k]] = moved
		moved.route.legs[moved.at] = r.legs[k]
		t.legs[last] = leg{}
		t.legs = t.legs[:last]
	}
	r.bound, r.changes = 0, 0
}

func (r *route) leg(k int) *leg { return &r.trunks[k].legs[r.legs[k]] }

// join adds a flow, which is counted when its limit is known.
func (r *route) join(f *Flow) {
	if len(r.members) == 0 {
		r.attach()
	}
	f.member = int32(len(r.members))
	r.members = append(r.members, member{flow: f})
	for _, t := range r.trunks {
		for i := range f.Hops {
			if h := &f.Hops[i]; h.Link == t {
				r.loads = append(r.loads, h.Cost*f.weight)
			}
		}
	}
}

// leave removes a flow.
func (r *route) leave(f *Flow) {
	r.count(f.member, -1)
	at := f.member
	if int(at) < r.bound {
		r.bound--
		r.swap(at, int32(r.bound))
		at = int32(r.bound)
	}
	last := len(r.members) - 1
	r.swap(at, int32(last))
	r.members[last] = member{}
	r.members = r.members[:last]
	r.loads = r.loads[:last*len(r.trunks)]
	f.route = nil
	if last == 0 {
		r.detach()
		return
	}
	r.tally()
}

func (r *route) swap(i, k int32) {
	if i == k {
		return
	}
	r.members[i], r.members[k] = r.members[k], r.members[i]
	r.members[i].flow.member, r.members[k].flow.member = i, k
	n := int32(len(r.trunks))
	for j := range n {
		r.loads[i*n+j], r.loads[k*n+j] = r.loads[k*n+j], r.loads[i*n+j]
	}
}

// count adds a member to the sums of the legs, or subtracts it.
func (r *route) count(i int32, sign float64) {
	limit := r.members[i].limit
	for k, t := range r.trunks {
		g, load := r.leg(k), float64(sign*r.loads[int(i)*len(r.trunks)+k])
		var asks float64
		if int(i) < r.bound {
			g.boundLoad += load
			g.bound += float64(load * limit)
			g.boundMost = max(g.boundMost, limit)
			asks = float64(load * min(limit, t.level))
		} else {
			g.free += load
			asks = float64(load * min(g.limit, t.level))
		}
		g.asks += asks
		t.shift(asks)
	}
	r.changes++
}

// tally removes the rounding of past sums from the legs.
func (r *route) tally() {
	again := r.changes > len(r.members)+16
	if again {
		r.changes = 0
	}
	n := len(r.trunks)
	for k := range r.trunks {
		g := r.leg(k)
		if again || r.bound == 0 {
			g.bound, g.boundLoad, g.boundMost = 0, 0, 0
		}
		if again || r.bound == len(r.members) {
			g.free = 0
		}
		if !again {
			continue
		}
		for i := range r.members {
			load, limit := r.loads[i*n+k], r.members[i].limit
			if i < r.bound {
				g.boundLoad += load
				g.bound += float64(load * limit)
				g.boundMost = max(g.boundMost, limit)
			} else {
				g.free += load
			}
		}
	}
}

// restrict changes the limit of a flow by links that are not trunks.
func (r *route) restrict(f *Flow, limit float64) {
	m := &r.members[f.member]
	was, bound := int(f.member) < r.bound, limit < r.level
	switch {
	case m.counted && was == bound && (!bound || m.limit == limit):
		m.limit = limit
	default:
		if m.counted {
			r.count(f.member, -1)
		}
		m.limit, m.counted = limit, true
		if was && !bound {
			r.bound--
			r.swap(f.member, int32(r.bound))
		} else if bound && !was {
			r.swap(f.member, int32(r.bound))
			r.bound++
		}
		r.count(f.member, 1)
		r.tally()
	}
	if bound {
		r.low = max(r.low, limit)
	} else {
		r.high = min(r.high, limit)
	}
}

// demand returns what the flows take of a trunk at a level.
func (g *leg) demand(level float64) float64 {
	taken, open, _ := g.split(level)
	if open > 0 {
		taken += float64(open * level)
	}
	return taken
}

// split returns what those flows take of a trunk that are limited elsewhere to
// less than a level, the load of the others, and of all.
func (g *leg) split(level float64) (taken, open, all float64) {
	if g.free > 0 {
		if g.limit < level {
			taken = float64(g.free * g.limit)
		} else {
			open = g.free
		}
	}
	r := g.route
	switch {
	case r.bound == 0:
		return taken, open, g.free
	case g.boundMost < level:
		return taken + g.bound, open, g.free + g.boundLoad
	}
	n := len(r.trunks)
	g.boundMost = 0
	for i := range r.bound {
		load, limit := r.loads[i*n+int(g.at)], r.members[i].limit
		g.boundMost = max(g.boundMost, limit)
		if limit < level {
			taken += float64(load * limit)
		} else {
			open += load
		}
	}
	return taken, open, g.free + g.boundLoad
}

// update computes the level after that of a trunk has changed, and informs the
// other trunks.
func (r *route) update() {
	low, second, lowest := math.Inf(1), math.Inf(1), -1
	for k, t := range r.trunks {
		switch {
		case t.level < low:
			low, second, lowest = t.level, low, k
		case t.level < second:
			second = t.level
		}
	}
	for k, t := range r.trunks {
		limit := low
		if k == lowest {
			limit = second
		}
		g := r.leg(k)
		if limit == g.limit {
			continue
		}
		g.limit = limit
		if g.free > 0 {
			was := g.asks
			g.asks = g.demand(t.level)
			t.shift(g.asks - was)
		}
	}
	if low == r.level {
		return
	}
	r.level = low
	if !r.rerated {
		r.rerated = true
		r.net.rerated = append(r.net.rerated, r)
	}
	if low < r.low || low > r.high {
		r.inform()
	}
}

// inform passes the level on to the flows and their other links.
func (r *route) inform() {
	r.low, r.high = math.Inf(-1), math.Inf(1)
	for i := 0; i < len(r.members); {
		f, limit := r.members[i].flow, r.members[i].limit
		if (limit < r.level) != (i < r.bound) {
			f.propagate(none)
		} else if i < r.bound {
			r.low = max(r.low, limit)
		} else {
			r.high = min(r.high, limit)
		}
		for k := range f.Hops {
			if h := &f.Hops[k]; h.slot != none {
				h.Link.readLevel(f, h)
			}
		}
		if i < len(r.members) && r.members[i].flow == f {
			i++ // else another member has come here
		}
	}
}

// readLevel reads the level of the route of a flow.
func (l *Link) readLevel(f *Flow, h *Hop) {
	x := &l.crossings[h.slot]
	h.seen = f.route.level
	was := x.limit
	x.limit = min(h.limit, h.seen)
	if min(was, x.limit) < l.level {
		l.shift(float64(x.load * (min(x.limit, l.level) - min(was, l.level))))
	}
	f.route.narrow(l, h)
}

// narrow keeps between low and high only levels that a link need not know of.
func (r *route) narrow(l *Link, h *Hop) {
	switch {
	case h.limit < h.seen:
		r.low = max(r.low, h.limit)
	case h.seen >= l.level:
		r.low = max(r.low, l.level)
	default:
		r.high = min(r.high, h.seen+l.width)
		if !math.IsInf(l.level, 1) {
			r.low = max(r.low, h.seen-l.width)
		}
	}
}

// rerate gives the level to the clock.
func (r *route) rerate() {
	r.rerated = false
	rate := r.level
	if math.IsInf(rate, 1) {
		rate = 0 // it limits no flow
	}
	r.run(rate)
	r.net.expire(&r.clock)
}
