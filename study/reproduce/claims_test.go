package reproduce

import (
	"errors"
	"fmt"
	"go/parser"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

var rangeHasSource = regexp.MustCompile("^(section [IVX0-9]|Hadoop's default|HiBench|measured: |assumed: )")

// Every range has a source, every experiment opens, and no claim counts what another
// one does.
func TestClaimsAreWellFormed(t *testing.T) {
	papers, err := Papers()
	if err != nil {
		t.Fatal(err)
	}
	r, end, err := start(Reproducing{})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	seen := map[string]string{}
	for i := range papers {
		p := &papers[i]
		data, err := claimFiles.ReadFile("claims/" + p.Name + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		if meta, err := toml.Decode(string(data), new(Paper)); err != nil || len(meta.Undecoded()) > 0 {
			t.Errorf("%s: %v: unknown keys %v", p.Name, err, meta.Undecoded())
		}
		ids := map[string]bool{}
		for k := range p.Experiment {
			e := &p.Experiment[k]
			for _, u := range e.Inputs {
				if u.Name == "" || !isNumber(u.Factor["from"]) || !isNumber(u.Factor["to"]) {
					t.Errorf("%s, %s, %q: want a name, and a factor from a number to another", p.Name, e.Name, u.Name)
				}
				if !rangeHasSource.MatchString(u.Source) {
					t.Errorf("%s, %s, %s: %q: want a section, Hadoop's default, or assumed", p.Name, e.Name, u.Name, u.Source)
				}
			}
			if e.Scenario != "" {
				if _, err := r.sampled(e); err != nil {
					t.Errorf("%s, %s: %v", p.Name, e.Name, err)
				}
			}
			if e.Procedure != "" && procedures[e.Procedure].tables == nil {
				t.Errorf("%s, %s: no procedure %q", p.Name, e.Name, e.Procedure)
			}
			for _, c := range e.Claim {
				if err := c.check(); err != nil || ids[c.ID] {
					t.Errorf("%s, %s: %q: %v: want another id", p.Name, e.Name, c.ID, err)
				}
				ids[c.ID] = true
				says := strings.Join(c.Measure, ";") + e.Scenario + strings.Join(c.Says, ";")
				if other := seen[says]; other != "" && c.Beyond == "" {
					t.Errorf("%s: %s counts what %s counts", p.Name, c.ID, other)
				}
				seen[says] = c.ID
			}
		}
	}
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}

// check says what a claim of a file lacks.
func (c *Claim) check() error {
	switch {
	case c.ID == "" || c.Place == "" || c.Text == "":
		return errors.New("want an id, a place and a text")
	case c.Beyond != "" && len(c.Measure) > 0:
		return errors.New("measure: a claim beyond a simulator has none")
	case c.Beyond != "":
		return nil
	case len(c.Measure) == 0 || len(c.Measure) != len(c.Says):
		return fmt.Errorf("got %d measures for %d printed numbers: want as many", len(c.Measure), len(c.Says))
	}
	for _, says := range c.Says {
		if _, err := readPublished(says); err != nil {
			return err
		}
	}
	for _, m := range c.measures() {
		if _, err := parser.ParseExpr(m); err != nil {
			return fmt.Errorf("measure: %q: %w", m, err)
		}
	}
	if c.Shown != "" {
		_, _, _, err := c.shows()
		return err
	}
	return nil
}

// The applications have the maps and reduces of Table 2 of the paper: on five workers,
// then on 64. The last two have one row.
func TestZhangLoads(t *testing.T) {
	const table2 = `
TeraSort 44 20 495 240
WordCount 44 20 788 240
Grep 44 1 788 1
InvertedIndex 44 20 788 240
RankedInvertedIndex 40 20 745 240
TermVector 44 20 788 240
SequenceCount 44 20 788 240
SelfJoin 32 20 448 240
AdjacencyList 44 20 508 240
HistogramMovies 56 1 428 1
HistogramRatings 56 1 428 1
Classification 56 16 428 50
KMeans 56 16 428 50
`
	got := "\n"
	for _, a := range zhangApplications {
		got += fmt.Sprintln(a.name, a.small.maps, a.small.reduces, a.large.maps, a.large.reduces)
	}
	if got != table2 {
		t.Errorf("got:%swant:%s", got, table2)
	}
}

func TestPublishedNumbers(t *testing.T) {
	for _, test := range []struct {
		says string
		in   []float64
		out  []float64
	}{
		{"about 6", []float64{5.4, 6, 6.6}, []float64{5.39, 6.61, math.NaN()}},
		{"exactly 3", []float64{3}, []float64{3.001, math.NaN()}},
		{"more than 49", []float64{49.01}, []float64{49, math.NaN()}},
		{"less than 5 (ours)", []float64{4.99}, []float64{5, math.NaN()}},
		{"from 0 to 18", []float64{0, 18}, []float64{-0.1, 18.1, math.NaN()}},
	} {
		p, err := readPublished(test.says)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range test.in {
			if !p.holds(v) {
				t.Errorf("%s: %v does not hold", test.says, v)
			}
		}
		for _, v := range test.out {
			if p.holds(v) {
				t.Errorf("%s: %v holds", test.says, v)
			}
		}
	}
	for _, bad := range []string{"", "about", "about six", "roughly 6", "from 1 to"} {
		if _, err := readPublished(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestMeasure(t *testing.T) {
	rows := []row{
		cells{"node": "slow1", "start": 0.0, "finish": 4.0, "spills": 1.0},
		cells{"node": "even1", "start": 1.0, "finish": 3.0, "spills": 2.0},
		cells{"node": "even1", "start": 2.0, "finish": 5.0, "spills": 3.0},
	}
	var line []row
	for i := range 20 {
		x := float64(i)
		line = append(line, cells{"x": x, "y": x + 3*math.Max(0, x-9.5)})
	}
	all := tables{"a": {"maps": rows}, "b": {"maps": rows[:1], "line": line}}
	for measure, want := range map[string]float64{
		`mean(a.maps, finish - start)`:                                3,
		`max(a.maps[node == "even1"], finish) / count(a.maps)`:        5.0 / 3,
		`together(a.maps, node)`:                                      2,
		`median(all.maps, spills)`:                                    1.5,
		`sum(first(a.maps, -start, 2), spills)`:                       5,
		`count(a.maps[start > mean(a.maps, start)])`:                  1,
		`abs(min(a.maps, start) - 2)`:                                 2,
		`mean(a.maps[node == "none"], start)`:                         math.NaN(),
		`count(a.maps[node != "slow1" && (spills < 3 || start > 5)])`: 1,
		`breaks(b.line, x, y)`:                                        9.5,
		`steeper(b.line, x, y)`:                                       4,
	} {
		got, err := all.measure(expression(measure))
		if err != nil || math.Abs(got-want) > 1e-9 && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s = %v, %v: want %v", measure, got, err, want)
		}
	}
	for measure, want := range map[string]string{
		`mean(maps, start)`:       "name of a run",
		`mean(a.jobs, start)`:     "no such table",
		`mean(a.maps, colour)`:    "neither a column nor a table",
		`mode(a.maps, start)`:     "not a function",
		`a.maps`:                  "want a number",
		`mean(a.maps, node + 1)`:  "want two numbers",
		`count(a.maps[start])`:    "want a condition",
		`mean(a.maps, "x" < "y")`: "want two numbers",
	} {
		if _, err := all.measure(expression(measure)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %q", measure, err, want)
		}
	}
}

// The verdict follows from the points alone, and the area names the input that decides.
func TestVerdicts(t *testing.T) {
	e := Experiment{Name: "x", Inputs: []Unknown{{Name: "slots"}, {Name: "nodes"}}}
	e.Claim = []Claim{
		{ID: "some", Says: []string{"more than 5"}, Measure: []string{"v"}},
		{ID: "all", Says: []string{"more than 0"}, Measure: []string{"v"}},
		{ID: "none", Says: []string{"about 50"}, Measure: []string{"v"}, Cause: "why"},
		{ID: "beyond", Beyond: "a sentence"},
	}
	var points []point
	for i, nodes := range []string{"7", "5", "8", "6", "9", "7", "6", "8"} {
		v := float64(2 + i)
		points = append(points, point{Inputs: []string{figures(v), nodes}, Values: []float64s{{v}, {v}, {v}, {}}})
	}
	got := e.judged("p", points)
	for i, want := range []string{Depends, Reproduced, NotReproduced, Beyond} {
		if got[i].Verdict != want {
			t.Errorf("%s: %s: want %s", got[i].Claim.ID, got[i].Verdict, want)
		}
	}
	if area := got[0].Area(); !strings.HasPrefix(area, "slots 6 to 9 (false at 2 to 5)") {
		t.Errorf("area %q", area)
	}
	if got[0].Share() != "4 of 8" || got[2].Cause() != "not shown: why" || got[1].Cause() != "" || got[0].Simulated() != "2 to 9" {
		t.Errorf("%q, %q, %q, %q", got[0].Share(), got[2].Cause(), got[1].Cause(), got[0].Simulated())
	}
	if charts := got[0].charts(); len(charts) != 2 || len(got[1].charts()) != 0 {
		t.Errorf("%d charts of a claim that depends: want its value and its area", len(charts))
	}
}

// A claim that holds at no point, with values on both sides of the printed one, depends
// if it holds between two points, and not if the values jump.
func TestSeek(t *testing.T) {
	factor := map[string]any{"key": "k", "from": int64(1), "to": int64(100), "scale": "log"}
	for _, test := range []struct {
		what, says string
		value      func(x float64) float64
		verdict    string
	}{
		{"a line", "about 30", func(x float64) float64 { return x }, Depends},
		{"a line that falls", "exactly -25", func(x float64) float64 { return -x }, Depends},
		{"a jump", "about 30", func(x float64) float64 { return 100 * math.Floor(x/25) }, NotReproduced},
		{"one side", "about 300", func(x float64) float64 { return x }, NotReproduced},
		{"more", "more than 100", func(x float64) float64 { return x }, NotReproduced},
		{"no value", "about 30", func(float64) float64 { return math.NaN() }, NotReproduced},
	} {
		e := Experiment{Name: "x", Inputs: []Unknown{{Name: "slots", Factor: factor}}, Claim: []Claim{{ID: "c", Says: []string{test.says}, Measure: []string{"v"}}}}
		asked := 0
		answer := func(p *point) error {
			asked++
			p.Values = []float64s{{test.value(mustParse(p.Inputs[0]))}}
			return nil
		}
		points := make([]point, 4)
		for i, x := range []string{"2", "10", "60", "90"} {
			points[i].Inputs = []string{x}
			answer(&points[i])
		}
		a := e.judged("p", points)[0]
		if err := a.seek(&e, 0, answer); err != nil {
			t.Fatal(err)
		}
		if a.Verdict != test.verdict || a.True != 0 || asked > 4+maxWays*maxHalvings {
			t.Errorf("%s: %s, true at %s, %d points: want %s", test.what, a.Verdict, a.Share(), asked, test.verdict)
		}
		if found := a.Area(); a.Verdict == Depends && !strings.HasPrefix(found, "between points: slots ") {
			t.Errorf("%s: area %q", test.what, found)
		}
		if sought := strings.HasPrefix(a.Area(), "not found"); sought != (test.what == "a jump") {
			t.Errorf("%s: area %q", test.what, a.Area())
		}
	}
}

// A chart of values has those of the measure that fails most, and a chart of an area
// every point. An axis has marks below zero.
func TestCharts(t *testing.T) {
	e := Experiment{Name: "x", Inputs: []Unknown{{Name: "slots"}, {Name: "nodes"}}}
	e.Claim = []Claim{{ID: "two", Says: []string{"more than 0", "from -2 to 5"}, Measure: []string{"v", "w"}}}
	var points []point
	for i, w := range []float64{math.NaN(), -3, 1, 7} {
		points = append(points, point{Inputs: []string{figures(float64(i)), figures(float64(7 - i))}, Values: []float64s{{1, w}}})
	}
	answers := e.judged("p", points)
	charts := answers[0].charts()
	var y []float64
	for _, s := range charts[0].Series {
		y = append(y, s.Y...)
	}
	if want := []float64{1, -3, 7, -2, -2, 5, 5}; !slices.Equal(y, want) || charts[0].Series[3].Name != "" {
		t.Errorf("values %v: want %v, and one name for both lines", y, want)
	}
	if n := len(charts[1].Series[0].X) + len(charts[1].Series[1].X); n != 4 {
		t.Errorf("%d points in the area: want 4", n)
	}
	// As many racks make the claim true as false, so they part no points.
	e.Inputs = append(e.Inputs, Unknown{Name: "racks"})
	e.Claim[0].Says[1] = "from 1 to 9"
	for i, others := range [][]string{{"8", "3"}, {"5", "1"}, {"9", "1"}, {"6", "3"}} {
		points[i].Inputs = append(points[i].Inputs[:1], others...)
	}
	a := e.judged("p", points)[0]
	if area := a.charts()[1]; area.X != "slots" || area.Y != "nodes" {
		t.Errorf("area over %s and %s: want slots and nodes", area.X, area.Y)
	}
	marks := charts[0].figure().Panels[0].Y.Tick.Marker.Ticks(0, 0)
	if len(marks) < 5 || marks[0].Value >= 0 {
		t.Errorf("marks %v: want some below zero", marks)
	}
}

// A journal gives the finished points again, and goes on after a line that was cut off.
func TestJournal(t *testing.T) {
	dir := t.TempDir()
	j, f, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.add(journalLine{"a", []float64s{{1.5, math.NaN()}}}); err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"key": "b", "val`)
	f.Close()
	for range 2 {
		j, f, err = openJournal(dir)
		if err != nil {
			t.Fatal(err)
		}
		v, ok := j.find("a")
		if _, other := j.find("b"); !ok || other || v[0][0] != 1.5 || !math.IsNaN(v[0][1]) {
			t.Errorf("found %v", v)
		}
		f.Close()
	}
}
