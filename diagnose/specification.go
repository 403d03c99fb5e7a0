package diagnose

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
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
	storage  []string // inputs and outputs
	vertices []vertex
	edges    []edge
	pools    []taskPool
}

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

// edge is a flow of data. Its kind comes from the edge mapping.
type edge struct{ id, from, to, kind string }

// endpoints says how close both ends of an edge can be.
var endpoints = []string{"intra-thread", "intra-task", "intra-node", "unconstrained"}

// taskPool is the tasks of one kind: the vertices of each of their phases, in order. How
// many tasks and threads run them only the samples say.
type taskPool struct {
	name   string
	phases [][]string
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

func parseLocation(text string) (location, error) {
	from, to, isRange := strings.Cut(text, "#")
	if from == "" || isRange && to == "" {
		return location{}, fmt.Errorf("location %q: want a method, or two joined by #", text)
	}
	return location{from, to}, nil
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
			l, err := parseLocation(text)
			if err != nil {
				c.Fail("vertices."+id, "%v", err)
			}
			v.locations = append(v.locations, l)
		}
		list = append(list, v)
	}
	return list, c.Err()
}

// check returns an error if a vertex is not in exactly one pool, an edge has an
// unknown end, or a program location is in two vertices.
func (s *Specification) check() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(s.vertices) == 0 {
		fail("got no vertex: want Vertices { ID: METHOD }")
	}
	ends, mapped := map[string]bool{}, map[string]int{}
	for _, id := range s.storage {
		ends[id] = true
	}
	for _, v := range s.vertices {
		ends[v.id] = true
	}
	for _, pool := range s.pools {
		for _, id := range slices.Concat(pool.phases...) {
			mapped[id]++
			if !slices.ContainsFunc(s.vertices, func(v vertex) bool { return v.id == id }) {
				fail("task pool %s: got unknown vertex %q", pool.name, id)
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
		if e.kind == "" {
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
		vertices := slices.Concat(pool.phases...)
		for _, id := range vertices {
			number[id] = len(vertices)
		}
	}
	return number
}

// poolOf returns the number of the task pool with a vertex. It is 0 without a specification.
func (s *Specification) poolOf(id string) int {
	if s == nil {
		return 0
	}
	return slices.IndexFunc(s.pools, func(p taskPool) bool { return slices.Contains(slices.Concat(p.phases...), id) })
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
	s := &Specification{}
	ids := map[string]bool{}
	var open []string             // the headings of the blocks around a line
	whole, closed := false, false // all sections are in a block of their own, as in figure 7, and it has ended
	for _, line := range linesOf(text) {
		heading, opens := strings.CutSuffix(line.text, "{")
		var err error
		switch {
		case closed:
			err = fmt.Errorf("got %.40q after the end of Specification: want nothing", line.text)
		case line.text == "Specification {" && len(open) == 0 && !whole:
			whole = true
		case line.text == "}" && len(open) > 0:
			open = open[:len(open)-1]
		case line.text == "}" && whole:
			whole, closed = false, true
		case opens:
			open = append(open, strings.TrimSpace(heading))
			err = s.open(open)
		case len(open) == 0:
			err = noSection(line.text)
		case open[0] == "Vertex Mapping":
			err = s.phase(line.text, open)
		default:
			err = s.entry(open[0], line.text, ids)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, line.number, err)
		}
	}
	if whole {
		open = append([]string{"Specification"}, open...)
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%s: %s: got the end of the file: want }", file, open[len(open)-1])
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// mappingBlocks are the headings of Vertex Mapping and in it, by depth. How many tasks
// and threads the parentheses state does not matter: the samples say it.
var mappingBlocks = []*regexp.Regexp{
	regexp.MustCompile(`^Vertex Mapping$`),
	regexp.MustCompile(`^Task Pool(?:\s+([\w.-]+))?\s*(?:\([^()]*\))?$`),
	regexp.MustCompile(`^Phase$`),
	regexp.MustCompile(`^Thread (?:Group )?Pool\s*(?:\([^()]*\))?$`),
}

// open begins the block of the last of some headings.
func (s *Specification) open(headings []string) error {
	depth, heading := len(headings)-1, headings[len(headings)-1]
	switch {
	case depth == 0 && !slices.Contains([]string{"Input", "Output", "Vertices", "Edges", "Vertex Mapping", "Edge Mapping"}, heading):
		return noSection(heading + " {")
	case depth > 0 && (headings[0] != "Vertex Mapping" || depth >= len(mappingBlocks) || !mappingBlocks[depth].MatchString(heading)):
		return noMapping(heading, headings[depth-1])
	case depth == 1:
		name := mappingBlocks[depth].FindStringSubmatch(heading)[1]
		s.pools = append(s.pools, taskPool{name: cmp.Or(name, strconv.Itoa(1+len(s.pools)))})
	case depth == 2:
		p := &s.pools[len(s.pools)-1]
		p.phases = append(p.phases, nil)
	}
	return nil
}

func noSection(line string) error {
	return fmt.Errorf("got %q: want a section: Input {, Output {, Vertices {, Edges {, Vertex Mapping { or Edge Mapping {", line)
}

func noMapping(line, block string) error {
	return fmt.Errorf("got %q in %s: want Vertex Mapping { Task Pool { Phase { Thread Pool { VERTEX, ... } } } }", line, block)
}

// phase adds the vertices of a thread pool, the last of some headings, to the last phase.
func (s *Specification) phase(line string, headings []string) error {
	if len(headings) != len(mappingBlocks) {
		return noMapping(line, headings[len(headings)-1])
	}
	phases := s.pools[len(s.pools)-1].phases
	for id := range strings.SplitSeq(line, ",") {
		phases[len(phases)-1] = append(phases[len(phases)-1], strings.TrimSpace(id))
	}
	return nil
}

// entry adds "ID: VALUE" of a section. All sections but Edge Mapping introduce the id.
func (s *Specification) entry(section, line string, ids map[string]bool) error {
	id, value, ok := strings.Cut(line, ":")
	id, value = strings.TrimSpace(id), strings.TrimSpace(value)
	if !ok || !isID(id) || value == "" {
		return fmt.Errorf("got %q: want ID: VALUE", line)
	}
	if section == "Edge Mapping" {
		i := slices.IndexFunc(s.edges, func(e edge) bool { return e.id == id })
		if i < 0 {
			return fmt.Errorf("got unknown edge %q", id)
		}
		kind, endpoint, _ := strings.Cut(value, ",")
		kind, endpoint = strings.TrimSpace(kind), strings.TrimSpace(endpoint)
		if kind == "" || !slices.Contains(endpoints, endpoint) {
			return fmt.Errorf("%s: got %q: want TYPE, ENDPOINT with endpoint one of %s", id, value, strings.Join(endpoints, ", "))
		}
		s.edges[i].kind = kind
		return nil
	}
	if ids[id] {
		return fmt.Errorf("got %s twice: want each id once", id)
	}
	ids[id] = true
	switch section {
	case "Vertices":
		v := vertex{id: id}
		for alternative := range strings.SplitSeq(value, "|") {
			l, err := parseLocation(strings.TrimSpace(alternative))
			if err != nil {
				return fmt.Errorf("%s: got %w", id, err)
			}
			v.locations = append(v.locations, l)
		}
		s.vertices = append(s.vertices, v)
	case "Edges":
		from, to, ok := strings.Cut(value, "->")
		if !ok {
			return fmt.Errorf("%s: got %q: want FROM -> TO", id, value)
		}
		s.edges = append(s.edges, edge{id: id, from: strings.TrimSpace(from), to: strings.TrimSpace(to)})
	default:
		s.storage = append(s.storage, id)
	}
	return nil
}

func isID(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
