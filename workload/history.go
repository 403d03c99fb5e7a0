package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Unknown marks a count or a number of bytes that the source does not give.
const Unknown = -1

// UnknownTime marks an instant or a span that the source does not give.
const UnknownTime time.Duration = math.MinInt64

// OriginalID is the property that holds the original id of a job with a new id.
const OriginalID = "slotwave.job.id"

// defaultEpoch is 1 January 2010, for histories without a date.
const defaultEpoch = 1262304000000

// Known reports whether an instant or a span is known.
func Known(d time.Duration) bool { return d != UnknownTime }

// History holds recorded runs from one or more files of one set. Instants are
// measured from the earliest submission of the set.
type History struct {
	Epoch    int64         // instant 0 as Unix time in milliseconds; Unknown if the source gives only differences
	Moved    time.Duration // submission of the first job in a source that gives only differences; now it is 0
	Jobs     []HistoryJob
	Swim     []SwimJob // from traces that give only volumes
	Topology Topology
	Site     Conf   // cluster configuration from *-site.xml files
	Release  string // of Hadoop, as scenarios name it; empty: not known
	Problems []Problem
	Dropped  int             // number of problems beyond the limit on Problems
	Devices  []deviceReading // of a simulated run, for viewers of traces
	Inferred inferred
}

// inferred is what a history shows of its cluster and does not state.
type inferred struct {
	Release string                   // how the release is known; empty: it is stated
	Beats   map[string]time.Duration // first heartbeats by machine; nil: not known
}

// deviceReading is how busy a device of a node was from an instant to its next one.
type deviceReading struct {
	At     time.Duration
	Node   string
	Device string
	Busy   float64 // part of the time
}

// AddDevice says how busy a device of a node was from an instant on.
func (h *History) AddDevice(at time.Duration, node, device string, busy float64) {
	h.Devices = append(h.Devices, deviceReading{at, node, device, busy})
}

// HistoryJob is one recorded job.
type HistoryJob struct {
	ID       string // job_201102040848_0119
	Name     string
	User     string
	Queue    string
	Pool     string // value of mapred.fairscheduler.pool, if the job set it
	Priority Priority
	Type     string // Rumen's jobtype: JAVA, PIG, STREAMING, PIPES, OVERALL

	Submit  time.Duration
	Launch  time.Duration // when the JobTracker had initialised the job
	Finish  time.Duration
	Outcome State // Running: no end is recorded

	Workflow Workflow
	After    []string // IDs of the jobs that it waited for, where a record lists them

	Maps    int // as announced by the job; the recorded tasks are in Tasks
	Reduces int

	// MiB, as in Rumen: heaps (-Xmx) of all task JVMs, of maps and of reduces,
	// and the memory of one slot of the cluster.
	HeapMB, MapMB, ReduceMB       int64
	ClusterMapMB, ClusterReduceMB int64

	Error  string // why it failed or was killed
	Conf   Conf
	Tasks  []HistoryTask // maps, reduces, set-up, clean-up; each by number
	Totals JobTotals
}

// JobTotals are a job's own sums over its tasks (JobInProgress.Counter and the
// counters of the finished job). Data counters that carry the kind of task in
// their name are in Map and Reduce. The others (bytes of file systems, spilled
// records) are in All unless the source splits them.
type JobTotals struct {
	Map, Reduce, All TaskCounters

	LaunchedMaps, LaunchedReduces     int64
	NodeLocalMaps, RackLocalMaps      int64
	OffRackMaps                       int64
	FailedMaps, FailedReduces         int64 // attempts
	SlotMillisMaps, SlotMillisReduces int64
}

// HistoryTask is one recorded task and its attempts by number.
type HistoryTask struct {
	Kind       Kind
	ReduceSlot bool // the id contains _r_: reduces, and set-up or clean-up in a reduce slot
	Number     int  // number in the id
	State      State
	Start      time.Duration // assignment, on the JobTracker's clock
	Finish     time.Duration
	Split      Split // of maps; Bytes may be Unknown
	Attempts   []HistoryAttempt
}

