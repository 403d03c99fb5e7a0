package jobtracker

import "github.com/slotwave/slotwave/sim/engine"

// reports decides when trackers report and are offered work: at heartbeats, or
// at once without heartbeats.
type reports interface {
	// changed sets the tracker's next report after something on it has changed.
	changed(t *taskTracker)
	// list adds a tracker to those that offer finds, with its present
	// slots.
	list(t *taskTracker)
	// offer makes sure that the next tracker that can get work is asked. It
	// is called after every event.
	offer()
}

// bringForward makes a tracker report at an instant, unless it reports earlier.
func bringForward(t *taskTracker, at engine.Time) {
	if t.set > at {
		t.set = at
		t.timer.Reset(at)
	}
}
