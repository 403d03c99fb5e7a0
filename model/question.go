// Package model holds the what-if question and its answer: the cluster and its
// machines, the programs that run on them, the releases of Hadoop, and the
// prediction. Each equation is in one place in its packages. The simulator
// executes the same task plans that the analytic models sum.
package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// A Predictor answers what-if questions. The simulator is one, and so is every
// analytic model.
type Predictor interface {
	// Predict answers the question, or returns an error that is ErrNotApplicable
	// and says why it cannot.
	Predict(WhatIf) (Prediction, error)
}

// ErrNotApplicable matches the error of a model that cannot answer a question.
var ErrNotApplicable = errors.New("the model cannot answer")

type notApplicable string

func (n notApplicable) Error() string        { return string(n) }
func (n notApplicable) Is(target error) bool { return target == ErrNotApplicable }

// NotApplicable returns the error of a model that cannot answer, with its reason.
func NotApplicable(format string, args ...any) error {
	return notApplicable(fmt.Sprintf(format, args...))
}

// WhatIf is one question: this workload on this cluster under this scheduler.
type WhatIf struct {
	Name      string
	Fidelity  Fidelity
	Cluster   Cluster
	Scheduler Scheduler
	Jobs      []workload.Job // in order of submission
	Programs  []Program      // that the jobs name; fidelities phase and device
	Seed      uint64
	Changes   []Change      // of the scheduler, in order of time
	Until     time.Duration // the run ends here, even with unfinished jobs; 0: it ends with the last job
	Network   Network
	YARN      *YARN // of a release of YARN; nil: slots
}

// Change replaces the scheduler in the course of a run.
type Change struct {
	At        time.Duration
	Scheduler Scheduler
}

// Schedulers lists the schedulers of the run, in order of time.
func (q *WhatIf) Schedulers() []Scheduler {
	all := []Scheduler{q.Scheduler}
	for _, c := range q.Changes {
		all = append(all, c.Scheduler)
	}
	return all
}

// Tasks counts the maps and reduces of all jobs.
func (q *WhatIf) Tasks() int {
	n := 0
	for i := range q.Jobs {
		n += q.Jobs[i].Maps.Count + q.Jobs[i].Reduces.Count
	}
	return n
}

// Slots counts the slots of all nodes, by kind.
func (c *Cluster) Slots() (n [2]int) {
	for i := range c.Nodes {
		n[workload.Map] += c.Nodes[i].MapSlots
		n[workload.Reduce] += c.Nodes[i].ReduceSlots
	}
	return n
}

// Network says how exactly fidelity device simulates transfers.
type Network struct {
	Slack        float64 // fraction of its capacity that a link may miss before rates are computed again; 0: exact
	ExactFetches int     // flows of a job's shuffle; with more fetches, a flow brings several outputs; 0: DefaultExactFetches
}

// DefaultExactFetches is the largest number of fetches of a job that are
// simulated as one flow each, unless a question says otherwise.
const DefaultExactFetches = 100_000

// Exact returns the largest number of fetches of a job that are simulated one
// by one.
func (n Network) Exact() int {
	if n.ExactFetches == 0 {
		return DefaultExactFetches
	}
	return n.ExactFetches
}

// Fidelity is the source of task times.
type Fidelity uint8

// The fidelities.
const (
	Replay  Fidelity = iota // recorded or given durations
	Profile                 // distributions in the job profile
	Phase                   // per-phase equations, no contention
	Device                  // work per phase, on contended devices
)

var fidelityNames = [...]string{"replay", "profile", "phase", "device"}

func (f Fidelity) String() string { return fidelityNames[f] }

// ParseFidelity reads the name of a fidelity.
func ParseFidelity(s string) (Fidelity, bool) {
	for i, name := range fidelityNames {
		if s == name {
			return Fidelity(i), true
		}
	}
	return 0, false
}

