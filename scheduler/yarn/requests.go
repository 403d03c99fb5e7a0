package yarn

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Place names where a container is asked for: a host, a rack or any node. Numbers
// stand for names.
type Place int32

// Any is the place that every node matches ("*", ResourceRequest.ANY).
const Any Place = 0

// Priority of a request; the smaller number goes first.
type Priority int32

// Ask is one ResourceRequest. Its count is absolute: it takes the place of the count
// that the scheduler holds for the same priority and place.
type Ask struct {
	Priority Priority
	Place    Place
	Size     Resource
	Count    int32
	Strict   bool // locality may not be relaxed beyond this place (relaxLocality false)
}

// locality is how near to its data a container is placed (NodeType).
type locality uint8

const (
	nodeLocal locality = iota
	rackLocal
	offSwitch
)

// table holds the asks of one priority by place (LocalityAppPlacementAllocator, 3.3.6).
type table struct {
	asks  map[Place]*Ask
	any   *Ask   // asks[Any]
	rooms []*Ask // spare entries
	slots int    // of Hadoop's hash map of names
}

func (t *table) ask(p Place) *Ask {
	switch {
	case t == nil:
		return nil
	case p == Any:
		return t.any
	case len(t.asks) == 1 && t.any != nil:
		return nil
	}
	return t.asks[p]
}

// count is the outstanding count of a place.
func (t *table) count(p Place) int32 {
	if a := t.ask(p); a != nil {
		return a.Count
	}
	return 0
}

// relaxed reports whether containers asked for at a place may be placed elsewhere.
func (t *table) relaxed(p Place) bool {
	a := t.ask(p)
	return a == nil || !a.Strict
}

// lower takes one container off the entry of a place; an entry that reaches 0 goes.
func (t *table) lower(p Place) {
	a := t.ask(p)
	if a.Count--; a.Count == 0 {
		delete(t.asks, p)
		t.rooms = append(t.rooms, a)
		t.any = t.asks[Any]
	}
}

func (t *table) put(ask Ask) {
	a := t.ask(ask.Place)
	if a == nil {
		a = new(Ask)
		if n := len(t.rooms); n > 0 {
			a, t.rooms = t.rooms[n-1], t.rooms[:n-1]
		}
		t.asks[ask.Place] = a
		t.slots = concurrentSlots(t.slots, len(t.asks))
		if ask.Place == Any {
			t.any = a
		}
	}
	*a = ask
}

// byHash lists the asks in the order of Hadoop's hash map of names.
func (t *table) byHash(l Listener) []*Ask {
	list := slices.Collect(maps.Values(t.asks))
	slices.SortFunc(list, func(a, b *Ask) int {
		x, y := l.Name(a.Place), l.Name(b.Place)
		if d := slotOf(stringHash(x), t.slots) - slotOf(stringHash(y), t.slots); d != 0 {
			return d
		}
		return strings.Compare(x, y)
	})
	return list
}

// requests are what an application still asks for (AppSchedulingInfo, 3.3.6).
type requests struct {
	cluster *cluster
	levels  []*level
	wanted  []Priority // priorities with a positive count of Any, rising
}

// level is what an application holds of one priority.
type level struct {
	priority Priority
	table    *table   // asks; nil: none
	chances  int32    // scheduling opportunities
	retries  int32    // re-reservations
	booked   bookings // reservations
}

// at returns what is held of a priority.
func (r *requests) at(p Priority) *level {
	for _, x := range r.levels {
		if x.priority == p {
			return x
		}
	}
	x := &level{priority: p}
	r.levels = append(r.levels, x)
	return x
}

// table returns the asks of a priority, or nil.
func (r *requests) table(p Priority) *table { return r.at(p).table }

// want and unwant keep the list of priorities that may be given containers.
func (r *requests) want(p Priority) {
	if i, found := slices.BinarySearch(r.wanted, p); !found {
		if len(r.wanted) == 0 {
			r.cluster.waiting++
		}
		r.wanted = slices.Insert(r.wanted, i, p)
	}
}

