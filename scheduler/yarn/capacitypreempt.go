package yarn

import (
	"cmp"
	"maps"
	"slices"
)

// preemption is the monitor that takes containers from queues above their guarantee
// for queues below it (ProportionalCapacityPreemptionPolicy, 3.3.6). Each round chooses
// the same newest containers again until they are killed.
type preemption struct {
	s           *capacity
	interval    int64 // ns
	wait        int64 // ns from the choice of a container to its end
	ignored     float64
	termination float64
	perRound    float32 // of the cluster
	observe     bool
	whole       bool // a container is taken only while all that counts is wanted
	selectors   []selector
	within      *intraQueue // nil: off

	chosen map[*Container]int64  // when first
	served []*idealQueue         // that wait for something, the hungriest first
	drops  []*Container          // reservations that go
	taken  map[*App][]*Container // chosen in this round
	leafs  map[*capacityLeaf]*idealQueue
}

// selector is one way to choose between queues. Those of a round follow each other.
type selector struct {
	wait     int64 // ns from the choice of a container to its end
	reserved bool  // reservations wait like what is asked for, and all of it is taken at once
	beyond   bool  // queues share alike beyond their guarantees too
	choose   func(*preemption, *Resource) map[*App][]*Container
}

// idealQueue is a queue as a round sees it (TempQueuePerPartition).
type idealQueue struct {
	q        *capacityQueue
	children []*idealQueue

	pending     Resource // within the limits of users
	unreserved  Resource // the same without what is reserved
	ideal       Resource
	untouchable Resource // use above the guarantee that stays
	extra       Resource // and that may go
	normal      [2]float64
	excess      Resource
	obtain      Resource // what a leaf is to give
}

// start runs the monitor at once and then at a fixed rate.
func (p *preemption) start() {
	var round func()
	round = func() {
		p.s.listener.After(p.interval, round)
		p.round()
	}
	p.s.listener.After(0, round)
}

// round chooses containers, and kills those that were chosen long enough ago.
func (p *preemption) round() {
	s := p.s
	p.leafs = make(map[*capacityLeaf]*idealQueue)
	root := p.clone(s.root)
	allowed := times(s.total, float64(p.perRound))
	p.served, p.drops, p.taken = p.served[:0], p.drops[:0], make(map[*App][]*Container)
	choices := make([]map[*App][]*Container, len(p.selectors))
	for i, x := range p.selectors {
		root.findExtras()
		root.ideal = root.q.guaranteed
		root.distribute(p, x, allowed)
		for _, t := range p.leafs {
			t.obtain = t.toObtain(p, x)
		}
		choices[i] = x.choose(p, &allowed)
	}
	var within map[*App][]*Container
	if p.within != nil {
		within = p.within.choose(p.served, &allowed, p.taken)
	}
	if p.observe {
		return
	}
	for _, c := range p.drops {
		s.complete(c, Unreserved, false)
	}
	for i, x := range p.selectors {
		p.warnOrKill(choices[i], x.wait)
	}
	p.warnOrKill(within, p.wait)
	// As cleanupStaledPreemptionCandidates of 3.3.6 reads: it knows the wait of no selector but
	// this one, and forgets the choices of one that waits much more than twice as long.
	maps.DeleteFunc(p.chosen, func(_ *Container, since int64) bool { return since+2*p.wait < s.listener.Nanos() })
}

// warnOrKill kills the containers of a choice that were chosen long enough ago.
func (p *preemption) warnOrKill(chosen map[*App][]*Container, wait int64) {
	now := p.s.listener.Nanos()
	for _, c := range inOrderOfApps(chosen) {
		since, warned := p.chosen[c]
		switch {
		case !warned:
			p.chosen[c] = now
		case since+wait < now, since+wait == now && p.s.release.Capacity28:
			delete(p.chosen, c)
			p.s.complete(c, Preempted, true)
		}
	}
}

func inOrderOfApps(chosen map[*App][]*Container) (list []*Container) {
	for _, a := range slices.SortedFunc(maps.Keys(chosen), func(a, b *App) int { return int(a.ID - b.ID) }) {
		list = append(list, inHashOrder(chosen[a])...)
	}
	return list
}

