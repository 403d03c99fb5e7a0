package yarn

import (
	"cmp"
	"math"
	"slices"
)

// The order of the applications of a leaf queue (FifoOrderingPolicy,
// FairOrderingPolicy, 3.3.6). In order of use, an application's place is renewed only
// when it has gained or lost a container since the list was last read.

// order returns the activated applications, the first to be served first.
func (l *capacityLeaf) order() []*App {
	for _, a := range l.stale {
		l.active = slices.DeleteFunc(l.active, func(x *App) bool { return x == a })
		a.capacity.key, a.capacity.wish = a.used, a.used.Plus(a.pending)
		l.insert(a)
	}
	l.stale = l.stale[:0]
	return l.active
}

func (l *capacityLeaf) insert(a *App) {
	i, _ := slices.BinarySearchFunc(l.active, a, l.before)
	l.active = slices.Insert(l.active, i, a)
}

// before is the comparator of the ordering policy.
func (l *capacityLeaf) before(a, b *App) int {
	if !l.fair {
		return inputOrder(a, b)
	}
	x, y := l.magnitude(a.capacity), l.magnitude(b.capacity)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case a.Start != b.Start:
		return cmp.Compare(a.Start, b.Start)
	case a.capacity.wish.MemoryMiB == 0 && b.capacity.wish.MemoryMiB > 0:
		return 1
	case b.capacity.wish.MemoryMiB == 0 && a.capacity.wish.MemoryMiB > 0:
		return -1
	}
	return int(a.ID) - int(b.ID)
}

// magnitude is the use that the fair order compares.
func (l *capacityLeaf) magnitude(a *capacityApp) float64 {
	m := float64(a.key.MemoryMiB)
	if !l.bySize || m == 0 {
		return m
	}
	if w := math.Log1p(float64(a.wish.MemoryMiB)) / math.Ln2; w != 0 {
		m /= w
	}
	return m
}

// reorder marks an application that has gained or lost a container.
func (l *capacityLeaf) reorder(a *App) {
	if l.fair && a.capacity.ordered && !slices.Contains(l.stale, a) {
		l.stale = append(l.stale, a)
	}
}
