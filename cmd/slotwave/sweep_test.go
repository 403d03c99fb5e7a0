package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
)

const sweptScenario = `
[cluster]
nodes = 3
map_slots = 2
reduce_slots = 1
[[job]]
name = "a"
jobs = 30
interarrival = { dist = "exponential", mean = "20s" }
maps = 8
duration = { dist = "exponential", mean = "10s" }
[vary]
"scheduler.name" = ["fifo", "fair2"]
`

const sweptStudy = `
scenario = "my.toml"
replications = 4
metrics = ["mean_response_ns", "makespan_ns"]
samples = 3

[[factor]]
key = "cluster.nodes"
from = 2
to = 6
step = 2
zip = "size"

[[factor]]
key = "cluster.map_slots"
values = [4, 2, 1]
zip = "size"

[[factor]]
key = "cluster.costs.launch"
values = ["1s", "2s"]

[[factor]]
key = "cluster.slowdown"
from = 0.5
to = 2.0
scale = "log"

[baseline]
"scheduler.name" = "fair2"
`

// sweepFolder is a folder with a study of 36 points, in which the test goes on.
func sweepFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	writeFile(t, "my.toml", sweptScenario)
	writeFile(t, "mystudy.toml", sweptStudy)
}

// tree is the content of a result but for its log.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if e.Name() != resultdir.LogName {
			files[e.Name()] = read(t, filepath.Join(folder, e.Name()))
		}
	}
	return files
}

func sameTree(t *testing.T, got, want map[string]string, what string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs", what, name)
		}
	}
	if len(got) != len(want) || len(want) < 4 {
		t.Errorf("%s: got %d files: want %d, the manifest, three tables and pictures", what, len(got), len(want))
	}
}

// The number of workers and the division into shards leave no mark.
func TestSweepSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("runs one sweep five ways")
	}
	sweepFolder(t)
	verb(t, "sweep", "mystudy.toml", "--quiet", "--out", "one", "--workers", "1")
	want := tree(t, "one")
	if n := strings.Count(want[points.Name], "\n"); n != 1+36*4 {
		t.Errorf("points.csv: got %d lines: want a header and 144 simulations", n)
	}
	for _, workers := range []string{"2", "8"} {
		verb(t, "sweep", "mystudy.toml", "--quiet", "--out", "more"+workers, "--workers", workers)
		sameTree(t, tree(t, "more"+workers), want, workers+" workers")
	}
	lines := strings.SplitAfter(verb(t, "sweep", "plan", "mystudy.toml"), "\n")
	merge := []string{"sweep", "merge", "--quiet", "--out", "merged"}
	for shard := range 3 {
		name := "shard" + string(rune('a'+shard))
		text := ""
		for i := shard; i < len(lines); i += 3 {
			text += lines[i]
		}
		writeFile(t, name, text)
		verb(t, "sweep", "work", name, "--quiet")
		verb(t, "sweep", "work", name, "--quiet") // finished
		merge = append(merge, name+".rows")
	}
	verb(t, merge...)
	sameTree(t, tree(t, "merged"), want, "three shards")
	for _, c := range []struct {
		rows []string
		want string
	}{
		{[]string{"sharda.rows", "shardb.rows"}, "point 3 (scheduler.name=fifo cluster.nodes=2 cluster.map_slots=4 cluster.costs.launch=1s"},
		{[]string{"sharda.rows", "shardb.rows", "shardc.rows", "sharda.rows"}, "is in sharda.rows too"},
	} {
		code, _, stderr := call("", append([]string{"sweep", "merge", "--out", "refused"}, c.rows...)...)
		if code != exitInput || !strings.Contains(stderr, c.want) {
			t.Errorf("merge %v: exit code %d, %q: want %q", c.rows, code, stderr, c.want)
		}
	}
	foreign := strings.Replace(strings.SplitAfter(read(t, "sharda.rows"), "\n")[1], `"point":1,`, `"point":99,`, 1)
	foreign = strings.SplitAfter(read(t, "sharda.rows"), "\n")[0] + sealedAgain(foreign)
	writeFile(t, "foreign.rows", foreign)
	code, _, stderr := call("", "sweep", "merge", "--out", "refused", "foreign.rows")
	if code != exitInput || !strings.Contains(stderr, "foreign.rows:2: point 99, replication") {
		t.Errorf("a foreign point: exit code %d, %q", code, stderr)
	}
	if _, err := os.Stat("refused"); err == nil {
		t.Error("a refused merge left a folder")
	}
	writeFile(t, "my.toml", strings.Replace(sweptScenario, "maps = 8", "maps = 9", 1))
	if code, _, stderr := call("", "sweep", "work", "sharda"); code != exitInput || strings.Count(stderr, "SHA-256") != 1 {
		t.Errorf("work on a changed scenario: exit code %d, %q", code, stderr)
	}
}

