package sim_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/sim"
)

const vectors = "testdata/vectors.json"

func TestVectors(t *testing.T) { vectortest.Run(t, sim.Evaluators, vectors) }

func TestVectorsAgreeWithReference(t *testing.T) { vectortest.Agree(t, vectors, sim.Evaluators) }

func TestEvaluatorsTortured(t *testing.T) { vectortest.Torture(t, vectors, sim.Evaluators) }

func TestEvaluatorsSorted(t *testing.T) {
	if !slices.IsSortedFunc(sim.Evaluators, func(a, b model.Evaluator) int { return cmp.Compare(a.Name, b.Name) }) {
		t.Error("sim.Evaluators is not sorted by name")
	}
}

// What is wrong is named, with the model before it.
func TestEvaluatorErrors(t *testing.T) {
	for _, c := range []struct{ model, in, want string }{
		{"disk", `{"rates": {"read": 1}, "jobs": [[0, 1, "write"]], "model": {"kind": "none"}}`, "disk: jobs[0].kind: rates.write: missing"},
		{"disk", `{"rates": {"read": 1}, "jobs": [[0, 1]], "model": {"kind": "none"}}`, "disk: jobs[0]: want 3 values, got 2"},
		{"disk", `{"rates": {"read": 1}, "jobs": [[0, "x", "read"]], "model": {"kind": "none"}}`, "jobs[0].bytes: want a number"},
		{"disk", `{"rates": {"read": 1}, "jobs": [[0, 1e12, "read"]], "model": {"kind": "none"}}`, "jobs[0]: does not end"},
		{"disk", `{"rates": {"read": 1}, "jobs": [], "model": {"kind": "linear"}}`, "model.alpha: missing"},
		{"disk", `{"rates": {"read": 1}, "jobs": [], "model": {"kind": "liner"}}`, `did you mean "linear"?`},
		{"maxmin", `{"capacity": {"a": 1}, "flows": [{"links": ["b"]}]}`, "maxmin: flows[0].links: capacity.b: missing"},
		{"maxmin", `{"capacity": {"a": 1}, "flows": [{"links": []}]}`, "flows[0]: nothing limits it"},
		{"maxmin", `{"capacity": {"a": 1}, "flows": [{"links": ["a"], "weight": 0}]}`, "flows[0].weight: 0"},
		{"flows", `{"capacity": {"a": 1}, "flows": [{"at": -1, "bytes": 1, "links": ["a"]}]}`, "flows[0].at: -1"},
		{"pipeline", `{"rack": {"w": "r"}, "capacity": {"tx:w": 1, "rx:w": 1, "up:r": 1, "down:r": 1}, "paths": [["w"]]}`, "capacity.disk:w: missing"},
		{"pipeline", `{"rack": {}, "capacity": {"disk:w": 1}, "paths": [["w"], []]}`, "rack.w: missing"},
	} {
		i := slices.IndexFunc(sim.Evaluators, func(e model.Evaluator) bool { return e.Name == c.model })
		if _, err := sim.Evaluators[i].Eval([]byte(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: error %v, want one with %q", c.model, c.in, err, c.want)
		}
	}
}
