package validation

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// application is a row of the paper's Table 2. Assumed: which programs of the
// Netflix data it has, and the gigabytes where only maps are known.
type application struct {
	name, program string
	small, large  load
}

// load is the size of a run.
type load struct {
	gb            float64
	maps, reduces int
}

var applications = []application{
	{"TeraSort", "terasort", load{2.8, 44, 20}, load{31, 495, 240}},
	{"WordCount", "wordcount", load{2.8, 44, 20}, load{50, 788, 240}},
	{"Grep", "grep", load{2.8, 44, 1}, load{50, 788, 1}},
	{"InvertedIndex", "inverted-index", load{2.8, 44, 20}, load{50, 788, 240}},
	{"RankedInvertedIndex", "ranked-inverted-index", load{2.5, 40, 20}, load{46, 745, 240}},
	{"TermVector", "term-vector", load{2.8, 44, 20}, load{50, 788, 240}},
	{"SequenceCount", "sequence-count", load{2.8, 44, 20}, load{50, 788, 240}},
	{"SelfJoin", "self-join", load{2.1, 32, 20}, load{28, 448, 240}},
	{"AdjacencyList", "adjacency-list", load{2.4, 44, 20}, load{28, 508, 240}},
	{"HistogramMovies", "histogram-movies", load{3.5, 56, 1}, load{27, 428, 1}},
	{"HistogramRatings", "histogram-ratings", load{3.5, 56, 1}, load{27, 428, 1}},
	{"Classification", "classification", load{3.5, 56, 16}, load{27, 428, 50}},
}

func (l load) bytes() float64 { return l.gb * (1 << 30) }

// pastRun is what a finished run tells the platform model of its job.
type pastRun struct {
	tasks             []analytic.ZhangTask
	count, refills    [2]int                   // of maps and reduces
	overhead          [2]time.Duration         // start-up, waits and commit of the tasks
	gaps              [2]time.Duration         // from one task of a slot to the next
	used              map[string]time.Duration // until when, by slot
	first, last, ends time.Duration            // start of the first map, end of the last task, end of the job
}

func (r *pastRun) Attempt(a *workload.Attempt) {
	if a.Kind != workload.Map && a.Kind != workload.Reduce {
		return
	}
	if len(r.tasks) == 0 || a.Start < r.first {
		r.first = a.Start
	}
	r.last = max(r.last, a.Finish)
	r.count[a.Kind]++
	r.overhead[a.Kind] += a.Phases[workload.PhaseStartup] + a.WaitFetch + a.Phases[workload.PhaseCommit]
	slot := fmt.Sprint(a.Kind, a.Node, a.Slot)
	if before, again := r.used[slot]; again {
		r.gaps[a.Kind] += a.Start - before // most of it for the heartbeat
		r.refills[a.Kind]++
	}
	r.used[slot] = a.Finish
	r.tasks = append(r.tasks, analytic.ZhangTask{
		Kind: a.Kind.String(), InBytes: float64(a.InBytes), InRecs: float64(a.InRecords),
		OutBytes: float64(a.OutBytes), OutRecs: float64(a.OutRecords),
		FunctionMS: 1000 * (a.Phases[workload.PhaseMap] + a.Phases[workload.PhaseReduce]).Seconds(),
	})
}

// job is the profile for a run of another size.
func (r *pastRun) job(t *testing.T, l load) analytic.ZhangJob {
	j, err := analytic.ZhangJobOf(r.tasks)
	if err != nil {
		t.Fatal(err)
	}
	around := func(k workload.Kind) float64 {
		return 1000 * (r.overhead[k].Seconds()/float64(r.count[k]) + r.gaps[k].Seconds()/float64(max(1, r.refills[k])))
	}
	j.OverheadMS = around(workload.Map)
	j.ReduceWaitMS = max(0, around(workload.Reduce)-j.OverheadMS)
	j.Maps, j.Reduces = l.maps, l.reduces
	width := j.BlockMBAvg / j.BlockRecsAvg
	j.BlockMBAvg = l.bytes() / float64(l.maps) / (1 << 20)
	j.BlockRecsAvg = j.BlockMBAvg / width
	j.BlockMBMax, j.BlockRecsMax = j.BlockMBAvg, j.BlockRecsAvg
	return j
}

