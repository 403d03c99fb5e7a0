package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// oneJob is a job with unequal maps and more reduces than slots.
const oneJob = `
[cluster]
hadoop = "1.2.1"
nodes = 8
[conf]
"mapred.reduce.tasks.speculative.execution" = false
"mapred.map.tasks.speculative.execution" = false
[[job]]
name = "sort"
input = "3 GB"
maps = 6
map_ms = [4000, 5000, 3000, 9000, 4000, 2000]
reduces = 20
reduce_shuffle_ms = 3000
first_shuffle_ms = 1000
reduce_ms = 5000
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The simulation's row is the mean of its replications with its interval, and the
// parts of each gap add up to the gap of the mean.
func TestCompareReplications(t *testing.T) {
	path := write(t, "one.toml", oneJob)
	var low, simulated, high float64
	parts := map[string]float64{}
	for _, r := range predictions(t, "compare", path, "--json", "--replications", "4") {
		name, _ := r["model"].(string)
		mean, _ := r["mean_ns"].(float64)
		switch {
		case r["part"] == "makespan" && name == "simulation":
			simulated = mean
			low, _ = r["low_ns"].(float64)
			high, _ = r["high_ns"].(float64)
		case r["part"] == "makespan" && r["mean_ns"] != nil, r["part"] == "gap":
			parts[name] += mean
		}
	}
	if !(low < simulated && simulated < high) {
		t.Errorf("%v, interval %v to %v: want the mean within", simulated, low, high)
	}
	for name, sum := range parts {
		if sum != simulated {
			t.Errorf("%s: its makespan and the parts of the gap make %v, want %v", name, sum, simulated)
		}
	}
	code, text, errs := call("", "compare", path, "--replications", "4")
	if code != exitDone || !strings.Contains(text, "mean of 4 runs") {
		t.Errorf("exit %d, %s: %s", code, errs, text)
	}
}

// predictions are the rows that a verb prints as JSON.
func predictions(t *testing.T, args ...string) []map[string]any {
	t.Helper()
	code, out, errs := call("", args...)
	if code != exitDone {
		t.Fatalf("%q: exit %d: %s", args, code, errs)
	}
	var doc struct{ Rows []map[string]any }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Rows
}

// The parts of each gap add up to it, to the nanosecond; the wave model plays out
// what is left when heartbeats are gone, and has no part of its own.
func TestCompareGaps(t *testing.T) {
	path := write(t, "one.toml", oneJob)
	simulated, parts, gaps := 0.0, map[string]float64{}, 0
	own := map[string]float64{}
	for _, r := range predictions(t, "compare", path, "--json") {
		name, _ := r["model"].(string)
		mean, _ := r["mean_ns"].(float64)
		switch {
		case r["part"] == "makespan" && name == "simulation":
			simulated = mean
		case r["part"] == "makespan" && r["mean_ns"] != nil:
			parts[name] += mean
		case r["part"] == "gap":
			parts[name] += mean
			gaps++
			if r["note"] == "unexplained (model error)" {
				own[name] = mean
			}
		}
	}
	if gaps < 2*len(parts) {
		t.Errorf("%d parts of the gaps of %d models, want 2 or more for each: %v", gaps, len(parts), parts)
	}
	for _, name := range []string{"aria", "ihp", "waves"} {
		if _, ok := parts[name]; !ok {
			t.Errorf("no gap of %s: %v", name, parts)
		}
	}
	for name, sum := range parts {
		if sum != simulated {
			t.Errorf("%s: its makespan and the parts of the gap make %v, want %v", name, sum, simulated)
		}
	}
	if own["waves"] != 0 {
		t.Errorf("the wave model's own part is %v ns", own["waves"])
	}
}

// Each cause, switched off in the ideal cluster, changes what it should and
// nothing else.
func TestWithout(t *testing.T) {
	s := func(v float64) time.Duration { return workload.Seconds(v) }
	each := func(v ...float64) (d workload.Durations) {
		for _, x := range v {
			d.Each = append(d.Each, s(x))
		}
		return d
	}
	ideal := model.WhatIf{Cluster: model.Cluster{Hadoop: "ideal", Racks: []string{"/r"}, Nodes: []model.Node{
		{Name: "a", MapSlots: 1, ReduceSlots: 1, Slowness: 1}, {Name: "b", MapSlots: 1, ReduceSlots: 1, Slowness: 1},
	}}}
	ideal.Scheduler.Name = "fifo"
	for _, test := range []struct {
		cause         analytic.Cause
		with, without float64
		job           workload.Job
		change        func(*model.WhatIf)
	}{
		{analytic.Stragglers, 10, 8, workload.Job{Maps: workload.MapTasks{Count: 3, Time: each(1, 2, 9)}}, nil},
		{analytic.Stragglers, 6, 4, workload.Job{Maps: workload.MapTasks{Count: 2, Time: each(3, 3)}},
			func(q *model.WhatIf) { q.Cluster.Nodes[0].Slowness = 2 }},
		{analytic.Quantisation, 8, 6, workload.Job{Maps: workload.MapTasks{Count: 3, Time: each(4, 4, 4)}}, nil},
		{analytic.Overlap, 4 + 2 + 1, 4 + 6 + 1, workload.Job{
			Maps:    workload.MapTasks{Count: 2, Time: each(2, 4)},
			Reduces: workload.ReduceTasks{Count: 1, Shuffle: each(6), FirstWave: each(2), Time: each(1)},
			Conf:    slowstart("0"),
		}, nil},
		{analytic.Slowstart, 4 + 2 + 1, 4 + 2 + 1, workload.Job{
			Maps:    workload.MapTasks{Count: 2, Time: each(2, 4)},
			Reduces: workload.ReduceTasks{Count: 1, Shuffle: each(6), FirstWave: each(2), Time: each(1)},
			Conf:    slowstart("0"),
		}, nil},
		// The reduce of a job with a long map keeps the only slot from another's.
		{analytic.Slowstart, 20 + 2 + 10, 20 + 2, workload.Job{
			Maps:    workload.MapTasks{Count: 2, Time: each(2, 20)},
			Reduces: workload.ReduceTasks{Count: 1, Time: each(2)},
			Conf:    slowstart("0"),
		}, func(q *model.WhatIf) {
			q.Cluster.Nodes = q.Cluster.Nodes[:1]
			q.Cluster.Nodes[0].MapSlots = 2
			q.Jobs = append(q.Jobs, workload.Job{
				ID: "second", Maps: workload.MapTasks{Count: 1, Time: each(2)}, Reduces: workload.ReduceTasks{Count: 1, Time: each(10)},
			})
		}},
	} {
		q := ideal
		q.Cluster.Nodes = append([]model.Node{}, ideal.Cluster.Nodes...)
		test.job.ID = "job"
		q.Jobs = []workload.Job{test.job}
		if test.change != nil {
			test.change(&q)
		}
		for i, want := range []float64{test.with, test.without} {
			if i == 1 {
				q = analytic.Without(q, test.cause)
			}
			p, err := sim.Simulator{}.Predict(q)
			if err != nil {
				t.Fatal(err)
			}
			if p.Mean != s(want) {
				t.Errorf("%s, switched off %d: %v, want %v s", test.cause, i, p.Mean, want)
			}
		}
	}
}

func slowstart(v string) (c workload.Conf) {
	c.Set("mapred.reduce.slowstart.completed.maps", v)
	return c
}

func TestCompareOver(t *testing.T) {
	path := write(t, "one.toml", oneJob)
	out := filepath.Join(t.TempDir(), "out")
	code, text, errs := call("", "compare", path, "--over", "reduces=8:32:8", "--out", out)
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{"Makespan over reduces", "\n8 ", "\n16 ", "\n24 ", "\n32 ", "Runs by reduces"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, name := range []string{"sweep.png", "sweep.svg", "predictions.csv", "comparison.json", "manifest.json"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	if code, _, errs := call("", "run", filepath.Join(out, "manifest.json")); code != exitDone {
		t.Errorf("rerun: exit %d: %s", code, errs)
	}
	for value, want := range map[string]string{
		"reduces":                 "want KEY=FROM:TO:STEP",
		"reduces=8:1:1":           "want FROM at most TO: reduces=1:8:1",
		"reduces=8:16:0":          "want a step above 0",
		"reduces=1:100000:1":      "1 to 1000 values",
		"reduces=a:b:c":           "three numbers",
		"reduces=1:2":             "three numbers",
		"reducers=1,2":            "reducers",
		"cluster.nodess=1,2":      "nodess",
		"scheduler.name=fifo,fai": "fai",
		"scheduler=fifo,fair2":    "scheduler: a table: want one of its keys",
	} {
		if code, _, errs := call("", "compare", path, "--over", value); code != exitInput || !strings.Contains(errs, want) {
			t.Errorf("--over %s: exit %d, %s; want %q", value, code, errs, want)
		}
	}
	if code, text, errs := call("", "compare", path, "--over", "scheduler.name=fifo,fair1"); code != exitDone || !strings.Contains(text, "one scheduler=fair1") {
		t.Errorf("--over of names: exit %d, %s\n%s", code, errs, text)
	}
}

// A key that is varied in the scenario as well takes the values of the command
// line, and each row is labelled with the value it was simulated with.
func TestCompareOverVaried(t *testing.T) {
	varied := write(t, "one.toml", oneJob+"[vary]\n\"job.0.reduces\" = [10, 11]\n\"cluster.nodes\" = [4]\n")
	makespans := func(args ...string) map[string]any {
		found := map[string]any{}
		for _, r := range predictions(t, append([]string{"compare", "--json", "--set=models.causes=false"}, args...)...) {
			if name, _ := r["scenario"].(string); r["part"] == "makespan" && r["model"] == "simulation" {
				found[name] = r["mean_ns"]
			}
		}
		return found
	}
	got := makespans(varied, "--over", "reduces=8,32")
	want := map[string]any{}
	for _, n := range []string{"8", "32"} {
		plain := makespans(write(t, "one.toml", oneJob), "--set", "job.0.reduces="+n, "--set", "cluster.nodes=4")
		want["one reduces="+n+" nodes=4"] = plain["one"]
	}
	if !maps.Equal(got, want) || want["one reduces=8 nodes=4"] == want["one reduces=32 nodes=4"] {
		t.Errorf("%v, want %v", got, want)
	}
	var runs []any // the key that is named last changes fastest
	for _, r := range predictions(t, "compare", varied, "--json", "--set=models.causes=false", "--over", "reduces=8,32", "--over", "cluster.nodes=3,4") {
		if r["part"] == "makespan" && r["model"] == "simulation" {
			runs = append(runs, r["scenario"])
		}
	}
	if want := []any{"one reduces=8 nodes=3", "one reduces=8 nodes=4", "one reduces=32 nodes=3", "one reduces=32 nodes=4"}; !slices.Equal(runs, want) {
		t.Errorf("two keys: got %v: want %v", runs, want)
	}
}

// A result is simulated as it was made, with every flag that says what was run.
func TestCompareResult(t *testing.T) {
	const history = "../../workload/trace/testdata/counters-test-trace.json.gz"
	scenario := write(t, "one.toml", oneJob)
	for _, x := range []struct {
		name, flag, run string
	}{
		{history, "--job=*_50510", ""},
		{history, "--format=rumen", ""},
		{history, "--topology=../../workload/trace/testdata/dispatch-topology-output.json.gz", ""},
		{scenario, "--set=cluster.nodes=2", ""},
		{scenario, "--fidelity=profile", ""},
		{scenario, "--over=cluster.nodes=2,4", "nodes-4"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		verb(t, "run", x.name, "--set", "plots=none", x.flag, "--out", out)
		out = filepath.Join(out, x.run)
		var made struct {
			Makespan struct {
				Mean float64 `json:"mean_ns"`
			}
		}
		if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "summary.json"))), &made); err != nil {
			t.Fatal(err)
		}
		for _, r := range predictions(t, "compare", out, "--json") {
			if r["part"] == "makespan" && r["model"] == "simulation" && r["mean_ns"] != made.Makespan.Mean {
				t.Errorf("%s: got %v: want %v as in the result", x.flag, r["mean_ns"], made.Makespan.Mean)
			}
		}
	}
}

func TestCompareFailAbove(t *testing.T) {
	path := write(t, "one.toml", oneJob)
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{path, "--fail-above", "10%"}, exitAbove, "one, waves: "},
		{[]string{path, "--fail-above", "0.9"}, exitDone, ""},
		{[]string{path, "--fail-above", "10%", "--baseline", "waves"}, exitAbove, "one, simulation: +"},
		{[]string{path, "two-jobs", "--fail-above", "10%", "--baseline", "one"}, exitAbove, "two-jobs: +"},
		{[]string{path, "two-jobs", "--fail-above", "1000%", "--baseline", "two-jobs"}, exitDone, ""},
		{[]string{path, "--fail-above", "x"}, exitInput, "want a fraction such as 10%"},
		{[]string{path, "--fail-above", "10"}, exitInput, "want 10% or 0.1"},
		{[]string{path, "--baseline", "wave"}, exitInput, `did you mean "waves"?`},
	} {
		code, _, errs := call("", append([]string{"compare", "--quiet"}, test.args...)...)
		if code != test.code || !strings.Contains(errs, test.want) {
			t.Errorf("%q: exit %d, %s; want %d and %q", test.args, code, errs, test.code, test.want)
		}
	}
}

func TestPredict(t *testing.T) {
	path := write(t, "one.toml", oneJob)
	statistics, err := json.Marshal(analytic.DefaultPhases())
	if err != nil {
		t.Fatal(err)
	}
	var keep map[string]any
	if err := json.Unmarshal(statistics, &keep); err != nil {
		t.Fatal(err)
	}
	for name := range keep {
		if !strings.HasPrefix(name, "ds") && !strings.HasPrefix(name, "cs") {
			delete(keep, name)
		}
	}
	statistics, _ = json.Marshal(keep)
	out := filepath.Join(t.TempDir(), "out")
	code, text, errs := call("", "predict", path, "--set", "models.statistics="+write(t, "s.json", string(statistics)), "--out", out)
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{"herodotou  ", "map, spill", "zhang  n/a: needs a platform fitted from microbenchmarks", "results in"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, name := range []string{"predictions.csv", "prediction.png", "prediction.svg", "manifest.json"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	delete(keep, "csSortCPUCost")
	statistics, _ = json.Marshal(keep)
	code, _, errs = call("", "predict", path, "--set", "models.statistics="+write(t, "s.json", string(statistics)))
	if code != exitInput || !strings.Contains(errs, "csSortCPUCost") {
		t.Errorf("without csSortCPUCost: exit %d, %s", code, errs)
	}
	if rows := predictions(t, "predict", "two-jobs", "--json"); len(rows) == 0 || rows[0]["model"] != "aria" {
		t.Errorf("two-jobs: %v", rows)
	}
}

// With scale_jobs each replication draws other jobs of the trace. A job is a mean
// over replications only if all of them drew it.
func TestDrawnJobs(t *testing.T) {
	few := []string{"fb2009", "--set=workload.jobs=30", "--set=workload.scale_jobs=0.5", "--set=cluster.nodes=40", "--replications=3", "--quiet"}
	out := filepath.Join(t.TempDir(), "out")
	verb(t, append([]string{"run", "--out", out}, few...)...)
	var s results.Summary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "summary.json"))), &s); err != nil {
		t.Fatal(err)
	}
	drawn := map[int]bool{}
	for _, j := range s.Slowest {
		drawn[j.N] = true
	}
	if s.Replications != 3 || !drawn[1] && !drawn[2] || !drawn[3] {
		t.Errorf("%d replications, jobs drawn in %v of them: want 3, and jobs in all and in some", s.Replications, drawn)
	}
	verb(t, append([]string{"compare"}, few...)...)
}

// The next command asks the same question, and reads all that was inspected.
func TestNextCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, job := range []string{"a", "b"} {
		if err := os.Mkdir(job, 0o777); err != nil {
			t.Fatal(err)
		}
		writeFile(t, job+"/jobs.csv", "job,name,state,submit_ns,finish_ns,maps,reduces\n"+job+",sort,SUCCEEDED,0,9000000000,1,0\n")
		writeFile(t, job+"/attempts.csv", "job,task,kind,attempt,state,node,start_ns,finish_ns\n"+job+",0,map,0,SUCCEEDED,n1,1000000000,8000000000\n")
	}
	writeFile(t, "unnamed.csv", "job,type,task,start_s,finish_s\nj,map,0,0,9\n")
	for _, c := range [][2]string{
		{"compare two-jobs --set cluster.nodes=3 --seed 7", "run two-jobs --seed=7 --set=cluster.nodes=3"},
		{"compare two-jobs a --set cluster.nodes=3", "compare two-jobs a --set=cluster.nodes=3 --why"},
		{"compare two-jobs two-jobs --set cluster.nodes=3 --why", "run two-jobs --set=cluster.nodes=3 --trace"},
		{"predict two-jobs --set cluster.nodes=3", "compare two-jobs --set=cluster.nodes=3"},
		{"inspect a --job *a", "run a '--job=*a'"},
		{"inspect unnamed.csv", "run unnamed.csv --set=cluster.nodes=N"},
		{"inspect a b", "convert a b --to jhist --out together"},
	} {
		if text := verb(t, strings.Fields(c[0])...); !strings.HasSuffix(text, "\nnext: slotwave "+c[1]+"\n") {
			t.Errorf("%s ends with %s", c[0], text[strings.LastIndex(strings.TrimSpace(text), "\n")+1:])
		}
	}
}
