// Package yarn simulates YARN's ResourceManager and NodeManagers: who gets which
// container when. What a container does is decided by the Application that asked
// for it.
package yarn

import (
	"github.com/slotwave/slotwave/model"
	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/sim/engine"
)

// What the two sides of a heartbeat name is named by the policies.
type (
	// Place names where a container is asked for: a host, a rack or any node.
	// Master.Place gives the numbers out, also for names that no node bears.
	Place = policy.Place

	// Priority of a request; the smaller number goes first.
	Priority = policy.Priority

	// Ask is one ResourceRequest; its count is absolute.
	Ask = policy.Ask

	// Container is a grant. Its application may read it and hold it as its own key,
	// and names what runs in it before Launch.
	Container = policy.Container

	// Exit says how a container ended.
	Exit = policy.Exit

	// Ended is a container of which the ResourceManager has learnt the end.
	Ended = policy.Ended
)

// Any is the place that every node matches.
const Any = policy.Any

// Exit states.
const (
	Success       = policy.Success
	ProcessFailed = policy.ProcessFailed
	Aborted       = policy.Aborted
	Preempted     = policy.Preempted
	KilledByAM    = policy.KilledByAM
	KilledByRM    = policy.KilledByRM
)

// AllocateRequest is what a heartbeat of an ApplicationMaster carries. The asks are
// booked in the order of the list.
type AllocateRequest struct {
	Asks      []Ask
	Releases  []*Container
	Blacklist []int32 // nodes that the application refuses from now on
	Forgive   []int32 // nodes that it takes again
}

// NodeReport tells that a node was lost or came back.
type NodeReport struct {
	Node   int32
	Usable bool
}

// AllocateResponse is the answer. Its slices hold until the next Allocate of the
// same application.
type AllocateResponse struct {
	Granted  []*Container // in order of allocation
	Ended    []Ended
	Nodes    []NodeReport // changes since the last answer
	Headroom model.Resource
	Cluster  int // usable nodes
}

// Registration is the answer to an ApplicationMaster that registers
// (RegisterApplicationMasterResponse).
type Registration struct {
	Node    int32          // of the ApplicationMaster's own container
	Lane    int32          // likewise
	Largest model.Resource // container that the scheduler gives out (maximumCapability)
	VCores  bool           // the scheduler counts virtual cores (schedulerResourceTypes)
}

// Master is what an ApplicationMaster may do: its view of the ResourceManager, and of
// the NodeManagers that run its containers. One Master serves one attempt of one
// application. Calls take no simulated time; none of them calls the Application back
// before it returns.
type Master interface {
	Now() engine.Time

	// Registered returns what the ApplicationMaster learns when it registers.
	Registered() Registration

	// At calls do at an instant that has not passed. Of the calls for one instant,
	// those of all applications, nodes and the ResourceManager, the one that was set
	// first comes first. Stop withdraws it.
	At(when engine.Time, do func()) Timer

	// Wake lets heartbeats go on that were left out because the program was idle.
	Wake()

	// Place returns the number of the name of a host or rack.
	Place(name string) Place

	// HostOf and RackOf return the places of a node.
	HostOf(node int32) Place
	RackOf(node int32) Place

	// Allocate is the heartbeat (ApplicationMasterProtocol.allocate).
	Allocate(AllocateRequest) AllocateResponse

	// Launch starts the process of a granted container (startContainers). It reports
	// whether the node answers.
	Launch(*Container) bool

	// Ended says that the process of a container has ended by itself. The node frees
	// its memory now and sends a heartbeat in the same instant. On a node that has
	// died nothing happens.
	Ended(*Container, Exit)

	// Stop asks the node to kill a container (stopContainers): Application.Killed
	// follows at once, and the process is gone after the kill delay of the cluster.
	Stop(*Container)

	// Unregister tells the final state (finishApplicationMaster). The first call
	// always answers false, later ones true: ask again after a second.
	Unregister(success bool) bool

	// Exit ends the process of the ApplicationMaster itself.
	Exit()
}

// Timer is a call that Master.At has set. The zero Timer is none.
type Timer interface{ Stop() }

// Application is the program of one attempt of an ApplicationMaster.
type Application interface {
	// Start runs when the program has started in its container. The attempt has been
	// registered in the same instant; the first Beat follows one heartbeat later.
	Start(Master)

	// Beat runs at each heartbeat, one interval after the last. It calls
	// Master.Allocate once.
	Beat()

	// Beating reports whether heartbeats go on. It is asked when one is due; the
	// first false ends them.
	Beating() bool

	// Idle reports whether the next heartbeats would send nothing and decide nothing, until
	// the ResourceManager has news. When that changes the program calls Master.Wake.
	Idle() bool

	// Killed tells that a node kills a container that the application has launched:
	// whatever runs in it stops now.
	Killed(*Container)

	// Died tells that the node of a container that the application has launched is
	// dead: nothing that runs in the container is heard of any more. The
	// ApplicationMaster itself learns of it only by a NodeReport.
	Died(*Container)

	// Lost tells that the process of the ApplicationMaster itself is gone, with its
	// node or by the ResourceManager's order. None of its calls is of effect any more;
	// its containers live until their nodes are told to kill them (Killed).
	Lost()
}

// Submission is one application and how its ApplicationMaster is made.
type Submission struct {
	Name     string
	Queue    string
	User     string
	At       engine.Time
	Priority int32 // of the application in its queue: larger goes first
	AM       model.Resource
	Attempts int         // of the ApplicationMaster, at most
	Launch   engine.Time // from the start of the AM's container to Start
	Interval engine.Time // between heartbeats

	// New makes the program of an attempt, counted from 1.
	New func(attempt int) Application
}
