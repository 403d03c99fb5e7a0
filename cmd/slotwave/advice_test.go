package main

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/workload"
)

// The tests of this file ask predict --deadline and tune about random scenarios, and
// judge the answers by further verbs with seeds that the answers have not seen. They
// ask a few; with SLOTWAVE_LARGE, as many as docs/validation.md has.

// questions returns how many scenarios a test asks about.
func questions(few, many int) int {
	if n, err := strconv.Atoi(os.Getenv("SLOTWAVE_LARGE")); err == nil && n > 1 {
		return n
	}
	if layers.Whole {
		return many
	}
	return few
}

// adviceScenario draws a scenario of the given number of jobs, each with 512 MB to
// mostMB of input.
func adviceScenario(r *rand.Rand, jobs, mostMB int) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	number := func(of ...int) int { return of[r.IntN(len(of))] }
	var b strings.Builder
	fmt.Fprintf(&b, `name = "random"
title = "random jobs"
fidelity = "device"
plots = "none"
attempts = "none"
[cluster]
hadoop = %q
nodes = %d
platform = %q
map_slots = %d
reduce_slots = %d
[scheduler]
name = %q
[conf]
"dfs.block.size" = %d
"mapred.child.java.opts" = "-Xmx%dm"
"mapred.reduce.slowstart.completed.maps" = %v
"mapred.map.tasks.speculative.execution" = false
"mapred.reduce.tasks.speculative.execution" = false
"mapred.compress.map.output" = %t
`, pick("0.20.2", "1.0.4", "1.2.1"), 2+r.IntN(11),
		pick("dl145-g3", "ec2-large", "hitune-xeon", "powerlinux-7r2", "server-2025"), 1+r.IntN(3), 1+r.IntN(2),
		pick("fifo", "fifo", "fair2"), number(64, 64, 128)<<20, number(400, 700, 1000), []float64{0.05, 1}[r.IntN(2)], r.IntN(4) == 0)
	for i := range jobs {
		fmt.Fprintf(&b, `[[job]]
name = "job%d"
submit = "%ds"
profile = %q
input = "%d MB"
reduces = %d
`, i, i*r.IntN(60), pick("terasort", "wordcount", "sort", "grep", "inverted-index", "term-vector", "sequence-count",
			"self-join", "adjacency-list", "ranked-inverted-index", "classification", "kmeans", "join"),
			512+r.IntN(mostMB-512), 1+r.IntN(16))
	}
	return b.String()
}

// makespans runs a scenario with the given seed and settings, and returns the
// makespans of its replications, s.
func makespans(t *testing.T, scenario, dir string, seed, n int, set ...string) []float64 {
	t.Helper()
	args := []string{"run", scenario, "--quiet", "--force", "--out", dir, "--seed", strconv.Itoa(seed), "--replications", strconv.Itoa(n)}
	for _, s := range set {
		args = append(args, "--set", s)
	}
	if code, _, stderr := call("", args...); code != exitDone {
		t.Fatalf("%v: %s", args, stderr)
	}
	return secondsOf(t, filepath.Join(dir, "points.csv"))
}

// secondsOf returns the makespans of a points.csv.
func secondsOf(t *testing.T, file string) (seconds []float64) {
	t.Helper()
	for _, row := range rowsOf(t, file) {
		ns, err := strconv.ParseFloat(row["makespan_ns"], 64)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		seconds = append(seconds, ns/1e9)
	}
	return seconds
}

