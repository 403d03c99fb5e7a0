package results

import (
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// nodeStats are the attempts of one node.
type nodeStats struct {
	attempts, lost, time int64
	maps, mapTime        int64         // that succeeded
	killed               time.Duration // when the last attempts were killed
	killedThen           int64
}

func (n *nodeStats) add(a *workload.Attempt) {
	d := int64(a.Finish - a.Start)
	n.attempts++
	n.time += d
	switch {
	case a.Kind >= workload.TaskCleanup: // its attempt has been counted
	case a.State != workload.Succeeded:
		n.lost++
		if a.State == workload.Killed && a.Finish >= n.killed {
			if a.Finish > n.killed {
				n.killed, n.killedThen = a.Finish, 0
			}
			n.killedThen++
		}
	case a.Kind == workload.Map:
		n.maps++
		n.mapTime += d
	}
}

const (
	numKinds      = int(workload.ReduceTaskCleanup) + 1
	numStates     = int(workload.Running) + 1
	numLocalities = int(workload.NoLocality) + 1
	numPhases     = int(workload.NumPhases)
)

// slots numbers the slots of a cluster: first by section (map slots, reduce
// slots; one section if slots are shared), then by node. A slot's number is its
// lane in the execution chart. On YARN there are as many as a node has room for
// containers of the smallest size.
type slots struct {
	word     string // slot or container
	sections int
	count    [2]int      // slots in a section
	idle     [2]idleTime // and what each slot has run
	nodes    []nodeSlots
	index    map[string]int32
}

// nodeSlots are a node's slots, and the attempts that they have run.
type nodeSlots struct {
	name  string
	first [2]int32 // lane of the node's first slot in a section
	count [2]int32
	nodeStats
}

func newSlots(q *model.WhatIf) slots {
	c := &q.Cluster
	s := slots{word: "slot", sections: 2, index: make(map[string]int32, len(c.Nodes))}
	var lanes []int
	if q.YARN != nil {
		s.word, lanes = "container", q.Lanes()
	}
	if c.SharedSlots || q.YARN != nil {
		s.sections = 1
	}
	for i, n := range c.Nodes {
		node := nodeSlots{name: n.Name, count: [2]int32{int32(n.MapSlots), int32(n.ReduceSlots)}}
		if c.SharedSlots {
			node.count = [2]int32{int32(n.MapSlots + n.ReduceSlots), 0}
		}
		if q.YARN != nil {
			node.count = [2]int32{int32(lanes[i]), 0}
		}
		for j := range node.count {
			node.first[j] = int32(s.count[j])
			s.count[j] += int(node.count[j])
		}
		s.nodes = append(s.nodes, node)
		s.index[n.Name] = int32(i)
	}
	for j, n := range s.count {
		s.idle[j] = newIdleTime(n)
	}
	return s
}

// find returns the node of an attempt, nil if the cluster does not have its slot,
// and the slot's section and lane. A node numbers its map slots first, then its
// reduce slots. Maps and reduces use their own section, while set-up and clean-up
// tasks use either.
func (s *slots) find(a *workload.Attempt) (n *nodeSlots, section, lane int) {
	i := a.NodeIndex
	if i >= len(s.nodes) || s.nodes[i].name != a.Node {
		known, ok := s.index[a.Node]
		if !ok {
			return nil, 0, 0
		}
		i = int(known)
	}
	n = &s.nodes[i]
	slot := a.Slot
	if s.word == "container" {
		slot = min(slot, int(n.count[0])-1) // a process that is being killed may still stand in one
	}
	if s.sections == 2 && slot >= int(n.count[0]) {
		section, slot = 1, slot-int(n.count[0])
	}
	lane = int(n.first[section]) + slot
	if slot < 0 || slot >= int(n.count[section]) ||
		s.sections == 2 && (a.Kind == workload.Map && section == 1 || a.Kind == workload.Reduce && section == 0) {
		return nil, section, lane
	}
	return n, section, lane
}
