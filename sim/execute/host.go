package execute

import (
	"iter"

	"github.com/slotwave/slotwave/sim/engine"
)

// Host is the part of the TaskTrackers and the JobTracker that an execution
// calls.
type Host interface {
	// HeartbeatInterval returns the interval in the last response to the
	// tracker of a node.
	HeartbeatInterval(node int32) engine.Time
	// SplitNode returns the node from which a map reads its split.
	SplitNode(a *Attempt) int32
	// Attempts lists the attempts on a node in the order of their assignment.
	Attempts(node int32) iter.Seq[*Attempt]

	// Report makes the tracker of a node report at an instant.
	Report(node int32, at engine.Time)
	// Worked is called when an attempt ends or asks to commit now.
	Worked(a *Attempt)
	// HeartbeatsOver records that all heartbeats of the present instant have
	// been answered.
	HeartbeatsOver()
}

// Protocol lists what a child asks its tracker for.
type Protocol struct {
	Commit bool // permission to commit
	Poll   bool // the outputs of maps; false: it knows of them at once

	FetchSleep engine.Time // model.Release.FetchSleep
}

// Poll returns how long a child waits before it asks its tracker again.
const Poll = engine.Time(1e9)
