package diagnose

import (
	"cmp"
	"slices"
	"strings"
)

// mostStacks limits the number of distinct stacks in memory; later ones are
// parsed at each occurrence.
const mostStacks = 1 << 18

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
}

// Reconstruction finds the executions of the vertices in sampling records
// (HiTune, section 4). It keeps a state for each thread, not the records.
type Reconstruction struct {
	vertices []vertex
	matches  []match // the locations of all vertices
	names    interner
	stacks   map[string]*stack
	threads  map[string]*threadTrace
	order    []*threadTrace // by first record
	key      []byte

	instances []Instance // read as such
	counts    map[countKey]int
	spans     map[string]*taskSpan
	system    map[seriesKey]*Series
	systemKey seriesKey
	problems  problems

	spec *Specification // nil: vertices alone
}

// match is one location of one vertex.
type match struct {
	vertex int
	location
}

// stack is the parsed value of a task sample.
type stack struct {
	class, state, frame int32 // index in names; frame: the first of the program, -1: an empty stack
	idle                bool
	hits                []frameHit
}

// frameHit says that a stack contains the start or the end of a location.
type frameHit struct {
	match    int
	from, to bool
}

// interner numbers names.
type interner struct {
	index map[string]int32
	list  []string
}

func (n *interner) id(name string) int32 {
	if i, ok := n.index[name]; ok {
		return i
	}
	if n.index == nil {
		n.index = map[string]int32{}
	}
	name = strings.Clone(name)
	i := int32(len(n.list))
	n.index[name], n.list = i, append(n.list, name)
	return i
}

// sorted lists the numbers in the order of the names.
func (n *interner) sorted() []int32 {
	order := make([]int32, len(n.list))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(n.list[a], n.list[b]) })
	return order
}

// threadTrace is one thread of one task.
type threadTrace struct {
	node, task  string
	thread      int
	first, last float64
	runs        []run // those that have begun, by match
}

// run is the unfinished execution of one location.
type run struct {
	match          int
	closed         bool
	start, end     float64
	samples, idle  int
	counts         []stackCount
	since, sinceID int // samples after the last one with the location, and how many of them are idle
	pending        []stackCount
}

type stackCount struct {
	class, state, frame int32
	n                   int
}

// countKey is a state or method of a class of threads in a vertex: frame -1
// counts a state, state -1 a frame.
type countKey struct {
	vertex, class, state, frame int32
}

// taskSpan is the first and the last record of a task.
type taskSpan struct {
	task, node  string
	first, last float64
}

// NewReconstruction starts a reconstruction with a specification.
func NewReconstruction(s *Specification) *Reconstruction {
	r := newReconstruction(s.vertices)
	r.spec = s
	return r
}

func newReconstruction(vertices []vertex) *Reconstruction {
	r := &Reconstruction{
		vertices: vertices, stacks: map[string]*stack{}, threads: map[string]*threadTrace{},
		counts: map[countKey]int{}, spans: map[string]*taskSpan{}, system: map[seriesKey]*Series{},
	}
	for i, v := range vertices {
		r.names.id(v.id)
		for _, l := range v.locations {
			r.matches = append(r.matches, match{i, l})
		}
	}
	return r
}

// isIdle reports whether a JVM's thread state means that the thread waits.
// HiTune's tables misspell TIMED_WAITING.
func isIdle(state string) bool {
	switch state {
	case "WAITING", "TIMED_WAITING", "TIME_WAITING", "BLOCKED":
		return true
	}
	return false
}

// threadClass returns a thread's name without the part specific to the thread:
// "MapOutputCopier attempt_1_r_0.3" becomes "MapOutputCopier".
func threadClass(name string) string {
	words := strings.Fields(strings.Trim(name, `'"`))
	for i, w := range words {
		if i > 0 && strings.ContainsAny(w, "0123456789") {
			words = words[:i]
			break
		}
	}
	return strings.TrimRight(strings.Join(words, " "), "-_0123456789")
}

// newStack parses a value and finds the locations that its frames match, top
// frame first.
func (r *Reconstruction) newStack(class, state string, frames []string) *stack {
	s := &stack{class: r.names.id(class), state: r.names.id(state), frame: -1, idle: isIdle(state)}
	if len(frames) > 0 {
		s.frame = r.names.id(frames[max(0, slices.IndexFunc(frames, ofProgram))])
	}
	for i, m := range r.matches {
		h := frameHit{match: i}
		for _, f := range frames {
			h.from = h.from || isFrame(f, m.from)
			h.to = h.to || m.to != "" && isFrame(f, m.to)
		}
		if h.from || h.to {
			s.hits = append(s.hits, h)
		}
	}
	return s
}

// ofProgram reports whether a frame is a method of the program, and not of Java's own
// library, in which nearly all threads are that wait, read or write.
func ofProgram(frame string) bool {
	for _, library := range []string{"java.", "javax.", "jdk.", "sun.", "com.sun."} {
		if strings.HasPrefix(frame, library) {
			return false
		}
	}
	return true
}

// thread returns the trace of a thread. It copies node and task only if the trace
// is new.
func (r *Reconstruction) thread(node, task []byte, thread int) *threadTrace {
	r.key = append(append(append(r.key[:0], node...), 0), task...)
	r.key = append(r.key, 0, byte(thread), byte(thread>>8), byte(thread>>16), byte(thread>>24))
	if t, ok := r.threads[string(r.key)]; ok {
		return t
	}
	t := &threadTrace{node: string(node), task: string(task), thread: thread}
	t.first, t.last = noTime, noTime
	r.threads[string(r.key)] = t
	r.order = append(r.order, t)
	return t
}

