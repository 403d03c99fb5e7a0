package station

import (
	"math"

	"github.com/slotwave/slotwave/sim/engine"
)

// clock keeps the virtual time of visitors who are served at one rate: the work
// that a visitor present since reading 0 would have received. A visitor leaves
// when the clock has advanced by its work, whatever the rate was. So a change of
// rate moves one timer and no visitor.
type clock struct {
	eng      *engine.Engine
	timer    engine.Timer // when the first visitor leaves
	at       engine.Time  // rate of the clock
	value    float64
	rate     float64 // per second
	visitors queue   // by reading at which they leave
	stale    bool    // the timer must be set
}

// read returns the present reading. An empty clock reads 0, so that a visit to
// an idle device ends at the exact nanosecond.
func (c *clock) read() float64 {
	if len(c.visitors) == 0 {
		return 0
	}
	if c.at == c.eng.Now() {
		return c.value
	}
	return c.value + float64(c.rate*(float64(c.eng.Now()-c.at)/1e9))
}

// run sets the rate from now on.
func (c *clock) run(rate float64) {
	c.value, c.at, c.rate = c.read(), c.eng.Now(), rate
}

func (c *clock) enter(p *place, order uint64, work float64) {
	c.run(c.rate)
	c.visitors.add(entry{c.value + work, order, p})
}

func (c *clock) exit(p *place) {
	c.run(c.rate)
	c.visitors.remove(p)
}

// left returns the work that a visitor still needs.
func (c *clock) left(p *place) float64 {
	return max(0, c.visitors[p.index-1].key-c.read())
}

// wait returns the time in nanoseconds until the first visitor leaves.
func (c *clock) wait() float64 {
	left := c.visitors[0].key - c.read()
	if left <= 0 {
		return 0
	}
	return math.Round(left / c.rate * 1e9)
}

// rearm sets the timer again after a change of the rate or of the first
// visitor.
func (c *clock) rearm() {
	if len(c.visitors) > 0 {
		now := c.eng.Now()
		if wait := c.wait(); wait < float64(engine.Never-now) {
			c.timer.Reset(now + engine.Time(wait))
			return
		}
	}
	c.timer.Stop()
}

// fire ends the first visit, and those that end with it.
func (c *clock) fire(int32) {
	for due := !c.stale; len(c.visitors) > 0 && (due || c.wait() == 0); due = false {
		c.visitors[0].of.due()
	}
}
