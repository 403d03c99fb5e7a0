package yarn

import (
	"errors"
	"slices"

	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/sim/engine"
)

// submit brings an application to the scheduler.
func (p *application) submit() {
	p.rm.submitted = append(p.rm.submitted, p)
	p.id = int32(len(p.rm.submitted))
	p.record.Submitted, p.rm.changed = p.rm.Now(), p.rm.Now()
	p.newAttempt()
}

// newAttempt adds an attempt and asks for its ApplicationMaster: one container of
// priority 0 anywhere (RMAppAttemptImpl.ScheduleTransition).
func (p *application) newAttempt() {
	n := 1
	if p.attempt != nil {
		n = p.attempt.number + 1
	}
	a := &attempt{app: p, rm: p.rm, number: n, slots: 16}
	p.attempt = a
	a.book = &policy.App{
		ID: p.id, Attempt: int32(n), Name: p.Name, User: p.User, Queue: p.Queue, Priority: p.Priority,
		Size: p.AM, Start: int64(p.rm.Now()),
	}
	a.program = p.New(n)
	switch err := p.rm.sched.AppAdded(a.book); {
	case errors.As(err, &p.rejected):
		a.over = true
		p.record.Ended = p.rm.Now()
		p.rm.over++
		return
	case err != nil:
		p.rm.fail(err)
		return
	}
	p.record.Queue = a.book.Path
	p.rm.sched.Update(a.book, []Ask{{Place: Any, Size: p.AM, Count: 1}}, nil, nil, nil)
}

// amAllocated pulls the container of the ApplicationMaster and launches it
// (AMContainerAllocatedTransition, AMLauncher).
func (a *attempt) amAllocated() {
	granted, _ := a.rm.sched.Pull(a.book, nil)
	if len(granted) == 0 || a.over {
		return
	}
	a.am = granted[0]
	a.am.What = "am"
	now := a.rm.Now()
	r := &a.app.record
	r.AMNode, r.AMAllocated, r.Attempts = a.am.Node, a.rm.row(a.am).Allocated, a.number
	r.AMStarted, r.Registered, r.Unregistered, r.Ended = None, None, None, None
	a.heard = now
	if a.rm.nodes[a.am.Node].start(a.am, a) {
		a.rm.agenda.at(now+a.app.Launch, a.start)
	}
}

// start runs the program: it registers in the same instant, and beats one heartbeat
// later (MRAppMaster, RMCommunicator).
func (a *attempt) start() {
	if a.lost || a.over {
		return
	}
	a.started = true
	now := a.rm.Now()
	a.app.record.AMStarted, a.app.record.Registered = now, now
	a.heard = now
	a.beats = series{g: a.rm.agenda, interval: a.app.Interval, do: a.beat}
	a.beats.beat()
	a.beats.wake()
	a.program.Start(a)
}

// beat lets the program heartbeat. Later heartbeats are left out while neither side has
// news.
func (a *attempt) beat() {
	if a.lost || a.over || !a.program.Beating() {
		return
	}
	a.beats.beat()
	a.program.Beat()
	news := len(a.book.Granted()) + len(a.ended) + len(a.changed)
	if a.rm.config.Every || a.app.Interval != a.rm.config.Heartbeat || news > 0 || !a.program.Idle() || !a.rm.sched.Unmoved(a.book) {
		a.Wake()
	}
}

// Wake implements Master.
func (a *attempt) Wake() {
	if a.started && !a.lost && a.beats.resting {
		a.heard = a.lastHeard()
		a.beats.wake()
	}
}

// lastHeard returns the instant of the last heartbeat, left out or not.
func (a *attempt) lastHeard() engine.Time {
	if a.beats.resting && !a.lost {
		return max(a.heard, a.beats.last())
	}
	return a.heard
}

// lose ends the process of the ApplicationMaster.
func (a *attempt) lose() {
	if a.lost {
		return
	}
	a.heard = a.lastHeard()
	a.lost = true
	if a.started {
		a.program.Lost()
	}
}

// containerEnded keeps the end of a container for the next answer. The end of the
// ApplicationMaster's own is the end of the attempt.
func (a *attempt) containerEnded(c *Container, exit Exit) {
	if c == a.am {
		a.rm.post(func() { a.amEnded(exit) })
		return
	}
	a.ended = append(a.ended, Ended{Container: c, Exit: exit})
	a.Wake()
}

