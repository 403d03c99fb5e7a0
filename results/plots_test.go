package results

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"regexp"
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

// backToBack is a run of maps that follow one another without a pause on one
// slot.
func backToBack(maps int) *Run {
	q := &model.WhatIf{Name: "back to back", Cluster: sampleCluster(1, 1, 0), Jobs: []workload.Job{{ID: "job_1"}}}
	s := NewStats(q, true)
	for i := range maps {
		a := workload.Attempt{Job: "job_1", Task: i, Kind: workload.Map, Node: "node00", Start: time.Duration(i) * time.Minute, Finish: time.Duration(i+1) * time.Minute}
		a.Phases[workload.PhaseMap] = time.Minute
		s.Attempt(&a)
	}
	return &Run{Question: q, Stats: s, Predictions: []model.Prediction{{Mean: time.Duration(maps) * time.Minute}}}
}

// TestBackToBack counts bars: attempts of one colour that follow one another
// never look like one, kept or in a raster.
func TestBackToBack(t *testing.T) {
	for _, x := range []struct {
		kind   chartKind
		raster bool
		colour figure.Tint
	}{
		{bySlot, false, figure.PhaseColours[workload.PhaseMap]}, {bySlotJob, false, figure.JobColours[0]}, {bySlot, true, figure.PhaseColours[workload.PhaseMap]},
	} {
		r := backToBack(7)
		if x.raster {
			r.Stats.chart.rasterise()
		}
		f := executionFigure("", []*Run{r}, x.kind)
		var out bytes.Buffer
		if err := f.WritePNG(&out); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&out)
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		for y := range img.Bounds().Dy() {
			bars, inside := 0, false
			for px := range img.Bounds().Dx() {
				is := color.NRGBAModel.Convert(img.At(px, y)) == x.colour.Light
				if is && !inside {
					bars++
				}
				inside = is
			}
			most = max(most, bars)
		}
		if most != 7 {
			t.Errorf("chart %d, raster %v: %d bars on a line: want 7", x.kind, x.raster, most)
		}
	}
	var svg bytes.Buffer
	if err := executionFigure("", []*Run{backToBack(7)}, bySlot).WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	path := regexp.MustCompile(`d="M([^"]*)"><title>map<`).FindStringSubmatch(svg.String())
	if path == nil {
		t.Fatal("no path of the maps")
	}
	if gaps := strings.Count(path[1], "m.5 0h"); gaps != 6 {
		t.Errorf("%d gaps of half a point between bars in %s: want 6", gaps, path[1])
	}
}

// TestSVG checks what viewers and readers ask of a picture: a title, a
// description, dark colours for each light one, no text of ours unescaped.
func TestSVG(t *testing.T) {
	r := smallSample(t)
	for _, f := range []*figure.Figure{executionFigure(`a < "b"`, []*Run{r}, bySlot), slotsFigure("", []*Run{r}), predictionFigure("", withModels(r).answers())} {
		var out bytes.Buffer
		if err := f.WriteSVG(&out); err != nil {
			t.Fatal(err)
		}
		checkXML(t, out.Bytes())
		text := out.String()
		light, dark, ok := strings.Cut(text, "@media (prefers-color-scheme:dark){\n")
		dark, _, _ = strings.Cut(dark, "</style>")
		rules := regexp.MustCompile(`(?m)^\.\w+\{`)
		if !ok || !slices.Equal(rules.FindAllString(light, -1), rules.FindAllString(dark, -1)) {
			t.Error("the dark rules are not those of the light colours")
		}
		if !regexp.MustCompile(`(?s)^<svg [^>]*role="img">\n<title>[^<]*</title>\n<desc>[^<]*(horizontal axis|legend): [^<]+</desc>`).MatchString(text) {
			t.Errorf("no title or description: %.400s", text)
		}
	}
}

// TestModelColours draws a model beside different others: its mark stays.
func TestModelColours(t *testing.T) {
	seen := map[string]bool{}
	for name, style := range figure.ModelStyles {
		mark := fmt.Sprintf("%v %T", style.Color, style.Shape)
		if seen[mark] {
			t.Errorf("%s has the mark of another model", name)
		}
		seen[mark] = true
	}
	if a, b := figure.ModelStyle("a model of mine"), figure.ModelStyle("a model of mine"); a != b {
		t.Error("an unknown model changes its mark")
	}
	p := model.Prediction{Model: "simulation", Mean: time.Minute}
	for _, models := range [][]string{{"zhang"}, {"aria", "waves", "zhang"}} {
		a := &Answers{Reference: "simulation", List: []Answer{{Prediction: p}}}
		for _, name := range models {
			a.List = append(a.List, Answer{Prediction: model.Prediction{Model: name, Mean: time.Minute}})
		}
		for _, f := range []*figure.Figure{predictionFigure("", a), sweepFigure("", a)} {
			var out bytes.Buffer
			if err := f.WriteSVG(&out); err != nil {
				t.Fatal(err)
			}
			if want := "fill:none;stroke:" + figure.CSSColour(figure.ModelStyles["zhang"].Color.(figure.Tint).Light); !strings.Contains(out.String(), want) {
				t.Errorf("zhang among %v is not drawn in its colour %s", models, want)
			}
		}
	}
}

