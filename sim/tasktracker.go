package sim

import (
	"math/bits"
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// taskTracker is one worker: it starts what it is told to, holds attempts that
// wait for a slot, and reports at its heartbeats
// (org.apache.hadoop.mapred.TaskTracker).
type taskTracker struct {
	id    int32
	rack  int32
	rank  uint32 // among the heartbeats of one instant
	view  scheduler.TaskTrackerStatus
	timer engine.Timer

	last     engine.Time // last heartbeat that was simulated
	next     engine.Time // the one after it
	prev     engine.Time // the heartbeat before the present one, simulated or not
	interval engine.Time // told in the last response
	dies     engine.Time // no heartbeat from here on

	registered  bool
	beating     bool // its heartbeat is being answered
	lost        bool
	regular     bool // it beats by the cluster's present interval, so offers can find it
	steady      bool // simulate each of its heartbeats
	doomed      bool // some attempt may have to be killed
	blacklisted bool

	attempts   []*attempt // running, waiting, or ended and not reported; in order of launch
	waiting    [2]int     // attempts that wait for a slot, by type
	busy       [2]int     // slots held
	givenSlots [2]int     // and their slots
	given      [2]int     // attempts launched at this heartbeat
	slots      [2]slotMap
	chains     []chain     // by slot
	fetch      *fetcher    // nil until the first reduce comes
	news       engine.Time // earliest unreported change
	status     [2]int      // attempts by type as last counted by the JobTracker
	stamp      uint32      // of the last status
	faults     int         // jobs that avoided it
	pardon     engine.Time // when one of them is forgotten
}

// asks reports whether the tracker asks for work: a slot of either type is free
// as the JobTracker counts.
func (t *taskTracker) asks() bool {
	return t.view.Used[workload.Map] < t.view.Slots[workload.Map] ||
		t.view.Used[workload.Reduce] < t.view.Slots[workload.Reduce]
}

// slotType is the index of the counters for a kind of slot.
func (jt *jobTracker) slotType(k workload.Kind) workload.Kind {
	if jt.shared {
		return workload.Map
	}
	return k
}

// admits reports whether a policy may launch here. With separate slots that is
// the policy's own affair, as in Hadoop; a shared slot is given once.
func (t *taskTracker) admits(jt *jobTracker, k workload.Kind, width int) bool {
	return !jt.shared || t.view.Free(k) >= width
}

// launch takes a new attempt in. It starts at once if enough slots are free,
// and else waits behind those that came before it.
func (t *taskTracker) launch(jt *jobTracker, a *attempt) {
	a.firstReport = t.last + engine.At(jt.c.Heartbeat)
	t.attempts = append(t.attempts, a)
	t.given[a.onSlot]++
	t.givenSlots[a.onSlot] += int(a.width)
	if a.kind == workload.Reduce {
		t.expectReduce(a)
	}
	if jt.shared {
		t.view.Used[workload.Map] += int(a.width)
		t.view.Used[workload.Reduce] += int(a.width)
	}
	k := jt.slotType(a.onSlot)
	if t.waiting[k] == 0 && t.busy[k]+int(a.width) <= t.view.Slots[k] {
		t.begin(jt, a, t.last)
		return
	}
	a.finish, a.pending = engine.Never, engine.Never
	t.waiting[k]++
}

// begin gives an attempt its slots and works out as much of its future as is
// known.
func (t *taskTracker) begin(jt *jobTracker, a *attempt, at engine.Time) {
	k := jt.slotType(a.onSlot)
	t.busy[k] += int(a.width)
	a.slot = t.slots[k].take()
	if k == workload.Reduce {
		a.slot += int32(t.view.Slots[workload.Map])
	}
	a.started = true
	a.start = at
	if a.kind == workload.Map || a.kind == workload.Reduce {
		w := &t.chains[a.slot]
		if w.job != int32(a.job.ID) {
			*w = chain{job: int32(a.job.ID)}
		}
		w.length++
		a.wave = w.length
	}
	a.begin = at + jt.launchTime()
	a.pending, a.finish, a.known = engine.Never, engine.Never, engine.Never
	jt.plan(a)
	if a.kind == workload.Reduce {
		t.joinShuffle(jt, a)
	}
	t.reportable(min(a.pending, a.finish))
}

// settle brings the tracker's slots up to date: those of attempts that have
// ended are free, and waiting attempts have taken them in order.
func (t *taskTracker) settle(jt *jobTracker, now engine.Time) {
	for {
		var first *attempt
		for _, a := range t.attempts {
			if !a.started || a.released || !a.over(t, now) {
				continue
			}
			if t.waiting == [2]int{} {
				t.release(jt, a) // nobody waits, so the order does not matter
			} else if first == nil || a.finish < first.finish {
				first = a
			}
		}
		if first == nil {
			return
		}
		t.release(jt, first)
	}
}

// release frees an attempt's slots and starts what waits for them.
func (t *taskTracker) release(jt *jobTracker, a *attempt) {
	k := jt.slotType(a.onSlot)
	a.released = true
	t.busy[k] -= int(a.width)
	slot := a.slot
	if k == workload.Reduce {
		slot -= int32(t.view.Slots[workload.Map])
	}
	t.slots[k].give(slot)
	if r, ok := a.exec.(activity); ok {
		r.stop()
	}
	if a.kind == workload.Reduce {
		t.leaveShuffle(jt, a)
	}
	for t.waiting[k] > 0 {
		i := slices.IndexFunc(t.attempts, func(w *attempt) bool {
			return !w.started && !w.released && jt.slotType(w.onSlot) == k
		})
		w := t.attempts[i]
		if t.busy[k]+int(w.width) > t.view.Slots[k] {
			return
		}
		t.waiting[k]--
		t.begin(jt, w, a.finish)
	}
}

// kill ends an attempt as the heartbeat's response arrives.
func (t *taskTracker) kill(jt *jobTracker, a *attempt) {
	a.end = endsKilled
	a.finish, a.finishSet = t.last, t.last
	if !a.started {
		a.start = t.last
		a.released = true
		t.waiting[jt.slotType(a.onSlot)]--
		if a.kind == workload.Reduce {
			t.leaveShuffle(jt, a)
		}
	} else {
		t.release(jt, a)
	}
	t.reportable(t.last)
}

// reportable notes that something to report happens at an instant.
func (t *taskTracker) reportable(at engine.Time) { t.news = min(t.news, at) }

// doom makes sure that the tracker's next heartbeat is simulated, because it
// may bring an order to kill.
func (t *taskTracker) doom(jt *jobTracker) {
	if t.lost || t.doomed {
		return
	}
	t.doomed = true
	jt.rearm(t)
}

// chain counts how many attempts of one job a slot has run without another
// job's between them.
type chain struct{ job, length int32 }

// slotMap remembers which slots of a type are taken.
type slotMap []uint64

// take gives the lowest free slot.
func (m slotMap) take() int32 {
	for i, word := range m {
		if word != ^uint64(0) {
			bit := bits.TrailingZeros64(^word)
			m[i] |= 1 << bit
			return int32(i*64 + bit)
		}
	}
	panic("sim: a tracker started more than it has slots")
}

func (m slotMap) give(slot int32) { m[slot/64] &^= 1 << (slot % 64) }

// over reports whether an attempt has ended when its tracker beats. What ends at
// the very instant of the heartbeat has ended if it was settled by the time of
// the heartbeat before: things happen in the order in which they were decided.
func (a *attempt) over(t *taskTracker, now engine.Time) bool {
	return a.finish < now || a.finish == now && a.finishSet <= t.prev
}

// asking is the same for having asked for permission to commit.
func (a *attempt) asking(t *taskTracker, now engine.Time) bool {
	return a.pending < now || a.pending == now && a.pendingSet <= t.prev
}

// state is what the tracker reports of an attempt at its heartbeat.
func (a *attempt) state(t *taskTracker, now engine.Time) reported {
	over := a.over(t, now)
	if a.cleans != nil {
		if over {
			return endedFor(a.cleans.status)
		}
		return a.cleans.status
	}
	if over {
		unclean := (a.kind == workload.Map || a.kind == workload.Reduce) && !a.job.jt.release.Ideal
		switch a.end {
		case endsWell:
			return succeeded
		case endsFailed:
			if unclean {
				return failedUnclean
			}
			return failed
		}
		if unclean {
			return killedUnclean
		}
		return killed
	}
	switch {
	case !a.started:
		return unassigned
	case a.asking(t, now):
		return commitPending
	}
	return running
}

// occupies reports whether the JobTracker counts an attempt as holding a slot:
// not when it has ended, and not when it only waits to commit.
func (a *attempt) occupies(t *taskTracker, now engine.Time) bool {
	return !a.over(t, now) && (!a.started || !a.asking(t, now))
}

// shouldClose is TaskInProgress.shouldClose.
func (a *attempt) shouldClose() bool {
	own, t := a.own(), a.task
	if a.job.State == scheduler.Done {
		return true // KillJobAction
	}
	if own.status == unreported && !t.complete() {
		return false
	}
	if !own.closed && (t.failed || t.complete() && !(t.kind == workload.Map && t.winner == own) ||
		own.status == commitPending && t.committer != own) {
		own.closed = true
		return true
	}
	return own.killOrder
}

// sweep forgets the attempts whose end has been reported, and finds when there
// is something to report next.
func (t *taskTracker) sweep(jt *jobTracker) {
	t.news = engine.Never
	kept := t.attempts[:0]
	for _, a := range t.attempts {
		if a.told {
			jt.write(a)
			continue
		}
		kept = append(kept, a)
		if !a.asking(t, t.last) {
			t.news = min(t.news, a.pending)
		}
		t.news = min(t.news, a.finish)
	}
	clear(t.attempts[len(kept):])
	t.attempts = kept
}

// beatFrom is the first heartbeat at or after an instant.
func (t *taskTracker) beatFrom(at engine.Time) engine.Time {
	if at <= t.next {
		return t.next
	}
	if at == engine.Never {
		return engine.Never
	}
	return t.next + (at-t.next+t.interval-1)/t.interval*t.interval
}

// lastBeat is the last heartbeat at or before an instant.
func (t *taskTracker) lastBeat(at engine.Time) engine.Time {
	at = min(at, t.dies-1)
	if at < t.next {
		return t.last
	}
	return t.next + (at-t.next)/t.interval*t.interval
}
