package results

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// Files of a run on YARN beside those of every run.
const (
	ContainersName   = "containers.csv"
	applicationsName = "applications.csv"
	queuesName       = "queues.csv"
)

// never is the instant of what has not happened.
const never = time.Duration(-1)

// OnYARN is what a run on YARN has done beside its attempts. Instants are from the start
// of the run.
type OnYARN struct {
	Nodes        []model.Node
	Containers   []Container
	Applications []Application
	Queues       []Queue // that have a guarantee or a limit, by path
}

// Container is a container or a reservation.
type Container struct {
	Application int // index
	Attempt     int // of its ApplicationMaster
	Number      int
	What        string // am, m3_0, r1_0; empty: nothing ran in it
	Node        int
	Size        model.Resource
	Priority    int
	Reserved    time.Duration
	Allocated   time.Duration
	Acquired    time.Duration // its application knows of it
	Start, End  time.Duration // of its process
	Freed       time.Duration // for the scheduler
	Exit        int
}

// Application is a job as the ResourceManager knows it.
type Application struct {
	Job          *workload.Job
	Queue        string // path
	State        workload.State
	Uber         bool
	AMNode       int
	Submitted    time.Duration
	AMAllocated  time.Duration
	AMStarted    time.Duration
	Registered   time.Duration
	Inited       time.Duration
	Finished     time.Duration // all its tasks
	Unregistered time.Duration
	Ended        time.Duration
}

// Queue is a leaf with its bounds.
type Queue struct {
	Path        string
	Least, Most model.Resource
}

var containerColumns = []string{
	"job", "container", "what", "node", "memory_mb", "vcores", "priority",
	"reserved_ns", "allocated_ns", "acquired_ns", "start_ns", "end_ns", "freed_ns", "exit",
}

// ContainerTable returns containers.csv with its columns as the first row.
func (y *OnYARN) ContainerTable() [][]string {
	rows := [][]string{containerColumns}
	for i := range y.Containers {
		c := &y.Containers[i]
		exit := ""
		if c.Freed != never {
			exit = whole(c.Exit)
		}
		rows = append(rows, []string{
			text.Escape(y.Applications[c.Application].Job.ID), ContainerName(c.Attempt, c.Number), c.What, text.Escape(y.Nodes[c.Node].Name),
			whole(c.Size.MemoryMiB), whole(c.Size.VCores), whole(c.Priority), instant(c.Reserved), instant(c.Allocated),
			instant(c.Acquired), instant(c.Start), instant(c.End), instant(c.Freed), exit,
		})
	}
	return rows
}

// ContainerName is the number of a container in the attempt of its application, with
// the attempt before it from the second on.
func ContainerName(attempt, number int) string {
	if attempt > 1 {
		return whole(attempt) + "." + whole(number)
	}
	return whole(number)
}

var applicationColumns = []string{
	"job", "queue", "user", "submit_ns", "am_node", "am_allocated_ns", "am_start_ns", "registered_ns", "inited_ns",
	"finish_ns", "unregistered_ns", "app_finished_ns", "uber", "state",
}

// ApplicationTable returns applications.csv with its columns as the first row. The queue
// is the one that the job was submitted to.
func (y *OnYARN) ApplicationTable() [][]string {
	rows := [][]string{applicationColumns}
	for i := range y.Applications {
		a := &y.Applications[i]
		uber, node := "", ""
		if a.Uber {
			uber = "1"
		}
		if a.AMAllocated != never {
			node = text.Escape(y.Nodes[a.AMNode].Name)
		}
		rows = append(rows, []string{
			text.Escape(a.Job.ID), text.Escape(a.Job.Queue), text.Escape(a.Job.User), instant(a.Submitted), node, instant(a.AMAllocated), instant(a.AMStarted), instant(a.Registered),
			instant(a.Inited), instant(a.Finished), instant(a.Unregistered), instant(a.Ended), uber, a.State.String(),
		})
	}
	return rows
}

// WriteTable writes rows as CSV.
func WriteTable(rows [][]string) func(io.Writer) error {
	return func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) }
}

// queueSteps is the number of equal steps in which the use of queues is told.
const queueSteps = 400

// useOfQueues is the mean use of each queue in equal steps of a run.
type useOfQueues struct {
	step     time.Duration
	capacity model.Resource
	queues   []queueUse // by path
}

// queueUse is the use of a leaf, as means of each step.
type queueUse struct {
	Queue
	memory, masters, reserved, vcores []float64 // MiB; masters are those of ApplicationMasters
	running, waiting                  []float64 // applications with and without an ApplicationMaster
	containers, unused                int       // unused were given back
}

// useOver divides a run of the given length into steps.
func (y *OnYARN) useOver(end time.Duration) *useOfQueues {
	u := &useOfQueues{step: max(1, (end+queueSteps-1)/queueSteps)}
	for i := range y.Nodes {
		u.capacity = u.capacity.Plus(y.Nodes[i].Resource)
	}
	index := map[string]int{}
	add := func(q Queue) {
		if _, known := index[q.Path]; known {
			return
		}
		index[q.Path] = len(u.queues)
		x := queueUse{Queue: q}
		for _, series := range []*[]float64{&x.memory, &x.masters, &x.reserved, &x.vcores, &x.running, &x.waiting} {
			*series = make([]float64, queueSteps)
		}
		u.queues = append(u.queues, x)
	}
	for _, q := range y.Queues {
		add(q)
	}
	for i := range y.Applications {
		add(Queue{Path: y.Applications[i].Queue})
	}
	for i := range y.Containers {
		c := &y.Containers[i]
		q := &u.queues[index[y.Applications[c.Application].Queue]]
		if c.Reserved != never {
			u.add(q.reserved, c.Reserved, earliest(c.Allocated, c.Freed, end), float64(c.Size.MemoryMiB))
		}
		if c.Allocated == never {
			continue
		}
		q.containers++
		if c.What == "" {
			q.unused++
		}
		until := earliest(c.Freed, never, end)
		u.add(q.memory, c.Allocated, until, float64(c.Size.MemoryMiB))
		u.add(q.vcores, c.Allocated, until, float64(c.Size.VCores))
		if c.What == "am" {
			u.add(q.masters, c.Allocated, until, float64(c.Size.MemoryMiB))
		}
	}
	for i := range y.Applications {
		a := &y.Applications[i]
		q := &u.queues[index[a.Queue]]
		if a.Submitted == never {
			continue
		}
		given := earliest(a.AMAllocated, a.Ended, end)
		u.add(q.waiting, a.Submitted, given, 1)
		u.add(q.running, given, earliest(a.Ended, never, end), 1)
	}
	slices.SortStableFunc(u.queues, func(a, b queueUse) int { return strings.Compare(a.Path, b.Path) })
	return u
}