// Cluster is the machines and the release of Hadoop that runs on them.
type Cluster struct {
	Hadoop string // a release name of the simulator's table, or "ideal"
	Nodes  []Node
	Racks  []string // names; a node's Rack indexes this list
	Costs  Costs

	Machines []Machine // types of nodes; fidelities phase and device
	Loads    []Load    // fidelity device

	Conf workload.Conf // cluster-wide Hadoop properties

	Grain          time.Duration   // task times on slow nodes are rounded to it; 0: to 1 ns
	Heartbeat      time.Duration   // 0: the release's formula
	Phases         []time.Duration // first heartbeat of each node; nil: uniform over one interval
	FromStart      bool            // the JobTracker starts at time 0 and trackers register one by one
	SharedSlots    bool            // map and reduce slots are one pool on each node
	EveryHeartbeat bool            // simulate idle heartbeats one by one
	Replication    int             // replicas of a split that the simulator places
}

// UsualMachine returns the index of the machine of most nodes, the first one on
// ties.
func (c *Cluster) UsualMachine() int {
	counts := make([]int, len(c.Machines))
	best := 0
	for i := range c.Nodes {
		if m := c.Nodes[i].Machine; m < len(counts) {
			counts[m]++
		}
	}
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	return best
}

// Node is one worker.
type Node struct {
	Name        string
	Rack        int
	Machine     int // index of Cluster.Machines
	MapSlots    int
	ReduceSlots int
	Resource    Resource      // on YARN: yarn.nodemanager.resource.memory-mb, cpu-vcores
	Slowness    float64       // factor on every task time; 1 is normal
	Price       float64       // per hour; 0: none
	Dies        time.Duration // no heartbeat at or after; 0: never
	FailAfter   time.Duration // every attempt fails this long after the start of its child; 0: none
}

// Load is foreign work on a device of a node for a time: streams that share the
// device with the tasks, and a share that is reserved.
type Load struct {
	Node    int
	Device  LoadDevice
	Disk    int // index of the machine's disks; negative: each of them
	Streams float64
	Share   float64 // 0 to 1
	From    time.Duration
	Until   time.Duration // 0: to the end
}

// LoadDevice is the device of a Load.
type LoadDevice uint8

// The devices of a node. The network interface has two directions, both loaded.
const (
	LoadDisk LoadDevice = iota
	LoadCPU
	LoadNetwork
)

// Costs are the fixed times around user work.
type Costs struct {
	Launch      time.Duration // from slot to child process
	Setup       time.Duration // job set-up task
	Cleanup     time.Duration // job clean-up task
	TaskCleanup time.Duration // clean-up after one attempt
	Commit      time.Duration // moving an attempt's output in place
}

// Scheduler names a scheduler and its settings.
type Scheduler struct {
	Name   string        // a name of the scheduler table
	Conf   workload.Conf // Hadoop's own keys
	Pools  []Pool        // fair
	Users  []UserLimit   // fair
	Queues []Queue       // capacity
}

// Pool is one pool of the fair scheduler's allocation file. Pointers are nil if
// the file gives no value.
type Pool struct {
	Name            string
	Weight          float64 // 1
	MinMaps         int
	MinReduces      int
	MaxMaps         *int
	MaxReduces      *int
	MaxRunningJobs  *int
	Mode            string         // fair or fifo; empty: the default mode
	MinShareTimeout *time.Duration // minSharePreemptionTimeout
}

// UserLimit is a user element of the allocation file.
type UserLimit struct {
	Name           string
	MaxRunningJobs int
}

// Queue is one queue of the capacity scheduler. Settings are kept under
// Hadoop's own short names (capacity, maximum-capacity, user-limit-factor,
// minimum-user-limit-percent, supports-priority, ...).
type Queue struct {
	Name string
	Conf workload.Conf
}

// Prediction is the answer to a question. Times are from the start of the
// workload; Low and High equal Mean if a model has no bounds.
type Prediction struct {
	Model    string
	Low      time.Duration // makespan
	Mean     time.Duration
	High     time.Duration
	Safe     time.Duration // upper 95 % prediction bound of the makespan; 0: the model has none
	Least    time.Duration // 90 % prediction interval of the makespan: its ends
	Most     time.Duration // 0: the model states none
	Jobs     []JobOutcome  // in order of submission
	Phases   []PhaseTime
	Devices  []DeviceUse // of a simulation at fidelity device
	Warnings []string    // notes on the limits of the answer
	Assumed  []string    // values without a source
}

