package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload/trace"
)

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// rows reads a table without some of its columns, in order of their text.
func rows(t *testing.T, path string, without ...string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, row := range table[1:] {
		var kept []string
		for i, cell := range row {
			if !slices.Contains(without, table[0][i]) {
				kept = append(kept, table[0][i]+"="+cell)
			}
		}
		out = append(out, strings.Join(kept, " "))
	}
	slices.Sort(out)
	return out
}

func sameRows(t *testing.T, what string, want, got []string) {
	t.Helper()
	if len(want) != len(got) || len(want) == 0 {
		t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("%s:\ngot  %s\nwant %s", what, got[i], want[i])
			return
		}
	}
}

// TestRecordedRoundTrips: what a format carries comes through a chain of them.
// Rumen has no rack of a host but Hadoop's default one, nor the end of a map's
// map phase; its reduces have local but no other output bytes; it has neither the
// records out of the combiner nor the stored output of maps.
func TestRecordedRoundTrips(t *testing.T) {
	for _, x := range []struct {
		file    string
		via     []string
		without []string // columns of attempts
	}{
		{"rumen/folder-input-trace.json.gz", []string{"rumen", "history", "rumen"}, nil},
		{"rumen/dispatch-sample-v20-jt-log.gz", []string{"rumen", "history"}, []string{"rack", "locality", "combine_output_records"}},
		{"gridmix-traces/trace_5m.json.gz", []string{"history", "rumen"}, nil},
		{"mrv1-history/chukwa-sorter-JobHistory.log.gz", []string{"rumen", "history", "jhist"}, []string{"combine_output_records"}},
		{"mrv2-jhist/job_1526555215992_0001-pi-1-1.jhist", []string{"jhist"}, nil},
		{"mrv2-jhist/job_1526555215992_0001-pi-1-1.jhist", []string{"history", "rumen"}, []string{"p_map_ns", "p_merge_ns", "out_bytes", "in_bytes", "locality", "combine_output_records", "map_output_materialized_bytes"}},
		{"mrv2-jhist/job_1400206191003_0001-failed-2.0.3-alpha.jhist", []string{"jhist"}, nil},
	} {
		if testing.Short() && strings.HasPrefix(x.file, "gridmix") { // the same formats as of the trace before
			continue
		}
		t.Run(x.file+" "+strings.Join(x.via, " "), func(t *testing.T) {
			dir := t.TempDir()
			first, at := filepath.Join(dir, "first"), shared(t, "data/"+x.file)
			verb(t, "convert", at, "--to", "csv", "--out", first)
			for i, format := range x.via {
				to := filepath.Join(dir, fmt.Sprint(i))
				verb(t, "convert", at, "--to", format, "--out", to, "--strict")
				at = to
			}
			last := filepath.Join(dir, "last")
			verb(t, "convert", at, "--to", "csv", "--out", last)
			sameRows(t, "attempts", rows(t, filepath.Join(first, "attempts.csv"), x.without...), rows(t, filepath.Join(last, "attempts.csv"), x.without...))
			sameRows(t, "jobs", rows(t, filepath.Join(first, "jobs.csv"), "queue"), rows(t, filepath.Join(last, "jobs.csv"), "queue"))
		})
	}
}

// TestLogIsItsTrace: the raw logs and the trace that Rumen made of them give
// the same jobs and tasks. Rumen drops hosts of attempts that did not succeed,
// and the names and queues of some jobs.
func TestLogIsItsTrace(t *testing.T) {
	dir := t.TempDir()
	for to, file := range map[string]string{"log": "dispatch-sample-v20-jt-log.gz", "trace": "dispatch-trace-output.json.gz"} {
		verb(t, "convert", shared(t, "data/rumen/"+file), "--to", "csv", "--out", filepath.Join(dir, to))
	}
	for table, without := range map[string][]string{"jobs.csv": {"name", "queue"}, "attempts.csv": {"node", "rack", "locality", "combine_output_records"}} {
		sameRows(t, table, rows(t, filepath.Join(dir, "log", table), without...), rows(t, filepath.Join(dir, "trace", table), without...))
	}
}