// earliest returns the first instant, else the second, that has happened before the end.
func earliest(first, second, end time.Duration) time.Duration {
	for _, at := range []time.Duration{first, second} {
		if at != never {
			return min(at, end)
		}
	}
	return end
}

// add raises the means of a series from one instant to another.
func (u *useOfQueues) add(series []float64, from, to time.Duration, by float64) {
	for i := int(from / u.step); i < len(series) && from < to; i++ {
		next := min(to, time.Duration(i+1)*u.step)
		series[i] += by * float64(next-from) / float64(u.step)
		from = next
	}
}

var queueColumns = []string{
	"time_ns", "queue", "memory_mb", "vcores", "am_memory_mb", "reserved_mb", "guaranteed_mb", "maximum_mb", "applications", "applications_waiting",
}

// table returns queues.csv with its columns as the first row.
func (u *useOfQueues) table() [][]string {
	rows := [][]string{queueColumns}
	number := func(v float64) string { return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64) }
	for i := range queueSteps {
		for k := range u.queues {
			q := &u.queues[k]
			least, most := "", ""
			if q.Most != (model.Resource{}) {
				least, most = whole(q.Least.MemoryMiB), whole(q.Most.MemoryMiB)
			}
			rows = append(rows, []string{
				ns(time.Duration(i) * u.step), text.Escape(q.Path), number(q.memory[i]), number(q.vcores[i]), number(q.masters[i]), number(q.reserved[i]),
				least, most, number(q.running[i]), number(q.waiting[i]),
			})
		}
	}
	return rows
}

// capacityText describes the resources of the cluster.
func (u *useOfQueues) capacityText() string {
	return fmt.Sprintf("%s of memory and %s vcores", memoryText(u.capacity.MemoryMiB), text.Number(u.capacity.VCores))
}

// memoryText writes MiB, or whole GiB.
func memoryText(mib int64) string {
	if mib%1024 == 0 {
		return text.Number(mib/1024) + " GiB"
	}
	return text.Number(mib) + " MiB"
}

// ContainerSummary is the use of a cluster on YARN until the makespan.
type ContainerSummary struct {
	MemoryMiB  int64          `json:"memory_mb"` // of the cluster
	VCores     int64          `json:"vcores"`
	Memory     text.Share     `json:"memory_share"` // in use
	Cores      text.Share     `json:"vcores_share"`
	Masters    text.Share     `json:"am_memory_share"`
	Reserved   text.Share     `json:"reserved_share"`
	Containers int            `json:"containers"`
	Unused     int            `json:"containers_unused"` // given back without use
	Queues     []QueueSummary `json:"queues"`
}

// QueueSummary is the use of a queue. Shares are of the cluster's memory; applications
// are means over time.
type QueueSummary struct {
	Queue      string      `json:"queue"`
	Guaranteed *text.Share `json:"guaranteed_share,omitempty"`
	Maximum    *text.Share `json:"maximum_share,omitempty"`
	Memory     text.Share  `json:"memory_share"`
	Peak       text.Share  `json:"memory_peak_share"`
	Masters    text.Share  `json:"am_memory_share"`
	Containers int         `json:"containers"`
	Running    float64     `json:"applications"`
	Waiting    float64     `json:"applications_waiting"`
}

// summary sums the queues up.
func (u *useOfQueues) summary() *ContainerSummary {
	s := &ContainerSummary{MemoryMiB: u.capacity.MemoryMiB, VCores: u.capacity.VCores}
	memory := float64(u.capacity.MemoryMiB)
	mean := func(series []float64) float64 {
		sum := 0.0
		for _, v := range series {
			sum += v
		}
		return sum / queueSteps
	}
	for i := range u.queues {
		q := &u.queues[i]
		row := QueueSummary{
			Queue: text.Escape(q.Path), Memory: text.Share(mean(q.memory) / memory), Peak: text.Share(slices.Max(q.memory) / memory),
			Masters: text.Share(mean(q.masters) / memory), Containers: q.containers, Running: mean(q.running), Waiting: mean(q.waiting),
		}
		if q.Most != (model.Resource{}) {
			least, most := text.Share(float64(q.Least.MemoryMiB)/memory), text.Share(float64(q.Most.MemoryMiB)/memory)
			row.Guaranteed, row.Maximum = &least, &most
		}
		s.Queues = append(s.Queues, row)
		s.Memory += row.Memory
		s.Masters += row.Masters
		s.Cores += text.Share(mean(q.vcores) / float64(u.capacity.VCores))
		s.Reserved += text.Share(mean(q.reserved) / memory)
		s.Containers += q.containers
		s.Unused += q.unused
	}
	return s
}
