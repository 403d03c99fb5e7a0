package sim

import (
	"slices"

	"github.com/slotwave/slotwave/scheduler"
)

// mapCache holds the unlaunched maps of a job by the nodes and racks of their
// splits (JobInProgress.nonRunningMapCache).
type mapCache struct {
	hosts    splitHosts
	racks    int // racks of the cluster
	nodes    taskLists
	inRack   taskLists
	unplaced taskLists // maps without hosts
	left     int       // number of them at the last look
}

// scratch is memory for list entries while lists are made.
type scratch [2][]entry

// fill lists the maps whose hosts are known (JobInProgress.createCache).
func (m *mapCache) fill(maps int, room *scratch) {
	if m.hosts.none() {
		m.unplaced, m.left = oneList(maps), maps
		return
	}
	flat := m.racks == 1
	most := maps * max(1, m.hosts.replicas)
	nodes, racks := slices.Grow(room[0][:0], most), slices.Grow(room[1][:0], most)
	var unplaced []entry
	for i := range int32(maps) {
		hosts := m.hosts.of(i)
		if len(hosts) == 0 {
			unplaced = append(unplaced, entry{0, i})
		}
		first := len(racks)
		for _, h := range hosts {
			if h.node >= 0 {
				nodes = append(nodes, entry{h.node, i})
			}
			if !flat && !hasKey(racks[first:], h.rack) {
				racks = append(racks, entry{h.rack, i})
			}
		}
	}
	m.nodes = newTaskLists(len(m.hosts.topology.RackOf), nodes)
	switch {
	case !flat:
		m.inRack = newTaskLists(m.racks+1, racks)
	case len(unplaced) == 0:
		m.inRack = oneList(maps)
	default:
		m.inRack = newTaskLists(1, others(maps, unplaced))
	}
	m.unplaced, m.left = newTaskLists(1, unplaced), len(unplaced)
	const keep = 1 << 16 // a larger one is not kept for the next job
	if cap(nodes) <= keep {
		*room = scratch{nodes, racks}
	}
}

// others lists the maps below a number that are not in a list of entries.
func others(maps int, some []entry) []entry {
	var rest []entry
	for i := range int32(maps) {
		if len(some) > 0 && some[0].task == i {
			some = some[1:]
			continue
		}
		rest = append(rest, entry{0, i})
	}
	return rest
}

func hasKey(entries []entry, key int32) bool {
	for _, e := range entries {
		if e.key == key {
			return true
		}
	}
	return false
}

// hostsWithInput returns the number of hosts that hold a split.
func (m *mapCache) hostsWithInput() int { return m.nodes.lists() + m.hosts.unknown }

// find returns the map nearest to a tracker that a search accepts
// (JobInProgress.findNewMapTask).
func (m *mapCache) find(tracker int32, reach scheduler.Reach, accept *search) (int32, bool) {
	rack := m.hosts.topology.RackOf[tracker]
	if reach != scheduler.BeyondRack {
		accept.dropFailed = true
		if index, ok := m.nodes.walk(tracker, accept); ok {
			return index, true
		}
		accept.dropFailed = false
		if reach == scheduler.OnNode {
			return 0, false
		}
		if index, ok := m.inRack.walk(rack, accept); ok {
			return index, true
		}
		if reach == scheduler.InRack {
			return 0, false
		}
	}
	if index, ok := m.inRack.walkOthers(int32(m.racks)+1, rack, accept); ok {
		return index, true
	}
	index, ok := m.unplaced.walk(0, accept)
	m.left = m.unplaced.size(0)
	return index, ok
}

// putFront makes a map available again, before all others (JobInProgress.failMap,
// 0.20).
func (m *mapCache) putFront(index int32) {
	hosts := m.hosts.of(index)
	if len(hosts) == 0 {
		m.unplaced.putFront(0, index)
		return
	}
	for _, h := range hosts {
		m.nodes.putFront(h.node, index)
		m.inRack.putFront(h.rack, index)
	}
}
