package yarn

import "slices"

// fifo is the FifoScheduler of 3.3.6, which knows one queue, no users and no cores. It
// is read from the source and not recorded.
type fifo struct {
	cluster
	least, most Resource
	apps        []*App // in order of submission
	used        Resource
	headroom    Resource // as of the last heartbeat of a node
}

// newFifo makes the FifoScheduler from the properties of yarn-site.xml.
func newFifo(r *reader, l Listener) (Scheduler, error) {
	s := &fifo{cluster: newCluster(l, r)}
	s.least, s.most = r.bounds()
	return s, r.err
}

// NodeAdded implements Scheduler.
func (s *fifo) NodeAdded(n *Node) { s.addNode(n) }

// NodeRemoved implements Scheduler.
func (s *fifo) NodeRemoved(n *Node) {
	for _, c := range n.byHash() {
		s.complete(c, Aborted, true)
		c.node.vacate(c, true)
	}
	s.removeNode(n)
}

// AppAdded implements Scheduler; whatever its queue, an application waits in the one
// there is.
func (s *fifo) AppAdded(a *App) error {
	a.prepare(&s.cluster)
	a.Path = "root.default"
	i, _ := slices.BinarySearchFunc(s.apps, a, func(x, y *App) int { return int(x.ID) - int(y.ID) })
	s.apps = slices.Insert(s.apps, i, a)
	return nil
}

// AttemptRemoved implements Scheduler.
func (s *fifo) AttemptRemoved(a *App) {
	for _, c := range a.alive() {
		s.complete(c, Aborted, true)
	}
	a.stop()
	s.apps = remove(s.apps, a)
}

// Normalize implements Scheduler.
func (s *fifo) Normalize(_ string, r Resource) Resource {
	return memoryOnly.normalize(r, s.least, s.most, s.least)
}

// Largest implements Scheduler.
func (s *fifo) Largest(string) Resource { return s.largest(s.most) }

// CountsVCores implements Scheduler.
func (s *fifo) CountsVCores() bool { return false }

// Update implements Scheduler.
func (s *fifo) Update(a *App, asks []Ask, releases []*Container, refuse, forgive []int32) {
	a.heard(s, s.complete, asks, releases, refuse, forgive, func(demand) {})
}

// Pull implements Scheduler. The headroom is all that was free at the last heartbeat of
// a node, the same for everyone.
func (s *fifo) Pull(a *App, into []*Container) ([]*Container, Resource) {
	return a.pull(s.listener, into), s.headroom.Max(Resource{})
}

// complete ends a container (FifoScheduler.completedContainerInternal).
func (s *fifo) complete(c *Container, exit Exit, tell bool) {
	a, asks := c.app, c.asks
	if a.finish(s.listener, c, exit, tell) {
		s.used = s.used.Minus(c.Size)
	}
	c.node.vacate(c, false)
	a.giveBack(c, asks)
}

// NodeUpdate implements Scheduler: the applications in order take all that fits, at
// once, wherever their data is (FifoScheduler.assignContainers). A priority that gets
// nothing ends the turn of its application.
func (s *fifo) NodeUpdate(n *Node, gone []Ended) {
	report(gone, s.complete, func(c *Container, byNode bool) { c.node.vacate(c, byNode) })
	for _, a := range s.apps {
		if n.free.MemoryMiB < s.least.MemoryMiB {
			break
		}
		if a.refused[n.Index] {
			continue
		}
		for _, p := range slices.Clone(a.wanted) {
			if s.serve(a, p, n) == 0 {
				break
			}
		}
	}
	if free := s.total.Minus(s.used); free != s.headroom {
		s.headroom = free
		s.changes++
	}
}

// Waits implements Scheduler. The next offer renews the headroom too.
func (s *fifo) Waits() bool { return s.headroom != s.total.Minus(s.used) || s.cluster.Waits() }

// serve gives containers of one priority: at their host, then on their rack, then to any.
func (s *fifo) serve(a *App, p Priority, n *Node) int {
	given := 0
	for _, x := range []struct {
		place Place
		near  locality
	}{{n.Host, nodeLocal}, {n.Rack, rackLocal}, {Any, offSwitch}} {
		for a.has(p, x.near, n) && a.table(p).ask(x.place).Size.MemoryMiB <= n.free.MemoryMiB {
			s.give(a, p, n, a.table(p).ask(x.place).Size, x.near)
			given++
		}
	}
	return given
}

func (s *fifo) give(a *App, p Priority, n *Node, size Resource, near locality) {
	c := a.newContainer(n, size, p)
	a.number(c)
	a.grant(c, near)
	s.used = s.used.Plus(size)
	s.listener.Allocated(c)
}
