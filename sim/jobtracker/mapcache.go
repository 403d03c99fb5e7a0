package jobtracker

import (
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/run"
	"github.com/slotwave/slotwave/workload"
)

// mapCache holds the unlaunched maps of a job by the nodes and racks of their
// splits (JobInProgress.nonRunningMapCache). A list is made when it is first
// searched, and longer when a search has reached its end.
type mapCache struct {
	hosts    run.Splits
	maps     int
	racks    int     // racks of the cluster
	rackOf   []int32 // by tracker
	tasks    *taskTable
	memory   *listMemory
	nodes    taskLists
	inRack   taskLists
	unplaced taskLists // maps without hosts
	left     int       // number of them at the last look
	wait     localityWait
}

// listMemory is used while lists are made.
type listMemory struct {
	entries []entry
	keys    []int32
}

// localityWait is the factor on the wait for local maps, once it has been asked for.
type localityWait struct {
	hosts  int // of the cluster when the job was initialised
	known  bool
	factor float32
}

// open prepares the lists of maps whose hosts are known
// (JobInProgress.createCache).
func (m *mapCache) open(maps int, tasks *taskTable, memory *listMemory) {
	m.maps, m.tasks, m.memory = maps, tasks, memory
	if m.hosts.None() {
		m.unplaced, m.left = oneList(maps), maps
		return
	}
	var unplaced []entry
	for i := range int32(maps) {
		if m.hosts.Replicas == 0 && len(m.hosts.Of(i)) == 0 {
			unplaced = append(unplaced, entry{0, i})
		}
	}
	m.unplaced.sort(1, unplaced)
	m.left = len(unplaced)
	m.nodes.more = m.listNodes
	switch {
	case m.racks != 1:
		m.inRack.more = m.listRacks
	case len(unplaced) == 0:
		m.inRack = oneList(maps)
	default:
		m.inRack.sort(1, others(maps, unplaced))
	}
}

// listNodes lists more maps by node.
func (m *mapCache) listNodes() {
	if drawn := m.hosts.Drawn; drawn != nil {
		m.nodes.more = nil
		m.nodes.sortAll(len(m.rackOf), drawn, m.hosts.Replicas)
		return
	}
	entries, from, to := m.listMore(&m.nodes)
	for i := from; i < to; i++ {
		if m.tasks.gone(workload.Map, i) {
			continue
		}
		for _, h := range m.hosts.Of(i) {
			if h.Node >= 0 {
				entries = append(entries, entry{h.Node, i})
			}
		}
	}
	m.nodes.sort(len(m.rackOf), entries)
	m.keep(entries)
}

// listRacks lists more maps by rack.
func (m *mapCache) listRacks() {
	if m.hosts.Drawn != nil {
		m.inRack.more = nil
		m.memory.keys = m.hosts.Racks(m.memory.keys[:0])
		m.inRack.sortAll(m.racks+1, m.memory.keys, m.hosts.Replicas)
		return
	}
	entries, from, to := m.listMore(&m.inRack)
	for i := from; i < to; i++ {
		if m.tasks.gone(workload.Map, i) {
			continue
		}
		first := len(entries)
		for _, h := range m.hosts.Of(i) {
			entries = addOnce(entries, first, entry{h.Rack, i})
		}
	}
	m.inRack.sort(m.racks+1, entries)
	m.keep(entries)
}

// listMore returns the entries of lists that no search has reached, without the maps
// that a search would drop for good, and the range of the next maps to list. The more
// entries are left to be copied, the more maps it takes.
func (m *mapCache) listMore(l *taskLists) (entries []entry, from, to int32) {
	left := 0
	for e := range l.rest {
		if !m.tasks.gone(workload.Map, e.task) {
			left++
		}
	}
	from = l.listed
	to = int32(min(m.maps, int(from)+max(listedAtOnce, left)))
	if l.listed = to; int(to) == m.maps {
		l.more = nil
	}
	entries = slices.Grow(m.memory.entries[:0], left+int(to-from)*m.hosts.Replicas)
	for e := range l.rest {
		if !m.tasks.gone(workload.Map, e.task) {
			entries = append(entries, e)
		}
	}
	return entries, from, to
}

// listedAtOnce is the number of maps that are listed first.
const listedAtOnce = 1 << 16

// keep keeps the memory of entries for the next lists, unless it is large.
func (m *mapCache) keep(entries []entry) {
	const most = 1 << 18
	if cap(entries) <= most {
		m.memory.entries = entries
	}
}

// others lists the maps below a number that are not in a list of entries.
func others(maps int, some []entry) []entry {
	var rest []entry
	for i := range int32(maps) {
		if len(some) > 0 && some[0].task == i {
			some = some[1:]
			continue
		}
		rest = append(rest, entry{0, i})
	}
	return rest
}

// addOnce adds an entry unless one from a position on has its key.
func addOnce(entries []entry, from int, x entry) []entry {
	for _, e := range entries[from:] {
		if e.key == x.key {
			return entries
		}
	}
	return append(entries, x)
}

// waitFactor returns the factor that is configured. If few hosts hold the input, the
// job waits less for them (1.x).
func (m *mapCache) waitFactor(configured float64) float32 {
	w := &m.wait
	if !w.known {
		w.known, w.factor = true, float32(configured)
		if configured == 1 && w.hosts > 0 && m.maps > 0 {
			w.factor = min(float32(m.hostsWithInput())/float32(w.hosts), 1)
		}
	}
	return w.factor
}

// hostsWithInput returns the number of hosts that hold a split.
func (m *mapCache) hostsWithInput() int {
	if m.hosts.None() {
		return 0
	}
	nodes := len(m.rackOf)
	seen, n := make([]uint64, (nodes+63)/64), 0
	for i := int32(0); int(i) < m.maps && n < nodes; i++ {
		for _, h := range m.hosts.Of(i) {
			if h.Node < 0 {
				continue
			}
			if word, bit := &seen[h.Node/64], uint64(1)<<(h.Node%64); *word&bit == 0 {
				*word |= bit
				n++
			}
		}
	}
	return n + m.hosts.Unknown
}

// find returns the map nearest to a tracker that a search accepts
// (JobInProgress.findNewMapTask).
func (m *mapCache) find(tracker int32, reach scheduler.Reach, accept *search) (int32, bool) {
	rack := m.rackOf[tracker]
	if reach != scheduler.BeyondRack {
		accept.dropFailed = true
		if index, ok := m.nodes.search(tracker, accept); ok {
			accept.onNode = true
			return index, true
		}
		accept.dropFailed = false
		if reach == scheduler.OnNode {
			return 0, false
		}
		if index, ok := m.inRack.search(rack, accept); ok {
			accept.inRack = true
			return index, true
		}
		if reach == scheduler.InRack {
			return 0, false
		}
	}
	if index, ok := m.inRack.searchOthers(int32(m.racks)+1, rack, accept); ok {
		return index, true
	}
	index, ok := m.unplaced.search(0, accept)
	m.left = m.unplaced.size(0)
	return index, ok
}

// putFront makes a map available again, before all others (JobInProgress.failMap,
// 0.20).
func (m *mapCache) putFront(index int32) {
	hosts := m.hosts.Of(index)
	if len(hosts) == 0 {
		m.unplaced.putFront(0, index)
		return
	}
	for _, h := range hosts {
		m.nodes.putFront(h.Node, index)
		m.inRack.putFront(h.Rack, index)
	}
}