func inHashOrder(list []*Container) []*Container {
	slots := hashSlots(0, len(list))
	slices.SortStableFunc(list, func(a, b *Container) int { return slotOf(a.hash(), slots) - slotOf(b.hash(), slots) })
	return list
}

// clone copies the tree with what each queue waits for.
func (p *preemption) clone(q *capacityQueue) *idealQueue {
	t := &idealQueue{q: q}
	if l := q.leaf; l != nil {
		t.pending = l.pendingWithinLimits(false)
		t.unreserved = l.pendingWithinLimits(true)
		p.leafs[l] = t
	}
	for _, c := range q.children {
		child := p.clone(c)
		t.children = append(t.children, child)
		t.pending = t.pending.Plus(child.pending)
		t.unreserved = t.unreserved.Plus(child.unreserved)
	}
	return t
}

// pendingWithinLimits is what the applications wait for, as far as the limits of their
// users let them have it (LeafQueue.getTotalPendingResourcesConsideringUserLimit).
func (l *capacityLeaf) pendingWithinLimits(deduct bool) Resource {
	left := make(map[string]Resource)
	var sum, zero Resource
	for _, a := range l.active {
		room, ok := left[a.User]
		if !ok {
			u := l.users.user(a)
			room = l.users.limit(u, l.q.s.least).Minus(u.used).Max(zero)
		}
		want := a.pending
		if deduct {
			want = want.Minus(a.held)
		}
		want = want.Max(zero).Min(room)
		sum = sum.Plus(want)
		left[a.User] = room.Minus(want)
	}
	return sum
}

// leafsInOrder lists the leafs as a hash map of their paths does.
func (p *preemption) leafsInOrder() []*idealQueue {
	slots := hashSlots(0, len(p.leafs))
	return slices.SortedFunc(maps.Values(p.leafs), func(a, b *idealQueue) int {
		return slotOf(stringHash(a.q.path), slots) - slotOf(stringHash(b.q.path), slots)
	})
}

// findExtras divides use above the guarantee into what may go and what stays
// (updatePreemptableExtras).
func (t *idealQueue) findExtras() {
	t.extra, t.untouchable = Resource{}, Resource{}
	c, total := t.q.s.calc, t.q.s.total
	extra := t.q.used.Minus(t.q.guaranteed)
	if c.compare(total, extra, Resource{}) < 0 {
		extra = Resource{}
	}
	if len(t.children) == 0 {
		if t.q.preemptable {
			t.extra = extra
		} else {
			t.untouchable = extra
		}
		return
	}
	var below Resource
	for _, child := range t.children {
		child.findExtras()
		below = below.Plus(child.extra)
	}
	if c.compare(total, below, extra) < 0 {
		t.untouchable = extra.Minus(below)
	}
	t.extra = lesser(c, total, below, extra)
}

// distribute computes the ideal shares below a queue, and how far each child is above
// its own, scaled down to what a round may take (computeIdealResourceDistribution).
func (t *idealQueue) distribute(p *preemption, x selector, allowed Resource) {
	if len(t.children) == 0 {
		return
	}
	c, total := t.q.s.calc, t.ideal
	var with, without []*idealQueue
	for _, child := range t.children {
		if c.compare(total, child.q.guaranteed, Resource{}) > 0 {
			with = append(with, child)
		} else {
			without = append(without, child)
		}
	}
	left := p.fill(x, total, with, total, false)
	if len(without) > 0 && c.compare(total, left, Resource{}) > 0 {
		p.fill(x, total, without, left, true)
	}
	var needed Resource
	for _, child := range t.children {
		if c.compare(total, child.q.used, child.ideal) > 0 {
			needed = needed.Plus(child.q.used.Minus(child.ideal))
		}
	}
	scale := float32(1)
	if c.compare(total, needed, allowed) > 0 {
		scale = c.divide(total, allowed, needed)
	}
	for _, child := range t.children {
		keep := lesser(c, total, child.q.used.Plus(child.pending), child.q.guaranteed)
		keep = greater(c, total, keep, child.ideal)
		child.excess = Resource{}
		if c.compare(total, child.q.used, keep) > 0 {
			child.excess = times(child.q.used.Minus(keep), float64(scale))
		}
	}
	for _, child := range t.children {
		child.distribute(p, x, allowed)
	}
}

