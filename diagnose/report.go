package diagnose

import (
	"fmt"
	"maps"
	"slices"

	"github.com/slotwave/slotwave/model/input"
)

// VertexShare sums up the samples of a vertex: the part in which its threads
// waited, and the frame most often on top.
type VertexShare struct {
	Vertex   string
	Samples  int
	IdlePart float64
	HotFrame string
	HotPart  float64
}

// Breakdown sums up each vertex, sorted by name.
func (d *Dataflow) Breakdown() []VertexShare {
	frames := map[string]map[string]int{}
	sums := map[string]*VertexShare{}
	for _, i := range d.Instances {
		s := sums[i.Vertex]
		if s == nil {
			s = &VertexShare{Vertex: i.Vertex}
			sums[i.Vertex], frames[i.Vertex] = s, map[string]int{}
		}
		s.Samples += i.Samples
		s.IdlePart += float64(i.Idle)
		for _, sample := range i.trace {
			if len(sample.Stack) > 0 {
				frames[i.Vertex][sample.Stack[0]]++
			}
		}
	}
	all := make([]VertexShare, 0, len(sums))
	for _, vertex := range slices.Sorted(maps.Keys(sums)) {
		s := *sums[vertex]
		s.IdlePart /= float64(s.Samples)
		hottest := 0
		for _, frame := range slices.Sorted(maps.Keys(frames[vertex])) {
			if n := frames[vertex][frame]; n > hottest {
				s.HotFrame, hottest = frame, n
			}
		}
		s.HotPart = float64(hottest) / float64(s.Samples)
		all = append(all, s)
	}
	return all
}

// Segment is a part of a task's line in the timeline: a vertex, bootstrap or
// idle.
type Segment struct {
	Task       string
	What       string
	Start, End float64 // ms
}

// Timeline lists each task's segments: bootstrap from the start of the job to
// the first sample, the stages, idle from the last sample to the end of the job.
func (d *Dataflow) Timeline(jobStart, jobEnd float64) ([]Segment, error) {
	var c input.Check
	if c.Number("job_start", jobStart) {
		c.Above("job_end", jobEnd, jobStart)
	}
	for _, t := range d.tasks {
		if t.first < jobStart || t.last > jobEnd {
			c.Fail("task "+t.task, "sampled from %v to %v: want that within the job", t.first, t.last)
		}
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	var line []Segment
	stages := d.Stages // by task, as tasks are
	for _, t := range d.tasks {
		line = append(line, Segment{t.task, "bootstrap", jobStart, t.first})
		for len(stages) > 0 && stages[0].Task == t.task {
			line = append(line, Segment{t.task, stages[0].Vertex, stages[0].Start, stages[0].End})
			stages = stages[1:]
		}
		line = append(line, Segment{t.task, "idle", t.last, jobEnd})
	}
	return line, nil
}

// Cardinality is how many there are of something: Min to Max, Max 0 where only
// the run decides.
type Cardinality struct{ Min, Max int }

// ThreadPool is the threads of a phase that run the given vertices one after
// another; as a group, GroupSize threads run one vertex together.
type ThreadPool struct {
	Threads   Cardinality
	GroupSize int // 0: no group
	Vertices  []string
}

// TaskPool is the tasks of one kind, with their phases in order.
type TaskPool struct {
	Name   string
	Tasks  Cardinality
	Phases [][]ThreadPool
}

// Endpoint says how near the two ends of an edge are.
type Endpoint string

// The endpoints of an edge.
const (
	IntraThread   Endpoint = "intra-thread"
	IntraTask     Endpoint = "intra-task"
	IntraNode     Endpoint = "intra-node"
	Unconstrained Endpoint = "unconstrained"
)

// Edge is a flow of data between vertices, an input or an output.
type Edge struct {
	From, To string
	Endpoint Endpoint
}

// Specification describes the dataflow of an application: what it reads and
// writes, its vertices and where they are in the program, the flow between them
// and the tasks and threads that run them (HiTune, section 3).
type Specification struct {
	Inputs, Outputs []string
	Vertices        Vertices
	Edges           []Edge
	Pools           []TaskPool
}

// Hadoop is the specification of Hadoop 0.20. The copiers and mergers of a
// reduce are those of the paper's cluster.
func Hadoop() Specification {
	one := Cardinality{1, 1}
	return Specification{
		Inputs: []string{"Input"}, Outputs: []string{"Output"},
		Vertices: Vertices{
			"map":    {"MapTask.run"},
			"spill":  {"SpillThread.run"},
			"copier": {"MapOutputCopier.run"},
			"merge":  {"InMemFSMergeThread.run", "LocalFSMerger.run"},
			"sort":   {"ReduceCopier.createKVIterator#ReduceCopier.access"},
			"reduce": {"runNewReducer", "runOldReducer"},
		},
		Edges: []Edge{
			{"Input", "map", Unconstrained}, {"map", "spill", IntraTask}, {"spill", "copier", Unconstrained},
			{"copier", "merge", IntraTask}, {"merge", "sort", IntraTask}, {"sort", "reduce", IntraThread},
			{"reduce", "Output", Unconstrained},
		},
		Pools: []TaskPool{
			{"Map", Cardinality{1, 0}, [][]ThreadPool{{
				{one, 0, []string{"map"}},
				{one, 0, []string{"spill"}},
			}}},
			{"Reduce", Cardinality{1, 0}, [][]ThreadPool{
				{{one, 20, []string{"copier"}}, {one, 2, []string{"merge"}}},
				{{one, 0, []string{"sort", "reduce"}}},
			}},
		},
	}
}

// Check wants every vertex mapped to exactly one pool, every edge between known
// ends and every group to run one vertex.
func (s Specification) Check() error {
	var c input.Check
	s.Vertices.check(&c)
	ends := slices.Concat(s.Inputs, s.Outputs)
	mapped := map[string]int{}
	for _, pool := range s.Pools {
		for _, phase := range pool.Phases {
			for _, threads := range phase {
				if threads.GroupSize > 0 && len(threads.Vertices) != 1 {
					c.Fail(pool.Name, "a thread group runs %d vertices: want 1", len(threads.Vertices))
				}
				for _, v := range threads.Vertices {
					mapped[v]++
					if _, known := s.Vertices[v]; !known {
						c.Fail(pool.Name, "unknown vertex %q", v)
					}
				}
			}
		}
	}
	for _, v := range slices.Sorted(maps.Keys(s.Vertices)) {
		ends = append(ends, v)
		if mapped[v] != 1 {
			c.Fail("vertex "+v, "in %d pools: want 1", mapped[v])
		}
	}
	for _, e := range s.Edges {
		for _, end := range []string{e.From, e.To} {
			if !slices.Contains(ends, end) {
				c.Fail(fmt.Sprintf("edge %s -> %s", e.From, e.To), "unknown end %q", end)
			}
		}
	}
	return c.Err()
}

// ExpectedStages is how many stages a complete reconstruction of so many tasks
// of each pool has: for Hadoop 2*maps + 4*reduces.
func (s Specification) ExpectedStages(tasks ...int) (int, error) {
	if len(tasks) != len(s.Pools) {
		return 0, fmt.Errorf("tasks: %d counts for %d task pools", len(tasks), len(s.Pools))
	}
	n := 0
	for i, pool := range s.Pools {
		for _, phase := range pool.Phases {
			for _, threads := range phase {
				n += tasks[i] * len(threads.Vertices)
			}
		}
	}
	return n, nil
}