// noTime is before every record.
const noTime = -1 << 62

// sample adds one sample of a thread. Records of a thread come in order of
// time.
func (r *Reconstruction) sample(t *threadTrace, at float64, s *stack) {
	if t.first == noTime {
		t.first = at
	} else if at < t.last {
		r.problems.add("records of a thread out of order of time")
	}
	t.last = max(t.last, at)
	for i := range t.runs {
		if run := &t.runs[i]; !run.closed {
			run.pending = addCount(run.pending, stackCount{s.class, s.state, s.frame, 1})
			run.since++
			if s.idle {
				run.sinceID++
			}
		}
	}
	for _, h := range s.hits {
		i := slices.IndexFunc(t.runs, func(run run) bool { return run.match == h.match })
		if i < 0 {
			if !h.from {
				continue
			}
			i = len(t.runs)
			t.runs = append(t.runs, run{match: h.match, start: at, since: 1, pending: []stackCount{{s.class, s.state, s.frame, 1}}})
			if s.idle {
				t.runs[i].sinceID = 1
			}
		}
		run := &t.runs[i]
		if !run.closed {
			run.commit(at)
			run.closed = h.to
		}
	}
}

// commit counts the samples since the last one with the location.
func (run *run) commit(at float64) {
	run.end = at
	run.samples, run.idle = run.samples+run.since, run.idle+run.sinceID
	run.since, run.sinceID = 0, 0
	for _, c := range run.pending {
		run.counts = addCount(run.counts, c)
	}
	run.pending = run.pending[:0]
}

// addCount adds to a short list: one thread in one vertex.
func addCount(list []stackCount, c stackCount) []stackCount {
	for i := range list {
		if l := &list[i]; l.frame == c.frame && l.state == c.state && l.class == c.class {
			l.n += c.n
			if i > 0 { // frequent ones move to the front
				list[i], list[i-1] = list[i-1], list[i]
			}
			return list
		}
	}
	return append(list, c)
}

// Dataflow returns the reconstructed dataflow.
func (r *Reconstruction) Dataflow() *Dataflow {
	d := &Dataflow{Instances: append([]Instance{}, r.instances...), Stages: []Stage{}, problems: r.problems, system: r.system, spec: r.spec}
	counts := map[countKey]int{}
	for k, n := range r.counts {
		counts[k] = n
	}
	spans := map[string]*taskSpan{}
	for task, s := range r.spans {
		own := *s
		spans[task] = &own
	}
	kinds := r.taskKinds()
	for _, t := range r.order {
		see(spans, t.task, t.node, t.first, t.last)
		for v := range r.vertices {
			run := t.find(r.matches, v)
			if run == nil || kinds[t.task] != r.spec.poolOf(r.vertices[v].id) {
				continue
			}
			d.Instances = append(d.Instances, Instance{
				Vertex: r.vertices[v].id, Node: t.node, Task: t.task, Thread: t.thread,
				Start: run.start, End: run.end, Samples: run.samples, Idle: run.idle,
			})
			for _, c := range run.counts {
				counts[countKey{int32(v), c.class, c.state, -1}] += c.n
				if c.frame >= 0 {
					counts[countKey{int32(v), c.class, -1, c.frame}] += c.n
				}
			}
		}
	}
	slices.SortFunc(d.Instances, func(a, b Instance) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Vertex, b.Vertex),
			cmp.Compare(a.Node, b.Node), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Thread, b.Thread))
	})
	for _, s := range spans {
		d.tasks = append(d.tasks, *s)
	}
	slices.SortFunc(d.tasks, func(a, b taskSpan) int { return cmp.Compare(a.task, b.task) })
	d.joinStages()
	if r.spec != nil {
		d.countStages(r.spec.stagesOfTask())
	}
	d.breakdown(counts, r.names.list)
	return d
}

// taskKinds returns the pool of each task: that of its first vertex. A method that tasks of
// several kinds call, such as the end of Hive's maps and reduces, is in a vertex of one.
func (r *Reconstruction) taskKinds() map[string]int {
	kinds, began := map[string]int{}, map[string]float64{}
	for _, t := range r.order {
		for v := range r.vertices {
			if run := t.find(r.matches, v); run != nil {
				if first, known := began[t.task]; !known || run.start < first {
					began[t.task], kinds[t.task] = run.start, r.spec.poolOf(r.vertices[v].id)
				}
			}
		}
	}
	return kinds
}

// find returns the run of the first alternative of a vertex that occurred.
func (t *threadTrace) find(matches []match, vertex int) *run {
	var best *run
	for i := range t.runs {
		if run := &t.runs[i]; matches[run.match].vertex == vertex && (best == nil || run.match < best.match) {
			best = run
		}
	}
	return best
}

func see(spans map[string]*taskSpan, task, node string, first, last float64) {
	s := spans[task]
	if s == nil {
		s = &taskSpan{task, node, first, last}
		spans[task] = s
	}
	s.first, s.last = min(s.first, first), max(s.last, last)
}

// problems counts the records that could not be used, by reason.
type problems struct {
	counts map[string]int
	order  []string
}

func (p *problems) add(what string) {
	if p.counts == nil {
		p.counts = map[string]int{}
	}
	if p.counts[what] == 0 {
		p.order = append(p.order, what)
	}
	p.counts[what]++
}