// Middle returns the middle of the prediction interval, of logarithms.
func (p *Prediction) Middle() time.Duration {
	return workload.Seconds(math.Sqrt(p.Least.Seconds() * p.Most.Seconds()))
}

// LastPart is the part of the makespan since the submission of the job that ends last, or
// of the first of the chain that it ends, which what is off in the times of tasks concerns.
// It is not less than a fifth: the jobs before the last one, whose work it waits for, are
// off too.
func (p *Prediction) LastPart() float64 {
	const least = 0.2
	if len(p.Jobs) == 0 || p.Mean <= 0 {
		return 1
	}
	latest := func(of func(*JobOutcome) bool) (last *JobOutcome) {
		for k := range p.Jobs {
			if j := &p.Jobs[k]; of(j) && (last == nil || j.Finish > last.Finish) {
				last = j
			}
		}
		return last
	}
	last := latest(func(*JobOutcome) bool { return true })
	first := last
	for before := first; before != nil; {
		first = before
		before = latest(func(j *JobOutcome) bool { return slices.Contains(first.After, j.ID) })
	}
	return max(least, (last.Finish-first.Submit).Seconds()/p.Mean.Seconds())
}

// JobOutcome is the outcome of one job. Instants are from the start of the
// workload; the instant of an event that did not happen is negative.
type JobOutcome struct {
	ID, Name, User, Pool, Queue string
	State                       workload.State
	After                       []string // IDs of the jobs that it waited for

	Submit     time.Duration
	Deadline   time.Duration // 0: none
	Launch     time.Duration // tasks initialised
	Running    time.Duration // set-up reported
	FirstMap   time.Duration // start of the first map attempt
	LastMap    time.Duration // end of the last map attempt
	ShuffleEnd time.Duration // end of the last shuffle
	Finish     time.Duration // clean-up reported

	Low, High time.Duration // bounds on Finish - Submit; equal to it where a model has none

	Maps, Reduces   int
	Failed, Killed  int    // attempts
	Locality        [4]int // map attempts by workload.Locality
	MapWaves        int    // maps of the job over the most of them that had slots at once, rounded up
	ReduceWaves     int
	InBytes         int64
	ShuffleBytes    int64
	OutBytes        int64
	MapTime         time.Duration // slot time of all map attempts
	ReduceTime      time.Duration
	SpeculativeRuns int

	// Sums over the successful attempts, if a Recorder takes the attempts.
	Spills, MergePasses, SpilledRecords int64
}

// Finished reports whether the job ended before the run did.
func (j *JobOutcome) Finished() bool { return j.Finish >= 0 }

// InTime reports whether a job with a deadline meets it. One that does not succeed
// does not.
func (j *JobOutcome) InTime() bool {
	return j.State == workload.Succeeded && j.Finished() && j.Finish <= j.Deadline
}

// DeviceUse is the utilisation of one device, or of all devices of a kind, over
// time.
type DeviceUse struct {
	Node   string // "*": all nodes
	Device string
	Times  []time.Duration // one more than the uses
	Uses   []Use           // from Times[i] to Times[i+1]
}

// Use is the use of a device in a step of time. Shares are of its time, cores or
// bandwidth.
type Use struct {
	Busy       float64 // share in use
	Bytes      int64   // moved
	ReadBytes  int64   // by a disk, as rkB/s of iostat
	WriteBytes int64   // by a disk, as wkB/s of iostat
	InService  float64 // mean number of requests in service
	Rate       float64 // at which it served while it had requests, relative to a device of most nodes with one request; 0: it had none
	Foreign    float64 // share that others than Hadoop had
}

// PhaseTime is the mean time of one phase over the tasks of a kind.
type PhaseTime struct {
	Kind  workload.Kind
	Phase workload.Phase
	Time  time.Duration
}

// A Recorder receives each attempt of a simulated run when it ends. The row is
// valid only during the call.
type Recorder interface {
	Attempt(*workload.Attempt)
}

