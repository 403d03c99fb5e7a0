package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/slotwave/slotwave/internal/layers"
)

const sizedScenario = `
[cluster]
nodes = 2
map_slots = 2
reduce_slots = 1
[[job]]
name = "a"
pool = "p"
maps = 24
duration = { dist = "lognormal", mean = "20s", sd = "4s" }
deadline = "3m"
`

// sized is the part of the answer in JSON that the tests read.
type sized struct {
	Answer *struct {
		Type  string `json:"node"`
		Nodes int    `json:"nodes"`
		Fresh bool   `json:"fresh_seeds"`
	} `json:"answer"`
	Sizes []struct {
		Nodes, N, Met int
		Fresh         bool `json:"fresh_seeds"`
	}
	Notes []string
	Error struct {
		Unknown string
		Replay  *struct {
			Jobs   int
			Median float64 `json:"median_error"`
		}
	}
}

func sizeOf(t *testing.T, study string, args ...string) (s sized) {
	t.Helper()
	writeFile(t, "my.toml", sizedScenario)
	writeFile(t, "mysize.toml", "scenario = \"my.toml\"\n"+study)
	out := verb(t, append([]string{"size", "mysize.toml", "--json", "--out", t.TempDir()}, args...)...)
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// The answer is the smallest of all sizes whose runs meet the goals, which a sweep
// over all sizes with the same seeds shows too.
func TestSizeAgainstSweep(t *testing.T) {
	t.Chdir(t.TempDir())
	s := sizeOf(t, "confidence = \"80 %\"\nmax_replications = 40\n[[goal]]\nfinish = \"100s\"\n", "--replications", "40")
	verb(t, "sweep", "my.toml", "--over", "cluster.nodes=1:12:1", "--replications", "40", "--quiet", "--out", "swept")
	rows, err := csv.NewReader(strings.NewReader(read(t, "swept/points.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	met, want := map[string]int{}, ""
	for _, row := range rows[1:] {
		if len(row[5]) < 12 && row[5] <= "99999999999" || row[5] == "100000000000" {
			if met[row[2]]++; met[row[2]] == 32 && want == "" {
				want = row[2]
			}
		}
	}
	if s.Answer == nil || want == "" || want != jsonText(s.Answer.Nodes) {
		t.Errorf("answer %+v: a sweep finds %q", s.Answer, want)
	}
	for _, one := range s.Sizes {
		if !one.Fresh && one.Met != met[jsonText(one.Nodes)] {
			t.Errorf("%d nodes: %d runs meet the goal: %d in a sweep with the same seeds", one.Nodes, one.Met, met[jsonText(one.Nodes)])
		}
	}
}

func jsonText(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// Of types of nodes the one is chosen that has least of what is asked for.
func TestSizeLowest(t *testing.T) {
	const types = `confidence = "80 %"
max_replications = 40
[[goal]]
finish = "100s"
[[node]]
name = "small"
price_per_hour = 1.0
[[node]]
name = "large"
price_per_hour = 2.5
map_slots = 4
`
	t.Chdir(t.TempDir())
	for lowest, want := range map[string]string{"nodes": "large", "price_per_hour": "small", "slots": "large"} {
		if s := sizeOf(t, "lowest = \""+lowest+"\"\n"+types); s.Answer == nil || s.Answer.Type != want {
			t.Errorf("lowest %s: got %+v: want %s nodes", lowest, s.Answer, want)
		}
	}
}

// A study without a scenario takes that of the command line. Each load and offer has a
// line: what the search of that question alone finds, and the cluster as it is. The
// cheapest offer answers, since all have prices.
func TestSizeOffers(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "my.toml", sizedScenario)
	const offers = "confidence = \"80 %\"\nmax_replications = 40\n[[goal]]\njob = \"a*\"\nfinish = \"100s\"\n"
	writeFile(t, "offers.toml", offers+"[[node]]\nname = \"small\"\nprice_per_hour = 1.0\n[[node]]\nname = \"large\"\nprice_per_hour = 2.5\nmap_slots = 4\n")
	code, _, stderr := call("", "size", "offers.toml", "--out", "refused")
	if code != exitInput || !strings.Contains(stderr, "names no scenario") {
		t.Errorf("without a scenario: exit code %d, %q", code, stderr)
	}
	type line struct {
		Load, Node string
		Now        bool `json:"as_it_is"`
		Nodes      int
		Limits     []struct{ Limit string }
	}
	var all struct {
		sized
		Offers []line
	}
	if err := json.Unmarshal([]byte(verb(t, "size", "my.toml", "offers.toml", "--grow", "2", "--json", "--out", "out")), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Offers) != 6 || all.Answer == nil || all.Answer.Type != "small" {
		t.Fatalf("got %+v, answer %+v: want two loads of two offers and the cluster as it is, answered by the cheaper", all.Offers, all.Answer)
	}
	for _, o := range all.Offers {
		set := []string{"--set", o.Load}
		if o.Now != (o.Node == "as it is") || len(o.Limits) == 0 {
			t.Errorf("got %+v: want what limits the jobs", o)
		}
		if o.Now {
			continue
		}
		if o.Node == "large" {
			set = append(set, "--set", "cluster.map_slots=4")
		}
		if alone := sizeOf(t, offers, set...); alone.Answer == nil || alone.Answer.Nodes != o.Nodes {
			t.Errorf("%s, %s: got %d nodes: the search of this question alone finds %+v", o.Load, o.Node, o.Nodes, alone.Answer)
		}
	}
	for _, part := range []string{"Take ", "of type small for ", "scale_bytes=2", "xml;base64,"} {
		if page := read(t, "out/answer.html"); !strings.Contains(page, part) {
			t.Errorf("answer.html: got no %q", part)
		}
	}
}

// Limits that no size meets, slots that are never full and nodes that all die are
// answers too.
func TestSizeWithoutAnswer(t *testing.T) {
	t.Chdir(t.TempDir())
	s := sizeOf(t, "[[goal]]\nresponse = \"15s\"\npool = \"p\"\n")
	if notes := strings.Join(s.Notes, "\n"); s.Answer != nil || !strings.Contains(notes, "longest response: ") {
		t.Errorf("got %+v, %q: want no answer, and which goal fails", s.Answer, notes)
	}
	s = sizeOf(t, "most_nodes = 40\n[[goal]]\ndeadlines = \"100 %\"\n", "--set", "job.0.maps=1")
	if notes := strings.Join(s.Notes, "\n"); s.Answer == nil || s.Answer.Nodes != 1 || !strings.Contains(notes, "never fills") {
		t.Errorf("got %+v, %q: want one node, which the workload never fills", s.Answer, notes)
	}
	s = sizeOf(t, "[[goal]]\nfinish = \"100s\"\n", "--set", "job.0.duration={ dist = \"constant\", mean = \"20s\" }", "--set", "cluster.hadoop=ideal")
	if notes := strings.Join(s.Notes, "\n"); s.Answer == nil || !strings.Contains(notes, "seeds change nothing") {
		t.Errorf("got %+v, %q: want an answer and a note that nothing is random", s.Answer, notes)
	}
	s = sizeOf(t, "most_nodes = 4\n[[goal]]\nfinish = \"1h\"\n", "--set", "cluster.dies={ dist = \"constant\", mean = \"10s\" }")
	if s.Answer != nil {
		t.Errorf("got %+v: want no answer, since all nodes die", s.Answer)
	}
}

// A search over a record states the error of the replay, and takes more nodes for jobs
// that took longer than a replay can know. Without a record it says that the error is
// not known.
func TestSizeOfRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	s := sizeOf(t, "most_nodes = 12\n[[goal]]\nfinish = \"100s\"\n")
	if s.Error.Replay != nil || !strings.Contains(s.Error.Unknown, "no recorded times") {
		t.Errorf("got %+v: want an error that is not known", s.Error)
	}
	if err := os.Mkdir("history", 0o777); err != nil {
		t.Fatal(err)
	}
	attempts := "job,task,kind,attempt,state,node,start_ns,finish_ns\n"
	for i := range 16 {
		from := 2 + i/2%4*10 + i/8*50
		attempts += fmt.Sprintf("%c,%d,map,0,SUCCEEDED,n%d,%d000000000,%d000000000\n", 'a'+rune(i/8), i%8, i%2, from, from+10)
	}
	writeFile(t, "history/attempts.csv", attempts)
	writeFile(t, "mysize.toml", "scenario = \"history\"\nconfidence = \"80 %\"\nmax_replications = 40\n[[goal]]\nresponse = \"46s\"\n")
	sizeWith := func(finish int) (r sized) { // of job b, whose tasks end after 94 s
		writeFile(t, "history/jobs.csv", "job,name,state,submit_ns,finish_ns,maps,reduces\n"+
			fmt.Sprintf("a,a,SUCCEEDED,0,44000000000,8,0\nb,b,SUCCEEDED,50000000000,%d000000000,8,0\n", finish))
		if err := json.Unmarshal([]byte(verb(t, "size", "mysize.toml", "--json", "--out", fmt.Sprint("sized", finish))), &r); err != nil {
			t.Fatal(err)
		}
		if r.Answer == nil || r.Error.Replay == nil || r.Error.Replay.Jobs != 2 {
			t.Fatalf("got %+v: want an answer and a replay of 2 jobs", r)
		}
		return r
	}
	if short, long := sizeWith(94), sizeWith(104); short.Answer.Nodes != 2 || long.Answer.Nodes <= 2 || long.Error.Replay.Median < 0.05 {
		t.Errorf("got %+v and %+v: want 2 nodes, and more if a job took a quarter longer", short.Answer, long.Answer)
	}
}

// Recorded times hold for the recorded slots and devices. For an offer of others a
// machine is calibrated from the history, once, and a record that does not allow it
// has no answer.
func TestSizeCalibrates(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "job.toml", "fidelity = \"device\"\n[cluster]\nplatform = \"dl145-g3\"\nnodes = 3\nmap_slots = 1\nreduce_slots = 1\n[[job]]\nname = \"sort\"\nprofile = \"terasort\"\ninput = \"384 MB\"\nreduces = 2\n")
	verb(t, "run", "job.toml", "--quiet", "--set", "plots=none", "--out", "ran")
	verb(t, "convert", "ran", "--to", "jhist", "--out", "history")
	writeFile(t, "offers.toml", "confidence = \"80 %\"\nmost_nodes = 4\nmax_replications = 40\n[[goal]]\nfinish = \"1h\"\n[[node]]\nname = \"wide\"\nmap_slots = 2\nreduce_slots = 2\n")
	var made []time.Time
	for range 2 {
		verb(t, "size", "history", "offers.toml", "--quiet", "--force", "--out", "sized")
		info, err := os.Stat("history-machine/scenario.toml")
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, info.ModTime())
	}
	if !made[0].Equal(made[1]) {
		t.Error("the second search made the machine again")
	}
	if m := read(t, "history-machine/manifest.json"); !strings.Contains(m, "\"calibrate\"") || !strings.Contains(read(t, "sized/manifest.json"), "history-machine") {
		t.Errorf("got %s: want the manifest of platform calibrate, and an answer that names the machine", m)
	}
	// measure asks the same machines, and others where a key is known.
	var plan struct {
		Machines  int
		Questions []struct {
			Width float64 `json:"half_width"`
		}
		Facts []struct {
			Key    string
			Left   float64
			Widths []float64 `json:"half_widths"`
		}
		None []string `json:"facts_that_tell_nothing"`
	}
	if err := json.Unmarshal([]byte(verb(t, "measure", "history", "offers.toml", "--know", "cores=4", "--json", "--quiet")), &plan); err != nil {
		t.Fatal(err)
	}
	if m := read(t, "out/history-machine,cores=4/manifest.json"); !strings.Contains(m, "--know=cores=4") {
		t.Errorf("got %s: want the known key", m)
	}
	if len(plan.Questions) != 1 || plan.Machines != 19 || slices.Contains(plan.None, "cores") || len(plan.Facts)+len(plan.None) == 0 {
		t.Errorf("got %+v: want one question to 19 machines, whose cores are known", plan)
	}
	for _, f := range plan.Facts {
		if len(f.Widths) != 1 || f.Widths[0] > plan.Questions[0].Width || f.Left >= 1 || f.Key == "cores" {
			t.Errorf("got %+v: want a fact that shrinks %v", f, plan.Questions[0].Width)
		}
	}
	// tune and sensitivity take turns over them, and set the properties of the recorded job.
	var tuned struct{ Settings []struct{ Setting string } }
	if err := json.Unmarshal([]byte(verb(t, "tune", "history", "--replications", "2", "--json", "--quiet")), &tuned); err != nil {
		t.Fatal(err)
	}
	if len(tuned.Settings) < 10 || slices.ContainsFunc(tuned.Settings, func(s struct{ Setting string }) bool { return s.Setting == "reduces" }) {
		t.Errorf("got %+v: want the properties, and not the recorded reduces", tuned)
	}
	tunedOn := read(t, "out/history-machine/manifest.json")
	if told := verb(t, "sensitivity", "history", "--job", "sort", "--replications", "3"); !strings.Contains(told, "cpu.hdfs_write_byte") || strings.Contains(told, "± 0.00 s") {
		t.Errorf("got %s: want costs of the machine, and a makespan that differs between machines", told)
	}
	if err := os.CopyFS("other/history", os.DirFS("history")); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call("", "measure", "other/history", "offers.toml"); code != exitInput || !strings.Contains(stderr, "another question (slotwave platform calibrate history)") {
		t.Errorf("another history of this name: exit code %d, %q: want its machine elsewhere", code, stderr)
	}
	if read(t, "out/history-machine/manifest.json") != tunedOn {
		t.Error("other questions replaced a machine that results refer to")
	}
	if code, _, stderr := call("", "size", "history", "offers.toml", "--know", "core=4"); code != exitInput || !strings.HasPrefix(stderr, "slotwave: --know core=4: ") || strings.Contains(stderr, " # --") {
		t.Errorf("exit code %d, %q: want the wrong key first", code, stderr)
	}
	if err := os.Mkdir("times", 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "times/attempts.csv", "job,task,kind,attempt,state,node,start_ns,finish_ns\na,0,map,0,SUCCEEDED,n,0,1000000000\n")
	code, _, stderr := call("", "size", "times", "offers.toml", "--out", "refused")
	if code != exitInput || !strings.Contains(stderr, "recorded times of tasks hold for the recorded slots") || !strings.Contains(stderr, "no job has what calibrating needs") {
		t.Errorf("times alone: exit code %d, %q: want the reason on both counts", code, stderr)
	}
	if verb(t, "size", "history", "offers.toml", "--quiet"); !strings.Contains(read(t, "out/history-size/manifest.json"), "out/history-machine") {
		t.Error("want the answer beside the machine, under the name of the history")
	}
	verb(t, "size", "times", "offers.toml", "--set", "workload.replay=recorded", "--quiet", "--out", "left")
}

// A search that was stopped goes on, and gives the same bytes.
func TestSizeResumed(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "my.toml", sizedScenario)
	writeFile(t, "mysize.toml", "scenario = \"my.toml\"\nconfidence = \"80 %\"\nmax_replications = 40\n[[goal]]\nfinish = \"100s\"\n")
	verb(t, "size", "mysize.toml", "--quiet", "--out", "one", "--workers", "1")
	verb(t, "size", "mysize.toml", "--quiet", "--out", "more", "--workers", "8")
	want, got := tree(t, "one"), tree(t, "more")
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("8 workers: %s differs", name)
		}
	}
	if len(want) != 7 || len(got) != 7 {
		t.Errorf("%d and %d files: want a manifest, three tables, the page and the picture in two formats", len(want), len(got))
	}
	verb(t, "run", "one/manifest.json", "--out", "again")
}