// HistoryAttempt is one recorded attempt: the row that a simulated run writes
// too, and further recorded fields. Counters are Unknown and times UnknownTime
// if the source does not give them. A recorded shuffle begins with the attempt,
// so it contains the start of the JVM. Node is empty if the source names no
// host; then Locality has no meaning.
type HistoryAttempt struct {
	Attempt
	More        moreCounters
	Tracker     string
	HTTPPort    int
	Speculative bool   // from the record (AVATAAR), not inferred
	Error       string // why it failed or was killed
	Progress    *ProgressSplits
}

// MoreCounters are recorded counters that simulated attempts lack.
type moreCounters struct {
	InGroups                        int64 // reduce input groups
	SpillRawBytes, SpillStoredBytes int64 // all spills of a map: combined, before and after compression
	GCMillis                        int64
	PhysicalBytes, VirtualBytes     int64
	HeapBytes                       int64
}

// TaskCounters are all counters of a task, or their sums over many tasks.
type TaskCounters struct {
	Counters
	More moreCounters
}

// ProgressSplits are the samples that Hadoop 0.21 and later keep for each
// twelfth of an attempt's progress: milliseconds of wall clock and CPU, and KiB
// of virtual and physical memory.
type ProgressSplits struct {
	Clock, CPU, VMem, PhysMem []int64
}

// Problem is one loss while reading: something that could not be read or makes
// no sense.
type Problem struct {
	File string
	Line int // 0: the file as a whole
	What string
}

func (p Problem) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.What)
	}
	return fmt.Sprintf("%s: %s", p.File, p.What)
}

// UnixEpoch returns the Unix time of instant 0 in milliseconds: 1 January 2010
// if the source gives only differences.
func (h *History) UnixEpoch() int64 {
	if h.Epoch == Unknown {
		return defaultEpoch
	}
	return h.Epoch
}

// Strict returns an error that names the problems, or nil if there are none.
func (h *History) Strict() error {
	if len(h.Problems) == 0 {
		return nil
	}
	const shown = 10
	lines := make([]string, 0, shown+1)
	for _, p := range h.Problems[:min(shown, len(h.Problems))] {
		lines = append(lines, p.String())
	}
	if more := len(h.Problems) + h.Dropped - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%s", strings.Join(lines, "\n"))
}

// Attempts lists every attempt of the history: by job, then task, then number.
func (h *History) Attempts() []Attempt {
	var all []Attempt
	for j := range h.Jobs {
		for t := range h.Jobs[j].Tasks {
			for a := range h.Jobs[j].Tasks[t].Attempts {
				all = append(all, h.Jobs[j].Tasks[t].Attempts[a].Attempt)
			}
		}
	}
	return all
}

// Count returns the number of recorded tasks of a kind and of their attempts.
func (j *HistoryJob) Count(k Kind) (tasks, attempts int) {
	for i := range j.Tasks {
		if t := &j.Tasks[i]; t.Kind == k {
			tasks++
			attempts += len(t.Attempts)
		}
	}
	return tasks, attempts
}

// Winner returns the attempt whose work the job used: the last that succeeded,
// or nil.
func (t *HistoryTask) Winner() *HistoryAttempt {
	for i := len(t.Attempts) - 1; i >= 0; i-- {
		if t.Attempts[i].State == Succeeded {
			return &t.Attempts[i]
		}
	}
	return nil
}

// SlotKind returns the kind of task for whose slots the task's attempts run.
func (t *HistoryTask) SlotKind() Kind {
	if t.ReduceSlot {
		return Reduce
	}
	return Map
}

// LastMap returns when the job's last map ended, or UnknownTime.
func (j *HistoryJob) LastMap() time.Duration {
	last := UnknownTime
	for i := range j.Tasks {
		if t := &j.Tasks[i]; t.Kind == Map {
			if w := t.Winner(); w != nil {
				last = max(last, w.Finish)
			}
		}
	}
	return last
}

