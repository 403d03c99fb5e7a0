package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file below testdata, byte for byte.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from the golden file (-update writes it anew after a look at the difference)", name)
	}
}

// goldenSum compares a PNG by its sum; -artifacts saves it for a look.
func goldenSum(t *testing.T, name string, got []byte) {
	t.Helper()
	golden(t, name+".sha256", []byte(resultdir.Sum(name, got).SHA256+"\n"))
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), filepath.Base(name)), got, 0o666); err != nil {
		t.Fatal(err)
	}
}

// goldenDir compares the files of a directory with the golden ones. Of a PNG
// only the sum is kept: the SVG shows what has changed.
func goldenDir(t *testing.T, dir, name string) {
	t.Helper()
	for _, file := range names(t, dir) {
		got, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ".png") {
			goldenSum(t, filepath.Join(name, file), got)
		} else {
			golden(t, filepath.Join(name, file), got)
		}
	}
	if want := goldenNames(t, name); !slices.Equal(names(t, dir), want) {
		t.Errorf("the result holds %v: want %v", names(t, dir), want)
	}
}

// goldenNames lists the files that a golden directory stands for.
func goldenNames(t *testing.T, name string) []string {
	files := names(t, filepath.Join("testdata", name))
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, ".sha256")
	}
	slices.Sort(files)
	return files
}

// scaled is a model's prediction that is the simulator's times a factor, with
// bounds around it.
func scaled(name string, p *model.Prediction, factor, low, high float64) Answer {
	times := func(d time.Duration, by float64) time.Duration { return workload.Seconds(d.Seconds() * by) }
	q := model.Prediction{Model: name, Low: times(p.Mean, low), Mean: times(p.Mean, factor), High: times(p.Mean, high)}
	for _, j := range p.Jobs {
		took := j.Finish - j.Submit
		j.Finish, j.Low, j.High = j.Submit+times(took, factor), times(took, low), times(took, high)
		q.Jobs = append(q.Jobs, j)
	}
	for _, ph := range p.Phases {
		ph.Time = times(ph.Time, factor)
		q.Phases = append(q.Phases, ph)
	}
	return Answer{Scenario: "three-jobs", Prediction: q}
}

// withModels adds what models say to the small sample.
func withModels(r *Run) *Run {
	p := &r.Predictions[0]
	p.Phases = []model.PhaseTime{
		{Kind: workload.Map, Phase: workload.PhaseRead, Time: 2 * time.Second},
		{Kind: workload.Reduce, Phase: workload.PhaseShuffle, Time: 40 * time.Second},
	}
	r.Models = []Answer{
		scaled("aria", p, 0.95, 0.7, 1.2),
		scaled("herodotou", p, 0.8, 0.8, 0.8),
		{Scenario: "three-jobs", Prediction: model.Prediction{Model: "cresp"}, Err: errors.New("one job only")},
	}
	return r
}

