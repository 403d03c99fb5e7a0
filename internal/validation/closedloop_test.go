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

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/calibrate"
	"github.com/slotwave/slotwave/study/reproduce"
)

// load is the size of a run.
type load struct {
	gb            float64
	maps, reduces int
}

func (l load) bytes() float64 { return l.gb * (1 << 30) }

func open(t *testing.T, platform, fidelity string, settings ...string) testbed {
	t.Helper()
	b, err := calibrate.OpenTestbed(platform, fidelity, 1, settings...)
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

// Microbenchmarks on five simulated workers, lines fitted to them, and thirteen
// applications predicted and simulated: the loop of the paper, closed, on its
// platform and on two that nobody tuned.
func TestZhangLoop(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates all benchmarks of the paper")
	}
	tables := map[string]string{}
	for _, c := range []struct {
		platform string
		least    int // of thirteen within 10 %
	}{{"dl145-g3", 12}, {"ec2-large", 12}, {"server-2025", 12}} {
		if c.platform != "dl145-g3" && !*update {
			continue // 30 s of processor time
		}
		for _, figure := range []string{"4", "5"} {
			if figure == "5" && !layers.Whole && !*update {
				continue // 64 workers, twenty times the work of figure 4
			}
			page, err := reproduce.Reproduce("zhang", reproduce.Reproducing{Options: study.Options{Seed: 1}, Figure: figure, Platform: c.platform})
			if err != nil {
				t.Fatal(err)
			}
			part := page.Parts[len(page.Parts)-1]
			last := part.Rows[len(part.Rows)-1]
			var within int
			var worst float64
			if _, err := fmt.Sscanf(last[len(last)-1], "%d, %f", &within, &worst); err != nil {
				t.Fatal(err)
			}
			if within < c.least || worst > 17 {
				t.Errorf("%s, figure %s: %d within 10 %%, worst %.1f %%: want %d and 17 %%", c.platform, figure, within, worst, c.least)
			}
			tables[c.platform+figure] = markdownTable(part.Header, part.Rows)
			if c.platform == "dl145-g3" {
				picture(t, map[string]string{"4": "zhang-5-workers.svg", "5": "zhang-64-workers.svg"}[figure], page, "figure-"+figure)
			}
		}
	}
	page, err := reproduce.Reproduce("zhang", reproduce.Reproducing{Options: study.Options{Seed: 1}, Figure: "table-1"})
	if err != nil {
		t.Fatal(err)
	}
	last := page.Parts[len(page.Parts)-1]
	evidence.Compare(t, "zhang-fit", markdownTable(last.Header, last.Rows), *update)
	evidence.Compare(t, "zhang-5-workers", tables["dl145-g34"], *update)
	if table, made := tables["dl145-g35"]; made {
		evidence.Compare(t, "zhang-64-workers", table, *update)
	}
	if !*update {
		return
	}
	others := "| platform | workers | "
	header := strings.Split(strings.TrimSpace(strings.SplitN(tables["ec2-large4"], "\n", 2)[0]), " | ")[2:]
	others += strings.Join(header, " | ") + "\n|---|---|---|---|---|---|\n"
	for _, platform := range []string{"ec2-large", "server-2025"} {
		for _, figure := range []string{"4", "5"} {
			rows := strings.Split(strings.TrimSpace(tables[platform+figure]), "\n")
			cells := strings.Split(rows[len(rows)-1], " | ")[2:]
			others += fmt.Sprintf("| %s | %s | %s\n", platform, map[string]string{"4": "5", "5": "64"}[figure], strings.Join(cells, " | "))
		}
	}
	evidence.Compare(t, "zhang-platforms", others, *update)
}

func markdownTable(header []string, rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat("---|", len(header)))
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String()
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

// picture compares a picture of the documents with that of a page, or draws it.
func picture(t *testing.T, name string, page *reproduce.Reproduction, drawnAs string) {
	t.Helper()
	dir := t.TempDir()
	d, err := resultdir.Create(dir, resultdir.Purpose{})
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Write(d); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(resultdir.Manifest{}); err != nil {
		t.Fatal(err)
	}
	drawn := []byte(read(t, filepath.Join(dir, drawnAs+".svg")))
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
	b.WriteString("| factor F | heap | segments of 64 MB to a file | F files | F + 1 files | break | ms/MB before and after |\n|---|---|---|---|---|---|---|---|\n")
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
	evidence.Compare(t, "zhang-break", b.String(), *update)
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