// Names of jobs that differ behind the width of a legend stay apart in it.
func TestJobLabels(t *testing.T) {
	const long = "nightly-aggregation-of-clicks-by-region-"
	got := jobLabels([]workload.Job{{ID: long + "1"}, {ID: long + "2", Name: "b"}})
	if got[0] == got[1] || len([]rune(got[0])) > 28 {
		t.Errorf("got %q: want two labels of at most 28 characters", got)
	}
}

// Maps that take no time make no node slow.
func TestSlowNodesWithoutTime(t *testing.T) {
	var nodes []*nodeSlots
	for i := range 4 {
		nodes = append(nodes, &nodeSlots{nodeStats: nodeStats{maps: 5, mapTime: int64(i / 3)}})
	}
	if slow := slowNodes(nodes); len(slow) > 0 {
		t.Errorf("got %d slow nodes, the first %v times the median: want none", len(slow), slow[0].times)
	}
}

func TestWithoutPrefix(t *testing.T) {
	for _, x := range [][2][]string{
		{{"maps=4", "maps=8"}, {"4", "8"}},
		{{"fifo maps=4", "fifo maps=8"}, {"4", "8"}},
		{{"fifo maps=4 reduces=2", "fifo maps=8 reduces=2"}, {"4", "8"}},
		{{"compress=false codec=org.apache.A", "compress=true codec=org.apache.B"}, {"false, A", "true, B"}},
		{{"maps=4", "reduces=4"}, {"maps=4", "reduces=4"}},
		{{"input=1g", "input=1m"}, {"1g", "1m"}},
		{{"before", "before and after"}, {"before", "before and after"}},
		{{"one"}, {"one"}},
	} {
		if _, got := text.WithoutPrefix(x[0]); !slices.Equal(got, x[1]) {
			t.Errorf("%q: got %q: want %q", x[0], got, x[1])
		}
	}
}

func TestWithoutPackages(t *testing.T) {
	for name, want := range map[string]string{
		"codec=org.apache.hadoop.io.compress.Lz4Codec copies=5": "codec=Lz4Codec copies=5",
		"codec=com.hadoop.compression.lzo.LzoCodec":             "codec=LzoCodec",
		"slowstart=0.05 io.sort.mb=100 file=a.toml":             "slowstart=0.05 io.sort.mb=100 file=a.toml",
	} {
		if got := text.WithoutPackages(name); got != want {
			t.Errorf("%q: got %q: want %q", name, got, want)
		}
	}
}

// TestComparisonHeight keeps comparisons within two screens of 1080 pixels,
// of which a point takes 4/3.
func TestComparisonHeight(t *testing.T) {
	one := smallSample(t)
	one.Predictions[0].Devices = []model.DeviceUse{{Node: allNodes, Device: "disk", Times: []time.Duration{0, time.Second}, Uses: []model.Use{{Busy: 1, Bytes: 1}}}}
	for n := 2; n <= mostSlots; n++ {
		runs := slices.Repeat([]*Run{one}, n)
		figures := []*figure.Figure{slotsFigure("", runs)}
		if n <= mostCharts {
			figures = append(figures, executionFigure("", runs, bySlot), executionFigure("", runs, byAttempt))
		}
		for _, f := range figures {
			if f.Height() > 1620 {
				t.Errorf("%d runs: %q is %.0f points high: want at most 1620", n, f.Subtitle, f.Height())
			}
		}
	}
}

// TestNoPlots leaves the pictures out, and nothing else.
func TestNoPlots(t *testing.T) {
	r := smallSample(t)
	r.NoPlots = true
	for _, write := range []func(resultdir.Target) error{r.Write, (&Comparison{Runs: []*Run{r, r}}).Write} {
		dir := t.TempDir()
		d := create(t, dir, false)
		if err := write(d); err != nil {
			t.Fatal(err)
		}
		if err := d.Commit(resultdir.Manifest{}); err != nil {
			t.Fatal(err)
		}
		for _, name := range names(t, dir) {
			if !strings.HasSuffix(name, ".csv") && !strings.HasSuffix(name, ".json") {
				t.Errorf("%s was written", name)
			}
		}
	}
}

// TestPictureErrors wants a plot that fails to fail the run, also though it is
// drawn beside it.
func TestPictureErrors(t *testing.T) {
	var p figure.Pictures
	p.Draw([]string{"broken"}, []*figure.Figure{{Panels: []*figure.Panel{nil}}})
	w := resultdir.Writer{Dir: create(t, t.TempDir(), false)}
	if p.Write(&w); w.Err == nil {
		t.Error("no error of a figure that cannot be drawn")
	}
}
