package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompareMeasured compares a scenario with runs that its own simulation has
// written: the same seed gives the same times, and three seeds give an interval. A
// run on other nodes, or with other reduces, is not one of the scenario's.
func TestCompareMeasured(t *testing.T) {
	dir := t.TempDir()
	asked, runs := filepath.Join(dir, "asked.toml"), filepath.Join(dir, "runs")
	if err := os.WriteFile(asked, []byte(`fidelity = "device"
[cluster]
nodes = 3
platform = "dl145-g3"
map_slots = 2
reduce_slots = 2
[[job]]
name = "sort"
profile = "terasort"
input = "512 MB"
reduces = 4
`), 0o666); err != nil {
		t.Fatal(err)
	}
	do := func(args ...string) string {
		t.Helper()
		code, out, stderr := call("", args...)
		if code != exitDone {
			t.Fatalf("%v: %s", args, stderr)
		}
		return out
	}
	for i, seed := range []string{"1", "2", "3"} {
		do("run", asked, "--seed", seed, "--quiet", "--out", filepath.Join(runs, seed))
		if i == 0 {
			out := filepath.Join(dir, "one")
			text := do("compare", asked, "--seed", "1", "--set=models.causes=false", "--measured", runs, "--out", out)
			if !strings.Contains(text, "\nmeasured ") || !strings.Contains(text, "+0.0 %\n") {
				t.Errorf("the measured run is not the simulated one:\n%s", text)
			}
			for _, row := range rowsOf(t, filepath.Join(out, "predictions.csv")) {
				if row["model"] == "measured" && row["part"] != "job" && row["mean_ns"] != row["reference_ns"] {
					t.Errorf("%s %s %s: %s: want that of the simulation, %s", row["part"], row["kind"], row["phase"], row["mean_ns"], row["reference_ns"])
				}
			}
			for _, picture := range []string{"prediction.svg", "phases.svg"} {
				if svg, err := os.ReadFile(filepath.Join(out, picture)); err != nil || !strings.Contains(string(svg), ">measured<") {
					t.Errorf("%s does not show the measured run (%v)", picture, err)
				}
			}
		}
	}
	text := do("compare", asked, "--set=models.causes=false", "--measured", runs, "--baseline", "measured")
	if !strings.Contains(text, "measured: mean of 3 runs") || !strings.Contains(text, "against measured") {
		t.Errorf("three runs:\n%s", text)
	}
	text = do("compare", asked, "--set=models.causes=false", "--measured", runs, "--over", "reduces=3:5:1")
	if n := strings.Count(text, "\n"); !strings.Contains(text, "simulation  measured") || n == 0 {
		t.Errorf("over reduces:\n%s", text)
	}
	for _, line := range strings.Split(text, "\n") {
		if cells := strings.Fields(line); len(cells) > 3 && (cells[0] == "3" || cells[0] == "5") && strings.Contains(cells[3], "+") {
			t.Errorf("measured with %s reduces: %s", cells[0], line)
		}
	}
	for _, set := range []string{"cluster.nodes=2", "job.0.reduces=5", `job.0.name="other"`} {
		if text := do("compare", asked, "--set=models.causes=false", "--measured", runs, "--set", set); !strings.Contains(text, "n/a: no recorded run has the jobs") {
			t.Errorf("%s:\n%s", set, text)
		}
	}
	if code, _, stderr := call("", "compare", asked, "--measured", filepath.Join(dir, "nothing")); code != exitInput {
		t.Errorf("exit %d, %s: want 2", code, stderr)
	}
}
