package yarn

import (
	"cmp"
	"slices"
	"strings"
)

// limits are what an assignment may use of a queue, handed down the tree
// (ResourceLimits, 3.3.6).
type limits struct {
	limit    Resource
	headroom Resource // left for the next container
	unbook   Resource // of the application's reservations, to be given up first
	blocked  Resource // kept for a sibling that stopped on its own limit
}

// reset makes the limits those of another assignment.
func (l *limits) reset(limit Resource) *limits {
	*l = limits{limit: limit, headroom: limit}
	return l
}

// skip says why an assignment gave nothing (CSAssignment.SkippedType).
type skip uint8

const (
	skipNone skip = iota
	skipOther
	skipQueueLimit
)

// assignment is one proposal: a container to give or to reserve, and a reservation to
// give up (CSAssignment, ResourceCommitRequest).
type assignment struct {
	size     Resource
	near     locality
	skipped  skip
	give     *Container // new or reserved container to give
	reserve  *Container // new or already reserved container
	from     *Container // the reservation that is fulfilled
	release  *Container // reservation to give up
	priority Priority
	app      *App
}

// capacityQueue is a queue, root, parent or leaf (AbstractCSQueue, ParentQueue and
// LeafQueue, 3.3.6).
type capacityQueue struct {
	s        *capacity
	name     string
	path     string
	parent   *capacityQueue
	children []*capacityQueue
	leaf     *capacityLeaf // nil for a parent
	limit    *appLimit     // max-parallel-apps

	largest     Resource // allocation
	leastFactor float32  // (largest - the least allocation) / largest

	capacity, most       float32  // of the parent, as fractions
	absolute, absoluteTo float32  // of the cluster
	fixed, fixedMost     Resource // absolute resources, where configured
	priority             int32
	byPriority           bool // children stand in order of priority and use
	preemptable          bool
	intraPreemptable     bool // within it

	guaranteed, maximum Resource // effective
	usedShare           float32  // of the guaranteed amount
	usedCluster         float32
	used, held, pending Resource

	given  limits           // to the queue, in the assignment under way
	asking []*capacityQueue // children that wait for something, in the order of assignment
	moved  []*capacityQueue // children of which the place in it may have changed
	moving bool             // in moved of the parent
	place  orderKey         // in asking of the parent
}

// orderKey is what the place of a queue among its siblings was computed from.
type orderKey struct {
	listed              bool
	share, shareCluster float32 // used
	number              int     // in the list of queues
}

// move has the place of the queue among its siblings computed anew.
func (q *capacityQueue) move() {
	if p := q.parent; p != nil && !q.moving {
		q.moving = true
		p.moved = append(p.moved, q)
	}
}

// each calls a function for the queue and all its ancestors.
func (q *capacityQueue) each(do func(*capacityQueue)) {
	for ; q != nil; q = q.parent {
		do(q)
	}
}

// statistics renews the ratios by which queues are ordered
// (CSQueueUtils.updateUsedCapacity).
func (q *capacityQueue) statistics() {
	c, total := q.s.calc, q.s.total
	q.move()
	q.usedShare, q.usedCluster = 0, 0
	if c.compare(total, total, Resource{}) <= 0 {
		return
	}
	guaranteed := q.guaranteed
	if q.s.release.Capacity28 {
		guaranteed = greater(c, total, q.guaranteed, q.s.least)
	}
	q.usedCluster = c.divide(total, q.used, total)
	if guaranteed != (Resource{}) {
		q.usedShare = c.divide(total, q.used, guaranteed)
	}
}

func (q *capacityQueue) allocate(r Resource) {
	q.used = q.used.Plus(r)
	q.statistics()
}

func (q *capacityQueue) release(r Resource) {
	q.used = q.used.Minus(r)
	q.statistics()
}

// maximumDown is the queue's maximum in whole steps of the least allocation.
func (q *capacityQueue) maximumDown() Resource { return q.s.calc.roundDown(q.maximum, q.s.least) }