// Copy returns the question with copies of the lists that changes write.
func (q WhatIf) Copy() WhatIf {
	c := &q.Cluster
	c.Nodes, c.Machines, c.Loads = slices.Clone(c.Nodes), slices.Clone(c.Machines), slices.Clone(c.Loads)
	for i := range c.Machines {
		c.Machines[i].Disks = slices.Clone(c.Machines[i].Disks)
	}
	q.Programs, q.Jobs = slices.Clone(q.Programs), slices.Clone(q.Jobs)
	s := &q.Scheduler
	s.Pools, s.Queues, s.Users = slices.Clone(s.Pools), slices.Clone(s.Queues), slices.Clone(s.Users)
	return q
}

// Resized returns the question for a cluster with the given number of nodes like
// the first one, spread over the same racks.
func (q WhatIf) Resized(nodes int) WhatIf {
	c := &q.Cluster
	c.Nodes = slices.Repeat(c.Nodes[:1], nodes)
	for i := range c.Nodes {
		c.Nodes[i].Name = fmt.Sprintf("node%0*d", len(fmt.Sprint(nodes)), i+1)
		c.Nodes[i].Rack = i * max(1, len(c.Racks)) / nodes
	}
	c.Phases = nil
	return q
}

// HeartbeatOf returns the heartbeat interval of a cluster of which n trackers are
// known: the one that the cluster states, or that of the release.
func (r *Release) HeartbeatOf(c *Cluster, n int) (time.Duration, error) {
	interval, err := r.HeartbeatInterval(n, c.Conf)
	if err == nil && c.Heartbeat > 0 {
		interval = c.Heartbeat
	}
	return interval, err
}

// MapCodec returns the codec of map outputs on the first machine, or the one that Hadoop
// takes.
func (q *WhatIf) MapCodec() Codec {
	class := "default"
	for i := range q.Jobs {
		class = q.Jobs[i].Conf.String("mapred.map.output.compression.codec", class)
	}
	all := q.Cluster.Machines[0].AllCodecs()
	codec, err := FindCodec(class)
	i := slices.IndexFunc(all, func(c Codec) bool { return c.Name == codec.Name })
	if err != nil || i < 0 {
		i = 0
	}
	return all[i]
}

// Lanes returns for each node the most containers that run there at once, as its memory
// and the smallest container of a job allow.
func (q *WhatIf) Lanes() []int {
	const usual = 1024 // MiB: default of yarn.scheduler.minimum-allocation-mb
	least, err := strconv.ParseInt(q.YARN.Properties["yarn.scheduler.minimum-allocation-mb"], 10, 64)
	if err != nil || least <= 0 {
		least = usual
	}
	smallest := int64(math.MaxInt64)
	ask := func(r Resource, err error) {
		if err == nil {
			smallest = min(smallest, max(least, r.MemoryMiB))
		}
	}
	r, err := FindRelease(q.Cluster.Hadoop)
	for i := range q.Jobs {
		j := &q.Jobs[i]
		ask(AMSize(j.Conf))
		for _, g := range j.Containers {
			ask(Resource{MemoryMiB: g.MemoryMiB}, nil)
		}
		if j.Containers == nil && err == nil && r.YARN != nil {
			ask(r.YARN.TaskSize(j.Conf, workload.Map))
			if j.Reduces.Count > 0 {
				ask(r.YARN.TaskSize(j.Conf, workload.Reduce))
			}
		}
	}
	lanes := make([]int, len(q.Cluster.Nodes))
	for i := range lanes {
		lanes[i] = int(min(workload.MostSlots, max(1, q.Cluster.Nodes[i].Resource.MemoryMiB/smallest)))
	}
	return lanes
}

// Program returns the program of a job; nil: it has none.
func (q *WhatIf) Program(j *workload.Job) *Program {
	if i := slices.IndexFunc(q.Programs, func(p Program) bool { return p.Name == j.Program }); i >= 0 {
		return &q.Programs[i]
	}
	return nil
}

// Misfits returns the recorded time of each job relative to the simulated, as the
// calibration of its program left it, by the id of the job; 1: not known.
func (q *WhatIf) Misfits() map[string]float64 {
	programs, of := map[string]float64{}, map[string]float64{} // each job of a trace has a program
	for i := range q.Programs {
		programs[q.Programs[i].Name] = q.Programs[i].Misfit
	}
	for i := range q.Jobs {
		of[q.Jobs[i].ID] = cmp.Or(programs[q.Jobs[i].Program], 1)
	}
	return of
}
