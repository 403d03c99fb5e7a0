package execute

import (
	"math/rand/v2"

	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// batches is the number of flows that fill the memory of a reduce, in a job with
// more fetches than are simulated one by one.
const batches = 32

// fetches says which outputs one flow brings to a reduce.
type fetches uint8

const (
	oneByOne    fetches = iota
	fromOne             // several of one host
	fromSeveral         // of several hosts, through the links of one of them
)

// fetchesOf returns the finest way to fetch with which a job has at most a number of
// flows. A reduce that may lose a host fetches from one host at a time.
func fetchesOf(j *Job, nodes int, nodesDie bool, flows int) fetches {
	switch reduces := j.Spec.Reduces.Count; {
	case j.maps()*reduces <= flows:
		return oneByOne
	case nodes*reduces <= flows || nodesDie:
		return fromOne
	}
	return fromSeveral
}

// mapOutputs are the outputs that a reduce knows and has not fetched
// (ReduceCopier.mapLocations).
type mapOutputs struct {
	fetches  fetches
	single   int // outputs of a host that a copier fetches one after the other
	hardware *hardware
	plans    *plans
	shuffle  *taskplan.ReduceTask
	share    float64 // bytes of the map output
	draw     rand.PCG

	// Outputs by host; only one copier at a time uses a host.
	hosts []hostOutputs // by node
	next  []int32       // by map: next map + 1 of the host; if no output can be lost, that of outputs
	ready []int32       // hosts with outputs and no copier

	seen []uint64 // maps that were listed; empty if no output can be lost
}

// hostOutputs are the outputs of a host: first and last map + 1. Without a first
// and with a last one, a copier fetches the last.
type hostOutputs struct{ head, tail int32 }

// open begins the shuffle of a reduce.
func (q *mapOutputs) open(h *hardware, a *Attempt, shuffle *taskplan.ReduceTask, share float64) {
	maps, hosts := a.Job.maps(), len(h.nodes)
	*q = mapOutputs{
		fetches: q.fetches, single: a.Job.plans.perConnection(), hardware: h, plans: a.Job.plans, shuffle: shuffle, share: share,
		draw:  h.draws.For(a.Job.ID).For(int(workload.NoLocality)).Stream(int(a.Task), int(a.Number)).Generator(),
		hosts: zeros(q.hosts, hosts), next: a.Job.outputs.next, ready: q.ready[:0], seen: q.seen[:0],
	}
	if h.nodesDie {
		q.next = make([]int32, maps)
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

func (q *mapOutputs) any() bool { return len(q.ready) > 0 }

// take assigns outputs to a copier, or reports that they are lost. A batch from several
// hosts uses the links of one, drawn by its share of the bytes, so that over all batches
// each host sends what it holds.
func (q *mapOutputs) take(c *copier) bool {
	c.host = q.anyHost()
	if q.hardware.nodesDie && q.hardware.nodes[c.host].dead {
		q.forget(c.host)
		return false
	}
	most := q.shuffle.Memory() / batches
	q.takeFrom(c.host, c, most)
	for q.fetches == fromSeveral && len(q.ready) > 0 && c.fetched.Raw < most {
		host, before := q.anyHost(), c.fetched.Raw
		q.takeFrom(host, c, most)
		if q.random()*c.fetched.Raw < c.fetched.Raw-before {
			host, c.host = c.host, host
		}
		q.release(host)
	}
	return true
}

// anyHost removes a host from those that are ready.
func (q *mapOutputs) anyHost() int32 {
	i, last := int(q.draw.Uint64()%uint64(len(q.ready))), len(q.ready)-1
	host := q.ready[i]
	q.ready[i] = q.ready[last]
	q.ready = q.ready[:last]
	return host
}

// random returns a number from 0 to 1.
func (q *mapOutputs) random() float64 { return float64(q.draw.Uint64()>>11) / (1 << 53) }

// takeFrom assigns one output of a host to a copier, or as many as are within a
// number of bytes.
func (q *mapOutputs) takeFrom(host int32, c *copier, most float64) {
	first := true
	for h := &q.hosts[host]; h.head != 0; first = false {
		m := h.head - 1
		out := q.plans.segment(m, q.share)
		if !first && (q.fetches == oneByOne || c.fetched.Raw+out.Raw > most) {
			break
		}
		c.maps = append(c.maps, m)
		c.fetched = c.fetched.Plus(out)
		q.pass(h)
	}
	for h := &q.hosts[host]; q.fetches == oneByOne && h.head != 0 && len(c.maps)+len(c.left) < q.single; {
		c.left = append(c.left, h.head-1)
		q.pass(h)
	}
}

// pass goes on to the next output of a host.
func (q *mapOutputs) pass(h *hostOutputs) {
	if h.head == h.tail {
		h.head = 0
	} else {
		h.head = q.next[h.head-1]
	}
}

// putBack lists the outputs of a connection again that it has not brought: they come
// before those of the host that were listed since.
func (q *mapOutputs) putBack(c *copier) { q.hosts[c.host].head = c.maps[0] + 1 }

// forget removes the outputs of a lost host, whose maps will run again.
func (q *mapOutputs) forget(host int32) {
	for m := q.hosts[host].head; m != 0; m = q.next[m-1] {
		q.unlist(m - 1)
	}
	q.hosts[host] = hostOutputs{}
}

func (q *mapOutputs) unlist(m int32) { q.seen[m/64] &^= 1 << (m % 64) }

// release makes a host available to the next copier.
func (q *mapOutputs) release(host int32) {
	if h := &q.hosts[host]; h.head != 0 {
		q.ready = append(q.ready, host)
	} else {
		h.tail = 0
	}
}
