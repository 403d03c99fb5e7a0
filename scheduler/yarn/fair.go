package yarn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
)

// fair is the FairScheduler.
type fair struct {
	cluster
	root   *fairQueue
	queues map[string]*fairQueue // by path
	leafs  []*fairQueue          // in the order of creation
	file   *model.Allocations

	least, most, step Resource // of allocations
	available         Resource // of the cluster, as of the last round of assignment
	limits            appLimits

	update        int64 // ns between passes
	stopUpdate    func()
	multiple      bool // assignments per heartbeat
	half          bool // as many as half of what is free at first
	perBeat       int  // else so many; 0 or less: any number
	bySize        bool
	nodeThreshold float64 // of the nodes; negative: none
	rackThreshold float64
	continuous    bool
	sleep         int64 // ns between rounds of continuous scheduling
	nodeDelay     int64 // ns; negative: none
	rackDelay     int64
	reserveFrom   Resource
	reservable    float32
	onDemand      bool // queues that are not in the file are made
	byUser        bool // the default queue is the user's own

	preempts    bool
	utilization float32
	warn        int64 // ns from the choice of a victim to its end
	recheck     int64 // ns until an application's starvation is looked at again
	sparesAM    func(queue string) bool
	starving    starving
	warnings    warnings
	updated     uint64 // changes as of the last update
	books       map[*Node]*fairNode
}

// node returns what preemption keeps of a node.
func (s *fair) node(n *Node) *fairNode {
	b := s.books[n]
	if b == nil {
		b = &fairNode{}
		s.books[n] = b
	}
	return b
}

// start runs the scheduler's threads.
func (s *fair) start() {
	s.schedule()
	if s.continuous {
		s.listener.After(0, s.visit)
	}
}

// schedule sets the next update.
func (s *fair) schedule() { s.stopUpdate = s.listener.After(s.update, s.pass) }

// pass is one update: demands, shares and starvation (FairScheduler.update).
func (s *fair) pass() {
	s.stopUpdate()
	if s.preempts && !s.release.Fair28 {
		s.noteShares()
	}
	if s.preempts || s.changes != s.updated {
		s.root.updateDemand()
		s.root.share = s.total
		s.root.shareOut()
		s.available = s.total.Minus(s.root.used)
		s.changes++
		s.updated = s.changes
	}
	s.schedule() // before what is preempted is, at the same instant, killed
	switch {
	case !s.preempts:
	case !s.release.Fair28:
		s.preemptQueues()
	case s.crowded():
		for _, q := range s.leafs {
			s.findStarved(q)
		}
		s.preempt()
	}
}

// Waits implements Scheduler. What was preempted for someone may be left on a node.
func (s *fair) Waits() bool { return s.preempts || s.cluster.Waits() }

// NodeAdded implements Scheduler.
func (s *fair) NodeAdded(n *Node) {
	s.addNode(n)
	s.resized()
}

// resized follows a change of the cluster; from 2.8 on an update follows at once, after
// all that the dispatchers have to do.
func (s *fair) resized() {
	s.available = s.total.Minus(s.root.used)
	if s.release.Fair28 {
		s.listener.Post(func() { s.listener.Post(s.pass) })
	}
}

// NodeRemoved implements Scheduler (FairScheduler.removeNode).
func (s *fair) NodeRemoved(n *Node) {
	for _, c := range n.byHash() {
		s.complete(c, Aborted, true)
		s.vacate(c, true)
	}
	if n.reserved != nil {
		s.unreserve(n.reserved)
	}
	s.removeNode(n)
	s.resized()
}

// queueOf finds or makes the leaf queue of an application.
func (s *fair) queueOf(name, user string) (*fairQueue, error) {
	if name == "" || name == "default" {
		name = "default"
		if s.byUser {
			name = user
		}
	}
	path := name
	if path != "root" && !strings.HasPrefix(path, "root.") {
		path = "root." + path
	}
	q := s.queues[path]
	if q == nil && !s.onDemand {
		path = "root.default"
		q = s.queues[path]
	}
	if q == nil {
		q = s.make(path)
	}
	if q == nil || len(q.children) > 0 || q == s.root {
		return nil, &Rejection{fmt.Sprintf("queue %q is no leaf of the fair scheduler's tree, nor may one of the policy %s be made there", name, cmp.Or(s.file.Settings[usualPolicy], "fair"))}
	}
	return q, nil
}

// AppAdded implements Scheduler (FairScheduler.addApplication, addApplicationAttempt).
func (s *fair) AppAdded(a *App) error {
	q, err := s.queueOf(a.Queue, a.User)
	if err != nil {
		return err
	}
	a.prepare(&s.cluster)
	a.Path = q.path
	a.fair = &fairApp{
		app: a, s: s, queue: q, atShare: a.Start, levels: make(map[Priority]locality),
		relaxed: make(map[Priority]int64), booked: make(map[Place]int),
	}
	s.limits.add(a)
	return nil
}

