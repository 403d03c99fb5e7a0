package diagnose

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model/input"
)

//go:embed specs
var specs embed.FS

// SpecificationNames lists the embedded dataflow specifications.
var SpecificationNames = []string{"hadoop", "hive"}

// Specification describes the dataflow of an application: what it reads and
// writes, its vertices and where they are in the program, the flow between them
// and the tasks and threads that run them (HiTune, section 3 and figures 7, 8).
type Specification struct {
	inputs, outputs []storage
	vertices        []vertex
	edges           []edge
	pools           []taskPool
}

// storage is a source or destination of data.
type storage struct{ id, location string }

// vertex is a part of the program. If a vertex has alternative locations, the
// first that occurs in a thread counts.
type vertex struct {
	id        string
	locations []location
}

// location is a method, or a range from#to. A method lasts from the first to the
// last sample that contains it. A range lasts from the first sample with from to
// the first sample with to at or after it, or to the last sample with from if to
// never comes.
type location struct{ from, to string }

// edge is a flow of data. Type and endpoint come from the edge mapping.
type edge struct{ id, from, to, kind, endpoint string }

// endpoints says how close both ends of an edge can be.
var endpoints = []string{"intra-thread", "intra-task", "intra-node", "unconstrained"}

// cardinality is a range from least to most. most is 0 if only the run decides.
type cardinality struct{ least, most int }

// threadPool is the threads of a phase that run its vertices one after another.
// In a group, the threads run one vertex together.
type threadPool struct {
	threads  cardinality
	group    int // size; 0: no group
	vertices []string
}

// taskPool is the tasks of one kind with their phases in order.
type taskPool struct {
	name   string
	tasks  cardinality
	phases [][]threadPool
}

// LoadSpecification returns an embedded specification.
func LoadSpecification(name string) (*Specification, error) {
	if !slices.Contains(SpecificationNames, name) {
		return nil, fmt.Errorf("spec: got %q: want one of %s, or a file", name, strings.Join(SpecificationNames, ", "))
	}
	text, err := specs.ReadFile("specs/" + name + ".spec")
	if err != nil {
		return nil, err
	}
	return ParseSpecification(name+".spec", string(text))
}

// parseLocations reads alternatives separated by |.
func parseLocations(text string) ([]location, error) {
	var list []location
	for alternative := range strings.SplitSeq(text, "|") {
		from, to, isRange := strings.Cut(strings.TrimSpace(alternative), "#")
		if from == "" || isRange && to == "" {
			return nil, fmt.Errorf("got location %q: want a method, or two joined by #", strings.TrimSpace(alternative))
		}
		list = append(list, location{from, to})
	}
	return list, nil
}

// verticesOf turns the vertices of a question into those of a specification,
// sorted by name.
func verticesOf(locations map[string][]string) ([]vertex, error) {
	var c input.Check
	if len(locations) == 0 {
		c.Fail("vertices", "none")
	}
	var list []vertex
	for _, id := range slices.Sorted(maps.Keys(locations)) {
		v := vertex{id: id}
		if len(locations[id]) == 0 {
			c.Fail("vertices."+id, "no location")
		}
		for _, text := range locations[id] {
			from, to, isRange := strings.Cut(text, "#")
			if from == "" || isRange && to == "" {
				c.Fail("vertices."+id, "location %q: want a method, or two joined by #", text)
			}
			v.locations = append(v.locations, location{from, to})
		}
		list = append(list, v)
	}
	return list, c.Err()
}

