package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/slotwave/slotwave/model/input"
)

// Dataflow is the dataflow reconstructed from samples: instances by (start,
// vertex, node, task, thread), stages by (task, start, vertex).
type Dataflow struct {
	Instances []Instance `json:"instances"`
	Stages    []Stage    `json:"stages"`

	tasks    []taskSpan // by name
	shares   []threadShare
	system   map[seriesKey]*Series
	problems problems
	spec     *Specification // nil: vertices without edges
	found    int            // stages of the vertices that a task pool has
	complete int            // those that their tasks would have if none were missing
}

// Stage is one task's execution of one vertex: all of its threads together.
// Times in ms.
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

// threadShare is the fraction of the samples of a class of threads in a vertex
// with a certain state or method.
type threadShare struct {
	vertex, class string
	kind          string // state or frame
	name          string
	samples       int
	share         float64
}

// FlowVertex is a vertex of the dataflow with the time of its stages, ms.
type FlowVertex struct {
	Name       string
	Stages     int
	Busy, Idle float64
}

// FlowEdge is a flow of data between two vertices, inputs or outputs.
type FlowEdge struct{ From, To, Kind string }

// Graph returns the vertices in the order of the specification, and its edges.
func (d *Dataflow) Graph() ([]FlowVertex, []FlowEdge) {
	if d.spec == nil {
		return nil, nil
	}
	var vertices []FlowVertex
	for _, v := range d.spec.vertices {
		own := FlowVertex{Name: v.id}
		for i := range d.Stages {
			if s := &d.Stages[i]; s.Vertex == v.id {
				own.Stages++
				own.Idle += float64((s.End - s.Start) * s.IdlePart)
				own.Busy += float64((s.End - s.Start) * (1 - s.IdlePart))
			}
		}
		vertices = append(vertices, own)
	}
	var edges []FlowEdge
	for _, e := range d.spec.edges {
		edges = append(edges, FlowEdge{e.from, e.to, e.kind})
	}
	return vertices, edges
}

// joinStages joins the instances of each task and vertex.
func (d *Dataflow) joinStages() {
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
		if s := &d.Stages[n]; s.Samples > 0 {
			s.IdlePart = float64(s.Idle) / float64(s.Samples)
		}
	}
	slices.SortFunc(d.Stages, func(a, b Stage) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Vertex, b.Vertex))
	})
}

// countStages counts the stages of the vertices that a pool has, and those that their tasks
// have if they are complete. HiTune's own tables have one vertex more.
func (d *Dataflow) countStages(ofTask map[string]int) {
	task := ""
	for _, s := range d.Stages {
		if ofTask[s.Vertex] == 0 {
			continue
		}
		d.found++
		if s.Task != task {
			task = s.Task
			d.complete += ofTask[s.Vertex]
		}
	}
}

// breakdown converts counts to fractions of the samples of their class and
// vertex, states first, largest first.
func (d *Dataflow) breakdown(counts map[countKey]int, names []string) {
	type class struct{ vertex, class int32 }
	totals := map[class]int{}
	for k, n := range counts {
		if k.state >= 0 {
			totals[class{k.vertex, k.class}] += n
		}
	}
	for k, n := range counts {
		total := totals[class{k.vertex, k.class}]
		if n == 0 || total == 0 {
			continue
		}
		s := threadShare{vertex: names[k.vertex], class: names[k.class], kind: "state", samples: n, share: float64(n) / float64(total)}
		if k.state >= 0 {
			s.name = names[k.state]
		} else {
			s.kind, s.name = "frame", names[k.frame]
		}
		d.shares = append(d.shares, s)
	}
	slices.SortFunc(d.shares, func(a, b threadShare) int {
		return cmp.Or(cmp.Compare(a.vertex, b.vertex), cmp.Compare(a.class, b.class), -cmp.Compare(a.kind, b.kind),
			-cmp.Compare(a.samples, b.samples), cmp.Compare(a.name, b.name))
	})
}

// share returns an entry of the breakdown. Class "" sums all classes that have
// samples in the state or method.
func (d *Dataflow) share(vertex, class, name string) float64 {
	part, total := 0.0, 0.0
	for _, s := range d.shares {
		if s.vertex != vertex || class != "" && s.class != class {
			continue
		}
		if s.kind == "state" {
			total += float64(s.samples)
		}
		if s.name == name {
			part += float64(s.samples)
		}
	}
	if total == 0 {
		return 0
	}
	return part / total
}

// segment is a part of a task's line in the timeline: a vertex, bootstrap or
// idle. Times in ms.
type segment struct {
	task, node, what string
	start, end       float64
}

// timeline lists each task's segments: bootstrap from the start of the job to
// the first record, the stages, idle from the last record to the end of the job.
func (d *Dataflow) timeline(jobStart, jobEnd float64) []segment {
	var line []segment
	stages := d.Stages // by task, as tasks are
	for _, t := range d.tasks {
		line = append(line, segment{t.task, t.node, "bootstrap", min(jobStart, t.first), t.first})
		for len(stages) > 0 && stages[0].Task == t.task {
			line = append(line, segment{t.task, t.node, stages[0].Vertex, stages[0].Start, stages[0].End})
			stages = stages[1:]
		}
		line = append(line, segment{t.task, t.node, "idle", t.last, max(jobEnd, t.last)})
	}
	return line
}