// sealedAgain corrects the checksum of a row.
func sealedAgain(row string) string {
	row, _, _ = strings.Cut(row, `,"crc32c":`)
	return fmt.Sprintf("%s,\"crc32c\":\"%08x\"}\n", row, crc32.Checksum([]byte(row), crc32.MakeTable(crc32.Castagnoli)))
}

// The same sweep twice as two points differs by exactly nothing.
func TestSweepAgainstItself(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "my.toml", strings.Replace(sweptScenario, `"scheduler.name" = ["fifo", "fair2"]`, `"cluster.heartbeat" = ["3s", "3000ms"]`, 1))
	verb(t, "run", "my.toml", "--set", "plots=none", "--quiet", "--out", "out", "--replications", "3")
	compared := 0
	for _, line := range strings.Split(read(t, "out/summary.csv"), "\n") {
		cells := strings.Split(line, ",")
		if len(cells) < 16 || cells[3] != "makespan_ns" {
			continue
		}
		compared++
		if got := strings.Join(cells[8:15], " "); got != "3 0 0 0 1 1 1" {
			t.Errorf("got %s: want 3 pairs without a difference", got)
		}
	}
	if compared != 2 {
		t.Errorf("got %d points: want 2", compared)
	}
}

// sweepProgram returns the command that sweeps mystudy.toml, as a process that can be
// killed. TestMain puts the program on the path.
func sweepProgram(out string) *exec.Cmd {
	return exec.Command("slotwave", "sweep", "mystudy.toml", "--quiet", "--workers", "2", "--out", out)
}

// killWithin kills a sweep once its journal has some lines, and reports whether the
// sweep was done before.
func killWithin(c *exec.Cmd, journal string, lines int) (done bool) {
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		data, _ := os.ReadFile(journal) // there is none before the first simulation
		if strings.Count(string(data), "\n") >= lines {
			c.Process.Kill()
			return <-ended == nil
		}
		select {
		case err := <-ended:
			return err == nil
		case <-time.After(time.Millisecond):
		}
	}
}

