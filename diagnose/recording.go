package diagnose

import (
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// attemptKey identifies an attempt of a run.
type attemptKey struct {
	Job    string
	Kind   workload.Kind
	Task   int
	Number int
}

// attemptOf returns the attempt of a span.
func attemptOf(s *model.Span) attemptKey { return attemptKey{s.Job, s.Kind, s.Task, s.Attempt} }

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
