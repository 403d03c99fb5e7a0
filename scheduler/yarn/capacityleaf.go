package yarn

import "slices"

// capacityApp is what a leaf queue keeps of an application (FiCaSchedulerApp, 3.3.6).
type capacityApp struct {
	leaf    *capacityLeaf
	user    *capacityUser // as of the last look (capacityUsers.user)
	size    Resource      // of the ApplicationMaster, normalised
	ordered bool          // activated: in the list of those that are given containers
	key     Resource      // use as of the last renewal of its place in the order
	wish    Resource      // the same and what it asked for then
	seen    bool          // it has been offered a node, or seen a change of the cluster
	request Resource      // with which it was, before 2.8
}

// capacityLeaf is a queue that holds applications (LeafQueue, 3.3.6).
type capacityLeaf struct {
	q     *capacityQueue
	users *capacityUsers

	amPercent   float32
	fair        bool // ordering-policy fair
	bySize      bool // fair.enable-size-based-weight
	stopped     bool // it takes no applications
	statedApps  int  // maximum-applications; negative: a share of the system's
	maxApps     int
	maxAppsUser int

	pending []*App // wait for activation, by priority and id
	active  []*App // in the order of the policy
	stale   []*App // that move in the order before it is used next (fair)

	amUsed, amLimit Resource
	cached          Resource // limit as of the last assignment (cachedResourceLimitsForHeadroom)
	current         Resource // the same, as headroom and AM limits see it (queueResourceLimitsInfo)
}

// resize follows a change of the cluster.
func (l *capacityLeaf) resize(li *limits) {
	l.note(li)
	l.current = l.cached
	l.users.resize()
	l.q.statistics()
	l.activate()
	l.users.version++
	for _, a := range l.active {
		a.capacity.seen, a.capacity.request = true, Resource{}
	}
}

// note keeps the limit that the parents leave, for headrooms.
func (l *capacityLeaf) note(li *limits) {
	s := l.q.s
	if limit := lesser(s.calc, s.total, l.q.maximumDown(), li.limit); limit != l.cached {
		l.cached = limit
		s.changes++
	}
}

// renewAMLimit is LeafQueue.calculateAndGetAMResourceLimitPerPartition; in 2.7
// getAMResourceLimit.
func (l *capacityLeaf) renewAMLimit() {
	s := l.q.s
	base := l.guaranteed()
	if s.within(base, l.current) {
		base = l.current
	}
	l.amLimit = s.calc.timesUp(base, float64(l.amPercent), s.least)
}

// guaranteed is the queue's guarantee as its limits count it: rounded up before 2.8.
func (l *capacityLeaf) guaranteed() Resource {
	s := l.q.s
	if s.release.Capacity28 {
		return l.q.guaranteed
	}
	return s.calc.timesUp(s.total, float64(l.q.absolute), s.least)
}

// userAMLimit is LeafQueue.getUserAMResourceLimitPerPartition; in 2.7
// getUserAMResourceLimit.
func (l *capacityLeaf) userAMLimit(u *capacityUser) Resource {
	s := l.q.s
	part := max(l.users.percent/100, 1/float32(max(l.users.active(), 1)))
	part = min(part*u.weight, 1)
	limit := s.calc.timesUp(l.guaranteed(), float64(l.amPercent*part*l.users.factor), s.least)
	if !s.release.Capacity28 {
		return limit
	}
	return lesser(s.calc, s.total, limit, l.amLimit)
}

// activate lets waiting applications run while the limits on ApplicationMasters hold;
// one that does not fit is passed over (LeafQueue.activateApplications). The limit of
// the first user that is looked at serves for all users of one pass, as in 3.3.6.
func (l *capacityLeaf) activate() {
	s := l.q.s
	l.renewAMLimit()
	var userLimit Resource
	known := false
	idle := func() bool {
		return len(l.active) < 1 || s.release.Capacity28 && s.calc.compare(s.total, l.amUsed, Resource{}) <= 0
	}
	kept := l.pending[:0]
	for _, a := range l.pending {
		size := a.capacity.size
		if !s.within(size.Plus(l.amUsed), l.amLimit) && !idle() {
			kept = append(kept, a)
			continue
		}
		u := l.users.user(a)
		if !known {
			userLimit, known = l.userAMLimit(u), true
		}
		if !s.within(size.Plus(u.amUsed), userLimit) && !idle() {
			kept = append(kept, a)
			continue
		}
		l.users.count(u, -1, 1)
		a.capacity.ordered = true
		l.insert(a)
		l.amUsed = l.amUsed.Plus(size)
		u.amUsed = u.amUsed.Plus(size)
	}
	l.pending = kept
}

// full reports whether the queue or a user has as many applications as it may have
// (LeafQueue.validateSubmitApplication).
func (l *capacityLeaf) full(user string) bool {
	own := 0
	if u := l.users.users[user]; u != nil {
		own = u.pending + u.active
	}
	return len(l.pending)+len(l.active)+len(l.q.limit.waiting) >= l.maxApps || own >= l.maxAppsUser
}

// submit adds an attempt (LeafQueue.addApplicationAttempt).
func (l *capacityLeaf) submit(a *App) {
	l.users.count(l.users.of(a.User), 1, 0)
	i, _ := slices.BinarySearchFunc(l.pending, a, inputOrder)
	l.pending = slices.Insert(l.pending, i, a)
	if s := l.q.s; s.calc.compare(s.total, s.total, Resource{}) > 0 || !s.release.Capacity28 {
		l.activate()
	}
}