// A sweep that is killed at any time goes on with the same command: finished
// simulations are kept, and the result is the same.
func TestSweepKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills many sweeps")
	}
	sweepFolder(t)
	trials, wanted := 12, 5
	if layers.Whole { // 300 points, killed at 100 times
		trials, wanted = 1000, 100
		writeFile(t, "mystudy.toml", "scenario = \"my.toml\"\n[[factor]]\nkey = \"cluster.slowdown\"\nfrom = 0.5\nto = 2.0\ncount = 150\n")
	}
	if out, err := sweepProgram("whole").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := tree(t, "whole")
	all := strings.Count(want[points.Name], "\n") // lines of a whole journal
	journal := filepath.Join("killed", resultdir.JournalName)
	random := rand.New(rand.NewPCG(1, 1))
	kills, finished, most := 0, 0, 0
	for trial := 0; trial < trials && kills < wanted; trial++ {
		c := sweepProgram("killed")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if killWithin(c, journal, random.IntN(all)) {
			sameTree(t, tree(t, "killed"), want, "finished before the kill")
			os.RemoveAll("killed")
			finished = 0
			continue
		}
		kills++
		data, err := os.ReadFile(journal)
		if err != nil {
			continue // killed before or after there was one
		}
		if n := strings.Count(string(data), "\n"); n < finished {
			t.Errorf("the journal shrank from %d to %d lines", finished, n)
		} else {
			finished = n
			most = max(most, n)
		}
		seen := map[string]bool{}
		for _, line := range strings.Split(string(data), "\n") {
			key, _, whole := strings.Cut(line, `"seed"`)
			if whole && seen[key] {
				t.Errorf("computed twice: %s", key)
			}
			seen[key] = whole
		}
		if kills%4 == 0 { // as if it had been killed within a write
			writeFile(t, journal, string(data)+`{"point":3,"repl`)
		}
	}
	t.Logf("%d kills; at most %d lines in a journal", kills, most)
	if kills < wanted/2-1 || most < 2 {
		t.Fatalf("%d kills and at most %d lines in a journal: want %d kills or more, some within the sweep", kills, most, wanted/2-1)
	}
	if out, err := sweepProgram("killed").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sameTree(t, tree(t, "killed"), want, "after kills")
}

// A journal of other inputs is refused with both sums, and stays.
func TestSweepChangedInputs(t *testing.T) {
	sweepFolder(t)
	verb(t, "sweep", "plan", "mystudy.toml")
	lines := strings.SplitAfter(verb(t, "sweep", "plan", "mystudy.toml"), "\n")
	writeFile(t, "shard", lines[0])
	verb(t, "sweep", "work", "shard", "--quiet")
	if err := os.Mkdir("out", 0o777); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join("out", resultdir.JournalName)
	writeFile(t, journal, read(t, "shard.rows"))
	writeFile(t, "my.toml", strings.Replace(sweptScenario, "maps = 8", "maps = 9", 1))
	code, _, stderr := call("", "sweep", "mystudy.toml", "--quiet", "--out", "out")
	if code != exitInput || !strings.Contains(stderr, "made from other inputs or flags than those of") || !strings.Contains(stderr, "mystudy.toml (SHA-256 ") {
		t.Errorf("exit code %d, %q: want a refusal with both sums", code, stderr)
	}
	if read(t, journal) != read(t, "shard.rows") {
		t.Error("the refused journal changed")
	}
}

// A key without a dot is set in every [[job]] table, however many jobs that makes.
func TestOverJobKey(t *testing.T) {
	sweepFolder(t)
	verb(t, "sweep", "my.toml", "--over", "maps=4,9", "--quiet", "--out", "out")
	if points := read(t, "out/points.csv"); !strings.Contains(points, "\n4,my,fair2,9,1,1,") {
		t.Errorf("got %s: want a fourth point with 9 maps", points)
	}
}

// A warning is printed once, with the number of points that have it; an assumption too,
// marked if not all points make it.
func TestSweepWarnings(t *testing.T) {
	sweepFolder(t)
	writeFile(t, "my.toml", sweptScenario+"[conf]\n\"my.own.property\" = 1\n")
	code, stdout, stderr := call("", "sweep", "mystudy.toml", "-v", "--out", "out")
	if code != exitDone || strings.Count(stderr, "my.own.property") != 1 || !strings.Contains(stderr, "(36 points)") {
		t.Errorf("exit code %d, %q: want one warning of 36 points", code, stderr)
	}
	if strings.Count(stdout, "cluster.costs.setup") != 1 || strings.Contains(stdout, "(some points)") {
		t.Errorf("%s: want the assumption on cluster.costs.setup once, of all points", stdout)
	}
	_, stdout, _ = call("", "sweep", "my.toml", "-v", "--over", "cluster.hadoop=ideal,0.20.2", "--out", "ideal")
	if strings.Count(stdout, "cluster.costs.setup") != 1 || !strings.Contains(stdout, "(some points)") {
		t.Errorf("%s: want the assumption on cluster.costs.setup once, of some points", stdout)
	}
	writeFile(t, "plan", verb(t, "sweep", "plan", "mystudy.toml"))
	verb(t, "sweep", "work", "plan", "--quiet")
	if _, _, stderr = call("", "sweep", "merge", "plan.rows", "--out", "merged"); strings.Count(stderr, "my.own.property") != 1 {
		t.Errorf("merge: %q: want one warning", stderr)
	}
	code, _, stderr = call("", "compare", "my.toml", "--over", "cluster.nodes=3,4,5", "--set=models.causes=false")
	if code != exitDone || strings.Count(stderr, "my.own.property") != 1 {
		t.Errorf("exit code %d, %q: want one warning", code, stderr)
	}
}