// fill hands a resource out in rounds to the queues that have least of their
// guarantee, in proportion to the guarantees (computeFixpointAllocation). It returns
// what nobody takes, and notes the queues that wait for something in their order.
func (p *preemption) fill(x selector, total Resource, queues []*idealQueue, left Resource, evenly bool) Resource {
	c := p.s.calc
	var hungry []*idealQueue
	for _, t := range queues {
		t.ideal = t.q.used
		if c.compare(total, t.q.used, t.q.guaranteed) > 0 {
			t.ideal = t.q.guaranteed.Min(t.q.used).Plus(t.untouchable)
		}
		left = left.Minus(t.ideal)
		if c.compare(total, t.ideal, t.q.used.Plus(t.pending)) < 0 {
			hungry = append(hungry, t)
		}
	}
	for len(hungry) > 0 && c.compare(total, left, Resource{}) > 0 {
		normalise(hungry, evenly)
		slices.SortStableFunc(hungry, func(a, b *idealQueue) int { return compareNeed(c, total, a, b) })
		n := 1
		for n < len(hungry) && compareNeed(c, total, hungry[0], hungry[n]) == 0 {
			n++
		}
		p.serve(hungry[:min(n+1, len(hungry))])
		var again []*idealQueue
		round := left
		for _, t := range hungry[:n] {
			if !c.anyAboveZero(left) {
				break
			}
			offered := c.timesUpEach(round, t.normal).Min(left)
			taken := offered.Minus(t.accept(c, x, total, offered))
			if c.compare(total, taken, Resource{}) > 0 {
				again = append(again, t)
			}
			left = left.Minus(taken).Max(Resource{})
		}
		hungry = append(again, hungry[n:]...)
	}
	slices.SortStableFunc(hungry, func(a, b *idealQueue) int { return compareNeed(c, total, a, b) })
	p.serve(hungry)
	return left
}

// serve notes queues that wait for something (addPartitionToUnderServedQueues).
func (p *preemption) serve(queues []*idealQueue) {
	for _, t := range queues {
		if !slices.Contains(p.served, t) {
			p.served = append(p.served, t)
		}
	}
}

// compareNeed orders by the ideal share of the guarantee (TQComparator).
func compareNeed(c calculator, total Resource, a, b *idealQueue) int {
	part := func(t *idealQueue) float32 {
		if c.compare(total, t.q.guaranteed, Resource{}) > 0 {
			return c.divide(total, t.ideal, t.q.guaranteed)
		}
		return 1 << 31
	}
	x, y := part(a), part(b)
	if p := a.q.parent; p != nil && p.byPriority && a.q.priority != b.q.priority && (x < 1) == (y < 1) {
		return int(b.q.priority) - int(a.q.priority)
	}
	return signOf(float64(x) - float64(y))
}

// normalise sets the parts of a round that queues are offered.
func normalise(queues []*idealQueue, evenly bool) {
	var sum Resource
	for _, t := range queues {
		sum = sum.Plus(t.q.guaranteed)
	}
	for _, t := range queues {
		if evenly {
			part := float64(1 / float32(len(queues)))
			t.normal = [2]float64{part, part}
			continue
		}
		if sum.MemoryMiB != 0 {
			t.normal[0] = float64(float32(t.q.guaranteed.MemoryMiB) / float32(sum.MemoryMiB))
		}
		if sum.VCores != 0 {
			t.normal[1] = float64(float32(t.q.guaranteed.VCores) / float32(sum.VCores))
		}
	}
}

