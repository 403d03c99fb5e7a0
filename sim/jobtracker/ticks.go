package jobtracker

import (
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
)

// periodic is the timer of a periodic thread. A thread that runs less often
// than heartbeats comes before the heartbeats of an instant, one that runs more
// often comes after them: of two periodic events, the one with the longer
// period was scheduled first.
type periodic struct {
	cluster     *cluster
	every       engine.Time
	early, late engine.Timer
}

func newPeriodic(c *cluster, every engine.Time, fire func(int32)) periodic {
	return periodic{
		cluster: c,
		every:   every,
		early:   c.Engine.NewTimer(engine.BeforeHeartbeat, 0, fire),
		late:    c.Engine.NewTimer(engine.AfterHeartbeat, 0, fire),
	}
}

func (p *periodic) slow() bool { return p.every > p.cluster.heartbeatInterval() }

func (p *periodic) set(at engine.Time) {
	if p.slow() {
		p.late.Stop()
		p.early.Reset(at)
	} else {
		p.early.Stop()
		p.late.Reset(at)
	}
}

func (p *periodic) position() position {
	if p.slow() {
		return beforeHeartbeats
	}
	return afterHeartbeats
}

// ticks are the ticks of a scheduler with periodic work. A tick at which
// nothing has changed is not simulated if the scheduler allows it.
type ticks struct {
	timer     periodic // every is 0: the scheduler has no ticks
	last      engine.Time
	skippable bool
	changed   bool          // since the last tick
	needed    []engine.Time // other ticks to simulate: when jobs become old enough to speculate
}

// open sets the first tick of a scheduler. It calls fire at each.
func (k *ticks) open(c *cluster, fire func(int32)) {
	if p := &c.policy; p.Interval > 0 && c.protocol.heartbeats {
		k.skippable = p.Skips && !c.Question.Cluster.EveryHeartbeat
		k.timer = newPeriodic(c, engine.At(p.Interval), fire)
		k.set()
	}
}

// restart sets the first tick of another scheduler, which replaces the one before.
func (k *ticks) restart(c *cluster, active []*jobInProgress, fire func(int32)) {
	k.stop()
	for _, j := range active {
		if s := &j.speculation; j.Initialised && s.tracked != [2]bool{} && s.from > c.Now() {
			k.needed = append(k.needed, s.from)
		}
	}
	slices.Sort(k.needed)
	k.open(c, fire)
	k.change()
}

// stop ends the ticks.
func (k *ticks) stop() {
	if k.timer.every > 0 {
		k.timer.early.Stop()
		k.timer.late.Stop()
	}
	*k = ticks{}
}

// change makes sure that the next tick is simulated.
func (k *ticks) change() {
	if k.timer.every > 0 && !k.changed {
		k.changed = true
		k.set()
	}
}

// need makes sure that the first tick after an instant is simulated.
func (k *ticks) need(at engine.Time) {
	if k.timer.every > 0 {
		k.needed = append(k.needed, at)
		k.set()
	}
}

// set sets the next simulated tick.
func (k *ticks) set() {
	at := engine.Never
	if k.changed || !k.skippable {
		at = k.from(k.timer.cluster.Now())
	}
	if len(k.needed) > 0 {
		at = min(at, k.from(k.needed[0]))
	}
	if at < engine.Never {
		k.timer.set(at)
	}
}

// from returns the first tick still to happen at or after an instant.
func (k *ticks) from(at engine.Time) engine.Time {
	every, c := k.timer.every, k.timer.cluster
	tick := at / every * every
	over := tick == k.last || k.timer.slow() && at == c.Now() && c.position > beforeHeartbeats
	if tick < at || over {
		tick += every
	}
	return tick
}

// fire calls the scheduler's periodic work.
func (k *ticks) fire() {
	c := k.timer.cluster
	k.last, k.changed = c.Now(), false
	for len(k.needed) > 0 && k.needed[0] <= k.last {
		k.needed = k.needed[1:]
	}
	if c.policy.Tick(&c.view) {
		k.changed = true
	}
	k.set()
}

// lastTick returns the last tick before the present position, simulated or not.
// When heartbeats come, less frequent ticks at this instant are over.
func (k *ticks) lastTick() engine.Time {
	c, every := k.timer.cluster, k.timer.every
	past := c.Now() - 1
	if c.position > beforeHeartbeats && k.timer.slow() {
		past = c.Now()
	}
	return past / every * every
}
