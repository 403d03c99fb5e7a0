package sim

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/station"
	"github.com/slotwave/slotwave/workload"
)

// plant is the devices of all nodes and the network between them.
//
// A flow is counted in seconds that it would take on the first device on its
// way, so that flows share a disk by time and not by bytes.
type plant struct {
	jt    *jobTracker
	net   *station.Network
	nodes []plantNode
	racks []rackLinks   // nil where racks have no limits
	draws workload.Seed // of replicas

	after engine.Time // last instant at which something came after its heartbeats
	exact int         // fetches of a job up to which each is a flow of its own

	usage usage

	mapRuns    []*mapRun // those that are not at work
	reduceRuns []*reduceRun
	fetches    []*fetch
}

// plantNode is the devices of one node.
type plantNode struct {
	cpu      *station.Device
	disks    []*disk
	locals   station.Turns[*disk] // for files of tasks
	volumes  station.Turns[*disk] // for blocks
	traffic  float64              // bytes that its disks have read and written
	memory   float64              // of which a part keeps what they did last, bytes; 0: none does
	up, down *station.Link        // bytes
	nic      float64              // bytes/s
	cache    pageCache
	waiting  engine.Timer // for a slot that attempts wait for
	dead     bool
}

// disk is a link of seconds of service.
type disk struct {
	*station.Link
	read, write float64    // bytes in a second of service
	moved       float64    // bytes that were asked for
	back        *writeBack // nil: no cache
}

type rackLinks struct{ up, down *station.Link }

// buildPlant makes all devices, idle.
func (jt *jobTracker) buildPlant() error {
	c := &jt.q.Cluster
	for i := range c.Nodes {
		if m := c.Nodes[i].Machine; m < 0 || m >= len(c.Machines) {
			return fmt.Errorf("fidelity %v wants a machine for node %s", jt.q.Fidelity, c.Nodes[i].Name)
		}
		if err := c.Machines[c.Nodes[i].Machine].Check(); err != nil {
			return err
		}
	}
	p := &plant{jt: jt, net: station.NewNetwork(jt.eng), nodes: make([]plantNode, len(c.Nodes)), exact: exactFetches, after: -1}
	p.draws = workload.Seed(jt.q.Seed).Named("block placement")
	if len(c.Racks) > 1 {
		p.racks = make([]rackLinks, len(c.Racks))
	}
	for i := range c.Nodes {
		m := &c.Machines[c.Nodes[i].Machine]
		n := &p.nodes[i]
		n.cpu = station.NewDevice(jt.eng, station.Cores(float64(m.Cores), m.SMT...))
		n.cpu.Places = float64(m.Threads())
		for _, d := range m.Disks {
			n.disks = append(n.disks, &disk{Link: p.net.NewLink(1, curve(d)), read: d.Read, write: d.Write})
		}
		n.locals.Things, n.volumes.Things = n.disks, n.disks
		if m.Dirty > 0 {
			n.cached(p, float64(m.Dirty))
		}
		n.nic = m.NIC
		if m.PageCache {
			n.memory = float64(m.Memory)
		}
		n.up, n.down = p.net.NewLink(m.NIC, nil), p.net.NewLink(m.NIC, nil)
		n.waiting = jt.eng.NewTimer(engine.Completion, int32(i), p.giveSlots)
		if r := c.Nodes[i].Rack; p.racks != nil && p.racks[r].up == nil && !math.IsInf(m.Uplink, 1) {
			p.racks[r] = rackLinks{p.net.NewLink(m.Uplink, nil), p.net.NewLink(m.Uplink, nil)}
		}
		if dies := c.Nodes[i].Dies; dies > 0 {
			jt.eng.NewTimer(engine.Completion, int32(i), p.die).Reset(engine.At(dies))
		}
	}
	p.burden(c)
	jt.plant = p
	p.watch()
	return nil
}

func curve(d model.Disk) station.Curve {
	switch c := d.Curve; c.Kind {
	case model.LinearCurve:
		return station.Linear(c.Alpha)
	case model.FloorCurve:
		return station.Floor(c.Least, station.Linear(c.Alpha))
	case model.SeekCurve:
		return station.Seek(c.Chunk, d.Read, c.Seek.Seconds())
	}
	return nil
}