// writeSample writes the small sample as a command would.
func writeSample(t *testing.T, dir string) *Run {
	d := create(t, dir, false)
	f, err := d.File(AttemptsName)
	if err != nil {
		t.Fatal(err)
	}
	table := NewAttemptTable(f, false)
	r := withModels(smallSample(t, table))
	if err := errors.Join(table.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	r.Predictions[0].Devices = []model.DeviceUse{
		{Node: "node00", Device: "disk0", Times: []time.Duration{time.Second, 2 * time.Second}, Uses: []model.Use{{Busy: 0.25, Bytes: 3 << 20, ReadBytes: 1 << 20, WriteBytes: 2 << 20}}},
	}
	if err := r.Write(d); err != nil {
		t.Fatal(err)
	}
	m := resultdir.Manifest{
		Build:     resultdir.Build{Version: "v0.0.0", Go: "go1.26", Modules: []resultdir.Module{{Path: "gonum.org/v1/plot", Version: "v0.17.0"}}},
		Arguments: []string{"run", "three-jobs"}, Scenario: "three-jobs", Seed: 1, Replications: 1,
		Inputs: []resultdir.FileSum{resultdir.Sum("three-jobs.toml", []byte("name"))}, Assumptions: r.Predictions[0].Assumed,
	}
	if err := d.Commit(m); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := writeSample(t, dir)
	goldenDir(t, dir, "run")
	if err := r.Stats.Check(&r.Predictions[0]); err != nil {
		t.Error(err)
	}
	if _, err := resultdir.ReadManifest(dir); err != nil {
		t.Error(err)
	}
	var text bytes.Buffer
	if err := r.Summary().WriteText(&text, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "run.txt", text.Bytes())
	if bytes.Contains(text.Bytes(), []byte("\x1b")) {
		t.Error("text without colour holds an escape sequence")
	}
	text.Reset()
	if err := r.answers().WriteText(&text, true); err != nil {
		t.Fatal(err)
	}
	golden(t, "predictions.txt", text.Bytes())
	text.Reset()
	if err := r.answers().WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	golden(t, "predictions.json", text.Bytes())
}

// TestSameBytes writes the same run twice, with other settings of the runtime.
func TestSameBytes(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	writeSample(t, a)
	t.Setenv("TZ", "Asia/Tokyo")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	writeSample(t, b)
	for _, name := range names(t, a) {
		x, _ := os.ReadFile(filepath.Join(a, name))
		y, _ := os.ReadFile(filepath.Join(b, name))
		if !bytes.Equal(x, y) {
			t.Errorf("%s differs between two runs", name)
		}
		if bytes.Contains(x, []byte(a)) || bytes.Contains(x, []byte(b)) {
			t.Errorf("%s holds the path of the directory", name)
		}
	}
}

// comparedRuns are one workload on a cluster that starts one task at a time,
// and on one of shared slots.
func comparedRuns(t *testing.T) []*Run {
	jobs := []sampleJob{{"job_1", "small files", "etl", 0, 160, 6, 2 * time.Second}}
	a := sample(t, "Fair 1.0", sampleCluster(8, 1, 1), 1, jobs)
	b := sample(t, "Fair 2.0", sampleCluster(8, 4, 1), 1, jobs)
	return []*Run{a, b}
}

func TestComparisonFiles(t *testing.T) {
	c := &Comparison{Title: "Small files under Fair 1.0 and Fair 2.0", Runs: comparedRuns(t)}
	dir := t.TempDir()
	d := create(t, dir, false)
	if err := c.Write(d); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(resultdir.Manifest{Scenario: "small-files"}); err != nil {
		t.Fatal(err)
	}
	goldenDir(t, dir, "compare")
	var text bytes.Buffer
	if err := c.WriteText(&text, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.txt", text.Bytes())
}

func picture(t *testing.T, f *figure.Figure) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.WritePNG(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLargePictures draws runs whose bars have become a raster: with a line
// per slot, with several slots to a line, and coloured by job.
func TestLargePictures(t *testing.T) {
	q := floodQuestion(20, 8, 4, 6)
	q.Name = "a busy afternoon"
	few := &Run{Question: q, Stats: NewStats(q, true)}
	flood(q, 30_000, few.Stats)
	q = floodQuestion(300, 6, 4, 500)
	q.Name = "a large cluster"
	many := &Run{Question: q, Stats: NewStats(q, true)}
	flood(q, 200_000, many.Stats)
	if vector([]*Run{few}) || vector([]*Run{many}) {
		t.Fatal("the charts still hold bars one by one")
	}
	goldenSum(t, "large/execution-20-nodes.png", picture(t, executionFigure(few.title(), []*Run{few}, bySlot)))
	goldenSum(t, "large/execution-20-nodes-jobs.png", picture(t, executionFigure(few.title(), []*Run{few}, bySlotJob)))
	goldenSum(t, "large/execution-300-nodes.png", picture(t, executionFigure(many.title(), []*Run{many}, bySlot)))
	goldenSum(t, "large/slots-300-nodes.png", picture(t, slotsFigure(many.title(), []*Run{many})))
}

// TestMixedComparison compares a run whose bars have become a raster with one
// whose bars are still kept: both are drawn in the same colours.
func TestMixedComparison(t *testing.T) {
	q := floodQuestion(60, 6, 4, 20)
	q.Name = "before"
	many := &Run{Question: q, Stats: NewStats(q, true)}
	flood(q, 60_000, many.Stats)
	q = floodQuestion(60, 6, 4, 20)
	q.Name = "after"
	few := &Run{Question: q, Stats: NewStats(q, true)}
	flood(q, 1500, few.Stats)
	goldenSum(t, "large/execution-mixed.png", picture(t, executionFigure("before and after", []*Run{many, few}, bySlot)))
}

// TestManyJobs draws more jobs than have a line each.
func TestManyJobs(t *testing.T) {
	p := model.Prediction{Model: "simulator", Mean: time.Hour}
	rnd := workload.Seed(1).Named("jobs")
	at := func(i, k int) float64 { return rnd.Stream(i, k).Uniform() }
	for i := range 400 {
		p.Jobs = append(p.Jobs, model.JobOutcome{ID: whole(i), Finish: workload.Seconds(20 + float64(2000*at(i, 0)*at(i, 1)*at(i, 2)))})
	}
	a := &Answers{Reference: "simulator", List: []Answer{{Prediction: p}}}
	for m, name := range []string{"aria", "herodotou"} {
		x := scaled(name, &p, 1, 0.9, 1.1)
		x.Scenario = ""
		for i := range x.Prediction.Jobs {
			j := &x.Prediction.Jobs[i]
			j.Finish = workload.Seconds(j.Finish.Seconds() * (0.9 - float64(0.25*float64(m)) + float64(0.3*at(i, 3+m))))
		}
		a.List = append(a.List, x)
	}
	goldenSum(t, "large/prediction-400-jobs.png", picture(t, predictionFigure("400 jobs", a)))
}

// TestNastyPictures draws names that would break markup, fonts or the layout.
func TestNastyPictures(t *testing.T) {
	c := sampleCluster(3, 1, 1)
	c.Nodes[0].Name = strings.Repeat("a-very-long-host-name.", 9)
	c.Nodes[1].Name = "<&\"\x1b[31m"
	c.Nodes[2].Name = "日本\n😀"
	var jobs []sampleJob
	for i, name := range nastyNames[:figure.MaxJobColours] {
		jobs = append(jobs, sampleJob{"job_" + whole(i) + name, nastyNames[len(nastyNames)-1-i], name, 0, 4, 1, time.Second})
	}
	r := sample(t, "</svg>\x00"+strings.Repeat("long title ", 30), c, 1, jobs)
	for _, kind := range []chartKind{bySlot, bySlotJob, byAttempt} {
		f := executionFigure(r.title(), []*Run{r}, kind)
		if err := os.WriteFile(filepath.Join(t.ArtifactDir(), whole(int(kind))+".png"), picture(t, f), 0o666); err != nil {
			t.Fatal(err)
		}
		var svg bytes.Buffer
		if err := f.WriteSVG(&svg); err != nil {
			t.Fatal(err)
		}
		checkXML(t, svg.Bytes())
	}
	if err := r.Summary().WriteText(io.Discard, true); err != nil {
		t.Error(err)
	}
}

// TestEmptyRun writes a run in which nothing ran, and one without reduces.
func TestEmptyRun(t *testing.T) {
	for _, jobs := range [][]sampleJob{nil, {{"j", "", "", 0, 1, 0, time.Millisecond}}} {
		r := sample(t, "empty", sampleCluster(1, 1, 0), 1, jobs)
		d := create(t, t.TempDir(), false)
		if err := r.Write(d); err != nil {
			t.Fatal(err)
		}
		if err := (&Comparison{Runs: []*Run{r, r}}).Write(create(t, t.TempDir(), false)); err != nil {
			t.Fatal(err)
		}
		picture(t, slotsFigure("empty", []*Run{r}))
		picture(t, executionFigure("empty", []*Run{r}, byAttempt))
		if err := r.Summary().WriteText(io.Discard, false); err != nil {
			t.Error(err)
		}
		d.Abort()
	}
}

// TestReplications checks mean and interval by hand: makespans of 10, 12 and
// 14 s have mean 12 s and deviation 2 s; t(0.975, 2) = 4.303, so the interval
// is 12 -+ 4.303 * 2 / sqrt(3) = 12 -+ 4.968 s.
func TestReplications(t *testing.T) {
	r := smallSample(t)
	first := r.Predictions[0]
	r.Predictions = nil
	for _, s := range []time.Duration{10, 12, 14} {
		p := first
		p.Mean = s * time.Second
		r.Predictions = append(r.Predictions, p)
	}
	s := r.Summary()
	e := s.Makespan
	if e.N != 3 || e.Mean != 12e9 || *e.Low != 7031724576 || *e.High != 16968275424 {
		t.Errorf("makespan %d, %d, %d of %d", e.Mean, *e.Low, *e.High, e.N)
	}
	if got := s.Jobs.Mean; got.N != 3 || *got.Low != got.Mean || *got.High != got.Mean {
		t.Errorf("equal job times have mean %d, %d, %d", got.Mean, *got.Low, *got.High)
	}
	if !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "only 3 runs") }) {
		t.Errorf("warnings %q: want one about few runs", s.Warnings)
	}
}