func (r *requests) unwant(p Priority) {
	if i, found := slices.BinarySearch(r.wanted, p); found {
		r.wanted = slices.Delete(r.wanted, i, i+1)
		if len(r.wanted) == 0 {
			r.cluster.waiting--
		}
	}
}

// demand is a change in what an application asks for.
type demand struct {
	less, more Resource
	active     bool // the application has turned from wanting nothing at a priority to wanting
	idle       bool // a count of Any was set to 0
}

// update books an ask and returns what it changes. From 2.8 on an Any count of 0 drops
// the whole table of its priority; any other entry of 0 stays, and counts among the names.
func (r *requests) update(ask Ask) demand {
	r.cluster.changes++
	x := r.at(ask.Priority)
	if x.table == nil {
		x.table = &table{asks: make(map[Place]*Ask)}
	}
	t := x.table
	if ask.Place != Any {
		t.put(ask)
		return demand{}
	}
	d := demand{more: ask.Size.Times(int64(ask.Count))}
	before := int32(0)
	if last := t.ask(Any); last != nil {
		before = last.Count
		d.less = last.Size.Times(int64(before))
	}
	t.put(ask)
	if ask.Count <= 0 {
		r.unwant(ask.Priority)
		if r.cluster.release.DropsTable {
			x.table = nil
		}
		d.idle = true
		return d
	}
	if before <= 0 {
		r.want(ask.Priority)
		d.active = true
	}
	return d
}

// updateAll books the asks of one heartbeat, those of hosts and racks first: an Any
// count of 0 drops them too. It calls changed for each ask of Any.
func (r *requests) updateAll(asks []Ask, normal func(Resource) Resource, changed func(demand)) {
	for _, any := range [2]bool{false, true} {
		for _, ask := range asks {
			if (ask.Place == Any) != any {
				continue
			}
			ask.Size = normal(ask.Size)
			if d := r.update(ask); any {
				changed(d)
			}
		}
	}
}

// take books one container that was given: the entries of its node, rack and Any that
// its locality concerns. It returns the ask of Any and the entries that were lowered.
func (r *requests) take(p Priority, near locality, host, rack Place) []Ask {
	r.cluster.changes++
	x := r.at(p)
	t := x.table
	var lowered []Ask
	if last := len(r.cluster.lowered) - 1; last >= 0 {
		lowered, r.cluster.lowered = r.cluster.lowered[last], r.cluster.lowered[:last]
	}
	lower := func(place Place) {
		one := *t.ask(place)
		one.Count = 1
		lowered = append(lowered, one)
		t.lower(place)
	}
	switch near {
	case nodeLocal:
		lower(host)
		lower(rack)
	case rackLocal:
		lower(rack)
	}
	lower(Any)
	if t.count(Any) == 0 {
		r.unwant(p)
		if len(t.asks) == 0 {
			x.table = nil
		}
	}
	return lowered
}

// giveBack asks again for a container that ended before its application knew of it, if it
// was given for asks and the application goes on.
func (a *App) giveBack(c *Container, lowered []Ask) (last demand) {
	if a.stopped {
		return last
	}
	c.asks = nil
	for _, ask := range lowered {
		ask.Count = a.table(ask.Priority).count(ask.Place) + 1
		last = a.update(ask) // Any comes last
	}
	return last
}

// has reports whether a container of a locality may still be taken on a node
// (LocalityAppPlacementAllocator.canAllocate).
func (r *requests) has(p Priority, near locality, n *Node) bool {
	t := r.table(p)
	return t.count(Any) > 0 &&
		(near == offSwitch || t.count(n.Rack) > 0 && (near == rackLocal || t.count(n.Host) > 0))
}

// byKey lists what is held of priorities in the order of Hadoop's hash map of them
// (SchedulerRequestKey.hashCode, Priority.hashCode).
func (r *requests) byKey() []*level {
	prime := uint32(517861)
	hash := func(x *level) int { return slotOf(31*31*(9511*prime+uint32(x.priority)), 16) }
	list := slices.Clone(r.levels)
	slices.SortFunc(list, func(a, b *level) int {
		return cmp.Or(hash(a)-hash(b), cmp.Compare(a.priority, b.priority))
	})
	return list
}
