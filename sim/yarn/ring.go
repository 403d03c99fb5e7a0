package yarn

import "slices"

func (r *ring) part(n *node) int {
	h := n.rm.config.Heartbeat
	return int(n.beats.next.at % h * ringParts / h)
}

// add takes a node that rests; changes is what the scheduler stood at in its heartbeat.
func (r *ring) add(n *node, changes uint64) {
	n.seen = changes
	if n.ringed {
		return
	}
	n.ringed = true
	p := &r.parts[r.part(n)]
	*p = append(*p, n)
	r.size++
}

// drop takes a node out, before its next heartbeat moves.
func (r *ring) drop(n *node) {
	if r.next == n {
		r.next = nil
	}
	if !n.ringed {
		return
	}
	n.ringed = false
	p := &r.parts[r.part(n)]
	i := slices.Index(*p, n)
	(*p)[i] = (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	r.size--
}

// turn wakes the next node that has not seen what the scheduler has to give.
func (r *ring) turn() {
	changes := r.rm.sched.Changes()
	if r.next != nil || r.size == 0 || changes == r.seen || !r.rm.sched.Waits() {
		return
	}
	h, now := r.rm.config.Heartbeat, r.rm.Now()
	first := int(now % h * ringParts / h)
	for i := range ringParts + 1 {
		var best *node
		var at turn
		for _, n := range r.parts[(first+i)%ringParts] {
			if n.seen == changes {
				continue
			}
			t := n.beats.coming()
			if i == 0 && t.at > now+h/2 {
				continue // it is the last of the round
			}
			if best == nil || t.at < at.at || t.at == at.at && t.before(&at, h) {
				best, at = n, t
			}
		}
		if best != nil {
			r.drop(best)
			r.next = best
			best.beats.wake()
			return
		}
	}
	r.seen = changes
}