// accept takes a part of an offer, and returns the rest: what the queue uses and waits
// for, within its maximum; from 2.8 on a leaf takes nothing above its guarantee and its
// use, unless the selector is for that (TempQueuePerPartition.offer).
func (t *idealQueue) accept(c calculator, x selector, total, offered Resource) Resource {
	var zero Resource
	pending := t.unreserved
	if x.reserved {
		pending = t.pending
	}
	wants := t.q.used.Plus(pending).Minus(t.ideal)
	taken := t.q.maximum.Minus(t.ideal).Max(zero).Min(lesser(c, total, offered, wants))
	if len(t.children) == 0 && t.q.s.release.Capacity28 && !x.beyond {
		most := greater(c, total, t.q.used, t.q.guaranteed).Minus(t.ideal)
		taken = lesser(c, total, taken, greater(c, total, most, zero))
	}
	taken = taken.Max(zero).Min(offered)
	t.ideal = t.ideal.Plus(taken)
	return offered.Minus(taken)
}

// chooseLast picks containers of the leafs that are above their ideal share, application
// by application from the last (FifoCandidatesSelector.selectCandidates).
func (p *preemption) chooseLast(allowed *Resource) map[*App][]*Container {
	s := p.s
	for _, c := range inOrderOfApps(p.taken) {
		t := p.leafs[c.app.capacity.leaf]
		if s.calc.compare(s.total, t.obtain, c.Size) > 0 {
			t.obtain = t.obtain.Minus(c.Size)
		}
		t.obtain = greater(s.calc, s.total, t.obtain, Resource{})
	}
	chosen := make(map[*App][]*Container)
	for _, t := range p.leafsInOrder() {
		if s.calc.compare(s.total, t.obtain, Resource{}) <= 0 {
			continue
		}
		take := taking{s: s, obtain: t.obtain, allowed: allowed, chosen: chosen, taken: p.taken, whole: p.whole}
		var masters []*Container
		var size Resource
		apps := slices.Clone(t.q.leaf.order())
		slices.Reverse(apps)
		for _, a := range apps {
			if take.done {
				break
			}
			for _, c := range take.from(a, p) {
				masters = append(masters, c)
				size = size.Plus(c.Size)
			}
		}
		most := times(t.q.guaranteed, float64(t.q.leaf.amPercent))
		for _, c := range masters {
			if take.done || s.calc.compare(s.total, size, most) <= 0 {
				break
			}
			if take.one(c) {
				size = size.Minus(c.Size)
			}
		}
	}
	return chosen
}

// chooseOnNodes picks containers that keep a reservation from its node, where together
// they make the room; nodes go first where that takes least for what is reserved
// (ReservedContainerCandidatesSelector.selectCandidates).
func (p *preemption) chooseOnNodes(allowed *Resource) map[*App][]*Container {
	type offer struct {
		n    *Node
		cost float32
	}
	var nodes []offer
	list := slices.Clone(p.s.nodes)
	sortNodes(list, p.s.slots)
	gives := make(map[*capacityLeaf]*Resource)
	for l, t := range p.leafs {
		if p.s.calc.compare(p.s.total, t.obtain, Resource{}) > 0 {
			gives[l] = &t.obtain
		}
	}
	for _, n := range list {
		if n.reserved == nil {
			continue
		}
		if _, cost, ok := p.roomOn(n, gives, allowed, false); ok {
			nodes = append(nodes, offer{n, cost})
		}
	}
	slices.SortStableFunc(nodes, func(a, b offer) int { return cmp.Compare(a.cost, b.cost) })
	chosen := make(map[*App][]*Container)
	for _, o := range nodes {
		victims, _, _ := p.roomOn(o.n, gives, allowed, true)
		for _, c := range victims {
			chosen[c.app] = append(chosen[c.app], c)
			p.taken[c.app] = append(p.taken[c.app], c)
		}
	}
	return chosen
}