// TestSimulatedRoundTrip: a run is exported as job histories. Replayed they
// give its attempts, and so do jobs drawn from their profiles; the profiles
// are those of the run itself. All times are whole milliseconds, as the format
// has them, and the cluster is one without heartbeats, whose waiting a profile
// does not tell from work.
func TestSimulatedRoundTrip(t *testing.T) {
	t.Chdir(t.TempDir())
	const cluster = `
[cluster]
hadoop = "ideal"
map_slots = 2
reduce_slots = 1
`
	const machines = "nodes = 4\nracks = 2\n"
	writeFile(t, "run.toml", cluster+machines+`
[[job]]
name = "job_201001010000_0001"
maps = 20
map_ms = 12125
reduces = 6
reduce_shuffle_ms = 4250
reduce_ms = 15500
[[job]]
name = "job_201001010000_0002"
submit = "20s"
maps = 6
map_ms = 8000
reduces = 1
reduce_shuffle_ms = 2000
reduce_ms = 5000
`)
	writeFile(t, "replay.toml", cluster+"[workload]\ntrace = \"jhist\"\n")
	writeFile(t, "drawn.toml", "fidelity = \"profile\"\n"+cluster+machines+`
[[job]]
name = "job_201001010000_0001"
profile = "profiles/job_201001010000_0001.toml"
[[job]]
name = "job_201001010000_0002"
submit = "20s"
profile = "profiles/job_201001010000_0002.toml"
`)
	verb(t, "run", "run.toml", "--set", "plots=none", "--out", "run")
	verb(t, "convert", "run", "--to", "jhist", "--out", "jhist")
	verb(t, "convert", "jhist", "--to", "profile", "--per", "job", "--out", "profiles")
	verb(t, "run", "replay.toml", "--set", "plots=none", "--out", "replay")
	verb(t, "run", "drawn.toml", "--set", "plots=none", "--out", "drawn")
	want := rows(t, "run/attempts.csv")
	if len(want) != 33 {
		t.Errorf("%d attempts, want 33", len(want))
	}
	sameRows(t, "replayed", want, rows(t, "replay/attempts.csv"))
	sameRows(t, "drawn", want, rows(t, "drawn/attempts.csv"))

	var own, exported any
	for at, to := range map[string]*any{"run": &own, "jhist": &exported} {
		if err := json.Unmarshal([]byte(verb(t, "convert", at, "--to", "profile", "--per", "job", "--json")), to); err != nil {
			t.Fatal(err)
		}
	}
	if n := sameFigures(t, "profile", exported, own); n < 200 {
		t.Errorf("%d figures compared, want 200 or more", n)
	}
}

// Set-ups that fail come back from a history: the second job of this one waited four
// seconds for its third. So they do if more data are more maps.
func TestFailedSetupRoundTrip(t *testing.T) {
	t.Chdir(t.TempDir())
	const slots = "map_slots = 2\nreduce_slots = 1\n"
	job := func(n, submit int) string {
		return fmt.Sprintf("[[job]]\nname = \"job_201001010000_%04d\"\nsubmit = \"%ds\"\nmaps = 6\nmap_ms = 6000\nreduces = 1\nreduce_shuffle_ms = 1000\nreduce_ms = 3000\nsplit_hosts = [[], [], [], [], [], []]\n", n, submit)
	}
	writeFile(t, "run.toml", "[cluster]\nhadoop = \"1.2.1\"\n[[cluster.group]]\nname = \"good\"\ncount = 2\n"+slots+
		"[[cluster.group]]\nname = \"bad\"\ncount = 2\nfail_after = \"700ms\"\n"+slots+
		"[cluster.costs]\nsetup = \"2s\"\ncleanup = \"3s\"\n"+job(1, 0)+job(2, 20))
	verb(t, "run", "run.toml", "--set", "plots=none", "--seed", "3", "--out", "run")
	verb(t, "convert", "run", "--to", "history", "--out", "history")
	verb(t, "run", "history", "--set", "plots=none", "--out", "again")
	verb(t, "run", "history", "--set", "plots=none", "--out", "grown", "--set", "workload.scale_bytes=2")
	setups := func(folder string) (list []string) {
		for _, row := range rows(t, folder+"/attempts.csv", "runnable_ns", "start_ns", "finish_ns", "slot", "rack", "node") {
			row, _, _ = strings.Cut(row, " pool=")
			if strings.Contains(row, "kind=setup") {
				list = append(list, row)
			}
		}
		return list
	}
	want := setups("run")
	sameRows(t, "set-ups", want, setups("again"))
	for name, list := range map[string][]string{"run": want, "grown": setups("grown")} {
		if failed := strings.Count(strings.Join(list, "\n"), "FAILED"); failed != 2 {
			t.Errorf("%s: %d set-ups fail: want 2", name, failed)
		}
	}
}