// Mistakes in a study with goals name the file, the line and the key.
func TestSizeMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "my.toml", sizedScenario)
	const goal = "[[goal]]\nfinish = \"100s\"\n"
	for text, want := range map[string]string{
		"confidence = \"120 %\"\n" + goal:                  "mysize.toml:2: confidence: \"120 %\": want a fraction",
		"confidence = 1.0\n" + goal:                        "mysize.toml:2: confidence: got 1: want at most",
		"confidence = 0.9\nmax_replications = 40\n" + goal: "max_replications: got 40: want 60 or more",
		"[[goal]]\n": "mysize.toml:2: goal[0]: want one of finish",
		"[[goal]]\nfinish = \"1m\"\nresponse = \"1m\"\n":             "goal[0]: want one of finish",
		"[[goal]]\nfinish = \"1m\"\npercentile = 90\n":               "mysize.toml:4: goal[0].percentile: has no effect without response",
		"[[goal]]\nfinish = \"1m\"\npool = \"q\"\n":                  "goal[0]: pool: got \"q\": want one of p",
		"lowest = \"price_per_job\"\n" + goal:                        "mysize.toml:2: lowest: got \"price_per_job\" without a price",
		goal + "[[node]]\nname = \"n\"\nslots = 3\n":                 "slots",
		goal + "[[factor]]\nkey = \"cluster.nodes\"\nvalues = [1]\n": "got the factor cluster.nodes",
		"": "got no [[goal]]",
	} {
		writeFile(t, "mysize.toml", "scenario = \"my.toml\"\n"+text)
		code, _, stderr := call("", "size", "mysize.toml", "--out", "refused")
		if code != exitInput || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, %q: want %q", text, code, stderr, want)
		}
	}
	if _, err := os.Stat("refused"); err == nil {
		t.Error("a refused study left a folder")
	}
}

