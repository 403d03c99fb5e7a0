package jobtracker

import "github.com/slotwave/slotwave/sim/engine"

// report handles a report without heartbeats: the tracker reports the last
// change and obeys the answer.
func (jt *JobTracker) report(id int32) {
	t, now := &jt.trackers[id], jt.Now()
	jt.at(beforeHeartbeats)
	t.prev, t.last, t.given, t.givenSlots = engine.Never, now, [2]int32{}, [2]int32{}
	t.beating, t.set = true, engine.Never
	all := t.attempts()
	t.settle(now, all)
	jt.takeReport(t, all)
	jt.giveKills(t, all)
	t.settle(now, all)
	t.next = now
	t.beating = false
	t.sweep(true, jt.forget)
	jt.reports.list(t)
	jt.reports.changed(t)
	jt.reports.offer()
}

// offerAll offers free slots, tracker by tracker, until a whole round assigns
// nothing.
func (jt *JobTracker) offerAll(int32) {
	jt.at(beforeHeartbeats)
	// The second tick handles what the first one started.
	if tick := jt.policy.Tick; tick != nil && tick(&jt.view) {
		tick(&jt.view)
	}
	for given := true; given; {
		given = false
		for id := jt.instant.after(-1, jt.wants()); id >= 0; id = jt.instant.after(id, jt.wants()) {
			t := &jt.trackers[id]
			t.last, t.given, t.givenSlots = jt.Now(), [2]int32{}, [2]int32{}
			t.beating = true
			jt.policy.Assign(&jt.view, &t.view)
			t.beating = false
			if t.given != [2]int32{} {
				given = true
				jt.status.report(t, t.attempts())
				jt.reports.list(t)
				jt.reports.changed(t)
			}
		}
	}
}