// roomOn picks the newest containers on a node whose queues are to give as much, until
// what is reserved fits, and says what they are of it. If that is not to be had it takes
// none; what they were to take of the round is spent all the same, as in 3.3.6.
func (p *preemption) roomOn(n *Node, gives map[*capacityLeaf]*Resource, allowed *Resource, take bool) (victims []*Container, cost float32, ok bool) {
	calc, size, room := p.s.calc, n.reserved.Size, n.free
	if calc.fits(size, room) {
		return nil, 0, false
	}
	list := slices.Clone(n.launched)
	slices.SortFunc(list, func(a, b *Container) int {
		return cmp.Or(cmp.Compare(b.app.ID, a.app.ID), cmp.Compare(b.app.Attempt, a.app.Attempt), cmp.Compare(b.Number, a.Number))
	})
	var sum Resource
	for _, c := range list {
		left := gives[c.app.capacity.leaf]
		if c.AM() || left == nil || !calc.fits(c.Size, *left) || !calc.fits(c.Size, *allowed) {
			continue
		}
		if take {
			*left, *allowed = left.Minus(c.Size), allowed.Minus(c.Size)
		}
		if !slices.Contains(p.taken[c.app], c) {
			victims, sum = append(victims, c), sum.Plus(c.Size)
		}
		if room = room.Plus(c.Size); calc.fits(size, room) {
			return victims, calc.ratio(sum, size), true
		}
	}
	if take {
		for _, c := range victims {
			left := gives[c.app.capacity.leaf]
			*left = left.Plus(c.Size)
		}
	}
	return nil, 0, false
}

// toObtain is what a round takes from a leaf that is well above its guarantee
// (calculateResToObtainByPartitionForLeafQueues).
func (t *idealQueue) toObtain(p *preemption, x selector) Resource {
	c, total := p.s.calc, p.s.total
	if !t.q.preemptable || c.compare(total, t.q.used, times(t.q.guaranteed, 1+p.ignored)) <= 0 {
		return Resource{}
	}
	if x.reserved || c.compare(total, t.excess, Resource{}) <= 0 {
		return t.excess
	}
	return c.timesUp(t.excess, p.termination, Resource{MemoryMiB: 1, VCores: 1})
}

// taking takes containers of one leaf until enough is obtained.
type taking struct {
	s       *capacity
	obtain  Resource
	allowed *Resource
	chosen  map[*App][]*Container // by this selector
	taken   map[*App][]*Container // by all of the round
	whole   bool                  // only while all that counts is wanted (conservative-drf)
	done    bool
}

// from takes an application's reservations, which go at once, and then its containers,
// the worst priority and the newest first. It returns the ApplicationMaster's, which
// is passed over (FifoCandidatesSelector.preemptFrom).
func (t *taking) from(a *App, p *preemption) (masters []*Container) {
	for _, c := range a.reservations() {
		if t.done {
			return masters
		}
		if slices.Contains(t.taken[a], c) {
			continue
		}
		t.one(c)
		p.drops = append(p.drops, c)
	}
	for _, c := range a.newestFirst() {
		if t.done {
			break
		}
		if slices.Contains(t.taken[a], c) {
			continue
		}
		if c.AM() {
			masters = append(masters, c)
			continue
		}
		t.one(c)
	}
	return masters
}

// newestFirst lists the live containers, the worst priority and the newest first
// (PreemptionCandidatesSelector.sortContainers).
func (a *App) newestFirst() []*Container {
	list := a.alive()
	slices.SortFunc(list, func(x, y *Container) int {
		if x.Priority != y.Priority {
			return int(y.Priority) - int(x.Priority)
		}
		return int(y.Number) - int(x.Number)
	})
	return list
}

// one takes a container whole, if it brings the goal nearer
// (tryPreemptContainerAndDeductResToObtain).
func (t *taking) one(c *Container) bool {
	calc, total := t.s.calc, t.s.total
	var zero Resource
	if t.obtain.MemoryMiB == 0 {
		t.obtain.MemoryMiB = -1
	}
	if t.obtain.VCores == 0 {
		t.obtain.VCores = -1
	}
	if slices.Contains(t.taken[c.app], c) || !calc.anyAboveZero(t.obtain) || !calc.fits(c.Size, *t.allowed) {
		return false
	}
	after := t.obtain.Minus(c.Size)
	if t.whole && calc.anyUsedUp(t.obtain) || !t.whole && calc.compare(total, after.Max(zero), t.obtain.Max(zero)) >= 0 {
		return false
	}
	t.obtain = after
	*t.allowed = t.allowed.Minus(c.Size)
	t.done = calc.compare(total, t.obtain, zero) <= 0
	t.chosen[c.app] = append(t.chosen[c.app], c)
	t.taken[c.app] = append(t.taken[c.app], c)
	return true
}
