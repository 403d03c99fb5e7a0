package results

import (
	"image/color"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
)

// maxPredictionRows is the largest number of scenarios or jobs with a line
// each. More are drawn as points against the reference.
const maxPredictionRows = 24

// predicted is one figure of one model and the same figure of the reference.
type predicted struct {
	row             int
	model           int
	low, mean, high time.Duration
	ref             time.Duration
}

// predictionSet is the content of a prediction figure: the makespan of each
// scenario or, for a single scenario, also the time of each job.
type predictionSet struct {
	jobs   bool // row 0 is the makespan, the others are jobs
	rows   []string
	ref    []time.Duration // by row
	models []string
	points []predicted
}

func (a *Answers) set() *predictionSet {
	s := &predictionSet{}
	one := true
	for i := range a.List {
		one = one && a.List[i].Scenario == a.List[0].Scenario
		s.jobs = s.jobs || len(a.List[i].Prediction.Jobs) > 1
	}
	s.jobs = s.jobs && one
	firstRow := map[string]int{}
	for i := range a.List {
		x := &a.List[i]
		ref := a.reference(x.Scenario)
		if a.Reference == "" && x.Err == nil {
			ref = &x.Prediction // for the names of the jobs; its times are not drawn
		}
		if ref == nil {
			continue
		}
		start, ok := firstRow[x.Scenario]
		if !ok {
			start = len(s.rows)
			firstRow[x.Scenario] = start
			label := text.Escape(x.Scenario)
			if one {
				label = "makespan"
			}
			s.rows, s.ref = append(s.rows, label), append(s.ref, ref.Mean)
			if s.jobs {
				for k := range ref.Jobs {
					t := jobTime(ref, k, ref.Jobs[k].ID)
					if t == nil {
						t = new(time.Duration)
					}
					s.rows, s.ref = append(s.rows, text.Escape(ref.Jobs[k].ID)), append(s.ref, *t)
				}
			}
		}
		p := &x.Prediction
		if x.Err != nil || p == ref && a.Reference != "" {
			continue
		}
		m := slices.Index(s.models, text.Escape(p.Model))
		if m < 0 {
			m = len(s.models)
			s.models = append(s.models, text.Escape(p.Model))
		}
		s.points = append(s.points, predicted{start, m, p.Low, p.Mean, p.High, ref.Mean})
		if s.jobs {
			for k := range p.Jobs {
				j := &p.Jobs[k]
				if t := jobTime(ref, k, j.ID); t != nil && j.Finished() {
					s.points = append(s.points, predicted{start + 1 + k, m, j.Low, j.Finish - j.Submit, j.High, *t})
				}
			}
		}
	}
	return s
}

// few reports whether a picture of the answers has few enough points for SVG.
func (a *Answers) few() bool {
	n := 0
	for i := range a.List {
		n += 1 + len(a.List[i].Prediction.Jobs)
	}
	return n <= MaxBars
}

var referenceEdge = draw.LineStyle{Color: figure.ColourText, Width: 1.2}

// predictionFigure draws predictions against the reference, with their bounds.
func predictionFigure(title string, answers *Answers) *figure.Figure {
	s := answers.set()
	if answers.Reference == "" {
		clear(s.ref)
	}
	f := &figure.Figure{Title: title, Raster: !answers.few()}
	for _, name := range s.models {
		style := figure.ModelStyle(name)
		f.Legend = append(f.Legend, figure.LegendEntry{Label: text.Shorten(name, 32), Sample: func(to draw.Canvas) {
			boundsLine(style.Color, &to, to.Min.X, to.Max.X, to.Center().Y)
			to.DrawGlyph(style, to.Center())
		}})
	}
	if len(s.rows) <= maxPredictionRows {
		s.drawRows(f, answers.Reference)
	} else {
		s.drawCloud(f, answers.Reference)
	}
	return f
}

func boundsLine(c color.Color, to *draw.Canvas, from, until, y vg.Length) {
	sty := draw.LineStyle{Color: c, Width: 1}
	to.StrokeLine2(sty, from, y, until, y)
	to.StrokeLine2(sty, from, y-2.2, from, y+2.2)
	to.StrokeLine2(sty, until, y-2.2, until, y+2.2)
}

