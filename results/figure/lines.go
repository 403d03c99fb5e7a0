package figure

import (
	"hash/fnv"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slotwave/slotwave/results/text"
)

// Line is a line with a band.
type Line struct {
	Name   string
	Style  draw.GlyphStyle
	Points []LinePoint
}

// LinePoint is a point of a line, in the units of the axes.
type LinePoint struct {
	At, Low, Mean, High float64
	Ringed              bool // by a ring that marks it
}

// Ring marks a point among others.
func Ring(radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: ColourText, Radius: radius, Shape: draw.RingGlyph{}}
}

// lineStyles are the marks of lines that are no models.
var lineStyles = [...]draw.GlyphStyle{
	ModelStyles["aria"], ModelStyles["herodotou"], ModelStyles["waves"], ModelStyles["cresp"], ModelStyles["ihp"], ModelStyles["hp"], otherStyles[1], otherStyles[0],
}

// LineStyle is the mark of the i-th line; more lines than marks repeat them.
func LineStyle(i int) draw.GlyphStyle { return lineStyles[i%len(lineStyles)] }

// LegendOf returns the legend of lines, with their bands or with error bars.
func LegendOf(lines []Line, bars bool) (legend []LegendEntry) {
	names := make([]string, len(lines))
	for i := range lines {
		names[i] = text.Escape(lines[i].Name)
	}
	for i, name := range text.Apart(names, 32) {
		sample := lines[i].bandSample
		if bars {
			sample = lines[i].barSample
		}
		legend = append(legend, LegendEntry{name, sample})
	}
	return legend
}

func (l *Line) bandSample(to draw.Canvas) {
	y := to.Center().Y
	to.SetColor(l.Style.Color.(Tint).faint())
	to.Fill(to.Rectangle.Path())
	to.StrokeLine2(draw.LineStyle{Color: l.Style.Color, Width: 1.2}, to.Min.X, y, to.Max.X, y)
	to.DrawGlyph(l.Style, to.Center())
}

func (l *Line) barSample(to draw.Canvas) {
	mid := to.Center()
	to.StrokeLine2(draw.LineStyle{Color: l.Style.Color, Width: 1.2}, to.Min.X, mid.Y, to.Max.X, mid.Y)
	l.errorBar(to, mid, to.Min.Y, to.Max.Y, true)
	to.DrawGlyph(l.Style, mid)
}

// errorBar draws a bar, with a cap below only if it ends there.
func (l *Line) errorBar(c draw.Canvas, at vg.Point, low, high vg.Length, ends bool) {
	const half = 2.5 // of a cap
	style := draw.LineStyle{Color: l.Style.Color, Width: 0.8}
	c.StrokeLine2(style, at.X, low, at.X, high)
	if ends {
		c.StrokeLine2(style, at.X-half, low, at.X+half, low)
	}
	c.StrokeLine2(style, at.X-half, high, at.X+half, high)
}

// BarLines draws lines with error bars. Lines with points above one value are moved a
// little apart, so that their bars do not hide each other. A bar that goes on below the
// axis is cut there.
type BarLines []Line

// Plot implements plot.Plotter.
func (lines BarLines) Plot(c draw.Canvas, p *plot.Plot) {
	const apart = 4
	x, y := p.Transforms(&c)
	least := p.Y.Min
	lineAt, shared := map[float64]int{}, false
	for i := range lines {
		for _, p := range lines[i].Points {
			other, taken := lineAt[p.At]
			shared = shared || taken && other != i
			lineAt[p.At] = i
		}
	}
	for i := range lines {
		l := &lines[i]
		moved := vg.Length(0)
		if shared {
			moved = apart * (vg.Length(i) - vg.Length(len(lines)-1)/2)
		}
		var mean []vg.Point
		for _, p := range l.Points {
			at := vg.Point{X: x(p.At) + moved, Y: y(p.Mean)}
			if p.Low < p.High {
				l.errorBar(c, at, y(max(p.Low, least)), y(p.High), p.Low >= least)
			}
			if p.Ringed {
				c.DrawGlyph(Ring(7), at)
			}
			mean = append(mean, at)
		}
		c.StrokeLines(draw.LineStyle{Color: l.Style.Color, Width: 1.2}, mean)
		for _, m := range mean {
			c.DrawGlyph(l.Style, m)
		}
	}
}

// Lines draws lines over their bands.
type Lines []Line

// Span returns the range of the horizontal axis.
func (lines Lines) Span() (from, until float64) {
	from, until = math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.Points {
			from, until = min(from, p.At), max(until, p.At)
		}
	}
	return from, until
}

