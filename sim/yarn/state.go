package yarn

import (
	"github.com/slotwave/slotwave/model"
	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/sim/engine"
)

// None is the instant of what has not happened.
const None engine.Time = -1

// NodeConfig describes one node.
type NodeConfig struct {
	Name, Rack string
	Total      model.Resource
	First      engine.Time // it registers and heartbeats
	Dies       engine.Time // or engine.Never
}

// Config describes a cluster and its work.
type Config struct {
	Engine    *engine.Engine // of the run, at time 0
	Nodes     []NodeConfig
	Scheduler func(policy.Listener) (policy.Scheduler, error)
	Heartbeat engine.Time // of nodes
	Every     bool        // simulate heartbeats that do nothing one by one
	Kill      engine.Time // from an order to kill until the process is gone
	Expiry    engine.Time // of a silent node; looked at every third of it
	AMExpiry  engine.Time // of a silent ApplicationMaster, likewise
	Work      []Submission
}

// Row is what is recorded of one container or reservation.
type Row struct {
	Application string
	Attempt     int // of the ApplicationMaster
	Number      int32
	What        string
	Node        int32
	Size        model.Resource
	Priority    Priority
	Reserved    engine.Time
	Allocated   engine.Time
	Acquired    engine.Time
	Start, End  engine.Time // of the process
	Freed       engine.Time // for the scheduler
	Exit        Exit
}

// ApplicationRecord is what is recorded of one application, by its last attempt.
type ApplicationRecord struct {
	Queue        string // path; empty before the submission
	Submitted    engine.Time
	AMNode       int32
	AMAllocated  engine.Time
	AMStarted    engine.Time
	Registered   engine.Time
	Unregistered engine.Time
	Ended        engine.Time // the ResourceManager's final state
	Attempts     int
	Succeeded    bool
}

// ResourceManager runs a cluster. It does everything that follows from one event
// before the next one: the scheduler's work, then what its decisions cause, in the
// order of the causes.
type ResourceManager struct {
	config Config
	engine *engine.Engine
	agenda *agenda
	sched  policy.Scheduler
	err    error

	nodes     []*node
	usable    int
	places    map[string]Place
	names     []string // of the places
	apps      []*application
	submitted []*application // by id
	over      int            // applications that have ended
	changed   engine.Time    // last submission, grant, start or end of a container
	rows      [][]Row        // blocks of equal size, so that no row moves
	posts     []func()
	ring      ring
	dealer    dealer
}

// node is a NodeManager, and what the ResourceManager's side of its heartbeats keeps
// (NodeStatusUpdaterImpl, RMNodeImpl).
type node struct {
	rm   *ResourceManager
	book *policy.Node
	dies engine.Time

	running []process // in order of start
	lanes   []bool    // in use
	gone    []Ended   // since the last heartbeat
	beats   series
	beatNow func() // beatEarly
	early   bool   // a heartbeat out of turn is due in this instant
	dead    bool   // it has died
	lost    bool   // the ResourceManager has given it up

	clean  []*Container // to be killed, by the next answer
	heard  engine.Time  // when it registered or, if it has died, last heartbeat; None: not registered
	seen   uint64       // changes of the scheduler, as of its last heartbeat
	ringed bool         // in ResourceManager.ring
}

// process is a container's process on a node.
type process struct {
	c       *Container
	attempt *attempt
	report  engine.Time // the regular heartbeat that first reports it running
	known   bool        // a heartbeat has reported it
	killed  bool
}

// notSubmitted is the record of an application that has not come yet.
var notSubmitted = ApplicationRecord{
	Submitted: None, AMAllocated: None, AMStarted: None, Registered: None, Unregistered: None, Ended: None,
}

// application is a submission and its life in the ResourceManager (RMAppImpl).
type application struct {
	Submission
	rm       *ResourceManager
	id       int32
	failures int
	rejected *policy.Rejection // by the scheduler
	attempt  *attempt
	record   ApplicationRecord
}

// attempt is one attempt of an application, and its Master (RMAppAttemptImpl).
type attempt struct {
	app     *application
	rm      *ResourceManager
	number  int
	book    *policy.App
	program Application
	am      *Container

	started    bool // the program runs
	lost       bool // its process is gone
	over       bool // the scheduler has dropped it
	said       bool // the final state was told once
	succeeded  bool
	unregister bool
	heard      engine.Time
	beats      series // of the program

	ended   []Ended // since the last pull
	spare   []Ended // for its memory
	slots   int     // of the hash map of nodes that they wait in
	answer  AllocateResponse
	changed []NodeReport
}

// dealer orders containers by node. Its lists are kept for their memory.
type dealer struct {
	last []int32  // of each node: its last container in the list, counted from 1
	next []int32  // of each container: the next one of its node
	keys []uint64 // of each node in the list: its bucket and its first container
}

// ring holds the nodes whose heartbeats rest, by the part of the interval in which they
// would fall. While something is asked for the next of them is woken, one at a time.
type ring struct {
	rm    *ResourceManager
	parts [ringParts][]*node
	size  int
	next  *node  // woken
	seen  uint64 // changes of the scheduler that all resting nodes have seen
}

const ringParts = 1024