// mayAssign reports whether the queue is below its limit, and notes what is left
// (AbstractCSQueue.canAssignToThisQueue).
func (q *capacityQueue) mayAssign(l *limits, bookings Resource) bool {
	c, total := q.s.calc, q.s.total
	limit := lesser(c, total, q.maximum, l.limit)
	l.headroom = limit.Minus(q.used)
	if c.compare(total, q.used, limit) < 0 {
		return true
	}
	return q.s.continueLooking && c.compare(total, bookings, Resource{}) > 0 &&
		c.compare(total, q.used.Minus(bookings), limit) < 0
}

// mayHold reports whether the queue is within its limit with a request, perhaps after
// giving up reservations, before 2.8 (AbstractCSQueue.canAssignToThisQueue, 2.7.7).
func (q *capacityQueue) mayHold(l *limits, size, bookings Resource) bool {
	c, total := q.s.calc, q.s.total
	limit := lesser(c, total, q.maximumDown(), l.limit)
	after := q.used.Plus(size)
	if c.compare(total, after, limit) <= 0 {
		return true
	}
	l.unbook = after.Minus(limit)
	return q.s.continueLooking && c.compare(total, bookings, Resource{}) > 0 &&
		c.compare(total, after.Minus(bookings), limit) <= 0
}

// childLimits is what a parent leaves to a child (ParentQueue.getResourceLimitsOfChild).
func (q *capacityQueue) childLimits(child *capacityQueue, limit Resource) *limits {
	c := q.s.calc
	left := limit.Minus(q.used).Plus(child.used)
	left = lesser(c, q.s.total, left, child.maximumDown())
	return child.given.reset(c.roundDown(left, q.s.least))
}

// assign proposes a container on a node, from this queue or below.
func (q *capacityQueue) assign(n *Node, l *limits) assignment {
	if q.leaf != nil {
		return q.leaf.assign(n, l)
	}
	c, total := q.s.calc, q.s.total
	if c.compare(total, q.pending, Resource{}) <= 0 {
		return assignment{}
	}
	may := q.mayAssign
	if !q.s.release.Capacity28 {
		may = func(l *limits, bookings Resource) bool { return q.mayHold(l, q.s.least, bookings) }
	}
	if n.reserved != nil || c.compare(total, n.free, q.s.least) < 0 || !may(l, q.held) {
		return assignment{}
	}
	return q.assignChildren(n, l)
}

// assignChildren asks the children in order; the first that gives or reserves ends
// the walk. A child that stops on its own limit keeps its headroom from its later
// siblings (ParentQueue.assignContainersToChildQueues).
func (q *capacityQueue) assignChildren(n *Node, l *limits) assignment {
	c, total := q.s.calc, q.s.total
	var result assignment
	for _, child := range q.ordered() {
		below := q.childLimits(child, l.limit.Minus(l.blocked))
		a := child.assign(n, below)
		if c.compare(total, a.size, Resource{}) > 0 {
			return a
		}
		if a.skipped != skipQueueLimit || !q.s.release.Capacity28 {
			continue
		}
		if result.skipped != skipQueueLimit {
			result = a
		}
		blocked := below.blocked
		if child.leaf != nil {
			blocked = below.headroom
		}
		l.blocked = l.blocked.Plus(greater(c, total, blocked, Resource{}))
	}
	return result
}

// ordered returns the children that wait for something, the least used first
// (PriorityUtilizationQueueOrderingPolicy, from 2.8). Hadoop sorts all children each time.
func (q *capacityQueue) ordered() []*capacityQueue {
	for _, child := range q.moved {
		child.moving = false
		if child.place.listed {
			i, _ := slices.BinarySearchFunc(q.asking, child, q.before)
			q.asking = slices.Delete(q.asking, i, i+1)
			child.place.listed = false
		}
	}
	for _, child := range q.moved {
		if q.s.calc.compare(q.s.total, child.pending, Resource{}) > 0 {
			child.place.listed, child.place.share, child.place.shareCluster = true, child.usedShare, child.usedCluster
			i, _ := slices.BinarySearchFunc(q.asking, child, q.before)
			q.asking = slices.Insert(q.asking, i, child)
		}
	}
	q.moved = q.moved[:0]
	return q.asking
}

