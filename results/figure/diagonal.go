package figure

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Compared are figures with what each is compared with.
type Compared struct {
	Style     draw.GlyphStyle
	With, Are []float64 // above 0
}

// SetDiagonal draws figures over what they are compared with, on two logarithmic axes of
// one span. On the line both are equal, and the band holds those within 10 %.
func (f *Figure) SetDiagonal(with, are string, height vg.Length, list ...Compared) {
	d := &diagonal{list: list, from: math.Inf(1)}
	for _, c := range list {
		for k := range c.With {
			d.from, d.to = min(d.from, c.With[k], c.Are[k]), max(d.to, c.With[k], c.Are[k])
		}
	}
	if d.to == 0 {
		d.from, d.to = 1, 60
	}
	d.from, d.to = d.from/1.25, d.to*1.25
	p := NewPanel(height, are)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = d.from, d.to, d.from, d.to
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	marks := plot.ConstantTicks(logTicks(d.from, d.to))
	p.X.Tick.Marker, p.Y.Tick.Marker = marks, marks
	p.X.Label.Text = with
	p.Add(d)
	f.Panels = []*Panel{p}
}

type diagonal struct {
	list     []Compared
	from, to float64
}

// Plot implements plot.Plotter.
func (d *diagonal) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(h, v float64) vg.Point { return vg.Point{X: x(h), Y: y(v)} }
	c.FillPolygon(FitBand, c.ClipPolygonXY([]vg.Point{at(d.from, 1.1*d.from), at(d.to, 1.1*d.to), at(d.to, 0.9*d.to), at(d.from, 0.9*d.from)}))
	equal := FitLine
	if len(d.list) > 1 { // of which one may have its colour
		equal.Color = colourAxis
	}
	c.StrokeLine2(equal, x(d.from), y(d.from), x(d.to), y(d.to))
	for _, of := range d.list {
		for k := range of.With {
			c.DrawGlyph(of.Style, at(of.With[k], of.Are[k]))
		}
	}
}
