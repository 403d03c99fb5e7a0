package model

import (
	"time"

	"github.com/slotwave/slotwave/workload"
)

// A SpanRecorder receives the spans of a simulated run at fidelity device, each
// when it ends. A span is valid only during the call.
type SpanRecorder interface {
	Span(*Span)
}

// Span is a step or a wait of one thread of an attempt, or the part of a step that one
// device limits: a write to HDFS passes disks and networks of several nodes. Spans of a
// thread overlap where it computes while its files are read ahead or written behind.
type Span struct {
	Job      string
	Kind     workload.Kind
	Task     int
	Attempt  int
	Thread   Thread
	Copier   int // of CopierThread, from 0
	Phase    workload.Phase
	Wait     Wait   // NoWait: the span is a step
	Device   string // that limits the step: cpu, disk0, network-in, network-out, uplink-in, uplink-out; empty: the step uses none
	DeviceOf string // node or rack of the device; empty: the node of the attempt
	FromNode string // source of a fetch or of a remote read; empty: the node of the attempt, or several
	Begin    time.Duration
	End      time.Duration
	Own      time.Duration // of a step with a device: the time of its work alone on a device of the usual machine, or on another device that limits it then
	Bytes    int64         // read, written or fetched
}

// Thread is a thread of an attempt.
type Thread uint8

// The threads: of the task, of the spills of a map, of the fetches of a reduce, and
// of its two merges.
const (
	MainThread Thread = iota
	SpillThread
	CopierThread
	MemoryMergeThread
	DiskMergeThread
	NumThreads
)

var threadNames = [NumThreads]string{"main", "spill", "copier", "memory-merge", "disk-merge"}

func (t Thread) String() string { return threadNames[t] }

// Wait is what a thread waits for.
type Wait uint8

// The waits: of a map for a spill, of a reduce for its shuffle, of a copier for room
// in the shuffle buffer, and for the permission to commit.
const (
	NoWait Wait = iota
	WaitSpill
	WaitFetch
	WaitMemory
	WaitCommit
	NumWaits
)

var waitNames = [NumWaits]string{"", "spill", "shuffle", "memory", "commit"}

func (w Wait) String() string { return waitNames[w] }
