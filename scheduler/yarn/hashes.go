package yarn

import "slices"

// Some of Hadoop's decisions follow the order in which Java's hash maps list their
// keys: buckets by hash, and in a bucket the order of insertion.

// hashSlots is the number of buckets of a HashMap that had some before and now holds
// n entries; it never shrinks. concurrentSlots is the same for a ConcurrentHashMap,
// which grows one entry earlier.
func hashSlots(slots, n int) int {
	slots = max(slots, 16)
	for n > slots*3/4 {
		slots *= 2
	}
	return slots
}

func concurrentSlots(slots, n int) int {
	slots = max(slots, 16)
	for n >= slots*3/4 {
		slots *= 2
	}
	return slots
}

// slotOf is the bucket of a hash code.
func slotOf(hash uint32, slots int) int {
	return int((hash ^ hash>>16) & uint32(slots-1))
}

// stringHash is String.hashCode of a text in ASCII.
func stringHash(s string) uint32 {
	var h uint32
	for i := range len(s) {
		h = h*31 + uint32(s[i])
	}
	return h
}

// Slot is the bucket of a node's NodeId (NodeId.hashCode), with the port of the
// measured clusters.
func (n *Node) Slot(slots int) int {
	if n.hash == 0 {
		const port = 1234
		prime := uint32(493217)
		n.hash = (8501*prime+stringHash(n.Name))*prime + port
	}
	return slotOf(n.hash, slots)
}

// sortNodes orders nodes as a hash map of NodeIds lists them.
func sortNodes(list []*Node, slots int) {
	slices.SortStableFunc(list, func(x, y *Node) int { return x.Slot(slots) - y.Slot(slots) })
}

// epoch is the start of the ResourceManager, in ms since 1970, of the measured clusters
// (ApplicationId.getClusterTimestamp).
const epoch = 1262304000000

// hash is ContainerId.hashCode, of ApplicationAttemptId and ApplicationId.
func (c *Container) hash() uint32 {
	ts := uint32(int64(epoch)&0xffffffff) ^ uint32(int64(epoch)>>32)
	app := (6521*371237+ts)*371237 + uint32(c.app.ID)
	attempt := (347671*5501+app)*347671 + uint32(c.app.Attempt)
	return 31*uint32(c.Number) + attempt
}

// byHash lists the containers that occupy a node.
func (n *Node) byHash() []*Container {
	list := slices.Clone(n.launched)
	slices.SortStableFunc(list, func(a, b *Container) int { return slotOf(a.hash(), n.slots) - slotOf(b.hash(), n.slots) })
	return list
}

// withMastersLast lists them backwards, and ApplicationMasters at the end
// (SchedulerNode.getRunningContainersWithAMsAtTheEnd).
func (n *Node) withMastersLast() []*Container {
	var list, masters []*Container
	for _, c := range n.byHash() {
		if c.AM() {
			masters = append(masters, c)
		} else {
			list = append(list, c)
		}
	}
	slices.Reverse(list)
	return append(list, masters...)
}
