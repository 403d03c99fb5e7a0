package yarn

import (
	"slices"

	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/sim/engine"
)

// New makes a ResourceManager at time 0. Registrations come first in the order of
// events, then deaths of nodes, then submissions.
func New(c Config) (*ResourceManager, error) {
	rm := &ResourceManager{
		config: c, engine: c.Engine, places: map[string]Place{"*": Any}, names: []string{"*"},
	}
	rm.agenda = newAgenda(c.Engine, c.Heartbeat, rm.settle)
	rm.ring.rm = rm
	var err error
	if rm.sched, err = c.Scheduler(rm); err != nil {
		return nil, err
	}
	for i, n := range c.Nodes {
		rm.addNode(int32(i), n)
	}
	rm.watch()
	for i := range rm.nodes {
		if n := rm.nodes[i]; n.dies != engine.Never {
			rm.agenda.at(n.dies, n.die)
		}
	}
	for i := range c.Work {
		p := &application{Submission: c.Work[i], rm: rm, record: notSubmitted}
		rm.apps = append(rm.apps, p)
		rm.agenda.at(p.At, p.submit)
	}
	return rm, nil
}

func (rm *ResourceManager) addNode(i int32, c NodeConfig) {
	n := &node{rm: rm, dies: c.Dies, heard: None, book: &policy.Node{
		Index: i, Name: c.Name, Host: rm.place(c.Name), Rack: rm.place(c.Rack), Total: c.Total,
	}}
	n.beats = series{g: rm.agenda, interval: rm.config.Heartbeat, do: n.heartbeat}
	n.beatNow = n.beatEarly
	rm.nodes = append(rm.nodes, n)
	rm.usable++
	rm.agenda.at(c.First, n.register)
}

// place returns the number of a name.
func (rm *ResourceManager) place(name string) Place {
	p, ok := rm.places[name]
	if !ok {
		p = Place(len(rm.places))
		rm.places[name] = p
		rm.names = append(rm.names, name)
	}
	return p
}

// watch looks for silent nodes and ApplicationMasters every third of their interval
// (AbstractLivelinessMonitor). While no node dies none is ever silent.
func (rm *ResourceManager) watch() {
	for _, n := range rm.nodes {
		if n.dies != engine.Never {
			rm.every(rm.config.Expiry/3, rm.checkNodes)
			rm.every(rm.config.AMExpiry/3, rm.checkMasters)
			return
		}
	}
}

func (rm *ResourceManager) every(period engine.Time, do func()) {
	var again func()
	again = func() {
		rm.agenda.at(rm.Now()+period, again)
		do()
	}
	rm.agenda.at(period, again)
}

// checkNodes gives up nodes that were silent for too long
// (NMLivelinessMonitor, RMNodeImpl.DeactivateNodeTransition).
func (rm *ResourceManager) checkNodes() {
	for _, n := range rm.nodes {
		if n.lost || n.heard == None || rm.Now() <= n.lastHeard()+rm.config.Expiry {
			continue
		}
		n.lost = true
		rm.usable--
		rm.sched.NodeRemoved(n.book)
		for _, p := range rm.apps {
			if a := p.attempt; a != nil && !a.over {
				a.changed = append(a.changed, NodeReport{Node: n.book.Index})
				a.Wake()
			}
		}
	}
}

// checkMasters fails attempts whose ApplicationMaster was silent for too long.
func (rm *ResourceManager) checkMasters() {
	for _, p := range rm.apps {
		if a := p.attempt; a != nil && a.am != nil && !a.over && rm.Now() > a.lastHeard()+rm.config.AMExpiry {
			rm.post(func() { a.amEnded(KilledByRM) })
		}
	}
}

// Now returns the present instant.
func (rm *ResourceManager) Now() engine.Time { return rm.engine.Now() }

// post leaves something to the dispatcher: it runs after the scheduler's present work.
func (rm *ResourceManager) post(do func()) { rm.posts = append(rm.posts, do) }

// settle runs what was posted until nothing is left. It reports whether the run goes on.
func (rm *ResourceManager) settle() bool {
	for i := 0; i < len(rm.posts); i++ {
		rm.posts[i]()
	}
	rm.posts = rm.posts[:0]
	rm.ring.turn()
	return rm.goes()
}

func (rm *ResourceManager) fail(err error) {
	if rm.err == nil {
		rm.err = err
	}
}

// Run simulates until all applications have ended, or until a limit.
func (rm *ResourceManager) Run(limit engine.Time) error {
	for rm.goes() && rm.engine.StepBy(limit) {
	}
	return rm.err
}

