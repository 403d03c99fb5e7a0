package execute

import (
	"math/rand/v2"

	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// batches is the number of fetches that fill the memory of a reduce, in a job
// with more fetches than are simulated one by one.
const batches = 16

// mapOutputs are the outputs that a reduce knows and has not fetched
// (ReduceCopier.mapLocations).
type mapOutputs struct {
	exact    bool // each fetch is a flow of its own
	hardware *hardware
	plans    *plans
	shuffle  *taskplan.ReduceTask
	share    float64 // bytes of the map output
	draw     rand.PCG

	// If exact: outputs by host; only one copier at a time uses a host.
	hosts []hostOutputs // by node
	next  []int32       // by map: next map + 1 of the host; if no output can be lost, that of outputs
	ready []int32       // hosts with outputs and no copier

	// Otherwise: outputs in the order of the events.
	listed []int32 // maps
	taken  int

	seen []uint64 // maps that were listed; empty if no output can be lost
}

// hostOutputs are the outputs of a host: first and last map + 1. Without a first
// and with a last one, a copier fetches the last.
type hostOutputs struct{ head, tail int32 }

// open begins the shuffle of a reduce.
func (q *mapOutputs) open(h *hardware, a *Attempt, shuffle *taskplan.ReduceTask, share float64) {
	maps, hosts := a.Job.maps(), len(h.nodes)
	*q = mapOutputs{
		exact: q.exact, hardware: h, plans: a.Job.plans, shuffle: shuffle, share: share,
		draw:  h.draws.For(a.Job.ID).For(int(workload.NoLocality)).Stream(int(a.Task), int(a.Number)).Generator(),
		hosts: q.hosts, ready: q.ready[:0], listed: q.listed[:0], seen: q.seen[:0],
	}
	if q.exact {
		q.hosts, q.next = zeros(q.hosts, hosts), a.Job.outputs.next
		if h.nodesDie {
			q.next = make([]int32, maps)
		}
	}
	if h.nodesDie {
		q.seen = zeros(q.seen, (maps+63)/64)
	}
}

// zeros returns a list of n zeros, in the memory of another list if it fits.
func zeros[T int32 | uint64 | hostOutputs](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// add lists the output that an event names.
func (q *mapOutputs) add(o Output) {
	if o.Node == Lost || o.Node >= 0 && q.hardware.nodes[o.Node].dead {
		return
	}
	if len(q.seen) > 0 {
		word, bit := o.Task/64, uint64(1)<<(o.Task%64)
		if q.seen[word]&bit != 0 {
			return
		}
		q.seen[word] |= bit
	}
	if o.Node == NoOutput {
		q.shuffle.Listed(taskplan.Segment{})
		return
	}
	if !q.exact {
		q.listed = append(q.listed, o.Task)
		return
	}
	if h, m := &q.hosts[o.Node], o.Task+1; h.tail == 0 {
		*h = hostOutputs{m, m}
		q.ready = append(q.ready, o.Node)
	} else {
		if h.head == 0 {
			h.head = m
		} else if len(q.seen) > 0 {
			q.next[h.tail-1] = m
		}
		h.tail = m
	}
}

func (q *mapOutputs) any() bool { return len(q.ready) > 0 || q.taken < len(q.listed) }

// take assigns outputs to a copier, or reports that they are lost.
func (q *mapOutputs) take(c *copier) bool {
	if q.exact {
		i := int(q.draw.Uint64() % uint64(len(q.ready)))
		c.host = q.ready[i]
		last := len(q.ready) - 1
		q.ready[i] = q.ready[last]
		q.ready = q.ready[:last]
		if q.hardware.nodesDie && q.hardware.nodes[c.host].dead {
			q.forget(c.host)
			return false
		}
		h := &q.hosts[c.host]
		m := h.head - 1
		if h.head == h.tail {
			h.head = 0
		} else {
			h.head = q.next[m]
		}
		c.maps = append(c.maps, m)
		c.fetched = q.plans.segment(m, q.share)
		return true
	}
	c.host = -1
	most := q.shuffle.Memory() / batches
	for q.taken < len(q.listed) {
		m := q.listed[q.taken]
		out := q.plans.segment(m, q.share)
		if len(c.maps) > 0 && c.fetched.Raw+out.Raw > most {
			break
		}
		c.maps = append(c.maps, m)
		c.fetched = c.fetched.Plus(out)
		q.taken++
	}
	if q.taken == len(q.listed) {
		q.listed, q.taken = q.listed[:0], 0
	}
	return true
}

// forget removes the outputs of a lost host, whose maps will run again.
func (q *mapOutputs) forget(host int32) {
	for m := q.hosts[host].head; m != 0; m = q.next[m-1] {
		q.unlist(m - 1)
	}
	q.hosts[host] = hostOutputs{}
}

func (q *mapOutputs) unlist(m int32) { q.seen[m/64] &^= 1 << (m % 64) }

// done makes a host available to the next copier.
func (q *mapOutputs) done(c *copier) {
	if c.host < 0 {
		return
	}
	if h := &q.hosts[c.host]; h.head != 0 {
		q.ready = append(q.ready, c.host)
	} else {
		h.tail = 0
	}
}
