package yarn

import (
	"fmt"

	"github.com/slotwave/slotwave/model"
)

// New makes the policy that a cluster names, as it is in a release.
func New(y *model.YARN, release *model.YARNRelease, l Listener) (Scheduler, error) {
	return newPolicy(y, &reader{p: y.Properties, release: release}, l)
}

func newPolicy(y *model.YARN, r *reader, l Listener) (Scheduler, error) {
	switch y.Policy {
	case "capacity":
		return newCapacity(r, l)
	case "fifo":
		return newFifo(r, l)
	case "fair":
		return newFair(r, y.Allocations, l)
	}
	return nil, fmt.Errorf("scheduler %q: want capacity, fair or fifo", y.Policy)
}

// Rejection is why the ResourceManager does not take an application, as it does others.
type Rejection struct{ Why string }

func (r *Rejection) Error() string { return r.Why }

// errFull rejects an application above the limit of its queue or user.
var errFull = &Rejection{"the queue takes no more applications"}

// Scheduler is a policy (ResourceScheduler).
type Scheduler interface {
	NodeAdded(*Node)
	NodeRemoved(*Node)

	// AppAdded adds an attempt; it then asks for its ApplicationMaster by Update. The
	// error is a Rejection if only this one is not taken.
	AppAdded(*App) error

	// AttemptRemoved ends an attempt: its containers and reservations go. AppRemoved
	// follows when there will be no other attempt.
	AttemptRemoved(*App)
	AppRemoved(*App)

	// Normalize rounds a request to what the policy gives.
	Normalize(queue string, r Resource) Resource

	// Largest is the largest container given in a queue (getMaximumResourceCapability);
	// CountsVCores reports whether virtual cores bound what is given
	// (getSchedulingResourceTypes).
	Largest(queue string) Resource
	CountsVCores() bool

	// Update is the first half of a heartbeat of an ApplicationMaster: releases, asks
	// and changes of the blacklist, in this order. Pull is the second: what was granted
	// since the last call, and the headroom.
	Update(a *App, asks []Ask, releases []*Container, refuse, forgive []int32)
	Pull(a *App, into []*Container) ([]*Container, Resource)

	// NodeUpdate books what has ended on a node, in the order of the list, and then offers
	// the node.
	NodeUpdate(n *Node, gone []Ended)

	// Refusal says what keeps the next container from an application that asks for one.
	Refusal(*App) Refusal

	// Changes counts what may change the outcome of an offer. A node that was offered
	// without a change gets nothing before the next one.
	Changes() uint64

	// Waits reports whether anything is asked for or reserved: else an offer is of no
	// effect.
	Waits() bool

	// Unmoved reports whether heartbeats of an ApplicationMaster that send nothing and are
	// given nothing leave the scheduler as it is.
	Unmoved(*App) bool

	// Full reports whether an offer of the node is of no effect until the node changes.
	Full(*Node) bool
}
