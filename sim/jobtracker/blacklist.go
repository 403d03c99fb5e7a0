package jobtracker

import (
	"time"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// blacklist keeps trackers that many jobs avoided from getting work
// (JobTracker.FaultyTrackersInfo of 0.20). The graylist of 1.x counts the same
// faults but does not affect scheduling.
type blacklist struct {
	heartbeats *heartbeats
	trackers   []taskTracker
	mayFail    int     // mapred.max.tracker.blacklists
	threshold  float64 // mapred.cluster.average.blacklist.threshold
}

const (
	maxBlacklisted = 0.5 // share of the cluster
	faultKept      = engine.Time(24 * time.Hour)
)

func (b *blacklist) read(conf workload.Conf) error {
	r := workload.ConfReader{Conf: conf}
	b.mayFail = r.Whole("mapred.max.tracker.blacklists")
	b.threshold = float64(float32(r.Number("mapred.cluster.average.blacklist.threshold")))
	return r.Err
}

// addFault records that a job avoids a tracker.
func (b *blacklist) addFault(t *taskTracker) {
	f := &t.faults
	f.jobs++
	f.expires = b.heartbeats.cluster.Now() + faultKept
	if !f.listed && b.exceeds(t) {
		f.listed = true
		b.heartbeats.register(t, -1)
		b.heartbeats.list(t)
	}
	b.heartbeats.changed(t)
}

// exceeds reports whether a tracker has too many faults, compared with others
// (FaultyTrackersInfo.exceedsFaults).
func (b *blacklist) exceeds(t *taskTracker) bool {
	if int(t.faults.jobs) < b.mayFail {
		return false
	}
	sum, listed := 0, 0
	for i := range b.trackers {
		o := &b.trackers[i]
		sum += int(o.faults.jobs)
		if o.faults.listed && !o.lost {
			listed++
		}
	}
	trackers := b.heartbeats.cluster.view.Trackers
	average := float64(sum) / float64(trackers)
	return float64(t.faults.jobs)-average > float64(b.threshold*average) &&
		float64(listed) < float64(trackers+listed)*maxBlacklisted
}

// discardFault removes one fault of a tracker that had none for a day, so that
// the tracker may get work again.
func (b *blacklist) discardFault(t *taskTracker) {
	f := &t.faults
	if f.jobs == 0 || b.heartbeats.cluster.Now() <= f.expires {
		return
	}
	f.jobs--
	f.expires = b.heartbeats.cluster.Now() + faultKept
	if f.listed {
		f.listed = false
		b.heartbeats.register(t, 1)
	}
}
