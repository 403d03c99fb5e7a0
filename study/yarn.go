package study

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// notOnYARN is the error of a verb that knows slots only.
func notOnYARN(name string) error {
	return fmt.Errorf("%s: runs on YARN: want run, compare, sweep, validate, inspect or report, without decisions (--trace, --report, --fork-at, --why); nothing else speaks of containers yet", name)
}

// SlotsOnly returns an error if one of the paths is the result of a run on YARN.
func SlotsOnly(paths ...string) error {
	for _, path := range paths {
		var s struct{ Schema, Hadoop string }
		data, err := os.ReadFile(filepath.Join(path, results.SummaryName))
		if err != nil || json.Unmarshal(data, &s) != nil {
			continue
		}
		if r, err := model.FindRelease(s.Hadoop); err == nil && r.YARN != nil {
			return notOnYARN(path)
		}
	}
	return nil
}

// OnYARN returns what a run on YARN has done as its tables hold it.
func OnYARN(q *model.WhatIf, done *sim.OnYARN) *results.OnYARN {
	y := &results.OnYARN{Nodes: q.Cluster.Nodes}
	index := make(map[string]int, len(q.Jobs))
	for i := range q.Jobs {
		j, a, m := &q.Jobs[i], &done.Applications[i], &done.Jobs[i]
		index[j.ID] = i
		y.Applications = append(y.Applications, results.Application{
			Job: j, Queue: cmp.Or(a.Queue, j.Queue), State: stateOf(j, a, m.State, done.Finished[i] != yarn.None), Uber: m.Uber, AMNode: int(a.AMNode),
			Submitted: a.Submitted.Duration(), AMAllocated: a.AMAllocated.Duration(), AMStarted: a.AMStarted.Duration(), Registered: a.Registered.Duration(),
			Inited: m.Inited.Duration(), Finished: done.Finished[i].Duration(), Unregistered: a.Unregistered.Duration(), Ended: a.Ended.Duration(),
		})
	}
	for i := range done.Containers {
		c := &done.Containers[i]
		y.Containers = append(y.Containers, results.Container{
			Application: index[c.Application], Attempt: c.Attempt, Number: int(c.Number), What: c.What, Node: int(c.Node), Size: c.Size, Priority: int(c.Priority),
			Reserved: c.Reserved.Duration(), Allocated: c.Allocated.Duration(), Acquired: c.Acquired.Duration(),
			Start: c.Start.Duration(), End: c.End.Duration(), Freed: c.Freed.Duration(), Exit: int(c.Exit),
		})
	}
	for _, b := range done.Queues {
		y.Queues = append(y.Queues, results.Queue(b))
	}
	return y
}

// stateOf returns the state of a job: that of its tasks, else that of its application.
func stateOf(j *workload.Job, a *yarn.ApplicationRecord, tasks workload.State, finished bool) workload.State {
	switch {
	case j.Containers == nil && finished:
		return tasks
	case a.Ended == yarn.None:
		return workload.Running
	case a.Succeeded:
		return workload.Succeeded
	}
	return workload.Failed
}

// limitsOf returns what limited a run on YARN, the largest part first.
func limitsOf(limits []sim.Limit) (list []results.Limit) {
	for _, l := range limits {
		list = append(list, results.Limit{What: l.What, Time: int64(l.Time), Waiting: l.Waiting, Used: l.Used, Of: l.Refusal.Limit, Unit: l.Unit})
	}
	slices.SortStableFunc(list, func(a, b results.Limit) int { return cmp.Compare(b.Time, a.Time) })
	return list
}
