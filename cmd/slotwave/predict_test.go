package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Runs of a scenario over input and reduces teach the models that learn from
// runs, and tell how many nodes a deadline takes.
func TestHistoryAndDeadline(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a whole history")
	}
	dir := t.TempDir()
	const scenario = `fidelity = "phase"
[cluster]
nodes = 4
map_slots = 2
reduce_slots = 2
platform = "dl145-g3"
[scheduler]
name = "fifo"
[[job]]
name = "sort"
profile = "terasort"
input = "2 GB"
reduces = 6
`
	const vary = `[vary]
"job.0.input" = ["1 GB", "2 GB", "3 GB", "4 GB"]
"job.0.reduces" = [4, 8, 12]
`
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	asked, past, out := write("asked.toml", scenario), write("past.toml", scenario+vary), filepath.Join(dir, "out")
	if code, _, stderr := call("", "run", past, "--quiet", "--set", "plots=none", "--out", out); code != exitDone {
		t.Fatal(stderr)
	}
	code, without, stderr := call("", "predict", asked)
	if code != exitDone || !strings.Contains(without, "needs two or more recorded runs") {
		t.Fatalf("%d %s\n%s", code, stderr, without)
	}
	code, with, stderr := call("", "predict", asked, "--set", "models.history="+out)
	if code != exitDone || strings.Contains(with, "needs two or more") {
		t.Fatalf("%d %s\n%s", code, stderr, with)
	}
	code, nodes, stderr := call("", "predict", asked, "--set", "models.history="+out, "--deadline", "2m")
	if code != exitDone || !strings.Contains(nodes, "\nanswer ") || !strings.Contains(nodes, "ihp ") {
		t.Fatalf("%d %s\n%s", code, stderr, nodes)
	}
	other := write("other.toml", strings.Replace(scenario, `"sort"`, `"another"`, 1))
	if code, _, stderr := call("", "run", other, "--quiet", "--set", "plots=none", "--out", filepath.Join(dir, "other")); code != exitDone {
		t.Fatal(stderr)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{`runs of different jobs, "sort" and "another"`, []string{"--set", fmt.Sprintf("models.history=[%q, %q]", out, filepath.Join(dir, "other"))}},
		{"want two or more", []string{"--set", "models.history=" + filepath.Join(dir, "other")}},
		{"deadline: got -1s", []string{"--deadline", "-1s"}},
		{"no such file", []string{"--set", "models.history=" + filepath.Join(dir, "none")}},
	} {
		if code, _, stderr := call("", append([]string{"predict", asked}, c.args...)...); code != exitInput || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit code %d: %s", c.args, code, stderr)
		}
	}
}

// The example of the page on scenarios does what is written beside it.
func TestDocumentedHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a whole history")
	}
	_, part, found := strings.Cut(read(t, "../../docs/scenarios.md"), "\n## Inputs for models\n")
	files := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(part, -1)
	commands := regexp.MustCompile(`(?m)^    slotwave (.*)$`).FindAllStringSubmatch(part, 3)
	if !found || len(files) < 2 || len(commands) < 3 {
		t.Fatalf("%d files and %d commands", len(files), len(commands))
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"my.toml": files[0][1], "my-past.toml": files[0][1] + files[1][1]} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"", "cresp  n/a: needs runs on clusters of different sizes: all 12 runs", "\nanswer "} {
		code, out, stderr := call("", strings.Fields(commands[i][1])...)
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d: %s\n%s", commands[i][1], code, stderr, out)
		}
		for _, model := range []string{"hp", "ihp"} {
			if strings.Contains(out, "\n"+model+"  n/a") || i > 0 && !strings.Contains(out, model+" ") {
				t.Errorf("%s: %s does not answer:\n%s", commands[i][1], model, out)
			}
		}
	}
	for _, r := range predictions(t, "compare", "my.toml", "--set", "models.history=my-runs", "--set=models.causes=false", "--json") {
		if off, known := r["difference"].(float64); r["model"] == "ihp" && r["part"] == "makespan" && (!known || math.Abs(off) > 0.1) {
			t.Errorf("ihp is %+.3f off the simulation: want 0.1 at most", off)
		}
	}
}

// Only run writes without being asked to.
func TestHelpTellsWhereResultsGo(t *testing.T) {
	for verb, want := range map[string]string{"run": "(default out/<name>)", "compare": "nothing is written", "predict": "nothing is written"} {
		if _, out, _ := call("", "help", verb); !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("help %s: no %q", verb, want)
		}
	}
}

// With --over the models answer for each value, and nothing is simulated.
func TestPredictOver(t *testing.T) {
	path := write(t, "one.toml", oneJob)
	makespans := map[string][]float64{}
	for _, r := range predictions(t, "predict", path, "--json", "--over", "cluster.nodes=1,2,4") {
		if r["part"] == "makespan" && r["mean_ns"] != nil {
			name, _ := r["model"].(string)
			mean, _ := r["mean_ns"].(float64)
			makespans[name] = append(makespans[name], mean)
		}
	}
	list := makespans["aria"]
	if len(list) != 3 || list[0] <= list[1] || list[1] <= list[2] || makespans["simulation"] != nil {
		t.Errorf("%v: want three falling makespans of aria, and no simulation", makespans)
	}
	if code, _, errs := call("", "predict", path, "--over", "cluster.nodes=1,2", "--deadline", "1m"); code != exitInput || !strings.Contains(errs, "one of the two") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