// rowsOf reads a table of results (.csv) or of measurements, whose cells tabs divide.
func rowsOf(t *testing.T, file string) (rows []map[string]string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	in := csv.NewReader(r)
	if !strings.HasSuffix(file, ".csv") {
		in.Comma = '\t'
	}
	table, err := in.ReadAll()
	if err != nil || len(table) < 2 {
		t.Fatalf("%s: %d rows, %v", file, len(table), err)
	}
	for _, cells := range table[1:] {
		row := map[string]string{}
		for i, name := range table[0] {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func average(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// share writes a share with its 95 % interval (Wilson).
func share(k, n int) string {
	p, m, z := float64(k)/float64(n), float64(n), 1.96
	mid, half := (p+z*z/(2*m))/(1+z*z/m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))/(1+z*z/m)
	return fmt.Sprintf("%d of %d: %.1f %% (%.1f to %.1f %%)", k, n, 100*p, 100*(mid-half), 100*(mid+half))
}

// TestDeadlineAdvice: the size that predict --deadline recommends meets the deadline
// with fresh seeds, and one node less does not. A deadline is the time on a random
// number of nodes and up to a tenth more.
func TestDeadlineAdvice(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates many sizes")
	}
	t.Parallel()
	const fresh = 10
	r := rand.New(rand.NewPCG(13, 3))
	dir := t.TempDir()
	var met, runs, missed, fewerRuns, none, sizes, mostMiss int
	for i := range questions(1, 100) {
		jobs := 1
		if i%8 == 7 {
			jobs = 3 + r.IntN(3)
		}
		file, out := filepath.Join(dir, fmt.Sprintf("q%03d.toml", i)), filepath.Join(dir, "run")
		text := adviceScenario(r, jobs, 6144)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		on := func(nodes int) string { return fmt.Sprintf("cluster.nodes=%d", nodes) }
		size, slack := 2+r.IntN(11), 1+r.Float64()/10
		deadline := time.Duration(slack * makespans(t, file, out, 77, 2, on(size))[0] * 1e9).Round(time.Second)
		code, answer, stderr := call("", "predict", file, "--deadline", deadline.String(), "--json", "--quiet")
		var found struct {
			Answer *struct{ Nodes int }
		}
		if err := json.Unmarshal([]byte(answer), &found); code != exitDone || err != nil {
			t.Fatalf("%d %s %v\n%s", code, stderr, err, answer)
		}
		if found.Answer == nil { // the deadline lies within the scatter of the fastest size
			none++
			t.Logf("question %3d: %d jobs, %v, drawn %2d, no size is in time in every replication", i, jobs, deadline, size)
			continue
		}
		nodes := found.Answer.Nodes
		inTime := func(nodes int) (n int) {
			for _, s := range makespans(t, file, out, 1000, fresh, on(nodes)) {
				if s <= deadline.Seconds() {
					n++
				}
			}
			return n
		}
		good, below := inTime(nodes), -1
		met, runs = met+good, runs+fresh
		if nodes > 1 {
			below = inTime(nodes - 1)
			missed, fewerRuns, sizes = missed+fresh-below, fewerRuns+fresh, sizes+1
			if 2*below < fresh {
				mostMiss++
			}
		}
		t.Logf("question %3d: %d jobs, %v, drawn %2d, recommended %2d: in time %2d of %d, with one node less %2d", i, jobs, deadline, size, nodes, good, fresh, below)
	}
	t.Logf("the recommended size is in time: %s; no size recommended: %d questions", share(met, runs), none)
	t.Logf("one node less is late: %s; in most runs: %s", share(missed, fewerRuns), share(mostMiss, sizes))
	if float64(met) < 0.9*float64(runs) {
		t.Errorf("the recommended size is in time in %s: want 90 %%", share(met, runs))
	}
	if float64(missed) < 0.8*float64(fewerRuns) && sizes >= 20 { // a few questions scatter too much
		t.Errorf("one node less is late in %s: want 80 %%", share(missed, fewerRuns))
	}
}

// codecsOf are the codecs of map output that tune tries for a release.
func codecsOf(hadoop string) []string {
	codecs := []string{"org.apache.hadoop.io.compress.DefaultCodec", "com.hadoop.compression.lzo.LzoCodec", "org.apache.hadoop.io.compress.SnappyCodec"}
	if strings.HasPrefix(hadoop, "0.") {
		return codecs[:2]
	}
	return codecs
}

// randomSettings is a study of random settings of a job, within the ranges of tune.
// Each sample is combined with each codec, and with no compression.
func randomSettings(scenario string, codecs []string, reduces, sortMB, samples int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "scenario = %q\nsamples = %d\n", scenario, samples)
	factor := func(key string, from, to float64) {
		format := "%g"
		if from == 0 || from != math.Trunc(from) || to != math.Trunc(to) {
			format = "%.2f"
		}
		fmt.Fprintf(&b, "[[factor]]\nkey = %q\nfrom = "+format+"\nto = "+format+"\n", key, from, to)
	}
	inConf := func(key string) string { return "job.0.conf." + strconv.Quote(key) }
	for _, key := range workload.Properties() {
		p, _ := workload.FindProperty(key)
		switch {
		case p.Tuned == nil || p.Switch():
		case key == "mapred.job.shuffle.merge.percent":
			// Above 0.75 a reduce with few sources can wait for memory without end, as
			// in Hadoop, which ends the study.
			factor(inConf(key), p.Tuned[0], 0.75)
		case key == "io.sort.mb":
			factor(inConf(key), min(p.Tuned[0], float64(sortMB)), float64(sortMB))
		default:
			factor(inConf(key), p.Tuned[0], p.Tuned[1])
		}
	}
	factor("job.0.reduces", 1, float64(reduces))
	used := "false" + strings.Repeat(", true", len(codecs))
	fmt.Fprintf(&b, "[[factor]]\nkey = %q\nvalues = [%s]\nzip = \"codec\"\n", inConf("mapred.compress.map.output"), used)
	fmt.Fprintf(&b, "[[factor]]\nkey = %q\nvalues = [\"%s\"]\nzip = \"codec\"\n", inConf("mapred.map.output.compression.codec"),
		strings.Join(append(codecs[:1:1], codecs...), `", "`))
	return b.String()
}

// tunedJob is what tune says of a job, judged with fresh seeds.
type tunedJob struct {
	gain   float64 // of the winner over the scenario's settings
	behind float64 // the winner's time over that of the best random settings, less 1
	slower bool    // the winner is slower, beyond its interval
	took   time.Duration
}

// TestTuneAdvice: the settings that tune finds are faster than those of the
// scenario, and nearly as fast as the best of many random settings. The best five of
// these are chosen by one run each; the times are means over fresh seeds.
func TestTuneAdvice(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates thousands of settings")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(13, 4))
	dir, samples := t.TempDir(), 120
	if layers.Whole {
		samples = 2000
	}
	var gains, behind []float64
	var longest time.Duration
	worse := 0
	for i := range questions(1, 30) {
		file := filepath.Join(dir, fmt.Sprintf("t%03d.toml", i))
		// Hadoop's defaults are the settings to start from.
		var text strings.Builder
		for _, line := range strings.Split(adviceScenario(r, 1, 3072), "\n") {
			if !strings.Contains(line, "slowstart") && !strings.Contains(line, "compress.map") {
				text.WriteString(line + "\n")
			}
		}
		if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		j := judgeTuned(t, file, dir, samples)
		gains, behind, longest = append(gains, j.gain), append(behind, j.behind), max(longest, j.took)
		if j.slower {
			worse++
		}
		t.Logf("job %2d: gain %.1f %%, %+.1f %% from the best of %d random settings, tuned in %v", i, 100*j.gain, 100*j.behind, samples, j.took.Round(time.Second))
	}
	slices.Sort(gains)
	slices.Sort(behind)
	n := len(gains)
	t.Logf("gain: median %.1f %%, %.1f to %.1f %%; against the best random settings: median %+.1f %%, worst %+.1f %%; within 5 %%: %s; slower: %d; longest %v",
		100*gains[n/2], 100*gains[0], 100*gains[n-1], 100*behind[n/2], 100*behind[n-1],
		share(len(slices.DeleteFunc(slices.Clone(behind), func(b float64) bool { return b > 0.05 })), n), worse, longest.Round(time.Second))
	if worse > 0 || behind[n/2] > 0.05 || n >= 10 && gains[n/2] < 0.2 {
		t.Errorf("gain %.1f %% in the median, %+.1f %% from the best random settings, %d slower: want 20 %%, 5 %% and none", 100*gains[n/2], 100*behind[n/2], worse)
	}
}

func judgeTuned(t *testing.T, file, dir string, samples int) (j tunedJob) {
	t.Helper()
	out := filepath.Join(dir, "tuned")
	began := time.Now()
	code, answer, stderr := call("", "tune", file, "--json", "--quiet")
	j.took = time.Since(began)
	var tuned struct {
		Set      []string
		Settings []struct{ Setting string }
	}
	if err := json.Unmarshal([]byte(answer), &tuned); code != exitDone || err != nil {
		t.Fatalf("%d %s %v\n%s", code, stderr, err, answer)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	nodes, slots, heap := 0, 0, 0
	hadoop := ""
	for _, line := range strings.Split(string(text), "\n") {
		fmt.Sscanf(line, "nodes = %d", &nodes)
		fmt.Sscanf(line, "reduce_slots = %d", &slots)
		fmt.Sscanf(line, `"mapred.child.java.opts" = "-Xmx%dm"`, &heap)
		fmt.Sscanf(line, "hadoop = %q", &hadoop)
	}
	codecs := codecsOf(hadoop)
	asked := filepath.Join(dir, "random.toml")
	if err := os.WriteFile(asked, []byte(randomSettings(filepath.Base(file), codecs, 2*nodes*slots, heap*6/10, samples/(len(codecs)+1))), 0o666); err != nil {
		t.Fatal(err)
	}
	swept := filepath.Join(dir, "swept")
	if err := os.RemoveAll(swept); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call("", "sweep", asked, "--quiet", "--out", swept); code != exitDone {
		t.Fatal(stderr)
	}
	rows, seconds := rowsOf(t, filepath.Join(swept, "points.csv")), secondsOf(t, filepath.Join(swept, "points.csv"))
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, seconds[a]-seconds[b])) })
	const seed, fresh = 4000, 10
	best := math.Inf(1)
	for _, i := range order[:5] {
		var set []string
		for key, value := range rows[i] {
			if strings.HasPrefix(key, "job.0.") {
				if strings.Contains(key, "codec") {
					value = strconv.Quote(value)
				}
				set = append(set, key+"="+value)
			}
		}
		best = min(best, average(makespans(t, file, out, seed, fresh, set...)))
	}
	before, after := makespans(t, file, out, seed, fresh), makespans(t, file, out, seed, fresh, tuned.Set...)
	j.gain, j.behind = 1-average(after)/average(before), average(after)/best-1
	differences := make([]float64, fresh)
	spread := 0.0
	for i := range differences {
		differences[i] = after[i] - before[i]
	}
	for _, d := range differences {
		spread += (d - average(differences)) * (d - average(differences))
	}
	const t975 = 2.262 // Student's t with 9 degrees of freedom
	j.slower = average(differences) > t975*math.Sqrt(spread/(fresh-1)/fresh)
	return j
}