// TestClusterRoundTrip: on clusters with heartbeats, racks, commits and costs a
// run that was exported as job histories is replayed attempt for attempt: on
// the same machines and slots, as near to their data, failed or killed alike,
// at the same times but for rounding. The files have whole milliseconds, of
// which the end of a reduce has four and what starts when it ends has more.
func TestClusterRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a cluster in many forms")
	}
	t.Chdir(t.TempDir())
	const cluster = `
[cluster]
hadoop = %q
nodes = 14
racks = 3
map_slots = 2
reduce_slots = 2
[scheduler]
name = %q
`
	const speculation = `[conf]
"mapred.map.tasks.speculative.execution" = %v
"mapred.reduce.tasks.speculative.execution" = %v
`
	const jobs = `
[[job]]
name = "alpha"
pool = "etl"
maps = 90
map_ms = 12125
reduces = 40
reduce_shuffle_ms = 4250
reduce_sort_ms = 500
reduce_ms = 15500
[[job]]
name = "beta"
pool = "adhoc"
submit = "20s"
maps = 26
%s
reduces = 6
reduce_shuffle_ms = 2000
reduce_ms = 5000
[[job]]
name = "job_201001010000_0003"
pool = "etl"
submit = "33s"
maps = 19
map_ms = 7000
`
	const drawn = `duration = { dist = "lognormal", mean = "20s", sd = "12s" }`
	for _, x := range []struct {
		hadoop, scheduler, format string
		speculate                 bool
		beta                      string
	}{
		{"0.20.2", "fifo", "jhist", true, "map_ms = 19333"},
		{"0.20.2", "capacity", "jhist", false, drawn},
		{"1.0.4", "fair1", "jhist", true, "map_ms = 19333"},
		{"1.0.4", "fifo", "jhist", false, drawn},
		{"1.2.1", "fair2", "history", true, "map_ms = 19333"},
		{"1.2.1", "fair2", "jhist", false, drawn},
	} {
		t.Run(strings.Join([]string{x.hadoop, x.scheduler, x.format}, " "), func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			head := fmt.Sprintf(cluster+speculation, x.hadoop, x.scheduler, x.speculate, x.speculate)
			writeFile(t, at("run.toml"), head+fmt.Sprintf(jobs, x.beta))
			writeFile(t, at("replay.toml"), head+"[workload]\ntrace = \"exported\"\nstartup = \"1s\"\n")
			verb(t, "run", at("run.toml"), "--out", at("run"))
			verb(t, "convert", at("run"), "--to", x.format, "--out", at("exported"), "--strict")
			verb(t, "run", at("replay.toml"), "--out", at("replay"))
			want, got := attemptRows(t, at("run")), attemptRows(t, at("replay"))
			killed := 0
			for name, w := range want {
				g := got[name]
				for _, column := range []string{"state", "node", "slot", "pool", "locality", "start_ns", "finish_ns"} {
					if !strings.HasSuffix(column, "_ns") {
						if g[column] != w[column] {
							t.Errorf("%s: %s = %q, want %q", name, column, g[column], w[column])
						}
						continue
					}
					a, _ := strconv.ParseInt(g[column], 10, 64)
					b, _ := strconv.ParseInt(w[column], 10, 64)
					if math.Abs(float64(a-b)) > 5e6 {
						t.Errorf("%s: %s = %s, want %s", name, column, g[column], w[column])
					}
				}
				if w["state"] == "KILLED" {
					killed++
				}
			}
			if len(got) != len(want) || len(want) < 187 || x.speculate && killed == 0 {
				t.Errorf("%d attempts, want %d, of which %d are killed", len(got), len(want), killed)
			}
		})
	}
}

// attemptRows reads a run's table by job, kind, task and attempt.
func attemptRows(t *testing.T, run string) map[string]map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(run, "attempts.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]map[string]string)
	for _, cells := range table[1:] {
		row := make(map[string]string)
		for i, cell := range cells {
			row[table[0][i]] = cell
		}
		all[strings.Join([]string{row["job"], row["kind"], row["task"], row["attempt"]}, " ")] = row
	}
	return all
}

// sameFigures compares all numbers that both sides have, to 1e-9.
func sameFigures(t *testing.T, path string, got, want any) (compared int) {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for key := range w {
			if g[key] != nil && key != "source" && key != "missing" {
				compared += sameFigures(t, path+"."+key, g[key], w[key])
			}
		}
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			t.Errorf("%s: %d values, want %d", path, len(g), len(w))
			return
		}
		for i := range w {
			compared += sameFigures(t, fmt.Sprintf("%s[%d]", path, i), g[i], w[i])
		}
	case float64:
		compared++
		if g, ok := got.(float64); !ok || math.Abs(g-w) > 1e-9*math.Max(1, math.Abs(w)) {
			t.Errorf("%s: %v, want %v", path, got, w)
		}
	}
	return compared
}

