package results

import (
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// sweepLine holds one model's answers over the values of a key.
type sweepLine struct {
	model  string
	style  draw.GlyphStyle
	points []sweepPoint
}

type sweepPoint struct {
	at              float64
	low, mean, high time.Duration
}

// sweepLines returns the reference, if there is one, and the models that have
// answered, in the order of their first answers.
func (a *Answers) sweepLines() []sweepLine {
	var lines []sweepLine
	for i := range a.List {
		x := &a.List[i]
		p := &x.Prediction
		n := slices.IndexFunc(lines, func(l sweepLine) bool { return l.model == p.Model })
		if n < 0 {
			n = len(lines)
			lines = append(lines, sweepLine{model: p.Model, style: modelStyle(p.Model)})
		}
		if x.Err == nil {
			lines[n].points = append(lines[n].points, sweepPoint{x.At, p.Low, p.Mean, p.High})
		}
	}
	lines = slices.DeleteFunc(lines, func(l sweepLine) bool { return len(l.points) == 0 })
	for _, l := range lines {
		slices.SortStableFunc(l.points, func(a, b sweepPoint) int {
			switch {
			case a.at < b.at:
				return -1
			case a.at > b.at:
				return 1
			}
			return 0
		})
	}
	return lines
}

// sweepFigure draws makespans over the values of a key, with the bounds of each
// model as a band.
func sweepFigure(title string, a *Answers) *figure {
	s := &sweepPlotter{lines: a.sweepLines()}
	end, from, until := time.Duration(1), 0.0, 0.0
	for i, l := range s.lines {
		for k, p := range l.points {
			end = max(end, p.mean, p.high)
			if i == 0 && k == 0 {
				from, until = p.at, p.at
			}
			from, until = min(from, p.at), max(until, p.at)
		}
	}
	if from > 0 && from < until/2 {
		from = 0
	}
	margin := (until - from) / 50
	s.unit = unitFor(end)
	f := &figure{title: title, subtitle: "lines: makespan; bands: lower to upper bound"}
	for _, l := range s.lines {
		f.legend = append(f.legend, legendEntry{shorten(Escape(l.model), 32), func(to draw.Canvas) {
			y := to.Center().Y
			to.SetColor(l.style.Color.(tint).faint())
			to.Fill(to.Rectangle.Path())
			to.StrokeLine2(draw.LineStyle{Color: l.style.Color, Width: 1.2}, to.Min.X, y, to.Max.X, y)
			to.DrawGlyph(l.style, to.Center())
		}})
	}
	p := newPanel(420, "makespan ("+s.unit.name+")")
	top := s.unit.of(int64(end)) * 1.05
	p.Y.Min, p.Y.Max = 0, top
	p.Y.Tick.Marker = plot.ConstantTicks(s.unit.ticks(top, 10))
	p.Add(s)
	f.panels = []*panel{p}
	f.setX(until+margin, Escape(a.Over), ticks(until+margin, 12, nil))
	p.X.Min = from
	if margin == 0 {
		p.X.Min, p.X.Max = from-1, from+1
	}
	return f
}

type sweepPlotter struct {
	lines []sweepLine
	unit  timeUnit
}

// Plot implements plot.Plotter.
func (s *sweepPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(v float64, t time.Duration) vg.Point { return vg.Point{X: x(v), Y: y(s.unit.of(int64(t)))} }
	for _, l := range s.lines {
		var up, down []vg.Point
		for _, p := range l.points {
			up, down = append(up, at(p.at, p.high)), append(down, at(p.at, p.low))
		}
		slices.Reverse(down)
		c.FillPolygon(l.style.Color.(tint).faint(), append(up, down...))
	}
	for _, l := range slices.Backward(s.lines) { // the first are on top
		var mean []vg.Point
		for _, p := range l.points {
			mean = append(mean, at(p.at, p.mean))
		}
		c.StrokeLines(draw.LineStyle{Color: l.style.Color, Width: 1.2}, mean)
		for _, m := range mean {
			c.DrawGlyph(l.style, m)
		}
	}
}
