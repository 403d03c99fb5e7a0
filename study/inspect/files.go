package inspect

import (
	"cmp"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Files returns an inspection as files: itself, tables of the recorded
// attempts and jobs, and pictures of the attempts as of those of a run. Slots are
// not recorded; an attempt is drawn on the first one that is free on its machine.
func Files(s *Inspection, h *workload.History) ([]trace.File, error) {
	files := []trace.File{{Name: "inspection.json", Write: s.WriteJSON}}
	if len(h.Jobs) == 0 {
		return files, nil
	}
	all := trace.Formats()
	tables, err := all[slices.IndexFunc(all, func(f trace.Format) bool { return f.Name == "csv" })].Write(h)
	if err != nil {
		return nil, err
	}
	files = append(files, tables.Files...)
	q, attempts := onSlots(h)
	q.Name = filepath.Base(s.Paths[0])
	pictures, err := results.DrawRecorded(q, attempts)
	if err != nil {
		return nil, study.Internal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(pictures)) {
		files = append(files, trace.File{Name: name, Write: func(w io.Writer) error { _, err := w.Write(pictures[name]); return err }})
	}
	return files, nil
}

// onSlots gives recorded attempts slots, and machines as many as they need. Time
// begins with the first submission.
func onSlots(h *workload.History) (*model.WhatIf, []workload.Attempt) {
	type onMachine [2][]time.Duration // until when each slot is busy, of maps and of reduces
	var busy []onMachine
	q, machines, racks := &model.WhatIf{}, map[string]int{}, h.Workers().Racks
	for rack := range racks {
		for _, host := range racks[rack].Hosts {
			machines[host] = len(busy)
			busy = append(busy, onMachine{})
			q.Cluster.Nodes = append(q.Cluster.Nodes, model.Node{Name: host, Rack: rack})
		}
	}
	var attempts []workload.Attempt
	var kinds []workload.Kind
	from := workload.UnknownTime
	for i := range h.Jobs {
		j := &h.Jobs[i]
		q.Jobs = append(q.Jobs, workload.Job{ID: j.ID})
		if at := j.Earliest(); workload.Known(at) && (!workload.Known(from) || at < from) {
			from = at
		}
		for k := range j.Tasks {
			for _, a := range j.Tasks[k].Attempts {
				if m, ran := machines[a.Node]; ran && hasSpan(&a) {
					a.Job, a.NodeIndex, a.Kind = j.ID, m, j.Tasks[k].Kind
					attempts, kinds = append(attempts, a.Attempt), append(kinds, j.Tasks[k].SlotKind())
				}
			}
		}
	}
	order := make([]int, len(attempts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(attempts[a].Start, attempts[b].Start) })
	for _, i := range order {
		a := &attempts[i]
		slots := &busy[a.NodeIndex][kinds[i]]
		if a.Slot = slices.IndexFunc(*slots, func(until time.Duration) bool { return until <= a.Start }); a.Slot < 0 {
			a.Slot, *slots = len(*slots), append(*slots, 0)
		}
		(*slots)[a.Slot] = a.Finish
		a.Start, a.Finish = a.Start-max(0, from), a.Finish-max(0, from)
		a.Runnable = a.Start
		wholePhases(a)
	}
	for m := range busy {
		n := &q.Cluster.Nodes[m]
		n.MapSlots, n.ReduceSlots = len(busy[m][workload.Map]), len(busy[m][workload.Reduce])
	}
	for i := range attempts {
		if kinds[i] == workload.Reduce {
			attempts[i].Slot += q.Cluster.Nodes[attempts[i].NodeIndex].MapSlots
		}
	}
	return q, attempts
}

// wholePhases completes the phases of an attempt, so that they add up to its time:
// what no phase is recorded for is the map or the reduce function.
func wholePhases(a *workload.Attempt) {
	rest := a.Finish - a.Start
	for p := range a.Phases {
		a.Phases[p] = max(0, a.Phases[p])
		rest -= a.Phases[p]
	}
	if rest < 0 {
		a.Phases, rest = [len(a.Phases)]time.Duration{}, a.Finish-a.Start
	}
	if a.Kind == workload.Reduce {
		a.Phases[workload.PhaseReduce] += rest
	} else {
		a.Phases[workload.PhaseMap] += rest
	}
}