func (q *capacityQueue) before(a, b *capacityQueue) int {
	if !q.s.release.Capacity28 {
		return cmp.Or(cmp.Compare(a.place.share, b.place.share), strings.Compare(a.path, b.path))
	}
	switch {
	case a.absolute > 0 && b.absolute == 0:
		return -1
	case b.absolute > 0 && a.absolute == 0:
		return 1
	}
	usedA, usedB := a.place.share, b.place.share
	if a.absolute == 0 {
		usedA, usedB = a.place.shareCluster, b.place.shareCluster
	}
	if q.byPriority && a.priority != b.priority && (usedA < 1) == (usedB < 1) {
		return int(b.priority) - int(a.priority)
	}
	switch {
	case usedA < usedB:
		return -1
	case usedA > usedB:
		return 1
	}
	if a.fixed != (Resource{}) && b.fixed != (Resource{}) {
		if d := compareFixed(b.fixed, a.fixed); d != 0 {
			return d
		}
		return a.place.number - b.place.number
	}
	switch {
	case a.absolute > b.absolute:
		return -1
	case a.absolute < b.absolute:
		return 1
	}
	return a.place.number - b.place.number
}

// compareFixed orders configured amounts (Resource.compareTo).
func compareFixed(a, b Resource) int {
	if d := cmp.Compare(a.MemoryMiB, b.MemoryMiB); d != 0 {
		return d
	}
	return cmp.Compare(a.VCores, b.VCores)
}

// accepts checks a proposal against the maximum of the queue and its ancestors
// (AbstractCSQueue.accept).
func (q *capacityQueue) accepts(size, released Resource) bool {
	for ; q != nil; q = q.parent {
		if !q.s.calc.fits(q.used.Plus(size).Minus(released), q.maximum) {
			return false
		}
	}
	return true
}

// resize renews the tree after the cluster has changed
// (ParentQueue.updateClusterResource, LeafQueue.updateClusterResource).
func (q *capacityQueue) resize(l *limits) {
	if q.leaf != nil {
		q.leaf.resize(l)
		return
	}
	if q.parent == nil {
		q.guaranteed, q.maximum = q.s.total, q.s.total
	}
	q.shareOut()
	q.asking = q.asking[:0]
	for i, child := range q.children {
		child.place = orderKey{number: i}
		child.move()
		child.resize(q.childLimits(child, l.limit))
	}
	q.statistics()
}

// shareOut sets what the children are guaranteed and may use at most
// (ParentQueue.calculateEffectiveResourcesAndCapacity).
func (q *capacityQueue) shareOut() {
	var sum Resource
	for _, child := range q.children {
		sum = sum.Plus(child.fixed)
	}
	c, total := q.s.calc, q.s.total
	scarce := c.compare(total, q.guaranteed, sum) < 0
	for _, child := range q.children {
		if child.fixed == (Resource{}) {
			child.guaranteed = times(total, float64(child.absolute))
			child.maximum = times(total, float64(child.absoluteTo))
			continue
		}
		child.shareFixed(scarce, sum)
	}
}

// shareFixed sets the amounts of a queue that is configured in resources: scaled down
// where the parent cannot hold all of them.
func (q *capacityQueue) shareFixed(scarce bool, sum Resource) {
	c, total, parent := q.s.calc, q.s.total, q.parent
	q.guaranteed = q.fixed
	if scarce {
		q.guaranteed = Resource{
			MemoryMiB: int64(float32(q.fixed.MemoryMiB) * share(parent.guaranteed.MemoryMiB, sum.MemoryMiB)),
			VCores:    int64(float32(q.fixed.VCores) * share(parent.guaranteed.VCores, sum.VCores)),
		}
	}
	most := q.fixedMost
	if most == (Resource{}) {
		most = parent.maximum
	}
	q.maximum = lesser(c, total, most, parent.maximum)
	q.capacity = c.divide(total, q.guaranteed, parent.guaranteed)
	q.most = c.divide(total, q.maximum, parent.guaranteed)
	q.absolute = q.capacity * parent.absolute
	q.absoluteTo = q.most * parent.absoluteTo
	if q.leaf != nil {
		q.leaf.limitApps()
	}
}
