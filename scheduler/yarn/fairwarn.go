package yarn

import "slices"

// warnings is preemption before 2.8: leafs that lack a share for too long get as much from
// the queues furthest above theirs, wherever it is. A container is warned first and killed
// in a later round if something still lacks (FairScheduler.preemptTasksIfNecessary, 2.7.7).
type warnings struct {
	interval int64 // ns between rounds
	next     int64 // round at the earliest
	since    map[*Container]int64
	list     []*Container // in order of their first warning
}

// noteShares notes which leafs have what they are to have, as of the last update
// (FairScheduler.updateStarvationStats).
func (s *fair) noteShares() {
	now := s.listener.Nanos()
	for _, q := range s.leafs {
		if q.used.MemoryMiB >= min(q.leastShare.MemoryMiB, q.demand.MemoryMiB) {
			q.atLeast = now
		}
		if q.used.MemoryMiB >= min(times(q.share, float64(q.threshold)).MemoryMiB, q.demand.MemoryMiB) {
			q.atShare = now
		}
	}
}

// lack is what a leaf lacks of a share.
func (q *fairQueue) lack(share Resource) Resource {
	if lack := lesser(memoryOnly, q.s.total, share, q.demand).Minus(q.used); lack.MemoryMiB > 0 {
		return lack
	}
	return Resource{}
}

// preemptQueues is one round.
func (s *fair) preemptQueues() {
	now := s.listener.Nanos()
	if now < s.warnings.next || !s.crowded() {
		return
	}
	s.warnings.next = now + s.warnings.interval
	var lack Resource
	for _, q := range s.leafs {
		var least, fair Resource
		if now-q.atLeast > q.minTimeout {
			least = q.lack(q.leastShare)
		}
		if now-q.atShare > q.fairTimeout {
			fair = q.lack(q.share)
		}
		lack = lack.Plus(greater(memoryOnly, s.total, least, fair))
	}
	if lack.MemoryMiB > 0 {
		s.warnFor(lack)
	}
}

// warnFor warns or kills containers of a size: those that were warned before, then others.
// While it chooses, what is warned does not count as used (preemptResources).
func (s *fair) warnFor(lack Resource) {
	w := &s.warnings
	var kept []*Container
	for _, c := range w.list {
		if lack.MemoryMiB > 0 && (c.state == allocated || c.state == acquired && c.onNode) {
			kept = append(kept, c)
			s.warnOrKill(c)
			lack = lack.Minus(c.Size)
		}
	}
	w.list = kept
	for _, q := range s.leafs {
		for _, a := range q.apps {
			a.fair.discount(a.fair.victimSize)
		}
	}
	for lack.MemoryMiB > 0 {
		c := s.root.last()
		if c == nil {
			break
		}
		s.warnOrKill(c)
		c.app.fair.discount(c.Size)
		w.list = append(w.list, c)
		lack = lack.Minus(c.Size)
	}
	for _, q := range s.queues {
		q.warned = Resource{}
		for _, a := range q.apps {
			a.fair.warned = Resource{}
		}
	}
}

func (s *fair) warnOrKill(c *Container) {
	now := s.listener.Nanos()
	since, warned := s.warnings.since[c]
	switch {
	case !warned:
		s.warnings.since[c] = now
		c.app.fair.mark(c)
	case since+s.warn < now:
		s.complete(c, Preempted, true)
	}
}

// discount takes an amount off what the application and its queues use.
func (f *fairApp) discount(r Resource) {
	f.warned = f.warned.Plus(r)
	f.queue.each(func(q *fairQueue) { q.warned = q.warned.Plus(r) })
}

// last picks a container of the queue and application that are last in order, the worst
// priority and the newest; a leaf within its share gives none (preemptContainer).
func (q *fairQueue) last() *Container {
	compare := q.s.compare(q.policy)
	if len(q.children) > 0 {
		return slices.MaxFunc(q.children, func(a, b *fairQueue) int { return compare(a, b) }).last()
	}
	use, above := q.use(), q.parent.policy.calc
	if len(q.apps) == 0 || above.fits(use, q.share) {
		return nil
	}
	a := slices.MaxFunc(q.apps, func(a, b *App) int { return compare(a.fair, b.fair) })
	for _, c := range a.newestFirst() {
		if !slices.Contains(a.fair.victims, c) {
			return c
		}
	}
	return nil
}
