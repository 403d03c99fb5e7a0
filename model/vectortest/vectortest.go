// Package vectortest checks evaluators against worked examples, for the tests
// of model and diagnose.
package vectortest

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slotwave/slotwave/internal/approx"
	"github.com/slotwave/slotwave/internal/shareddata"
	"github.com/slotwave/slotwave/model"
)

// Vector is one worked example of one model.
type Vector struct {
	ID    string          `json:"id"`
	Model string          `json:"model"`
	Tol   float64         `json:"tol"`
	In    json.RawMessage `json:"in"`
	Out   any             `json:"out"`
}

// File is a set of vectors, with the common parameters of questions to the phase
// model.
type File struct {
	PhasesDefaults map[string]any `json:"phases_defaults,omitempty"`
	Vectors        []Vector       `json:"vectors"`
}

// Read reads a file of vectors.
func Read(t *testing.T, path string) File {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var f File
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return f
}

// Run answers every vector of the files and compares the answers.
func Run(t *testing.T, evaluators []model.Evaluator, paths ...string) {
	var all []Vector
	for _, path := range paths {
		all = append(all, Read(t, path).Vectors...)
	}
	seen := map[string]bool{}
	for _, v := range all {
		seen[v.Model] = true
		t.Run(v.ID, func(t *testing.T) {
			i := slices.IndexFunc(evaluators, func(e model.Evaluator) bool { return e.Name == v.Model })
			if i < 0 {
				t.Fatalf("no evaluator %q", v.Model)
			}
			answer, err := evaluators[i].Eval(v.In)
			if err != nil {
				t.Fatal(err)
			}
			if d := Diff(Plain(t, answer), v.Out, v.Tol); d != "" {
				t.Error(d)
			}
		})
	}
	for _, e := range evaluators {
		if !seen[e.Name] {
			t.Errorf("no vector for %s", e.Name)
		}
	}
}

// Plain converts an answer to the values that JSON decoding gives.
func Plain(t *testing.T, answer any) any {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

// extra names the fields of answers that the reference does not work out: those
// of the phase model's report for which it prints no equation. TestCombineCounts
// and TestErrata/E12 of model/analytic compare them with worked numbers.
var extra = []string{"dCombineInRecs", "dCombineOutRecs", "cSetupPhaseTime", "cCleanupPhaseTime"}

// Diff says how two values read from JSON differ; empty: in nothing. Numbers may differ by
// tol*max(1, |a|, |b|). Fields of extra are left out.
func Diff(got, want any, tol float64) string {
	return cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return approx.Within(a, b, tol) }),
		cmpopts.IgnoreMapEntries(func(field string, _ any) bool { return slices.Contains(extra, field) }))
}

// Agree compares a shipped copy of the vectors with the reference, if the
// directory of references lies next to the module. It skips the test only if
// there is no such directory. Every reference vector of the models in
// evaluators must be in the copy.
func Agree(t *testing.T, path string, evaluators []model.Evaluator) {
	reference, ours := Read(t, shareddata.Path(t, "reference/model-vectors.json")), Read(t, path)
	var want []Vector
	for _, v := range reference.Vectors {
		if slices.ContainsFunc(evaluators, func(e model.Evaluator) bool { return e.Name == v.Model }) {
			want = append(want, v)
		}
	}
	if len(want) == 0 {
		t.Fatal("the reference has no vector for these models")
	}
	if d := cmp.Diff(Plain(t, want), Plain(t, ours.Vectors)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(reference.PhasesDefaults, ours.PhasesDefaults); ours.PhasesDefaults != nil && d != "" {
		t.Error(d)
	}
}