// TestBooks checks that each kind of imbalance is found.
func TestBooks(t *testing.T) {
	good := func() (*Run, []workload.Attempt) {
		var rows keep
		r := smallSample(t, &rows)
		return r, rows.rows
	}
	r, _ := good()
	if err := r.Stats.Check(&r.Predictions[0]); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*workload.Attempt){
		func(a *workload.Attempt) { a.Node = "nowhere" },
		func(a *workload.Attempt) { a.Slot = 2 }, // a map on the first reduce slot
		func(a *workload.Attempt) { a.Slot = 4 },
		func(a *workload.Attempt) { a.Slot = -1 },
	} {
		r, rows := good()
		a := rows[0]
		change(&a)
		r.Stats.Attempt(&a)
		if err := r.Stats.Check(&r.Predictions[0]); err == nil || !strings.Contains(err.Error(), "slots that the cluster does not have") {
			t.Errorf("got %v", err)
		}
	}
	for _, change := range []func(*workload.Attempt){
		func(a *workload.Attempt) { a.Phases[workload.PhaseRead]++ },
		func(a *workload.Attempt) { a.Phases[workload.PhaseRead]-- },
		func(a *workload.Attempt) {
			a.Phases[workload.PhaseRead] -= time.Hour
			a.Phases[workload.PhaseMap] += time.Hour
		},
	} {
		r, rows := good()
		a := rows[0]
		change(&a)
		r.Stats.Attempt(&a)
		if err := r.Stats.Check(&r.Predictions[0]); err == nil || !strings.Contains(err.Error(), "add up") {
			t.Errorf("got %v", err)
		}
	}
	r, _ = good()
	r.Predictions[0].Jobs[0].MapTime++
	if err := r.Stats.Check(&r.Predictions[0]); err == nil || !strings.Contains(err.Error(), "over the jobs") {
		t.Errorf("got %v", err)
	}
}