// randomWorkload is a scenario with one to three kinds of jobs.
func randomWorkload(r *rand.Rand) string {
	text := "[cluster]\nnodes = 5\nmap_slots = 2\nreduce_slots = 1\n[scheduler]\nname = \"" + []string{"fifo", "fair1", "fair2"}[r.IntN(3)] + "\"\n"
	for kind := range 1 + r.IntN(3) {
		laws := []string{"{ dist = \"exponential\", mean = \"%ds\" }", "{ dist = \"lognormal\", mean = \"%ds\", sd = \"6s\" }"}
		text += fmt.Sprintf("[[job]]\nname = \"kind%d\"\nmaps = %d\nduration = "+laws[r.IntN(2)]+"\n", kind, 10+r.IntN(60), 8+r.IntN(20))
		if jobs := 1 + r.IntN(4); jobs > 1 {
			text += fmt.Sprintf("jobs = %d\ninterarrival = { dist = \"exponential\", mean = \"%ds\" }\n", jobs, 5+r.IntN(40))
		}
		if reduces := r.IntN(6); reduces > 0 {
			text += fmt.Sprintf("reduces = %d\nreduce_ms = %d\n", reduces, 4000+r.IntN(9000))
		}
	}
	return text
}

// sizeTruth counts what sizes of random workloads turned out to be.
type sizeTruth struct {
	runs                 int // of each size of a sweep
	kept, answered, none int
	cost, shownCost      costs // against the smallest size that is enough, and that is shown to be
}

