package jobtracker

import (
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// taskTracker is one worker. It starts the attempts that it is given, holds
// those that wait for a slot, and reports at its heartbeats
// (org.apache.hadoop.mapred.TaskTracker). It is laid out for the cache: fields that
// every heartbeat uses come first, and all of it fills five lines.
type taskTracker struct {
	cluster *cluster
	timer   engine.Timer // its next simulated heartbeat
	id      int32
	rank    uint32      // order among the heartbeats of one instant
	last    engine.Time // its last simulated heartbeat
	next    engine.Time // the one after it
	news    engine.Time // earliest unreported change
	set     engine.Time // when the timer fires; Never if it is not set

	interval engine.Time // from the last response
	prev     engine.Time // the heartbeat before the present one, simulated or not
	held     []heldAttempt
	dies     engine.Time // no heartbeat from here on

	registered   bool
	beating      bool // its heartbeat is being answered
	lost         bool
	regular      bool // it uses the cluster's present interval, so offers can find it
	everyBeat    bool // simulate each of its heartbeats
	killsPending bool // some attempt may have to be killed
	reads        bool // some attempt must be read at the next heartbeat

	stamp      uint32   // of the last status
	watched    int32    // attempts whose progress matters
	given      [2]int32 // attempts launched at this heartbeat
	givenSlots [2]int32 // slots of those attempts
	status     [2]int32 // attempts by type as last counted by the JobTracker
	occupied   [2]int32 // attempts that hold a slot, as last reported, by type
	inUse      [2]int32 // slots of those attempts
	waiting    [2]int32 // attempts that wait for a slot, by type
	view       scheduler.TaskTracker
	slots      [2]slotPool
	faults     faults
}

// heldAttempt is an attempt of a tracker: running, waiting, or ended and not
// reported. They are held in order of launch.
type heldAttempt struct {
	*attempt
	changes engine.Time // no earlier heartbeat need read it; 0: each must
	certain bool        // nothing but time changes it: it is not read before
}

// faults counts the jobs that have avoided a tracker lately.
type faults struct {
	jobs    int32
	listed  bool        // the tracker is blacklisted
	expires engine.Time // when one of them expires
}

// asks reports whether the tracker asks for work: by the JobTracker's count a
// slot of either type is free.
func (t *taskTracker) asks() bool {
	return t.view.Used[workload.Map] < t.view.Slots[workload.Map] ||
		t.view.Used[workload.Reduce] < t.view.Slots[workload.Reduce]
}

// register adds a tracker to the cluster (1) or removes it (-1).
func (c *cluster) register(t *taskTracker, by int) {
	c.view.Trackers += by
	c.view.Hosts += by
	c.view.Slots[workload.Map] += by * t.view.Slots[workload.Map]
	c.view.Slots[workload.Reduce] += by * t.view.Slots[workload.Reduce]
}

// slotType returns the type of slot that an attempt takes. Shared slots count as
// map slots.
func (t *taskTracker) slotType(a *attempt) workload.Kind {
	if t.cluster.sharedSlots {
		return workload.Map
	}
	return a.onSlot
}

// launch adds a new attempt. It starts at once if enough slots are free.
// Otherwise it waits behind earlier attempts.
func (t *taskTracker) launch(a *attempt) {
	if a.task != nil {
		a.firstReport = t.last + t.cluster.heartbeatInterval()
	}
	if t.held == nil {
		t.held = make([]heldAttempt, 0, t.view.Slots[0]+t.view.Slots[1])
	}
	h := heldAttempt{attempt: a}
	t.given[a.onSlot]++
	t.givenSlots[a.onSlot] += a.width
	t.occupy(a, true)
	switch {
	case a.followed():
		a.job.speculation.followSole(a)
		t.watched++
	case a.watched:
		t.watched++
	}
	t.held = append(t.held, h)
	t.cluster.Exec.Assign(&a.Attempt)
	if t.cluster.sharedSlots {
		t.view.Used[workload.Map] += int(a.width)
		t.view.Used[workload.Reduce] += int(a.width)
	}
	k := t.slotType(a)
	if t.waiting[k] == 0 && t.slots[k].busy+int(a.width) <= t.view.Slots[k] {
		t.begin(a, t.last)
		return
	}
	a.Finish, a.Pending = engine.Never, engine.Never
	t.wait(a, 1)
}

// wait counts an attempt that waits for a slot, or with -1 one that no longer does.
func (t *taskTracker) wait(a *attempt, by int) {
	t.waiting[t.slotType(a)] += int32(by)
	if a.Kind <= workload.Reduce && a.cleans == nil {
		a.job.waiting[a.Kind] += by
	}
}

// begin assigns an attempt its slots and computes its future where that is
// known.
func (t *taskTracker) begin(a *attempt, at engine.Time) {
	k := t.slotType(a)
	a.slot = t.slots[k].take(int(a.width))
	if k == workload.Reduce {
		a.slot += int32(t.view.Slots[workload.Map])
	}
	a.Started = true
	a.Start = at
	t.cluster.Exec.Start(&a.Attempt)
	t.reportable(min(a.Pending, a.Finish, a.KillAt))
}

// mayHaveChanged returns the attempts whose state may have changed by a heartbeat.
// The list is valid until the next call of it or of attempts.
func (t *taskTracker) mayHaveChanged(now engine.Time) []*attempt {
	if t.news > now && !t.reads {
		return nil
	}
	list := t.cluster.attempts[:0]
	for i := range t.held {
		if h := &t.held[i]; h.changes <= now || t.reads && !h.certain {
			list = append(list, h.attempt)
		}
	}
	t.cluster.attempts = list
	return list
}

// attempts lists all attempts.
func (t *taskTracker) attempts() []*attempt {
	list := t.cluster.attempts[:0]
	for i := range t.held {
		list = append(list, t.held[i].attempt)
	}
	t.cluster.attempts = list
	return list
}

// occupy counts an attempt among those that hold a slot, or no longer.
func (t *taskTracker) occupy(a *attempt, holds bool) {
	if a.occupies == holds {
		return
	}
	a.occupies = holds
	by := int32(1)
	if !holds {
		by = -1
	}
	t.occupied[a.onSlot] += by
	t.inUse[a.onSlot] += by * a.width
}

// settle updates the tracker's slots: it frees those of ended attempts and
// starts waiting attempts in order.
func (t *taskTracker) settle(now engine.Time, attempts []*attempt) {
	for {
		var first *attempt
		for _, a := range attempts {
			if !a.Started || a.released || !a.over(t, now) {
				continue
			}
			if t.waiting == [2]int32{} {
				t.release(a) // no attempt waits, so the order does not matter
			} else if first == nil || a.Finish < first.Finish {
				first = a
			}
		}
		if first == nil {
			return
		}
		t.release(first)
	}
}

// release frees an attempt's slots and starts the attempts that wait for them.
func (t *taskTracker) release(a *attempt) {
	k := t.slotType(a)
	a.released = true
	slot := a.slot
	if k == workload.Reduce {
		slot -= int32(t.view.Slots[workload.Map])
	}
	t.slots[k].give(slot, int(a.width))
	t.cluster.Exec.Release(&a.Attempt)
	for t.waiting[k] > 0 {
		i := slices.IndexFunc(t.held, func(w heldAttempt) bool {
			return !w.Started && !w.released && t.slotType(w.attempt) == k
		})
		w := t.held[i].attempt
		if t.slots[k].busy+int(w.width) > t.view.Slots[k] {
			return
		}
		t.wait(w, -1)
		if w.Kind <= workload.Reduce && (w.job != a.job || w.Kind != a.Kind) {
			countWaves(w.job, w.Kind)
		}
		t.begin(w, a.Finish)
	}
}

// kill ends an attempt when the heartbeat's response arrives.
func (t *taskTracker) kill(a *attempt) {
	a.End = execute.Kill
	a.Finish, a.FinishSet = t.last, t.last
	if !a.Started {
		a.Start = t.last
		a.released = true
		t.wait(a, -1)
		t.cluster.Exec.Release(&a.Attempt)
	} else {
		t.release(a)
	}
	t.reportable(t.last)
}

// orderRecordedKills orders the kills of attempts that are recorded as killed by
// now.
func (t *taskTracker) orderRecordedKills(changed []*attempt) {
	for _, a := range changed {
		t.orderRecordedKill(a)
	}
	for _, h := range t.launched() {
		t.orderRecordedKill(h.attempt)
	}
}

func (t *taskTracker) orderRecordedKill(a *attempt) {
	if a.Started && !a.reported && a.KillAt <= t.last {
		a.killOrder, t.killsPending = true, true
		// Beside another attempt it was killed because that one had succeeded or had the
		// permission to commit.
		a.closed = a.closed || len(a.task.active) > 1 || a.task.complete()
	}
}

// launched returns the attempts launched at this heartbeat.
func (t *taskTracker) launched() []heldAttempt {
	return t.held[len(t.held)-int(t.given[0]+t.given[1]):]
}

// reportable records that there is something to report at an instant.
func (t *taskTracker) reportable(at engine.Time) { t.news = min(t.news, at) }

// over reports whether an attempt has ended when its tracker beats. An attempt
// that ends at the very instant of the heartbeat has ended if its end was
// settled by the heartbeat before. Events of one instant happen in the order in
// which they were decided.
func (a *attempt) over(t *taskTracker, now engine.Time) bool { return over(&a.Times, t, now) }

func over(a *execute.Times, t *taskTracker, now engine.Time) bool {
	return a.Finish < now || a.Finish == now && a.FinishSet <= t.prev
}

// asking does the same for the request for permission to commit.
func (a *attempt) asking(t *taskTracker, now engine.Time) bool {
	return asking(&a.Times, a.Settled(), t, now)
}

func asking(a *execute.Times, settled engine.Time, t *taskTracker, now engine.Time) bool {
	return a.Pending < now || a.Pending == now && settled <= t.prev
}

// state returns the state of an attempt that the tracker reports at its
// heartbeat.
func (a *attempt) state(t *taskTracker, now engine.Time) taskState {
	over := a.over(t, now)
	if a.cleans != nil {
		if over {
			return endedFor(a.cleans.status)
		}
		return a.cleans.status
	}
	if over {
		unclean := (a.Kind == workload.Map || a.Kind == workload.Reduce) && a.job.cluster.protocol.serviceTasks
		switch a.End {
		case execute.Success:
			return succeeded
		case execute.Failure:
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
	case !a.Started:
		return unassigned
	case a.asking(t, now):
		return commitPending
	}
	return running
}

// holdsSlot reports whether the JobTracker counts an attempt as holding a slot.
// It does not if the attempt has ended or only waits to commit.
func (a *attempt) holdsSlot(t *taskTracker, now engine.Time) bool {
	return !a.over(t, now) && (!a.Started || !a.asking(t, now))
}

// shouldClose implements TaskInProgress.shouldClose.
func (a *attempt) shouldClose() bool {
	own, t := a.own(), a.task
	if t == nil {
		return false
	}
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

// sweep removes the attempts whose end has been reported, and finds the next
// instant with something to report. If no attempt had changed, only those launched
// at this heartbeat can come earlier.
func (t *taskTracker) sweep(changed bool, ended func(*attempt)) {
	if !changed && !t.reads {
		launched := t.launched()
		for i := range launched {
			t.expect(&launched[i])
		}
		return
	}
	all := t.reads
	t.news, t.reads = engine.Never, false
	kept := 0
	for i := range t.held {
		h := &t.held[i]
		switch {
		case h.changes > t.last && (h.certain || !all):
			t.news = min(t.news, h.changes)
		case h.reported:
			if h.watched || h.followed() {
				t.watched--
			}
			ended(h.attempt)
			continue
		default:
			t.expect(h)
		}
		if kept < i {
			t.held[kept] = *h
		}
		kept++
	}
	t.held = t.held[:kept] // records are used again, so none need be let go
}

// expect finds the next change of an attempt. The state of one that waits for a
// slot, or whose task has a record, depends on others too.
func (t *taskTracker) expect(h *heldAttempt) {
	h.changes = h.nextChange(t)
	t.news = min(t.news, h.changes)
	h.certain = h.Started && h.isSole() && h.Kind == workload.Map && t.cluster.Exec.Foresees()
	if !h.isSole() || !h.Started {
		h.changes, t.reads = 0, true
	}
}

// nextChange returns when a tracker has something to report of an attempt, after
// its last heartbeat.
func (a *attempt) nextChange(t *taskTracker) engine.Time {
	at := a.Finish
	if !a.asking(t, t.last) {
		at = min(at, a.Pending)
	}
	if a.Started {
		at = min(at, max(a.KillAt, t.last+1))
	}
	return at
}

// awaitSlots sets a timer for the instant at which waiting attempts get a slot,
// if their start cannot wait for the next simulated heartbeat.
func (t *taskTracker) awaitSlots() {
	if t.waiting == [2]int32{} || t.cluster.Exec.Foresees() {
		return
	}
	at := engine.Never
	for _, a := range t.held {
		if a.Started && !a.released {
			at = min(at, a.Finish)
		}
	}
	if at < engine.Never {
		t.cluster.slotFree.Of(t.id).Reset(max(at+1, t.cluster.Now()))
	}
}

// heartbeatOver reports whether the tracker's heartbeat of this instant, if it
// has one, is over.
func (t *taskTracker) heartbeatOver() bool {
	return position(t.rank) <= t.cluster.position || t.last == t.cluster.Now()
}

// beatFrom returns the first heartbeat at or after an instant.
func (t *taskTracker) beatFrom(at engine.Time) engine.Time {
	if at <= t.next {
		return t.next
	}
	if at == engine.Never {
		return engine.Never
	}
	return t.next + (at-t.next+t.interval-1)/t.interval*t.interval
}

// lastBeat returns the last heartbeat at or before an instant.
func (t *taskTracker) lastBeat(at engine.Time) engine.Time {
	at = min(at, t.dies-1)
	if at < t.next {
		return t.last
	}
	return t.next + (at-t.next)/t.interval*t.interval
}
