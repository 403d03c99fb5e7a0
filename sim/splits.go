package sim

import (
	"slices"

	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// place is a host of a split: a tracker, or -1 for a host without one, and its
// rack. A host without a tracker is in a rack of its own behind those of the
// cluster, so that its maps are found last (JobTracker.resolveAndAddToTopology
// enters the racks of such hosts after those of the trackers).
type place struct{ node, rack int32 }

// splitHosts holds the hosts of a job's splits.
type splitHosts struct {
	topology *execute.Topology
	given    [][]place // by task; nil: placed at random
	unknown  int       // hosts of given splits that run no tracker
	replicas int       // of a split placed at random; 0: no hosts at all
	seed     workload.Seed
	drawn    []int32 // their nodes, task by task; or nil
	nodes    []int32 // those of one split
	found    []place
}

// none reports whether no split has a host.
func (h *splitHosts) none() bool { return h.given == nil && h.replicas == 0 }

// of lists the hosts of a task's split. The list is valid until the next call.
func (h *splitHosts) of(index int32) []place {
	if h.given != nil {
		return h.given[index]
	}
	if h.replicas == 0 {
		return nil
	}
	h.found = h.found[:0]
	for _, node := range h.nodesOf(index) {
		h.found = append(h.found, place{node, h.topology.RackOf[node]})
	}
	return h.found
}

// nodesOf lists the nodes with a split placed at random. The list is valid until
// the next call.
func (h *splitHosts) nodesOf(index int32) []int32 {
	if h.drawn != nil {
		return h.drawn[int(index)*h.replicas:][:h.replicas]
	}
	h.nodes = h.drawOne(index, h.nodes[:0])
	return h.nodes
}

// draw places the replicas of all splits at random.
func (h *splitHosts) draw(seed workload.Seed, splits, replicas int) {
	h.seed, h.replicas = seed, replicas
	if splits > listedAtOnce {
		return
	}
	h.drawn = make([]int32, splits*replicas)
	for i := range splits {
		h.drawOne(int32(i), h.drawn[i*replicas:i*replicas:(i+1)*replicas])
	}
}

// drawOne adds the nodes of a split's replicas to an empty list. Each is placed as
// HDFS does for a writer outside the cluster: a random node, one in another rack,
// a second one in that rack, then any (ReplicationTargetChooser).
func (h *splitHosts) drawOne(split int32, found []int32) []int32 {
	nodes, g := uint64(len(h.topology.RackOf)), h.seed.Stream(int(split), 0).Generator()
draws:
	for len(found) < h.replicas {
		x := g.Uint64()
		if len(found) == 2 {
			if mates := h.topology.Mates(found[1]); len(mates) > 2 {
				x = uint64(mates[g.Uint64()%uint64(len(mates))])
			}
		}
		id := int32(x % nodes)
		if len(found) == 1 && !h.topology.MayFollow(found[0], id) {
			continue
		}
		for _, other := range found {
			if other == id {
				continue draws
			}
		}
		found = append(found, id)
	}
	return found
}

// racks adds the racks of the nodes drawn to a list, and -1 for a node in a rack that
// the split has already.
func (h *splitHosts) racks(list []int32) []int32 {
	list = slices.Grow(list, len(h.drawn))[:len(h.drawn)]
	for i, node := range h.drawn {
		list[i] = h.topology.RackOf[node]
	}
	for first := 0; first < len(list); first += h.replicas {
		own := list[first:][:h.replicas]
		for i, rack := range own {
			for _, before := range own[:i] {
				if rack == before {
					own[i] = -1
				}
			}
		}
	}
	return list
}

// resolve maps the host names of given splits to trackers. With a single rack,
// every host is in it.
func (h *splitHosts) resolve(splits []workload.Split, trackers map[string]int32, racks int) {
	h.given = make([][]place, len(splits))
	unknown := map[string]bool{}
	for i, s := range splits {
		for _, name := range s.Hosts {
			p := place{node: -1}
			if id, ok := trackers[name]; ok {
				p = place{id, h.topology.RackOf[id]}
			} else {
				unknown[name] = true
				if p.rack = int32(racks); racks == 1 {
					p.rack = 0
				}
			}
			h.given[i] = append(h.given[i], p)
		}
	}
	h.unknown = len(unknown)
}

// locality returns the distance of a map's split from a tracker.
func (h *splitHosts) locality(index, tracker int32) workload.Locality {
	rack := h.topology.RackOf[tracker]
	if h.given == nil {
		local := workload.NoLocality
		for _, node := range h.nodesOf(index) {
			local = min(local, place{node, h.topology.RackOf[node]}.locality(tracker, rack))
		}
		return local
	}
	local := workload.NoLocality
	for _, p := range h.given[index] {
		local = min(local, p.locality(tracker, rack))
	}
	return local
}

// locality returns the distance of a host from a tracker.
func (p place) locality(tracker, rack int32) workload.Locality {
	switch {
	case p.node == tracker:
		return workload.NodeLocal
	case p.rack == rack:
		return workload.RackLocal
	}
	return workload.OffRack
}

// source returns the node from which a tracker reads a split: one of its own
// rack, or else any that has it. Input that no tracker holds counts as local.
func (h *splitHosts) source(index, tracker int32) int32 {
	from, racks := tracker, h.topology.RackOf
	for _, p := range h.of(index) {
		if p.node >= 0 && (from == tracker || p.rack == racks[tracker] && racks[from] != racks[tracker]) {
			from = p.node
		}
	}
	return from
}