// play simulates a program.
func (b testbed) play(t *testing.T, p model.Program, l load, slowstart string) *pastRun {
	t.Helper()
	j := workload.Job{Maps: workload.MapTasks{Count: l.maps, InputBytes: int64(l.bytes())}, Reduces: workload.ReduceTasks{Count: l.reduces}}
	j.Conf.Set("mapred.reduce.slowstart.completed.maps", slowstart)
	r := &pastRun{used: map[string]time.Duration{}}
	answer, err := sim.Simulator{Recorder: r}.Predict(b.Job(j, p))
	if err != nil {
		t.Fatal(err)
	}
	r.ends = answer.Mean
	return r
}

func open(t *testing.T, platform, fidelity string, settings ...string) testbed {
	t.Helper()
	b, err := study.OpenTestbed(platform, fidelity, 1, settings...)
	if err != nil {
		t.Fatal(err)
	}
	return testbed{b}
}

// shippedProgram is a job profile as a scenario reads it.
func shippedProgram(t *testing.T, name string) model.Program {
	t.Helper()
	f, err := scenarios.Open("hitune-codec", "job.0.profile="+name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	return s.Runs[0].Question.Programs[0]
}

// evenly weighs contention, which is no gross error, and leaves nothing out.
func evenly() platform.FitOptions {
	return platform.FitOptions{Robust: fit.RobustOptions{Weight: "huber"}, EqualSpread: true}
}

func fitted(t *testing.T, b testbed, row float64) (platform.Model, []platform.PhaseFit) {
	t.Helper()
	profile, err := b.Profile(row)
	if err != nil {
		t.Fatal(err)
	}
	platform, fits, err := platform.Fit(profile, evenly())
	if err != nil {
		t.Fatal(err)
	}
	return platform, fits
}

// loop is the error of every application on a cluster.
type loop struct {
	title   string
	answers results.Answers
	errors  [3][]float64 // lines of 100-byte rows, lines of the application's rows, slowstart 0.05
}

func (l *loop) add(name string, p analytic.ZhangTimes, r *pastRun, offset time.Duration) {
	at := func(ms float64) time.Duration { return offset + workload.Seconds(ms/1000) }
	z := model.Prediction{Model: "zhang", Low: at(p.Low), Mean: at(p.Avg), High: at(p.Up)}
	s := model.Prediction{Model: "simulation", Low: r.ends, Mean: r.ends, High: r.ends}
	l.answers.List = append(l.answers.List, results.Answer{Scenario: name, Prediction: s}, results.Answer{Scenario: name, Prediction: z})
}

func off(p analytic.ZhangTimes, r *pastRun, offset time.Duration) float64 {
	return (p.Avg/1000+offset.Seconds())/r.ends.Seconds() - 1
}

// Microbenchmarks on five simulated workers, lines fitted to them, and twelve
// applications predicted and simulated: the loop of the paper, closed.
func TestZhangLoop(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates all benchmarks of the paper")
	}
	five := open(t, "dl145-g3", "device")
	many := open(t, "dl145-g3", "device", "cluster.nodes=64", "cluster.racks=2")
	usual, fits := fitted(t, five, platform.BenchmarkRow)
	loops := []*loop{{title: "12 applications on 5 workers"}, {title: "12 applications on 64 workers"}}
	for _, l := range loops {
		l.answers.Reference = "simulation"
	}
	for _, a := range applications {
		program := shippedProgram(t, a.program)
		program.Combiner = false // there is none in the model
		own, _ := fitted(t, five, program.Data.InputPairWidth*program.Data.MapSizeSel/program.Data.MapRecsSel)
		past := five.play(t, program, a.small, "1.0")
		around := past.ends - past.last + past.first
		for i, l := range loops {
			bed, size, run, slots := five, a.small, past, 10
			if i == 1 {
				bed, size, slots = many, a.large, 128
				run = bed.play(t, program, size, "1.0")
			}
			early := bed.play(t, program, size, "0.05")
			job := past.job(t, size)
			for k, fitted := range []platform.Model{usual, own} {
				p, err := job.Times(&fitted, slots, slots)
				if err != nil {
					t.Fatal(err)
				}
				l.errors[k] = append(l.errors[k], off(p, run, around))
				if k == 1 {
					l.errors[2] = append(l.errors[2], off(p, early, around))
					l.add(a.name, p, run, around)
				}
			}
		}
	}
	for _, l := range loops {
		if n, worst := within(l.errors[1], 0.1); n < 11 || worst > 0.17 {
			t.Errorf("%s: %d within 10 %%, worst %.1f %%: want 11 and 17 %%", l.title, n, 100*worst)
		}
	}
	section(t, "zhang-fit", fitTable(fits))
	section(t, "zhang-loop", loopTable(loops))
	for i, name := range []string{"zhang-5-workers.svg", "zhang-64-workers.svg"} {
		picture(t, name, loops[i])
	}
}

