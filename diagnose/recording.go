package diagnose

import (
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// AttemptID identifies an attempt of a run.
type AttemptID struct {
	Job    string
	Kind   workload.Kind
	Task   int
	Number int
}

// attemptOf returns the attempt of a span.
func attemptOf(s *model.Span) AttemptID { return AttemptID{s.Job, s.Kind, s.Task, s.Attempt} }

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
	InService   float64 // mean number of requests in service; 0: unknown
	Rate        float64 // while it had requests, relative to a nominal device with one; 0: unknown
	ForeignBusy float64
}