// TestTuneSortBuffer: two spills and more, of which all but the last are written
// while the map function runs, save time here only if the three settings of the sort
// buffer change together.
func TestTuneSortBuffer(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates hundreds of settings")
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "asked.toml")
	if err := os.WriteFile(file, []byte(`fidelity = "device"
[cluster]
hadoop = "1.0.4"
nodes = 7
platform = "hitune-xeon"
map_slots = 3
reduce_slots = 1
[scheduler]
name = "fair2"
[conf]
"mapred.child.java.opts" = "-Xmx700m"
"mapred.map.tasks.speculative.execution" = false
"mapred.reduce.tasks.speculative.execution" = false
[[job]]
profile = "ranked-inverted-index"
input = "3315 MB"
reduces = 15
`), 0o666); err != nil {
		t.Fatal(err)
	}
	code, answer, stderr := call("", "tune", file, "--json", "--quiet")
	var tuned struct{ Gain struct{ Mean float64 } }
	if err := json.Unmarshal([]byte(answer), &tuned); code != exitDone || err != nil {
		t.Fatalf("%d %s %v\n%s", code, stderr, err, answer)
	}
	// One setting after another gains 33 %.
	if tuned.Gain.Mean < 0.38 {
		t.Errorf("gain %.1f %%: want 38 %% or more", 100*tuned.Gain.Mean)
	}
}
