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
	if m.hosts.Replicas == 0 {
		m.listIf(&m.unplaced, func(hosts int) bool { return hosts == 0 })
	}
	m.left = len(m.unplaced.tasks)
	m.nodes.more = func() { m.listMore(&m.nodes, len(m.rackOf), m.addNodes) }
	switch {
	case m.racks != 1:
		m.inRack.more = func() { m.listMore(&m.inRack, m.racks+1, m.addRacks) }
	case m.left == 0:
		m.inRack = oneList(maps)
	default:
		m.listIf(&m.inRack, func(hosts int) bool { return hosts > 0 })
	}
}

// listIf lists the maps whose number of hosts is wanted under one key.
func (m *mapCache) listIf(l *taskLists, wanted func(hosts int) bool) {
	for i := range int32(m.maps) {
		if wanted(len(m.hosts.Of(i))) {
			m.memory.entries = append(m.memory.entries, entry{0, i})
		}
	}
	l.sort(1, m.memory)
}

// listedAtOnce is the number of maps that are listed first.
const listedAtOnce = 1 << 16

// listMore lists more maps under the keys below n that add finds, beside the entries
// that no search has reached, but for the maps that a search would drop for good. The
// more entries are left to be copied, the more maps it takes.
func (m *mapCache) listMore(l *taskLists, n int, add func(index int32)) {
	for e := range l.rest {
		if !m.tasks.gone(workload.Map, e.task) {
			m.memory.entries = append(m.memory.entries, e)
		}
	}
	from := l.listed
	l.listed = int32(min(m.maps, int(from)+max(listedAtOnce, len(m.memory.entries))))
	m.memory.entries = slices.Grow(m.memory.entries, int(l.listed-from)*m.hosts.Replicas)
	for i := from; i < l.listed; i++ {
		if !m.tasks.gone(workload.Map, i) {
			add(i)
		}
	}
	if int(l.listed) == m.maps {
		l.more = nil
	}
	l.sort(n, m.memory)
}

// addNodes enters a map under each node that holds its split.
func (m *mapCache) addNodes(index int32) {
	for _, h := range m.hosts.Of(index) {
		if h.Node >= 0 {
			m.memory.entries = append(m.memory.entries, entry{h.Node, index})
		}
	}
}

// addRacks does the same with racks, each once.
func (m *mapCache) addRacks(index int32) {
	first := len(m.memory.entries)
	for _, h := range m.hosts.Of(index) {
		if x := (entry{h.Rack, index}); !slices.Contains(m.memory.entries[first:], x) {
			m.memory.entries = append(m.memory.entries, x)
		}
	}
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
	seen, n := newBitset(nodes), 0
	for i := int32(0); int(i) < m.maps && n < nodes; i++ {
		for _, h := range m.hosts.Of(i) {
			if h.Node >= 0 && !seen.has(h.Node) {
				seen.set(h.Node)
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