// TestSlotsOfTrace: machines of a trace have the slots its configuration says,
// else as many as were in use at once. YARN does not read that configuration.
func TestSlotsOfTrace(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("job,task,kind,number,state,node,start_ns,finish_ns\n")
	for i := range 15 {
		fmt.Fprintf(&b, "job_1_0001,%d,MAP,0,SUCCEEDED,n1,%d,9000000000\n", i, 1_000_000_000+i)
	}
	trace := writeFile(t, filepath.Join(dir, "attempts.csv"), b.String())
	named := writeFile(t, filepath.Join(dir, "named.toml"), fmt.Sprintf("[cluster]\n[workload]\ntrace = %q\n", trace))
	fewer := writeFile(t, filepath.Join(dir, "fewer.toml"), fmt.Sprintf("[cluster]\n[workload]\ntrace = %q\n[conf]\n\"mapred.tasktracker.map.tasks.maximum\" = 2\n", trace))
	yarn := writeFile(t, filepath.Join(dir, "yarn.toml"), fmt.Sprintf("[cluster]\n[workload]\ntrace = %q\n[conf]\n\"mapred.tasktracker.map.tasks.maximum\" = 2\n\"mapreduce.framework.name\" = \"yarn\"\n", trace))
	elsewhere := writeFile(t, filepath.Join(dir, "elsewhere.toml"), fmt.Sprintf("[cluster]\nnodes = 3\n[workload]\ntrace = %q\n", trace))
	for _, x := range []struct {
		file          string
		maps, reduces int
		warns         bool
		assumed       string
	}{
		{named, 15, 1, false, "cluster.map_slots = 15 (the most attempts at once on a machine of the trace)"},
		{fewer, 2, 1, true, ""},
		{yarn, 15, 1, false, "cluster.map_slots = 15 (the most attempts at once on a machine of the trace)"},
		{elsewhere, 2, 2, false, ""},
	} {
		f, err := scenarios.Open(x.file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Scenario(1)
		if err != nil {
			t.Fatal(err)
		}
		n := s.Runs[0].Question.Cluster.Nodes[0]
		warns := slices.ContainsFunc(s.Warnings, func(w string) bool {
			return strings.Contains(w, "the history has 15 maps at once on one machine, but a node has 2 slots")
		})
		if n.MapSlots != x.maps || n.ReduceSlots != x.reduces || warns != x.warns || x.assumed != "" && !slices.Contains(s.Assumed, x.assumed) {
			t.Errorf("%s: %d map and %d reduce slots, want %d and %d; assumed %q, warnings %q", filepath.Base(x.file), n.MapSlots, n.ReduceSlots, x.maps, x.reduces, s.Assumed, s.Warnings)
		}
	}
}

// TestLaunchCountsOnce: whole set-up attempts contain the launch, which is the
// mean start of the maps' JVMs; what is left of them is their cost.
func TestLaunchCountsOnce(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct {
		setup string // end, ns
		want  time.Duration
	}{{"3855000000", 0}, {"7000000000", 1500 * time.Millisecond}} {
		writeFile(t, filepath.Join(dir, "attempts.csv"), "job,task,kind,number,state,node,start_ns,finish_ns,p_startup_ns\n"+
			"job_1_0001,0,MAP,0,SUCCEEDED,n1,8000000000,14000000000,2500000000\n"+
			"job_1_0001,1,SETUP,0,SUCCEEDED,n1,3000000000,"+x.setup+",\n")
		writeFile(t, filepath.Join(dir, "job_1_0001_conf.xml"), "<configuration><property><name>hadoop.common.configuration.version</name><value>0.23.0</value></property></configuration>\n")
		named := writeFile(t, filepath.Join(dir, "named.toml"), "[cluster]\n[workload]\ntrace = [\"job_1_0001_conf.xml\", \"attempts.csv\"]\n")
		f, err := scenarios.Open(named)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Scenario(1)
		if err != nil {
			t.Fatal(err)
		}
		if c := s.Runs[0].Question.Cluster.Costs; c.Launch != 2500*time.Millisecond || c.Setup != x.want {
			t.Errorf("launch %v, set-up %v, want 2.5s and %v", c.Launch, c.Setup, x.want)
		}
	}
}

// TestFormatsInHelp: help lists what is read and what convert writes.
func TestFormatsInHelp(t *testing.T) {
	help := verb(t, "help", "formats")
	reads, writes, _ := strings.Cut(help, "convert writes:")
	for _, f := range trace.Formats() {
		if got := strings.Contains(reads, "\n"+f.Name+" "); got != f.Reads() {
			t.Errorf("help formats lists %s as read: %v", f.Name, got)
		}
		if got := strings.Contains(writes, "\n"+f.Name+" "); got != f.Writes() || f.Writes() != (f.Files != "") {
			t.Errorf("help formats lists %s as written: %v", f.Name, got)
		}
	}
}

const sound = `Meta VERSION="1" .
Job JOBID="job_201001010000_0001" JOBNAME="word" USER="ann" SUBMIT_TIME="1262304000000" JOBCONF="" .
Job JOBID="job_201001010000_0001" LAUNCH_TIME="1262304001000" TOTAL_MAPS="1" TOTAL_REDUCES="0" JOB_STATUS="PREP" .
Task TASKID="task_201001010000_0001_m_000000" TASK_TYPE="MAP" START_TIME="1262304002000" SPLITS="/r1/h1" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0001_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_m_000000_0" START_TIME="1262304002000" TRACKER_NAME="tracker_h1" HTTP_PORT="50060" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0001_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_m_000000_0" TASK_STATUS="SUCCESS" FINISH_TIME="1262304008000" HOSTNAME="/r1/h1" COUNTERS="" .
Task TASKID="task_201001010000_0001_m_000000" TASK_TYPE="MAP" TASK_STATUS="SUCCESS" FINISH_TIME="1262304008000" COUNTERS="" .
Job JOBID="job_201001010000_0001" FINISH_TIME="1262304009000" JOB_STATUS="SUCCESS" FINISHED_MAPS="1" FINISHED_REDUCES="0" FAILED_MAPS="0" FAILED_REDUCES="0" COUNTERS="" .
`

// TestDamagedTraces: what is sound is used, each loss is told with file and
// line, and fails the call only with --strict or if nothing is left.
func TestDamagedTraces(t *testing.T) {
	lines := strings.SplitAfter(sound, "\n")
	text := func(lines ...string) string { return strings.Join(lines, "") }
	with := func(line int, old, new string) string {
		l := slices.Clone(lines)
		if l[line-1] = strings.Replace(l[line-1], old, new, 1); l[line-1] == lines[line-1] {
			t.Fatalf("line %d has no %s", line, old)
		}
		return text(l...)
	}
	const useful, nothing = true, false
	for _, x := range []struct {
		name, text string
		loss       string // empty: none
		left       bool
	}{
		{"sound", sound, "", useful},
		{"licence comment before the header", "/*\n * Licensed to you\n */\n" + sound, "", useful},
		{"truncated", sound[:len(sound)-250], ":7: ", useful},
		{"missing terminator", with(6, ` .`, ``), ":6: ", useful},
		{"events out of order", text(lines[0], lines[1], lines[5], lines[4], lines[3], lines[2], lines[6], lines[7]), "", useful},
		{"attempt without a finish", text(slices.Delete(slices.Clone(lines), 5, 6)...), ":5: attempt_201001010000_0001_m_000000_0 has no end", useful},
		{"duplicate id", strings.Repeat(`{"jobID":"job_1_0001","mapTasks":[]}`+"\n", 2), "job job_1_0001 occurs twice", useful},
		{"wrong count", with(3, `TOTAL_MAPS="1"`, `TOTAL_MAPS="3"`), "succeeded with 3 maps, but 1 are recorded", useful},
		{"no JSON", `{"jobID":"job_1_0001","mapTasks":[]}` + "\nlog4j:WARN\n" + `{"jobID":"job_1_0002","mapTasks":[]}`, ":2: ", useful},
		{"negative time", with(6, `FINISH_TIME="1262304008000"`, `FINISH_TIME="-77"`), ":6: ", useful},
		{"unknown time", with(3, `LAUNCH_TIME="1262304001000"`, `LAUNCH_TIME="-1"`), "", useful},
		{"negative count", with(3, `TOTAL_MAPS="1"`, `TOTAL_MAPS="-4"`), ":3: ", useful},
		{"only damage", "{\"jobID\": \"job_1_0001\", \"mapTasks\": 5 5\n", ":1: ", nothing},
		{"no trace", "nothing to see here\n", "not a known history format", nothing},
		{"empty", "", "the file is empty", nothing},
		{"binary history", "Obj\x01\x04", "mapreduce.jobhistory.jhist.format=json", nothing},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			file := writeFile(t, filepath.Join(dir, "trace"), x.text)
			for _, verb := range [][]string{{"validate", file}, {"convert", file, "--to", "profile"}, {"convert", file, "--to", "rumen", "--out", filepath.Join(dir, "out")}} {
				for _, strict := range []bool{false, true} {
					want := exitDone
					if !x.left || strict && x.loss != "" {
						want = exitInput
					}
					args := verb
					if strict {
						args = append(slices.Clone(verb), "--strict")
					}
					code, out, errs := call("", args...)
					if code != want {
						t.Errorf("%v: exit %d, want %d: %s", args, code, want, errs)
					}
					if !strings.Contains(errs, x.loss) || (x.loss == "" && errs != "") {
						t.Errorf("%v: %q, want ...%s...", args, errs, x.loss)
					}
					if want == exitInput && verb[0] != "validate" && out != "" {
						t.Errorf("%v: printed %q", args, out)
					}
					_, err := os.Stat(filepath.Join(dir, "out"))
					if exists := err == nil; slices.Contains(verb, "--out") && exists != (want == exitDone) {
						t.Errorf("%v: output exists: %v", args, exists)
					}
					os.RemoveAll(filepath.Join(dir, "out"))
				}
			}
		})
	}
}