// transfer adds the way from one node to another for a flow of so many bytes in
// its second; inside a node there is none.
func (p *plant) transfer(path []station.Hop, from, to int32, bytes float64) []station.Hop {
	if from == to {
		return path
	}
	path = station.Through(path, p.nodes[from].up, bytes)
	path = station.Through(path, p.nodes[to].down, bytes)
	a, b := p.jt.trackers[from].rack, p.jt.trackers[to].rack
	if p.racks != nil && a != b {
		path = station.Through(path, p.racks[a].up, bytes)
		path = station.Through(path, p.racks[b].down, bytes)
	}
	return path
}

// thread does one step after the other on the devices of a node and beyond. Of
// those that go on together it computes in one line, and reads and writes in
// another.
type thread struct {
	of    stepper
	p     *plant
	node  int32
	visit station.Visit
	flow  station.Flow

	files *files // of its task

	steps     taskplan.Steps // that go on together
	computing int            // the step of the one line; their number: none is left
	moving    int            // and of the other

	left     float64 // bytes of an output that are in blocks to come
	block    float64 // bytes
	rate     float64 // bytes/s of the disk that writes the first replica
	replicas int
	draw     rand.PCG
	writing  writing
}

// stepper is what a thread works for.
type stepper interface {
	move(*thread, *taskplan.Step) // begins a step that reads or writes
	turned(*thread)               // the thread may be in another phase
	done(*thread)                 // with all steps that go on together
}

func (t *thread) init(of stepper, p *plant) {
	t.of, t.p = of, p
	t.visit.Visitor, t.flow.Receiver = t, t
}

// serve begins steps that go on together.
func (t *thread) serve(steps taskplan.Steps) {
	t.steps, t.computing, t.moving = steps, -1, -1
	t.compute()
	t.move()
	t.of.turned(t)
}

// compute begins the next step that takes a core.
func (t *thread) compute() {
	for t.computing++; t.computing < len(t.steps); t.computing++ {
		if s := &t.steps[t.computing]; s.Resource == taskplan.CPU {
			t.p.nodes[t.node].cpu.Start(&t.visit, s.Work/1e9)
			return
		}
	}
}

// move begins the next step that takes none.
func (t *thread) move() {
	for t.moving++; t.moving < len(t.steps); t.moving++ {
		if s := &t.steps[t.moving]; s.Resource != taskplan.CPU {
			t.of.move(t, s)
			return
		}
	}
}

// phase is that of what is computed, else of what is read or written.
func (t *thread) phase() workload.Phase {
	if t.computing < len(t.steps) {
		return t.steps[t.computing].Phase
	}
	return t.steps[t.moving].Phase
}

// Served is station.Visitor.
func (t *thread) Served(*station.Visit) {
	t.compute()
	t.goOn()
}

// Received is station.Receiver.
func (t *thread) Received(*station.Flow) {
	if len(t.writing.onto) > 0 && !t.arrive() {
		return
	}
	if t.left > 0 {
		t.writeBlock()
		return
	}
	t.move()
	t.goOn()
}

func (t *thread) goOn() {
	if n := len(t.steps); t.computing == n && t.moving == n {
		t.of.done(t)
	} else {
		t.of.turned(t)
	}
}

// files is what a task has written to the disks of its node.
type files struct {
	any   bool
	since float64 // traffic of the node before the first of them
}

// local reads or writes a file of the task; files lie on the disks in turn.
func (t *thread) local(s *taskplan.Step) {
	n := &t.p.nodes[t.node]
	d := n.locals.Next()
	rate, bytes := d.read, s.Work
	if s.Resource == taskplan.LocalWrite {
		rate = d.write
		if !t.files.any {
			*t.files = files{true, n.traffic}
		}
	} else {
		bytes *= 1 - t.p.remembered(t.node, t.files.since)
	}
	t.flow.Hops = t.flow.Hops[:0]
	if bytes > 0 {
		n.moves(d, bytes)
	}
	if s.Resource == taskplan.LocalWrite && d.back != nil {
		t.writing.onto = append(t.writing.onto, d)
		t.writeThrough(bytes, rate)
		return
	}
	if bytes > 0 {
		t.flow.Hops = station.Through(t.flow.Hops, d.Link, 1)
	}
	t.p.net.Start(&t.flow, bytes/rate)
}

