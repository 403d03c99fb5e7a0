package execute

import (
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/station"
	"github.com/slotwave/slotwave/workload"
)

// hardware holds the devices of all nodes and the network between them.
//
// The unit of a flow is a second on the first device of its path, so that flows
// share a disk by time and not by bytes.
type hardware struct {
	eng      *engine.Engine
	cluster  *model.Cluster
	topology *Topology
	net      *station.Network
	nodes    []node
	racks    []rackLinks   // nil where racks have no limits
	draws    workload.Seed // nodes that hold replicas, and hosts to fetch from
	nodesDie bool
	trace    *spanTrace // nil: nothing is recorded
}

// node is the devices of one node.
type node struct {
	up, down *station.Link // bytes
	nic      float64       // bytes/s
	cpu      *station.Device
	traffic  float64 // bytes that its disks have read and written
	memory   float64 // bytes of page cache kept after a task ends; 0: none
	heaps    float64 // heaps of children that hold a slot, bytes
	dead     bool
	disks    []*disk
	locals   station.Turns[*disk] // disks for files of tasks
	volumes  station.Turns[*disk] // for blocks
	cache    pageCache
}

type rackLinks struct{ up, down *station.Link }

// newHardware makes all devices, idle. It calls die when a node dies.
func newHardware(c *common, die func(node int32)) *hardware {
	nodes, machines := c.cluster.Nodes, c.cluster.Machines
	h := &hardware{
		eng: c.eng, cluster: c.cluster, topology: NewTopology(c.cluster),
		net: station.NewNetwork(c.eng), nodes: make([]node, len(nodes)),
		draws: c.question.Draws(model.DrawBlocks),
	}
	h.net.Slack = c.question.Network.Slack
	if len(c.cluster.Racks) > 1 {
		h.racks = make([]rackLinks, len(c.cluster.Racks))
	}
	for i := range nodes {
		h.equip(int32(i), &machines[nodes[i].Machine])
		if dies := nodes[i].Dies; dies > 0 {
			h.nodesDie = true
			h.eng.NewTimer(engine.Completion, int32(i), die).Reset(engine.At(dies))
		}
	}
	for i := range nodes {
		h.loadNode(i)
	}
	return h
}

// equip makes the devices of a node and the links of its rack.
func (h *hardware) equip(id int32, m *model.Machine) {
	n := &h.nodes[id]
	n.cpu = station.NewDevice(h.eng, station.Cores(float64(m.Cores), m.SMT...))
	n.cpu.Places = float64(m.Threads())
	for _, k := range m.Disks {
		n.disks = append(n.disks, &disk{Link: h.net.NewLink(1, curve(k)), read: k.Read, write: k.Write})
	}
	n.locals.Things, n.volumes.Things = n.disks, n.disks
	if m.Dirty > 0 {
		n.cached(h.net, float64(m.Dirty))
	}
	n.nic = m.NIC
	if m.PageCache {
		n.memory = float64(m.Memory)
	}
	n.up, n.down = h.net.NewLink(m.NIC, nil), h.net.NewLink(m.NIC, nil)
	if r := h.topology.RackOf[id]; h.racks != nil && h.racks[r].up == nil && !math.IsInf(m.Uplink, 1) {
		h.racks[r] = rackLinks{h.net.NewTrunk(m.Uplink), h.net.NewTrunk(m.Uplink)}
	}
}

func curve(d model.Disk) station.Curve {
	switch c := d.Curve; c.Kind {
	case model.LinearCurve:
		return station.Linear(c.Alpha)
	case model.FloorCurve:
		return station.Floor(c.Least, station.Linear(c.Alpha))
	case model.SeekCurve:
		return station.Seek(c.Chunk, d.Read, c.Seek.Seconds())
	}
	return nil
}

// cached adds a page cache to the disks of a node.
func (n *node) cached(net *station.Network, bytes float64) {
	n.cache.size = bytes
	for _, d := range n.disks {
		d.back = &writeBack{net: net, cache: &n.cache, onto: d}
		d.back.flow.Receiver = d.back
	}
}

// transfer adds the links between two nodes to the path of a flow. Within a
// node there are no links.
func (h *hardware) transfer(path []station.Hop, from, to int32, bytes float64) []station.Hop {
	if from == to {
		return path
	}
	path = station.Through(path, h.nodes[from].up, bytes)
	path = station.Through(path, h.nodes[to].down, bytes)
	a, b := h.topology.RackOf[from], h.topology.RackOf[to]
	if h.racks != nil && a != b {
		path = station.Through(path, h.racks[a].up, bytes)
		path = station.Through(path, h.racks[b].down, bytes)
	}
	return path
}

// keeps returns how many bytes of recently used disk data the memory of a node
// holds.
func (h *hardware) keeps(id int32) float64 {
	if n := &h.nodes[id]; n.memory > 0 {
		return max(0, n.memory-n.heaps)
	}
	return 0
}

// remembered returns the fraction of a task's files that is still in memory.
// since is the disk traffic of the node before the first of these files.
func (h *hardware) remembered(node int32, since float64) float64 {
	return min(1, h.keeps(node)/max(1, h.nodes[node].traffic-since))
}

// warm returns the fraction of a job's input on a node that is still in memory.
func (h *hardware) warm(node int32, j *Job) float64 {
	m := &j.Spec.Maps
	if !m.Fresh {
		return 0
	}
	replicas := min(h.cluster.Replication, len(h.nodes))
	stored := float64(m.InputBytes) * float64(replicas) / float64(len(h.nodes))
	return max(0, min(1, (h.keeps(node)-h.nodes[node].traffic)/max(1, stored)))
}
