package mrapp

import (
	"cmp"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/yarn"
)

// Priorities of requests (RMContainerAllocator).
const (
	fastFailMap yarn.Priority = 5
	reducePrio  yarn.Priority = 10
	mapPrio     yarn.Priority = 20
)

// request is the want of one attempt (ContainerRequest): one more at each of its
// places and one anywhere.
type request struct {
	priority yarn.Priority
	hosts    []int32      // nodes
	racks    []yarn.Place // distinct
}

// key names one row of the table of requests. The size is that of the task's type.
type key struct {
	priority yarn.Priority
	place    yarn.Place
}

// row is what is asked for at one place (an entry of remoteRequestsTable).
type row struct {
	key
	count  int32 // 0: not in the table
	unsent bool  // to be sent (ask)
	send   int32 // what is to be sent; it may differ from the count
	listed bool  // among the rows that may be to be sent
	limit  int32 // most to ask for (requestLimits); unlimited: none
	resend bool  // the limit is to be applied although the count has not changed
}

const unlimited = -1

// requestor keeps the counts that the ResourceManager shall hold and sends those that
// changed (RMContainerRequestor).
type requestor struct {
	master   yarn.Master
	settings *Settings
	sizes    [2]model.Resource // of maps and reduces

	rows     map[key]*row
	changed  []*row // and those that were to be sent and are no more
	limited  []*row
	releases []*yarn.Container

	asks    []yarn.Ask // of the last heartbeat, for its memory
	freed   []*yarn.Container
	refused blacklist
}

func newRequestor(master yarn.Master, job *Job) requestor {
	return requestor{
		master: master, settings: &job.Settings, sizes: [2]model.Resource{job.MapSize, job.ReduceSize},
		rows: map[key]*row{}, refused: blacklist{failures: map[int32]int{}, listed: map[int32]bool{}},
	}
}

// add raises the counts of a request (addContainerReq). A blacklisted host is left out.
func (r *requestor) add(q *request) {
	for _, node := range q.hosts {
		if !r.blacklisted(node) {
			r.change(key{q.priority, r.master.HostOf(node)}, 1)
		}
	}
	for _, rack := range q.racks {
		r.change(key{q.priority, rack}, 1)
	}
	r.change(key{q.priority, yarn.Any}, 1)
}

// drop lowers the counts of a request (decContainerReq), also at hosts that have been
// blacklisted since it was added.
func (r *requestor) drop(q *request) {
	for _, node := range q.hosts {
		r.change(key{q.priority, r.master.HostOf(node)}, -1)
	}
	for _, rack := range q.racks {
		r.change(key{q.priority, rack}, -1)
	}
	r.change(key{q.priority, yarn.Any}, -1)
}

func (r *requestor) row(k key) *row {
	x := r.rows[k]
	if x == nil {
		x = &row{key: k, limit: unlimited}
		r.rows[k] = x
	}
	return x
}

// change adds to one count. What is not in the table cannot sink
// (decResourceRequest).
func (r *requestor) change(k key, by int32) {
	x := r.row(k)
	if x.count == 0 && by < 0 {
		return
	}
	x.count += by
	r.toSend(x, x.count)
}

// toSend notes what the next heartbeat says of a row.
func (r *requestor) toSend(x *row, count int32) {
	x.unsent, x.send = true, count
	if !x.listed {
		x.listed = true
		r.changed = append(r.changed, x)
	}
}

// limit sets the most containers to ask for anywhere at a priority
// (setRequestLimit). A higher limit is sent although nothing else has changed.
func (r *requestor) limit(p yarn.Priority, most int32) {
	x := r.row(key{p, yarn.Any})
	if x.limit == unlimited {
		r.limited = append(r.limited, x)
	}
	x.resend = x.resend || x.limit < most
	x.limit = most
}

// applyLimits caps what is about to be sent (applyRequestLimits).
func (r *requestor) applyLimits() {
	for _, x := range r.limited {
		if x.count > 0 && (x.unsent || x.resend) {
			r.toSend(x, min(x.count, x.limit))
		}
		x.resend = false
	}
}