// check returns an error if a vertex is not in exactly one pool, an edge has an
// unknown end, a group does not have one vertex, or a program location is in two
// vertices.
func (s *Specification) check() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(s.vertices) == 0 {
		fail("got no vertex: want Vertices { ID: METHOD }")
	}
	ends, mapped := map[string]bool{}, map[string]int{}
	for _, end := range slices.Concat(s.inputs, s.outputs) {
		ends[end.id] = true
	}
	for _, v := range s.vertices {
		ends[v.id] = true
	}
	for _, pool := range s.pools {
		for _, threads := range slices.Concat(pool.phases...) {
			if threads.group > 0 && len(threads.vertices) != 1 {
				fail("task pool %s: got a thread group with %d vertices: want 1", pool.name, len(threads.vertices))
			}
			for _, id := range threads.vertices {
				mapped[id]++
				if !slices.ContainsFunc(s.vertices, func(v vertex) bool { return v.id == id }) {
					fail("task pool %s: got unknown vertex %q", pool.name, id)
				}
			}
		}
	}
	for i, v := range s.vertices {
		if mapped[v.id] != 1 {
			fail("vertex %s: got %d thread pools: want 1", v.id, mapped[v.id])
		}
		for _, other := range s.vertices[:i] {
			if shared, ok := overlap(other, v); ok {
				fail("vertices %s and %s: both contain %s: want each location in one vertex", other.id, v.id, shared)
			}
		}
	}
	for _, e := range s.edges {
		for _, end := range []string{e.from, e.to} {
			if !ends[end] {
				fail("edge %s: got unknown end %q", e.id, end)
			}
		}
		if e.endpoint == "" {
			fail("edge %s: not in Edge Mapping: want TYPE, ENDPOINT", e.id)
		}
	}
	return errors.Join(errs...)
}

// overlap returns a method that belongs to both vertices.
func overlap(a, b vertex) (string, bool) {
	for _, la := range a.locations {
		for _, lb := range b.locations {
			switch {
			case isFrame(la.from, lb.from):
				return la.from, true
			case isFrame(lb.from, la.from):
				return lb.from, true
			}
		}
	}
	return "", false
}

// isFrame reports whether a stack frame is the named method: the name itself,
// or the name with its package or outer class before it.
func isFrame(frame, method string) bool {
	if !strings.HasSuffix(frame, method) {
		return false
	}
	before := len(frame) - len(method) - 1
	return before < 0 || frame[before] == '.' || frame[before] == '$'
}

// stagesOfTask returns the number of stages of a complete task by the ID of each
// vertex that it can have: for Hadoop 2 in a map and 4 in a reduce.
func (s *Specification) stagesOfTask() map[string]int {
	number := map[string]int{}
	for _, pool := range s.pools {
		var vertices []string
		for _, threads := range slices.Concat(pool.phases...) {
			vertices = append(vertices, threads.vertices...)
		}
		for _, id := range vertices {
			number[id] = len(vertices)
		}
	}
	return number
}

// specParser reads a specification by the lines that braces and line ends separate, so
// that each error has a line.
type specParser struct {
	file  string
	lines []specLine
	at    int // number of the last line
	spec  Specification
	ids   map[string]bool
}

// specLine is the opening of a block, the end of one, or an entry.
type specLine struct {
	number int
	text   string
}

// specWriting writes what figures 7 and 8 of HiTune print as slotwave does.
var specWriting = strings.NewReplacer("→", "->", "−>", "->", "–>", "->", " or ", " | ", "{", "{\n", "}", "\n}\n", ";", "\n")

// linesOf divides a text into lines. A comment begins with //, or with # and a blank; #
// alone joins the methods of a range.
func linesOf(text string) (lines []specLine) {
	for i, line := range strings.Split(text, "\n") {
		for _, mark := range []string{" //", " # "} {
			line, _, _ = strings.Cut(" "+line, mark)
		}
		for part := range strings.SplitSeq(specWriting.Replace(line), "\n") {
			part = strings.TrimRight(strings.TrimSpace(part), ",")
			if inner, entry := strings.CutPrefix(part, "<"); entry {
				part = strings.TrimSuffix(inner, ">")
			}
			if part != "" && part != "#" {
				lines = append(lines, specLine{i + 1, part})
			}
		}
	}
	return lines
}

