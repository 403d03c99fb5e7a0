package execute

import (
	"cmp"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/station"
)

// loadNode puts foreign loads on the devices of a node, and slows the devices of
// a slow node.
func (h *hardware) loadNode(i int) {
	n, slow := &h.nodes[i], 1/h.cluster.Nodes[i].Slowness
	h.vary(n.cpu, slow, func(l *model.Load) bool { return l.Node == i && l.Device == model.LoadCPU })
	for _, link := range [...]*station.Link{n.up, n.down} {
		h.vary(link, slow, func(l *model.Load) bool { return l.Node == i && l.Device == model.LoadNetwork })
	}
	for k, disk := range n.disks {
		h.vary(disk, slow, func(l *model.Load) bool {
			return l.Node == i && l.Device == model.LoadDisk && (l.Disk < 0 || l.Disk == k)
		})
	}
}

// reserved returns a function of the seconds that background streams have had
// of a device until now. It adds those that loads have reserved.
func (h *hardware) reserved(node int, device model.LoadDevice, disk int) func(streams float64) float64 {
	var loads []*model.Load
	for i := range h.cluster.Loads {
		l := &h.cluster.Loads[i]
		if l.Share > 0 && l.Node == node && l.Device == device && (device != model.LoadDisk || l.Disk < 0 || l.Disk == disk) {
			loads = append(loads, l)
		}
	}
	return func(streams float64) float64 {
		sum, now := streams, h.eng.Now()
		for _, l := range loads {
			until := now
			if l.Until > 0 {
				until = min(now, engine.At(l.Until))
			}
			if from := engine.At(l.From); until > from {
				sum += float64(l.Share * (until - from).Duration().Seconds())
			}
		}
		return sum
	}
}

// vary sets the conditions of a device and their later changes. It applies the
// loads that bears accepts.
func (h *hardware) vary(v station.Variable, speed float64, bears func(*model.Load) bool) {
	var loads []*model.Load
	var at []engine.Time
	for i := range h.cluster.Loads {
		if l := &h.cluster.Loads[i]; bears(l) {
			loads = append(loads, l)
			at = append(at, engine.At(l.From))
			if l.Until > 0 {
				at = append(at, engine.At(l.Until))
			}
		}
	}
	if loads == nil {
		if speed != 1 {
			v.Set(speed, 0)
		}
		return
	}
	var changes []station.Change
	for _, t := range at {
		now := station.Change{At: t, Speed: speed}
		for _, l := range loads {
			if engine.At(l.From) <= t && (l.Until == 0 || t < engine.At(l.Until)) {
				now.Background += l.Streams
				now.Speed *= 1 - l.Share
			}
		}
		changes = append(changes, now)
	}
	slices.SortStableFunc(changes, func(a, b station.Change) int { return cmp.Compare(a.At, b.At) })
	v.Set(speed, 0)
	station.Vary(h.eng, v, changes)
}