// Plot implements plot.Plotter.
func (lines Lines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	least := p.Y.Min
	at := func(v, of float64) vg.Point { return vg.Point{X: x(v), Y: y(max(of, least))} }
	for _, l := range lines {
		var up, down []vg.Point
		for _, p := range l.Points {
			up, down = append(up, at(p.At, p.High)), append(down, at(p.At, p.Low))
		}
		slices.Reverse(down)
		c.FillPolygon(l.Style.Color.(Tint).faint(), append(up, down...))
	}
	for _, l := range lines {
		var mean []vg.Point
		for _, p := range l.Points {
			mean = append(mean, at(p.At, p.Mean))
		}
		c.StrokeLines(draw.LineStyle{Color: l.Style.Color, Width: 1.2}, mean)
		for _, m := range mean {
			c.DrawGlyph(l.Style, m)
		}
	}
}

var (
	FitPoint    = draw.GlyphStyle{Color: Tinted(0x2f6fa8, 0x6fb4f2), Radius: 1.8, Shape: draw.RingGlyph{}}
	FitLine     = draw.LineStyle{Color: Tinted(0xb8501a, 0xf08a4b), Width: 1.4}
	FitBreak    = draw.LineStyle{Color: Tinted(0x444444, 0xb8b8b8), Width: 1, Dashes: []vg.Length{5, 3}}
	FitExpected = draw.LineStyle{Color: Tinted(0x444444, 0xb8b8b8), Width: 1, Dashes: []vg.Length{1.5, 2.5}}
	FitBand     = Tinted(0xe4e4e4, 0x2a3038)
)

// ModelStyles are the marks of the models of slotwave: each has its own shape
// and colour in all pictures.
var ModelStyles = map[string]draw.GlyphStyle{
	"simulation":        {Color: ColourText, Radius: 3.4, Shape: draw.CircleGlyph{}},
	"measured":          {Color: Tinted(0xb3005e, 0xff7ab8), Radius: 3.8, Shape: draw.CrossGlyph{}},
	"aria":              {Color: Tinted(0x2f6fa8, 0x6fb4f2), Radius: 3.2, Shape: draw.CircleGlyph{}},
	"cresp":             {Color: Tinted(0x6a3d7c, 0xc49ae0), Radius: 3.2, Shape: draw.RingGlyph{}},
	"herodotou":         {Color: Tinted(0xb8501a, 0xf08a4b), Radius: 3, Shape: draw.BoxGlyph{}},
	"herodotou-literal": {Color: Tinted(0xb8501a, 0xf08a4b), Radius: 3.4, Shape: draw.SquareGlyph{}},
	"hp":                {Color: Tinted(0x177e89, 0x52c5d0), Radius: 3.2, Shape: draw.SquareGlyph{}},
	"ihp":               {Color: Tinted(0x8a6d00, 0xd9b93b), Radius: 3.8, Shape: draw.TriangleGlyph{}},
	"ihp-literal":       {Color: Tinted(0x8a6d00, 0xd9b93b), Radius: 3.4, Shape: draw.SquareGlyph{}},
	"ihp-literal-waves": {Color: Tinted(0x8a6d00, 0xd9b93b), Radius: 3.4, Shape: draw.BoxGlyph{}},
	"waves":             {Color: Tinted(0x17663c, 0x5fd08a), Radius: 3.8, Shape: draw.PyramidGlyph{}},
	"zhang":             {Color: Tinted(0x9c3b2e, 0xff8878), Radius: 3.2, Shape: draw.CircleGlyph{}},
}

// otherStyles are the marks of other models.
var otherStyles = []draw.GlyphStyle{
	{Color: Tinted(0x444444, 0xb8b8b8), Radius: 3.2, Shape: draw.CrossGlyph{}},
	{Color: Tinted(0x8c2f6f, 0xe884c4), Radius: 3, Shape: draw.BoxGlyph{}},
	{Color: Tinted(0x4d6b1f, 0xa5cc62), Radius: 3.2, Shape: draw.CircleGlyph{}},
	{Color: Tinted(0x3f4fa0, 0x98a6ff), Radius: 3.8, Shape: draw.PyramidGlyph{}},
}

// ModelStyle returns the mark of a model. It depends only on the name, so that
// it is the same in all pictures.
func ModelStyle(name string) draw.GlyphStyle {
	if style, ok := ModelStyles[name]; ok {
		return style
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return otherStyles[h.Sum32()%uint32(len(otherStyles))]
}

var (
	LimitStyle          = draw.LineStyle{Color: colourLimit, Width: 0.9, Dashes: []vg.Length{5, 3}}
	MapsWaitingStyle    = draw.LineStyle{Color: ColourMaps, Width: 0.9}
	ReducesWaitingStyle = draw.LineStyle{Color: ColourReduces, Width: 0.9, Dashes: []vg.Length{2, 1.5}}
)