// within is how many errors are at most so large, and the largest.
func within(errors []float64, limit float64) (n int, worst float64) {
	for _, e := range errors {
		if math.Abs(e) <= limit {
			n++
		}
		worst = math.Max(worst, math.Abs(e))
	}
	return n, worst
}

// section compares a part of the page on validation, or writes it anew.
func section(t *testing.T, name, want string) {
	t.Helper()
	sectionOf(t, "../../docs/validation.md", name, want)
}

// sectionOf compares a part of a page, or writes it anew.
func sectionOf(t *testing.T, page, name, want string) {
	t.Helper()
	text := read(t, page)
	before, rest, ok := strings.Cut(text, "<!-- "+name+" -->\n")
	now, after, ended := strings.Cut(rest, "<!-- end -->")
	if !ok || !ended {
		t.Fatalf("%s: no part %s", page, name)
	}
	if now == want {
		return
	}
	if !*update {
		t.Errorf("%s: %s has changed (-update writes it):\n%s", page, name, want)
	} else if err := os.WriteFile(page, []byte(before+"<!-- "+name+" -->\n"+want+"<!-- end -->"+after), 0o666); err != nil {
		t.Fatal(err)
	}
}

// table1 is the paper's: parts of the rows within 10, 15 and 20 %.
var table1 = map[string]string{
	"read": "66 / 83 / 92", "collect": "56 / 73 / 84", "spill": "61 / 76 / 83",
	"merge": "58 / 84 / 94", "shuffle": "76 / 85 / 96", "write": "93 / 97 / 98",
}

func fitTable(fits []platform.PhaseFit) string {
	var b strings.Builder
	b.WriteString("| phase | ms | rows within 10 / 15 / 20 % | paper |\n|---|---|---|---|\n")
	for _, f := range fits[:len(table1)] { // the paper has no sort apart
		line := fmt.Sprintf("%.0f + %.3g/MB", math.Abs(math.Round(f.Model.A)), f.Model.B)
		if f.Model.A < -0.5 {
			line = "-" + line
		}
		if !math.IsInf(f.Model.Tau, 1) {
			line += fmt.Sprintf(", from %.4g MB on %.0f + %.3g/MB", f.Model.Tau, f.Model.Beyond.A, f.Model.Beyond.B)
		}
		e := f.Errors.Fractions
		fmt.Fprintf(&b, "| %s | %s | %.0f / %.0f / %.0f | %s |\n", f.Phase, line, 100*e[0], 100*e[1], 100*e[2], table1[f.Phase])
	}
	return b.String()
}

func loopTable(loops []*loop) string {
	var b strings.Builder
	b.WriteString("| application | simulated s, 5 workers | rows of 100 bytes | own rows | early shuffle | simulated s, 64 workers | rows of 100 bytes | own rows | early shuffle |\n|---|---|---|---|---|---|---|---|---|\n")
	for i, a := range applications {
		fmt.Fprintf(&b, "| %s", a.name)
		for _, l := range loops {
			fmt.Fprintf(&b, " | %.1f", l.answers.List[2*i].Prediction.Mean.Seconds())
			for _, e := range l.errors {
				fmt.Fprintf(&b, " | %+.1f %%", 100*e[i])
			}
		}
		b.WriteString(" |\n")
	}
	b.WriteString("| within 10 / 15 / 20 % of 12, worst")
	for _, l := range loops {
		b.WriteString(" |")
		for _, e := range l.errors {
			ten, worst := within(e, 0.10)
			fifteen, _ := within(e, 0.15)
			twenty, _ := within(e, 0.20)
			fmt.Fprintf(&b, " | %d / %d / %d, %.1f %%", ten, fifteen, twenty, 100*worst)
		}
	}
	b.WriteString(" |\n")
	return b.String()
}

