package yarn

import (
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
)

// register makes the node known; it heartbeats at once.
func (n *node) register() {
	n.heard = n.rm.Now()
	n.rm.sched.NodeAdded(n.book)
	n.rm.settle()
	n.heartbeat()
}

// start runs a container on the node. It reports whether the node answers.
func (n *node) start(c *Container, a *attempt) bool {
	if n.dead {
		return false
	}
	n.running = append(n.running, process{c: c, attempt: a, report: n.beats.coming().at})
	n.rm.row(c).Start, n.rm.changed = n.rm.Now(), n.rm.Now()
	lane := slices.Index(n.lanes, false)
	if lane < 0 {
		lane = len(n.lanes)
		n.lanes = append(n.lanes, false)
	}
	n.lanes[lane], c.Lane = true, int32(lane)
	return true
}

func (n *node) find(c *Container) *process {
	for i := range n.running {
		if p := &n.running[i]; p.c == c {
			return p
		}
	}
	return nil
}

// end books the end of a process, and calls for a heartbeat in this instant: its
// period begins anew from there (ContainerImpl.ContainerDoneTransition).
func (n *node) end(c *Container, exit Exit) {
	if n.dead {
		return
	}
	i := slices.IndexFunc(n.running, func(p process) bool { return p.c == c })
	if i < 0 {
		return
	}
	n.running = slices.Delete(n.running, i, i+1)
	n.lanes[c.Lane] = false
	n.gone = append(n.gone, Ended{Container: c, Exit: exit})
	n.rm.row(c).End, n.rm.changed = n.rm.Now(), n.rm.Now()
	if n.beats.coming().at == n.rm.Now() {
		n.wake() // this instant's regular heartbeat reports it
	}
	if !n.early {
		n.early = true
		n.rm.agenda.at(n.rm.Now(), n.beatNow)
	}
}

// beatEarly heartbeats out of turn. A regular heartbeat of the same instant stands: the
// node then beats twice.
func (n *node) beatEarly() {
	n.early = false
	if !n.dead {
		n.heartbeat()
	}
}

// kill stops a process; it is gone after the kill delay.
func (n *node) kill(p *process, exit Exit) {
	if p == nil || p.killed || n.dead {
		return
	}
	p.killed = true
	c := p.c
	if c.AM() {
		p.attempt.lose()
	} else {
		p.attempt.program.Killed(c)
	}
	n.rm.agenda.at(n.rm.Now()+n.rm.config.Kill, func() { n.end(c, exit) })
}

// heartbeat reports and takes orders. The answer is made before the report is read: a
// kill that follows from the report leaves with the next answer
// (ResourceTrackerService.nodeHeartbeat).
func (n *node) heartbeat() {
	orders := n.clean
	n.clean = nil
	gone := n.gone
	n.gone = nil
	for i := range n.running {
		if p := &n.running[i]; !p.known {
			p.known = true
			p.c.Launched()
		}
	}
	n.rm.ring.drop(n)
	n.beats.beat()
	for _, c := range orders {
		n.kill(n.find(c), KilledByRM)
	}
	before := n.rm.sched.Changes()
	if !n.lost {
		n.rm.sched.NodeUpdate(n.book, gone)
	}
	n.rm.settle()
	n.wakeIf(n.rm.sched.Changes() == before)
}

// wakeIf lets the node's heartbeats go on unless they would do nothing. A full node
// changes only by what ends on it. For the others the scheduler has to change, if this
// heartbeat has left it as it was.
func (n *node) wakeIf(same bool) {
	rm := n.rm
	switch {
	case rm.config.Every || len(n.clean)+len(n.gone) > 0:
		n.beats.wake()
	case n.lost || rm.sched.Full(n.book):
	case same:
		rm.ring.add(n, rm.sched.Changes())
	case !rm.sched.Waits():
		rm.ring.add(n, 0)
	default:
		n.beats.wake()
	}
	rm.ring.turn()
}

// catchUp books the report of a running container by a heartbeat that was left out.
func (n *node) catchUp(c *Container) {
	if p := n.find(c); p != nil && !p.known && p.report <= n.lastHeard() {
		p.known = true
		c.Launched()
	}
}

// wake lets the heartbeats of a live node go on.
func (n *node) wake() {
	if !n.dead {
		n.rm.ring.drop(n)
		n.beats.wake()
	}
}

// lastHeard returns the instant of the last heartbeat.
func (n *node) lastHeard() engine.Time {
	if n.dead {
		return n.heard
	}
	return n.beats.last()
}

// die silences the node: nothing on it ends any more, and it sends no heartbeat.
func (n *node) die() {
	n.heard = n.lastHeard()
	n.rm.ring.drop(n)
	n.dead = true
	n.beats.rest()
	for _, p := range n.running {
		if p.c.AM() {
			p.attempt.lose()
		} else {
			p.attempt.program.Died(p.c)
		}
	}
}
