package execute

import (
	"iter"

	"github.com/slotwave/slotwave/sim/engine"
)

// Host is what an execution asks of the TaskTrackers and the JobTracker.
type Host interface {
	// HeartbeatInterval returns what the tracker of a node was told last.
	HeartbeatInterval(node int32) engine.Time
	// SplitNode returns the node from which a map reads its split.
	SplitNode(a *Attempt) int32
	// Attempts lists the attempts on a node in the order of their assignment.
	Attempts(node int32) iter.Seq[*Attempt]

	// Report has the tracker of a node report what happens at an instant.
	Report(node int32, at engine.Time)
	// Worked takes in that an attempt ends now, or asks now to commit.
	Worked(a *Attempt)
	// HeartbeatsOver notes that the heartbeats of the present instant are over.
	HeartbeatsOver()
}

// Protocol is what the child of an attempt has to ask its tracker for.
type Protocol struct {
	Commit bool // permission to commit
	Poll   bool // the outputs of maps; without it, it knows of them at once

	FetchSleep engine.Time // model.Release.FetchSleep
}

// Poll is how long a child waits before it asks its tracker again.
const Poll = engine.Time(1e9)
