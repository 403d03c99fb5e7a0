package results

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// plotLine is a line with a band.
type plotLine struct {
	name   string
	style  draw.GlyphStyle
	points []linePoint
}

// linePoint is a point of a line, in the units of the axes.
type linePoint struct{ at, low, mean, high float64 }

// lineStyles are the marks of lines that are no models.
var lineStyles = [...]draw.GlyphStyle{
	modelStyles["aria"], modelStyles["herodotou"], modelStyles["waves"], modelStyles["cresp"], modelStyles["ihp"], modelStyles["hp"], otherStyles[1], otherStyles[0],
}

// lineStyle is the mark of the i-th line; more lines than marks repeat them.
func lineStyle(i int) draw.GlyphStyle { return lineStyles[i%len(lineStyles)] }

// entry is the line's place in a legend.
func (l *plotLine) entry() legendEntry {
	return legendEntry{shorten(Escape(l.name), 32), func(to draw.Canvas) {
		y := to.Center().Y
		to.SetColor(l.style.Color.(tint).faint())
		to.Fill(to.Rectangle.Path())
		to.StrokeLine2(draw.LineStyle{Color: l.style.Color, Width: 1.2}, to.Min.X, y, to.Max.X, y)
		to.DrawGlyph(l.style, to.Center())
	}}
}

// barEntry is the place in a legend of a line with error bars.
func (l *plotLine) barEntry() legendEntry {
	return legendEntry{shorten(Escape(l.name), 32), func(to draw.Canvas) {
		mid := to.Center()
		to.StrokeLine2(draw.LineStyle{Color: l.style.Color, Width: 1.2}, to.Min.X, mid.Y, to.Max.X, mid.Y)
		l.errorBar(to, mid, to.Min.Y, to.Max.Y, true)
		to.DrawGlyph(l.style, mid)
	}}
}

// errorBar draws a bar, with a cap below only if it ends there.
func (l *plotLine) errorBar(c draw.Canvas, at vg.Point, low, high vg.Length, ends bool) {
	const half = 2.5 // of a cap
	style := draw.LineStyle{Color: l.style.Color, Width: 0.8}
	c.StrokeLine2(style, at.X, low, at.X, high)
	if ends {
		c.StrokeLine2(style, at.X-half, low, at.X+half, low)
	}
	c.StrokeLine2(style, at.X-half, high, at.X+half, high)
}

// barLines draws lines with error bars. The lines are moved a little apart, so that
// their bars do not hide each other. A bar that goes on below the axis is cut there.
type barLines []plotLine

// Plot implements plot.Plotter.
func (lines barLines) Plot(c draw.Canvas, p *plot.Plot) {
	const apart = 4
	x, y := p.Transforms(&c)
	least := p.Y.Min
	for i := range lines {
		l := &lines[i]
		moved := apart * (vg.Length(i) - vg.Length(len(lines)-1)/2)
		var mean []vg.Point
		for _, p := range l.points {
			at := vg.Point{X: x(p.at) + moved, Y: y(p.mean)}
			if p.low < p.high {
				l.errorBar(c, at, y(max(p.low, least)), y(p.high), p.low >= least)
			}
			mean = append(mean, at)
		}
		c.StrokeLines(draw.LineStyle{Color: l.style.Color, Width: 1.2}, mean)
		for _, m := range mean {
			c.DrawGlyph(l.style, m)
		}
	}
}

// plotLines draws lines over their bands.
type plotLines []plotLine

// span returns the range of the horizontal axis.
func (lines plotLines) span() (from, until float64) {
	from, until = math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.points {
			from, until = min(from, p.at), max(until, p.at)
		}
	}
	return from, until
}

// Plot implements plot.Plotter.
func (lines plotLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	least := p.Y.Min
	at := func(v, of float64) vg.Point { return vg.Point{X: x(v), Y: y(max(of, least))} }
	for _, l := range lines {
		var up, down []vg.Point
		for _, p := range l.points {
			up, down = append(up, at(p.at, p.high)), append(down, at(p.at, p.low))
		}
		slices.Reverse(down)
		c.FillPolygon(l.style.Color.(tint).faint(), append(up, down...))
	}
	for _, l := range lines {
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
