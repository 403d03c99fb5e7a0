package yarn

import (
	"cmp"
	"math"
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
)

// agenda runs calls at instants. Of the calls for one instant the one that was set
// first runs first.
//
// Heartbeats that would do nothing are left out, and yet each call keeps its turn: the
// order follows from what set a call (turn), not from a count of calls.
type agenda struct {
	e      *engine.Engine
	period engine.Time // of the heartbeats that may be left out
	set    uint64      // calls set so far
	ran    uint64      // calls run so far
	slots  []slot
	free   []int32

	after    func() bool  // runs after each call and reports whether to go on
	running  bool         // a call is under way
	current  turn         // its turn
	followed bool         // it has set a call one period ahead
	tied     []int32      // calls of this instant, a heap with the first one in front
	dealing  bool         // they are being run
	untie    engine.Timer // runs them when all of them are known
}

type slot struct {
	timer engine.Timer
	do    func()
	turn  turn
	use   uint32 // times that the slot was freed
}

// turn orders the calls of one instant. A call that was set one period ahead inherits
// the origin of the call that set it, so that a series of heartbeats has one origin
// however many of them are left out.
type turn struct {
	at     engine.Time
	origin engine.Time // instant of the first call of the series: at, of most calls
	ahead  engine.Time // how long before it that one was set
	rank   uint64      // of the first call among those of its instant, as they ran or, before, as they were set
	forks  []fork      // none, where each call of the series was the first that its own set a period ahead
}

// fork begins another series of the same origin: a call of the series set one period
// ahead after its own next one, which keeps its turn whatever is left out.
type fork struct {
	at  engine.Time
	set uint64 // calls set before this one
}

// compare orders series that forked from one: in the instant of the later fork its call
// runs before that of the earlier one, which forked from it already.
func (f fork) compare(h fork) int {
	return cmp.Or(cmp.Compare(h.at, f.at), cmp.Compare(f.set, h.set))
}

// before reports whether a call runs before another one of the same instant. Where one
// series is older, its call was set a period ahead of the origin of the other.
func (t *turn) before(u *turn, period engine.Time) bool {
	switch {
	case t.origin < u.origin:
		return u.ahead < period
	case t.origin > u.origin:
		return t.ahead >= period
	case t.rank != u.rank:
		return t.rank < u.rank
	}
	return slices.CompareFunc(t.forks, u.forks, fork.compare) < 0
}

func newAgenda(e *engine.Engine, period engine.Time, after func() bool) *agenda {
	g := &agenda{e: e, period: period, after: after}
	g.untie = e.NewTimer(engine.Heartbeat, 0, func(int32) { g.deal() }).Ranked(math.MaxUint32)
	return g
}

// call is a call that was set; it is void once it has run or was stopped.
type call struct {
	g    *agenda
	slot int32
	use  uint32
}

// at sets a call.
func (g *agenda) at(when engine.Time, do func()) call {
	return g.in(g.turn(when), do)
}

// turn returns the turn of a call that is set now.
func (g *agenda) turn(when engine.Time) turn {
	g.set++
	t := turn{at: when, origin: when, ahead: when - g.e.Now(), rank: g.set}
	if g.running && t.ahead == g.period {
		t.origin, t.ahead, t.rank, t.forks = g.current.origin, g.current.ahead, g.current.rank, g.current.forks
		if g.followed {
			t.forks = append(slices.Clip(t.forks), fork{g.e.Now(), g.set})
		}
		g.followed = true
	}
	return t
}

// in sets a call in a turn.
func (g *agenda) in(t turn, do func()) call {
	if len(g.free) == 0 {
		g.free = append(g.free, int32(len(g.slots)))
		g.slots = append(g.slots, slot{timer: g.e.NewTimer(engine.Heartbeat, int32(len(g.slots)), g.fire)})
	}
	i := g.free[len(g.free)-1]
	g.free = g.free[:len(g.free)-1]
	s := &g.slots[i]
	s.do, s.turn = do, t
	if t.at == g.e.Now() {
		g.tie(i)
	} else {
		s.timer.Reset(t.at)
	}
	return call{g, i, s.use}
}

