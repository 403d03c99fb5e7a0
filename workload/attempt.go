package workload

import (
	"slices"
	"time"
)

// Kind says what a task does for its job.
type Kind uint8

// The kinds of task. Set-up and clean-up belong to the job. A task clean-up
// cleans up after one failed or killed attempt, of a map or of a reduce, and has
// the task and number of that attempt.
const (
	Map Kind = iota
	Reduce
	Setup
	Cleanup
	TaskCleanup
	ReduceTaskCleanup
	numKinds
)

var kindNames = [numKinds]string{"map", "reduce", "setup", "cleanup", "taskcleanup", "reducetaskcleanup"}

func (k Kind) String() string { return kindNames[k] }

// State is how an attempt ended.
type State uint8

// The end states of an attempt. Killed attempts do not count towards the task's
// limit of failures (mapred.map.max.attempts).
const (
	Succeeded State = iota
	Failed
	Killed
	Running // no end is recorded: only in incomplete histories
	numStates
)

var stateNames = [numStates]string{"SUCCEEDED", "FAILED", "KILLED", "RUNNING"}

func (s State) String() string { return stateNames[s] }

// Locality is the distance between a map and its input split.
type Locality uint8

// Localities, near to far. NoLocality means a split without hosts, or a task
// that reads no split.
const (
	NodeLocal Locality = iota
	RackLocal
	OffRack
	NoLocality
	NumLocalities
)

var localityNames = [NumLocalities]string{"node", "rack", "off", "none"}

// ParseLocality reads the name of a distance.
func ParseLocality(s string) (Locality, bool) {
	i := slices.Index(localityNames[:], s)
	return Locality(max(0, i)), i >= 0
}

func (l Locality) String() string { return localityNames[l] }

// Phase is one part of an attempt's time. The phases of an attempt are
// consecutive and add up to its duration.
type Phase uint8

// The phases of map and reduce attempts.
const (
	PhaseStartup Phase = iota
	PhaseRead
	PhaseMap
	PhaseCollect
	PhaseSpill
	PhaseShuffle
	PhaseMerge
	PhaseReduce
	PhaseWrite
	PhaseCommit
	NumPhases
)

var phaseNames = [NumPhases]string{
	"startup", "read", "map", "collect", "spill", "shuffle", "merge", "reduce", "write", "commit",
}

// ParsePhase reads the name of a phase.
func ParsePhase(s string) (Phase, bool) {
	i := slices.Index(phaseNames[:], s)
	return Phase(max(0, i)), i >= 0
}

func (p Phase) String() string { return phaseNames[p] }

// Attempt is one execution of one task: a row of the attempt table, simulated
// or recorded. Instants are measured from the start of the workload; byte
// counts are bytes.
type Attempt struct {
	Job      string
	Task     int // index within the job and kind
	Kind     Kind
	Number   int // 0 for the first attempt of a task
	State    State
	Node     string
	Rack     string
	Slot     int // index within the node and slot type
	Pool     string
	Locality Locality

	Runnable time.Duration // when the task could first have been launched
	Start    time.Duration // when the attempt got its slot
	Finish   time.Duration // when it left the slot

	Phases [NumPhases]time.Duration

	Counters

	WaitFetch  time.Duration // wait of copiers for map outputs, within shuffle
	WaitMemory time.Duration // wait of copiers for buffer space, within shuffle

	NodeIndex int // of a simulated attempt: position of Node in the cluster
}

// Duration returns the time the attempt held its slot.
func (a *Attempt) Duration() time.Duration { return a.Finish - a.Start }

// Counters count the data that an attempt moved.
type Counters struct {
	InRecords, InBytes   int64
	OutRecords, OutBytes int64
	Spills               int64
	MergePasses          int64
	SpilledRecords       int64
	ShuffleBytes         int64
	HDFSReadBytes        int64
	HDFSWriteBytes       int64
	LocalReadBytes       int64
	LocalWriteBytes      int64

	// Simulated only where tasks have a plan. Until 0.20.2 Hadoop counts neither
	// the time of cores nor the stored output.
	CombineInRecords, CombineOutRecords int64
	MaterializedBytes                   int64 // map output as stored: combined, compressed, with checksums
	CPUMillis                           int64 // time of cores
}

// SetUncounted makes those counters Unknown that runs without a plan, and releases
// until 0.20.2, do not have.
func (c *Counters) SetUncounted() {
	c.CombineInRecords, c.CombineOutRecords, c.MaterializedBytes, c.CPUMillis = Unknown, Unknown, Unknown, Unknown
}
