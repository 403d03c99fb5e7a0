// Package yarn holds the policies of YARN's ResourceManager: which application gets
// the next container of a node, in which queue, and at what cost to whom. It knows no
// time; the ResourceManager calls it at each heartbeat.
package yarn

import (
	"slices"

	"github.com/slotwave/slotwave/model"
)

// Exit says how a container ended (ContainerExitStatus).
type Exit int32

// Exit states.
const (
	Success       Exit = 0
	ProcessFailed Exit = 1
	Aborted       Exit = -100 // released, lost with its node, or its application has ended
	Preempted     Exit = -102
	KilledByAM    Exit = -105 // KILLED_BY_APPMASTER
	KilledByRM    Exit = -106 // KILLED_BY_RESOURCEMANAGER
	Unreserved    Exit = -999 // a reservation that was given up: never told to the application
)

// state of a container (RMContainerState).
type state uint8

const (
	fresh state = iota
	reserved
	allocated
	acquired
	ended
)

// Container is a grant or a reservation.
type Container struct {
	Number   int32 // within the attempt of the application, in order of creation; the AM's is 1
	Node     int32 // index of the node in the cluster
	Size     Resource
	Priority Priority
	What     string // runs in it: for records
	Row      int32  // for whoever records containers
	Lane     int32  // of its node while it runs: the lowest that was free

	app      *App
	node     *Node
	state    state
	asks     []Ask // to ask for again if it ends before it is acquired
	place    int   // in the live list of its application, counted from 1; 0: not there
	onNode   bool  // a node has reported it running
	occupies bool  // its size is off the node's free amount
}

// App returns the attempt that holds the container.
func (c *Container) App() *App { return c.app }

// AM reports whether the container is the ApplicationMaster's own.
func (c *Container) AM() bool { return c.app.am == c }

// Node is what the scheduler knows of a NodeManager (SchedulerNode).
type Node struct {
	Index      int32
	Name       string
	Host, Rack Place
	Total      Resource

	free     Resource
	reserved *Container
	launched []*Container // that occupy memory, in order of allocation
	slots    int          // of Hadoop's hash map of them
	usable   bool
	hash     uint32 // of its NodeId; 0: not computed yet
}

// Free returns what is not occupied.
func (n *Node) Free() Resource { return n.free }

// occupy takes a container's size off the node.
func (n *Node) occupy(c *Container) {
	c.app.cluster.room.known = false
	n.free = n.free.Minus(c.Size)
	n.launched = append(n.launched, c)
	n.slots = hashSlots(n.slots, len(n.launched))
	c.occupies = true
}

// vacate gives the size back. From 2.8 on a container that the node has reported running
// holds it until the node reports its end (SchedulerNode.releaseContainer).
func (n *Node) vacate(c *Container, byNode bool) {
	if !c.occupies || c.onNode && !byNode && c.app.cluster.release.HoldsNode {
		return
	}
	c.occupies = false
	c.app.cluster.room.known = false
	n.free = n.free.Plus(c.Size)
	n.launched = slices.DeleteFunc(n.launched, func(x *Container) bool { return x == c })
}

// App is one attempt of an application as the scheduler sees it
// (SchedulerApplicationAttempt, AppSchedulingInfo).
type App struct {
	ID       int32 // of the application, in order of submission
	Attempt  int32 // from 1
	Name     string
	User     string
	Queue    string
	Priority int32    // larger goes first
	Size     Resource // of the ApplicationMaster, as asked for
	Start    int64    // when the attempt was added
	Path     string   // of its queue, set by the policy

	requests
	live    []*Container // in order of allocation; nil where one has ended
	gaps    int          // in live
	granted []*Container // not acquired yet
	am      *Container
	last    int32 // number of containers made
	stopped bool
	runs    bool           // it is not held back by a limit of applications that run at once
	refused map[int32]bool // nodes that it refuses
	used    Resource
	held    Resource // by reservations
	pending Resource

	capacity *capacityApp
	fair     *fairApp
}

// Granted returns the containers of which the application does not know yet.
func (a *App) Granted() []*Container { return a.granted }

// Waits reports whether the ApplicationMaster has no container yet.
func (a *App) Waits() bool { return a.am == nil }

// prepare makes the tables of a new attempt.
func (a *App) prepare(c *cluster) {
	a.cluster = c
	c.changes++
	a.refused = make(map[int32]bool)
}

