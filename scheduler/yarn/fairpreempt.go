package yarn

import (
	"math"
	"slices"
)

// fairNode is what preemption keeps of a node (FSSchedulerNode, 3.3.6).
type fairNode struct {
	victims []*Container // chosen, not gone yet
	claims  []claim      // who gets what they free, in order
	claimed Resource
}

// claim is what was preempted on a node for an application that has not got it yet.
type claim struct {
	app  *fairApp
	size Resource
}

func (b *fairNode) heldFor(f *fairApp) bool {
	return slices.ContainsFunc(b.claims, func(c claim) bool { return c.app == f })
}

// claim adds what victims will free.
func (b *fairNode) claim(f *fairApp, victims []*Container) {
	var size Resource
	for _, c := range victims {
		if !slices.Contains(b.victims, c) {
			b.victims = append(b.victims, c)
			size = size.Plus(c.Size)
		}
	}
	if size == (Resource{}) {
		return
	}
	b.claimed = b.claimed.Plus(size)
	for i := range b.claims {
		if b.claims[i].app == f {
			b.claims[i].size = b.claims[i].size.Plus(size)
			return
		}
	}
	b.claims = append(b.claims, claim{f, size})
}

// fulfil takes a container that was given off the application's claim.
func (b *fairNode) fulfil(f *fairApp, size Resource) {
	for i := range b.claims {
		if b.claims[i].app != f {
			continue
		}
		got := b.claims[i].size.Min(size)
		b.claims[i].size = b.claims[i].size.Minus(got)
		b.claimed = b.claimed.Minus(got)
		if b.claims[i].size == (Resource{}) {
			b.claims = slices.Delete(b.claims, i, i+1)
		}
		return
	}
}

// clean drops the claims of applications that are not starved any more.
func (b *fairNode) clean() {
	b.claims = slices.DeleteFunc(b.claims, func(c claim) bool {
		f := c.app
		over := f.app.stopped || !f.starved() || f.lacksFair == (Resource{}) && f.lacksMin == (Resource{})
		if over {
			f.s.changes++
			b.claimed = b.claimed.Minus(c.size)
		}
		return over
	})
}

// assignFreed gives what was preempted on a node to those it was preempted for
// (FairScheduler.assignPreemptedContainers).
func (s *fair) assignFreed(n *Node) {
	b := s.node(n)
	b.clean()
	for _, c := range slices.Clone(b.claims) {
		for left := c.size; !c.app.app.stopped && left != (Resource{}); {
			got := c.app.assign(n)
			if got == (Resource{}) || got == reservedMark {
				break
			}
			left = left.Minus(got).Max(Resource{})
		}
	}
}

// crowded reports whether enough of the cluster is in use for preemption.
func (s *fair) crowded() bool {
	used := s.root.used
	return s.utilization < max(
		float32(used.MemoryMiB)/float32(s.total.MemoryMiB), float32(used.VCores)/float32(s.total.VCores))
}

// findStarved notes the starved applications of a queue
// (FSLeafQueue.updateStarvedApps): those that lack fair share, and those that lack a
// part of the queue's minimum share.
func (s *fair) findStarved(q *fairQueue) {
	now := s.listener.Nanos()
	apps := q.wanting(func(f *fairApp) bool { return now >= f.nextCheck })
	var fairSum Resource
	for _, f := range apps {
		lacks := f.findLack(now)
		if lacks == (Resource{}) {
			break
		}
		s.starving.add(f)
		fairSum = fairSum.Plus(lacks)
	}
	pending := q.lackOfMinimum(now).Minus(fairSum).Max(Resource{})
	for _, f := range apps {
		if pending == (Resource{}) {
			f.lacksMin = Resource{}
			continue
		}
		share := f.demand.Minus(f.app.used).Minus(f.lacksFair).Max(Resource{})
		if q.policy.calc.compare(s.total, share, pending) > 0 {
			share = share.Minus(pending).Max(Resource{})
			pending = Resource{}
		} else {
			pending = pending.Minus(share).Max(Resource{})
		}
		f.lacksMin = share
		s.starving.add(f)
	}
}

