package sim_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// longRun is more than any random workload takes.
const longRun = 3 * time.Hour

// outcome is a run of a random world, ready to be looked at.
type outcome struct {
	*world
	model.Prediction
	rows table
	jobs map[string]*workload.Job
	by   map[task]table // attempts of maps and reduces, by number
}

type task struct {
	job   string
	kind  workload.Kind
	index int
}

func (w *world) run(t *rapid.T) *outcome {
	o := &outcome{world: w, jobs: map[string]*workload.Job{}, by: map[task]table{}}
	var err error
	o.Prediction, err = sim.Simulator{Recorder: &o.rows, Limit: longRun}.Predict(w.WhatIf)
	var limit *sim.LimitReached
	if fair2 := func(s model.Scheduler) bool { return s.Name == "fair2" }; slices.ContainsFunc(w.Schedulers(), fair2) && errors.As(err, &limit) {
		t.Skip("pools kill each other's tasks for ever, or heartbeats that always meet stop the clock of delay scheduling")
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.WhatIf.Jobs {
		o.jobs[w.WhatIf.Jobs[i].ID] = &w.WhatIf.Jobs[i]
	}
	for _, a := range o.rows {
		if a.Kind == workload.Map || a.Kind == workload.Reduce {
			key := task{job: a.Job, kind: a.Kind, index: a.Task}
			o.by[key] = append(o.by[key], a)
		}
	}
	return o
}

// What must hold in every run.
func TestInvariants(t *testing.T) {
	check(t, 700, 10_000, func(t *rapid.T) {
		o := drawWorld(t).run(t)
		for _, invariant := range []func() error{
			o.tasksEndOnce, o.keysAreUnique, o.attemptsAreSound, o.slotsHoldOne, o.slotsSuffice, o.slowstartIsMet,
			o.killsHaveCauses, o.booksBalance, o.littlesLaw, o.nothingIdles,
		} {
			if err := invariant(); err != nil {
				t.Fatalf("%s, %s: %v", o.Cluster.Hadoop, o.Scheduler.Name, err)
			}
		}
	})
}

func (o *outcome) intConf(j *workload.Job, key string) int {
	n, err := j.Conf.Whole(key)
	if err != nil {
		panic(err)
	}
	return n
}

// dies reports whether a node is lost in the course of the run.
func (o *outcome) dies(name string) bool {
	return slices.ContainsFunc(o.Cluster.Nodes, func(n model.Node) bool { return n.Name == name && n.Dies > 0 })
}

// keysAreUnique: job, kind, task and number name one attempt. The set-up and the
// clean-up of a job exist once for each type of slot, and may both run when a
// node is lost.
func (o *outcome) keysAreUnique() error {
	type key struct {
		task
		number int
	}
	seen := map[key]bool{}
	for _, a := range o.rows {
		k := key{task: task{job: a.Job, kind: a.Kind, index: a.Task}, number: a.Number}
		if seen[k] && a.Kind != workload.Setup && a.Kind != workload.Cleanup {
			return fmt.Errorf("%s: %v %d has two attempts %d", a.Job, a.Kind, a.Task, a.Number)
		}
		seen[k] = true
	}
	return nil
}

// tasksEndOnce: every task of a job that succeeded has one attempt that did, or
// all the failures it is allowed. Only a map may succeed again, after a node that
// held its output has died.
func (o *outcome) tasksEndOnce() error {
	for i := range o.Prediction.Jobs {
		out := &o.Prediction.Jobs[i]
		j := o.jobs[out.ID]
		if out.State != workload.Succeeded && (out.State != workload.Failed || !o.failing) {
			return fmt.Errorf("job %s ended as %v", out.ID, out.State)
		}
		for k, n := range [...]int{j.Maps.Count, j.Reduces.Count} {
			kind := workload.Kind(k)
			most := o.intConf(j, "mapred."+kind.String()+".max.attempts")
			for index := range n {
				lasting, lost, failures := 0, 0, 0
				for _, a := range o.by[task{job: out.ID, kind: kind, index: index}] {
					switch {
					case a.State == workload.Failed:
						failures++
					case a.State != workload.Succeeded:
					case kind == workload.Map && o.dies(a.Node):
						lost++
					default:
						lasting++
					}
				}
				if lasting > 1 {
					return fmt.Errorf("%v %d of %s succeeded %d times", kind, index, out.ID, lasting)
				}
				if out.State == workload.Succeeded && lasting+lost == 0 && failures < most {
					return fmt.Errorf("%v %d of %s never succeeded and failed %d times", kind, index, out.ID, failures)
				}
				if failures > most && !o.kills && !o.nodesDie {
					return fmt.Errorf("%v %d of %s failed %d times", kind, index, out.ID, failures)
				}
			}
		}
	}
	return nil
}

// attemptsAreSound: times are in order, phases add up, and nothing happens on a
// node that is dead.
func (o *outcome) attemptsAreSound() error {
	type identity struct {
		task
		number int
	}
	seen := map[identity]bool{}
	for _, a := range o.rows {
		var sum time.Duration
		for _, p := range a.Phases {
			if p < 0 {
				return fmt.Errorf("negative phase: %+v", a)
			}
			sum += p
		}
		if sum != a.Finish-a.Start {
			return fmt.Errorf("phases add up to %v of %v: %+v", sum, a.Finish-a.Start, a)
		}
		j := o.jobs[a.Job]
		if a.Runnable < j.Submit || a.Start < a.Runnable || a.Finish > o.Mean {
			return fmt.Errorf("out of order: %+v", a)
		}
		for _, n := range o.Cluster.Nodes {
			if n.Name == a.Node && n.Dies > 0 && (a.Finish > n.Dies || a.Start == n.Dies && a.State != workload.Killed) {
				return fmt.Errorf("on a node that died at %v: %+v", n.Dies, a)
			}
		}
		id := identity{task: task{job: a.Job, kind: a.Kind, index: a.Task}, number: a.Number}
		if (a.Kind == workload.Map || a.Kind == workload.Reduce) && seen[id] {
			return fmt.Errorf("twice: %+v", a)
		}
		seen[id] = true
	}
	return nil
}

// slotsHoldOne: no two attempts share a slot at any time.
func (o *outcome) slotsHoldOne() error {
	type slot struct {
		node string
		slot int
	}
	bySlot := map[slot]table{}
	for _, a := range o.rows {
		if a.Finish > a.Start { // one that was killed while it waited has no slot
			bySlot[slot{node: a.Node, slot: a.Slot}] = append(bySlot[slot{node: a.Node, slot: a.Slot}], a)
		}
	}
	for _, n := range o.Cluster.Nodes {
		for s := range n.MapSlots + n.ReduceSlots {
			rows := bySlot[slot{node: n.Name, slot: s}]
			delete(bySlot, slot{node: n.Name, slot: s})
			slices.SortFunc(rows, func(a, b workload.Attempt) int { return cmp.Compare(a.Start, b.Start) })
			for i := 1; i < len(rows); i++ {
				if rows[i].Start < rows[i-1].Finish {
					return fmt.Errorf("slot %d of %s holds %+v and %+v", s, n.Name, rows[i-1], rows[i])
				}
			}
		}
	}
	if len(bySlot) > 0 {
		return fmt.Errorf("attempts in slots that do not exist")
	}
	return nil
}

// width is how many slots an attempt takes.
func (o *outcome) width(a workload.Attempt) int {
	if !o.wide || a.Kind != workload.Map && a.Kind != workload.Reduce {
		return 1
	}
	return o.intConf(o.jobs[a.Job], "mapred.job."+a.Kind.String()+".memory.mb") / 1000
}

// mapSlot reports whether an attempt holds a map slot: its number tells where
// slots are not shared.
func (o *outcome) mapSlot(a workload.Attempt) bool {
	for _, n := range o.Cluster.Nodes {
		if n.Name == a.Node {
			return a.Slot < n.MapSlots
		}
	}
	return false
}

// slotsSuffice: the slots taken on a node, wide tasks counted in full, never
// exceed those it has, of each type or of both together.
func (o *outcome) slotsSuffice() error {
	for _, n := range o.Cluster.Nodes {
		var steps [2][]step
		for _, a := range o.rows {
			if a.Node == n.Name {
				k := 0
				if !o.Cluster.SharedSlots && !o.mapSlot(a) {
					k = 1
				}
				steps[k] = append(steps[k], step{at: a.Start, by: o.width(a)}, step{at: a.Finish, by: -o.width(a)})
			}
		}
		have := [2]int{n.MapSlots, n.ReduceSlots}
		if o.Cluster.SharedSlots {
			have[0] += have[1]
		}
		for k := range steps {
			if err := walk(steps[k], func(from, to time.Duration, taken int) error {
				if taken > have[k] {
					return fmt.Errorf("%s has %d slots of type %d, and %d were taken from %v to %v", n.Name, have[k], k, taken, from, to)
				}
				return nil
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// slowstart is how many maps of a job must have ended before its reduces start.
func (o *outcome) slowstart(j *workload.Job) int {
	part, err := j.Conf.Number("mapred.reduce.slowstart.completed.maps")
	if err != nil {
		panic(err)
	}
	if o.Cluster.Hadoop == "ideal" {
		return min(j.Maps.Count, max(1, int(math.Ceil(part*float64(j.Maps.Count)-1e-9))))
	}
	return int(math.Ceil(float64(float32(part) * float32(j.Maps.Count))))
}

// slowstartIsMet: when a reduce starts, enough maps have succeeded or, from 1.2
// on, been given up.
func (o *outcome) slowstartIsMet() error {
	for _, a := range o.rows {
		if a.Kind != workload.Reduce {
			continue
		}
		j := o.jobs[a.Job]
		ended := 0
		for index := range j.Maps.Count {
			failures := 0
			for _, m := range o.by[task{job: a.Job, kind: workload.Map, index: index}] {
				if m.Finish <= a.Start && m.State == workload.Failed {
					failures++
				}
				if m.Finish <= a.Start && m.State == workload.Succeeded ||
					o.Cluster.Hadoop == "1.2.1" && failures >= o.intConf(j, "mapred.map.max.attempts") {
					ended++
					break
				}
			}
		}
		if ended < o.slowstart(j) {
			return fmt.Errorf("%d maps had ended, want %d, when this started: %+v", ended, o.slowstart(j), a)
		}
	}
	return nil
}

// killsHaveCauses: attempts are killed and fail only where something kills them
// or makes them fail.
func (o *outcome) killsHaveCauses() error {
	for _, a := range o.rows {
		setup := a.Kind == workload.Setup || a.Kind == workload.Cleanup
		if a.State == workload.Killed && !o.kills && !o.nodesDie && !o.failing && !setup {
			return fmt.Errorf("killed for no cause: %+v", a)
		}
		if a.State == workload.Failed && !o.failing {
			return fmt.Errorf("failed for no cause: %+v", a)
		}
	}
	return nil
}

// booksBalance: the outcomes of the jobs are what their attempts add up to.
func (o *outcome) booksBalance() error {
	last := time.Duration(0)
	for i := range o.Prediction.Jobs {
		got := o.Prediction.Jobs[i]
		want := model.JobOutcome{FirstMap: -1, LastMap: -1}
		for _, a := range o.rows {
			if a.Job != got.ID {
				continue
			}
			switch {
			case a.Kind >= workload.TaskCleanup:
			case a.State == workload.Failed:
				want.Failed++
			case a.State == workload.Killed:
				want.Killed++
			}
			want.Spills += a.Spills // 0 of an attempt that did not succeed
			want.MergePasses += a.MergePasses
			want.SpilledRecords += a.SpilledRecords
			switch a.Kind {
			case workload.Map:
				want.Locality[a.Locality]++
				want.MapTime += a.Finish - a.Start
				if want.FirstMap < 0 || a.Start < want.FirstMap {
					want.FirstMap = a.Start
				}
				if a.State == workload.Succeeded {
					want.LastMap = max(want.LastMap, a.Finish)
				}
			case workload.Reduce:
				want.ReduceTime += a.Finish - a.Start
			}
		}
		last = max(last, got.Finish)
		if got.Failed != want.Failed || got.Killed != want.Killed || got.Locality != want.Locality ||
			got.MapTime != want.MapTime || got.ReduceTime != want.ReduceTime ||
			got.Spills != want.Spills || got.MergePasses != want.MergePasses || got.SpilledRecords != want.SpilledRecords ||
			got.FirstMap != want.FirstMap || got.LastMap != want.LastMap {
			return fmt.Errorf("outcome %+v, want %+v", got, want)
		}
	}
	if o.Mean != last {
		return fmt.Errorf("makespan %v, last job ended at %v", o.Mean, last)
	}
	return nil
}

// littlesLaw: the number of jobs in the system, summed over time, is the sum of
// the times they were in it, to the nanosecond.
func (o *outcome) littlesLaw() error {
	var steps []step
	var spent, area time.Duration
	for i := range o.Prediction.Jobs {
		out := &o.Prediction.Jobs[i]
		steps = append(steps, step{at: o.jobs[out.ID].Submit, by: 1}, step{at: out.Finish, by: -1})
		spent += out.Low
	}
	err := walk(steps, func(from, to time.Duration, n int) error {
		area += time.Duration(n) * (to - from)
		return nil
	})
	if area != spent {
		return fmt.Errorf("jobs spent %v in the system, whose area is %v", spent, area)
	}
	return err
}

// nothingIdles: without heartbeats no slot is free while a task could use it,
// unless a limit or the frugal policy says so. Those that spread the load of each
// type over all slots may leave shared ones idle.
func (o *outcome) nothingIdles() error {
	if !o.instant || o.limited || o.failing || o.Scheduler.Name == "minedf" {
		return nil
	}
	if o.Scheduler.Name == "capacity" && len(o.jobs) > 2 {
		return nil // it initialises two jobs of a user at a time
	}
	if o.Cluster.SharedSlots && o.Scheduler.Name != "maxedf" && o.Scheduler.Name != "capacity" {
		return nil
	}
	var waiting, free [2][]step
	for i := range o.Prediction.Jobs {
		out := &o.Prediction.Jobs[i]
		j := o.jobs[out.ID]
		var ends []time.Duration
		for index := range j.Maps.Count {
			m := o.by[task{job: out.ID, kind: workload.Map, index: index}][0]
			waiting[0] = append(waiting[0], step{at: j.Submit, by: 1}, step{at: m.Start, by: -1})
			ends = append(ends, m.Finish)
		}
		slices.Sort(ends)
		ready := j.Submit
		if n := o.slowstart(j); n > 0 {
			ready = ends[n-1]
		}
		for index := range j.Reduces.Count {
			r := o.by[task{job: out.ID, kind: workload.Reduce, index: index}][0]
			waiting[1] = append(waiting[1], step{at: ready, by: 1}, step{at: r.Start, by: -1})
		}
	}
	total := [2]int{}
	for _, n := range o.Cluster.Nodes {
		total[0] += n.MapSlots
		total[1] += n.ReduceSlots
	}
	for _, a := range o.rows {
		free[a.Kind] = append(free[a.Kind], step{at: a.Start, by: -1}, step{at: a.Finish, by: 1})
	}
	if o.Cluster.SharedSlots {
		total[0] += total[1]
		free[0], free[1] = append(free[0], free[1]...), nil
		waiting[0], waiting[1] = append(waiting[0], waiting[1]...), nil
	}
	for k := range waiting {
		// A waiting task counts so much that it shows beside any free slots.
		const many = 1 << 20
		steps := []step{{at: 0, by: total[k]}}
		steps = append(steps, free[k]...)
		for _, s := range waiting[k] {
			steps = append(steps, step{at: s.at, by: s.by * many})
		}
		if err := walk(steps, func(from, to time.Duration, level int) error {
			if level >= many && level%many > 0 {
				return fmt.Errorf("%d slots of type %d idle from %v to %v while %d tasks wait", level%many, k, from, to, level/many)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
