// Package diagnose finds out why a job took as long as it did: the dataflow
// reconstructed from stack samples (Dai et al., HiTune, ATC 2011), critical
// outliers and the correlations that explain them, and rules that recommend a
// remedy (Guo et al., SONATA, BigData 2013). It works on any attempt table,
// simulated or recorded.
package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model/input"
)

// Sample is one look at one thread of a task.
type Sample struct {
	Time   float64  `json:"ts"` // ms
	Node   string   `json:"node"`
	Task   string   `json:"task"`
	Thread int      `json:"thread"`
	State  string   `json:"state"` // as the JVM names it
	Stack  []string `json:"stack"` // top first
}

// Idle tells whether the thread was waiting.
func (s *Sample) Idle() bool {
	return s.State == "WAITING" || s.State == "TIMED_WAITING" || s.State == "BLOCKED"
}

// contains tells whether a frame of the stack is the named method: the name
// itself, or qualified.
func (s *Sample) contains(method string) bool {
	return slices.ContainsFunc(s.Stack, func(frame string) bool {
		return frame == method || strings.HasSuffix(frame, "."+method)
	})
}

// Instance is one thread's execution of one vertex, from its first to its last
// sample. Times in ms.
type Instance struct {
	Vertex  string  `json:"vertex"`
	Node    string  `json:"node"`
	Task    string  `json:"task"`
	Thread  int     `json:"thread"`
	Start   float64 `json:"start"`
	End     float64 `json:"end"`
	Samples int     `json:"samples"`
	Idle    int     `json:"idle"`

	trace []Sample
}

// Stage is one task's execution of one vertex: all of its threads together.
type Stage struct {
	Task     string  `json:"task"`
	Vertex   string  `json:"vertex"`
	Start    float64 `json:"start"`
	End      float64 `json:"end"`
	Threads  int     `json:"threads"`
	Samples  int     `json:"samples"`
	Idle     int     `json:"idle"`
	IdlePart float64 `json:"idle_fraction"`
}

// Dataflow is what was reconstructed: instances by (start, vertex, node, task,
// thread), stages by (task, start, vertex).
type Dataflow struct {
	Instances []Instance `json:"instances"`
	Stages    []Stage    `json:"stages"`

	tasks []taskSpan
}

// taskSpan is the first and the last sample of a task.
type taskSpan struct {
	task        string
	first, last float64
}

// Vertices gives each vertex its program locations, alternatives of which the
// first that occurs counts. A location is a method m, whose instance reaches
// from the first to the last sample that contains m; or a range a#b, from the
// first that contains a to the first from there on that contains b (to the last
// with a where b never comes).
type Vertices map[string][]string

func (v Vertices) check(c *input.Check) {
	if len(v) == 0 {
		c.Fail("vertices", "none")
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if len(v[name]) == 0 {
			c.Fail("vertices."+name, "no location")
		}
		for _, location := range v[name] {
			from, to, isRange := strings.Cut(location, "#")
			if from == "" || isRange && to == "" {
				c.Fail("vertices."+name, "location %q: want a method, or two joined by #", location)
			}
		}
	}
}

// Reconstruct finds the vertices' instances in the samples of a job (HiTune,
// section 4).
func Reconstruct(vertices Vertices, samples []Sample) (Dataflow, error) {
	var c input.Check
	vertices.check(&c)
	for i, s := range samples {
		c.Number(fmt.Sprintf("samples[%d].ts", i), s.Time)
	}
	if err := c.Err(); err != nil {
		return Dataflow{}, err
	}

	samples = slices.Clone(samples)
	slices.SortStableFunc(samples, func(a, b Sample) int {
		return cmp.Or(compareThreads(a, b), cmp.Compare(a.Time, b.Time))
	})
	d := Dataflow{Instances: []Instance{}, Stages: []Stage{}}
	names := slices.Sorted(maps.Keys(vertices))
	for len(samples) > 0 {
		n := 1
		for n < len(samples) && compareThreads(samples[0], samples[n]) == 0 {
			n++
		}
		for _, name := range names {
			if trace := locate(samples[:n], vertices[name]); len(trace) > 0 {
				d.Instances = append(d.Instances, newInstance(name, trace))
			}
		}
		d.tasks = append(d.tasks, taskSpan{samples[0].Task, samples[0].Time, samples[n-1].Time})
		samples = samples[n:]
	}
	slices.SortFunc(d.Instances, func(a, b Instance) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Vertex, b.Vertex),
			cmp.Compare(a.Node, b.Node), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Thread, b.Thread))
	})
	d.tasks = joinSpans(d.tasks)
	d.stages()
	return d, nil
}

func compareThreads(a, b Sample) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Thread, b.Thread))
}

// locate cuts a vertex out of one thread's samples.
func locate(trace []Sample, locations []string) []Sample {
	for _, location := range locations {
		from, to, isRange := strings.Cut(location, "#")
		first := slices.IndexFunc(trace, func(s Sample) bool { return s.contains(from) })
		if first < 0 {
			continue
		}
		if isRange {
			if n := slices.IndexFunc(trace[first:], func(s Sample) bool { return s.contains(to) }); n >= 0 {
				return trace[first : first+n+1]
			}
		}
		last := len(trace) - 1
		for !trace[last].contains(from) {
			last--
		}
		return trace[first : last+1]
	}
	return nil
}

func newInstance(vertex string, trace []Sample) Instance {
	first, last := trace[0], trace[len(trace)-1]
	i := Instance{
		Vertex: vertex, Node: first.Node, Task: first.Task, Thread: first.Thread,
		Start: first.Time, End: last.Time, Samples: len(trace), trace: trace,
	}
	for _, s := range trace {
		if s.Idle() {
			i.Idle++
		}
	}
	return i
}

