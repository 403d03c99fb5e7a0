package yarn

import "slices"

// intraQueue takes containers from applications of a queue for others of the same queue,
// of a higher priority or of users below their limit (IntraQueueCandidatesSelector with
// FifoIntraQueuePreemptionPlugin, 3.3.6). It is read and not recorded but for one case
// in which it takes nothing.
type intraQueue struct {
	s          *capacity
	byPriority bool    // priorities alone decide, not the limits of users
	whole      bool    // a container is taken only while all that counts is wanted
	threshold  float32 // of the guarantee: below it a queue is left alone
	most       float32 // of the guarantee in a round
}

func (s *capacity) readIntraQueue(r *reader) *intraQueue {
	const prefix = preemptionPrefix + "intra-queue-preemption."
	if !r.flag(prefix+"enabled", false) {
		return nil
	}
	i := &intraQueue{
		s: s, whole: r.flag(prefix+"conservative-drf", true),
		threshold: r.number(prefix+"minimum-threshold", 0.5), most: r.number(prefix+"max-allowable-limit", 0.2),
	}
	switch key := prefix + "preemption-order-policy"; r.text(key, "userlimit_first") {
	case "userlimit_first":
	case "priority_first":
		i.byPriority = true
	default:
		r.fail(key, "userlimit_first or priority_first")
	}
	return i
}

// idealApp is an application as a round sees it (TempAppPerPartition).
type idealApp struct {
	a        *App
	user     *idealUser
	used     Resource // without its ApplicationMaster
	am       Resource
	ideal    Resource
	selected Resource // by the rounds between queues
	spare    Resource // above its ideal share
	needs    Resource // from others
	give     Resource // to others
}

// idealUser is a user as a round sees it (TempUserPerPartition).
type idealUser struct {
	used, limit Resource // both without ApplicationMasters
	am          Resource
	ideal       Resource
	selected    Resource
	rolling     Resource // use that is left after what was chosen
	settled     bool     // no more is taken for others of the same priority
}

// choose adds to the chosen containers of a round, from each of the queues that wait for
// something, the hungriest first. It returns what it has added.
func (i *intraQueue) choose(queues []*idealQueue, allowed *Resource, chosen map[*App][]*Container) map[*App][]*Container {
	shares := make(map[*idealQueue][]*idealApp)
	for _, t := range queues {
		if t.q.leaf != nil && t.q.usedShare >= i.threshold {
			shares[t] = i.share(t, *allowed, chosen)
		}
	}
	added := make(map[*App][]*Container)
	for _, t := range queues {
		if t.q.leaf == nil || !t.q.preemptable || !t.q.intraPreemptable {
			continue
		}
		take := taking{s: i.s, allowed: allowed, chosen: added, taken: chosen, whole: i.whole}
		for _, x := range shares[t] {
			take.obtain = take.obtain.Plus(x.give)
		}
		for _, x := range shares[t] {
			if x.give != (Resource{}) {
				i.take(&take, x)
			}
		}
	}
	return added
}

// take takes containers of an application, the worst priority and the newest first, until
// its user would come down to the limit (preemptFromLeastStarvedApp).
func (i *intraQueue) take(take *taking, x *idealApp) {
	c, total := i.s.calc, i.s.total
	for _, k := range x.a.newestFirst() {
		switch {
		case take.done:
			return
		case k.AM() || slices.Contains(take.taken[x.a], k):
			continue
		case !i.byPriority && c.compare(total, x.user.rolling.Minus(k.Size), x.user.limit.Plus(x.user.am)) <= 0:
			return
		}
		if take.one(k) && !i.byPriority {
			x.user.rolling = x.user.rolling.Minus(k.Size)
		}
	}
}

// share computes what each application of a queue would have and what it gives up. The
// list begins with the application that is to give first (computeAppsIdealAllocation).
func (i *intraQueue) share(t *idealQueue, allowed Resource, chosen map[*App][]*Container) []*idealApp {
	l, c, total, obtain := t.q.leaf, i.s.calc, i.s.total, t.obtain
	left := t.q.used.Minus(obtain)
	masters := make(map[string]Resource)
	for _, a := range l.active {
		left = left.Minus(a.capacity.size)
		masters[a.User] = masters[a.User].Plus(a.capacity.size)
	}
	if len(l.active)+len(l.pending) == 1 {
		return nil
	}
	list := i.apps(l, masters)
	for _, x := range list {
		if c.compare(total, left, Resource{}) > 0 && !(i.whole && c.anyUsedUp(left)) {
			left = i.assign(x, left, chosen[x.a])
		}
	}
	slices.Reverse(list)
	most := times(t.q.guaranteed, float64(i.most))
	if c.compare(total, most, obtain) > 0 {
		most = most.Minus(obtain)
	} else {
		most = Resource{}
	}
	i.findSpare(list, lesser(c, total, most, allowed))
	for k := len(list) - 1; k >= 0; k-- {
		i.serve(list[k], list)
	}
	return list
}

