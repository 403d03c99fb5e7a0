package analytic

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/approx"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/vectortest"
)

func TestEvaluatorsTortured(t *testing.T) { vectortest.Torture(t, vectors, Evaluators) }

func eval(t *testing.T, name, in string) (any, error) {
	t.Helper()
	i := slices.IndexFunc(Evaluators, func(e model.Evaluator) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("no evaluator %q", name)
	}
	out, err := Evaluators[i].Eval([]byte(in))
	if err != nil {
		return nil, err
	}
	return vectortest.Plain(t, out), nil
}

// What is wrong is named, with the model before it.
func TestEvaluatorErrors(t *testing.T) {
	for _, c := range []struct{ model, in, want string }{
		{"merge", `{"N": 10, "F": 1}`, "merge: F: 1: want 2 or more"},
		{"merge", `{"N": 2.5, "F": 10}`, "N: want a whole number"},
		{"merge", `{"N": NaN, "F": 10}`, "not JSON"},
		{"merge", `[1]`, "want an object"},
		{"merge", ``, "ends too early"},
		{"phases", `{"mode": "exact"}`, `mode: unknown "exact"`},
		{"phases", `{"set": {"pSortFactor": 1}}`, "pSortFactor: 1"},
		{"phases", `{"set": {"dsMapSizeSel": -0.5}}`, "dsMapSizeSel: -0.5"},
		{"phases", `{"set": {"pSortFacto": 10}}`, `did you mean "pSortFactor"?`},
		{"aria.bounds", `{"profile": {"N_M": 1, "N_R": 1, "M_avg": 1, "M_max": 1}, "S_M": 1, "S_R": 1}`, "Sh1_avg: missing"},
		{"aria.invert", `{"profile": {"N_M": 1, "N_R": 0, "M_avg": 1, "M_max": 1}, "deadline": 9, "bound": "best"}`, `bound: unknown "best"`},
		{"waves", `{"M": 4, "R": 1, "S_M": 2, "S_R": 1, "map": 3}`, "slowstart: missing"},
		{"robust", `{"x": [1, 2, 3], "y": [1, 2, 3], "weight": "tukey"}`, "want one of andrews, bisquare"},
		{"robust", `{"x": [1, 2, 3], "y": [1, 2, 3], "tune": 0}`, "tune: 0"},
		{"cresp.optimum", `{"beta": [1,1,1,1,1,1,1,1], "M": 4, "price_per_slot_hour": 1, "m_max": 2, "R_max": 2}`, "deadline: want either"},
		{"makespan", `{"durations": [1e308, 1e308, 1e308], "slots": 1}`, "beyond the range"},
		{"platform.job", `{"platform": {"read": [1], "collect": [1, 2], "spill": [1, 2], "merge": [1, 2], "shuffle": [1, 2], "write": [1, 2]},
			"job": {"N_map": 1, "N_red": 0, "map_sel": 1, "map_ms_per_rec": 1, "block_mb_avg": 1, "block_mb_max": 1, "block_recs_avg": 1, "block_recs_max": 1},
			"S_M": 1, "S_R": 1}`, "platform.read: 1 values"},
	} {
		if _, err := eval(t, c.model, c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: error %v, want one with %q", c.model, c.in, err, c.want)
		}
	}
}

// What may be left out, and what it then is.
func TestEvaluatorDefaults(t *testing.T) {
	for _, c := range []struct{ model, short, long string }{
		{"phases", `{}`, `{"mode": "corrected", "combineAgain": true, "set": {"pSortMB": 100}}`},
		{"merge", `{"N": 1e12, "F": 10.0}`, `{"N": 1000000000000, "F": 10}`},
		{"combine.scale", `{"sel": 0.4, "n0": 1000, "n": 100000}`, `{"sel": 0.4, "n0": 1000, "n": 100000, "least": 0}`},
		{"aria.bounds", `{"profile": {"N_M": 9, "N_R": 0, "M_avg": 1, "M_max": 1}, "S_M": 2, "S_R": 0}`,
			`{"profile": {"N_M": 9, "N_R": 0, "M_avg": 1, "M_max": 1, "R_avg": 5}, "S_M": 2, "S_R": 1, "guarded": true}`},
		{"aria.bounds", `{"profile": {"N_M": 2, "N_R": 0, "M_avg": 1, "M_max": 1}, "S_M": 9, "S_R": 0}`,
			`{"profile": {"N_M": 2, "N_R": 0, "M_avg": 1, "M_max": 1}, "S_M": 2, "S_R": 0, "guarded": false}`},
		{"robust", `{"x": [1, 2, 3, 4], "y": [1, 2, 3, 9]}`,
			`{"x": [1, 2, 3, 4], "y": [1, 2, 3, 9], "weight": "bisquare", "tune": 4.685, "nonneg": false, "leverage": false}`},
		{"segmented", `{"x": [1, 2, 3, 4, 5, 6], "y": [1, 2, 3, 9, 12, 15]}`,
			`{"x": [1, 2, 3, 4, 5, 6], "y": [1, 2, 3, 9, 12, 15], "min_pts": 3, "continuous": false, "margin": 10}`},
		{"ihp.lwlr", `{"X": [[1], [2], [3]], "y": [1, 2, 4], "query": [2], "h": 1}`,
			`{"X": [[1], [2], [3]], "y": [1, 2, 4], "query": [2], "h": 1, "intercept": true, "scale": "zscore"}`},
		{"errors", `{"measured": [10, 20], "predicted": [11, 23]}`, `{"measured": [10, 20], "predicted": [11, 23], "thresholds": [0.1, 0.15, 0.2]}`},
		{"relative", `{"source": [1, 2, 3], "target": [1, 2, 4], "query": 4}`,
			`{"source": [1, 2, 3], "target": [1, 2, 4], "query": 4, "weight": "ols"}`},
		{"waves", `{"M": 4, "R": 0, "S_M": 2, "S_R": 1, "map": 3}`,
			`{"M": 4, "R": 0, "S_M": 2, "S_R": 1, "map": [3, 3, 3, 3], "shuffle": 1, "sort": 1, "reduce": 1, "slowstart": 0}`},
	} {
		short, err := eval(t, c.model, c.short)
		if err != nil {
			t.Error(err)
			continue
		}
		long, err := eval(t, c.model, c.long)
		if err != nil {
			t.Error(err)
			continue
		}
		if d := vectortest.Diff(short, long, 1e-12); d != "" {
			t.Errorf("%s: %s", c.model, d)
		}
	}
}

// The combiner's effect at the spill only, asked through the evaluator.
func TestEvaluatorCombineAgain(t *testing.T) {
	out, err := eval(t, "phases", `{"combineAgain": false, "set": {"pUseCombine": true}}`)
	if err != nil {
		t.Fatal(err)
	}
	o := out.(map[string]any)
	if a, b := o["tIntermDataRecs"].(float64), o["dMapOutRecs"].(float64); !approx.Equal(a, 0.4*b) {
		t.Errorf("%v of %v records, want 0.4 of them", a, b)
	}
}

func FuzzEvaluators(f *testing.F) {
	for _, e := range Evaluators {
		f.Add(e.Name, []byte(`{"N": 1, "F": 2, "set": {}, "x": [1, 2], "y": [2, 3], "durations": [1], "slots": 1}`))
	}
	f.Fuzz(func(t *testing.T, name string, in []byte) {
		for _, e := range Evaluators {
			if e.Name == name {
				if out, err := e.Eval(in); err == nil {
					if _, err := json.Marshal(out); err != nil {
						t.Error(err)
					}
				}
			}
		}
	})
}