// drawRows draws a line per scenario or job: a bar for the reference, and on it
// each model's mean with its bounds.
func (s *predictionSet) drawRows(f *figure.Figure, reference string) {
	end := time.Duration(1)
	for _, t := range s.ref {
		end = max(end, t)
	}
	for _, p := range s.points {
		end = max(end, p.mean, p.high)
	}
	unit := figure.UnitFor(end)
	f.Subtitle = "points: models, with their lower and upper bounds"
	if reference != "" {
		f.Legend = append([]figure.LegendEntry{{Label: text.Escape(reference), Sample: func(to draw.Canvas) {
			figure.Filled(figure.ColourReference)(to)
			to.StrokeLine2(referenceEdge, to.Max.X, to.Min.Y, to.Max.X, to.Max.Y)
		}}}, f.Legend...)
		f.Subtitle = "bar: " + text.Escape(reference) + "; " + f.Subtitle
	}
	_, labels := text.WithoutPrefix(s.rows)
	p := figure.RowsPanel(labels, max(24, vg.Length(9*len(s.models)+12)))
	p.Add(figure.Drawing(func(c draw.Canvas, x, y func(float64) vg.Length) {
		at := func(t time.Duration) vg.Length { return x(unit.Of(int64(t))) }
		for i, ref := range s.ref {
			if ref == 0 {
				continue
			}
			bar := figure.Row(x(0), at(ref), y, i, 0.14)
			c.SetColor(figure.ColourReference)
			c.Fill(bar.Path())
			c.StrokeLine2(referenceEdge, bar.Max.X, bar.Min.Y, bar.Max.X, bar.Max.Y)
		}
		for _, pt := range s.points {
			style := figure.ModelStyle(s.models[pt.model])
			mid := y(float64(pt.row) + 0.14 + 0.72*(float64(pt.model)+0.5)/float64(len(s.models)))
			if pt.low < pt.high {
				boundsLine(style.Color, &c, at(pt.low), at(pt.high), mid)
			}
			c.DrawGlyph(style, vg.Point{X: at(pt.mean), Y: mid})
		}
	}))
	f.Panels = []*figure.Panel{p}
	f.SetTime(int64(float64(end)*1.03), unit)
}

// drawCloud draws each figure as a point, predicted over reference.
func (s *predictionSet) drawCloud(f *figure.Figure, reference string) {
	most := time.Duration(0)
	for _, p := range s.points {
		if s.drawn(p) {
			most = max(most, p.ref, p.mean)
		}
	}
	unit := figure.UnitFor(most)
	what := "scenario"
	if s.jobs {
		what = "job"
	}
	f.Subtitle = "each point is one " + what + "; the band holds predictions within 10 %"
	list := make([]figure.Compared, len(s.models))
	for i := range list {
		list[i].Style = figure.ModelStyle(s.models[i])
		list[i].Style.Radius = 2
	}
	for _, p := range s.points {
		if c := &list[p.model]; s.drawn(p) {
			c.With, c.Are = append(c.With, unit.Of(int64(p.ref))), append(c.Are, unit.Of(int64(p.mean)))
		}
	}
	f.SetDiagonal("time in "+text.Escape(reference)+" ("+unit.Name+")", "predicted time ("+unit.Name+")", 520, list...)
}

// drawn reports whether a point is drawn in the cloud. The makespan is not
// drawn among jobs, and a logarithmic axis has no zero.
func (s *predictionSet) drawn(p predicted) bool {
	return p.ref > 0 && p.mean > 0 && !(s.jobs && p.row == 0)
}

// jobTime returns the reference's time of a job. Predictions list their jobs in
// the same order.
func jobTime(ref *model.Prediction, i int, id string) *time.Duration {
	if ref == nil || i >= len(ref.Jobs) || ref.Jobs[i].ID != id || !ref.Jobs[i].Finished() {
		return nil
	}
	t := ref.Jobs[i].Finish - ref.Jobs[i].Submit
	return &t
}
