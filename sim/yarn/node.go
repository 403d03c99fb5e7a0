package yarn

import "slices"

// register makes the node known; it heartbeats at once.
func (n *node) register() {
	n.rm.sched.NodeAdded(n.book)
	n.rm.settle()
	n.heartbeat()
}

// start runs a container on the node. It reports whether the node answers.
func (n *node) start(c *Container, a *attempt) bool {
	if n.dead {
		return false
	}
	n.running = append(n.running, &process{c: c, attempt: a})
	n.rm.rows[c.Row].Start, n.rm.changed = n.rm.Now(), n.rm.Now()
	lane := slices.Index(n.lanes, false)
	if lane < 0 {
		lane = len(n.lanes)
		n.lanes = append(n.lanes, false)
	}
	n.lanes[lane], c.Lane = true, int32(lane)
	return true
}

func (n *node) find(c *Container) *process {
	for _, p := range n.running {
		if p.c == c {
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
	i := slices.IndexFunc(n.running, func(p *process) bool { return p.c == c })
	if i < 0 {
		return
	}
	n.running = slices.Delete(n.running, i, i+1)
	n.lanes[c.Lane] = false
	n.gone = append(n.gone, Ended{Container: c, Exit: exit})
	n.rm.rows[c.Row].End, n.rm.changed = n.rm.Now(), n.rm.Now()
	if !n.early {
		n.early = true
		n.rm.agenda.at(n.rm.Now(), n.beatEarly)
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
	if p.c.AM() {
		p.attempt.lose()
	} else {
		p.attempt.program.Killed(p.c)
	}
	n.rm.agenda.at(n.rm.Now()+n.rm.config.Kill, func() { n.end(p.c, exit) })
}

// heartbeat reports and takes orders. The answer is made before the report is read: a
// kill that follows from the report leaves with the next answer
// (ResourceTrackerService.nodeHeartbeat).
func (n *node) heartbeat() {
	n.beat.Stop()
	orders := n.clean
	n.clean = nil
	gone := n.gone
	n.gone = nil
	n.launched = n.launched[:0]
	for _, p := range n.running {
		if !p.reported {
			p.reported = true
			n.launched = append(n.launched, p.c)
		}
	}
	n.heard = n.rm.Now()
	n.beat = n.rm.agenda.at(n.rm.Now()+n.rm.config.Heartbeat, n.heartbeat)
	for _, c := range orders {
		n.kill(n.find(c), KilledByRM)
	}
	if !n.lost {
		n.rm.sched.NodeUpdate(n.book, n.launched, gone)
	}
	n.rm.settle()
}

// die silences the node: nothing on it ends any more, and it sends no heartbeat.
func (n *node) die() {
	n.dead = true
	n.beat.Stop()
	for _, p := range n.running {
		if p.c.AM() {
			p.attempt.lose()
		} else {
			p.attempt.program.Died(p.c)
		}
	}
	n.rm.settle()
}
