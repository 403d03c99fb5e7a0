package execute

import (
	"fmt"
	"math"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/station"
)

// Usage records how busy the devices are. It is read at intervals. The interval
// doubles whenever there are more than mostReadings.
type Usage struct {
	Next   engine.Time // when to read next
	eng    *engine.Engine
	gauges []gauge
	step   engine.Time
	times  []time.Duration
	read   [][]reading // by time and gauge
}

// gauge measures a device, or all devices of a kind.
type gauge struct {
	node, device string
	size         float64 // seconds of service per second
	members      []*meter
}

// meter reads a device. It need not read again a device that was not used since.
type meter struct {
	last   reading
	uses   int64 // of the device at the last reading
	device interface{ Uses() int64 }
	loaded bool // others than Hadoop may have the device
	read   func() reading
}

func (m *meter) reading() *reading {
	if uses := m.device.Uses(); m.loaded || uses < 0 || uses != m.uses {
		m.last, m.uses = m.read(), uses
	}
	return &m.last
}

// reading is the count of a gauge at one time.
type reading struct {
	busy    float64 // seconds of service
	sent    float64 // bytes, over a link
	reads   float64 // bytes, from a disk
	writes  float64
	visits  float64 // visitor seconds
	inUse   float64 // seconds with a visitor
	offered float64 // work that visitors could have received, in seconds of a device of most nodes
	foreign float64 // seconds that others than Hadoop had
}

func (r *reading) add(o *reading) {
	r.busy += o.busy
	r.sent += o.sent
	r.reads += o.reads
	r.writes += o.writes
	r.visits += o.visits
	r.inUse += o.inUse
	r.offered += o.offered
	r.foreign += o.foreign
}

const (
	fewNodes     = 64 // largest number of nodes with a gauge for each device
	mostReadings = 400
)

// allNodes is the node number of gauges for the whole cluster.
const allNodes = "*"

// watch puts a gauge on every device.
func (u *Usage) watch(h *hardware) {
	u.eng, u.step = h.eng, engine.Time(time.Second)
	nodes := h.cluster.Nodes
	all := []gauge{{node: allNodes, device: "cpu"}, {node: allNodes, device: "disk"}, {node: allNodes, device: "network"}}
	add := func(kind int, g gauge, on interface{ Uses() int64 }, read func() reading) {
		g.members = []*meter{{uses: -1, device: on, loaded: len(h.cluster.Loads) > 0, read: read}}
		all[kind].size += g.size
		all[kind].members = append(all[kind].members, g.members...)
		if len(nodes) <= fewNodes {
			u.gauges = append(u.gauges, g)
		}
	}
	usual := &h.cluster.Machines[h.cluster.UsualMachine()]
	for i := range nodes {
		n, name := &h.nodes[i], nodes[i].Name
		m := &h.cluster.Machines[nodes[i].Machine]
		threads, speed := float64(m.Threads()), m.Speed/usual.Speed
		foreignCPU := h.reserved(i, model.LoadCPU, 0)
		add(0, gauge{node: name, device: "cpu", size: threads}, n.cpu, func() reading {
			taken, use := n.cpu.Taken(), n.cpu.Tally()
			return reading{taken, 0, 0, 0, use.Visits, taken, n.cpu.Work() * speed, threads * foreignCPU(use.Foreign)}
		})
		for k, disk := range n.disks {
			speed := 1.0
			if k < len(usual.Disks) {
				speed = disk.read / usual.Disks[k].Read
			}
			foreign := h.reserved(i, model.LoadDisk, k)
			add(1, gauge{node: name, device: fmt.Sprintf("disk%d", k), size: 1}, disk, func() reading {
				use := disk.Tally()
				read, written := disk.moved()
				return reading{disk.Busy().Duration().Seconds(), 0, read, written, use.Visits, use.Present, use.Offered * speed, foreign(use.Foreign)}
			})
		}
		foreign := h.reserved(i, model.LoadNetwork, 0)
		for _, link := range []struct {
			name string
			*station.Link
		}{{"network-out", n.up}, {"network-in", n.down}} {
			add(2, gauge{node: name, device: link.name, size: 1}, link, func() reading {
				work, use := link.Work(), link.Tally()
				return reading{work / n.nic, work, 0, 0, use.Visits, use.Present, use.Offered / usual.NIC, foreign(use.Foreign)}
			})
		}
	}
	u.gauges = append(u.gauges, all...)
	u.Read()
}

// Read reads all gauges.
func (u *Usage) Read() {
	now := u.eng.Now()
	u.times = append(u.times, now.Duration())
	row := make([]reading, len(u.gauges))
	for i := range u.gauges {
		for _, m := range u.gauges[i].members {
			row[i].add(m.reading())
		}
	}
	u.read = append(u.read, row)
	if len(u.times) > mostReadings {
		const kept = mostReadings/2 + 1 // each second one
		for i := range kept {
			u.times[i], u.read[i] = u.times[2*i], u.read[2*i]
		}
		u.times, u.read = u.times[:kept], u.read[:kept]
		u.step *= 2
	}
	u.Next = (now/u.step + 1) * u.step
}

// Shares returns the readings as shares of the time between them.
func (u *Usage) Shares() []model.DeviceUse {
	u.Read()
	uses := make([]model.DeviceUse, len(u.gauges))
	for i, g := range u.gauges {
		uses[i] = model.DeviceUse{Node: g.node, Device: g.device, Times: u.times}
		for k := range len(u.times) - 1 {
			from, to := &u.read[k][i], &u.read[k+1][i]
			var use model.Use
			if seconds := (u.times[k+1] - u.times[k]).Seconds() * g.size; seconds > 0 {
				use.Busy = (to.busy - from.busy) / seconds
				use.InService = (to.visits - from.visits) / seconds
				use.Foreign = (to.foreign - from.foreign) / seconds
			}
			if seconds := to.inUse - from.inUse; seconds > 0 {
				use.Rate = (to.offered - from.offered) / seconds
			}
			use.ReadBytes = between(from.reads, to.reads)
			use.WriteBytes = between(from.writes, to.writes)
			use.Bytes = between(from.sent, to.sent) + use.ReadBytes + use.WriteBytes
			uses[i].Uses = append(uses[i].Uses, use)
		}
	}
	return uses
}

// between returns the whole bytes between two counts, so that steps add up. The
// work of present flows is rounded, and may seem to shrink.
func between(from, to float64) int64 { return max(0, int64(math.Round(to))-int64(math.Round(from))) }
