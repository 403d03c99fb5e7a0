package execute

import (
	"math/rand/v2"
	"slices"

	"github.com/slotwave/slotwave/sim/station"
)

// readBlock reads a block from a disk of a node, except the fraction warm,
// which is in memory.
func (t *thread) readBlock(from int32, d *disk, bytes, warm float64) {
	t.from = from
	t.flow.Hops = t.flow.Hops[:0]
	if warm < 1 {
		t.hardware.nodes[from].traffic += float64(bytes * (1 - warm))
		t.flow.Hops = station.Through(t.flow.Hops, d.Link, 1-warm)
	}
	t.flow.Hops = t.hardware.transfer(t.flow.Hops, from, t.node, d.read)
	t.start(bytes / d.read)
}

// writeBlocks writes to HDFS.
func (t *thread) writeBlocks(a *Attempt, bytes float64) {
	plans, h := a.Job.plans, t.hardware
	if t.replicas == 0 { // the first write of the attempt
		t.draw = h.draws.For(a.Job.ID).For(int(a.Kind)).Stream(int(a.Task), int(a.Number)).Generator()
	}
	t.left, t.block, t.replicas = bytes, plans.block, min(plans.conf.Replication, len(h.nodes))
	t.writeBlock()
}

// writeBlock sends the next block through a pipeline of replicas: the writer's
// node, one in another rack, one more in that rack, then any
// (BlockPlacementPolicyDefault).
func (t *thread) writeBlock() {
	bytes := min(t.left, t.block)
	t.left -= bytes
	at, first := t.node, t.hardware.nodes[t.node].volumes.Next()
	t.rate = first.write
	t.hardware.nodes[at].traffic += bytes
	path := t.onto(t.flow.Hops[:0], first, 1)
	var chosen [16]int32
	chosen[0] = at
	for n := 1; n < min(t.replicas, len(chosen)); n++ {
		next := t.hardware.target(&t.draw, chosen[:n])
		path = t.hardware.transfer(path, at, next, first.write)
		d := t.hardware.nodes[next].volumes.Next()
		t.hardware.nodes[next].traffic += bytes
		path = t.onto(path, d, first.write/d.write)
		chosen[n], at = next, next
	}
	t.flow.Hops = path
	if len(t.writing.onto) > 0 {
		t.writeThrough(bytes, first.write)
		return
	}
	t.start(bytes / first.write)
}

// onto adds a disk to the path of a write. If the disk has a page cache, it
// adds the disk to the cached ones instead.
func (t *thread) onto(path []station.Hop, d *disk, cost float64) []station.Hop {
	if d.back != nil {
		t.writing.onto = append(t.writing.onto, d)
		return path
	}
	return station.Onto(path, d.Link, cost)
}

// target returns the node for the next replica of a block.
func (h *hardware) target(draw *rand.PCG, chosen []int32) int32 {
	racks := h.topology
	for {
		id := int32(draw.Uint64() % uint64(len(h.nodes)))
		switch n := len(chosen); {
		case n == 1 && !racks.MayFollow(chosen[0], id):
			continue
		case n == 2 && racks.RackOf[chosen[0]] != racks.RackOf[chosen[1]] && len(racks.Mates(chosen[1])) > 1:
			mates := racks.Mates(chosen[1])
			id = mates[draw.Uint64()%uint64(len(mates))]
		}
		if !slices.Contains(chosen, id) {
			return id
		}
	}
}