// As many machines as a record names are those machines: with the number given the
// baseline of what-ifs is made the same way as without.
func TestReplayOnAsManyMachines(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	trace := shared(t, "data/gridmix-traces/trace_1m.json.gz")
	verb(t, "run", trace, "--set", "plots=none", "--quiet", "--out", at("recorded"))
	verb(t, "run", trace, "--set", "plots=none", "--quiet", "--set", "cluster.nodes=8", "--out", at("eight"))
	sameRows(t, "attempts", rows(t, at("eight/attempts.csv")), rows(t, at("recorded/attempts.csv")))
	verb(t, "run", trace, "--set", "plots=none", "--quiet", "--set", "cluster.nodes=16", "--out", at("sixteen"))
	was, is := rows(t, at("recorded/jobs.csv")), rows(t, at("sixteen/jobs.csv"))
	if len(is) != len(was) || strings.Join(is, "\n") == strings.Join(was, "\n") {
		t.Errorf("twice the machines change nothing")
	}
}

// A machine that stood still does so again in a replay, not in a what-if, unless it is
// asked for.
func TestStandstillOfOneMachine(t *testing.T) {
	trace := shared(t, "data/gridmix-traces/trace_5m.json.gz")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		to   string
		set  []string
		want string
	}{
		{"base", nil, "host254: standstill repeated"},
		{"sixteen", []string{"cluster.nodes=16"}, "host254: standstill left out"},
		{"still", []string{"cluster.nodes=16", "workload.still_hosts=recorded"}, "host254: standstill repeated"},
	} {
		args := []string{"run", trace, "--out", at(c.to), "--set", "plots=none"}
		for _, set := range c.set {
			args = append(args, "--set", set)
		}
		if out := strings.Join(strings.Fields(verb(t, args...)), " "); !strings.Contains(out, c.want) {
			t.Errorf("%v: want %q in\n%s", c.set, c.want, out)
		}
	}
	// A comparison of the two says that its difference contains the standstill.
	verb(t, "run", trace, "--out", at("fair"), "--set", "plots=none", "--set", "scheduler.name=fair2")
	for _, flags := range [][]string{nil, {"--why"}} {
		out := strings.Join(strings.Fields(verb(t, append([]string{"compare", at("base"), at("fair")}, flags...)...)), " ")
		if !strings.Contains(out, "(host254: standstill left out): the difference contains that too") {
			t.Errorf("%v: nothing of the standstill in\n%s", flags, out)
		}
	}
	// The record that a what-if is set against is without the standstill too.
	var summary struct {
		Replay struct {
			JobTime float64 `json:"record_simulated_job_ns"`
		}
		Jobs struct {
			Mean struct {
				Mean float64 `json:"mean_ns"`
			}
		}
	}
	text := verb(t, "run", trace, "--json", "--out", at("same"), "--set", "plots=none", "--set", "workload.scale_bytes=1")
	if err := json.Unmarshal([]byte(text), &summary); err != nil || summary.Replay.JobTime == 0 || math.Abs(summary.Replay.JobTime-summary.Jobs.Mean.Mean) > 1 {
		t.Errorf("got jobs of %v in the record, %v in a question that changes nothing: want the same (%v)", summary.Replay.JobTime, summary.Jobs.Mean.Mean, err)
	}
}

