package execute

import "github.com/slotwave/slotwave/model"

// Topology maps nodes to racks (NetworkTopology).
type Topology struct {
	RackOf []int32   // by node
	nodes  [][]int32 // by rack
	racks  int       // racks that have nodes
}

// NewTopology reads the racks of a cluster.
func NewTopology(c *model.Cluster) *Topology {
	t := &Topology{RackOf: make([]int32, len(c.Nodes)), nodes: make([][]int32, max(1, len(c.Racks)))}
	for i := range c.Nodes {
		rack := c.Nodes[i].Rack
		t.RackOf[i] = int32(rack)
		t.nodes[rack] = append(t.nodes[rack], int32(i))
	}
	for _, nodes := range t.nodes {
		if len(nodes) > 0 {
			t.racks++
		}
	}
	return t
}

// MayFollow reports whether a node may hold a second replica: it is in another
// rack than the first if there are several racks.
func (t *Topology) MayFollow(first, second int32) bool {
	return t.racks < 2 || t.RackOf[first] != t.RackOf[second]
}

// Mates lists the nodes in the rack of a node.
func (t *Topology) Mates(node int32) []int32 { return t.nodes[t.RackOf[node]] }
