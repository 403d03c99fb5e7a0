// Package house holds the rules of the code that a program can check.
package house

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/slotwave/slotwave/"

// arrows lists the packages that each package may import.
var arrows = map[string][]string{
	"cmd/slotwave":        {"diagnose", "docs", "model", "model/analytic", "model/fit", "model/input", "model/platform", "results", "results/points", "results/resultdir", "results/text", "scenarios", "scheduler", "sim", "study", "study/calibrate", "study/cases", "study/compare", "study/diagnosis", "study/inspect", "study/measure", "study/play", "study/predict", "study/report", "study/reproduce", "study/sensitivity", "study/size", "study/sweep", "study/tune", "workload", "workload/trace"},
	"diagnose":            {"model", "model/fit", "model/input", "scheduler", "workload"},
	"docs":                {},
	"internal/approx":     {},
	"internal/bench":      {},
	"internal/chromium":   {},
	"internal/documented": {},
	"internal/evidence":   {"internal/shareddata"},
	"internal/house":      {},
	"internal/layers":     {},
	"internal/measured":   {"internal/shareddata"},
	"internal/mutants":    {},
	"internal/shareddata": {},
	"internal/validation": {},
	"model":               {"model/input", "model/taskplan", "workload"},
	"model/analytic":      {"model", "model/fit", "model/input", "model/platform", "model/taskplan", "workload"},
	"model/fit":           {"model/input"},
	"model/input":         {},
	"model/platform":      {"model", "model/fit", "model/input", "model/taskplan", "workload"},
	"model/taskplan":      {"model/fit", "model/input", "workload"},
	"model/vectortest":    {"internal/approx", "internal/layers", "internal/shareddata", "model"},
	"results":             {"model", "model/fit", "results/figure", "results/points", "results/resultdir", "results/text", "workload"},
	"results/figure":      {"model/input", "results/resultdir", "results/text", "workload"},
	"results/points":      {"model", "model/fit", "model/input", "results/figure", "results/resultdir", "results/text", "workload"},
	"results/resultdir":   {"workload"},
	"results/text":        {"workload"},
	"scenarios":           {"model", "model/input", "model/platform", "model/taskplan", "scheduler", "scheduler/yarn", "workload", "workload/trace"},
	"scheduler":           {"model", "model/analytic", "workload"},
	"scheduler/yarn":      {"model", "workload"},
	"sim":                 {"model", "model/input", "results/text", "scheduler/yarn", "sim/engine", "sim/execute", "sim/jobtracker", "sim/mrapp", "sim/run", "sim/station", "sim/yarn", "workload"},
	"sim/engine":          {},
	"sim/execute":         {"model", "model/analytic", "model/taskplan", "sim/engine", "sim/station", "workload"},
	"sim/jobtracker":      {"model", "model/analytic", "scheduler", "sim/engine", "sim/execute", "sim/run", "workload"},
	"sim/mrapp":           {"model", "sim/engine", "sim/execute", "sim/yarn", "workload"},
	"sim/run":             {"model", "sim/engine", "sim/execute", "workload"},
	"sim/station":         {"sim/engine"},
	"sim/yarn":            {"model", "scheduler/yarn", "sim/engine"},
	"study":               {"diagnose", "model", "model/analytic", "results", "results/figure", "results/points", "results/resultdir", "results/text", "scenarios", "sim", "sim/yarn", "study/simulated", "workload", "workload/trace"},
	"study/calibrate":     {"model", "model/fit", "model/platform", "results", "results/figure", "results/resultdir", "results/text", "scenarios", "sim", "study", "workload", "workload/trace"},
	"study/cases":         {"model", "results", "results/resultdir", "scenarios", "sim", "sim/engine", "sim/yarn", "study", "workload"},
	"study/compare":       {"diagnose", "model", "model/analytic", "model/fit", "model/input", "results", "results/resultdir", "results/text", "sim", "study", "study/predict", "study/simulated", "workload", "workload/trace"},
	"study/diagnosis":     {"diagnose", "model", "results", "results/resultdir", "results/text", "scenarios", "sim", "study", "study/simulated", "workload", "workload/trace"},
	"study/inspect":       {"model", "results", "results/resultdir", "results/text", "scenarios", "study", "study/calibrate", "workload", "workload/trace"},
	"study/play":          {"results/figure", "results/resultdir", "study", "study/play/live"},
	"study/play/live":     {"diagnose", "model", "results/text", "scenarios", "sim", "study/simulated", "workload", "workload/trace"},
	"study/play/wasm":     {"study/play/live"},
	"study/predict":       {"model", "model/analytic", "results", "study"},
	"study/report":        {"diagnose", "model", "model/analytic", "results", "results/figure", "results/resultdir", "results/text", "sim", "study", "study/compare", "study/diagnosis", "study/play", "study/play/live", "study/predict", "workload"},
	"study/measure":       {"model", "results", "results/resultdir", "results/text", "scenarios", "study", "workload"},
	"study/reproduce":     {"model", "model/analytic", "model/fit", "model/input", "model/platform", "model/taskplan", "results", "results/figure", "results/resultdir", "results/text", "scenarios", "sim", "study", "study/calibrate", "study/compare", "study/predict", "study/simulated", "study/sweep", "workload"},
	"study/search":        {"model", "model/fit", "results", "sim", "study", "workload"},
	"study/sensitivity":   {"model", "model/analytic", "model/platform", "results", "results/figure", "results/resultdir", "results/text", "study", "study/predict", "study/search", "study/tune", "workload"},
	"study/simulated":     {"diagnose", "model", "workload", "workload/trace"},
	"study/size":          {"model", "model/analytic", "model/fit", "model/input", "results", "results/figure", "results/points", "results/resultdir", "results/text", "scenarios", "sim", "study", "study/measure", "study/search", "study/sweep", "workload"},
	"study/sweep":         {"model", "results/points", "results/resultdir", "results/text", "scenarios", "sim", "study", "workload"},
	"study/tune":          {"model", "model/analytic", "model/taskplan", "results", "results/resultdir", "results/text", "study", "study/search", "workload"},
	"workload":            {},
	"workload/trace":      {"workload"},
}

// Packages import only what the table allows, and say what they hold
// (docs/architecture.md); test helpers need not.
func TestImportArrows(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Doc", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Doc string
			Imports         []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		room := strings.TrimPrefix(p.ImportPath, module)
		allowed, ok := arrows[room]
		if !ok {
			t.Errorf("package %s is in no room: want it in the table of arrows", room)
		}
		if p.Doc == "" && !strings.HasPrefix(room, "internal/") {
			t.Errorf("package %s: got no comment: want what it holds", room)
		}
		for _, i := range p.Imports {
			if to, ours := strings.CutPrefix(i, module); ours && !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s: want only %v", room, to, allowed)
			}
		}
	}
}