// picture draws predictions against simulations, as figures 4 and 5 of the paper do.
func picture(t *testing.T, name string, l *loop) {
	t.Helper()
	dir := t.TempDir()
	d, err := results.Create(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.answers.Write(d, l.title); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(results.Manifest{}); err != nil {
		t.Fatal(err)
	}
	drawn := []byte(read(t, filepath.Join(dir, "prediction.svg")))
	path := filepath.Join("..", "..", "docs", name)
	kept, err := os.ReadFile(path)
	if bytes.Equal(drawn, kept) {
		return
	}
	if !*update {
		t.Errorf("%s has changed (-update draws it): %v", path, err)
	} else if err := os.WriteFile(path, drawn, 0o666); err != nil {
		t.Fatal(err)
	}
}

// The shuffle breaks where the sort needs a pass more: where F+1 files are full
// of whole segments, the fewest that fill the part of the buffer from which on
// they are merged. Segments above a quarter of the buffer are files of their own.
func TestShuffleBreak(t *testing.T) {
	const segment = 64
	var b strings.Builder
	b.WriteString("| factor F | heap | segments of 64 MB to a file | F files | F + 1 files | break | ms/MB before and after |\n|---|---|---|---|---|---|---|\n")
	for _, c := range []struct {
		factor, heap int
		perFile      float64
	}{{10, 700, 5}, {20, 700, 5}, {5, 700, 5}, {10, 1400, 9}, {10, 350, 1}} {
		bed := open(t, "dl145-g3", "phase", fmt.Sprintf(`conf."io.sort.factor"=%d`, c.factor), fmt.Sprintf(`conf."mapred.child.java.opts"="-Xmx%dm"`, c.heap))
		file := c.perFile * segment
		first := file * float64(c.factor+1)
		var x, y []float64
		for maps := 3; segment*float64(maps) < 1.7*first; maps++ {
			shuffle := bed.shuffle(t, platform.GridPoint{InputMB: segment, MapSel: 5, Maps: maps, Reduces: 5})
			x, y = append(x, shuffle.MB), append(y, shuffle.MS)
		}
		two, err := fit.Segment(x, y, fit.SegmentOptions{MinPoints: 3, Margin: fit.DefaultMargin})
		if err != nil {
			t.Fatal(err)
		}
		if !two.Two || math.Abs(*two.Tau-first) > segment || two.Pieces[1].B <= two.Pieces[0].B {
			t.Errorf("factor %d, heap %d MB: two lines %t from %.0f MB on, %+v: want a steeper one from %.0f MB on", c.factor, c.heap, two.Two, *two.Tau, two.Pieces, first)
		}
		fmt.Fprintf(&b, "| %d | %d MB | %.0f | %.0f MB | %.0f MB | %.0f MB | %.1f and %.1f |\n",
			c.factor, c.heap, c.perFile, file*float64(c.factor), first, *two.Tau, two.Pieces[0].B, two.Pieces[1].B)
	}
	section(t, "zhang-break", b.String())
}

// shuffle is what a reduce of a benchmark shows that writes nothing.
func (b testbed) shuffle(t *testing.T, g platform.GridPoint) platform.PhaseRow {
	t.Helper()
	j, p, err := g.Benchmark(platform.BenchmarkRow)
	p.Data.ReduceSizeSel, p.Data.ReduceRecsSel = 0, 0
	var o observer
	if err == nil {
		_, err = sim.Simulator{Recorder: &o}.Predict(b.Job(j, p))
	}
	i := slices.IndexFunc(o.Profile, func(p platform.PhaseRows) bool { return p.Phase == "shuffle" })
	if err != nil || i < 0 {
		t.Fatalf("%+v: no shuffle: %v", g, err)
	}
	return o.Profile[i].Rows[0]
}
