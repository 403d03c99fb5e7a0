package yarn

// outcome of one try for one priority (AllocationState).
type outcome uint8

const (
	prioritySkipped outcome = iota
	appSkipped
	queueSkipped
	localitySkipped
	outcomeAllocated
	outcomeReserved
)

// try is one application's answer to one node at one priority (ContainerAllocation).
type try struct {
	outcome outcome
	size    Resource
	near    locality
	release *Container
}

// offer asks an application for a container on a node. With a reservation the node is
// offered for it alone (RegularContainerAllocator.assignContainers, 3.3.6).
func (s *capacity) offer(a *App, n *Node, li *limits, booked *Container) assignment {
	if booked != nil {
		return s.propose(a, n, booked.Priority, s.tryPriority(a, n, li, booked.Priority, booked), booked)
	}
	// The first priority that wants something and may not be skipped decides.
	for _, p := range a.wanted {
		if t := s.tryPriority(a, n, li, p, nil); t.outcome != prioritySkipped {
			return s.propose(a, n, p, t, nil)
		}
	}
	return assignment{skipped: skipOther}
}

// propose makes an assignment of what came out of a try
// (RegularContainerAllocator.doAllocation, getCSAssignmentFromAllocateResult).
func (s *capacity) propose(a *App, n *Node, p Priority, t try, booked *Container) assignment {
	r := assignment{app: a, priority: p, near: t.near, release: t.release}
	switch t.outcome {
	case appSkipped:
		r.skipped = skipOther
	case queueSkipped:
		r.skipped = skipQueueLimit
	case outcomeAllocated:
		if a.stopped {
			return assignment{app: a, release: t.release, skipped: skipOther}
		}
		r.size, r.give, r.from = t.size, booked, booked
		if booked == nil {
			r.give = a.newContainer(n, t.size, p)
		}
		s.resetChances(a, p, t.near, booked)
	case outcomeReserved:
		r.size, r.reserve = t.size, booked
		if booked == nil {
			r.reserve = a.newContainer(n, t.size, p)
		}
		s.resetChances(a, p, t.near, booked)
	}
	return r
}

func (s *capacity) resetChances(a *App, p Priority, near locality, booked *Container) {
	if booked == nil && (near == nodeLocal || near == rackLocal && s.rackFullReset) {
		a.at(p).chances = 0
	}
}

// tryPriority tries the asks of one priority (RegularContainerAllocator.allocate,
// preCheckForNodeCandidateSet, tryAllocateOnNode).
func (s *capacity) tryPriority(a *App, n *Node, li *limits, p Priority, booked *Container) try {
	t := a.table(p)
	if t == nil {
		return try{release: booked}
	}
	if booked == nil {
		any := t.ask(Any)
		if any == nil || any.Count <= 0 {
			return try{}
		}
		if !s.continueLooking && !s.mayTake(a, p, any.Size) {
			return try{}
		}
		if out := s.withinLimits(a, li, any.Size); out != prioritySkipped {
			return try{outcome: out}
		}
	} else if t.count(Any) == 0 {
		return try{outcome: queueSkipped, release: booked}
	}
	if booked != nil && !s.release.Capacity28 {
		return s.tryPlaces(a, n, li, p, t, booked)
	}
	if a.refused[n.Index] {
		return try{outcome: appSkipped}
	}
	a.at(p).chances++
	s.changes++
	r := s.tryPlaces(a, n, li, p, t, booked)
	if booked == nil && r.outcome == prioritySkipped {
		a.at(p).chances--
		s.changes--
	}
	return r
}

// withinLimits reports how a request ends that is above a limit. From 2.8 on the queue's
// headroom and what the application's reservations hold must be enough
// (RegularContainerAllocator.checkHeadroom); before, the queue and the user may have to
// give up reservations for it (LeafQueue.assignContainers).
func (s *capacity) withinLimits(a *App, li *limits, size Resource) outcome {
	if !s.release.Capacity28 {
		l := a.capacity.leaf
		limit := l.userLimit(a, size)
		switch li.unbook = (Resource{}); {
		case !l.q.mayHold(li, size, a.held):
			return queueSkipped
		case !l.mayUse(a, limit, li):
			return appSkipped
		}
		li.headroom = size
		return prioritySkipped
	}
	left := li.headroom
	if s.continueLooking {
		left = left.Plus(a.held)
	}
	if s.calc.compare(s.total, left, size) < 0 {
		return queueSkipped
	}
	return prioritySkipped
}

