package yarn

import "math"

// fairApp is what the FairScheduler keeps of an application (FSAppAttempt, 3.3.6).
type fairApp struct {
	app    *App
	s      *fair
	queue  *fairQueue
	demand Resource // as of the last update
	share  Resource

	amRunning bool
	amSize    Resource
	levels    map[Priority]locality // allowed, where it was asked for
	relaxed   map[Priority]int64    // when the level was last set by time
	booked    map[Place]int         // reserved nodes by rack

	lacksFair, lacksMin Resource // starvation as of the last update
	atShare             int64    // last time at the fair share
	nextCheck           int64    // of starvation
	victims             []*Container
	victimSize          Resource
	warned              Resource // of them, while the next ones are chosen
}

// reservedMark is the answer of a reservation: no container, and not nothing
// (FairScheduler.CONTAINER_RESERVED).
var reservedMark = Resource{MemoryMiB: -1}

func (f *fairApp) wish() Resource  { return f.demand }
func (f *fairApp) use() Resource   { return f.app.used.Minus(f.warned) }
func (f *fairApp) least() Resource { return Resource{} }
func (f *fairApp) most() Resource  { return unbounded }
func (f *fairApp) since() int64    { return f.app.Start }
func (f *fairApp) label() string   { return applicationLabel(f.app.ID) }
func (f *fairApp) running() bool   { return true }
func (f *fairApp) fair() *Resource { return &f.share }

func (f *fairApp) weigh() float32 {
	if f.s.bySize {
		return float32(math.Log1p(float64(f.demand.MemoryMiB)) / math.Ln2)
	}
	return 1
}

// updateDemand counts what the application has and what it asks for anywhere; before 2.8
// also what it asks for at each host and rack.
func (f *fairApp) updateDemand() {
	f.demand = f.app.used
	for _, p := range f.app.wanted {
		t := f.app.table(p)
		for place, ask := range t.asks {
			if place == Any || !f.s.release.Fair28 {
				f.demand = f.demand.Plus(ask.Size.Times(int64(ask.Count)))
			}
		}
	}
}

// assign gives or reserves a container on a node, unless the share for
// ApplicationMasters is used up (FSAppAttempt.assignContainer).
func (f *fairApp) assign(n *Node) Resource {
	if f.s.release.Fair28 && f.overAMShare() {
		return Resource{}
	}
	return f.assignNode(n, nil)
}

func (f *fairApp) overAMShare() bool {
	if f.amRunning || len(f.app.wanted) == 0 {
		return false
	}
	size := f.app.table(f.app.wanted[0]).ask(Any).Size
	if !f.s.release.Fair28 {
		size = f.s.Normalize(f.queue.path, f.app.Size)
	}
	return !f.queue.mayRunAM(size)
}

// assignNode tries the priorities in order; the first rule that applies decides, also
// if the container does not fit.
func (f *fairApp) assignNode(n *Node, booked *Container) Resource {
	priorities := f.app.wanted
	if booked != nil {
		priorities = []Priority{booked.Priority}
	}
	for _, p := range priorities {
		if booked == nil && !f.hasFor(p, n) {
			continue
		}
		if !f.s.release.Fair28 && f.overAMShare() {
			f.offered(p)
			return Resource{}
		}
		if ask, near, ok := f.choose(p, n); ok {
			return f.place(n, ask, near, p, booked)
		}
	}
	return Resource{}
}

// choose picks the ask of a priority that a node serves.
func (f *fairApp) choose(p Priority, n *Node) (*Ask, locality, bool) {
	f.offered(p)
	level := f.level(p)
	t := f.app.table(p)
	rack := t.count(n.Rack)
	if rack > 0 && t.count(n.Host) > 0 {
		return t.ask(n.Host), nodeLocal, true
	}
	if !t.relaxed(n.Rack) {
		return nil, 0, false
	}
	if rack > 0 && level >= rackLocal {
		return t.ask(n.Rack), rackLocal, true
	}
	if !t.relaxed(Any) || t.count(Any) <= 0 {
		return nil, 0, false
	}
	return t.ask(Any), offSwitch, len(t.asks) <= 1 || level == offSwitch
}

// offered counts an offer.
func (f *fairApp) offered(p Priority) {
	f.app.at(p).chances++
	if s := f.s; s.continuous || s.nodeThreshold >= 0 && s.rackThreshold >= 0 {
		s.changes++
	}
}

// hasFor reports whether a node may serve a priority at all
// (FSAppAttempt.hasContainerForNode).
func (f *fairApp) hasFor(p Priority, n *Node) bool {
	t := f.app.table(p)
	any := t.ask(Any)
	if any == nil || any.Count <= 0 {
		return false
	}
	rack := t.count(n.Rack) > 0
	may := (t.relaxed(Any) || rack) && (!rack || t.relaxed(n.Rack) || t.count(n.Host) > 0)
	if !f.s.release.Fair28 {
		return may && any.Size.MemoryMiB <= n.Total.MemoryMiB
	}
	return may && any.Size.Within(n.Total) && f.queue.fits(any.Size)
}

