// Package workload holds the input and the record of a cluster: jobs with their
// configuration and profiles, the table of attempts of a simulated or recorded
// run, and the random streams for draws. Package workload/trace reads and
// writes them.
package workload

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Priority orders jobs; a smaller value goes first (JobPriority).
type Priority int8

// Priorities of mapred.job.priority.
const (
	VeryHigh Priority = iota - 2
	High
	Normal
	Low
	VeryLow
)

var priorityNames = [...]string{"VERY_HIGH", "HIGH", "NORMAL", "LOW", "VERY_LOW"}

func (p Priority) String() string { return priorityNames[p-VeryHigh] }

// ParsePriority reads a JobPriority name.
func ParsePriority(s string) (Priority, bool) {
	for i, name := range priorityNames {
		if name == s {
			return VeryHigh + Priority(i), true
		}
	}
	return Normal, false
}

// Job is the submission of one user and, if known, the behaviour of its tasks.
type Job struct {
	ID       string // unique within the workload
	Name     string
	User     string
	Pool     string // fair scheduler; empty: the pool-name property decides
	Queue    string // capacity scheduler; empty: default
	Priority Priority
	Submit   time.Duration // from the start of the workload
	Deadline time.Duration // from the start of the workload; 0: none

	// After lists the jobs that must have ended before this one is submitted. Until it
	// is, Submit counts from the end of the last of them, and Deadline from the
	// submission of the first job of the chain.
	After   []string
	Commits bool          // recorded task times include the commit of the output
	Init    time.Duration // when the JobTracker initialises it, if recorded; 0: the scheduler decides
	Conf    Conf

	Maps    MapTasks
	Reduces ReduceTasks

	// Containers are those of an application on YARN that is no MapReduce job: it has
	// no maps and reduces then.
	Containers []ContainerGroup

	SetupTime, CleanupTime time.Duration // of its own such tasks, if recorded; 0: those of the cluster
	SetupEnds, CleanupEnds []AttemptEnd  // of their attempts before the one that succeeds, in the order of their starts
	NoSetupCleanup         bool          // it has no such tasks, as in Hadoop 0.18

	// Ends is set for a recorded job that was killed, or that failed although
	// its tasks did not fail often enough: the order to end it, after its
	// submission.
	Ends AttemptEnd

	Profile *Profile // nil if every duration is explicit
	Program string   // what its tasks do, if task times follow from their work
}

// AttemptEnds returns the recorded ends of attempts of all kinds.
func (j *Job) AttemptEnds() []AttemptEnd {
	all := slices.Concat(j.SetupEnds, j.CleanupEnds)
	for _, ends := range [...]attemptEnds{j.Maps.Ends, j.Reduces.Ends} {
		for _, task := range slices.Sorted(maps.Keys(ends)) {
			all = append(all, ends[task]...)
		}
	}
	return all
}

// DropAttemptEnds lets all attempts succeed.
func (j *Job) DropAttemptEnds() {
	j.SetupEnds, j.CleanupEnds, j.Maps.Ends, j.Reduces.Ends = nil, nil, nil, nil
}

// ContainerGroup is a number of containers of one size that run for given times.
type ContainerGroup struct {
	Priority  int // the smaller number goes first
	MemoryMiB int64
	VCores    int64
	Times     []time.Duration // of each container, on a normal node
	Hosts     [][]string      // of each container: where it would rather run; nil: anywhere
}

// MapTasks describes the maps of a job. Per-task lists are indexed by task, in
// the order of the splits (largest first, as the job client sorts them).
type MapTasks struct {
	Count       int
	InputBytes  int64     // of all splits
	OutputBytes int64     // of a job without reduces, if it is known
	Fresh       bool      // the input is written just before the run begins
	Time        Durations // user work, without JVM start and commit
	Localise    Durations // from the slot to the launch of a first attempt, if recorded
	Splits      []Split   // nil: the simulator places them
	Retry       Durations // on YARN: Time of attempts after the first; unset: Time
	RackFactor  float64   // factor on Time if the split is on another node of the rack; 0: 1
	OffFactor   float64   // factor on Time if the split is in another rack; 0: 1
	Ends        attemptEnds
	Output      MapOutput
	Shares      []MapShare // of recorded maps; nil: in proportion to the splits
}

// MapShare is the part of a job's data that one map has: of the input and its
// records, and of the bytes and records that maps emit. The shares of all maps add
// up to 1.
type MapShare struct{ Input, InRecords, OutBytes, OutRecords float64 }

