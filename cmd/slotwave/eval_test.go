package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/shareddata"
	"github.com/slotwave/slotwave/model/vectortest"
)

// shared is the path of a file of the references and measured data.
func shared(t testing.TB, name string) string {
	t.Helper()
	return shareddata.Path(t, name)
}

// call runs the program.
func call(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = (&app{stdout: &out, stderr: &errs, stdin: strings.NewReader(stdin)}).run(args)
	return code, out.String(), errs.String()
}

func TestEvalVectors(t *testing.T) {
	for _, v := range vectortest.Read(t, shared(t, "reference/model-vectors.json")).Vectors {
		t.Run(v.ID, func(t *testing.T) {
			code, out, errs := call(string(v.In), "platform", "eval", v.Model)
			if code != exitDone || errs != "" {
				t.Fatalf("exit %d: %s", code, errs)
			}
			var got any
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if d := vectortest.Diff(got, v.Out, v.Tol); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEvalErrors(t *testing.T) {
	for _, test := range []struct {
		model, in, want string
	}{
		{"merg", `{}`, `did you mean "merge"?`},
		{"merge", `{"N": 3, "F": 1}`, "F: 1: want"},
		{"merge", `{"N": 3}`, "F"},
		{"merge", `{"N": 3, "F": 10, "G": 1}`, "unknown field"},
		{"merge", ``, "merge: got no fields: want a JSON object"},
		{"phases", ``, "phases: got no fields"},
		{"phases", " {\n}", "phases: got no fields"},
		{"waves", `{"M": 1, "R": 0, "S_M": 0, "S_R": 1, "map": 1}`, "S_M"},
		{"phases", `{"mode": "literal", "set": {"dsMapSizeSel": -1}}`, "dsMapSizeSel"},
	} {
		code, out, errs := call(test.in, "platform", "eval", test.model)
		if code != exitInput || out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("eval %s %s: exit %d, %q, %q; want exit %d and %q", test.model, test.in, code, out, errs, exitInput, test.want)
		}
	}
	if code, _, errs := call("", "platform", "eval"); code != exitInput || !strings.Contains(errs, "--list") {
		t.Errorf("eval without a model: exit %d, %q", code, errs)
	}
}

func TestEvalList(t *testing.T) {
	code, out, _ := call("", "platform", "eval", "--list")
	names := strings.Fields(out)
	if code != exitDone || !slices.IsSorted(names) || len(slices.Compact(names)) != len(evaluators) || !slices.Contains(names, "phases") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// The page of each model names its fields, fits 80 columns, and has an example
// that the model answers. Every unit is that of a field.
func TestEvalHelp(t *testing.T) {
	for i := range evaluators {
		e := &evaluators[i]
		_, page, _ := call("", "platform", "eval", e.Name, "--help")
		if _, again, _ := call("", "help", "platform", "eval", e.Name); again != page || page == "" {
			t.Errorf("help eval %s differs from eval %s --help", e.Name, e.Name)
		}
		for line := range strings.Lines(page) {
			if len(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%s: more than 80 columns: %s", e.Name, line)
			}
		}
		_, example, _ := strings.Cut(page, "<<'END'\n")
		example, _, found := strings.Cut(example, "END\n")
		if code, _, stderr := call(example, "platform", "eval", e.Name); !found || code != exitDone {
			t.Errorf("%s: exit %d: %s for the example %s", e.Name, code, stderr, example)
		}
		for _, f := range e.Fields() {
			if f.Kind == "" || strings.HasSuffix(f.Kind, " s") {
				t.Errorf("%s: %s is %q", e.Name, f.Name, f.Kind)
			}
		}
	}
}
