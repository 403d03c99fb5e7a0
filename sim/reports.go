package sim

import "github.com/slotwave/slotwave/sim/engine"

// reports decide when trackers report and are offered work: at heartbeats, or,
// without them, at once.
type reports interface {
	// changed sets the tracker's next report after something on it has changed.
	changed(t *taskTracker)
	// place enters a tracker where offer can find it, as its slots are now.
	place(t *taskTracker)
	// offer makes sure that the next tracker that can be given work is asked.
	// It is called after everything that happens.
	offer()
}

// bringForward has a tracker report at an instant unless it does earlier.
func bringForward(t *taskTracker, at engine.Time) {
	if set, ok := t.timer.Set(); !ok || set > at {
		t.timer.Reset(at)
	}
}
