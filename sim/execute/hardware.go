package execute

import (
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/station"
	"github.com/slotwave/slotwave/workload"
)

// hardware is the devices of all nodes and the network between them.
//
// A flow is counted in seconds that it would take on the first device on its
// way, so that flows share a disk by time and not by bytes.
type hardware struct {
	eng      *engine.Engine
	cluster  *model.Cluster
	topology *Topology
	net      *station.Network
	nodes    []node
	racks    []rackLinks   // nil where racks have no limits
	draws    workload.Seed // of the nodes that hold replicas, and of hosts to fetch from
	nodesDie bool
}

// node is the devices of one node.
type node struct {
	cpu      *station.Device
	disks    []*disk
	locals   station.Turns[*disk] // for files of tasks
	volumes  station.Turns[*disk] // for blocks
	traffic  float64              // bytes that its disks have read and written
	memory   float64              // bytes that keep what disks did last; 0: none do
	heaps    float64              // bytes of children that hold a slot
	up, down *station.Link        // bytes
	nic      float64              // bytes/s
	cache    pageCache
	dead     bool
}

type rackLinks struct{ up, down *station.Link }

// newHardware makes all devices, idle; die is called when a node does.
func newHardware(c *common, die func(node int32)) *hardware {
	nodes, machines := c.cluster.Nodes, c.cluster.Machines
	h := &hardware{
		eng: c.eng, cluster: c.cluster, topology: NewTopology(c.cluster),
		net: station.NewNetwork(c.eng), nodes: make([]node, len(nodes)),
		draws: workload.Seed(c.question.Seed).Named("block placement"),
	}
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
		h.racks[r] = rackLinks{h.net.NewLink(m.Uplink, nil), h.net.NewLink(m.Uplink, nil)}
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

// cached gives the disks of a node a cache.
func (n *node) cached(net *station.Network, bytes float64) {
	n.cache.size = bytes
	for _, d := range n.disks {
		d.back = &writeBack{net: net, cache: &n.cache, onto: d}
		d.back.flow.Receiver = d.back
	}
}

// transfer adds the links between two nodes to the path of a flow of some bytes
// a second. There are none within a node.
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

// keeps returns the memory of a node that keeps what was read from and written
// to its disks last, bytes.
func (h *hardware) keeps(id int32) float64 {
	if n := &h.nodes[id]; n.memory > 0 {
		return max(0, n.memory-n.heaps)
	}
	return 0
}

// remembered returns the part of the files of a task that memory still has;
// since is the node's traffic before the first of them.
func (h *hardware) remembered(node int32, since float64) float64 {
	return min(1, h.keeps(node)/max(1, h.nodes[node].traffic-since))
}

// warm returns the part of a job's input on a node that memory still has.
func (h *hardware) warm(node int32, j *Job) float64 {
	m := &j.Spec.Maps
	if !m.Fresh {
		return 0
	}
	replicas := min(h.cluster.Replication, len(h.nodes))
	stored := float64(m.InputBytes) * float64(replicas) / float64(len(h.nodes))
	return max(0, min(1, (h.keeps(node)-h.nodes[node].traffic)/max(1, stored)))
}