func (rm *ResourceManager) goes() bool { return !rm.Over() && rm.err == nil }

// Over reports whether all applications have ended.
func (rm *ResourceManager) Over() bool { return rm.over == len(rm.apps) }

// Changed returns when an application was last submitted or a container was last
// granted, started or ended.
func (rm *ResourceManager) Changed() engine.Time { return rm.changed }

// Refusals calls a function for each application that is in the cluster, by its place in
// the work: whether its ApplicationMaster has registered, how many containers it asks for
// and what keeps the next of them from it.
func (rm *ResourceManager) Refusals(do func(i int, registered bool, asked int, why policy.Refusal)) {
	for i, p := range rm.apps {
		if a := p.attempt; a != nil && !a.over {
			do(i, p.record.Registered != None, a.book.Asked(), rm.sched.Refusal(a.book))
		}
	}
}

// Rows returns the containers in the order of creation.
func (rm *ResourceManager) Rows() []Row { return slices.Concat(rm.rows...) }

// Applications returns the records in the order of Config.Work.
func (rm *ResourceManager) Applications() []ApplicationRecord {
	out := make([]ApplicationRecord, len(rm.apps))
	for i, p := range rm.apps {
		out[i] = p.record
	}
	return out
}

// Rejected returns why an application was rejected, by its place in Config.Work, or nil.
func (rm *ResourceManager) Rejected(i int) *policy.Rejection { return rm.apps[i].rejected }

// Nanos implements policy.Listener.
func (rm *ResourceManager) Nanos() int64 { return int64(rm.Now()) }

// After implements policy.Listener.
func (rm *ResourceManager) After(nanos int64, do func()) (stop func()) {
	return rm.agenda.at(rm.Now()+engine.Time(nanos), do).Stop
}

// Post implements policy.Listener.
func (rm *ResourceManager) Post(do func()) { rm.post(do) }

// Name implements policy.Listener.
func (rm *ResourceManager) Name(p Place) string { return rm.names[p] }

const rowBlock = 1024

// row records a container that has got its number.
func (rm *ResourceManager) row(c *Container) *Row {
	if c.Row >= 0 {
		return &rm.rows[c.Row/rowBlock][c.Row%rowBlock]
	}
	last := len(rm.rows) - 1
	if last < 0 || len(rm.rows[last]) == rowBlock {
		rm.rows = append(rm.rows, make([]Row, 0, rowBlock))
		last++
	}
	c.Row = int32(last*rowBlock + len(rm.rows[last]))
	a := c.App()
	rm.rows[last] = append(rm.rows[last], Row{
		Application: a.Name, Attempt: int(a.Attempt), Number: c.Number, Node: c.Node, Size: c.Size, Priority: c.Priority,
		Reserved: None, Allocated: None, Acquired: None, Start: None, End: None, Freed: None,
	})
	return &rm.rows[last][c.Row%rowBlock]
}

// attemptOf returns the attempt that the scheduler knows as an application, or nil if it
// is over.
func (rm *ResourceManager) attemptOf(book *policy.App) *attempt {
	if a := rm.submitted[book.ID-1].attempt; a.book == book && !a.over {
		return a
	}
	return nil
}

// Reserved implements policy.Listener.
func (rm *ResourceManager) Reserved(c *Container) { rm.row(c).Reserved = rm.Now() }

// Allocated implements policy.Listener. The first container of an attempt is its
// ApplicationMaster's: it is pulled at once.
func (rm *ResourceManager) Allocated(c *Container) {
	r := rm.row(c)
	r.Allocated, rm.changed = rm.Now(), rm.Now()
	if a := rm.attemptOf(c.App()); a.am == nil {
		r.What = "am"
		rm.post(a.amAllocated)
	} else {
		a.Wake()
	}
}

// Acquired implements policy.Listener.
func (rm *ResourceManager) Acquired(c *Container) { rm.row(c).Acquired = rm.Now() }

// Finished implements policy.Listener.
func (rm *ResourceManager) Finished(c *Container, exit Exit, tell bool) {
	r := rm.row(c)
	r.Freed, r.Exit = rm.Now(), exit
	n := rm.nodes[c.Node]
	if tell {
		n.catchUp(c)
	}
	if tell && !n.lost {
		n.clean = append(n.clean, c)
	}
	n.wake()
	if a := rm.attemptOf(c.App()); exit != policy.Unreserved && a != nil {
		a.containerEnded(c, exit)
	}
}