// TestTotals checks the summary against sums over all attempts, and that the
// time on each type of slot is the same there, in the bins and in the table.
func TestTotals(t *testing.T) {
	var rows keep
	r := smallSample(t, &rows)
	s := r.Summary()
	var time, phases [numKinds]int64
	var lost [numKinds]int64
	for i := range rows.rows {
		a := &rows.rows[i]
		time[a.Kind] += int64(a.Duration())
		if a.State != workload.Succeeded {
			lost[a.Kind] += int64(a.Duration())
		}
		for _, d := range a.Phases {
			phases[a.Kind] += int64(d)
		}
	}
	for _, k := range s.Kinds {
		i := map[string]int{"map": 0, "reduce": 1}[k.Kind]
		sum := int64(0)
		for _, ph := range k.Phases {
			sum += ph.Time
		}
		if k.SlotTime != time[i] || sum != phases[i] || sum != time[i] || k.LostTime != lost[i] {
			t.Errorf("%s: slot time %d, phases %d, lost %d: want %d, %d, %d", k.Kind, k.SlotTime, sum, k.LostTime, time[i], phases[i], lost[i])
		}
		if binned := total(r.Stats.over.busy(r.Stats.slots.slotTracks(i)...)); binned != time[i] {
			t.Errorf("%s: %d ns in bins: want %d", k.Kind, binned, time[i])
		}
	}
}

