package results

import (
	"hash/fnv"
	"image/color"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
			label := Escape(x.Scenario)
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
					s.rows, s.ref = append(s.rows, Escape(ref.Jobs[k].ID)), append(s.ref, *t)
				}
			}
		}
		p := &x.Prediction
		if x.Err != nil || p == ref && a.Reference != "" {
			continue
		}
		m := slices.Index(s.models, Escape(p.Model))
		if m < 0 {
			m = len(s.models)
			s.models = append(s.models, Escape(p.Model))
		}
		s.points = append(s.points, predicted{start, m, p.Low, p.Mean, p.High, ref.Mean})
		if s.jobs {
			for k := range p.Jobs {
				j := &p.Jobs[k]
				if t := jobTime(ref, k, j.ID); t != nil && finished(j) {
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
	return n <= maxBars
}

// modelStyles are the marks of the models of slotwave: each has its own shape
// and colour in all pictures.
var modelStyles = map[string]draw.GlyphStyle{
	"simulation":        {Color: colourText, Radius: 3.4, Shape: draw.CircleGlyph{}},
	"measured":          {Color: tinted(0xb3005e, 0xff7ab8), Radius: 3.8, Shape: draw.CrossGlyph{}},
	"aria":              {Color: tinted(0x2f6fa8, 0x6fb4f2), Radius: 3.2, Shape: draw.CircleGlyph{}},
	"cresp":             {Color: tinted(0x6a3d7c, 0xc49ae0), Radius: 3.2, Shape: draw.RingGlyph{}},
	"herodotou":         {Color: tinted(0xb8501a, 0xf08a4b), Radius: 3, Shape: draw.BoxGlyph{}},
	"herodotou-literal": {Color: tinted(0xb8501a, 0xf08a4b), Radius: 3.4, Shape: draw.SquareGlyph{}},
	"hp":                {Color: tinted(0x177e89, 0x52c5d0), Radius: 3.2, Shape: draw.SquareGlyph{}},
	"ihp":               {Color: tinted(0x8a6d00, 0xd9b93b), Radius: 3.8, Shape: draw.TriangleGlyph{}},
	"waves":             {Color: tinted(0x17663c, 0x5fd08a), Radius: 3.8, Shape: draw.PyramidGlyph{}},
	"zhang":             {Color: tinted(0x9c3b2e, 0xff8878), Radius: 3.2, Shape: draw.CircleGlyph{}},
}

// otherStyles are the marks of other models.
var otherStyles = []draw.GlyphStyle{
	{Color: tinted(0x444444, 0xb8b8b8), Radius: 3.2, Shape: draw.CrossGlyph{}},
	{Color: tinted(0x8c2f6f, 0xe884c4), Radius: 3, Shape: draw.BoxGlyph{}},
	{Color: tinted(0x4d6b1f, 0xa5cc62), Radius: 3.2, Shape: draw.CircleGlyph{}},
	{Color: tinted(0x3f4fa0, 0x98a6ff), Radius: 3.8, Shape: draw.PyramidGlyph{}},
}

// modelStyle returns the mark of a model. It depends only on the name, so that
// it is the same in all pictures.
func modelStyle(name string) draw.GlyphStyle {
	if style, ok := modelStyles[name]; ok {
		return style
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return otherStyles[h.Sum32()%uint32(len(otherStyles))]
}

var referenceEdge = draw.LineStyle{Color: colourText, Width: 1.2}

// predictionFigure draws predictions against the reference, with their bounds.
func predictionFigure(title string, answers *Answers) *figure {
	s := answers.set()
	if answers.Reference == "" {
		clear(s.ref)
	}
	f := &figure{title: title, raster: !answers.few()}
	for _, name := range s.models {
		style := modelStyle(name)
		f.legend = append(f.legend, legendEntry{shorten(name, 32), func(to draw.Canvas) {
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
func (s *predictionSet) drawRows(f *figure, reference string) {
	end := time.Duration(1)
	for _, t := range s.ref {
		end = max(end, t)
	}
	for _, p := range s.points {
		end = max(end, p.mean, p.high)
	}
	unit := unitFor(end)
	f.subtitle = "points: models, with their lower and upper bounds"
	if reference != "" {
		f.legend = append([]legendEntry{{Escape(reference), func(to draw.Canvas) {
			filled(colourReference)(to)
			to.StrokeLine2(referenceEdge, to.Max.X, to.Min.Y, to.Max.X, to.Max.Y)
		}}}, f.legend...)
		f.subtitle = "bar: " + Escape(reference) + "; " + f.subtitle
	}
	p := newPanel(vg.Length(len(s.rows))*max(24, vg.Length(9*len(s.models)+12)), "")
	p.Y.Min, p.Y.Max = 0, float64(len(s.rows))
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	var marks []plot.Tick
	_, labels := withoutPrefix(s.rows)
	for i, label := range labels {
		marks = append(marks, plot.Tick{Value: float64(i) + 0.5, Label: shorten(label, 28)})
	}
	p.Y.Tick.Marker, p.Y.Tick.Length = plot.ConstantTicks(marks), 0
	p.Add(&rowPlotter{s, unit})
	f.panels = []*panel{p}
	f.setTime(int64(float64(end)*1.03), unit)
}

type rowPlotter struct {
	*predictionSet
	unit timeUnit
}

// Plot implements plot.Plotter.
func (r *rowPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(t time.Duration) vg.Length { return x(r.unit.of(int64(t))) }
	for i, ref := range r.ref {
		if ref == 0 {
			continue
		}
		bar := vg.Rectangle{
			Min: vg.Point{X: x(0), Y: y(float64(i) + 0.86)},
			Max: vg.Point{X: at(ref), Y: y(float64(i) + 0.14)},
		}
		c.SetColor(colourReference)
		c.Fill(bar.Path())
		c.StrokeLine2(referenceEdge, bar.Max.X, bar.Min.Y, bar.Max.X, bar.Max.Y)
	}
	for _, pt := range r.points {
		style := modelStyle(r.models[pt.model])
		mid := y(float64(pt.row) + 0.14 + 0.72*(float64(pt.model)+0.5)/float64(len(r.models)))
		if pt.low < pt.high {
			boundsLine(style.Color, &c, at(pt.low), at(pt.high), mid)
		}
		c.DrawGlyph(style, vg.Point{X: at(pt.mean), Y: mid})
	}
}

// drawCloud draws each figure as a point, predicted over reference, on
// logarithmic axes with bands of 10 and 20 % around equality.
func (s *predictionSet) drawCloud(f *figure, reference string) {
	lo, hi := math.Inf(1), 0.0
	for _, p := range s.points {
		if s.drawn(p) {
			lo = min(lo, float64(p.ref), float64(p.mean))
			hi = max(hi, float64(p.ref), float64(p.mean))
		}
	}
	if hi == 0 {
		lo, hi = float64(time.Second), float64(time.Minute)
	}
	unit := unitFor(time.Duration(hi))
	lo, hi = lo/unit.ns/1.25, hi/unit.ns*1.25
	what := "scenario"
	if s.jobs {
		what = "job"
	}
	f.subtitle = "each point is one " + what + "; the bands hold predictions within 10 % and 20 %"
	p := newPanel(520, "predicted time ("+unit.name+")")
	p.Y.Min, p.Y.Max = lo, hi
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.ConstantTicks(logTicks(lo, hi))
	p.Add(&cloudPlotter{s, unit, lo, hi})
	f.panels = []*panel{p}
	f.setX(hi, "time in "+Escape(reference)+" ("+unit.name+")", logTicks(lo, hi))
	p.X.Min, p.X.Scale = lo, plot.LogScale{}
}

// drawn reports whether a point is drawn in the cloud. The makespan is not
// drawn among jobs, and a logarithmic axis has no zero.
func (s *predictionSet) drawn(p predicted) bool {
	return p.ref > 0 && p.mean > 0 && !(s.jobs && p.row == 0)
}

// logTicks are labelled at 1, 2 and 5 times the powers of ten, at fewer or more of
// them for a long or a short axis.
func logTicks(lo, hi float64) []plot.Tick {
	steps := []float64{1, 2, 5}
	switch {
	case hi/lo > 1e4:
		steps = steps[:1]
	case hi/lo < 10:
		steps = []float64{1, 2, 3, 4, 5, 7}
	}
	var marks []plot.Tick
	for e := int(math.Floor(math.Log10(lo))) - 1; tenTo(1, e) <= hi; e++ {
		for _, m := range steps {
			if v := tenTo(m, e); v >= lo && v <= hi {
				marks = append(marks, plot.Tick{Value: v, Label: group(share(v).String())})
			}
		}
	}
	return marks
}

type cloudPlotter struct {
	*predictionSet
	unit   timeUnit
	lo, hi float64
}

// Plot implements plot.Plotter.
func (d *cloudPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, band := range []struct {
		width  float64
		colour tint
	}{{0.2, tinted(0xf0f0f0, 0x20262d)}, {0.1, tinted(0xdfdfdf, 0x2d343c)}} {
		up, down := 1+band.width, 1-band.width
		c.FillPolygon(band.colour, c.ClipPolygonXY([]vg.Point{
			{X: x(d.lo), Y: y(d.lo * down)}, {X: x(d.hi), Y: y(d.hi * down)},
			{X: x(d.hi), Y: y(d.hi * up)}, {X: x(d.lo), Y: y(d.lo * up)},
		}))
	}
	c.StrokeLine2(draw.LineStyle{Color: colourAxis, Width: 0.8}, x(d.lo), y(d.lo), x(d.hi), y(d.hi))
	for _, pt := range d.points {
		if d.drawn(pt) {
			style := modelStyle(d.models[pt.model])
			style.Radius = 2
			c.DrawGlyph(style, vg.Point{X: x(d.unit.of(int64(pt.ref))), Y: y(d.unit.of(int64(pt.mean)))})
		}
	}
}
