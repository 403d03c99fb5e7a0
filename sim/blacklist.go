package sim

import (
	"time"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// blacklist keeps trackers that many jobs avoided from getting work
// (JobTracker.FaultyTrackersInfo of 0.20; what 1.x makes of the same faults, its
// graylist, has no effect on scheduling).
type blacklist struct {
	mayFail   int     // mapred.max.tracker.blacklists
	threshold float64 // mapred.cluster.average.blacklist.threshold
}

const (
	maxBlacklisted = 0.5 // share of the cluster
	pardon         = engine.Time(24 * time.Hour)
)

func (b *blacklist) read(conf workload.Conf) error {
	r := reader{conf: conf}
	b.mayFail = r.int("mapred.max.tracker.blacklists", 4, 1)
	b.threshold = float64(float32(r.float("mapred.cluster.average.blacklist.threshold", 0.5, 0)))
	return r.err
}

// avoided notes a job's verdict on a tracker.
func (b *blacklist) avoided(jt *jobTracker, t *taskTracker) {
	t.faults++
	t.pardon = jt.eng.Now() + pardon
	if !t.blacklisted && b.condemns(jt, t) {
		t.blacklisted = true
		jt.enroll(t, -1)
		jt.offers.place(jt, t)
	}
	jt.rearm(t)
}

func (b *blacklist) condemns(jt *jobTracker, t *taskTracker) bool {
	if t.faults < b.mayFail {
		return false
	}
	sum, listed := 0, 0
	for i := range jt.trackers {
		sum += jt.trackers[i].faults
		if jt.trackers[i].blacklisted && !jt.trackers[i].lost {
			listed++
		}
	}
	average := float64(sum) / float64(jt.c.Trackers)
	return float64(t.faults)-average > float64(b.threshold*average) &&
		float64(listed) < float64(jt.c.Trackers+listed)*maxBlacklisted
}

// forgive discards one fault of a tracker that had none for a day, and gives it
// another chance.
func (b *blacklist) forgive(jt *jobTracker, t *taskTracker) {
	if t.faults == 0 || jt.eng.Now() <= t.pardon {
		return
	}
	t.faults--
	t.pardon = jt.eng.Now() + pardon
	if t.blacklisted {
		t.blacklisted = false
		jt.enroll(t, 1)
	}
}
