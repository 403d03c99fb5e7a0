package jobtracker

import (
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// outOfBand are heartbeats that the end of a task triggers early
// (mapreduce.tasktracker.outofband.heartbeat, 1.x).
type outOfBand struct {
	on     bool
	damper int64
}

func (o *outOfBand) read(conf workload.Conf, release *model.Release) error {
	r := workload.ConfReader{Conf: conf}
	on := r.Truth("mapreduce.tasktracker.outofband.heartbeat")
	o.damper = int64(r.Whole("mapreduce.tasktracker.outofband.heartbeat.damper"))
	o.on = on && release.OutOfBand
	return r.Err
}

// beat returns the next heartbeat of a tracker if the changes since its last
// one bring it forward: after H/(nD+1), and not before the n-th change.
func (o *outOfBand) beat(t *taskTracker) engine.Time {
	best := engine.Never
	for _, n := range t.changes() {
		wait := t.interval / engine.Time(time.Millisecond) / engine.Time(int64(n.rank)*o.damper+1) * engine.Time(time.Millisecond)
		best = min(best, max(n.at, t.lastBeat(n.at)+wait))
	}
	return best
}

// change is an event that a tracker reports early.
type change struct {
	at   engine.Time
	rank int // number among the changes since the last heartbeat, from 1
}

// changes lists what a tracker has not reported yet, in order.
func (t *taskTracker) changes() []change {
	var list []change
	note := func(at engine.Time) {
		if at < engine.Never {
			i := len(list)
			for i > 0 && list[i-1].at > at {
				i--
			}
			list = append(list, change{})
			copy(list[i+1:], list[i:])
			list[i] = change{at: at}
		}
	}
	for i := range t.held {
		a := t.held[i].attempt
		if !a.asking(t, t.last) {
			note(a.Pending)
		}
		if !a.reported {
			note(a.Finish)
		}
	}
	for i := range list {
		list[i].rank = i + 1
	}
	return list
}
