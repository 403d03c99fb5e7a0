package sim

import (
	"math/rand/v2"

	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/station"
	"github.com/slotwave/slotwave/workload"
)

// outputs are what a job's maps have left on the nodes.
type outputs struct {
	log       []output     // by event
	listeners []*reduceRun // that have read all of them

	count                int32
	at, inRack           []int32 // by node and by rack
	fullest, fullestRack int32   // those with most of them
}

// output is what a completion event tells of: where the output of a map lies, or
// that there is none.
type output struct {
	task int32
	node int32 // or noOutput, or lost
}

const (
	noOutput int32 = -1 // to be fetched: the map was given up
	lost     int32 = -2 // or the event tells of none
)

// publish adds a completion event, by which that many more maps are known.
func (j *job) publish(t *task, maps int32, node int32) {
	j.events.add(j.jt.eng.Now(), maps)
	p := j.jt.plant
	if p == nil {
		return
	}
	o := &j.outputs
	o.log = append(o.log, output{t.index, node})
	if node >= 0 {
		if o.at == nil {
			o.at, o.inRack = make([]int32, len(p.nodes)), make([]int32, len(j.jt.rackNodes))
		}
		o.count++
		o.at[node]++
		if o.at[node] > o.at[o.fullest] {
			o.fullest = node
		}
		rack := j.jt.trackers[node].rack
		if o.inRack[rack]++; o.inRack[rack] > o.inRack[o.fullestRack] {
			o.fullestRack = rack
		}
	}
	for _, r := range o.listeners {
		r.hear()
	}
	o.listeners = o.listeners[:0]
}

// exactFetches is how many fetches a job may have for each of them to be a flow
// of its own. In larger jobs a copier fetches several outputs at a time, from
// wherever they lie.
const exactFetches = 100_000

// batches is how many fetches fill the memory of a reduce of a larger job.
const batches = 16

// fetchQueue is the outputs that a reduce knows of and has not fetched.
type fetchQueue struct {
	exact bool
	draw  rand.PCG

	// Exact: by host, of which at most one copier fetches at a time.
	head, tail []int32 // by node: map + 1
	next       []int32 // by map: map + 1
	ready      []int32 // hosts that have outputs and no copier

	// Else: in the order of the events.
	known []int32 // maps
	taken int

	seen []uint64 // maps that were entered; only where outputs may be lost
}

func (q *fetchQueue) open(r *reduceRun) {
	j := r.a.job
	maps := j.Tasks[workload.Map]
	*q = fetchQueue{
		exact: maps*j.Tasks[workload.Reduce] <= r.p.exact,
		draw:  r.p.draws.For(j.ID).For(int(workload.NoLocality)).Stream(int(r.a.task.index), int(r.a.number)).Generator(),
		head:  q.head, tail: q.tail, next: q.next, ready: q.ready[:0], known: q.known[:0], seen: q.seen[:0],
	}
	if q.exact {
		q.head, q.tail, q.next = zeros(q.head, len(r.p.nodes)), zeros(q.tail, len(r.p.nodes)), zeros(q.next, maps)
	}
	if r.p.jt.mortal {
		q.seen = zeros(q.seen, (maps+63)/64)
	}
}