// AttemptRemoved implements Scheduler.
func (s *fair) AttemptRemoved(a *App) {
	for _, c := range a.alive() {
		s.complete(c, Aborted, true)
	}
	for _, c := range a.reservations() {
		s.unreserve(c)
	}
	a.stop()
	s.limits.remove(a, func() {
		q := a.fair.queue
		q.apps = remove(q.apps, a)
		if a.fair.amRunning {
			q.amUsed = q.amUsed.Minus(a.fair.amSize)
		}
	})
}

// Normalize implements Scheduler (FairScheduler.getNormalizedResource).
func (s *fair) Normalize(queue string, r Resource) Resource {
	return dominant.normalize(r, s.least, s.Largest(queue), s.step)
}

// Largest implements Scheduler.
func (s *fair) Largest(queue string) Resource {
	most := s.largest(s.most)
	for q := s.queues[queue]; q != nil; q = q.parent {
		if q.largest != nil {
			return most.Min(*q.largest)
		}
	}
	return most
}

// CountsVCores implements Scheduler.
func (s *fair) CountsVCores() bool { return true }

// Update implements Scheduler (FairScheduler.allocate).
func (s *fair) Update(a *App, asks []Ask, releases []*Container, refuse, forgive []int32) {
	a.heard(s, s.complete, asks, releases, refuse, forgive, func(demand) {})
}

// Pull implements Scheduler.
func (s *fair) Pull(a *App, into []*Container) ([]*Container, Resource) {
	into = a.pull(s.listener, into)
	free := s.total.Minus(s.root.used)
	for _, n := range s.nodes {
		if a.refused[n.Index] && s.release.Fair28 {
			free = free.Minus(n.free).Max(Resource{})
		}
	}
	return into, a.fair.queue.headroom(free)
}

// complete ends a container or a reservation (FairScheduler.completedContainerInternal).
func (s *fair) complete(c *Container, exit Exit, tell bool) {
	if c.state == reserved {
		s.unreserve(c)
		return
	}
	a := c.app
	asks := c.asks
	if a.finish(s.listener, c, exit, tell) {
		a.fair.spare(c)
		delete(s.warnings.since, c)
		a.fair.queue.each(func(q *fairQueue) { q.used = q.used.Minus(c.Size) })
	}
	s.vacate(c, false)
	s.available = s.total.Minus(s.root.used)
	a.giveBack(c, asks)
}

// vacate frees the node and forgets that the container was a victim there.
func (s *fair) vacate(c *Container, byNode bool) {
	if c.occupies {
		b := s.node(c.node)
		b.victims = remove(b.victims, c)
	}
	c.node.vacate(c, byNode)
}

func (s *fair) unreserve(c *Container) {
	if c.app.fair.unbook(c) {
		c.state = ended
		s.listener.Finished(c, Unreserved, false)
	}
}

// NodeUpdate implements Scheduler.
func (s *fair) NodeUpdate(n *Node, gone []Ended) {
	report(gone, s.complete, s.vacate)
	if s.release.Fair28 || !s.continuous || len(gone) > 0 {
		s.offer(n)
	}
}

// offer assigns containers on a node (FairScheduler.attemptScheduling).
func (s *fair) offer(n *Node) {
	if !n.usable {
		return
	}
	s.assignFreed(n)
	if r := n.reserved; r == nil || !r.app.fair.assignReserved(n) {
		s.assignLoop(n)
	}
	s.available = s.total.Minus(s.root.used)
}

func (s *fair) assignLoop(n *Node) {
	half := times(n.free, 0.5)
	var sum Resource
	for given := 1; n.reserved == nil; given++ {
		r := s.root.assign(n)
		if r == (Resource{}) {
			return
		}
		sum = sum.Plus(r)
		switch {
		case !s.multiple:
			return
		case s.half && !sum.Within(half):
			return
		case !s.half && s.perBeat > 0 && given >= s.perBeat:
			return
		}
	}
}

// visit offers all nodes with room, the emptiest first, and sleeps (continuous
// scheduling). From 2.8 on, of nodes with equally much free memory only the first is
// visited: a sorted set of nodes holds one of each.
func (s *fair) visit() {
	list := slices.Clone(s.nodes)
	sortNodes(list, s.slots)
	slices.SortStableFunc(list, func(a, b *Node) int { return cmp.Compare(b.free.MemoryMiB, a.free.MemoryMiB) })
	if s.release.Fair28 {
		list = slices.CompactFunc(list, func(a, b *Node) bool { return a.free.MemoryMiB == b.free.MemoryMiB })
	}
	for _, n := range list {
		if s.least.Within(n.free) {
			s.offer(n)
		}
	}
	s.listener.After(s.sleep, s.visit)
}
