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
	from, to := math.Inf(1), 0.0
	for _, c := range list {
		for k := range c.With {
			from, to = min(from, c.With[k], c.Are[k]), max(to, c.With[k], c.Are[k])
		}
	}
	if to == 0 {
		from, to = 1, 60
	}
	from, to = from/1.25, to*1.25
	p := NewPanel(height, are)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = from, to, from, to
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	marks := plot.ConstantTicks(logTicks(from, to))
	p.X.Tick.Marker, p.Y.Tick.Marker = marks, marks
	p.X.Label.Text = with
	p.Add(Drawing(func(c draw.Canvas, x, y func(float64) vg.Length) {
		at := func(h, v float64) vg.Point { return vg.Point{X: x(h), Y: y(v)} }
		c.FillPolygon(FitBand, c.ClipPolygonXY([]vg.Point{at(from, 1.1*from), at(to, 1.1*to), at(to, 0.9*to), at(from, 0.9*from)}))
		equal := FitLine
		if len(list) > 1 { // of which one may have its colour
			equal.Color = colourAxis
		}
		c.StrokeLine2(equal, x(from), y(from), x(to), y(to))
		for _, of := range list {
			for k := range of.With {
				c.DrawGlyph(of.Style, at(of.With[k], of.Are[k]))
			}
		}
	}))
	f.Panels = []*Panel{p}
}