// joinSpans makes one span per task of those of its threads, by name.
func joinSpans(threads []taskSpan) []taskSpan {
	slices.SortFunc(threads, func(a, b taskSpan) int { return cmp.Compare(a.task, b.task) })
	var tasks []taskSpan
	for _, t := range threads {
		if n := len(tasks); n > 0 && tasks[n-1].task == t.task {
			tasks[n-1].first, tasks[n-1].last = min(tasks[n-1].first, t.first), max(tasks[n-1].last, t.last)
		} else {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// stages joins the instances of each task and vertex.
func (d *Dataflow) stages() {
	type key struct{ task, vertex string }
	at := map[key]int{}
	for _, i := range d.Instances {
		k := key{i.Task, i.Vertex}
		n, known := at[k]
		if !known {
			n = len(d.Stages)
			at[k] = n
			d.Stages = append(d.Stages, Stage{Task: i.Task, Vertex: i.Vertex, Start: i.Start, End: i.End})
		}
		s := &d.Stages[n]
		s.Start, s.End = min(s.Start, i.Start), max(s.End, i.End)
		s.Threads++
		s.Samples, s.Idle = s.Samples+i.Samples, s.Idle+i.Idle
	}
	for n := range d.Stages {
		s := &d.Stages[n]
		s.IdlePart = float64(s.Idle) / float64(s.Samples)
	}
	slices.SortFunc(d.Stages, func(a, b Stage) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Vertex, b.Vertex))
	})
}

// SystemRecord is one reading of a node's counter.
type SystemRecord struct {
	Time   float64 // ms
	Node   string
	Kind   string // cpu, disk, net, ...
	Target string // device or file
	Value  float64
}

// Attach gives each instance the system records of its node from its start to
// its end.
func (d *Dataflow) Attach(records []SystemRecord) [][]SystemRecord {
	byNode := map[string][]SystemRecord{}
	for _, r := range records {
		byNode[r.Node] = append(byNode[r.Node], r)
	}
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		slices.SortStableFunc(byNode[node], func(a, b SystemRecord) int { return cmp.Compare(a.Time, b.Time) })
	}
	attached := make([][]SystemRecord, len(d.Instances))
	for n, i := range d.Instances {
		of := byNode[i.Node]
		from, _ := slices.BinarySearchFunc(of, i.Start, func(r SystemRecord, t float64) int { return cmp.Compare(r.Time, t) })
		to := from
		for to < len(of) && of[to].Time <= i.End {
			to++
		}
		attached[n] = of[from:to]
	}
	return attached
}

// Gap is the time from the end of the last map to the end of the last shuffle,
// and what part of the job it is.
type Gap struct {
	Gap      float64 `json:"gap"`
	Fraction float64 `json:"fraction"`
}

// ShuffleGap measures the gap; all times in one unit.
func ShuffleGap(mapEnds, shuffleEnds []float64, jobStart, jobEnd float64) (Gap, error) {
	var c input.Check
	if len(mapEnds) == 0 {
		c.Fail("map_ends", "none")
	}
	if len(shuffleEnds) == 0 {
		c.Fail("shuffle_ends", "none")
	}
	for i, t := range mapEnds {
		c.Number(fmt.Sprintf("map_ends[%d]", i), t)
	}
	for i, t := range shuffleEnds {
		c.Number(fmt.Sprintf("shuffle_ends[%d]", i), t)
	}
	if c.Number("job_start", jobStart) {
		c.Above("job_end", jobEnd, jobStart)
	}
	if err := c.Err(); err != nil {
		return Gap{}, err
	}
	gap := slices.Max(shuffleEnds) - slices.Max(mapEnds)
	return Gap{gap, gap / (jobEnd - jobStart)}, nil
}

// NodeRow is the busy and the idle time of one stage on a node.
type NodeRow struct {
	Node string  `json:"node"`
	Busy float64 `json:"busy"`
	Idle float64 `json:"idle"`
}

// NodeShare is a node's mean stage time over the mean of all rows, and the busy
// and the idle part of it.
type NodeShare struct {
	Node string  `json:"node"`
	Mean float64 `json:"norm_mean"`
	Busy float64 `json:"busy_norm"`
	Idle float64 `json:"idle_norm"`
}

// StageByNode compares the nodes by the mean duration of one stage on them;
// sorted by name.
func StageByNode(rows []NodeRow) ([]NodeShare, error) {
	var c input.Check
	total := 0.0
	sums := map[string]*NodeShare{}
	counts := map[string]float64{}
	for i, r := range rows {
		c.AtLeast(fmt.Sprintf("rows[%d].busy", i), r.Busy, 0)
		c.AtLeast(fmt.Sprintf("rows[%d].idle", i), r.Idle, 0)
		s := sums[r.Node]
		if s == nil {
			s = &NodeShare{Node: r.Node}
			sums[r.Node] = s
		}
		s.Busy, s.Idle = s.Busy+r.Busy, s.Idle+r.Idle
		counts[r.Node]++
		total += r.Busy + r.Idle
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	if total == 0 {
		return nil, errors.New("rows: no time in any: nothing to compare")
	}
	mean := total / float64(len(rows))
	shares := make([]NodeShare, 0, len(sums))
	for _, node := range slices.Sorted(maps.Keys(sums)) {
		s := *sums[node]
		s.Busy, s.Idle = s.Busy/counts[node]/mean, s.Idle/counts[node]/mean
		s.Mean = s.Busy + s.Idle
		shares = append(shares, s)
	}
	return shares, nil
}
