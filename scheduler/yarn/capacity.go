package yarn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// capacity is the CapacityScheduler.
type capacity struct {
	cluster
	calc  calculator
	root  *capacityQueue
	paths map[string]*capacityQueue // by path and, where it is unique, by name
	leafs []*capacityLeaf

	least, most     Resource // allocations
	nodeDelay       int
	rackDelay       int // -1: none
	rackFullReset   bool
	continueLooking bool
	multiple        bool // assignments per heartbeat
	perBeat         int  // containers; -1: any number
	offPerBeat      int
	maxPriority     int32
	maxApps         int
	limits          appLimits
}

// leaves lists the paths of the queues that take applications.
func (s *capacity) leaves() (paths []string) {
	for path, q := range s.paths {
		if q.leaf != nil && path == q.path {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// AppAdded implements Scheduler (CapacityScheduler.addApplication,
// addApplicationAttempt).
func (s *capacity) AppAdded(a *App) error {
	q := s.paths[a.Queue]
	if q == nil || q.leaf == nil {
		return fmt.Errorf("queue %q: want a leaf of the capacity scheduler's tree (%s), or a queue-mappings of the job's user", a.Queue, strings.Join(s.leaves(), ", "))
	}
	if q.leaf.stopped {
		return fmt.Errorf("queue %q is STOPPED: want one that runs, or its state RUNNING", a.Queue)
	}
	if a.Attempt <= 1 && q.leaf.full(a.User) {
		return errFull
	}
	a.prepare(&s.cluster)
	a.Priority = min(a.Priority, s.maxPriority)
	a.Path = q.path
	a.capacity = &capacityApp{leaf: q.leaf, size: s.Normalize(q.path, a.Size)}
	q.leaf.users.of(a.User) // also of one that a limit of parallel applications holds back
	s.limits.add(a)
	return nil
}

// AttemptRemoved implements Scheduler (CapacityScheduler.doneApplicationAttempt).
func (s *capacity) AttemptRemoved(a *App) {
	for _, c := range a.alive() {
		s.complete(c, Aborted, true)
	}
	for _, c := range a.reservations() {
		s.complete(c, Aborted, true)
	}
	for _, x := range a.levels {
		if any := x.table.ask(Any); any != nil && any.Count > 0 {
			s.wants(a, Resource{}.Minus(any.Size.Times(int64(any.Count))))
		}
	}
	a.stop()
	s.limits.remove(a, func() { a.capacity.leaf.withdraw(a) })
}

// AppRemoved implements Scheduler (LeafQueue.finishApplication).
func (s *capacity) AppRemoved(a *App) { a.capacity.leaf.users.rests(a) }

// NodeAdded implements Scheduler.
func (s *capacity) NodeAdded(n *Node) {
	s.addNode(n)
	s.root.resize(s.root.given.reset(s.total))
}

// NodeRemoved implements Scheduler (CapacityScheduler.removeNode).
func (s *capacity) NodeRemoved(n *Node) {
	for _, c := range n.byHash() {
		s.complete(c, Aborted, true)
		n.vacate(c, true)
	}
	if n.reserved != nil {
		s.complete(n.reserved, Aborted, true)
	}
	s.removeNode(n)
	s.root.resize(s.root.given.reset(s.total))
}

// Normalize implements Scheduler.
func (s *capacity) Normalize(queue string, r Resource) Resource {
	most := s.most
	if q := s.paths[queue]; q != nil {
		most = q.largest
	}
	return s.calc.normalize(r, s.least, most, s.least)
}

// within reports whether an amount is within another one: each part of it from 2.8 on, as
// the calculator compares them before.
func (s *capacity) within(small, big Resource) bool {
	if s.release.Capacity28 {
		return s.calc.fits(small, big)
	}
	return s.calc.compare(s.total, small, big) <= 0
}

// wants changes the pending amount of an application and its queues.
func (s *capacity) wants(a *App, r Resource) {
	a.pending = a.pending.Plus(r)
	a.capacity.leaf.q.each(func(q *capacityQueue) {
		q.pending = q.pending.Plus(r)
		q.move()
	})
}

// demand books a change in what an application asks for.
func (s *capacity) demand(a *App, d demand) {
	users := a.capacity.leaf.users
	if d.idle && len(a.wanted) == 0 {
		users.rests(a)
	}
	if d.active {
		users.asks(a)
	}
	s.wants(a, d.more.Minus(d.less))
}

// Update implements Scheduler (CapacityScheduler.allocate).
func (s *capacity) Update(a *App, asks []Ask, releases []*Container, refuse, forgive []int32) {
	changed := false
	a.heard(s, s.complete, asks, releases, refuse, forgive, func(d demand) {
		s.demand(a, d)
		changed = true
	})
	if l := a.capacity.leaf; changed && l.bySize && !a.Waits() {
		l.reorder(a)
	}
}

// Pull implements Scheduler.
func (s *capacity) Pull(a *App, into []*Container) ([]*Container, Resource) {
	into = a.pull(s.listener, into)
	return into, a.capacity.leaf.headroom(a)
}

// Unmoved implements Scheduler. The headroom renews the limit of users and with it the
// number of those that wait, which matters where the limit is a share of the queue.
func (s *capacity) Unmoved(a *App) bool { return a.capacity.leaf.users.percent >= 100 }

// complete ends a container or a reservation (CapacityScheduler.completedContainer).
func (s *capacity) complete(c *Container, exit Exit, tell bool) {
	a := c.app
	l := a.capacity.leaf
	if c.state == reserved {
		if s.unreserve(c) {
			l.release(a, c.Size)
			s.listener.Finished(c, Unreserved, false)
		}
		return
	}
	asks := c.asks
	ended := a.finish(s.listener, c, exit, tell)
	c.node.vacate(c, false)
	if ended {
		l.release(a, c.Size)
	}
	if asks != nil && !a.stopped {
		s.demand(a, a.giveBack(c, asks))
	}
}

// unreserve takes a reservation off the application, its queues and the node.
func (s *capacity) unreserve(c *Container) bool {
	if !c.app.unbook(c) {
		return false
	}
	c.state = ended
	c.app.capacity.leaf.q.each(func(q *capacityQueue) { q.held = q.held.Minus(c.Size) })
	return true
}

// NodeUpdate implements Scheduler (CapacityScheduler.nodeUpdate,
// allocateContainersToNode). A reserved node is offered for its reservation; from 2.8 on
// the heartbeat ends with that.
func (s *capacity) NodeUpdate(n *Node, gone []Ended) {
	report(gone, s.complete, func(c *Container, byNode bool) { c.node.vacate(c, byNode) })
	if r := n.reserved; r != nil {
		s.commit(n, r.app.capacity.leaf.assign(n, s.root.given.reset(s.total)))
		if s.release.Capacity28 {
			return
		}
	}
	off, given := 0, 0
	for first := true; first || s.multiple && (s.perBeat == -1 || given < s.perBeat); first = false {
		a, ok := s.assignNode(n)
		if !ok {
			return
		}
		if a.near == offSwitch {
			off++
		}
		given++
		if off >= s.offPerBeat || a.reserve != nil {
			return
		}
	}
}

// Full implements Scheduler.
func (s *capacity) Full(n *Node) bool {
	return n.reserved == nil && s.calc.available(n.free, s.least) <= 0
}

// assignNode makes one proposal for a node and commits it
// (CapacityScheduler.allocateContainerOnSingleNode).
func (s *capacity) assignNode(n *Node) (assignment, bool) {
	if n.reserved != nil || s.calc.available(n.free, s.least) <= 0 {
		return assignment{}, false
	}
	a := s.root.assign(n, s.root.given.reset(s.total))
	s.commit(n, a)
	return a, s.calc.compare(s.total, a.size, Resource{}) > 0
}

// commit checks a proposal once more and books it (CapacityScheduler.tryCommit).
func (s *capacity) commit(n *Node, p assignment) {
	c := p.give
	if c == nil {
		c = p.reserve
	}
	if c == nil {
		if p.release != nil {
			s.complete(p.release, Unreserved, false)
		}
		return
	}
	again := p.reserve != nil && c.state == reserved
	if !s.accepts(n, p, c, again) {
		return
	}
	l := p.app.capacity.leaf
	if c.Number == 0 {
		p.app.number(c)
	}
	if p.give != nil {
		s.give(p, c)
	} else {
		p.app.book(c)
		if !again {
			s.listener.Reserved(c)
		}
	}
	if again {
		return
	}
	if p.release != nil {
		s.complete(p.release, Unreserved, false)
	}
	if p.from != nil {
		return
	}
	l.allocate(p.app, c.Size)
	if p.reserve != nil {
		l.q.each(func(q *capacityQueue) { q.held = q.held.Plus(c.Size) })
	}
	l.q.parent.each(func(q *capacityQueue) { q.allocate(c.Size) })
}

// accepts checks that the ask, the node and the limits still allow a proposal
// (FiCaSchedulerApp.accept, LeafQueue.accept).
func (s *capacity) accepts(n *Node, p assignment, c *Container, again bool) bool {
	if p.give != nil {
		if !p.app.has(p.priority, p.near, n) || n.reserved != p.from || !s.calc.fits(c.Size, n.free) {
			return false
		}
	}
	if again || p.from != nil || !s.release.Capacity28 {
		return true
	}
	l := p.app.capacity.leaf
	limit := l.userLimit(p.app, c.Size)
	var released Resource
	if p.release != nil {
		released = p.release.Size
	}
	u := l.users.user(p.app)
	if u == nil || s.calc.compare(s.total, u.used.Minus(released), limit) > 0 {
		return false
	}
	return l.q.accepts(c.Size, released)
}

// give books a container as allocated (FiCaSchedulerApp.apply).
func (s *capacity) give(p assignment, c *Container) {
	a := p.app
	if p.from != nil {
		s.unreserve(c)
	}
	a.grant(c, p.near)
	s.wants(a, Resource{}.Minus(c.asks[len(c.asks)-1].Size))
	if len(a.wanted) == 0 {
		a.capacity.leaf.users.rests(a)
	}
	s.listener.Allocated(c)
}

// Largest implements Scheduler.
func (s *capacity) Largest(queue string) Resource {
	most := s.largest(s.most)
	if q := s.paths[queue]; q != nil {
		most = most.Min(q.largest)
	}
	return most
}

// CountsVCores implements Scheduler.
func (s *capacity) CountsVCores() bool { return s.calc.cores }