// moves books what a disk reads or writes.
func (n *plantNode) moves(d *disk, bytes float64) {
	d.moved += bytes
	n.traffic += bytes
}

// keeps is the memory of a node that keeps what was read from and written to its
// disks last, bytes.
func (p *plant) keeps(node int32) float64 {
	memory := p.nodes[node].memory
	if memory == 0 {
		return 0
	}
	for _, a := range p.jt.trackers[node].attempts {
		if a.started && !a.released && a.exec != nil {
			c := &a.job.recipes.conf
			memory -= float64([...]int64{c.MapHeap, c.ReduceHeap}[a.kind])
		}
	}
	return max(0, memory)
}

// remembered is the part of the files of a task that memory still has, if the
// node's traffic was so much before the first of them.
func (p *plant) remembered(node int32, since float64) float64 {
	return min(1, p.keeps(node)/max(1, p.nodes[node].traffic-since))
}

// warm is the part of a job's input on a node that memory still has.
func (p *plant) warm(node int32, j *job) float64 {
	m := &j.recipes.spec.Maps
	if !m.Fresh {
		return 0
	}
	replicas := min(p.jt.q.Cluster.Replication, len(p.nodes))
	stored := float64(m.InputBytes) * float64(replicas) / float64(len(p.nodes))
	return max(0, min(1, (p.keeps(node)-p.nodes[node].traffic)/max(1, stored)))
}

// readBlock reads from a disk of a node, but for the part that its memory has.
func (t *thread) readBlock(from int32, d *disk, bytes, warm float64) {
	t.flow.Hops = t.flow.Hops[:0]
	if warm < 1 {
		t.p.nodes[from].moves(d, bytes*(1-warm))
		t.flow.Hops = station.Through(t.flow.Hops, d.Link, 1-warm)
	}
	t.flow.Hops = t.p.transfer(t.flow.Hops, from, t.node, d.read)
	t.p.net.Start(&t.flow, bytes/d.read)
}

// writeBlocks writes to HDFS.
func (t *thread) writeBlocks(a *attempt, bytes float64) {
	conf := &a.job.recipes.conf
	t.left, t.block, t.replicas = bytes, a.job.recipes.block, min(conf.Replication, len(t.p.nodes))
	t.draw = t.p.draws.For(a.job.ID).For(int(a.kind)).Stream(int(a.task.index), int(a.number)).Generator()
	t.writeBlock()
}

// writeBlock sends the next block through a pipeline of replicas: the writer's
// node, one in another rack, one more in that rack, then any
// (BlockPlacementPolicyDefault).
func (t *thread) writeBlock() {
	bytes := min(t.left, t.block)
	t.left -= bytes
	at, first := t.node, t.p.nodes[t.node].volumes.Next()
	t.rate = first.write
	t.p.nodes[at].moves(first, bytes)
	path := t.onto(t.flow.Hops[:0], first, 1)
	var chosen [16]int32
	chosen[0] = at
	for n := 1; n < min(t.replicas, len(chosen)); n++ {
		next := t.p.target(&t.draw, chosen[:n])
		path = t.p.transfer(path, at, next, first.write)
		d := t.p.nodes[next].volumes.Next()
		t.p.nodes[next].moves(d, bytes)
		path = t.onto(path, d, first.write/d.write)
		chosen[n], at = next, next
	}
	t.flow.Hops = path
	if len(t.writing.onto) > 0 {
		t.writeThrough(bytes, first.write)
		return
	}
	t.p.net.Start(&t.flow, bytes/first.write)
}

// onto adds a disk to the path of a write, or to those with a cache.
func (t *thread) onto(path []station.Hop, d *disk, cost float64) []station.Hop {
	if d.back != nil {
		t.writing.onto = append(t.writing.onto, d)
		return path
	}
	return station.Through(path, d.Link, cost)
}

// target is where the next replica of a block goes.
func (p *plant) target(draw *rand.PCG, chosen []int32) int32 {
	jt := p.jt
	rack := func(node int32) int32 { return jt.trackers[node].rack }
	for {
		id := int32(draw.Uint64() % uint64(len(p.nodes)))
		switch n := len(chosen); {
		case n == 1 && jt.spread && rack(id) == rack(chosen[0]):
			continue
		case n == 2 && rack(chosen[0]) != rack(chosen[1]) && len(jt.rackNodes[rack(chosen[1])]) > 1:
			mates := jt.rackNodes[rack(chosen[1])]
			id = mates[draw.Uint64()%uint64(len(mates))]
		}
		if !slices.Contains(chosen, id) {
			return id
		}
	}
}