const truthConfidence = 0.9

// try sizes a random workload, and sweeps over the sizes around the answer with
// seeds that the search has not seen.
func (x *sizeTruth) try(t *testing.T, workload int) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(15, uint64(workload)))
	writeFile(t, "my.toml", randomWorkload(r))
	var one struct {
		Makespan struct {
			Mean int64 `json:"mean_ns"`
		} `json:"makespan"`
	}
	nodes := 3 + r.IntN(12)
	if err := json.Unmarshal([]byte(verb(t, "run", "my.toml", "--json", "--set", fmt.Sprint("cluster.nodes=", nodes), "--set", "plots=none", "--replications", "5", "--out", "run")), &one); err != nil {
		t.Fatal(err)
	}
	limit := one.Makespan.Mean * 115 / 100
	writeFile(t, "mysize.toml", fmt.Sprintf("scenario = \"my.toml\"\nconfidence = %g\nmost_nodes = 60\n[[goal]]\nfinish = \"%dns\"\n", truthConfidence, limit))
	var s sized
	if err := json.Unmarshal([]byte(verb(t, "size", "mysize.toml", "--json", "--out", "size")), &s); err != nil {
		t.Fatal(err)
	}
	from, until := 59, 60
	if s.Answer != nil {
		from, until = max(1, s.Answer.Nodes-2), s.Answer.Nodes
	}
	met := make([]int, until+1)
	x.sweep(t, from, until, limit, met)
	for from > 1 && float64(met[from]) >= truthConfidence*float64(x.runs) { // the smallest size may be smaller
		from--
		x.sweep(t, from, from, limit, met)
	}
	least := slices.IndexFunc(met, func(m int) bool { return float64(m) >= truthConfidence*float64(x.runs) })
	if s.Answer == nil {
		if x.none++; least >= 0 {
			t.Errorf("no answer, but %d nodes meet the goal in %d of %d runs", least, met[least], x.runs)
		}
		return
	}
	x.answered++
	if float64(met[s.Answer.Nodes]) >= truthConfidence*float64(x.runs) {
		x.kept++
	}
	// The sizes of which these runs show that they are enough: their 95 % interval lies above.
	shown := slices.IndexFunc(met, func(m int) bool {
		return m > 0 && distuv.Beta{Alpha: float64(m), Beta: float64(x.runs - m + 1)}.Quantile(0.025) >= truthConfidence
	})
	x.cost.add(s.Answer.Nodes, least)
	x.shownCost.add(s.Answer.Nodes, shown)
	t.Logf("truth: %d: %d nodes; of %d fresh runs %v are in time with %d to %d nodes: %d are enough, and shown to be with %d", workload, s.Answer.Nodes, x.runs, met[from:], from, until, least, shown)
}

