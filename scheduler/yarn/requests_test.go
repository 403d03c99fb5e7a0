package yarn

import (
	"fmt"
	"testing"
)

func newRequests(t *testing.T, name string) *requests {
	return &requests{cluster: &cluster{release: release(t, name)}}
}

// Counts are absolute: what is sent again overwrites what was given meanwhile.
func TestAsksOverwrite(t *testing.T) {
	r := newRequests(t, "")
	ask := Ask{Priority: 20, Size: mib(1024, 1), Count: 10}
	r.update(ask)
	r.take(20, offSwitch, 1, 2)
	want(t, "after a grant", r.table(20).count(Any), 9)
	d := r.update(ask)
	want(t, "sent again", r.table(20).count(Any), 10)
	want(t, "change of demand", d.more.Minus(d.less), mib(1024, 1))
}

// A grant lowers the entries of its node, its rack and Any; one that reaches 0 goes, one
// that is set to 0 stays, and Any set to 0 takes the whole table with it.
func TestEntriesOfATable(t *testing.T) {
	r := newRequests(t, "")
	all := func(host, rack, any int32) {
		r.updateAll([]Ask{{Priority: 20, Count: any}, {Priority: 20, Place: 1, Count: host}, {Priority: 20, Place: 2, Count: rack}},
			func(x Resource) Resource { return x }, func(demand) {})
	}
	all(1, 3, 3)
	r.take(20, nodeLocal, 1, 2)
	want(t, "names after a node-local grant", len(r.table(20).asks), 2)
	want(t, "rack", r.table(20).count(2), 2)
	r.take(20, rackLocal, 1, 2)
	want(t, "rack", r.table(20).count(2), 1)
	want(t, "any", r.table(20).count(Any), 1)
	all(0, 1, 1)
	want(t, "an entry set to 0 counts", len(r.table(20).asks), 3)
	all(0, 1, 0)
	want(t, "any set to 0", r.table(20) == nil, true)
	want(t, "wanted", len(r.wanted), 0)
}

// Priorities are served in rising order.
func TestPrioritiesInOrder(t *testing.T) {
	r := newRequests(t, "")
	for _, p := range []Priority{20, 5, 10} {
		r.update(Ask{Priority: p, Count: 1})
	}
	want(t, "first", r.wanted[0], 5)
	want(t, "last", r.wanted[2], 20)
}

// Java's hash codes and orders of hash maps.
func TestHashes(t *testing.T) {
	want(t, "String.hashCode", stringHash("c003"), 2996976)
	want(t, "buckets", hashSlots(0, 13), 32)
	want(t, "concurrent buckets", concurrentSlots(0, 12), 32)
	n := func(name string) *Node { return &Node{Name: name} }
	list := []*Node{n("c000"), n("c001"), n("c002"), n("c003"), n("c004"), n("c005")}
	sortNodes(list, 16)
	got := ""
	for _, x := range list {
		got += x.Name[3:]
	}
	want(t, "recorded order of nodes", got, "520431")
}

// The order of Hadoop's hash map of priorities: those of one slot in rising order.
func TestPrioritiesBySlot(t *testing.T) {
	var r requests
	for p := range Priority(18) {
		r.at(17 - p)
	}
	var order []Priority
	for _, x := range r.byKey() {
		order = append(order, x.priority)
	}
	want(t, "order", fmt.Sprint(order), "[6 5 8 7 10 9 12 11 14 13 0 16 15 2 1 17 4 3]")
}

// Java's hash maps double when they are more than three quarters full, or that full.
func TestHashSlots(t *testing.T) {
	for _, c := range [][3]int{{0, 16, 16}, {11, 16, 16}, {12, 16, 32}, {13, 32, 32}, {24, 32, 64}, {25, 64, 64}} {
		want(t, "HashMap", hashSlots(0, c[0]), c[1])
		want(t, "ConcurrentHashMap", concurrentSlots(0, c[0]), c[2])
	}
	want(t, "never shrinks", hashSlots(64, 1), 64)
}

// Every resource has to have room for a request.
func TestAvailable(t *testing.T) {
	for _, c := range []struct {
		free   Resource
		memory int64 // requests of 1 GiB and 2 cores that fit by memory, and by both
		both   int64
	}{{mib(1023, 9), 0, 0}, {mib(4096, 9), 4, 4}, {mib(4096, 5), 4, 2}, {mib(4096, 1), 4, 0}} {
		want(t, "memory", memoryOnly.available(c.free, mib(1024, 2)), c.memory)
		want(t, "both", dominant.available(c.free, mib(1024, 2)), c.both)
	}
}

// What an ask of preemption covers counts once: Any only if it comes first, a rack unless a
// node in it came before, a node unless its rack did.
func TestVisitedAsks(t *testing.T) {
	d := fairDesk(t, 2, mib(8192, 8), nil, queues(queue("a")))
	s, node, rack := d.s.(*fair), d.place("c000"), d.place("/default-rack")
	for _, c := range []struct {
		places []Place
		want   []bool
	}{
		{[]Place{Any, node, rack}, []bool{true, false, false}},
		{[]Place{node, Any, rack}, []bool{true, false, false}},
		{[]Place{rack, Any, node}, []bool{true, false, false}},
		{[]Place{d.place("nowhere"), node, d.place("c001")}, []bool{false, true, true}},
	} {
		v := visited{racks: make(map[Place]bool), ofNodes: make(map[Place]bool)}
		for i, p := range c.places {
			want(t, fmt.Sprint(c.places, i), v.visit(s, p), c.want[i])
		}
	}
}

// Of the reservations of an application the one that is given up goes.
func TestReservationsOfAnApplication(t *testing.T) {
	var b bookings
	x, y, z := &Container{Number: 1}, &Container{Number: 2}, &Container{Number: 3}
	for _, c := range []*Container{x, y, z} {
		b.add(c)
	}
	want(t, "removed", b.remove(y), true)
	want(t, "again", b.remove(y), false)
	want(t, "left", len(b.list), 2)
	want(t, "the last", b.list[1], z)
}