// remaining is the seconds that the present steps still take on devices of their
// own.
func (t *thread) remaining(c taskplan.Cost) float64 {
	computing, moving := t.visit.Left(), t.flow.Left()+t.unwritten()
	if t.left > 0 {
		moving += t.left / t.rate
	}
	for i := range t.steps {
		s := &t.steps[i]
		switch {
		case s.Resource == taskplan.CPU && i > t.computing:
			computing += c.Time(*s) / 1e9
		case s.Resource != taskplan.CPU && i > t.moving:
			moving += c.Time(*s) / 1e9
		}
	}
	return max(computing, moving)
}

func (t *thread) cancel() {
	t.visit.Cancel()
	t.flow.Cancel()
	t.stopWriting()
	t.left = 0
}

// activity is an execution on devices.
type activity interface {
	execution
	stop() // at the present instant, if it goes on
	progress(now engine.Time) float32
	free()
}

// turn notes whether the heartbeats of this instant are over.
func (p *plant) turn() {
	p.jt.turn = beforeBeats
	if p.after == p.jt.eng.Now() {
		p.jt.turn = afterBeats
	}
}

// worked is called when an attempt has done all its work but the commit.
func (p *plant) worked(a *attempt, commits bool) {
	now := p.jt.eng.Now()
	p.turn()
	if commits && !p.jt.release.Ideal {
		p.jt.commits(a, now)
	} else {
		p.jt.ends(a, now)
	}
	t := &p.jt.trackers[a.tracker]
	t.reportable(min(a.pending, a.finish))
	p.jt.rearm(t)
}

// awaitSlots makes sure that attempts which wait for a slot get it when it is
// free, and not only by the next heartbeat.
func (p *plant) awaitSlots(t *taskTracker) {
	at := engine.Never
	for _, a := range t.attempts {
		if a.started && !a.released {
			at = min(at, a.finish)
		}
	}
	if at < engine.Never {
		p.nodes[t.id].waiting.Reset(max(at+1, p.jt.eng.Now()))
	}
}

func (p *plant) giveSlots(id int32) {
	t := &p.jt.trackers[id]
	if !p.nodes[id].dead {
		p.turn()
		t.settle(p.jt, p.jt.eng.Now())
		p.jt.rearm(t)
	}
}

// die stops everything on a node.
func (p *plant) die(id int32) {
	p.nodes[id].dead = true
	for i := range p.jt.trackers {
		for _, a := range p.jt.trackers[i].attempts {
			if r, ok := a.exec.(*reduceRun); ok {
				r.lose(id)
			}
		}
	}
	for _, a := range p.jt.trackers[id].attempts {
		if r, ok := a.exec.(activity); ok {
			r.stop()
		}
	}
}

// burden puts the loads of others on the devices, and slows those of slow nodes
// down.
func (p *plant) burden(c *model.Cluster) {
	for i := range c.Nodes {
		n := &p.nodes[i]
		p.vary(c, i, model.LoadCPU, 0, n.cpu)
		p.vary(c, i, model.LoadNetwork, 0, n.up)
		p.vary(c, i, model.LoadNetwork, 0, n.down)
		for k, d := range n.disks {
			p.vary(c, i, model.LoadDisk, k, d)
		}
	}
}

// vary sets the conditions of one device and their changes.
func (p *plant) vary(c *model.Cluster, node int, device model.LoadDevice, disk int, v station.Variable) {
	var loads []*model.Load
	var at []engine.Time
	for i := range c.Loads {
		l := &c.Loads[i]
		if l.Node == node && l.Device == device && (device != model.LoadDisk || l.Disk < 0 || l.Disk == disk) {
			loads = append(loads, l)
			at = append(at, engine.At(l.From))
			if l.Until > 0 {
				at = append(at, engine.At(l.Until))
			}
		}
	}
	speed := 1 / c.Nodes[node].Slowness
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
	station.Vary(p.jt.eng, v, changes)
}