// With a precision a point gets replications until its interval is narrow.
func TestSweepPrecision(t *testing.T) {
	sweepFolder(t)
	writeFile(t, "mystudy.toml", "scenario = \"my.toml\"\nprecision = \"10 %\"\nmetrics = [\"makespan_ns\"]\n")
	verb(t, "sweep", "mystudy.toml", "--quiet", "--out", "out")
	points := strings.Count(read(t, "out/points.csv"), "\n") - 1
	if points <= 4 || points >= 2000 {
		t.Errorf("got %d simulations of 2 points: want more than two of each, fewer than the most", points)
	}
}

// Mistakes in a study name the file, the line and the key.
func TestStudyMistakes(t *testing.T) {
	sweepFolder(t)
	for text, want := range map[string]string{
		"scenario = \"my.toml\"\nreplicatons = 3\n":                                                  "my2.toml:2: unknown key replicatons (did you mean replications?)",
		"scenario = \"my.toml\"\nmetrics = [\"makespan\"]\n":                                         "my2.toml:2: metrics: \"makespan\": want a metric",
		"scenario = \"my.toml\"\n[[factor]]\nkey = \"cluster.nodes\"\n":                              "my2.toml:2: factor[0]: want values, or from and to",
		"scenario = \"my.toml\"\n[[factor]]\nkey = \"cluster.nodes\"\nvalues = [3, -1]\n":            "cluster.nodes",
		"scenario = \"my.toml\"\n[[factor]]\nkey = \"cluster.nodes\"\nfrom = 9\nto = 3\ncount = 2\n": "my2.toml:4: factor[0].from: got 9 to 3",
		"scenario = \"my.toml\"\nprecision = 2\n":                                                    "my2.toml:2: precision: 2: want a fraction",
		"scenario = \"my.toml\"\n[baseline]\n\"scheduler.name\" = \"lifo\"\n":                        "baseline: got scheduler.name=lifo: want values of the factors",
		"scenario = \"no.toml\"\n":                                                                   "no.toml: no such file",
	} {
		writeFile(t, "my2.toml", text)
		code, _, stderr := call("", "sweep", "my2.toml", "--out", "refused")
		if code != exitInput || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, %q: want %q", text, code, stderr, want)
		}
	}
	if _, err := os.Stat("refused"); err == nil {
		t.Error("a refused study left a folder")
	}
}

// A folder and a file of rows have one writer at a time.
func TestSweepTwice(t *testing.T) {
	sweepFolder(t)
	d, err := resultdir.Create("out", resultdir.Purpose{})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"sweep", "run"} {
		code, _, stderr := call("", verb, "my.toml", "--out", "out")
		if code != exitInput || !strings.Contains(stderr, "out: another slotwave is writing here") {
			t.Errorf("%s: exit code %d, %q: want a refusal", verb, code, stderr)
		}
	}
	d.Abort()
	verb(t, "sweep", "my.toml", "--quiet", "--out", "out")

	lines := strings.SplitAfter(verb(t, "sweep", "plan", "mystudy.toml"), "\n")
	writeFile(t, "shard", lines[0])
	f, err := os.Create("shard.rows")
	if err != nil {
		t.Fatal(err)
	}
	if err := resultdir.Lock(f); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call("", "sweep", "work", "shard"); code != exitInput || !strings.Contains(stderr, "another slotwave") {
		t.Errorf("exit code %d, %q: want a refusal", code, stderr)
	}
	f.Close()
	verb(t, "sweep", "work", "shard", "--quiet")
}

