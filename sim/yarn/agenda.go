package yarn

import "github.com/slotwave/slotwave/sim/engine"

// agenda runs calls at instants. Of the calls for one instant the one that was set
// first runs first.
type agenda struct {
	e     *engine.Engine
	set   uint32 // calls set so far: the rank of the next
	slots []slot
	free  []int32
}

type slot struct {
	timer engine.Timer
	do    func()
	use   uint32 // times that the slot was freed
}

// call is a call that was set; it is void once it has run or was stopped.
type call struct {
	g    *agenda
	slot int32
	use  uint32
}

// at sets a call.
func (g *agenda) at(when engine.Time, do func()) call {
	if len(g.free) == 0 {
		g.free = append(g.free, int32(len(g.slots)))
		g.slots = append(g.slots, slot{timer: g.e.NewTimer(engine.Heartbeat, int32(len(g.slots)), g.fire)})
	}
	i := g.free[len(g.free)-1]
	g.free = g.free[:len(g.free)-1]
	s := &g.slots[i]
	s.do = do
	g.set++
	s.timer.Ranked(g.set).Reset(when)
	return call{g, i, s.use}
}

func (g *agenda) fire(i int32) {
	do := g.slots[i].do
	g.release(i)
	do()
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
	c.g.slots[c.slot].timer.Stop()
	c.g.release(c.slot)
}