// Every verb that reads histories takes the same flags, and a topology of the user
// is read beside the traces of a shipped scenario, whose loads name nodes of its own.
func TestReadingFlags(t *testing.T) {
	dir := t.TempDir()
	trace := shared(t, "data/gridmix-traces/trace_3m.json.gz")
	only := []string{"--format", "rumen", "--job", "*.large"}
	out := verb(t, append([]string{"validate", trace}, only...)...)
	if !strings.Contains(out, ": 3 jobs,") {
		t.Errorf("validate: %s, want the 3 jobs that are large", out)
	}
	verb(t, append([]string{"convert", trace, "--to", "csv", "--out", filepath.Join(dir, "csv")}, only...)...)
	if jobs := rows(t, filepath.Join(dir, "csv", "jobs.csv")); len(jobs) != 3 {
		t.Errorf("convert: %d jobs, want 3", len(jobs))
	}
	var profiles []any
	text := verb(t, append([]string{"convert", trace, "--to", "profile", "--json", "--per", "job"}, only...)...)
	if err := json.Unmarshal([]byte(text), &profiles); err != nil || len(profiles) != 3 {
		t.Errorf("profile: %d profiles, want 3 (%v)", len(profiles), err)
	}
	if code, _, errs := call("", "convert", trace, "--to", "profile", "--job", "none*"); code != exitInput || !strings.Contains(errs, "--job none*: matches none of 12 jobs") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	topology := shared(t, "data/rumen/dispatch-topology-output.json.gz")
	if out := verb(t, "run", "hitune-sort", "--set", "plots=none", "--set", "cluster.load=[]", "--topology", topology, "--fidelity", "replay", "--out", filepath.Join(dir, "run")); !strings.Contains(out, "547 nodes") {
		t.Errorf("run: %.200s, want 547 nodes", out)
	}
}