// level is the locality that is allowed at a priority: it is relaxed after a share of
// the cluster's nodes has offered itself, or after a time with continuous scheduling
// (getAllowedLocalityLevel, getAllowedLocalityLevelByTime).
func (f *fairApp) level(p Priority) locality {
	s := f.s
	if s.continuous {
		return f.levelByTime(p)
	}
	if s.nodeThreshold < 0 || s.rackThreshold < 0 {
		return offSwitch
	}
	level, ok := f.levels[p]
	if !ok {
		f.levels[p] = nodeLocal
		return nodeLocal
	}
	threshold := min(s.nodeThreshold, 1)
	if level == rackLocal {
		threshold = min(s.rackThreshold, 1)
	}
	if level != offSwitch && float64(f.app.at(p).chances) > float64(len(s.nodes))*threshold {
		f.levels[p] = level + 1
		f.app.at(p).chances = 0
	}
	return f.levels[p]
}

func (f *fairApp) levelByTime(p Priority) locality {
	s := f.s
	if s.nodeDelay < 0 || s.rackDelay < 0 {
		return offSwitch
	}
	now := s.listener.Nanos()
	level, ok := f.levels[p]
	if !ok {
		f.relaxed[p] = now
		if !s.release.Fair28 {
			f.relaxed[p] = f.app.Start
		}
		f.levels[p] = nodeLocal
		return nodeLocal
	}
	delay := s.nodeDelay
	if level == rackLocal {
		delay = s.rackDelay
	}
	if level != offSwitch && now-f.relaxed[p] > delay {
		f.levels[p] = level + 1
		f.relaxed[p] = now
		f.app.at(p).chances = 0
	}
	return f.levels[p]
}

// place gives a container where it fits, or reserves the node.
func (f *fairApp) place(n *Node, ask *Ask, near locality, p Priority, booked *Container) Resource {
	size := ask.Size
	if size.Within(n.free) {
		f.give(n, size, near, p, booked)
		return size
	}
	if !f.mayReserve(n, size, near) {
		return Resource{}
	}
	c := f.app.newContainer(n, size, p)
	f.app.number(c)
	f.app.book(c)
	f.booked[n.Rack]++
	f.s.listener.Reserved(c)
	return reservedMark
}

// mayReserve reports whether a node may be reserved: for a large request of a starved
// application that has not reserved too many yet; before 2.8 within the queue's maximum.
func (f *fairApp) mayReserve(n *Node, size Resource, near locality) bool {
	s := f.s
	if !s.release.Fair28 {
		return f.queue.fits(size)
	}
	if !f.starved() || f.queue.policy.calc.compare(s.total, size, s.reserveFrom) < 0 || s.node(n).heldFor(f) {
		return false
	}
	if near == nodeLocal {
		return true
	}
	booked, nodes := f.booked[n.Rack], s.racks[n.Rack]
	if near == offSwitch {
		booked, nodes = 0, len(s.nodes)
		for _, b := range f.booked {
			booked += b
		}
	}
	return booked < int(math.Ceil(float64(float32(nodes)*s.reservable)))
}

// starved reports whether the application is below its fair share, or lacks minimum share.
func (f *fairApp) starved() bool {
	return f.queue.policy.below(f.s.total, f.app.used, f.share) || f.lacksMin != (Resource{})
}

// give books a container (FSAppAttempt.allocate, FSSchedulerNode.allocateContainer).
func (f *fairApp) give(n *Node, size Resource, near locality, p Priority, booked *Container) {
	a, s := f.app, f.s
	if level, ok := f.levels[p]; ok && near < level {
		f.levels[p] = near
	}
	c := booked
	if c == nil {
		c = a.newContainer(n, size, p)
		a.number(c)
	} else {
		f.unbook(c)
	}
	a.grant(c, near)
	f.queue.each(func(q *fairQueue) { q.used = q.used.Plus(c.Size) })
	s.node(n).fulfil(f, c.Size)
	if !f.amRunning {
		f.amRunning, f.amSize = true, c.Size
		f.queue.amUsed = f.queue.amUsed.Plus(c.Size)
	}
	s.listener.Allocated(c)
}

// unbook gives a reservation up.
func (f *fairApp) unbook(c *Container) bool {
	if !f.app.unbook(c) {
		return false
	}
	f.booked[c.node.Rack]--
	return true
}

// assignReserved serves the reservation of a node. It reports whether the reservation
// still stands, or has been fulfilled: then the node does nothing else.
func (f *fairApp) assignReserved(n *Node) bool {
	c := n.reserved
	if !f.hasFor(c.Priority, n) || !f.queue.fits(c.Size) && !f.s.release.Fair28 || f.s.release.Fair28 && f.overAMShare() {
		f.s.unreserve(c)
		return false
	}
	if c.Size.Within(n.free) {
		f.assignNode(n, c)
	}
	return true
}