// heard books what a heartbeat of the application says: releases, asks and changes of the
// blacklist, in this order. It calls changed for each ask of Any.
func (a *App) heard(s Scheduler, complete func(*Container, Exit, bool), asks []Ask, releases []*Container, refuse, forgive []int32, changed func(demand)) {
	for _, c := range releases {
		complete(c, Aborted, true)
	}
	if !a.stopped {
		a.updateAll(asks, func(r Resource) Resource { return s.Normalize(a.Path, r) }, changed)
		a.refuse(refuse, forgive)
	}
}

// refuse changes the nodes that the application refuses.
func (a *App) refuse(more, less []int32) {
	a.cluster.changes += uint64(len(more) + len(less))
	for _, n := range more {
		a.refused[n] = true
	}
	for _, n := range less {
		delete(a.refused, n)
	}
}

// newContainer makes a container without a number.
func (a *App) newContainer(n *Node, size Resource, p Priority) *Container {
	return &Container{Node: n.Index, Size: size, Priority: p, app: a, node: n, Row: -1}
}

// number gives a container its number.
func (a *App) number(c *Container) {
	a.last++
	c.Number = a.last
}

// book reserves a node for a container, or counts one more try for the one that is
// reserved (SchedulerApplicationAttempt.reserve).
func (a *App) book(c *Container) {
	a.cluster.changes++
	x := a.at(c.Priority)
	if c.state == fresh {
		a.cluster.waiting++
		a.held = a.held.Plus(c.Size)
		x.retries = 0
		c.state = reserved
		x.booked.add(c)
	} else {
		x.retries++
	}
	c.node.reserved = c
}

// unbook gives a reservation up.
func (a *App) unbook(c *Container) bool {
	x := a.at(c.Priority)
	if !x.booked.remove(c) {
		return false
	}
	a.cluster.changes++
	a.cluster.waiting--
	x.retries = 0
	a.held = a.held.Minus(c.Size)
	c.node.reserved = nil
	return true
}

// reservations lists those of an application
// (SchedulerApplicationAttempt.getReservedContainers).
func (a *App) reservations() (list []*Container) {
	for _, x := range a.byKey() {
		x.booked.each(func(c *Container) bool {
			list = append(list, c)
			return true
		})
	}
	return list
}

// bookings are the reservations of one application and priority, in the order in which
// Hadoop's hash map of nodes lists them.
type bookings struct {
	list  []*Container // in order of reservation
	slots int          // of the hash map, which never shrinks while it is not empty
}

func (b *bookings) add(c *Container) {
	b.list = append(b.list, c)
	b.slots = hashSlots(b.slots, len(b.list))
}

func (b *bookings) remove(c *Container) bool {
	i := slices.Index(b.list, c)
	if i < 0 {
		return false
	}
	if b.list = slices.Delete(b.list, i, i+1); len(b.list) == 0 {
		b.slots = 0
	}
	return true
}

// each calls a function in the map's order until it returns false.
func (b *bookings) each(do func(*Container) bool) {
	sorted := slices.Clone(b.list)
	slices.SortStableFunc(sorted, func(x, y *Container) int {
		return x.node.Slot(b.slots) - y.node.Slot(b.slots)
	})
	for _, c := range sorted {
		if !do(c) {
			return
		}
	}
}

// Listener hears what a policy decides; the ResourceManager implements it.
type Listener interface {
	Reserved(*Container)  // a node was reserved for it
	Allocated(*Container) // it was given to its application, which does not know yet
	Acquired(*Container)  // its application knows
	// Finished tells that a container has ended for the scheduler. If tell is set its
	// node has to be told to kill it.
	Finished(c *Container, exit Exit, tell bool)

	// Nanos is the present instant. After calls do later, and returns what withdraws
	// the call; Post calls it after what is under way.
	Nanos() int64
	After(nanos int64, do func()) (stop func())
	Post(do func())

	// Name is the name of a place.
	Name(Place) string
}

// cluster is what every policy knows of the nodes.
type cluster struct {
	listener Listener
	release  *model.YARNRelease
	nodes    []*Node // usable, in order of registration
	total    Resource
	racks    map[Place]int // usable nodes by rack
	slots    int           // of Hadoop's hash map of the nodes
	changes  uint64
	waiting  int // applications that ask for something, and reservations
	room     room
	lowered  [][]Ask // spare lists of Container.asks
}

// Changes implements Scheduler.
func (c *cluster) Changes() uint64 { return c.changes }

// Waits implements Scheduler.
func (c *cluster) Waits() bool { return c.waiting > 0 }