// The pictures of a sweep follow from what varies.
func TestSweepPictures(t *testing.T) {
	sweepFolder(t)
	for want, over := range map[string][]string{
		"line":    {"--set", "scheduler.name=fifo", "--over", "cluster.map_slots=1,2,3", "--over", "cluster.nodes=3:6:1"},
		"means":   {"--over", "scheduler.name=fifo,fair2"},
		"tornado": {"--set", "scheduler.name=fifo", "--over", "cluster.nodes=3:11:1", "--over", "cluster.map_slots=1:9:1"},
	} {
		verb(t, append([]string{"sweep", "my.toml", "--replications", "2", "--quiet", "--out", want}, over...)...)
		files := tree(t, want)
		if want == "line" && !strings.Contains(files["line.svg"], "legend: cluster.map_slots = 1, cluster.map_slots = 2, cluster.map_slots = 3") {
			t.Error("want a line for each value of the first factor")
		}
		if len(files) != 5 || !strings.Contains(files[want+".svg"], ">"+strings.SplitN(over[len(over)-1], "=", 2)[0]+"<") {
			t.Errorf("%v: got %d files: want %s.svg with the name of the factor", over, len(files), want)
		}
	}
}

// A metric of some jobs is the statistic of these rows of jobs.csv.
func TestSweepMetrics(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "my.toml", strings.Split(sweptScenario, "[vary]")[0]+"[[job]]\nname = \"b\"\njobs = 20\npool = \"p\"\nmaps = 3\ninterarrival = { dist = \"exponential\", mean = \"9s\" }\nduration = { dist = \"exponential\", mean = \"10s\" }\n")
	asked := []string{"--metric", "p95_response_ns[pool=p]", "--metric", "mean_response_ns[maps=:3]", "--metric", "price"}
	verb(t, append([]string{"sweep", "my.toml", "--set", "cluster.price_per_hour=2", "--over", "scheduler.name=fair2,fifo", "--quiet", "--out", "swept"}, asked...)...)
	verb(t, "run", "my.toml", "--set", "plots=none", "--set", "scheduler.name=fair2", "--quiet", "--out", "run")
	column := func(text, name string, keep func(map[string]string) bool) (values []float64) {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			cells := map[string]string{}
			for i, head := range rows[0] {
				cells[head] = row[i]
			}
			v, err := strconv.ParseFloat(cells[name], 64)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if name == "finish_ns" {
				submit, _ := strconv.ParseFloat(cells["submit_ns"], 64)
				v -= submit
			}
			if keep(cells) {
				values = append(values, v)
			}
		}
		return values
	}
	every := func(map[string]string) bool { return true }
	responses := column(read(t, "run/jobs.csv"), "finish_ns", func(c map[string]string) bool { return c["pool"] == "p" && c["maps"] == "3" })
	slices.Sort(responses)
	sum := 0.0
	for _, r := range responses {
		sum += r
	}
	points := read(t, "swept/points.csv")
	for name, want := range map[string]float64{
		"p95_response_ns[pool=p]": responses[18], "mean_response_ns[maps=:3]": math.Round(sum / 20),
		"price": 3 * 2 * column(points, "makespan_ns", every)[0] / 3600e9,
	} {
		if got := column(points, name, every)[0]; math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: got %v: want %v", name, got, want)
		}
	}
	if n := strings.Count(read(t, "swept/summary.csv"), "\n"); n != 1+2*3 {
		t.Errorf("summary.csv: got %d lines: want a header and three metrics of two points", n)
	}
	verb(t, "run", "swept/manifest.json", "--out", "again")
	var compared struct{ Metrics []map[string]any }
	out := verb(t, "compare", "my.toml", "--over", "scheduler.name=fifo,fair2", "--set=models.causes=false", "--json", "--metric", "p95_response_ns[pool=p]")
	if err := json.Unmarshal([]byte(out), &compared); err != nil || len(compared.Metrics) != 2 || compared.Metrics[1]["mean"] != responses[18] {
		t.Errorf("compare: got %v, %v: want %v for fair2", compared.Metrics, err, responses[18])
	}
	if code, _, stderr := call("", "sweep", "my.toml", "--metric", "p95_response", "--out", "refused"); code != exitInput || !strings.Contains(stderr, "--metric") {
		t.Errorf("exit code %d, %q: want a refusal", code, stderr)
	}
}

