package diagnose

import (
	"cmp"
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
	events := make([]startsAndEnds, len(b.nodes.list))
	ran := make([]bool, len(b.nodes.list)) // some attempt
	for i := range int32(b.rows) {
		a := b.at(i)
		if !a.timed() || a.finish == a.start {
			continue
		}
		n := a.node
		ran[n] = true
		if c.SharedSlots || (a.kind == workload.Reduce) == (kind == workload.Reduce) {
			events[n].add(a)
		}
	}
	var free []period
	for i := range c.Nodes {
		node := &c.Nodes[i]
		n, known := b.nodes.index[node.Name]
		slots := []int{node.MapSlots, node.ReduceSlots}[kind]
		if c.SharedSlots {
			slots = node.MapSlots + node.ReduceSlots
		}
		if slots == 0 || node.Dies > 0 || node.FailAfter > 0 || !known || !ran[n] {
			continue
		}
		running, from := 0, b.begin
		workload.InOrder(events[n].starts, events[n].ends, func(at time.Duration, by int) {
			was := running
			running += by
			switch {
			case was < slots && running >= slots && at > from:
				free = append(free, period{n, from, at})
			case was >= slots && running < slots:
				from = at
			}
		})
		if running < slots {
			free = append(free, period{n, from, b.end + 1})
		}
	}
	return longestFree(free)
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
	next := 0 // the first period that has not ended
	for _, t := range times {
		for next < len(free) && free[next].until <= t {
			next++
		}
		first := freeSlot{node: -1}
		if next < len(free) && free[next].from <= t {
			first = freeSlot{free[next].node, free[next].from}
		}
		if n := len(f.since); n == 0 || f.since[n-1] != first {
			f.at, f.since = append(f.at, t), append(f.since, first)
		}
	}
	return f
}
