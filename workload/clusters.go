package workload

import (
	"maps"
	"slices"
	"strings"
)

// Clusters returns the histories of single clusters, in the order of their first
// jobs, each with the machines that its jobs name. Jobs belong to one cluster if one
// JobTracker gave them their ids or if they name a machine in common; listed machines
// are of one cluster. Jobs without machines belong to the first cluster.
func (h *History) Clusters() []History {
	if !slices.ContainsFunc(h.Jobs, func(j HistoryJob) bool { return j.tracker() != h.Jobs[0].tracker() }) {
		return []History{*h}
	}
	joined := map[member]member{} // another one of its cluster
	var root func(member) member
	root = func(of member) member {
		if up, ok := joined[of]; ok {
			top := root(up)
			joined[of] = top
			return top
		}
		return of
	}
	join := func(a, b member) {
		if a, b = root(a), root(b); a != b {
			joined[b] = a
		}
	}
	named := make([]bool, len(h.Jobs))
	for i := range h.Jobs {
		j := &h.Jobs[i]
		j.eachHost(func(host string) {
			named[i] = true
			if host == anyHost {
				return
			}
			join(j.tracker(), member{machine: host})
			if h.Topology.Listed[host] {
				join(j.tracker(), theListed)
			}
		})
	}
	var clusters []History
	var roots []member
	for i := range h.Jobs {
		of, at := root(h.Jobs[i].tracker()), 0
		if named[i] {
			if len(roots) == 0 {
				roots = []member{of}
			}
			if at = slices.Index(roots, of); at < 0 {
				at, roots = len(roots), append(roots, of)
			}
		}
		if at == len(clusters) {
			clusters = append(clusters, *h)
			clusters[at].Jobs = nil
		}
		clusters[at].Jobs = append(clusters[at].Jobs, h.Jobs[i])
	}
	if len(clusters) < 2 {
		return []History{*h}
	}
	for i := range clusters {
		c := &clusters[i]
		if roots[i] != root(theListed) {
			c.Topology.Listed = nil
		}
		c.keepMachines()
		c.fromFirst()
	}
	return clusters
}

// keepMachines leaves the machines that are listed or that jobs name.
func (h *History) keepMachines() {
	hosts := map[string]bool{}
	maps.Copy(hosts, h.Topology.Listed)
	for i := range h.Jobs {
		h.Jobs[i].eachHost(func(host string) { hosts[host] = true })
	}
	racks := h.Topology.Racks
	h.Topology.Racks = nil
	for _, r := range racks {
		r.Hosts = slices.DeleteFunc(slices.Clone(r.Hosts), func(host string) bool { return !hosts[host] })
		if len(r.Hosts) > 0 {
			h.Topology.Racks = append(h.Topology.Racks, r)
		}
	}
}

// WithTrackersOf leaves the jobs of the JobTrackers that had the jobs that were asked
// for, and their machines: after a restart a cluster may have others. Jobs whose ids no
// JobTracker gave, such as etl_1, stay.
func (h *History) WithTrackersOf(asked func(*HistoryJob) bool) {
	had := map[member]bool{}
	for i := range h.Jobs {
		if asked(&h.Jobs[i]) {
			had[h.Jobs[i].tracker()] = true
		}
	}
	all := len(h.Jobs)
	h.Jobs = slices.DeleteFunc(slices.Clone(h.Jobs), func(j HistoryJob) bool {
		return strings.HasPrefix(j.ID, "job_") && !had[j.tracker()]
	})
	if len(h.Jobs) < all {
		h.keepMachines()
	}
}

// anyHost is how every machine may call itself.
const anyHost = "localhost"

// member is a JobTracker or a machine of a cluster.
type member struct{ tracker, machine string }

// theListed stands for all machines that a history lists.
var theListed = member{machine: anyHost}

// fromFirst measures the instants of a copied history from its first submission.
func (h *History) fromFirst() {
	first := UnknownTime
	for i := range h.Jobs {
		if at := h.Jobs[i].Earliest(); Known(at) && (!Known(first) || at < first) {
			first = at
		}
	}
	if !Known(first) {
		return
	}
	for i := range h.Jobs {
		h.Jobs[i] = h.Jobs[i].renamed(h.Jobs[i].ID)
		h.Jobs[i].Shift(-first)
	}
	if h.Epoch != Unknown {
		h.Epoch += first.Milliseconds()
	}
}

// tracker returns the part of the job's id that its JobTracker chose when it
// started: 201102040848 of job_201102040848_0119.
func (j *HistoryJob) tracker() member {
	return member{tracker: j.ID[:max(0, strings.LastIndexByte(j.ID, '_'))]}
}

// eachHost calls f with the machines that attempts ran on and that hold splits.
func (j *HistoryJob) eachHost(f func(string)) {
	for i := range j.Tasks {
		t := &j.Tasks[i]
		for _, host := range t.Split.Hosts {
			f(host)
		}
		for k := range t.Attempts {
			if host := t.Attempts[k].Node; host != "" {
				f(host)
			}
		}
	}
}