// byNode appends containers to a list in the order in which Hadoop's hash map of their
// nodes lists them.
func (d *dealer) byNode(a *attempt, ended, to []Ended) []Ended {
	if d.last == nil {
		d.last = make([]int32, len(a.rm.nodes))
	}
	d.next, d.keys = d.next[:0], d.keys[:0]
	for i, e := range ended {
		last := &d.last[e.Container.Node]
		if *last > 0 {
			d.next[*last-1] = int32(i + 1)
		} else {
			d.keys = append(d.keys, uint64(i+1))
		}
		d.next = append(d.next, 0)
		*last = int32(i + 1)
	}
	for len(d.keys) >= a.slots*3/4 {
		a.slots *= 2
	}
	for k, first := range d.keys {
		node := ended[first-1].Container.Node
		d.last[node] = 0
		d.keys[k] |= uint64(a.rm.nodes[node].book.Slot(a.slots)) << 32
	}
	slices.Sort(d.keys)
	for _, k := range d.keys {
		for i := int32(k); i > 0; i = d.next[i-1] {
			to = append(to, ended[i-1])
		}
	}
	return to
}

// amEnded ends the attempt. Without a final state it has failed, and another one is
// made while the application may have one; a lost node's is no failure of its own
// (RMAppAttemptImpl.AMContainerCrashedTransition, RMAppImpl.AttemptFailedTransition).
func (a *attempt) amEnded(exit Exit) {
	if a.over {
		return
	}
	a.over = true
	if a.started && !a.lost {
		// The launcher stops what runs in the container (FinalTransition, AMLauncher.cleanup).
		n := a.rm.nodes[a.am.Node]
		n.kill(n.find(a.am), KilledByAM)
	}
	a.lose()
	p := a.app
	sched := a.rm.sched
	again := !a.unregister
	if again && exit != Aborted && exit != Preempted {
		p.failures++
		again = p.failures < p.Attempts
	}
	sched.AttemptRemoved(a.book)
	if again {
		p.rm.post(p.newAttempt) // after the ends of others that end with it
		return
	}
	sched.AppRemoved(a.book)
	p.record.Ended = a.rm.Now()
	p.record.Succeeded = a.unregister && a.succeeded
	a.rm.over++
}

// Now implements Master.
func (a *attempt) Now() engine.Time { return a.rm.Now() }

// Registered implements Master.
func (a *attempt) Registered() Registration {
	return Registration{Node: a.am.Node, Lane: a.am.Lane, Largest: a.rm.sched.Largest(a.book.Path), VCores: a.rm.sched.CountsVCores()}
}

// At implements Master.
func (a *attempt) At(when engine.Time, do func()) Timer {
	return a.rm.agenda.at(when, do)
}

// Place implements Master.
func (a *attempt) Place(name string) Place { return a.rm.place(name) }

// HostOf implements Master.
func (a *attempt) HostOf(node int32) Place { return a.rm.nodes[node].book.Host }

// RackOf implements Master.
func (a *attempt) RackOf(node int32) Place { return a.rm.nodes[node].book.Rack }

// Allocate implements Master (DefaultAMSProcessor.allocate).
func (a *attempt) Allocate(q AllocateRequest) AllocateResponse {
	if a.lost || a.over {
		return AllocateResponse{}
	}
	a.heard = a.rm.Now()
	r := &a.answer
	ended := a.ended
	a.ended, a.spare = a.spare[:0], ended
	a.rm.sched.Update(a.book, q.Asks, q.Releases, q.Blacklist, q.Forgive)
	r.Granted, r.Headroom = a.rm.sched.Pull(a.book, r.Granted[:0])
	r.Ended = a.rm.dealer.byNode(a, ended, r.Ended[:0])
	r.Nodes = append(r.Nodes[:0], a.changed...)
	a.changed = a.changed[:0]
	r.Cluster = a.rm.usable
	return *r
}

// Launch implements Master.
func (a *attempt) Launch(c *Container) bool {
	a.rm.row(c).What = c.What
	if a.lost {
		return false
	}
	return a.rm.nodes[c.Node].start(c, a)
}

// Ended implements Master.
func (a *attempt) Ended(c *Container, exit Exit) {
	n := a.rm.nodes[c.Node]
	if p := n.find(c); p != nil && !p.killed {
		n.end(c, exit)
	}
}

// Stop implements Master.
func (a *attempt) Stop(c *Container) {
	n := a.rm.nodes[c.Node]
	n.kill(n.find(c), KilledByAM)
}

// Unregister implements Master (ApplicationMasterService.finishApplicationMaster).
func (a *attempt) Unregister(success bool) bool {
	if a.lost || a.over {
		return true
	}
	if !a.said {
		a.said, a.succeeded = true, success
		a.unregister = true
		return false
	}
	a.app.record.Unregistered = a.rm.Now()
	return true
}

// Exit implements Master.
func (a *attempt) Exit() {
	if a.lost {
		return
	}
	a.lost = true
	a.rm.nodes[a.am.Node].end(a.am, Success)
}
