package yarn

import (
	"fmt"
	"strings"
)

// Refusal is the limit that keeps a container from an application that asks for one, and
// what of it is used.
type Refusal struct {
	What        string // the limit and whose it is; empty: nothing is refused
	Used, Limit int64
	Unit        string
}

// Asked returns how many containers the application asks for.
func (a *App) Asked() (n int) {
	for _, p := range a.wanted {
		n += int(a.table(p).count(Any))
	}
	return n
}

// first returns the first priority of which an application wants something, and its size.
func (a *App) first() (Priority, Resource) {
	p := a.wanted[0]
	return p, a.table(p).ask(Any).Size
}

// limitName writes the name of a limit with single spaces, whatever names it holds.
func limitName(format string, args ...any) string {
	return strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
}

// ofUser names the user of an application in the name of a limit; one without a name is
// left out.
func (a *App) ofUser() string {
	if strings.TrimSpace(a.User) == "" {
		return ""
	}
	return " of user " + a.User
}

// exceeds is the refusal of a request beside what is used of a limit: by virtual cores
// only if memory would do.
func exceeds(used, limit, request Resource, cores bool, what string, args ...any) Refusal {
	r := Refusal{limitName(what, args...), used.MemoryMiB, limit.MemoryMiB, "MiB"}
	if cores && used.MemoryMiB+request.MemoryMiB <= limit.MemoryMiB && used.VCores+request.VCores > limit.VCores {
		r.Used, r.Limit, r.Unit = used.VCores, limit.VCores, "vcores"
	}
	return r
}

// refusal is the limit above which an application waits to run: its user's or a queue's.
func (s *appLimits) refusal(a *App, key string) Refusal {
	if most := s.ofUser(a.User); s.running[a.User] >= most {
		return Refusal{limitName("%s%s", key, a.ofUser()), int64(s.running[a.User]), int64(most), "applications"}
	}
	l := s.ofQueue(a)
	for l.up != nil && l.runnable < l.most {
		l = l.up
	}
	return Refusal{limitName("%s of queue %s", key, l.path), int64(l.runnable), int64(l.most), "applications"}
}

// room is what nodes have, unless one has changed since it was computed.
type room struct {
	known bool
	used  Resource
	most  Resource // that one of them has free
}

// refusal is what the nodes lack of a request, or why one that has room does not serve it
// yet. near reports whether a node serves it at its next heartbeat.
func (c *cluster) refusal(a *App, size Resource, cores bool, near func(*Node) bool) Refusal {
	if r := &c.room; !r.known {
		*r = room{known: true}
		for _, n := range c.nodes {
			r.used = r.used.Plus(n.Total.Minus(n.free))
			r.most = r.most.Max(n.free)
		}
	}
	if size.MemoryMiB > c.room.most.MemoryMiB {
		return exceeds(c.room.used, c.total, size, cores, "nodes")
	}
	var reserved, refused int64
	far := false
	for _, n := range c.nodes {
		switch {
		case size.MemoryMiB > n.free.MemoryMiB || cores && size.VCores > n.free.VCores:
		case n.reserved != nil:
			reserved++
		case a.refused[n.Index]:
			refused++
		case near(n):
			return Refusal{What: "heartbeats of nodes"}
		default:
			far = true
		}
	}
	nodes := int64(len(c.nodes))
	switch {
	case far:
		return Refusal{What: "locality delay"}
	case reserved > 0:
		return Refusal{"reservations", reserved, nodes, "nodes"}
	case refused > 0:
		return Refusal{"blacklisted nodes", refused, nodes, "nodes"}
	}
	return exceeds(c.room.used, c.total, size, cores, "nodes")
}

// Refusal implements Scheduler.
func (s *capacity) Refusal(a *App) Refusal {
	l := a.capacity.leaf
	size := a.capacity.size
	switch {
	case len(a.wanted) == 0:
		return Refusal{}
	case !a.runs:
		return s.limits.refusal(a, "max-parallel-apps")
	case !a.capacity.ordered && !s.within(size.Plus(l.amUsed), l.amLimit):
		return exceeds(l.amUsed, l.amLimit, size, s.calc.cores, "ApplicationMasters of queue %s", l.q.path)
	case !a.capacity.ordered:
		u := l.users.user(a)
		return exceeds(u.amUsed, l.userAMLimit(u), size, s.calc.cores, "ApplicationMasters%s in queue %s", a.ofUser(), l.q.path)
	}
	p, size := a.first()
	for q := l.q; q.parent != nil; q = q.parent {
		if q.maximum != s.total && !s.calc.fits(q.used.Plus(size), q.maximum) {
			return exceeds(q.used, q.maximum, size, s.calc.cores, "maximum of queue %s (%.4g %%)", q.path, 100*q.absoluteTo)
		}
	}
	u := l.users.user(a)
	if limit := l.users.limitOf(u, size); s.calc.compare(s.total, u.used, limit) > 0 {
		return exceeds(u.used, limit, size, s.calc.cores, "limit%s in queue %s", a.ofUser(), l.q.path)
	}
	t := a.table(p)
	missed := a.at(p).chances + 1
	return s.refusal(a, size, s.calc.cores, func(n *Node) bool {
		rack := t.count(n.Rack) > 0
		return rack && t.count(n.Host) > 0 || rack && int32(min(len(s.nodes), s.nodeDelay)) < missed || s.mayGoOff(missed, t)
	})
}

// Refusal implements Scheduler.
func (s *fair) Refusal(a *App) Refusal {
	f := a.fair
	switch {
	case len(a.wanted) == 0:
		return Refusal{}
	case !a.runs:
		return s.limits.refusal(a, "maxRunningApps")
	case f.overAMShare():
		return exceeds(f.queue.amUsed, f.queue.amLimit(), a.Size, true, "maxAMShare of queue %s", f.queue.path)
	}
	p, size := a.first()
	for q := f.queue; q != nil; q = q.parent {
		after := q.used
		if s.release.Fair28 { // before, a queue passes its maximum by one container
			after = after.Plus(size)
		}
		if most := q.most(); !after.Within(most) {
			return exceeds(q.used, most, size, true, "maxResources of queue %s", q.path)
		}
	}
	t := a.table(p)
	level, limited := f.levels[p]
	return s.refusal(a, size, true, func(n *Node) bool {
		rack := t.count(n.Rack) > 0
		return !limited || rack && (t.count(n.Host) > 0 || level >= rackLocal) || len(t.asks) <= 1 || level == offSwitch
	})
}

// Refusal implements Scheduler.
func (s *fifo) Refusal(a *App) Refusal {
	if len(a.wanted) == 0 {
		return Refusal{}
	}
	_, size := a.first()
	return s.refusal(a, size, false, func(*Node) bool { return true })
}