// TestSharedSlots puts maps and reduces on one kind of slot.
func TestSharedSlots(t *testing.T) {
	q := &model.WhatIf{Cluster: sampleCluster(1, 1, 1)}
	q.Cluster.SharedSlots = true
	s := NewStats(q, true)
	for i := range 2 {
		a := workload.Attempt{Kind: workload.Kind(i), Node: "node00", Slot: i, Finish: time.Second}
		a.Phases[workload.PhaseStartup] = time.Second
		s.Attempt(&a)
	}
	setup := workload.Attempt{Kind: workload.Setup, Node: "node00", Slot: 1, Start: time.Second, Finish: 2 * time.Second}
	setup.Phases[workload.PhaseStartup] = time.Second
	s.Attempt(&setup)
	sums := s.slotSummaries(int64(2 * time.Second))
	if len(sums) != 1 || sums[0].Type != "shared" || sums[0].Busy != 0.75 || sums[0].Used != 2 || s.strays != 0 {
		t.Errorf("%+v", sums)
	}
	r := &Run{Question: q, Stats: s}
	picture(t, executionFigure("", []*Run{r}, bySlot))
	picture(t, slotsFigure("", []*Run{r}))
}

// TestBoundedMemory records two lengths of run and compares what they hold.
func TestBoundedMemory(t *testing.T) {
	q := floodQuestion(3000, 6, 4, 24442)
	var rows keep
	flood(q, 50_000, &rows)
	length := rows.rows[len(rows.rows)-1].Finish
	held := func(times int) int64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		table, stats := NewAttemptTable(io.Discard, false), NewStats(q, true)
		for i := range times {
			for k := range rows.rows {
				a := rows.rows[k]
				shift := time.Duration(i) * length
				a.Runnable, a.Start, a.Finish = a.Runnable+shift, a.Start+shift, a.Finish+shift
				table.Attempt(&a)
				stats.Attempt(&a)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		runtime.KeepAlive(stats)
		return int64(after.HeapAlloc) - int64(before.HeapAlloc)
	}
	many := 12
	if testing.Short() {
		many = 6
	}
	short, long := held(2), held(many)
	if long > short+1<<20 || long > 24<<20 {
		t.Errorf("100,000 attempts hold %d bytes, %d,000 hold %d: want the same, and below 24 MiB", short, 50*many, long)
	}
	table := NewAttemptTable(io.Discard, false)
	defer table.Close()
	if n := testing.AllocsPerRun(5000, func() { table.Attempt(&rows.rows[7]) }); n != 0 {
		t.Errorf("%g allocations per row", n)
	}
}

// TestColumns checks that no column is missing its name, and that every field
// of an outcome is in the table of jobs.
func TestColumns(t *testing.T) {
	var out bytes.Buffer
	if err := writeJobs(&out, []model.JobOutcome{{Finish: -1}}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows[1]) != len(rows[0]) || rows[1][12] != "" || rows[1][13] != "" {
		t.Errorf("%v, %v", rows, err)
	}
	fields := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[model.JobOutcome]()) {
		if f.Type.Kind() == reflect.Array {
			fields += f.Type.Len() - 1
		}
		fields++
	}
	if columns, _ := jobColumns(true, true); fields != len(columns)-1 {
		t.Errorf("an outcome has %d figures, jobs.csv the columns %v", fields, columns)
	}
	design := "job,task,kind,attempt,state,node,rack,slot,pool,locality,runnable_ns,start_ns,finish_ns," +
		"p_startup_ns,p_read_ns,p_map_ns,p_collect_ns,p_spill_ns,p_shuffle_ns,p_merge_ns,p_reduce_ns,p_write_ns,p_commit_ns," +
		"in_records,in_bytes,out_records,out_bytes,spills,merge_passes,spilled_records," +
		"shuffle_bytes,hdfs_read_bytes,hdfs_write_bytes,local_read_bytes,local_write_bytes,wait_fetch_ns,wait_memory_ns"
	if got := strings.Join(attemptColumns(false), ","); got != design {
		t.Errorf("attempts.csv has the columns %s", got)
	}
}

