package workload

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

// OriginalID is the property that holds the original id of a job with a new id.
const OriginalID = "slotwave.job.id"

// defaultEpoch is 1 January 2010, for histories without a date.
const defaultEpoch = 1262304000000

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
	Dropped  int       // number of problems beyond the limit on Problems
	Unread   []Problem // values of properties that are of another kind, which are left out
}

// Workflow is the place of a job in a plan of jobs, as Hive, Pig and Oozie tell Hadoop
// (mapreduce.workflow.*).
type Workflow struct {
	ID, Node    string
	Adjacencies string // of the whole plan: "node"="node,node" by what comes next
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
	Still   bool  // a standstill that it met was left out

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
	if len(h.Problems)+h.Dropped == 0 {
		return nil
	}
	return errors.New(strings.Join((&History{Problems: h.Problems, Dropped: h.Dropped}).Lost(), "\n"))
}

// Lost lists the first of what reading lost, and counts the others.
func (h *History) Lost() []string {
	var all []string
	for _, p := range slices.Concat(h.Unread, h.Problems) {
		all = append(all, p.String())
	}
	if len(all) == 0 && h.Dropped > 0 {
		return []string{Counted(h.Dropped, "place", "places") + " could not be read"}
	}
	return Few(all, h.Dropped)
}

// Few returns the first texts of a list, and counts the others. Those that are equal but
// for what comes before their first colon are one.
func Few(list []string, more int) (few []string) {
	where := map[string][]string{}
	for _, text := range list {
		place, what, _ := strings.Cut(text, ": ")
		where[what] = append(where[what], place)
	}
	for _, text := range list {
		_, what, _ := strings.Cut(text, ": ")
		if places := where[what]; len(places) > 2 {
			text = fmt.Sprintf("%s and %d others: %s", places[0], len(places)-1, what)
			if slices.Contains(few, text) {
				continue
			}
		}
		few = append(few, text)
	}
	const most = 10
	if more += max(0, len(few)-most); more > 0 {
		few = append(few[:min(most, len(few))], fmt.Sprintf("and %d more", more))
	}
	return few
}

// Tasks ranges over the tasks of a history and their jobs.
func (h *History) Tasks() iter.Seq2[*HistoryJob, *HistoryTask] {
	return func(yield func(*HistoryJob, *HistoryTask) bool) {
		for i := range h.Jobs {
			for k := range h.Jobs[i].Tasks {
				if !yield(&h.Jobs[i], &h.Jobs[i].Tasks[k]) {
					return
				}
			}
		}
	}
}

// Each ranges over the attempts of a history and their tasks: by job, then task, then
// number.
func (h *History) Each() iter.Seq2[*HistoryTask, *HistoryAttempt] {
	return func(yield func(*HistoryTask, *HistoryAttempt) bool) {
		for i := range h.Jobs {
			if !h.Jobs[i].each(yield) {
				return
			}
		}
	}
}

// Each ranges over the attempts of a job and their tasks.
func (j *HistoryJob) Each() iter.Seq2[*HistoryTask, *HistoryAttempt] {
	return func(yield func(*HistoryTask, *HistoryAttempt) bool) { j.each(yield) }
}

func (j *HistoryJob) each(yield func(*HistoryTask, *HistoryAttempt) bool) bool {
	for i := range j.Tasks {
		t := &j.Tasks[i]
		for k := range t.Attempts {
			if !yield(t, &t.Attempts[k]) {
				return false
			}
		}
	}
	return true
}

// Attempts lists every attempt of the history.
func (h *History) Attempts() []Attempt {
	var all []Attempt
	for _, a := range h.Each() {
		all = append(all, a.Attempt)
	}
	return all
}

// Of ranges over the tasks of a kind and their winners, nil where there is none.
func (j *HistoryJob) Of(k Kind) iter.Seq2[*HistoryTask, *HistoryAttempt] {
	return func(yield func(*HistoryTask, *HistoryAttempt) bool) {
		for i := range j.Tasks {
			if t := &j.Tasks[i]; t.Kind == k && !yield(t, t.Winner()) {
				return
			}
		}
	}
}