// withdraw removes an attempt (LeafQueue.removeApplicationAttempt).
func (l *capacityLeaf) withdraw(a *App) {
	u := l.users.of(a.User)
	if a.capacity.ordered {
		l.active = slices.DeleteFunc(l.active, func(x *App) bool { return x == a })
		l.stale = slices.DeleteFunc(l.stale, func(x *App) bool { return x == a })
		l.amUsed = l.amUsed.Minus(a.capacity.size)
		u.amUsed = u.amUsed.Minus(a.capacity.size)
		l.users.count(u, 0, -1)
	} else {
		l.pending = slices.DeleteFunc(l.pending, func(x *App) bool { return x == a })
		l.users.count(u, -1, 0)
	}
	if u.active+u.pending == 0 {
		l.users.remove(a.User)
	}
	l.activate()
}

// inputOrder is by priority of the application, then by submission
// (PriorityComparator, FifoComparator).
func inputOrder(a, b *App) int {
	if a.Priority != b.Priority {
		return int(b.Priority) - int(a.Priority)
	}
	return int(a.ID) - int(b.ID)
}

// assign proposes a container of one of the queue's applications
// (LeafQueue.assignContainers).
func (l *capacityLeaf) assign(n *Node, li *limits) assignment {
	s := l.q.s
	l.note(li)
	if r := n.reserved; r != nil && r.app.capacity.leaf == l {
		return s.offer(r.app, n, li, r)
	}
	if s.calc.compare(s.total, l.q.pending, Resource{}) <= 0 {
		return assignment{}
	}
	if !s.release.Capacity28 {
		for _, a := range l.active {
			if a.refused[n.Index] {
				continue
			}
			r := s.offer(a, n, li, nil)
			if s.calc.compare(s.total, r.size, Resource{}) > 0 || r.skipped == skipQueueLimit {
				return r
			}
		}
		return assignment{}
	}
	checked := false
	for _, a := range l.order() {
		if !checked {
			if !l.q.mayAssign(li, a.held) {
				return assignment{}
			}
			checked = !s.continueLooking || a.held == (Resource{})
		}
		limit := l.userLimit(a, s.least)
		if !l.mayUse(a, limit, li) {
			continue
		}
		r := s.offer(a, n, li, nil)
		switch {
		case s.calc.compare(s.total, r.size, Resource{}) > 0, r.skipped == skipQueueLimit:
			return r
		case r.skipped == skipNone:
			return assignment{}
		}
	}
	return assignment{}
}

// userLimit is LeafQueue.computeUserLimitAndSetHeadroom.
func (l *capacityLeaf) userLimit(a *App, request Resource) Resource {
	limit := l.users.limit(l.users.user(a), request)
	if s := l.q.s; !s.release.Capacity28 && a.capacity.request != request {
		a.capacity.request = request
		s.changes++
	}
	if l.current != l.cached || !a.capacity.seen {
		l.current, a.capacity.seen = l.cached, true
		l.q.s.changes++
	}
	return limit
}

// mayUse reports whether an application's user is within its limit, perhaps after
// giving up reservations (LeafQueue.canAssignToUser).
func (l *capacityLeaf) mayUse(a *App, limit Resource, li *limits) bool {
	s := l.q.s
	u := l.users.user(a)
	if u == nil {
		return false
	}
	if s.release.Capacity28 {
		li.unbook = Resource{}
	}
	if s.calc.compare(s.total, u.used, limit) <= 0 {
		return true
	}
	if s.continueLooking && s.calc.compare(s.total, u.used.Minus(a.held), limit) <= 0 {
		li.unbook = greater(s.calc, s.total, li.unbook, u.used.Minus(limit))
		return true
	}
	return false
}

// headroom is what an application may still get (LeafQueue.getHeadroom,
// CapacityHeadroomProvider).
func (l *capacityLeaf) headroom(a *App) Resource {
	if !a.capacity.seen {
		return Resource{}
	}
	s := l.q.s
	u := l.users.user(a)
	if u == nil {
		return Resource{}
	}
	var zero Resource
	limit := l.users.limit(u, a.capacity.request)
	if !s.release.Capacity28 {
		left := s.calc.roundDown(limit.Minus(u.used).Min(l.current.Minus(l.q.used)), s.least)
		left.MemoryMiB = max(left.MemoryMiB, 0)
		return left
	}
	left := limit.Minus(u.used).Max(zero)
	left = left.Min(l.current.Minus(l.q.used).Max(zero))
	left = s.calc.roundDown(left, s.least)
	left = lesser(s.calc, s.total, s.total.Minus(s.root.used), left)
	left.MemoryMiB = max(left.MemoryMiB, 0)
	return left
}

// allocate and release book use in the leaf; the ancestors follow
// (LeafQueue.allocateResource, releaseResource).
func (l *capacityLeaf) allocate(a *App, r Resource) {
	l.q.allocate(r)
	l.users.add(a, r)
	l.reorder(a)
}

func (l *capacityLeaf) release(a *App, r Resource) {
	l.reorder(a)
	l.q.release(r)
	l.users.add(a, Resource{}.Minus(r))
	l.q.parent.each(func(q *capacityQueue) { q.release(r) })
}