// findLack is what an application lacks of its fair share, once it has lacked it for
// the queue's timeout (FSAppAttempt.fairShareStarvation).
func (f *fairApp) findLack(now int64) Resource {
	q := f.queue
	wanted := times(f.share, float64(q.threshold)).Min(f.demand)
	starved := q.policy.below(f.s.total, f.app.used, wanted)
	if !starved {
		f.atShare = now
	}
	f.lacksFair = Resource{}
	if starved && now-f.atShare >= q.fairTimeout {
		f.lacksFair = wanted.Minus(f.app.used).Max(Resource{})
	}
	return f.lacksFair
}

// lackOfMinimum is what a queue lacks of its minimum share after its timeout
// (FSLeafQueue.minShareStarvation).
func (q *fairQueue) lackOfMinimum(now int64) Resource {
	lacks := q.leastShare.Min(q.demand).Minus(q.used).Max(Resource{})
	if lacks == (Resource{}) {
		q.atLeast = now
	}
	if now-q.atLeast < q.minTimeout {
		return Resource{}
	}
	return lacks
}

// starving is the queue of starved applications (FSStarvedApps): a binary heap as
// Java's PriorityBlockingQueue keeps it, because the comparator is no order: equals
// are less both ways.
type starving struct{ heap []*fairApp }

func (h *starving) compare(a, b *fairApp) int {
	if a.lacks().Within(b.lacks()) {
		return -1
	}
	return 1
}

func (f *fairApp) lacks() Resource { return f.lacksFair.Plus(f.lacksMin) }

func (h *starving) add(f *fairApp) {
	if slices.Contains(h.heap, f) {
		return
	}
	h.heap = append(h.heap, f)
	k := len(h.heap) - 1
	for k > 0 {
		up := (k - 1) / 2
		if h.compare(f, h.heap[up]) >= 0 {
			break
		}
		h.heap[k] = h.heap[up]
		k = up
	}
	h.heap[k] = f
}

func (h *starving) take() *fairApp {
	first := h.heap[0]
	n := len(h.heap) - 1
	x := h.heap[n]
	h.heap = h.heap[:n]
	if n == 0 {
		return first
	}
	k := 0
	for 2*k+1 < n {
		c := 2*k + 1
		if c+1 < n && h.compare(h.heap[c], h.heap[c+1]) > 0 {
			c++
		}
		if h.compare(x, h.heap[c]) <= 0 {
			break
		}
		h.heap[k] = h.heap[c]
		k = c
	}
	h.heap[k] = x
	return first
}

// preempt serves the starved applications: it chooses victims and kills them after the
// time of warning (FSPreemptionThread).
func (s *fair) preempt() {
	for len(s.starving.heap) > 0 {
		f := s.starving.take()
		victims := s.chooseVictims(f)
		s.listener.After(s.warn, func() {
			for _, c := range victims {
				s.complete(c, Preempted, true)
			}
		})
		f.nextCheck = s.listener.Nanos() + s.recheck
	}
}

// chooseVictims finds for each ask of an application, as far as it is starved, nodes
// on which others can make room.
func (s *fair) chooseVictims(f *fairApp) []*Container {
	var all []*Container
	for _, ask := range f.starvedAsks() {
		nodes := s.nodesAt(ask.Place)
		for range ask.Count {
			victims := s.best(ask, nodes)
			if len(victims) == 0 {
				continue
			}
			all = append(all, victims...)
			s.node(victims[0].node).claim(f, victims)
			for _, c := range victims {
				c.app.fair.mark(c)
			}
		}
	}
	return all
}

// nodesAt lists the nodes of a place: all of them in the order of Hadoop's hash map.
func (s *fair) nodesAt(p Place) []*Node {
	var list []*Node
	for _, n := range s.nodes {
		if p == Any || n.Host == p || n.Rack == p {
			list = append(list, n)
		}
	}
	if p == Any {
		sortNodes(list, s.slots)
	}
	return list
}

// starvedAsks are the asks that the application's starvation covers
// (FSAppAttempt.getStarvedResourceRequests).
func (f *fairApp) starvedAsks() []Ask {
	var list []Ask
	lacks := f.lacks()
	for _, x := range f.app.byKey() {
		if x.table == nil {
			continue
		}
		seen := visited{racks: make(map[Place]bool), ofNodes: make(map[Place]bool)}
		for _, ask := range x.table.byHash(f.s.listener) {
			if lacks == (Resource{}) {
				return list
			}
			if !seen.visit(f.s, ask.Place) {
				continue
			}
			n := int32(math.Floor(float64(share(lacks.MemoryMiB, ask.Size.MemoryMiB))))
			if n == 0 {
				continue
			}
			one := *ask
			one.Count = min(one.Count, n)
			list = append(list, one)
			lacks = lacks.Minus(one.Size.Times(int64(one.Count))).Max(Resource{})
		}
	}
	return list
}