// apps lists the applications of a queue, the first to be served first
// (createTempAppForResCalculation).
func (i *intraQueue) apps(l *capacityLeaf, masters map[string]Resource) []*idealApp {
	c, total := i.s.calc, i.s.total
	users := make(map[string]*idealUser)
	var list []*idealApp
	for _, a := range slices.Concat(l.pending, l.active) {
		u := users[a.User]
		if u == nil {
			own := l.users.user(a)
			u = &idealUser{am: masters[a.User], rolling: own.used, used: own.used.Minus(masters[a.User]), limit: l.users.limitOfAll(own).Minus(masters[a.User])}
			users[a.User] = u
		}
		x := &idealApp{a: a, user: u, used: a.used}
		if !a.Waits() {
			x.am = a.capacity.size
			x.used = x.used.Minus(x.am)
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(x, y *idealApp) int {
		switch {
		case !l.fair || i.byPriority:
			return inputOrder(x.a, y.a)
		case x.user == y.user:
			return l.before(x.a, y.a)
		case x.user.used == y.user.used:
			return int(x.a.ID) - int(y.a.ID)
		case c.compare(total, x.user.used, y.user.used) < 0:
			return -1
		}
		return 1
	})
	return list
}

// assign gives an application its ideal share of what is left of the queue's use, and
// returns the rest (calculateIdealAssignedResourcePerApp).
func (i *intraQueue) assign(x *idealApp, left Resource, selected []*Container) Resource {
	c, total, u := i.s.calc, i.s.total, x.user
	for _, k := range selected {
		x.selected = x.selected.Plus(k.Size)
		u.selected = u.selected.Plus(k.Size)
	}
	if c.compare(total, u.ideal, u.limit) >= 0 {
		return left
	}
	has := x.used.Minus(x.selected)
	x.ideal = lesser(c, total, left, lesser(c, total, has.Plus(x.a.pending), u.limit.Minus(u.ideal)))
	u.ideal = u.ideal.Plus(x.ideal)
	if c.compare(total, x.ideal, has) > 0 {
		x.needs = x.ideal.Minus(has)
	}
	return left.Minus(x.ideal).Max(Resource{})
}

// findSpare sets what each application uses above its ideal share, of all of them at most
// a limit (calculateToBePreemptedResourcePerApp).
func (i *intraQueue) findSpare(list []*idealApp, limit Resource) {
	c, total := i.s.calc, i.s.total
	var zero Resource
	for _, x := range list {
		if c.compare(total, limit, zero) <= 0 || c.compare(total, x.a.used, zero) <= 0 {
			continue
		}
		spare := x.a.used.Minus(x.ideal).Minus(x.selected).Max(zero).Minus(x.am).Max(zero)
		if !i.byPriority {
			spare = spare.Minus(i.s.least).Max(zero)
		}
		x.spare = lesser(c, total, spare, limit)
		limit = limit.Minus(x.spare).Max(zero)
	}
}

// serve lets others give what an application needs. Those of its own user give only if
// their priority is lower, and with limits first only users above theirs
// (validateOutSameAppPriorityFromDemand).
func (i *intraQueue) serve(x *idealApp, list []*idealApp) {
	c, total := i.s.calc, i.s.total
	var zero Resource
	if c.compare(total, x.needs, zero) <= 0 {
		return
	}
	for _, y := range list {
		left := y.spare.Minus(y.give)
		above := c.compare(total, y.user.used, y.user.limit) > 0
		switch {
		case x.needs == zero, c.compare(total, y.spare, zero) <= 0, c.compare(total, y.spare, y.give) <= 0,
			x.user == y.user && y.a.Priority >= x.a.Priority, x.user != y.user && !above && !i.byPriority:
			continue
		case x.user != y.user && y.a.Priority == x.a.Priority && above:
			over := y.user.used.Minus(y.user.selected).Minus(y.user.limit)
			if y.user.settled {
				over = zero
			}
			if c.compare(total, over, left) < 0 {
				y.user.settled = true
				left = over
			}
		}
		if c.compare(total, left, zero) > 0 {
			taken := lesser(c, total, x.needs, left)
			x.needs, y.give = x.needs.Minus(taken), y.give.Plus(taken)
		}
	}
}
