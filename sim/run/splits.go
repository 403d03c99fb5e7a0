package run

import (
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// Host is a host of a split: a node, or -1 for a host that is none, and its
// rack. A host without a node is in a rack of its own behind those of the
// cluster, so that its maps are found last (JobTracker.resolveAndAddToTopology
// enters the racks of such hosts after those of the trackers).
type Host struct{ Node, Rack int32 }

// Splits holds the hosts of a job's splits.
type Splits struct {
	Replicas int     // of a split placed at random; 0: no hosts at all
	Drawn    []int32 // their nodes, task by task; nil: they are drawn when asked for
	Unknown  int     // hosts of recorded splits that are no node

	topology *execute.Topology
	given    [][]Host // by task; nil: placed at random
	seed     workload.Seed
	nodes    []int32 // those of one split
	found    []Host
}

// mostStored is the largest number of splits whose random hosts are stored.
const mostStored = 1 << 16

// Splits returns the hosts of a job's splits: as recorded, or placed at random.
func (r *Run) Splits(job int) Splits {
	s := Splits{topology: r.Topology}
	maps, cluster := &r.Question.Jobs[job].Maps, &r.Question.Cluster
	if maps.Splits != nil {
		s.resolve(maps.Splits, r.Nodes, len(cluster.Racks))
	} else {
		s.draw(r.Question.Draws(model.DrawSplits).For(job), maps.Count, min(cluster.Replication, len(cluster.Nodes)))
	}
	return s
}

// None reports whether no split has a host.
func (s *Splits) None() bool { return s.given == nil && s.Replicas == 0 }

// Of lists the hosts of a task's split. The list is valid until the next call.
func (s *Splits) Of(index int32) []Host {
	if s.given != nil {
		return s.given[index]
	}
	s.found = s.found[:0]
	for _, node := range s.nodesOf(index) {
		s.found = append(s.found, Host{node, s.topology.RackOf[node]})
	}
	return s.found
}

// nodesOf lists the nodes with a split placed at random. The list is valid until
// the next call.
func (s *Splits) nodesOf(index int32) []int32 {
	switch {
	case s.Replicas == 0:
		return nil
	case s.Drawn != nil:
		return s.Drawn[int(index)*s.Replicas:][:s.Replicas]
	}
	s.nodes = s.drawOne(index, s.nodes[:0])
	return s.nodes
}

// draw places the replicas of all splits at random.
func (s *Splits) draw(seed workload.Seed, splits, replicas int) {
	s.seed, s.Replicas = seed, replicas
	if splits > mostStored {
		return
	}
	s.Drawn = make([]int32, splits*replicas)
	for i := range splits {
		s.drawOne(int32(i), s.Drawn[i*replicas:i*replicas:(i+1)*replicas])
	}
}

// drawOne adds the nodes of a split's replicas to an empty list. Each is placed as
// HDFS does for a writer outside the cluster: a random node, one in another rack,
// a second one in that rack, then any (ReplicationTargetChooser).
func (s *Splits) drawOne(split int32, found []int32) []int32 {
	nodes, g := uint64(len(s.topology.RackOf)), s.seed.Stream(int(split), 0).Generator()
draws:
	for len(found) < s.Replicas {
		x := g.Uint64()
		if len(found) == 2 {
			if mates := s.topology.Mates(found[1]); len(mates) > 2 {
				x = uint64(mates[g.Uint64()%uint64(len(mates))])
			}
		}
		id := int32(x % nodes)
		if len(found) == 1 && !s.topology.MayFollow(found[0], id) {
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

// Racks adds the racks of the nodes drawn to a list, and -1 for a node in a rack that
// the split has already.
func (s *Splits) Racks(list []int32) []int32 {
	list = slices.Grow(list, len(s.Drawn))[:len(s.Drawn)]
	for i, node := range s.Drawn {
		list[i] = s.topology.RackOf[node]
	}
	for first := 0; first < len(list); first += s.Replicas {
		own := list[first:][:s.Replicas]
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

// resolve finds the nodes of recorded host names. With a single rack, every host
// is in it.
func (s *Splits) resolve(splits []workload.Split, nodes map[string]int32, racks int) {
	s.given = make([][]Host, len(splits))
	unknown := map[string]bool{}
	for i, split := range splits {
		for _, name := range split.Hosts {
			p := Host{Node: -1}
			if id, ok := nodes[name]; ok {
				p = Host{id, s.topology.RackOf[id]}
			} else {
				unknown[name] = true
				if p.Rack = int32(racks); racks == 1 {
					p.Rack = 0
				}
			}
			s.given[i] = append(s.given[i], p)
		}
	}
	s.Unknown = len(unknown)
}

// Locality returns the distance of a map's split from a node.
func (s *Splits) Locality(index, node int32) workload.Locality {
	if s.None() {
		return workload.NoLocality
	}
	rack, local := s.topology.RackOf[node], workload.NoLocality
	for _, p := range s.Of(index) {
		switch {
		case p.Node == node:
			return workload.NodeLocal
		case p.Rack == rack:
			local = min(local, workload.RackLocal)
		default:
			local = min(local, workload.OffRack)
		}
	}
	return local
}

// Source returns the node from which another reads a split: one of its own
// rack, or else any that has it. Input that no node holds counts as local.
func (s *Splits) Source(index, node int32) int32 {
	from, racks := node, s.topology.RackOf
	for _, p := range s.Of(index) {
		if p.Node >= 0 && (from == node || p.Rack == racks[node] && racks[from] != racks[node]) {
			from = p.Node
		}
	}
	return from
}