// MapOutput describes the output of the maps of a recorded job before combiner
// and codec. The bytes fetched are in ReduceTasks.ShuffleData. It is zero if it is
// not recorded.
type MapOutput struct {
	RawBytes              int64
	Records               int64  // 0: not recorded
	CombineIn, CombineOut int64  // records into and out of the combiner of maps; 0: it did not run
	MergedIn, MergedOut   int64  // likewise of reduces, which combine when they merge in memory
	Codec                 string // class of the codec; empty: none
}

// ReduceTasks describes the reduces of a job.
type ReduceTasks struct {
	Count       int
	Localise    Durations     // from the slot to the launch of a first attempt, if recorded
	Shuffle     Durations     // after the last map output became known
	FromLastMap bool          // Shuffle starts at the end of the last map, or at the start of a later child, and includes the time until the child knows the maps
	Copy        Durations     // replaces Shuffle: the whole copy time, which overlaps the maps
	FetchSleep  time.Duration // within Copy: how long the loop that fetches sleeps when it finds nothing to fetch
	Sort        Durations
	Time        Durations // the reduce phase
	FirstWave   Durations // shuffle of reduces that start before the last map ends; unset: Shuffle
	ShuffleData int64     // bytes of map output fetched by all reduces
	OutputBytes int64     // of all reduces
	Shares      []float64 // shares of the map output, by reduce; they add up to 1; nil: equal
	Ends        attemptEnds
}

// Resize changes the number of reduces. What is known of single reduces is replaced
// by the mean of all, and recorded ends of attempts are dropped.
func (r *ReduceTasks) Resize(n int) {
	for _, d := range []*Durations{&r.Localise, &r.Shuffle, &r.Copy, &r.Sort, &r.Time, &r.FirstWave} {
		if len(d.Each) > 0 {
			mean, _ := d.Expect(r.Count)
			*d = Durations{All: Seconds(mean)}
		}
	}
	r.Count, r.Shares, r.Ends = n, nil, nil
}

// Idle returns how long a reduce that has copied what it knows of does nothing once it
// could know all outputs. The loop that fetches sleeps on if it began before, or else
// once, because it starts before the thread that asks for events. Then it waits until
// this thread has slept too.
func (r *ReduceTasks) Idle(began, known time.Duration) time.Duration {
	const asks = time.Second
	switch {
	case r.FetchSleep == 0:
		return 0
	case known <= began:
		return r.FetchSleep + asks
	}
	return (known-began+r.FetchSleep-1)/r.FetchSleep*r.FetchSleep - (known - began) + asks
}

// Split is the part of the input that one map reads.
type Split struct {
	Bytes int64
	Hosts []string // nodes that hold a replica
}

// Durations gives the time of one phase for each task of a job: a list by task,
// one value for all, a distribution in seconds, or a list or value multiplied
// by a draw. The zero value is zero time.
type Durations struct {
	Each []time.Duration // by task; empty: All
	All  time.Duration
	Dist *Dist // drawn anew for every attempt
}

// Set reports whether a duration was given.
func (d *Durations) Set() bool { return d.Dist != nil || len(d.Each) > 0 || d.All != 0 }

// At returns the duration for one task. It draws from the stream s if there is
// a distribution.
func (d *Durations) At(task int, s Stream) time.Duration {
	base := d.All
	if len(d.Each) > 0 {
		base = d.Each[task]
	}
	if d.Dist == nil {
		return base
	}
	draw := d.Dist.Draw(s)
	if len(d.Each) > 0 || d.All != 0 {
		return Seconds(base.Seconds() * draw)
	}
	return Seconds(draw)
}

// Expect returns the mean and the longest time of n tasks to expect, in
// seconds. For drawn times, the longest is the quantile n/(n+1).
func (d *Durations) Expect(n int) (mean, longest float64) {
	if n == 0 {
		return 0, 0
	}
	mean, longest = d.All.Seconds(), d.All.Seconds()
	if len(d.Each) > 0 {
		mean = 0
		for _, t := range d.Each[:n] {
			mean += t.Seconds() / float64(n)
		}
		longest = slices.Max(d.Each[:n]).Seconds()
	}
	if d.Dist == nil {
		return mean, longest
	}
	tail := d.Dist.law.Quantile(float64(n) / float64(n+1))
	if len(d.Each) > 0 || d.All != 0 {
		return mean * d.Dist.Mean(), longest * tail
	}
	return d.Dist.Mean(), math.Max(tail, d.Dist.Mean())
}

// Seconds converts seconds to a Duration, rounded to the nearest nanosecond and
// limited to the largest Duration.
func Seconds(s float64) time.Duration {
	if s >= math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(s * 1e9))
}