// TestInspectionFiles: the folder of an inspection has tables and pictures of the
// record. No two attempts share a slot; what a run used is enough for them.
func TestInspectionFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	verb(t, "run", "two-jobs", "--set", "scheduler.name=fifo", "--set", "plots=none", "--out", "ran", "--quiet")
	verb(t, "convert", "ran", "--to", "rumen", "--out", "trace.json", "--quiet")
	printed := verb(t, "inspect", "trace.json", "--out", "seen", "--json")
	if got := read(t, "seen/inspection.json"); got != printed {
		t.Errorf("inspection.json is %s\nprinted: %s", got, printed)
	}
	verb(t, "convert", "trace.json", "--to", "csv", "--out", "tables", "--quiet")
	for _, name := range []string{"attempts.csv", "jobs.csv"} {
		if read(t, "seen/"+name) != read(t, "tables/"+name) {
			t.Errorf("%s is not that of convert", name)
		}
	}
	for _, name := range []string{"execution.svg", "slots.svg"} {
		if svg := read(t, "seen/"+name); !strings.Contains(svg, "3 nodes, 6 map and 3 reduce slots") {
			t.Errorf("%s: not on the machines and slots of the run: %.800s", name, svg)
		}
	}
	if code, _, errs := call("", "inspect", "trace.json", "--out", "seen.json"); code != 2 || !strings.Contains(errs, "want a folder") {
		t.Errorf("into a file: exit %d: %s", code, errs)
	}
}

// TestInspectWarns: inspect states which machines are no workers, or are although they
// ran nothing, and warns of jobs that are all submitted at once, as run does.
func TestInspectWarns(t *testing.T) {
	t.Chdir(t.TempDir())
	verb(t, "run", "two-jobs", "--set", "scheduler.name=fifo", "--set", "plots=none", "--out", "ran", "--quiet")
	verb(t, "convert", "ran", "--to", "rumen", "--out", "rumen", "--quiet")
	if seen := verb(t, "inspect", "rumen/trace.json"); strings.Contains(seen, "workers") || strings.Contains(seen, "warning") {
		t.Errorf("nothing is wrong, but inspect prints\n%s", seen)
	}
	trace := strings.Replace(read(t, "rumen/trace.json"), `"preferredLocations": []`, `"preferredLocations": [{"layers": ["default-rack", "holder"]}]`, 1)
	at := regexp.MustCompile(`"submitTime": \d+`)
	writeFile(t, "trace.json", at.ReplaceAllString(trace, at.FindString(trace)))
	writeFile(t, "topology.json", strings.Replace(read(t, "rumen/topology.json"), `"node1"`, `"ghost"`, 1))
	const atOnce = "all 2 jobs are submitted at once"
	for topology, want := range map[string][2]string{
		"":              {"with input only: 1, which do not count as workers", "1 machine that only hold input are no workers"},
		"topology.json": {"without a task: 1, which count as workers", "1 machine without a task are workers"},
	} {
		seen := verb(t, "inspect", "trace.json", "--topology", topology)
		out, errs := "", ""
		if _, out, errs = call("", "run", "trace.json", "-v", "--topology", topology, "--out", "out"+topology, "--set", "plots=none"); !strings.Contains(errs, atOnce) || !strings.Contains(out, want[1]) {
			t.Errorf("topology %q: run prints %s\n%s\nwant %q and %q", topology, out, errs, want[1], atOnce)
		}
		if !strings.Contains(seen, want[0]) || !strings.Contains(seen, "warning: "+atOnce) {
			t.Errorf("topology %q: inspect prints\n%s\nwant %q and %q", topology, seen, want[0], atOnce)
		}
	}
}

