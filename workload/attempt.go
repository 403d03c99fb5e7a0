package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"
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

// Unknown marks a count or a number of bytes that the source does not give.
const Unknown = -1

// UnknownTime marks an instant or a span that the source does not give.
const UnknownTime time.Duration = math.MinInt64

// Known reports whether an instant or a span is known.
func Known(d time.Duration) bool { return d != UnknownTime }

// attemptEnds gives, by task, how its attempts end, in the order of their
// numbers. Attempts that are not listed succeed after the time of the task.
type attemptEnds map[int][]AttemptEnd

// AttemptEnd says how an attempt ends.
type AttemptEnd struct {
	State State
	// After is the time from the start of the child process to the failure, or
	// to the heartbeat at which the attempt is killed.
	After time.Duration
	// Certain attempts fail after that time even if the task takes less. Others
	// fail only if they have not succeeded by then.
	Certain bool
	// Beside is set for a speculative attempt: it may be launched this long
	// after the start of the attempt before it, while that one still runs.
	Beside time.Duration
}

// Of returns how attempt n of a task ends.
func (e attemptEnds) Of(task, n int) AttemptEnd {
	if list := e[task]; n < len(list) {
		return list[n]
	}
	return AttemptEnd{}
}

// chosen returns the ends of tasks that each are one of the recorded; what repeats a
// recorded task does not fail.
func (e attemptEnds) chosen(of []int) (out attemptEnds) {
	seen := make(map[int]bool, len(of))
	for task, recorded := range of {
		if !seen[recorded] {
			out = out.with(task, e[recorded])
		}
		seen[recorded] = true
	}
	return out
}

// with adds the ends of the attempts of a task.
func (e attemptEnds) with(task int, ends []AttemptEnd) attemptEnds {
	if len(ends) == 0 {
		return e
	}
	if e == nil {
		e = make(attemptEnds)
	}
	e[task] = ends
	return e
}

const endSucceeded = "SUCCEEDED"

const endFailed = "FAILED"

const endKilled = "KILLED"

// The words for ends in a scenario.
const (
	endBeside = "beside"
)

// String returns the end as a scenario states it, such as "FAILED 10m0s" or
// "KILLED 12s beside 8s".
func (e AttemptEnd) String() string {
	text := endSucceeded
	switch {
	case e.State == Failed:
		text = endFailed + " " + e.After.String()
	case e.State == Killed:
		text = endKilled + " " + e.After.String()
	}
	if e.Beside > 0 {
		text += " " + endBeside + " " + e.Beside.String()
	}
	return text
}

// UnmarshalText reads what String returns.
func (e *AttemptEnd) UnmarshalText(text []byte) error {
	wrong := fmt.Errorf("got %q: want an end such as FAILED 600s, KILLED 12s or SUCCEEDED beside 8s", text)
	*e = AttemptEnd{}
	words := strings.Fields(string(text))
	span := func(at int) (d time.Duration, ok bool) {
		if at >= len(words) {
			return 0, false
		}
		d, err := time.ParseDuration(words[at])
		return d, err == nil && d >= 0
	}
	if len(words) == 0 {
		return wrong
	}
	ok, rest := true, 2
	switch words[0] {
	case endSucceeded:
		rest = 1
	case endFailed:
		e.State, e.Certain = Failed, true
	case endKilled:
		e.State = Killed
	default:
		return wrong
	}
	if rest == 2 {
		e.After, ok = span(1)
	}
	if ok && len(words) > rest {
		e.Beside, ok = span(rest + 1)
		ok = ok && words[rest] == endBeside && len(words) == rest+2
	}
	if !ok {
		return wrong
	}
	return nil
}