// zeros is a list of so many zeros, in the place of another one if it fits.
func zeros[T int32 | uint64](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// add enters what an event tells of.
func (q *fetchQueue) add(r *reduceRun, o output) {
	if o.node == lost || o.node >= 0 && r.p.nodes[o.node].dead {
		return
	}
	if len(q.seen) > 0 {
		word, bit := o.task/64, uint64(1)<<(o.task%64)
		if q.seen[word]&bit != 0 {
			return
		}
		q.seen[word] |= bit
	}
	if o.node == noOutput {
		r.task.Listed(taskplan.Segment{})
		return
	}
	if !q.exact {
		q.known = append(q.known, o.task)
		return
	}
	if m := o.task + 1; q.tail[o.node] == 0 {
		q.head[o.node], q.tail[o.node] = m, m
		q.ready = append(q.ready, o.node)
	} else {
		if q.head[o.node] == 0 { // its copier is at work on the last one
			q.head[o.node] = m
		} else {
			q.next[q.tail[o.node]-1] = m
		}
		q.tail[o.node] = m
	}
}

func (q *fetchQueue) any() bool { return len(q.ready) > 0 || q.taken < len(q.known) }

// take gives a fetch its outputs; false: they are lost.
func (q *fetchQueue) take(r *reduceRun, f *fetch) bool {
	recipes := r.a.job.recipes
	if q.exact {
		i := int(q.draw.Uint64() % uint64(len(q.ready)))
		f.host = q.ready[i]
		last := len(q.ready) - 1
		q.ready[i] = q.ready[last]
		q.ready = q.ready[:last]
		if r.p.nodes[f.host].dead {
			q.forget(f.host)
			return false
		}
		m := q.head[f.host] - 1
		q.head[f.host] = q.next[m]
		f.maps = append(f.maps, m)
		f.outputs = recipes.segment(m, r.share)
		return true
	}
	f.host = -1
	most := r.task.Memory() / batches
	for q.taken < len(q.known) {
		m := q.known[q.taken]
		out := recipes.segment(m, r.share)
		if len(f.maps) > 0 && f.outputs.Raw+out.Raw > most {
			break
		}
		f.maps = append(f.maps, m)
		f.outputs = f.outputs.Plus(out)
		q.taken++
	}
	if q.taken == len(q.known) {
		q.known, q.taken = q.known[:0], 0
	}
	return true
}

// forget drops what a lost host has: it will be made again elsewhere.
func (q *fetchQueue) forget(host int32) {
	for m := q.head[host]; m != 0; m = q.next[m-1] {
		q.unsee(m - 1)
	}
	q.head[host], q.tail[host] = 0, 0
}

func (q *fetchQueue) unsee(m int32) { q.seen[m/64] &^= 1 << (m % 64) }

// done gives a host free for the next copier.
func (q *fetchQueue) done(f *fetch) {
	if f.host < 0 {
		return
	}
	if q.head[f.host] != 0 {
		q.ready = append(q.ready, f.host)
	} else {
		q.tail[f.host] = 0
	}
}

// fetch is a copier at work.
type fetch struct {
	thread
	r       *reduceRun
	host    int32 // -1: several
	maps    []int32
	outputs taskplan.Segment
	steps   taskplan.Steps
	step    int
}

func (p *plant) newFetch(r *reduceRun) *fetch {
	var f *fetch
	if last := len(p.fetches) - 1; last >= 0 {
		f, p.fetches = p.fetches[last], p.fetches[:last]
	} else {
		f = &fetch{}
		f.init(f, p)
	}
	f.r, f.node, f.files = r, r.a.tracker, &r.files
	f.maps, f.outputs, f.steps, f.step = f.maps[:0], taskplan.Segment{}, f.steps[:0], 0
	return f
}

// begin copies.
func (f *fetch) begin() {
	f.steps = f.r.task.Fetch(f.steps, f.outputs)
	f.done(&f.thread)
}

// done is stepper.
func (f *fetch) done(*thread) {
	if f.step == len(f.steps) {
		f.r.arrived(f)
		return
	}
	f.step++
	f.serve(f.steps[f.step-1 : f.step])
}

// turned is stepper.
func (f *fetch) turned(*thread) {}

// move is stepper.
func (f *fetch) move(t *thread, s *taskplan.Step) {
	if s.Resource != taskplan.Network {
		t.local(s)
		return
	}
	nic := f.p.nodes[f.node].nic
	f.flow.Hops = f.path(f.flow.Hops[:0], nic)
	f.p.net.Start(&f.flow, s.Work/nic)
}

// path is the way of the bytes. Those from many hosts are taken to come from the
// hosts and racks as all outputs of the job so far lie there; the fullest of each
// stands for all senders.
func (f *fetch) path(path []station.Hop, nic float64) []station.Hop {
	if f.host >= 0 {
		return f.p.transfer(path, f.host, f.node, nic)
	}
	o := &f.r.a.job.outputs
	all := float64(o.count)
	path = station.Through(path, f.p.nodes[f.node].down, nic*(1-float64(o.at[f.node])/all))
	if o.fullest != f.node {
		path = station.Through(path, f.p.nodes[o.fullest].up, nic*float64(o.at[o.fullest])/all)
	}
	if racks, here := f.p.racks, f.p.jt.trackers[f.node].rack; racks != nil {
		if o.fullestRack != here {
			path = station.Through(path, racks[o.fullestRack].up, nic*float64(o.inRack[o.fullestRack])/all)
		}
		path = station.Through(path, racks[here].down, nic*(1-float64(o.inRack[here])/all))
	}
	return path
}