// Common returns the properties on which all jobs with a configuration agree,
// set over the site's. They give slots per node, scheduler and defaults of the
// cluster.
func (h *History) Common() Conf {
	var common Conf
	first := true
	for i := range h.Jobs {
		conf := h.Jobs[i].Conf
		if len(conf.Keys()) == 0 {
			continue
		}
		if first {
			first = false
			for _, k := range conf.Keys() {
				v, _ := conf.Lookup(k)
				common.Set(k, v)
			}
			continue
		}
		for _, k := range common.Keys() {
			was, _ := common.Lookup(k)
			if now, ok := conf.Lookup(k); !ok || now != was {
				delete(common.values, k)
			}
		}
	}
	return h.Site.Over(common)
}

// Earliest returns the job's first instant: its submission, or the first
// recorded instant if that is unknown.
func (j *HistoryJob) Earliest() time.Duration {
	if Known(j.Submit) {
		return j.Submit
	}
	first := UnknownTime
	see := func(d time.Duration) {
		if Known(d) && (!Known(first) || d < first) {
			first = d
		}
	}
	see(j.Launch)
	for i := range j.Tasks {
		see(j.Tasks[i].Start)
		for k := range j.Tasks[i].Attempts {
			see(j.Tasks[i].Attempts[k].Start)
		}
	}
	see(j.Finish)
	return first
}

// Shift moves every known instant of the job by d.
func (j *HistoryJob) Shift(d time.Duration) {
	move := func(t *time.Duration) {
		if Known(*t) {
			*t += d
		}
	}
	move(&j.Submit)
	move(&j.Launch)
	move(&j.Finish)
	for i := range j.Tasks {
		t := &j.Tasks[i]
		move(&t.Start)
		move(&t.Finish)
		for k := range t.Attempts {
			move(&t.Attempts[k].Runnable)
			move(&t.Attempts[k].Start)
			move(&t.Attempts[k].Finish)
		}
	}
}

// Rack is one rack of a topology.
type Rack struct {
	Name  string
	Hosts []string // sorted
}

// Topology lists the machines that a source names, by rack.
type Topology struct {
	Racks  []Rack // sorted by name
	Listed bool   // read from a list of the cluster's machines, which includes idle ones
}

// Hosts returns the number of machines.
func (t *Topology) Hosts() int {
	n := 0
	for _, r := range t.Racks {
		n += len(r.Hosts)
	}
	return n
}

// RackOf returns the rack of a host, or an empty name.
func (t *Topology) RackOf(host string) string {
	for _, r := range t.Racks {
		if _, found := slices.BinarySearch(r.Hosts, host); found {
			return r.Name
		}
	}
	return ""
}

// ran returns the machines on which a task ran.
func (h *History) ran() map[string]bool {
	ran := make(map[string]bool)
	for i := range h.Jobs {
		for k := range h.Jobs[i].Tasks {
			for _, a := range h.Jobs[i].Tasks[k].Attempts {
				ran[a.Node] = true
			}
		}
	}
	delete(ran, "")
	return ran
}

// IdleWorkers returns how many workers ran no task; 0 if the record names the
// machine of none.
func (h *History) IdleWorkers() int {
	ran, workers := h.ran(), h.Workers()
	if len(ran) == 0 {
		return 0
	}
	idle := 0
	for _, r := range workers.Racks {
		for _, host := range r.Hosts {
			if !ran[host] {
				idle++
			}
		}
	}
	return idle
}

// Workers returns the machines that ran tasks. It returns all machines if the
// record lists the cluster's machines, or names none that ran a task. A machine
// that only holds input may run no TaskTracker.
func (h *History) Workers() Topology {
	ran := h.ran()
	if h.Topology.Listed || len(ran) == 0 {
		return h.Topology
	}
	var workers Topology
	for _, r := range h.Topology.Racks {
		kept := Rack{Name: r.Name}
		for _, host := range r.Hosts {
			if ran[host] {
				kept.Hosts = append(kept.Hosts, host)
			}
		}
		if len(kept.Hosts) > 0 {
			workers.Racks = append(workers.Racks, kept)
		}
	}
	return workers
}