// The rules that most policies share: AppRemoved books nothing, heartbeats without news
// leave the scheduler as it is, and an offer of any node may be of effect.

// AppRemoved implements Scheduler.
func (c *cluster) AppRemoved(*App) {}

// Unmoved implements Scheduler.
func (c *cluster) Unmoved(*App) bool { return true }

// Full implements Scheduler.
func (c *cluster) Full(*Node) bool { return false }

func newCluster(l Listener, r *reader) cluster {
	return cluster{listener: l, release: r.release, racks: make(map[Place]int)}
}

func (c *cluster) addNode(n *Node) {
	c.changes++
	c.room.known = false
	n.free, n.usable = n.Total, true
	c.nodes = append(c.nodes, n)
	c.slots = hashSlots(c.slots, len(c.nodes))
	c.total = c.total.Plus(n.Total)
	c.racks[n.Rack]++
}

func (c *cluster) removeNode(n *Node) {
	c.changes++
	c.room.known = false
	n.usable = false
	c.nodes = slices.DeleteFunc(c.nodes, func(x *Node) bool { return x == n })
	c.total = c.total.Minus(n.Total)
	c.racks[n.Rack]--
}

// Ended is a container that a node reports as gone.
type Ended struct {
	Container *Container
	Exit      Exit
}

// finish books the end of a container with its application: it leaves the lists, and
// one that its application never knew of is asked for again (completedContainer,
// recoverResourceRequestForContainer). It reports whether the container was live.
func (a *App) finish(l Listener, c *Container, exit Exit, tell bool) bool {
	if c.place == 0 {
		return false
	}
	a.cluster.changes++
	a.live[c.place-1] = nil
	c.place = 0
	if a.gaps++; a.gaps > len(a.live)/2 {
		a.compact()
	}
	if c.state == allocated {
		a.granted = remove(a.granted, c)
	}
	tell = tell && c.state >= acquired
	c.state = ended
	a.used = a.used.Minus(c.Size)
	l.Finished(c, exit, tell)
	return true
}

// grant books a container as allocated: it is live, its ask is served, and its node
// holds it.
func (a *App) grant(c *Container, near locality) {
	c.state = allocated
	a.granted = append(a.granted, c)
	a.enlive(c)
	c.asks = a.take(c.Priority, near, c.node.Host, c.node.Rack)
	a.used = a.used.Plus(c.Size)
	c.node.occupy(c)
}

// stop ends the asks of an attempt.
func (a *App) stop() {
	a.stopped = true
	a.cluster.changes++
	for _, x := range a.levels {
		x.table = nil
	}
	for len(a.wanted) > 0 {
		a.unwant(a.wanted[0])
	}
}

// enlive adds a container to the live ones.
func (a *App) enlive(c *Container) {
	a.live = append(a.live, c)
	c.place = len(a.live)
}

// compact closes the gaps in the list of live containers.
func (a *App) compact() {
	list := a.live[:0]
	for _, c := range a.live {
		if c != nil {
			list = append(list, c)
			c.place = len(list)
		}
	}
	clear(a.live[len(list):])
	a.live, a.gaps = list, 0
}

// alive returns the live containers in order of allocation.
func (a *App) alive() []*Container {
	a.compact()
	return slices.Clone(a.live)
}

// pull hands over what was granted since the last call.
func (a *App) pull(l Listener, into []*Container) []*Container {
	for _, c := range a.granted {
		if a.am == nil {
			a.am = c
		}
		c.state = acquired
		a.cluster.lowered = append(a.cluster.lowered, c.asks[:0])
		c.asks = nil
		l.Acquired(c)
		into = append(into, c)
	}
	a.granted = a.granted[:0]
	return into
}

// Launched books a node's first report that a container runs.
func (c *Container) Launched() {
	c.onNode = c.onNode || c.occupies
}

// report books every container that a node reports as ended
// (AbstractYarnScheduler.nodeUpdate).
func report(gone []Ended, complete func(*Container, Exit, bool), vacate func(*Container, bool)) {
	for _, g := range gone {
		complete(g.Container, g.Exit, false)
		vacate(g.Container, true)
	}
}

// largest bounds a configured maximum by the largest node
// (ClusterNodeTracker.getMaxAllowedAllocation).
func (c *cluster) largest(most Resource) Resource {
	if len(c.nodes) == 0 {
		return most
	}
	var node Resource
	for _, n := range c.nodes {
		node = node.Max(n.Total)
	}
	return most.Min(node)
}
