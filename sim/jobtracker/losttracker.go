package jobtracker

import (
	"cmp"
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// expireTrackers declares trackers lost that have not reported for too long.
func (jt *JobTracker) expireTrackers(int32) {
	now, x := jt.Now(), &jt.expiry
	jt.position = x.timer.position()
	jt.status.update()
	for id := x.next(now); id >= 0; id = x.next(now) {
		t := &jt.trackers[id]
		if last := t.lastBeat(now); now-last > x.interval {
			jt.lose(t)
		} else {
			x.add(lastReport{last, id})
		}
	}
	jt.changed()
	if len(x.reports) > 0 || slices.ContainsFunc(jt.trackers, func(t taskTracker) bool { return t.dies > now }) {
		x.timer.set(now + x.every)
	} else { // no thread of the JobTracker changes anything any more
		jt.ticks.stop()
	}
}

// lose declares a tracker lost (JobTracker.lostTaskTracker). Its attempts are
// killed, and its finished maps run again if their output may still be needed.
func (jt *JobTracker) lose(t *taskTracker) {
	now := jt.Now()
	t.lost = true
	t.timer.Stop()
	jt.heartbeats.remove(t)
	t.settle(t.dies, t.attempts())

	for _, j := range slices.Clone(jt.active) {
		hit := false
		for _, a := range t.heldOf(j) {
			task := a.task
			if task.complete() && !(task.kind == workload.Map && j.Tasks[workload.Reduce] != 0) {
				continue
			}
			if j.State == scheduler.Done {
				break
			}
			state := killed
			if a.own().status == running && task.isMapOrReduce() {
				state = killedUnclean
			}
			task.lostAt = now
			j.updateStatus(a, state)
			hit = true
		}
		if hit {
			j.failures.add(t.id)
		}
	}
	for _, h := range t.held {
		a := h.attempt
		jt.Exec.Lose(&a.Attempt)
		if !a.Started {
			a.Start = t.dies
			t.wait(a, -1)
		}
		a.End, a.Finish, a.released = execute.Kill, min(a.Finish, t.dies), true
		jt.forget(a)
	}
	t.held, t.occupied, t.inUse = nil, [2]int32{}, [2]int32{}
	jt.status.set(t, [2]int32{})
	if !t.faults.listed {
		jt.heartbeats.register(t, -1)
	}
}

// heldOf lists a job's attempts that a tracker runs or whose output it holds, in
// the order of their identities: maps before reduces, then by task and number.
func (t *taskTracker) heldOf(j *jobInProgress) []*attempt {
	var held []*attempt
	for _, h := range t.held {
		a := h.attempt
		if a.job == j && a.own().status != failed && a.own().status != killed {
			held = append(held, a)
		}
	}
	for task := range j.tasks.all {
		if task.kind == workload.Map && task.winner != nil && task.winner.Node == t.id && !slices.Contains(held, task.winner) {
			held = append(held, task.winner)
		}
	}
	slices.SortFunc(held, func(a, b *attempt) int {
		return cmp.Or(cmp.Compare(a.onSlot, b.onSlot), cmp.Compare(a.task.index, b.task.index), cmp.Compare(a.Number, b.Number))
	})
	return held
}
