package diagnose

import (
	"cmp"
	"container/heap"
	"slices"
	"sort"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// freeSlots knows since when a slot of a kind has been free on some node.
type freeSlots struct {
	at    []time.Duration // beginning of each step
	since []freeSlot      // of the slot that has been free the longest in it
}

// freeSlot is a node with a free slot, and the time since when it has one.
type freeSlot struct {
	node  int32 // -1: no slot is free
	since time.Duration
}

// before returns the slot that was free for the longest time before t.
func (f *freeSlots) before(t time.Duration) freeSlot {
	i := sort.Search(len(f.at), func(i int) bool { return f.at[i] >= t }) - 1
	if i < 0 {
		return freeSlot{node: -1}
	}
	return f.since[i]
}

// period is a time in which a node has a free slot.
type period struct {
	node        int32
	from, until time.Duration
}

// newFreeSlots finds the free slots of a kind. Nodes that die or fail have none.
func (b *books) newFreeSlots(c *model.Cluster, kind workload.Kind) freeSlots {
	events := make([]startsAndEnds, len(c.Nodes))
	index := map[string]int{}
	for i := range c.Nodes {
		index[c.Nodes[i].Name] = i
	}
	names := make([]int32, len(c.Nodes)) // in the books; -1: nothing ran there
	for i := range names {
		names[i] = -1
	}
	for i := range int32(b.rows) {
		a := b.at(i)
		n, ok := index[b.node(a)]
		if !ok || !a.timed() || a.finish == a.start {
			continue
		}
		names[n] = a.node
		if c.SharedSlots || (a.kind == workload.Reduce) == (kind == workload.Reduce) {
			events[n].add(a)
		}
	}
	var free []period
	for n := range c.Nodes {
		node := &c.Nodes[n]
		slots := []int{node.MapSlots, node.ReduceSlots}[kind]
		if c.SharedSlots {
			slots = node.MapSlots + node.ReduceSlots
		}
		if slots == 0 || node.Dies > 0 || node.FailAfter > 0 || names[n] < 0 {
			continue
		}
		running, from := 0, b.begin
		events[n].inOrder(func(at time.Duration, by int) {
			was := running
			running += by
			switch {
			case was < slots && running >= slots && at > from:
				free = append(free, period{names[n], from, at})
			case was >= slots && running < slots:
				from = at
			}
		})
		if running < slots {
			free = append(free, period{names[n], from, b.end + 1})
		}
	}
	return longestFree(free)
}

// byBegin is a heap of periods by their beginning.
type byBegin []period

func (h byBegin) Len() int { return len(h) }
func (h byBegin) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].from, h[j].from), cmp.Compare(h[i].node, h[j].node)) < 0
}
func (h byBegin) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *byBegin) Push(p any)   { *h = append(*h, p.(period)) }
func (h *byBegin) Pop() any {
	last := len(*h) - 1
	p := (*h)[last]
	*h = (*h)[:last]
	return p
}

// longestFree makes steps of the periods: in each, the one that began first.
func longestFree(free []period) freeSlots {
	slices.SortFunc(free, func(a, b period) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.node, b.node)) })
	var times []time.Duration
	for _, p := range free {
		times = append(times, p.from, p.until)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	var f freeSlots
	open := &byBegin{}
	next := 0
	for _, t := range times {
		for ; next < len(free) && free[next].from <= t; next++ {
			heap.Push(open, free[next])
		}
		for open.Len() > 0 && (*open)[0].until <= t {
			heap.Pop(open)
		}
		first := freeSlot{node: -1}
		if open.Len() > 0 {
			first = freeSlot{(*open)[0].node, (*open)[0].from}
		}
		if n := len(f.since); n == 0 || f.since[n-1] != first {
			f.at, f.since = append(f.at, t), append(f.since, first)
		}
	}
	return f
}
