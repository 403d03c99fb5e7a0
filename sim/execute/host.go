package execute

import (
	"iter"

	"github.com/slotwave/slotwave/sim/engine"
)

// Host is the part of a master and its nodes that an execution calls. A master
// decides, an execution computes: how soon news reaches an attempt is asked here, so
// that no heartbeat is known to this package.
type Host interface {
	// FetchInterval returns how often a node asks the master for maps that have
	// ended, on behalf of the reduces there. It decides when a reduce learns of a map.
	FetchInterval(node int32) engine.Time
	// CommitWait returns the longest time that an attempt on a node waits for the
	// answer to its request to commit.
	CommitWait(node int32) engine.Time
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

// Protocol lists what a child asks its tracker, or the master of its job, for.
type Protocol struct {
	Commit bool // permission to commit
	Poll   bool // the outputs of maps; false: it knows of them at once
	Master bool // it asks the master of its job itself, at its begin and after each Poll

	FetchSleep engine.Time // model.Release.FetchSleep
}

// Poll returns how long a child waits before it asks its tracker again.
const Poll = engine.Time(1e9)