// ParseSpecification reads a specification; file names it in errors.
func ParseSpecification(file, text string) (*Specification, error) {
	p := &specParser{file: file, lines: linesOf(text), ids: map[string]bool{}}
	whole := false // all sections are in a block of their own, as in figure 7
	for {
		line, ok := p.next()
		if !ok || whole && line == "}" {
			break
		}
		if line == "Specification {" {
			whole = true
			continue
		}
		section, open := strings.CutSuffix(line, "{")
		read := p.section(strings.TrimSpace(section))
		if !open || read == nil {
			return nil, p.fail("got %q: want a section: Input {, Output {, Vertices {, Edges {, Vertex Mapping { or Edge Mapping {", line)
		}
		if err := p.block(section, read); err != nil {
			return nil, err
		}
	}
	if err := p.spec.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &p.spec, nil
}

func (p *specParser) fail(format string, args ...any) error {
	return fmt.Errorf("%s:%d: "+format, append([]any{p.file, p.at}, args...)...)
}

// next returns the next line.
func (p *specParser) next() (string, bool) {
	if len(p.lines) == 0 {
		return "", false
	}
	line := p.lines[0]
	p.lines, p.at = p.lines[1:], line.number
	return line.text, true
}

// block passes each line to read until the closing brace.
func (p *specParser) block(name string, read func(line string) error) error {
	for {
		line, ok := p.next()
		if !ok {
			return p.fail("%s: got the end of the file: want }", strings.TrimSpace(name))
		}
		if line == "}" {
			return nil
		}
		if err := read(line); err != nil {
			return err
		}
	}
}

func (p *specParser) section(name string) func(string) error {
	switch name {
	case "Input":
		return func(line string) error { return p.storage(line, &p.spec.inputs) }
	case "Output":
		return func(line string) error { return p.storage(line, &p.spec.outputs) }
	case "Vertices":
		return p.vertex
	case "Edges":
		return p.edge
	case "Vertex Mapping":
		return p.pool
	case "Edge Mapping":
		return p.edgeMapping
	}
	return nil
}

// entry splits "id: value" and requires a new id.
func (p *specParser) entry(line string) (id, value string, err error) {
	id, value, ok := strings.Cut(line, ":")
	id, value = strings.TrimSpace(id), strings.TrimSpace(value)
	if !ok || !isID(id) || value == "" {
		return "", "", p.fail("got %q: want ID: VALUE", line)
	}
	return id, value, nil
}

func (p *specParser) unique(id string) error {
	if p.ids[id] {
		return p.fail("got %s twice: want each id once", id)
	}
	p.ids[id] = true
	return nil
}