// fire runs a call, unless something else is due in this instant: then it waits until
// all calls of the instant are known.
func (g *agenda) fire(i int32) {
	if len(g.tied) == 0 && !g.e.Due() {
		g.tied = append(g.tied, i)
		g.deal()
		return
	}
	g.tie(i)
}

// tie adds a call to those of this instant.
func (g *agenda) tie(i int32) {
	g.tied = append(g.tied, i)
	g.up(len(g.tied) - 1)
	if len(g.tied) == 1 && !g.dealing {
		g.untie.Reset(g.e.Now())
	}
}

// deal runs the calls of this instant in their order, until something else is due in it.
func (g *agenda) deal() {
	g.dealing = true
	for goes := true; goes && len(g.tied) > 0; {
		i := g.tied[0]
		g.untied(0)
		goes = g.run(i) && !g.e.Due()
	}
	g.dealing = false
	if len(g.tied) > 0 {
		g.untie.Reset(g.e.Now())
	}
}

// untied takes a call out of those of this instant.
func (g *agenda) untied(k int) {
	last := len(g.tied) - 1
	g.tied[k] = g.tied[last]
	g.tied = g.tied[:last]
	if k < last {
		g.down(k)
		g.up(k)
	}
}

func (g *agenda) less(a, b int) bool {
	return g.slots[g.tied[a]].turn.before(&g.slots[g.tied[b]].turn, g.period)
}

func (g *agenda) up(k int) {
	for up := (k - 1) / 2; k > 0 && g.less(k, up); k, up = up, (up-1)/2 {
		g.tied[k], g.tied[up] = g.tied[up], g.tied[k]
	}
}

func (g *agenda) down(k int) {
	for {
		first := k
		for below := 2*k + 1; below <= 2*k+2 && below < len(g.tied); below++ {
			if g.less(below, first) {
				first = below
			}
		}
		if first == k {
			return
		}
		g.tied[k], g.tied[first] = g.tied[first], g.tied[k]
		k = first
	}
}

func (g *agenda) run(i int32) (goes bool) {
	do := g.slots[i].do
	g.current = g.slots[i].turn
	g.release(i)
	g.ran++
	if t := &g.current; t.origin == t.at {
		t.rank = g.ran
	}
	g.running, g.followed = true, false
	do()
	goes = g.after()
	g.running = false
	return goes
}

func (g *agenda) release(i int32) {
	s := &g.slots[i]
	s.do = nil
	s.use++
	g.free = append(g.free, i)
}

// Stop withdraws a call that has not run.
func (c call) Stop() {
	if c.g == nil || c.g.slots[c.slot].use != c.use {
		return
	}
	g := c.g
	g.slots[c.slot].timer.Stop()
	if k := slices.Index(g.tied, c.slot); k >= 0 {
		g.untied(k)
	}
	g.release(c.slot)
}

// series are heartbeats one interval apart. One that rests leaves them out until it
// is woken; its turn stays that of a series that goes on.
type series struct {
	g        *agenda
	interval engine.Time
	do       func()
	next     turn // of the next heartbeat, or of one that was left out
	call     call
	resting  bool
}

// beat makes this instant the last heartbeat; the next one is due an interval later. The
// series rests until it is woken.
func (s *series) beat() {
	s.rest()
	s.next = s.g.turn(s.g.e.Now() + s.interval)
}

// rest leaves heartbeats out from now on.
func (s *series) rest() {
	s.call.Stop()
	s.resting = true
}

// wake lets heartbeats go on, from the next one.
func (s *series) wake() {
	if s.resting {
		s.next = s.coming()
		s.resting = false
		s.call = s.g.in(s.next, s.do)
	}
}

// coming returns the turn of the next heartbeat, which a resting series leaves out.
func (s *series) coming() turn {
	t := s.next
	if !s.resting {
		return t
	}
	now := s.g.e.Now()
	if late := now - t.at; late > 0 {
		t.at += (late + s.interval - 1) / s.interval * s.interval
	}
	if t.at == now && s.g.running && !s.g.current.before(&t, s.g.period) {
		t.at += s.interval
	}
	return t
}

// last returns the instant of the last heartbeat, left out or not.
func (s *series) last() engine.Time { return s.coming().at - s.interval }
