package execute

import (
	"fmt"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
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
	members      []func() reading
}

// reading is the count of a gauge at one time.
type reading struct{ busy, bytes float64 } // seconds of service, and bytes

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
	add := func(kind int, node, device string, size float64, read func() reading) {
		all[kind].size += size
		all[kind].members = append(all[kind].members, read)
		if len(nodes) <= fewNodes {
			u.gauges = append(u.gauges, gauge{node, device, size, []func() reading{read}})
		}
	}
	for i := range nodes {
		n, name := &h.nodes[i], nodes[i].Name
		threads := float64(h.cluster.Machines[nodes[i].Machine].Threads())
		add(0, name, "cpu", threads, func() reading { return reading{n.cpu.Taken(), 0} })
		for k, disk := range n.disks {
			add(1, name, fmt.Sprintf("disk%d", k), 1, func() reading { return reading{disk.Busy().Duration().Seconds(), disk.moved} })
		}
		add(2, name, "network-out", 1, func() reading { return reading{n.up.Work() / n.nic, n.up.Work()} })
		add(2, name, "network-in", 1, func() reading { return reading{n.down.Work() / n.nic, n.down.Work()} })
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
		for _, read := range u.gauges[i].members {
			r := read()
			row[i].busy += r.busy
			row[i].bytes += r.bytes
		}
	}
	u.read = append(u.read, row)
	if len(u.times) > mostReadings {
		for i := range (len(u.times) + 1) / 2 {
			u.times[i], u.read[i] = u.times[2*i], u.read[2*i]
		}
		u.times, u.read = u.times[:(len(u.times)+1)/2], u.read[:(len(u.times)+1)/2]
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
			from, to := u.read[k][i], u.read[k+1][i]
			span := (u.times[k+1] - u.times[k]).Seconds()
			busy := 0.0
			if span > 0 {
				busy = (to.busy - from.busy) / (span * g.size)
			}
			uses[i].Busy = append(uses[i].Busy, busy)
			uses[i].Bytes = append(uses[i].Bytes, int64(to.bytes-from.bytes))
		}
	}
	return uses
}
