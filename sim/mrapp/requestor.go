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

// key is one row of the table of requests. The size is that of the task's type.
type key struct {
	priority yarn.Priority
	place    yarn.Place
}

// requestor keeps the counts that the ResourceManager shall hold and sends those that
// changed (RMContainerRequestor).
type requestor struct {
	master   yarn.Master
	settings *Settings
	sizes    [2]model.Resource // of maps and reduces

	table    map[key]int32 // remoteRequestsTable; no row is 0
	unsent   map[key]int32 // ask: rows to send, 0 too
	releases []*yarn.Container

	limits  map[key]int32 // requestLimits: most to ask for anywhere
	resend  map[key]bool  // requestLimitsToUpdate
	asks    []yarn.Ask    // of the last heartbeat, for its memory
	freed   []*yarn.Container
	refused blacklist
}

func newRequestor(master yarn.Master, job *Job) requestor {
	return requestor{
		master: master, settings: &job.Settings, sizes: [2]model.Resource{job.MapSize, job.ReduceSize},
		table: map[key]int32{}, unsent: map[key]int32{}, limits: map[key]int32{}, resend: map[key]bool{},
		refused: blacklist{failures: map[int32]int{}, listed: map[int32]bool{}},
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

// change adds to one count. What is not in the table cannot sink
// (decResourceRequest).
func (r *requestor) change(k key, by int32) {
	n := r.table[k]
	if n == 0 && by < 0 {
		return
	}
	n += by
	if n == 0 {
		delete(r.table, k)
	} else {
		r.table[k] = n
	}
	r.unsent[k] = n
}

// limit sets the most containers to ask for anywhere at a priority
// (setRequestLimit). A higher limit is sent although nothing else has changed.
func (r *requestor) limit(p yarn.Priority, most int32) {
	k := key{p, yarn.Any}
	if old, ok := r.limits[k]; !ok || old < most {
		r.resend[k] = true
	}
	r.limits[k] = most
}

// applyLimits caps what is about to be sent (applyRequestLimits).
func (r *requestor) applyLimits() {
	for k, most := range r.limits {
		n, ok := r.table[k]
		if !ok {
			continue
		}
		if _, sent := r.unsent[k]; sent || r.resend[k] {
			r.unsent[k] = min(n, most)
		}
	}
	clear(r.resend)
}

// send makes the heartbeat's request (makeRemoteRequest).
func (r *requestor) send() yarn.AllocateResponse {
	r.applyLimits()
	r.asks = r.asks[:0]
	for k, n := range r.unsent {
		size := r.sizes[0]
		if k.priority == reducePrio {
			size = r.sizes[1]
		}
		r.asks = append(r.asks, yarn.Ask{Priority: k.priority, Place: k.place, Size: size, Count: n})
	}
	// ResourceRequestComparator: the largest number first, anywhere before places.
	slices.SortFunc(r.asks, func(a, b yarn.Ask) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Place, b.Place))
	})
	clear(r.unsent)
	r.freed, r.releases = r.releases, r.freed[:0]
	slices.SortFunc(r.freed, func(a, b *yarn.Container) int { return cmp.Compare(a.Number, b.Number) })
	answer := r.master.Allocate(yarn.AllocateRequest{
		Asks: r.asks, Releases: r.freed, Blacklist: r.refused.additions, Forgive: r.refused.removals,
	})
	r.refused.additions, r.refused.removals = nil, nil
	if len(answer.Ended) > 0 {
		for k := range r.limits {
			r.resend[k] = true
		}
	}
	r.refused.last, r.refused.nodes = r.refused.nodes, answer.Cluster
	return answer
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
		k := key{p, host}
		if _, ok := r.table[k]; !ok {
			continue
		}
		if _, waits := r.unsent[k]; waits {
			delete(r.unsent, k)
			delete(r.table, k)
		} else {
			r.unsent[k] = 0
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
