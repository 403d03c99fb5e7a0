package diagnose

import (
	"time"

	"github.com/slotwave/slotwave/workload"
)

// AttemptID identifies an attempt of a run.
type AttemptID struct {
	Job    string
	Kind   workload.Kind
	Task   int
	Number int
}

// Span is an activity or a wait of one thread of an attempt, from Begin to End.
type Span struct {
	Attempt  AttemptID
	Thread   Thread
	Copier   int    // index, of Thread Copier
	Vertex   string // vertex of the dataflow
	Phase    workload.Phase
	Resource Resource
	Wait     Wait
	Device   string // index, of Resource: disk0, nic, cores
	FromNode string // source of a fetch or a read; empty: the attempt's node
	Begin    time.Duration
	End      time.Duration
	Own      time.Duration // time of the same work alone on a nominal device
	Bytes    int64
}

// Thread is a thread of an attempt.
type Thread uint8

// The threads of an attempt.
const (
	MainThread Thread = iota
	SpillThread
	CopierThread
	MemoryMergeThread
	DiskMergeThread
)

// Resource is what a span uses. Given is time that is given and not computed:
// at fidelities replay and profile.
type Resource uint8

// The resources of a span.
const (
	NoResource Resource = iota
	CPU
	Disk
	Network
	Given
)

// Wait is the reason for which a thread waits.
type Wait uint8

// The waits of a thread.
const (
	NoWait     Wait = iota
	WaitSpill       // a map for room in the sort buffer, or for the last spill
	WaitFetch       // a reduce for map outputs
	WaitMemory      // a copier for room in the shuffle buffer
	WaitCommit      // for the permission to commit
)

// Cause links an attempt to the event that allowed its start.
type Cause struct {
	Attempt       AttemptID
	Offer         time.Duration // heartbeat that launched it
	FreedBy       AttemptID     // attempt whose slot it took
	Fresh         bool          // the slot had not been used before
	LastMap       int           // task whose output kept the shuffle open; -1: none
	LastFetchFrom string        // node
	Enabled       AttemptID     // attempt whose end made it runnable: the set-up, or the map that reached slowstart
	Speculative   bool
}

// Usage is the use of one device from Time until its next row.
type Usage struct {
	Time        time.Duration
	Node        string
	Device      string // cpu, disk0, nic-in, nic-out, rack0-up, ...
	Busy        float64
	Bytes       int64
	Visitors    float64 // mean number of requests; 0: unknown
	Rate        float64 // while it had requests, relative to a nominal device with one; 0: unknown
	ForeignBusy float64
}