// gap is the time from the end of the last map to the end of the last shuffle,
// and its share of the job.
type gap struct {
	Gap      float64 `json:"gap"`
	Fraction float64 `json:"fraction"`
}

// shuffleGap measures the gap; all times in one unit.
func shuffleGap(mapEnds, shuffleEnds []float64, jobStart, jobEnd float64) (gap, error) {
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
		return gap{}, err
	}
	length := slices.Max(shuffleEnds) - slices.Max(mapEnds)
	return gap{length, length / (jobEnd - jobStart)}, nil
}

// gap is that of the dataflow: from the last end of the first task pool to that of the
// first phase of the second one.
func (d *Dataflow) gap() (g gap, after, before string, err error) {
	if d.spec == nil || len(d.spec.pools) < 2 || len(d.tasks) == 0 {
		return g, "", "", errors.New("no two task pools")
	}
	first, second := d.spec.pools[0], d.spec.pools[1]
	ends := func(phases ...[]string) (list []float64) {
		for _, s := range d.Stages {
			if slices.Contains(slices.Concat(phases...), s.Vertex) {
				list = append(list, s.End)
			}
		}
		return list
	}
	start, end := d.tasks[0].first, d.tasks[0].last
	for _, t := range d.tasks {
		start, end = min(start, t.first), max(end, t.last)
	}
	g, err = shuffleGap(ends(first.phases...), ends(second.phases[:min(1, len(second.phases))]...), start, end)
	return g, second.name, first.name, err
}

// vertexUse is the mean of the readings of each type on the nodes of a vertex while it
// runs there; NaN: there is none.
type vertexUse struct {
	vertex string
	means  []float64
}

// use attaches the readings of devices to vertices.
func (d *Dataflow) use() (kinds []string, list []vertexUse) {
	for k := range d.system {
		if !slices.Contains(kinds, k.kind) {
			kinds = append(kinds, k.kind)
		}
	}
	slices.Sort(kinds)
	series := slices.SortedFunc(maps.Keys(d.system), func(a, b seriesKey) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.target, b.target))
	})
	for _, vertex := range d.vertexNames() {
		runs := map[string][2]float64{} // by node
		for _, i := range d.Instances {
			if i.Vertex == vertex {
				r, known := runs[i.Node]
				if !known {
					r = [2]float64{i.Start, i.End}
				}
				runs[i.Node] = [2]float64{min(r[0], i.Start), max(r[1], i.End)}
			}
		}
		u := vertexUse{vertex: vertex}
		for _, kind := range kinds {
			sum, n := 0.0, 0.0
			for _, k := range series {
				r, ran := runs[k.node]
				for _, reading := range *d.system[k] {
					if ran && k.kind == kind && reading[0] >= r[0] && reading[0] <= r[1] {
						sum, n = sum+reading[1], n+1
					}
				}
			}
			u.means = append(u.means, sum/n)
		}
		list = append(list, u)
	}
	return kinds, list
}

// nodeRow is the busy and the idle time of one execution of a stage on a node.
type nodeRow struct {
	Node string  `json:"node"`
	Busy float64 `json:"busy"`
	Idle float64 `json:"idle"`
}

// nodeShare is a node's mean stage time relative to the mean of all rows, and
// its busy and idle parts.
type nodeShare struct {
	Node string  `json:"node"`
	Mean float64 `json:"norm_mean"`
	Busy float64 `json:"busy_norm"`
	Idle float64 `json:"idle_norm"`
}

// stageByNode compares the nodes by the mean duration of one stage on them;
// sorted by name.
func stageByNode(rows []nodeRow) ([]nodeShare, error) {
	var c input.Check
	total := 0.0
	sums := map[string]*nodeShare{}
	counts := map[string]float64{}
	for i, r := range rows {
		if !(r.Busy >= 0 && r.Idle >= 0) {
			c.AtLeast(fmt.Sprintf("rows[%d].busy", i), r.Busy, 0)
			c.AtLeast(fmt.Sprintf("rows[%d].idle", i), r.Idle, 0)
		}
		s := sums[r.Node]
		if s == nil {
			s = &nodeShare{Node: r.Node}
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
		return nil, errors.New("rows: every busy and idle time is 0: want at least one above 0")
	}
	mean := total / float64(len(rows))
	shares := make([]nodeShare, 0, len(sums))
	for _, node := range slices.Sorted(maps.Keys(sums)) {
		s := *sums[node]
		s.Busy, s.Idle = s.Busy/counts[node]/mean, s.Idle/counts[node]/mean
		s.Mean = s.Busy + s.Idle
		shares = append(shares, s)
	}
	return shares, nil
}

// nodeRows lists the executions of a vertex, each divided into busy and idle time
// by its samples.
func (d *Dataflow) nodeRows(vertex string) []nodeRow {
	var rows []nodeRow
	for _, i := range d.Instances {
		if i.Vertex == vertex && i.Samples > 0 {
			idle := (i.End - i.Start) * float64(i.Idle) / float64(i.Samples)
			rows = append(rows, nodeRow{i.Node, i.End - i.Start - idle, idle})
		}
	}
	return rows
}

// vertexNames lists the vertices that occur, sorted.
func (d *Dataflow) vertexNames() []string {
	names := map[string]bool{}
	for _, i := range d.Instances {
		names[i.Vertex] = true
	}
	return slices.Sorted(maps.Keys(names))
}