// TestSeveralClusters: inspect lists the clusters of histories of two in one folder, verbs
// that simulate or convert them want the jobs of one, and with --job the jobs of one run on its machines alone, as if the other were not
// there.
func TestSeveralClusters(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	verb(t, "run", "two-jobs", "--set", "scheduler.name=fifo", "--out", at("run"), "--quiet", "--set", "plots=none")
	verb(t, "convert", at("run"), "--to", "rumen", "--out", at("rumen"), "--quiet")
	text, err := os.ReadFile(at("rumen/trace.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"alone", "both"} {
		if err := os.Mkdir(at(name), 0o777); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(at(name), "a.json"), string(text))
	}
	// Another JobTracker and other machines, a day later.
	writeFile(t, at("both/b.json"), strings.NewReplacer("201001010000", "201001020000", "node", "other", ": 12623", ": 12624").Replace(string(text)))

	flags := []string{"--job 'job_201001010000_*'", "--job 'job_201001020000_*'"}
	seen := verb(t, "inspect", at("both"))
	refused := ""
	writeFile(t, at("offers.toml"), "[[goal]]\nfinish = \"1h\"\n")
	for _, args := range [][]string{
		{"run", at("both"), "--out", at("two")}, {"run", at("both"), "--anonymise", "--out", at("two")}, {"size", at("both"), at("offers.toml"), "--out", at("two")},
		{"convert", at("both"), "--to", "csv", "--out", at("two")}, {"platform", "calibrate", at("both"), "--out", at("two")},
	} {
		code, _, errs := call("", args...)
		if code != exitInput {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
		refused += errs
	}
	for _, flag := range flags {
		if !regexp.MustCompile(`(?m)^2 +3 .*` + regexp.QuoteMeta(flag) + `$`).MatchString(seen) {
			t.Errorf("want two clusters of two jobs on three machines each, one for %s: inspect shows\n%s", flag, seen)
		}
		if n := strings.Count(refused, flag+" for 2 jobs on 3 machines"); n != 5 {
			t.Errorf("%d of 5 verbs name %s:\n%s", n, flag, refused)
		}
	}
	if one := verb(t, "inspect", at("alone")); strings.Contains(one, "--job") {
		t.Errorf("clusters of one:\n%s", one)
	}
	verb(t, "run", at("alone"), "--out", at("one"), "--quiet", "--set", "plots=none")
	verb(t, "run", at("both"), "--job", "job_201001020000_*", "--out", at("chosen"), "--quiet", "--set", "plots=none")
	table := func(name string) []string { return rows(t, filepath.Join(at(name), "attempts.csv"), "job", "node") }
	sameRows(t, "attempts of the chosen cluster", table("one"), table("chosen"))
	writeFile(t, at("chosen.toml"), "[workload]\ntrace = \"both\"\njob = \"job_201001020000_*\"\n")
	verb(t, "run", at("chosen.toml"), "--out", at("by-key"), "--quiet", "--set", "plots=none")
	sameRows(t, "attempts of the cluster that a scenario chooses", table("one"), table("by-key"))
	verb(t, "size", at("both"), at("offers.toml"), "--job", "job_201001020000_*", "--out", at("sized"), "--quiet")
	if out := verb(t, "convert", at("both"), "--job", "job_201001020000_*", "--to", "rumen", "--out", at("part")); !strings.Contains(out, " 3 machines") {
		t.Errorf("convert of one cluster: %s", out)
	}
	if code, _, errs := call("", "run", at("both"), "--job", "nothing*", "--out", at("none")); code == exitDone || !strings.Contains(errs, "matches none of 4 jobs") {
		t.Errorf("a pattern that matches no job: exit %d: %s", code, errs)
	}
}

// An attempt that hung until its timeout did not commit.
func TestHungAttempts(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "attempts.csv", `job,task,kind,attempt,state,node,start_ns,finish_ns,p_shuffle_ns,p_merge_ns
a,0,map,0,FAILED,n1,1000000000,601000000000,,
a,0,map,1,SUCCEEDED,n1,604000000000,624000000000,,
a,0,reduce,0,FAILED,n1,627000000000,1227000000000,,
a,0,reduce,1,SUCCEEDED,n1,1230000000000,1250000000000,5000000000,1000000000
b,0,map,0,FAILED,n1,1300000000000,1900000000000,,
b,0,map,1,SUCCEEDED,n1,1903000000000,1923000000000,,
`)
	verb(t, "run", "attempts.csv", "--out", "out", "--quiet", "--set", "plots=none")
	hung := 0
	for _, row := range rowsOf(t, "out/attempts.csv") {
		if row["state"] != "FAILED" || strings.HasSuffix(row["kind"], "cleanup") {
			continue
		}
		hung++
		if row["p_commit_ns"] != "0" {
			t.Errorf("%s %s: commit of %s ns", row["job"], row["kind"], row["p_commit_ns"])
		}
	}
	if hung != 3 {
		t.Errorf("%d attempts hung, want 3", hung)
	}
}