func isID(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

func (p *specParser) storage(line string, list *[]storage) error {
	id, value, err := p.entry(line)
	if err != nil {
		return err
	}
	*list = append(*list, storage{id, value})
	return p.unique(id)
}

func (p *specParser) vertex(line string) error {
	id, value, err := p.entry(line)
	if err != nil {
		return err
	}
	v := vertex{id: id}
	if v.locations, err = parseLocations(value); err != nil {
		return p.fail("%s: %w", id, err)
	}
	p.spec.vertices = append(p.spec.vertices, v)
	return p.unique(id)
}

func (p *specParser) edge(line string) error {
	id, value, err := p.entry(line)
	if err != nil {
		return err
	}
	from, to, ok := strings.Cut(value, "->")
	if !ok {
		return p.fail("%s: got %q: want FROM -> TO", id, value)
	}
	p.spec.edges = append(p.spec.edges, edge{id: id, from: strings.TrimSpace(from), to: strings.TrimSpace(to)})
	return p.unique(id)
}

func (p *specParser) edgeMapping(line string) error {
	id, value, err := p.entry(line)
	if err != nil {
		return err
	}
	kind, endpoint, ok := strings.Cut(value, ",")
	kind, endpoint = strings.TrimSpace(kind), strings.TrimSpace(endpoint)
	if !ok || kind == "" || !slices.Contains(endpoints, endpoint) {
		return p.fail("%s: got %q: want TYPE, ENDPOINT with endpoint one of %s", id, value, strings.Join(endpoints, ", "))
	}
	i := slices.IndexFunc(p.spec.edges, func(e edge) bool { return e.id == id })
	if i < 0 {
		return p.fail("got unknown edge %q", id)
	}
	p.spec.edges[i].kind, p.spec.edges[i].endpoint = kind, endpoint
	return nil
}

// header splits "NAME TITLE (ARGS) {" into the title and the arguments, both of which may
// be missing.
func (p *specParser) header(line, name string) (title string, args []string, err error) {
	rest, is := strings.CutPrefix(line, name)
	rest, open := strings.CutSuffix(rest, "{")
	title, list, given := strings.Cut(strings.TrimSpace(rest), "(")
	list, closed := strings.CutSuffix(strings.TrimSpace(list), ")")
	if !is || !open || given != closed {
		return "", nil, p.fail("got %q: want %s (CARDINALITY) {", line, name)
	}
	for arg := range strings.SplitSeq(list, ",") {
		if _, value, named := strings.Cut(arg, ":"); named { // cardinality: 1
			arg = value
		}
		args = append(args, strings.TrimSpace(arg))
	}
	return strings.TrimSpace(title), args, nil
}

// cardinality reads a range; a missing one is 1.
func (p *specParser) cardinality(text string) (cardinality, error) {
	if text == "" {
		text = "1"
	}
	least, most, isRange := strings.Cut(text, "~")
	c := cardinality{}
	var err error
	if c.least, err = strconv.Atoi(least); err == nil {
		switch {
		case !isRange:
			c.most = c.least
		case most != "*" && most != "∞":
			c.most, err = strconv.Atoi(most)
		}
	}
	if err != nil || c.least < 1 || c.most != 0 && c.most < c.least || isRange && most == "0" {
		return c, p.fail("got cardinality %q: want N, 1~N or 1~*", text)
	}
	return c, nil
}

func (p *specParser) pool(line string) error {
	name, args, err := p.header(line, "Task Pool")
	if err != nil {
		return err
	}
	if name == "" {
		name = strconv.Itoa(1 + len(p.spec.pools))
	}
	if len(args) != 1 || !isID(name) {
		return p.fail("got %q: want Task Pool NAME (CARDINALITY) {", line)
	}
	pool := taskPool{name: name}
	if pool.tasks, err = p.cardinality(args[0]); err != nil {
		return err
	}
	err = p.block("Task Pool", func(line string) error {
		if line != "Phase {" {
			return p.fail("got %q: want Phase {", line)
		}
		var phase []threadPool
		err := p.block("Phase", func(line string) error {
			threads, err := p.threads(line)
			phase = append(phase, threads)
			return err
		})
		pool.phases = append(pool.phases, phase)
		return err
	})
	p.spec.pools = append(p.spec.pools, pool)
	return err
}

// threads reads "Thread Pool (N) { VERTEX, ... }" or "Thread Group Pool (N, SIZE) {
// VERTEX }".
func (p *specParser) threads(line string) (threadPool, error) {
	var t threadPool
	name, wanted := "Thread Pool", []string{"CARDINALITY"}
	if strings.HasPrefix(line, "Thread Group Pool") {
		name, wanted = "Thread Group Pool", append(wanted, "SIZE")
	}
	title, args, err := p.header(line, name)
	if err != nil {
		return t, err
	}
	if title != "" || len(args) != len(wanted) {
		return t, p.fail("got %q: want %s (%s) { VERTEX, ... }", line, name, strings.Join(wanted, ", "))
	}
	if t.threads, err = p.cardinality(args[0]); err != nil {
		return t, err
	}
	if len(args) == 2 {
		if t.group, err = strconv.Atoi(args[1]); err != nil || t.group < 1 {
			return t, p.fail("got group size %q: want 1 or more", args[1])
		}
	}
	return t, p.block(name, func(line string) error {
		for id := range strings.SplitSeq(line, ",") {
			t.vertices = append(t.vertices, strings.TrimSpace(id))
		}
		return nil
	})
}