// sweep counts the runs that end in time with numbers of nodes.
func (x *sizeTruth) sweep(t *testing.T, from, until int, limit int64, met []int) {
	t.Helper()
	verb(t, "sweep", "my.toml", "--over", fmt.Sprintf("cluster.nodes=%d:%d:1", from, until), "--seed", "987654321", "--replications", strconv.Itoa(x.runs), "--quiet", "--out", "sweep")
	rows, err := csv.NewReader(strings.NewReader(read(t, "sweep/points.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	makespan := slices.Index(rows[0], "makespan_ns")
	for _, row := range rows[1:] {
		n, _ := strconv.Atoi(row[2])
		if v, err := strconv.ParseInt(row[makespan], 10, 64); err == nil && v <= limit {
			met[n]++
		}
	}
}

// costs are those of answers over those of the smallest sizes by a sweep.
type costs struct{ sum, worst float64 }

func (c *costs) add(answer, least int) {
	if least < 0 {
		least = answer + 1 // no size of the sweep
	}
	ratio := float64(answer) / float64(least)
	c.sum, c.worst = c.sum+ratio, max(c.worst, ratio)
}

// On random workloads the size that is found keeps its promise with seeds that the
// search has not seen, and costs little more than the smallest size that a sweep
// over sizes finds with those seeds. TestSizeTruth/0 is the first workload.
func TestSizeTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("sizes several clusters")
	}
	workloads, x := 1, sizeTruth{runs: 100}
	if layers.Whole {
		workloads, x.runs = 50, 1000
	}
	for i := range workloads {
		t.Run(strconv.Itoa(i), func(t *testing.T) { x.try(t, i) })
	}
	n := float64(x.answered)
	t.Logf("%d of %d answers keep their promise; cost %.3f of the smallest on average, at most %.2f; of the smallest that is shown %.3f, at most %.2f; %d workloads have no answer",
		x.kept, x.answered, x.cost.sum/n, x.cost.worst, x.shownCost.sum/n, x.shownCost.worst, x.none)
	if layers.Whole && (float64(x.kept) < truthConfidence*n || x.shownCost.sum/n > 1.05) {
		t.Errorf("want 90 %% of the answers to keep their promise, and a cost of at most 1.05")
	}
}
