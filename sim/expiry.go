package sim

import (
	"cmp"
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// expiry is the thread that looks for lost trackers, every third of the expiry
// interval. It looks at a tracker only when the last report it remembers of it
// is too old, and remembers a newer one then (JobTracker.ExpireTrackers).
type expiry struct {
	timer    periodic
	interval engine.Time
	every    engine.Time // a third of it, in whole milliseconds
	queue    []seen      // by report, then tracker
}

type seen struct {
	at      engine.Time
	tracker int32
}

func (x *expiry) add(s seen) {
	i, _ := slices.BinarySearchFunc(x.queue, s, func(a, b seen) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.tracker, b.tracker))
	})
	x.queue = slices.Insert(x.queue, i, s)
}

func (jt *jobTracker) expireTrackers(int32) {
	now := jt.eng.Now()
	x := &jt.expiry
	jt.turn = x.timer.turn(jt)
	x.timer.set(jt, now+x.every)
	jt.statuses.apply(jt)
	for len(x.queue) > 0 && now-x.queue[0].at > x.interval {
		t := &jt.trackers[x.queue[0].tracker]
		x.queue = x.queue[1:]
		if last := t.lastBeat(now); now-last > x.interval {
			jt.lose(t)
		} else {
			x.add(seen{last, t.id})
		}
	}
	jt.changed()
	jt.offer()
}

// lose gives a tracker up (JobTracker.lostTaskTracker): what ran there is
// killed, and finished maps whose output somebody may still want run again.
func (jt *jobTracker) lose(t *taskTracker) {
	t.lost = true
	t.timer.Stop()
	jt.offers.rings[workload.Map].remove(t.id)
	jt.offers.rings[workload.Reduce].remove(t.id)
	t.settle(jt, t.dies)

	for _, j := range slices.Clone(jt.active) {
		hit := false
		for _, a := range jt.heldBy(t, j) {
			task := a.task
			if task.complete() && !(task.kind == workload.Map && j.Tasks[workload.Reduce] != 0) {
				continue
			}
			if j.State == scheduler.Done {
				break
			}
			state := killed
			if a.own().status == running && (task.kind == workload.Map || task.kind == workload.Reduce) {
				state = killedUnclean
			}
			j.updateStatus(a, state)
			hit = true
		}
		if hit {
			j.blame(t.id)
		}
	}
	for _, a := range t.attempts {
		if t.fetch != nil && t.fetch.waits(a) {
			t.fetch.dismiss(a)
		}
		if !a.started {
			a.start = t.dies
		}
		a.end, a.finish, a.released = endsKilled, min(a.finish, t.dies), true
		jt.write(a)
	}
	t.attempts = nil
	jt.statuses.set(jt, t, [2]int{})
	if !t.blacklisted {
		jt.enroll(t, -1)
	}
}

// heldBy lists a job's attempts that a tracker runs or whose output it keeps,
// in the order of their identities: maps before reduces, by task, by number.
func (jt *jobTracker) heldBy(t *taskTracker, j *job) []*attempt {
	var held []*attempt
	for _, a := range t.attempts {
		if a.job == j && a.own().status != failed && a.own().status != killed {
			held = append(held, a)
		}
	}
	for i := range j.refs[workload.Map] {
		if task := j.record(workload.Map, int32(i)); task != nil && task.winner != nil &&
			task.winner.tracker == t.id && !slices.Contains(held, task.winner) {
			held = append(held, task.winner)
		}
	}
	slices.SortFunc(held, func(a, b *attempt) int {
		return cmp.Or(cmp.Compare(a.onSlot, b.onSlot), cmp.Compare(a.task.index, b.task.index), cmp.Compare(a.number, b.number))
	})
	return held
}

// register takes in a tracker's first heartbeat.
func (jt *jobTracker) register(t *taskTracker) {
	t.registered = true
	if jt.mortal {
		jt.expiry.add(seen{jt.eng.Now(), t.id})
	}
	jt.enroll(t, 1)
	t.interval = engine.At(jt.c.Heartbeat)
}

// enroll counts a tracker into the cluster (1) or out of it (-1), and tells all
// others of the new interval at their next heartbeat.
func (jt *jobTracker) enroll(t *taskTracker, by int) {
	jt.c.Trackers += by
	jt.c.Hosts += by
	jt.c.Slots[workload.Map] += by * t.view.Slots[workload.Map]
	jt.c.Slots[workload.Reduce] += by * t.view.Slots[workload.Reduce]
	jt.setHeartbeat()
}

// setHeartbeat recomputes the interval that trackers are told. After a change
// each of them beats once more by the old one.
func (jt *jobTracker) setHeartbeat() {
	interval := jt.interval(jt.c.Trackers)
	if interval == engine.At(jt.c.Heartbeat) {
		return
	}
	jt.c.Heartbeat = interval.Duration()
	jt.offers.reset(len(jt.trackers), interval)
	now := jt.eng.Now()
	var known []*taskTracker
	for i := range jt.trackers {
		t := &jt.trackers[i]
		if !t.registered || t.lost || t.beating {
			continue
		}
		known = append(known, t)
		if t.regular {
			t.regular = false
			from := now
			if turnOf(t.rank) < jt.turn || t.last == now {
				from++
			}
			if next := t.beatFrom(from); next != t.next {
				t.last, t.next = next-t.interval, next
			}
		}
	}
	// Where heartbeats meet, the one that was decided on first comes first.
	slices.SortFunc(known, func(a, b *taskTracker) int {
		return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.rank, b.rank))
	})
	for _, t := range known {
		jt.newRank(t)
		jt.rearm(t)
	}
}

// putLast has a tracker that beats out of step come, where heartbeats meet
// later, after all that were decided on before: heartbeats at one instant come
// in the order of those before them.
func (jt *jobTracker) putLast(t *taskTracker) {
	now, interval := jt.eng.Now(), engine.At(jt.c.Heartbeat)
	var after []*taskTracker
	if t.interval == 0 || t.interval >= interval {
		// Those in step that are still to come at this instant stay behind it.
		for i := range jt.trackers {
			if o := &jt.trackers[i]; o != t && o.regular && !o.lost && !jt.hasBeaten(o) && (o.next-now)%interval == 0 {
				after = append(after, o)
			}
		}
		slices.SortFunc(after, func(a, b *taskTracker) int { return cmp.Compare(a.rank, b.rank) })
	}
	jt.newRank(t)
	for _, o := range after {
		jt.newRank(o)
		jt.offers.place(jt, o)
	}
}

// newRank puts a tracker behind all others in the order of one instant.
func (jt *jobTracker) newRank(t *taskTracker) {
	t.rank = jt.nextRank
	jt.nextRank++
	at, set := t.timer.Set()
	t.timer = t.timer.Ranked(t.rank)
	if set {
		t.timer.Reset(at)
	}
}
