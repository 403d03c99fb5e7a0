package input_test

import (
	"math"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/input"
)

type inner struct {
	X float64 `json:"X"`
	Y float64 `json:"y,omitempty"`
}

type common struct {
	Count int `json:"count" unit:"tasks"`
}

type question struct {
	common
	inner  `json:"inner"`
	Name   string             `json:"name"`
	List   []float64          `json:"list" input:"scalar"`
	Pair   [2]float64         `json:"pair"`
	Flag   bool               `json:"flag"`
	Limit  *float64           `json:"limit"`
	Series map[string]float64 `json:"series"`
	Part   inner              `json:"part,omitempty" input:"partial"`
	Skip   int                `json:"-"`
}

const good = `{"count": 3.0, "inner": {"X": 1}, "name": "a", "list": [1, 2], "pair": [1, 2],
	"flag": true, "limit": null, "series": {"n1": 0.5}}`

func TestDecode(t *testing.T) {
	q := question{Part: inner{X: 7, Y: 8}}
	in := strings.Replace(good, `"flag"`, `"part": {"y": 9}, "flag"`, 1)
	if err := input.Decode([]byte(in), &q); err != nil {
		t.Fatal(err)
	}
	if q.Count != 3 || q.X != 1 || q.Name != "a" || len(q.List) != 2 || q.Pair[1] != 2 || !q.Flag ||
		q.Limit != nil || q.Series["n1"] != 0.5 || q.Part != (inner{X: 7, Y: 9}) {
		t.Errorf("decoded %+v", q)
	}
}

func TestDecodeScalar(t *testing.T) {
	var q question
	if err := input.Decode([]byte(strings.Replace(good, "[1, 2]", "5", 1)), &q); err != nil {
		t.Fatal(err)
	}
	if len(q.List) != 1 || q.List[0] != 5 {
		t.Errorf("list %v, want [5]", q.List)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"count": 3.0, `, ``, "count: missing"},
		{`3.0`, `3.5`, "count: want a whole number"},
		{`3.0`, `1e300`, "count: 1e300 is out of range"},
		{`3.0`, `null`, "count: want a whole number, got null"},
		{`3.0`, `"3"`, "count: want a whole number, got a string"},
		{`"count"`, `"Count"`, `Count: unknown field; did you mean "count"?`},
		{`"count"`, `"entirely different"`, "unknown field; want one of count"},
		{`{"X": 1}`, `{"X": 1, "x": 2}`, "inner.x: unknown field"},
		{`{"X": 1}`, `{"X": 1e999}`, "inner.X: 1e999 is out of range"},
		{`{"X": 1}`, `{"X": NaN}`, "not JSON"},
		{`{"X": 1}`, `7`, "inner: want an object, got a number"},
		{`"a"`, `1`, "name: want a string, got a number"},
		{`true`, `1`, "flag: want true or false, got a number"},
		{`[1, 2], "pair"`, `null, "pair"`, "list: want a list, got null"},
		{`[1, 2], "pair"`, `[1, "b"], "pair"`, "list[1]: want a number, got a string"},
		{`"pair": [1, 2]`, `"pair": [1]`, "pair: want 2 values, got 1"},
		{`{"n1": 0.5}`, `{"n1": null}`, "series.n1: want a number, got null"},
		{`{"n1": 0.5}`, `[]`, "series: want an object, got a list"},
		{`"flag": true`, `"flag": true, "flag": true`, `"flag" is given twice`},
		{`{"n1": 0.5}}`, `{"n1": 0.5}`, "ends too early"},
		{`{"n1": 0.5}}`, `{"n1": 0.5}} 1`, "more than one JSON value"},
		{`{"n1": 0.5}`, strings.Repeat("[", 1<<20), "deeper than"},
	} {
		var q question
		in := strings.Replace(good, c.old, c.new, 1)
		if in == good {
			t.Fatalf("%q is not in the example", c.old)
		}
		if err := input.Decode([]byte(in), &q); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: error %v, want one with %q", c.new, c.old, err, c.want)
		}
	}
}

// Everything wrong is reported at once.
func TestDecodeReportsAll(t *testing.T) {
	var q question
	err := input.Decode([]byte(`{"name": 1, "flag": 2, "oops": 3}`), &q)
	for _, want := range []string{"count: missing", "inner: missing", "name: want", "flag: want", "oops: unknown"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want it to have %q", err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		run  func(*input.Check)
		want string // empty: no error
	}{
		{"number", func(c *input.Check) { c.Number("v", -3) }, ""},
		{"NaN", func(c *input.Check) { c.Number("v", nan) }, "v: missing"},
		{"infinite", func(c *input.Check) { c.Number("v", inf) }, "v: +Inf: want a finite number"},
		{"at least", func(c *input.Check) { c.AtLeast("v", 2, 2) }, ""},
		{"below", func(c *input.Check) { c.AtLeast("v", 1, 2) }, "v: 1: want 2 or more"},
		{"above", func(c *input.Check) { c.Above("v", 2, 2) }, "v: 2: want more than 2"},
		{"within", func(c *input.Check) { c.Within("v", 1, 0, 1) }, ""},
		{"beyond", func(c *input.Check) { c.Within("v", 1.5, 0, 1) }, "v: 1.5: want 0 to 1"},
		{"part", func(c *input.Check) { c.Part("v", 1) }, ""},
		{"no part", func(c *input.Check) { c.Part("v", 0) }, "v: 0: want more than 0"},
		{"count", func(c *input.Check) { c.Count("v", 1, 1) }, ""},
		{"no count", func(c *input.Check) { c.Count("v", 0, 1) }, "v: 0: want 1 or more"},
		{"huge count", func(c *input.Check) { c.Count("v", math.MaxInt, 1) }, "want at most 2^53"},
		{"short list", func(c *input.Check) { c.List("v", []float64{1}, 2, 0) }, "v: 1 values: want 2 or more"},
		{"bad item", func(c *input.Check) { c.List("v", []float64{1, nan}, 2, 0) }, "v[1]: missing"},
	} {
		var check input.Check
		c.run(&check)
		err := check.Err()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestFinite(t *testing.T) {
	type answer struct {
		A float64
		B []float64
		C map[string]float64
		D *float64
		E any
	}
	inf := math.Inf(1)
	for _, c := range []struct {
		v    answer
		want string
	}{
		{answer{A: 1, B: []float64{2}, C: map[string]float64{"n": 3}}, ""},
		{answer{A: math.NaN()}, "A is NaN"},
		{answer{B: []float64{0, inf}}, "B[1] is +Inf"},
		{answer{C: map[string]float64{"n": inf}}, "C.n is +Inf"},
		{answer{D: &inf}, "D is +Inf"},
		{answer{E: inf}, "E is +Inf"},
	} {
		err := input.Finite(c.v)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: error %v, want %q", c.v, err, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"count":[[[]]]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var q question
		_ = input.Decode(in, &q)
	})
}
