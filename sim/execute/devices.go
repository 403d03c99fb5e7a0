package execute

import (
	"fmt"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// devices executes attempts on the disks, cores and links of their nodes
// (fidelity device).
type devices struct {
	common
	planned
	hardware     *hardware
	exactFetches int // model.Network
	usage        Usage

	maps    idle[mapTask]
	reduces idle[reduceTask]
	copiers idle[copier]
}

// newDevices makes all devices, idle.
func newDevices(c common) (*devices, error) {
	nodes, machines := c.cluster.Nodes, c.cluster.Machines
	for i := range nodes {
		if m := nodes[i].Machine; m < 0 || m >= len(machines) {
			return nil, fmt.Errorf("node %s has no platform: fidelity %v needs one", nodes[i].Name, c.question.Fidelity)
		}
		if err := machines[nodes[i].Machine].Check(); err != nil {
			return nil, err
		}
	}
	d := &devices{common: c, planned: newPlanned(c.question), exactFetches: c.question.Network.Exact()}
	d.events = newMapEvents(&d.common, d)
	d.hardware = newHardware(&d.common, d.die)
	d.usage.watch(d.hardware)
	return d, nil
}

// NewJob implements Execution.
func (d *devices) NewJob(id int, spec *workload.Job) (*Job, error) {
	j, err := d.planned.NewJob(id, spec)
	if err == nil {
		j.outputs = &outputs{next: make([]int32, spec.Maps.Count), last: make([]int32, len(d.hardware.nodes))}
	}
	return j, err
}

// Start implements Execution.
func (d *devices) Start(a *Attempt) {
	if !d.begin(a) {
		return
	}
	d.hardware.nodes[a.Node].heaps += heap(a)
	a.endAt(engine.Never)
	if a.Kind == workload.Map {
		r := d.maps.take(func() *mapTask { return newMapTask(&d.common, d.hardware) })
		a.running = r
		r.start(a, a.Job.plans.mapFor(d.machine(a.Node), a))
		return
	}
	r := d.reduces.take(func() *reduceTask { return newReduceTask(&d.common, d.hardware, &d.copiers) })
	a.running = r
	r.start(a, a.Job.plans.plannerFor(d.machine(a.Node), a), fetchesOf(a.Job, len(d.hardware.nodes), d.hardware.nodesDie, d.exactFetches))
	d.events.join(a)
}

// heap returns the memory of an attempt's child in bytes.
func heap(a *Attempt) float64 {
	conf := &a.Job.plans.conf
	return float64([...]int64{conf.MapHeap, conf.ReduceHeap}[a.Kind])
}

// known implements reducer. Everything that follows is found on the devices.
func (d *devices) known(a *Attempt, at engine.Time) { a.Known = at }

// Release implements Execution.
func (d *devices) Release(a *Attempt) {
	if a.running != nil {
		d.hardware.nodes[a.Node].heaps -= heap(a)
		a.running.stop()
	}
	d.common.Release(a)
}

// Close implements Execution.
func (d *devices) Close(a *Attempt, row *workload.Attempt) {
	if a.running != nil {
		a.running.stop()
	}
	if row != nil {
		p := startup(a, row)
		if a.running != nil {
			a.running.fill(a, &p)
			if t := d.hardware.trace; t != nil {
				t.bounds(a, p.at)
			}
		}
		p.rest(a)
	}
	switch r := a.running.(type) {
	case *mapTask:
		r.reset()
		d.maps.put(r)
	case *reduceTask:
		r.reset()
		d.reduces.put(r)
	}
	a.running = nil
}

// Progress implements Execution.
func (d *devices) Progress(a *Attempt, now engine.Time) float32 {
	if now <= a.Begin || a.running == nil {
		return 0
	}
	return a.running.progress(now)
}

// Foresees implements Execution.
func (d *devices) Foresees() bool { return false }

// Usage implements Execution.
func (d *devices) Usage() *Usage { return &d.usage }

// machine returns the machine type of a node.
func (d *devices) machine(node int32) int { return d.cluster.Nodes[node].Machine }

// die stops everything on a node.
func (d *devices) die(id int32) {
	d.hardware.nodes[id].dead = true
	for i := range d.hardware.nodes {
		for a := range d.host.Attempts(int32(i)) {
			if r, ok := a.running.(*reduceTask); ok {
				r.lose(id)
			}
		}
	}
	for a := range d.host.Attempts(id) {
		if a.running != nil {
			a.running.stop()
		}
	}
}
