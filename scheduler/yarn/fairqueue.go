package yarn

import (
	"math"
	"slices"
)

// fairQueue is a queue of the FairScheduler (FSQueue, FSParentQueue, FSLeafQueue, 3.3.6).
type fairQueue struct {
	s        *fair
	path     string
	parent   *fairQueue
	children []*fairQueue

	policy      *sharing
	weight      float32
	leastShare  Resource
	mostShare   amounts
	mostBelow   *amounts  // maxChildResources: of queues that the file does not name
	largest     *Resource // maxContainerAllocation
	maxAM       float32   // share of the fair share; -1: no limit
	minTimeout  int64     // ns
	fairTimeout int64
	threshold   float32 // of the fair share
	preemptable bool

	share, used, demand Resource
	limit               *appLimit // maxRunningApps
	apps                []*App    // runnable, in order of addition
	amUsed              Resource
	atLeast             int64    // last time at the minimum share
	atShare             int64    // and at the threshold of the fair share
	warned              Resource // of what is used, while containers are chosen
}

func (q *fairQueue) wish() Resource  { return q.demand }
func (q *fairQueue) use() Resource   { return q.used.Minus(q.warned) }
func (q *fairQueue) least() Resource { return q.leastShare }
func (q *fairQueue) most() Resource  { return q.mostShare.of(q.s.total).Max(q.leastShare) }
func (q *fairQueue) weigh() float32  { return q.weight }
func (q *fairQueue) since() int64    { return 0 }
func (q *fairQueue) label() string   { return q.path }
func (q *fairQueue) running() bool   { return q.limit.runnable > 0 }
func (q *fairQueue) fair() *Resource { return &q.share }

func (q *fairQueue) each(do func(*fairQueue)) {
	for ; q != nil; q = q.parent {
		do(q)
	}
}

// updateDemand sums the demands from below, up to the maximum of the queue.
func (q *fairQueue) updateDemand() {
	var sum Resource
	for _, c := range q.children {
		c.updateDemand()
		sum = sum.Plus(c.demand)
	}
	for _, a := range q.apps {
		a.fair.updateDemand()
		sum = sum.Plus(a.fair.demand)
	}
	for _, a := range q.limit.waiting {
		a.fair.updateDemand()
		sum = sum.Plus(a.fair.demand)
	}
	q.demand = sum.Min(q.most())
}

// shareOut divides the queue's share among what is in it (updateInternal).
func (q *fairQueue) shareOut() {
	var list []schedulable
	for _, c := range q.children {
		list = append(list, c)
	}
	for _, a := range q.apps {
		list = append(list, a.fair)
	}
	q.policy.share(list, q.share)
	for _, c := range q.children {
		c.shareOut()
	}
}

// assign gives or reserves one container on a node (assignContainer).
func (q *fairQueue) assign(n *Node) Resource {
	if n.reserved != nil || !q.used.Within(q.most()) {
		return Resource{}
	}
	for _, c := range inOrder(q.s, q.policy, q.children) {
		if r := c.assign(n); r != (Resource{}) {
			return r
		}
	}
	for _, a := range q.wanting(func(*fairApp) bool { return true }) {
		if a.app.refused[n.Index] {
			continue
		}
		if r := a.assign(n); r != (Resource{}) {
			return r
		}
	}
	return Resource{}
}

// wanting lists in order the runnable applications, from 2.8 on those whose demand as of
// the last update differs from their use (FSLeafQueue.fetchAppsWithDemand).
func (q *fairQueue) wanting(also func(*fairApp) bool) []*fairApp {
	if !q.s.release.Fair28 {
		compare := q.s.compare(q.policy)
		slices.SortStableFunc(q.apps, func(a, b *App) int { return compare(a.fair, b.fair) })
	}
	var list []*fairApp
	for _, a := range q.apps {
		if (a.fair.demand != a.used || !q.s.release.Fair28) && also(a.fair) {
			list = append(list, a.fair)
		}
	}
	if len(list) < 2 || !q.s.release.Fair28 {
		return list
	}
	return inOrder(q.s, q.policy, list)
}

// fits reports whether the queue and its ancestors may use that much more.
func (q *fairQueue) fits(r Resource) bool {
	for ; q != nil; q = q.parent {
		if !q.used.Plus(r).Within(q.most()) {
			return false
		}
	}
	return true
}

// mayRunAM reports whether an ApplicationMaster stays within the queue's share for
// them. From 2.8 on a queue without a share counts what is free (FSLeafQueue.canRunAppAM).
func (q *fairQueue) mayRunAM(size Resource) bool {
	if math.Abs(float64(q.maxAM)+1) < 0.0001 {
		return true
	}
	limit, would := q.amLimit(), q.amUsed.Plus(size)
	if !q.s.release.Fair28 && !q.policy.cores {
		return would.MemoryMiB <= limit.MemoryMiB
	}
	return would.Within(limit)
}

// amLimit is what ApplicationMasters may use.
func (q *fairQueue) amLimit() Resource {
	if !q.s.release.Fair28 {
		return times(q.share, float64(q.maxAM))
	}
	base, most := q.share, q.most()
	if base.MemoryMiB == 0 {
		base.MemoryMiB = min(q.s.available.MemoryMiB, most.MemoryMiB)
	}
	if base.VCores == 0 {
		base.VCores = min(q.s.available.VCores, most.VCores)
	}
	up := func(v int64) int64 { return int64(math.Ceil(float64(v) * float64(q.maxAM))) }
	return Resource{MemoryMiB: up(base.MemoryMiB), VCores: up(base.VCores)}
}

// headroom is what an application of the queue may still get (FSAppAttempt.getHeadroom,
// SchedulingPolicy.getHeadroom).
func (q *fairQueue) headroom(free Resource) Resource {
	left := free.Min(q.most().Minus(q.used))
	left.MemoryMiB = min(left.MemoryMiB, max(q.share.MemoryMiB-q.used.MemoryMiB, 0))
	if q.policy.cores {
		left.VCores = min(left.VCores, max(q.share.VCores-q.used.VCores, 0))
	}
	return left
}

func remove[T comparable](list []T, x T) []T {
	return slices.DeleteFunc(list, func(y T) bool { return x == y })
}
