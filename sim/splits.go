package sim

import (
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

// place is a host of a split: a tracker, or -1 for a host without one, and its
// rack, or -1 if that is unknown.
type place struct{ node, rack int32 }

// hostLists say where the splits of a job lie.
type hostLists struct {
	given    [][]place // by task; nil: placed at random
	replicas int       // of a split placed at random; 0: no hosts at all
	drawn    []int32   // their nodes, task by task
	found    []place
}

// of lists the hosts of a task's split. The list is valid until the next call.
func (h *hostLists) of(j *job, index int32) []place {
	if h.given != nil {
		return h.given[index]
	}
	if h.replicas == 0 {
		return nil
	}
	h.found = h.found[:0]
	for _, node := range h.drawn[int(index)*h.replicas:][:h.replicas] {
		h.found = append(h.found, place{node, j.jt.rackOf[node]})
	}
	return h.found
}

// draw places the replicas of all splits, each as HDFS does for a writer outside
// the cluster: a random node, one in another rack, a second one in that rack,
// then any (ReplicationTargetChooser).
func (h *hostLists) draw(jt *jobTracker, seed workload.Seed, splits int) {
	h.drawn = make([]int32, 0, splits*h.replicas)
	for i := range splits {
		g := seed.Stream(i, 0).Generator()
		for found := h.drawn[len(h.drawn):]; len(found) < h.replicas; {
			id := int32(g.Uint64() % uint64(len(jt.trackers)))
			if n := len(found); n == 2 && len(jt.rackNodes[jt.rackOf[found[1]]]) > 2 {
				mates := jt.rackNodes[jt.rackOf[found[1]]]
				id = mates[g.Uint64()%uint64(len(mates))]
			} else if n == 1 && jt.spread && jt.rackOf[id] == jt.rackOf[found[0]] {
				continue
			}
			if !slices.Contains(found, id) {
				found = append(found, id)
				h.drawn = h.drawn[:len(h.drawn)+1]
			}
		}
	}
}

// placeSplits builds the lists of maps by node and by rack
// (JobInProgress.createCache).
func (j *job) placeSplits() {
	jt := j.jt
	maps := j.Tasks[workload.Map]
	if !jt.release.Ideal && j.spec.Maps.Splits == nil {
		j.hosts.replicas = min(jt.q.Cluster.Replication, len(jt.trackers))
		j.hosts.draw(jt, jt.placement.For(j.ID), maps)
	}
	j.resolveHosts()
	j.WaitFactor = float32(j.conf.waitFactor)
	defer j.calibrateWait()
	if j.hosts.given == nil && j.hosts.replicas == 0 {
		j.unplaced = oneList(maps)
		j.UnplacedMaps = maps
		return
	}
	most := maps * max(1, j.hosts.replicas)
	nodes, racks := slices.Grow(jt.entries[0][:0], most), slices.Grow(jt.entries[1][:0], most)
	var unplaced []entry
	flat := len(jt.q.Cluster.Racks) == 1
	for i := range int32(maps) {
		hosts := j.hosts.of(j, i)
		if len(hosts) == 0 {
			unplaced = append(unplaced, entry{0, i})
		}
		firstInRacks := len(racks)
		for _, h := range hosts {
			if h.node >= 0 {
				nodes = append(nodes, entry{h.node, i})
			}
			if h.rack >= 0 && !flat && !hasKey(racks[firstInRacks:], h.rack) {
				racks = append(racks, entry{h.rack, i})
			}
		}
	}
	j.nodes = newTaskLists(len(jt.trackers), nodes)
	switch {
	case !flat:
		j.racks = newTaskLists(len(jt.q.Cluster.Racks), racks)
	case len(unplaced) == 0:
		j.racks = oneList(maps)
	default:
		j.racks = newTaskLists(1, j.flatRack(unplaced))
	}
	j.unplaced = newTaskLists(1, unplaced)
	j.UnplacedMaps = len(unplaced)
	const keep = 1 << 16 // more is not worth its memory until the next job of that size
	if cap(nodes) <= keep {
		jt.entries = [2][]entry{nodes, racks}
	}
}

// calibrateWait lowers the patience for local maps where few hosts hold the
// input, unless the user has set it (JobInProgress.createCache, 1.x).
func (j *job) calibrateWait() {
	if j.conf.waitFactor != 1 || j.jt.c.Hosts == 0 || j.Tasks[workload.Map] == 0 {
		return
	}
	j.WaitFactor = min(float32(j.nodes.lists()+j.strangers)/float32(j.jt.c.Hosts), 1)
}

// flatRack lists the maps that have hosts.
func (j *job) flatRack(unplaced []entry) []entry {
	var rack []entry
	for i := range int32(j.Tasks[workload.Map]) {
		if len(unplaced) > 0 && unplaced[0].task == i {
			unplaced = unplaced[1:]
			continue
		}
		rack = append(rack, entry{0, i})
	}
	return rack
}

func hasKey(entries []entry, key int32) bool {
	for _, e := range entries {
		if e.key == key {
			return true
		}
	}
	return false
}

// resolveHosts finds the trackers behind the host names of given splits.
func (j *job) resolveHosts() {
	splits := j.spec.Maps.Splits
	if splits == nil || j.jt.release.Ideal {
		return
	}
	j.hosts.given = make([][]place, len(splits))
	strangers := map[string]bool{}
	for i, s := range splits {
		for _, name := range s.Hosts {
			p := place{-1, -1}
			if id, ok := j.jt.hosts[name]; ok {
				p = place{id, j.jt.trackers[id].rack}
			} else {
				strangers[name] = true
				if len(j.jt.q.Cluster.Racks) == 1 {
					p.rack = 0
				}
			}
			j.hosts.given[i] = append(j.hosts.given[i], p)
		}
	}
	j.strangers = len(strangers)
}

// locality is how far a map's split is from a tracker.
func (j *job) locality(index int32, t *taskTracker) workload.Locality {
	hosts := j.hosts.of(j, index)
	if len(hosts) == 0 {
		return workload.NoLocality
	}
	local := workload.OffRack
	for _, h := range hosts {
		if h.node == t.id {
			return workload.NodeLocal
		}
		if h.rack == t.rack {
			local = workload.RackLocal
		}
	}
	return local
}

var _ scheduler.Launcher = (*job)(nil)