// heartbeat sends what has changed and takes the answer (makeRemoteRequest).
func (r *requestor) heartbeat() yarn.AllocateResponse {
	r.applyLimits()
	r.takeAsks()
	r.freed, r.releases = r.releases, r.freed[:0]
	slices.SortFunc(r.freed, func(a, b *yarn.Container) int { return cmp.Compare(a.Number, b.Number) })
	answer := r.master.Allocate(yarn.AllocateRequest{
		Asks: r.asks, Releases: r.freed, Blacklist: r.refused.additions, Forgive: r.refused.removals,
	})
	r.refused.additions, r.refused.removals = nil, nil
	if len(answer.Ended) > 0 {
		for _, x := range r.limited {
			x.resend = true
		}
	}
	r.refused.last, r.refused.nodes = r.refused.nodes, answer.Cluster
	return answer
}

// idle reports whether the next heartbeat has nothing to send.
func (r *requestor) idle() bool {
	b := &r.refused
	return len(r.changed)+len(r.releases)+len(b.additions)+len(b.removals) == 0 && b.counted == len(b.listed)
}

// takeAsks lists what is to be sent: the largest priority number first, anywhere
// before places (ResourceRequestComparator).
func (r *requestor) takeAsks() {
	r.asks = r.asks[:0]
	for _, x := range r.changed {
		x.listed = false
		if !x.unsent {
			continue
		}
		x.unsent = false
		size := r.sizes[0]
		if x.priority == reducePrio {
			size = r.sizes[1]
		}
		r.asks = append(r.asks, yarn.Ask{Priority: x.priority, Place: x.place, Size: size, Count: x.send})
	}
	r.changed = r.changed[:0]
	slices.SortFunc(r.asks, func(a, b yarn.Ask) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Place, b.Place))
	})
}

// release returns a container with the next heartbeat.
func (r *requestor) release(c *yarn.Container) { r.releases = append(r.releases, c) }

// blacklist is what the ApplicationMaster holds of nodes on which attempts failed.
type blacklist struct {
	failures  map[int32]int // nodeFailures: of nodes that are not listed
	listed    map[int32]bool
	order     []int32 // of listing
	ignored   bool    // so many nodes are listed that none counts
	counted   int     // listed nodes at the last check
	nodes     int     // of the cluster, in the last answer
	last      int     // and in the one before
	additions []int32
	removals  []int32
}

// blacklisted reports whether a node is refused at present (isNodeBlacklisted).
func (r *requestor) blacklisted(node int32) bool {
	return r.settings.Blacklist && !r.refused.ignored && r.refused.listed[node]
}

// failedOn counts a failed attempt and lists its node if it was one too many
// (containerFailedOnHost). What is asked of the host is withdrawn: a count that has
// been sent is overwritten with 0 but stays in the table, one that has not is only
// forgotten.
func (r *requestor) failedOn(node int32) {
	b := &r.refused
	if !r.settings.Blacklist || b.listed[node] {
		return
	}
	b.failures[node]++
	if b.failures[node] < r.settings.NodeFailures {
		return
	}
	delete(b.failures, node)
	b.listed[node] = true
	b.order = append(b.order, node)
	if !b.ignored {
		b.additions = append(b.additions, node)
	}
	host := r.master.HostOf(node)
	for _, p := range []yarn.Priority{fastFailMap, reducePrio, mapPrio} {
		switch x := r.rows[key{p, host}]; {
		case x == nil || x.count == 0:
		case x.unsent:
			x.unsent, x.count = false, 0
		default:
			r.toSend(x, 0)
		}
	}
}

// weighBlacklist lifts or restores the blacklist when its share of the cluster passes
// the threshold (computeIgnoreBlacklisting). It looks only if either number changed.
func (r *requestor) weighBlacklist() {
	b := &r.refused
	if !r.settings.Blacklist || r.settings.IgnorePercent == -1 {
		return
	}
	if b.counted == len(b.listed) && b.nodes == b.last {
		return
	}
	b.counted = len(b.listed)
	if b.nodes == 0 {
		return
	}
	ignore := int(float32(b.counted)/float32(b.nodes)*100) >= r.settings.IgnorePercent
	switch {
	case ignore && !b.ignored:
		b.additions, b.removals = nil, append(b.removals, b.order...)
	case !ignore && b.ignored:
		b.additions, b.removals = append(b.additions, b.order...), nil
	}
	b.ignored = ignore
}