// tryPlaces tries the node, its rack and any place, in this order
// (RegularContainerAllocator.assignContainersOnNode).
func (s *capacity) tryPlaces(a *App, n *Node, li *limits, p Priority, t *table, booked *Container) try {
	if ask := t.ask(n.Host); ask != nil && ask.Count > 0 && t.count(n.Rack) > 0 {
		if r := s.tryPlace(a, n, li, p, *ask, nodeLocal, booked); r.size != (Resource{}) {
			return r
		}
	}
	if ask := t.ask(n.Rack); ask != nil && ask.Count > 0 {
		if !t.relaxed(n.Rack) {
			return try{}
		}
		if int32(min(len(s.nodes), s.nodeDelay)) < a.at(p).chances {
			if r := s.tryPlace(a, n, li, p, *ask, rackLocal, booked); r.size != (Resource{}) {
				return r
			}
		}
	}
	ask := t.ask(Any)
	if ask == nil || ask.Count <= 0 || !t.relaxed(Any) {
		return try{}
	}
	if booked == nil && !s.mayGoOff(a.at(p).chances, t) {
		return try{outcome: appSkipped}
	}
	r := s.tryPlace(a, n, li, p, *ask, offSwitch, booked)
	if r.outcome == localitySkipped {
		r.outcome = appSkipped
	}
	return r
}

// mayGoOff reports whether enough offers were missed for a container away from its
// data (RegularContainerAllocator.canAssign).
func (s *capacity) mayGoOff(missed int32, t *table) bool {
	nodes, names := len(s.nodes), len(t.asks)
	switch {
	case nodes == 0:
		return false
	case names == 1:
		return true
	case s.rackDelay > -1:
		return int(missed) > min(nodes, s.nodeDelay+s.rackDelay)
	}
	factor := min(float32(max(names-1, 0))/float32(nodes), 1)
	return min(float32(nodes), float32(t.count(Any))*factor) < float32(missed)
}

// tryPlace tries one ask on a node: there may be room, or the node may be reserved
// (RegularContainerAllocator.assignContainer).
func (s *capacity) tryPlace(a *App, n *Node, li *limits, p Priority, ask Ask, near locality, booked *Container) try {
	none := try{outcome: localitySkipped}
	if !s.within(ask.Size, n.Total) {
		return none
	}
	mayTake := s.mayTake(a, p, ask.Size)
	excess := greater(s.calc, s.total, ask.Size.Minus(li.headroom), li.unbook)
	over := s.calc.anyAboveZero(excess)
	if s.calc.available(n.free, ask.Size) > 0 {
		r := try{outcome: outcomeAllocated, size: ask.Size, near: near}
		if booked == nil && s.continueLooking && (!mayTake || over) {
			if !over {
				excess = ask.Size
			}
			if r.release = s.toRelease(a, p, excess); r.release == nil {
				return none
			}
		}
		return r
	}
	if !mayTake && booked == nil || s.continueLooking && booked == nil && over {
		return none
	}
	return try{outcome: outcomeReserved, size: ask.Size, near: near}
}

// mayTake reports whether an application wants more at a priority than it has
// reserved. Reservations that were retried often enough let it reserve more
// (RegularContainerAllocator.shouldAllocOrReserveNewContainer).
func (s *capacity) mayTake(a *App, p Priority, size Resource) bool {
	x := a.at(p)
	booked := len(x.booked.list)
	starved := 0
	if booked > 0 {
		q := a.capacity.leaf.q
		factor := s.calc.ratio(size, q.largest)
		starved = int(float32(x.retries) / float32(booked) * (1 - min(factor, q.leastFactor)))
	}
	return starved+int(x.table.count(Any))-booked > 0
}

// toRelease finds a reservation of at least a size (FiCaSchedulerApp.findNodeToUnreserve).
func (s *capacity) toRelease(a *App, p Priority, size Resource) *Container {
	var found *Container
	a.at(p).booked.each(func(c *Container) bool {
		if s.calc.fits(size, c.Size) {
			found = c
		}
		return found == nil
	})
	return found
}
