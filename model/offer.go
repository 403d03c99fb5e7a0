package model

import (
	"time"

	"github.com/slotwave/slotwave/workload"
)

// A Tracer receives the offers of a simulated run, in order of time. An offer is
// valid only during the call.
type Tracer interface {
	Offer(*Offer)
}

// Offer is a heartbeat of a TaskTracker with a free slot, and what the scheduler
// did with it. Arrays of two are indexed by workload.Map and workload.Reduce.
type Offer struct {
	Time    time.Duration
	Node    string
	Free    [2]int    // slots, before anything was launched
	Waiting [2]int    // jobs with a task to launch, before anything was launched
	Reason  [2]Reason // why slots that are still free got nothing
	Asked   []Asked   // jobs in the order in which the scheduler asked them
	Repeats int       // offers of any node that followed and launched nothing for the same reasons
}

// Asked is a job that the scheduler asked for a task, or would have asked next.
type Asked struct {
	Job      string
	Kind     workload.Kind
	Task     int // launched; -1: none
	Attempt  int
	Locality workload.Locality
	Reason   Reason // why it launched none
	Figures  Figures
}

// Figures are the values by which a scheduler chooses among jobs. Times and
// numbers that the scheduler does not use are 0.
type Figures struct {
	Pool     string        // or queue
	Running  int           // tasks of the job, pool or queue, as the scheduler compares it
	Demand   int           // tasks that it could run
	MinShare int           // guaranteed slots
	Share    float64       // fair share or capacity, in slots
	Deficit  time.Duration // task time that the job lacks (FairScheduler of 0.20)
	Waited   time.Duration // for a local map
	Delay    time.Duration // after which the job accepts another locality
	Skipped  int           // heartbeats that the job let pass for a local map
	Limit    int           // of the pool, user or queue that refuses, in slots or jobs, of which Running are used
}

// Reason is why a scheduler launched nothing in a free slot.
type Reason uint8

// The reasons, in the words of the offers table.
const (
	NotDeclined Reason = iota
	NothingWaiting
	OneTaskPerHeartbeat
	LocalityWait
	AtPoolLimit
	AtUserLimit
	AtQueueLimit
	MinShareReserved
	Slowstart
	MemoryLimit
	AvoidedTracker
	LoadFactor
	PaddedSlots
	OneOffRackMap
	SetupOrCleanupFirst
	DeadlineMet
	AtJobLimit
	AtInitLimit
	BehindOthers
	NumReasons
)

var reasonNames = [NumReasons]string{
	"", "nothing waiting", "one task per heartbeat", "locality wait", "pool limit", "user limit", "queue limit",
	"minimum share reserved", "slowstart", "memory", "avoided tracker", "load factor", "slots kept for the first job",
	"one off-rack map per heartbeat", "set-up or clean-up first", "deadline met", "job limit",
	"initialisation limit", "behind others",
}

func (r Reason) String() string { return reasonNames[r] }

// IsLimit reports whether the reason is the limit of a pool, queue or user, which holds
// on every TaskTracker.
func (r Reason) IsLimit() bool {
	switch r {
	case AtPoolLimit, AtUserLimit, AtQueueLimit, AtJobLimit, AtInitLimit:
		return true
	}
	return false
}
