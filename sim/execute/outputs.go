package execute

// eventListener is a reduce that waits for completion events.
type eventListener interface{ newEvent() }

// outputs are the outputs of a job's maps.
type outputs struct {
	log       []Output        // by event
	listeners []eventListener // reduces that have read all of them

	next, last []int32 // by map: the next one on its node, +1; by node: its last one, +1
}

// publish adds the output that an event names, and wakes the reduces that wait
// for an event.
func (o *outputs) publish(out Output) {
	o.log = append(o.log, out)
	if node := out.Node; node >= 0 {
		if last := o.last[node]; last > 0 {
			o.next[last-1] = out.Task + 1
		}
		o.last[node] = out.Task + 1
	}
	for _, r := range o.listeners {
		r.newEvent()
	}
	o.listeners = o.listeners[:0]
}

// stored returns the bytes of map output on each node.
type stored struct {
	plans *plans
	node  []int32   // node of each map's output; -1: none
	bytes []float64 // by node
}

func newStored(p *plans, nodes int) *stored {
	s := &stored{p, make([]int32, p.spec.Maps.Count), make([]float64, nodes)}
	for i := range s.node {
		s.node[i] = NoOutput
	}
	return s
}

// publish adds an event that changes the number of known maps by maps.
func (s *stored) publish(maps int32, o Output) {
	bytes, was := s.plans.outputs[s.plans.class(o.Task)].Stored, s.node[o.Task]
	switch {
	case o.Node >= 0:
		s.node[o.Task] = o.Node
		s.bytes[o.Node] += bytes
	case maps < 0 && was >= 0:
		s.node[o.Task] = NoOutput
		s.bytes[was] -= bytes
	}
}