// TestSlotUsage checks that resources.csv accounts for all slot time.
func TestSlotUsage(t *testing.T) {
	r := smallSample(t)
	busy := map[string]float64{}
	next, stop := iter.Pull(r.Stats.SlotUsage())
	defer stop()
	var rows []Usage
	for u, ok := next(); ok; u, ok = next() {
		rows = append(rows, u)
	}
	end := time.Duration(r.Stats.over.end)
	for i, u := range rows {
		until := end
		if i+2 < len(rows) {
			until = rows[i+2].Time
		}
		busy[u.Device] += u.Busy * 12 * (until - u.Time).Seconds()
	}
	for i, name := range []string{"map-slots", "reduce-slots"} {
		want := time.Duration(r.Stats.kinds[i].slotTime()).Seconds()
		if got := busy[name]; got < want*(1-1e-9) || got > want*(1+1e-9) {
			t.Errorf("%s: %g slot-seconds: want %g", name, got, want)
		}
	}
}

func TestUseColour(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	if !text.UseColour(true) || text.UseColour(false) {
		t.Error("colour does not follow the terminal")
	}
	t.Setenv("NO_COLOR", "1")
	if text.UseColour(true) {
		t.Error("NO_COLOR is ignored")
	}
	var text bytes.Buffer
	if err := smallSample(t).Summary().WriteText(&text, true); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text.Bytes(), []byte("\x1b[1m")) {
		t.Error("no colour where it was asked for")
	}
}

func TestSummaryIsJSON(t *testing.T) {
	var text bytes.Buffer
	want := smallSample(t).Summary()
	if err := want.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var got Summary
	d := json.NewDecoder(&text)
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Makespan.Mean != want.Makespan.Mean || len(got.Kinds) != len(want.Kinds) {
		t.Errorf("read back as %+v", got)
	}
}

// The answer on recorded times of tasks is the mean of the runs that chance gives, and its
// interval holds what these scatter. Jobs are found by their ids.
func TestSpreadOfChances(t *testing.T) {
	answer := func(s float64) model.Prediction {
		return model.Prediction{Mean: workload.Seconds(s), Jobs: []model.JobOutcome{{Finish: workload.Seconds(s)}}}
	}
	record := &Run{Question: &model.WhatIf{}, Predictions: []model.Prediction{answer(100)}}
	r := Run{Question: &model.WhatIf{}, Replay: &ReplayedRecord{Run: record, Makespan: 100 * time.Second, Missed: 1}, Predictions: []model.Prediction{answer(100)}}
	r.Spread()
	alone := r.interval()
	r.Chances = []model.Prediction{answer(110), answer(121)}
	r.Spread()
	i := r.interval()
	if i.N != 3 || math.Abs(float64(i.Mean)/110e9-1) > 1e-6 {
		t.Errorf("got %+v: want the mean of 100, 110 and 121 s", i)
	}
	if i.High-i.Low <= alone.High-alone.Low {
		t.Errorf("got %+v, as wide as %+v of one run", i, alone)
	}
	low, high := r.Predictions[0].Jobs[0].Low, r.Predictions[0].Jobs[0].High
	r.Chances[0].Jobs = slices.Insert(r.Chances[0].Jobs, 0, model.JobOutcome{ID: "of that draw", Finish: time.Hour})
	r.Spread()
	if j := r.Predictions[0].Jobs[0]; j.Low != low || j.High != high {
		t.Errorf("got %v to %v beside a job of another draw, want %v to %v", j.Low, j.High, low, high)
	}
}

// A job without tasks takes no time in any run.
func TestSpreadOfNoTime(t *testing.T) {
	var none model.Prediction
	none.Jobs = []model.JobOutcome{{Submit: time.Second, Finish: time.Second}}
	none.Mean = time.Second
	several := []model.Prediction{none, none}
	replay := &ReplayedRecord{Run: &Run{Predictions: several}, Makespan: time.Second, Missed: 1}
	for _, r := range []Run{{Replay: replay}, {Replay: replay, Chances: several}, {Calibrations: several}} {
		r.Question, r.Predictions = &model.WhatIf{}, slices.Clone(several[:1])
		r.Spread()
		if j := r.Predictions[0].Jobs[0]; j.Low != 0 || j.High != 0 {
			t.Errorf("%d runs, %d calibrations: got %d to %d ns, want 0", 1+len(r.Chances), len(r.Calibrations), j.Low, j.High)
		}
		if p := &r.Predictions[0]; p.Least <= 0 || p.Most <= p.Least {
			t.Errorf("makespan: %v to %v", p.Least, p.Most)
		}
	}
}

