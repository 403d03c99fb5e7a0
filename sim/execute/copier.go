package execute

import (
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/engine"
)

// copier fetches map outputs (MapOutputCopier).
type copier struct {
	thread
	owner   *reduceTask
	host    int32 // that it fetches from
	maps    []int32
	left    []int32 // outputs that follow on the same connection
	fetched taskplan.Segment
	steps   taskplan.Steps
	step    int

	number int         // among the copiers of the reduce, in a traced run
	taken  engine.Time // when it took the outputs, likewise
}

// freeNumber returns the lowest number that no copier has.
func freeNumber(copiers []*copier) int {
	n := 0
	for slices.ContainsFunc(copiers, func(c *copier) bool { return c.number == n }) {
		n++
	}
	return n
}

// newCopier makes an idle copier.
func (h *hardware) newCopier() *copier {
	c := &copier{}
	c.init(c, h)
	return c
}

// open gives the copier to a reduce.
func (c *copier) open(r *reduceTask) {
	c.owner, c.node, c.files = r, r.a.Node, &r.files
	c.maps, c.left, c.fetched, c.steps, c.step = c.maps[:0], c.left[:0], taskplan.Segment{}, c.steps[:0], 0
}

// follow takes the next output of the connection. It reports whether there is one.
func (c *copier) follow(segment func(int32) taskplan.Segment) bool {
	if len(c.left) == 0 {
		return false
	}
	c.maps = append(c.maps[:0], c.left[0])
	c.left = c.left[1:]
	c.fetched, c.steps, c.step = segment(c.maps[0]), c.steps[:0], 0
	return true
}

// begin starts to fetch the outputs that the copier has taken.
func (c *copier) begin() {
	if trace := c.hardware.trace; trace != nil {
		trace.waited(c.owner.a, model.WaitMemory, c.number, c.taken)
	}
	c.steps = c.owner.shuffle.Fetch(c.steps, c.fetched)
	c.done(&c.thread)
}

// done implements stepper.
func (c *copier) done(*thread) {
	if c.step == len(c.steps) {
		c.owner.arrived(c)
		return
	}
	c.step++
	c.serve(c.steps[c.step-1 : c.step])
}

// phaseChanged implements stepper.
func (c *copier) phaseChanged(*thread) {}

// traced implements stepper.
func (c *copier) traced(*thread) (*Attempt, model.Thread, int) {
	return c.owner.a, model.CopierThread, c.number
}

// move implements stepper.
func (c *copier) move(t *thread, s *taskplan.Step) {
	if s.Resource != taskplan.Network {
		t.local(s)
		return
	}
	t.from = c.host
	nic := c.hardware.nodes[c.node].nic
	c.flow.Hops = c.hardware.transfer(c.flow.Hops[:0], c.host, c.node, nic)
	c.start(s.Work / nic)
}