// visited tells which asks of a priority cover the same containers
// (VisitedResourceRequestTracker): Any counts only if it comes first.
type visited struct {
	any            bool
	racks, ofNodes map[Place]bool
}

func (v *visited) visit(s *fair, p Place) bool {
	if p == Any {
		if len(v.racks) == 0 && len(v.ofNodes) == 0 {
			v.any = true
		}
		return v.any
	}
	nodes := s.nodesAt(p)
	switch {
	case len(nodes) == 0:
		return false
	case len(nodes) == 1 && nodes[0].Host == p:
		rack := nodes[0].Rack
		if v.any || v.racks[rack] {
			return false
		}
		v.ofNodes[rack] = true
		return true
	case v.any || v.ofNodes[p]:
		return false
	}
	v.racks[p] = true
	return true
}

// best chooses the victims for one container: those of the node with the fewest
// ApplicationMasters among them; the first node without one is taken.
func (s *fair) best(ask Ask, nodes []*Node) []*Container {
	victims, masters := s.bestOf(ask, nodes)
	if ask.Strict || ask.Place == Any || masters == 0 || masters == math.MaxInt32 {
		return victims
	}
	var rest []*Node
	for _, n := range s.nodesAt(Any) {
		if !slices.Contains(nodes, n) {
			rest = append(rest, n)
		}
	}
	if others, fewer := s.bestOf(ask, rest); fewer < masters {
		return others // none, where there is room already
	}
	return victims
}

func (s *fair) bestOf(ask Ask, nodes []*Node) (best []*Container, masters int) {
	masters = math.MaxInt32
	for _, n := range nodes {
		if victims, m, ok := s.victimsOn(n, ask.Size, masters); ok {
			best, masters = victims, m
			if m == 0 {
				break
			}
		}
	}
	return best, masters
}

// victimsOn chooses containers of a node whose end makes room, with fewer
// ApplicationMasters than a bound (identifyContainersToPreemptOnNode).
func (s *fair) victimsOn(n *Node, size Resource, bound int) (victims []*Container, masters int, ok bool) {
	b := s.node(n)
	room := n.free.Minus(b.reservedTotal(n)).Max(Resource{})
	taken := make(map[*App]Resource)
	for _, c := range n.withMastersLast() {
		if slices.Contains(b.victims, c) {
			continue
		}
		if !c.app.stopped && c.app.fair.mayLose(c, taken[c.app]) {
			if c.AM() {
				if masters++; masters >= bound {
					return nil, 0, false
				}
			}
			victims = append(victims, c)
			taken[c.app] = taken[c.app].Plus(c.Size)
			room = room.Plus(c.Size)
		}
		if size.Within(room) {
			return victims, masters, true
		}
	}
	return nil, 0, false
}

func (b *fairNode) reservedTotal(n *Node) Resource {
	if n.reserved != nil {
		return b.claimed.Plus(n.reserved.Size)
	}
	return b.claimed
}

// mayLose reports whether the application keeps its fair share without a container
// (FSAppAttempt.canContainerBePreempted).
func (f *fairApp) mayLose(c *Container, considered Resource) bool {
	if !f.queue.preemptable || c.AM() && f.s.sparesAM(f.queue.path) ||
		c.state == ended || slices.Contains(f.victims, c) {
		return false
	}
	after := f.app.used.Minus(f.victimSize).Minus(c.Size).Minus(considered)
	return !f.queue.policy.below(f.s.total, after, f.share)
}

func (f *fairApp) mark(c *Container) {
	if !slices.Contains(f.victims, c) {
		f.victims = append(f.victims, c)
		f.victimSize = f.victimSize.Plus(c.Size)
	}
}

func (f *fairApp) spare(c *Container) {
	if i := slices.Index(f.victims, c); i >= 0 {
		f.victims = slices.Delete(f.victims, i, i+1)
		f.victimSize = f.victimSize.Minus(c.Size)
	}
}