// The interval is about the mean of all machines, with their error for what scatters so:
// that of the makespan and that of a job by one rule. More seeds do not make it narrower.
func TestSpread(t *testing.T) {
	answer := func(makespan, job time.Duration) model.Prediction {
		return model.Prediction{Mean: makespan, Jobs: []model.JobOutcome{{Submit: makespan - job, Finish: makespan}}}
	}
	q := model.WhatIf{Programs: []model.Program{{Name: "p"}}, Jobs: []workload.Job{{Program: "p"}}}
	r := Run{Question: &q, Predictions: []model.Prediction{answer(200*time.Second, 100*time.Second)}}
	if r.Spread(); r.Predictions[0].Most != 0 || r.calibrations() != nil {
		t.Errorf("an interval without calibrations: %+v", r.Predictions[0])
	}
	r.Calibrations = []model.Prediction{answer(200*time.Second, 100*time.Second), answer(220*time.Second, 110*time.Second), answer(180*time.Second, 90*time.Second)}
	r.Spread()
	p := &r.Predictions[0]
	half := func(low, high time.Duration) float64 { return math.Log(high.Seconds()/low.Seconds()) / 2 }
	// The logarithms are 0.105 below and 0.095 above the median: a mean distance of 0.0669.
	want := float64(MachinesErrorOf(0, 0, 0.0669*math.Sqrt(math.Pi/2)))
	if got := half(p.Least, p.Most); math.Abs(got-want) > 1e-3 {
		t.Errorf("makespan: %v to %v, half of the logarithm %.4f, want %.4f", p.Least, p.Most, got, want)
	}
	low, high := p.Jobs[0].Low, p.Jobs[0].High
	if got := half(low, high); math.Abs(got-want) > 1e-3 {
		t.Errorf("job: %v to %v, half of the logarithm %.4f, want %.4f", low, high, got, want)
	}
	if c := r.calibrations(); c == nil || c.N != 3 || c.Low != int64(p.Least) || c.High != int64(p.Most) || c.Mean <= c.Low || c.Mean >= c.High {
		t.Errorf("summary: %+v", c)
	}
	// With other seeds two calibrations take 10 % longer: the record, one run, may have been
	// as lucky. Student's t of two degrees of freedom is 2.92 at 95 %.
	r.Chances = []model.Prediction{answer(242*time.Second, 110*time.Second), answer(198*time.Second, 90*time.Second)}
	r.Spread()
	p = &r.Predictions[0]
	if got, by := half(p.Least, p.Most), math.Hypot(want, 2.92*math.Log(1.1)/math.Sqrt2); math.Abs(got-by) > 1e-3 {
		t.Errorf("makespan with other seeds: half of the logarithm %.4f, want %.4f", got, by)
	}
	if got := half(p.Jobs[0].Low, p.Jobs[0].High); math.Abs(got-want) > 1e-3 {
		t.Errorf("job that takes as long with other seeds: half of the logarithm %.4f, want %.4f", got, want)
	}
	low, high = p.Jobs[0].Low, p.Jobs[0].High
	r.Predictions = append(r.Predictions, answer(300*time.Second, 400*time.Second), answer(200*time.Second, 100*time.Second)) // as no calibration answers
	if j := r.Mean().Jobs[0]; j.Low != low || j.High != high {
		t.Errorf("job of three seeds: %v to %v: want the interval over the calibrations", j.Low, j.High)
	}
}

// YARN lets the last container pass a limit: then more than all of it is in use.
func TestLimitsThatArePassed(t *testing.T) {
	for used, want := range map[int64]string{
		49152: "with 49,152 of 49,152 MiB in use", 51200: "with 51,200 MiB in use, above the limit of 49,152, which the last container may pass",
	} {
		_, got := SharesOf([]Limit{{What: "limit of user u in queue q", Time: 1, Waiting: 2, Used: used, Of: 49152, Unit: "MiB"}})
		if want = "limit of user u in queue q: in 100.0 % of the jobs' time up to 2 containers waited, " + want; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