// A baseline of one factor is a point for each level of the others, and ranks are those
// among the points of the same level. Sobol samples put one point into each part.
func TestSweepBaselines(t *testing.T) {
	sweepFolder(t)
	base := []string{"sweep", "my.toml", "--replications", "3", "--quiet"}
	verb(t, append(base, "--over", "cluster.nodes=2,4", "--baseline", "scheduler.name=fair2", "--out", "both")...)
	rows, err := csv.NewReader(strings.NewReader(read(t, "both/summary.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, nodes := range []string{"2", "4"} {
		verb(t, append(base, "--set", "cluster.nodes="+nodes, "--baseline", "scheduler.name=fair2", "--out", "only"+nodes)...)
		alone, err := csv.NewReader(strings.NewReader(read(t, "only"+nodes+"/summary.csv"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var some [][]string
		for _, row := range rows[1:] {
			if row[3] == nodes {
				some = append(some, row)
			}
		}
		for i, row := range alone[1:] {
			if i >= len(some) || !slices.Equal(row[3:], some[i][4:]) {
				t.Fatalf("%s nodes: got %v: want %v", nodes, some, row)
			}
		}
	}
	writeFile(t, "mystudy.toml", strings.Replace(strings.Replace(sweptStudy, "samples = 3", "samples = 8\nsampling = \"sobol\"", 1), "replications = 4", "replications = 1", 1))
	verb(t, "sweep", "mystudy.toml", "--quiet", "--out", "sobol")
	seen := map[int]bool{}
	for _, line := range strings.Split(strings.TrimSpace(read(t, "sobol/points.csv")), "\n")[1:9] {
		v, err := strconv.ParseFloat(strings.Split(line, ",")[6], 64)
		if err != nil {
			t.Fatal(err)
		}
		seen[int(8*math.Log(v/0.5)/math.Log(4))] = true
	}
	if len(seen) != 8 {
		t.Errorf("got points in %d of 8 parts of a log scale", len(seen))
	}
}

// validate describes a study, and run names the verb for it.
func TestValidateStudy(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "my.toml"), oneJob)
	for text, want := range map[string][2]string{
		"scenario = \"my.toml\"\n[[factor]]\nkey = \"cluster.nodes\"\nvalues = [2, 4, 6]\n": {"study, 3 points", "sweep"},
		"scenario = \"my.toml\"\n[[goal]]\nfinish = \"20m\"\n":                              {"study of sizes, 1 goal, 1 type of nodes", "size"},
	} {
		name := filepath.Join(dir, "study.toml")
		writeFile(t, name, text)
		if got := verb(t, "validate", name); !strings.Contains(got, want[0]) {
			t.Errorf("%s: want %s", got, want[0])
		}
		if code, _, errs := call("", "run", name); code != exitInput || !strings.Contains(errs, "want a scenario; slotwave "+want[1]) {
			t.Errorf("exit %d, %s: want the verb %s", code, errs, want[1])
		}
	}
}

// A scenario with recorded jobs alone has no [[job]] tables to sweep.
func TestRecordedJobsAreNoTables(t *testing.T) {
	if code, _, errs := call("", "sweep", "fb2009", "--over", "reducers=1,2"); code != exitInput || !strings.Contains(errs, "unknown key reducers") {
		t.Errorf("exit %d, %s: want an unknown key", code, errs)
	}
}
