package reproduce

import (
	"slices"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chart draws points or lines over two numeric axes.
type Chart struct {
	Name, Title, X, Y string
	Diagonal          bool // logarithmic axes, with y = x and the band within 10 %
	Series            []ChartSeries
}

// ChartSeries is one set of points, which is in the legend if it has a name. Published
// says that they are of the paper, Hollow that they are drawn as rings.
type ChartSeries struct {
	Name      string
	X, Y      []float64
	Line      bool
	Published bool
	Hollow    bool
}

// figure draws the chart.
func (c *Chart) figure() *figure.Figure {
	var xs, ys []float64
	for _, s := range c.Series {
		xs, ys = append(xs, s.X...), append(ys, s.Y...)
	}
	fromX, endX, fromY, endY := slices.Min(xs), slices.Max(xs), min(0, slices.Min(ys)), max(1e-9, slices.Max(ys))
	margin := 0.05 * (endX - fromX)
	endX, endY = endX+margin, 1.05*endY
	f := &figure.Figure{Title: c.Title}
	p := figure.NewPanel(420, c.Y)
	p.Y.Min, p.Y.Max = 1.05*fromY, endY
	p.Y.Tick.Marker = plot.ConstantTicks(figure.MarksBetween(p.Y.Min, endY))
	var styles []draw.GlyphStyle
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.RingGlyph{}, draw.TriangleGlyph{}}
	for i := range c.Series {
		style := draw.GlyphStyle{Color: figure.JobColours[2*i%len(figure.JobColours)], Radius: 3.2, Shape: shapes[i%len(shapes)]}
		if c.Series[i].Hollow {
			style.Color, style.Shape = figure.ColourText, draw.RingGlyph{}
		}
		if c.Series[i].Published {
			style.Color, style.Shape = figure.ColourText, draw.CrossGlyph{}
		}
		styles = append(styles, style)
		if c.Series[i].Name == "" {
			continue
		}
		line := c.Series[i].Line
		f.Legend = append(f.Legend, figure.LegendEntry{Label: text.Shorten(text.Escape(c.Series[i].Name), 60), Sample: func(to draw.Canvas) {
			if y := to.Center().Y; line {
				to.StrokeLine2(draw.LineStyle{Color: style.Color, Width: 1.4}, to.Min.X, y, to.Max.X, y)
			} else {
				to.DrawGlyph(style, to.Center())
			}
		}})
	}
	if c.Diagonal {
		f.Subtitle = "line: equal; band: within 10 %"
		var list []figure.Compared
		for i, series := range c.Series {
			list = append(list, figure.Compared{Style: styles[i], With: series.X, Are: series.Y})
		}
		f.SetDiagonal(text.Escape(c.X), c.Y, 420, list...)
		return f
	}
	p.Add(figure.Drawing(func(to draw.Canvas, x, y func(float64) vg.Length) {
		for i, series := range c.Series {
			var points []vg.Point
			for k := range series.X {
				points = append(points, vg.Point{X: x(series.X[k]), Y: y(series.Y[k])})
			}
			if series.Line {
				to.StrokeLines(draw.LineStyle{Color: styles[i].Color, Width: 1.4}, points)
				continue
			}
			for _, at := range points {
				to.DrawGlyph(styles[i], at)
			}
		}
	}))
	f.Panels = []*figure.Panel{p}
	f.SetX(endX, text.Escape(c.X), figure.MarksBetween(fromX-margin, endX))
	p.X.Min = fromX - margin
	return f
}