// Count returns the number of recorded tasks of a kind and of their attempts.
func (j *HistoryJob) Count(k Kind) (tasks, attempts int) {
	for t := range j.Of(k) {
		tasks++
		attempts += len(t.Attempts)
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
	for _, w := range j.Of(Map) {
		if w != nil {
			last = max(last, w.Finish)
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
		if conf.Len() == 0 {
			continue
		}
		if first {
			first, common.values = false, maps.Clone(conf.values)
		}
		maps.DeleteFunc(common.values, func(key, was string) bool {
			now, ok := conf.values[key]
			return !ok || now != was
		})
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
	}
	for _, a := range j.Each() {
		see(a.Start)
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
		move(&j.Tasks[i].Start)
		move(&j.Tasks[i].Finish)
	}
	for _, a := range j.Each() {
		move(&a.Runnable)
		move(&a.Start)
		move(&a.Finish)
	}
}

// Rack is one rack of a topology.
type Rack struct {
	Name  string
	Hosts []string // sorted
}

// Topology lists the machines that a source names, by rack.
type Topology struct {
	Racks  []Rack          // sorted by name
	Listed map[string]bool // machines of a list of the cluster's machines, which includes idle ones
}

// Hosts returns the number of machines.
func (t *Topology) Hosts() int {
	n := 0
	for _, r := range t.Racks {
		n += len(r.Hosts)
	}
	return n
}

// ran returns the machines on which a task ran.
func (h *History) ran() map[string]bool {
	ran := make(map[string]bool)
	for _, a := range h.Each() {
		ran[a.Node] = true
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

// Workers returns the machines that ran tasks or that the record lists. It returns all
// machines if the record names none that ran a task. A machine that only holds input may
// run no TaskTracker.
func (h *History) Workers() Topology {
	ran := h.ran()
	if len(ran) == 0 {
		return h.Topology
	}
	workers := Topology{Listed: h.Topology.Listed}
	for _, r := range h.Topology.Racks {
		kept := Rack{Name: r.Name}
		for _, host := range r.Hosts {
			if ran[host] || workers.Listed[host] {
				kept.Hosts = append(kept.Hosts, host)
			}
		}
		if len(kept.Hosts) > 0 {
			workers.Racks = append(workers.Racks, kept)
		}
	}
	return workers
}

// Mean returns the mean of a known time of the tasks that succeeded, or none.
func (h *History) Mean(of func(*HistoryTask, *HistoryAttempt) time.Duration, none time.Duration) time.Duration {
	sum, n := time.Duration(0), time.Duration(0)
	for _, t := range h.Tasks() {
		if w := t.Winner(); w != nil {
			if d := of(t, w); Known(d) {
				sum, n = sum+d, n+1
			}
		}
	}
	if n == 0 {
		return none
	}
	return sum / n
}

// UnknownCounters returns counters that are all Unknown.
func UnknownCounters() TaskCounters {
	return TaskCounters{
		Counters: Counters{
			InRecords: Unknown, InBytes: Unknown, OutRecords: Unknown, OutBytes: Unknown,
			Spills: Unknown, MergePasses: Unknown, SpilledRecords: Unknown, ShuffleBytes: Unknown,
			HDFSReadBytes: Unknown, HDFSWriteBytes: Unknown, LocalReadBytes: Unknown, LocalWriteBytes: Unknown,
			CombineInRecords: Unknown, CombineOutRecords: Unknown, MaterializedBytes: Unknown, CPUMillis: Unknown,
		},
		More: moreCounters{
			InGroups: Unknown, SpillRawBytes: Unknown, SpillStoredBytes: Unknown,
			GCMillis: Unknown, PhysicalBytes: Unknown, VirtualBytes: Unknown, HeapBytes: Unknown,
		},
	}
}

// NewHistoryJob returns a job with an id and no other known field.
func NewHistoryJob(id string) HistoryJob {
	c := UnknownCounters()
	return HistoryJob{
		ID: id, Submit: UnknownTime, Launch: UnknownTime, Finish: UnknownTime, Outcome: Running,
		Maps: Unknown, Reduces: Unknown,
		HeapMB: Unknown, MapMB: Unknown, ReduceMB: Unknown, ClusterMapMB: Unknown, ClusterReduceMB: Unknown,
		Totals: JobTotals{
			Map: c, Reduce: c, All: c,
			LaunchedMaps: Unknown, LaunchedReduces: Unknown, NodeLocalMaps: Unknown, RackLocalMaps: Unknown,
			OffRackMaps: Unknown, FailedMaps: Unknown, FailedReduces: Unknown,
			SlotMillisMaps: Unknown, SlotMillisReduces: Unknown,
		},
	}
}

// NewHistoryTask returns a task with a name and no other known field.
func NewHistoryTask(kind Kind, reduceSlot bool, number int) HistoryTask {
	return HistoryTask{
		Kind: kind, ReduceSlot: reduceSlot, Number: number, State: Running,
		Start: UnknownTime, Finish: UnknownTime, Split: Split{Bytes: Unknown},
	}
}

// NewHistoryAttempt returns an attempt with a name and no other known field.
func NewHistoryAttempt(job, pool string, kind Kind, task, number int) HistoryAttempt {
	c := UnknownCounters()
	a := HistoryAttempt{
		Attempt: Attempt{
			Job: job, Task: task, Kind: kind, Number: number, State: Running, Slot: Unknown, Pool: pool,
			Locality: NoLocality, Runnable: UnknownTime, Start: UnknownTime, Finish: UnknownTime,
			Counters: c.Counters, WaitFetch: UnknownTime, WaitMemory: UnknownTime,
		},
		More: c.More, HTTPPort: Unknown,
	}
	for p := range a.Phases {
		a.Phases[p] = UnknownTime
	}
	return a
}
