// Package figure is the drawing kit. A Figure is columns of panels over equal
// horizontal axes. A caller fills the panels with plotters, and Pictures draws the
// figures as PNG and SVG while the caller writes its tables:
//
//	results, points, rooms of study
//	   | Figure, Panel, Lines, Raster       colours, axes and marks: palette, axis, lines
//	Pictures.Draw -> Figure.WritePNG (png, pngencoder)
//	             \-> Figure.WriteSVG (svg)
//
// All bytes are the same on every machine.
package figure

import (
	"image/color"
	"math"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The sizes of a figure are in points. A PNG has two pixels per point.
const (
	Width       = 960
	ColumnWidth = 360 // of a figure whose texts are 7 points high in a column of 85 mm
	Margin      = 16
	titleSize   = 15
	textSize    = 11
	panelGap    = 14
	swatchWidth = 16
	PNGDPI      = 144
)

// Figure is one or several columns of panels over equal horizontal axes, under a
// title and a legend outside the data.
type Figure struct {
	Title, Subtitle string
	Legend          []LegendEntry
	Panels          []*Panel
	Narrow          bool // fits a column of a paper
	Columns         int  // 0 is 1
	Raster          bool // too many shapes for SVG
}

// Panel is one plot of a figure.
type Panel struct {
	*plot.Plot
	Heading string    // name of the run among several; may be empty
	Caption string    // label of the vertical axis; empty if it shows names
	Height  vg.Length // of the data
	Column  int
}

// Grid arranges comparisons of several runs: the number of columns, and the
// height of the panels of one run that fits all on two screens.
func Grid(runs, panels int) (columns int, height vg.Length) {
	const screens, beside, heading = 1450, 40, 30 // points; around the data of a panel; of a run's name
	switch {
	case runs > 8:
		columns = 3
	case runs > 3:
		columns = 2
	default:
		columns = 1
	}
	rows := (runs + columns - 1) / columns
	return columns, screens/vg.Length(rows) - vg.Length(panels*beside) - heading
}

// ColumnOf returns the column of the i-th run. Columns fill from the left.
func ColumnOf(i, runs, columns int) int {
	rows := (runs + columns - 1) / columns
	return i / rows
}

// LegendEntry is a sample of a style with its meaning.
type LegendEntry struct {
	Label  string
	Sample func(draw.Canvas) // drawn into the canvas' rectangle
}

// Drawing draws the data of a panel: x and y place values on the canvas.
type Drawing func(c draw.Canvas, x, y func(float64) vg.Length)

// Plot implements plot.Plotter.
func (d Drawing) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	d(c, x, y)
}

func newStyle(size font.Length, c color.Color, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: c, Font: f, YAlign: draw.YTop, Handler: plot.DefaultTextHandler}
}

// NewPanel makes an empty plot with the common style.
func NewPanel(height vg.Length, caption string) *Panel {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle.Color, a.LineStyle.Width = colourAxis, 0.6
		a.Tick.LineStyle = a.LineStyle
		a.Tick.Length = 4
		a.Tick.Label.Font = newStyle(textSize-1, nil, false).Font
		a.Tick.Label.Color = ColourText
		a.Label.TextStyle.Font = newStyle(textSize, nil, false).Font
		a.Label.TextStyle.Color = ColourText
		a.Label.Padding = 4
	}
	return &Panel{Plot: p, Caption: caption, Height: height}
}

// SetTime gives all panels one time axis that ends at end (ns).
func (f *Figure) SetTime(end int64, unit TimeUnit) {
	f.SetX(unit.Of(end), "time ("+unit.Name+")", unit.Ticks(unit.Of(end), 12/max(1, f.Columns)))
}

// SetX sets one horizontal axis for all panels. Only the lowest of a column has
// labels.
func (f *Figure) SetX(end float64, label string, ticks []plot.Tick) {
	for i, p := range f.Panels {
		p.X.Min, p.X.Max = 0, end
		marks := ticks
		if i < len(f.Panels)-1 && f.Panels[i+1].Column == p.Column {
			marks = make([]plot.Tick, len(ticks))
			for j, t := range ticks {
				marks[j] = plot.Tick{Value: t.Value, Label: " "}
			}
			p.X.Tick.Label.Font.Size = 1
		} else {
			p.X.Label.Text = label
		}
		p.X.Tick.Marker = plot.ConstantTicks(marks)
	}
}

var (
	titleStyle    = newStyle(titleSize, ColourText, true)
	SubtitleStyle = newStyle(textSize, colourFaint, false)
	headingStyle  = newStyle(textSize+1, ColourText, true)
	captionStyle  = newStyle(textSize-0.5, colourFaint, false)
	legendStyle   = newStyle(textSize-0.5, ColourText, false)
)

func (f *Figure) Width() vg.Length {
	if f.Narrow {
		return ColumnWidth
	}
	return Width
}

// HeadLines are the lines of title and subtitle.
func (f *Figure) HeadLines(sty text.Style, s string) []string {
	const most = 4
	return wrapped(sty, s, f.Width()-2*Margin, most)
}

// wrapped divides a text into at most `most` lines of a width; the rest is cut.
func wrapped(sty text.Style, s string, width vg.Length, most int) (lines []string) {
	words := strings.Fields(s)
	for len(words) > 0 {
		n := 1
		for n < len(words) && sty.Width(strings.Join(words[:n+1], " ")) <= width {
			n++
		}
		if len(lines) == most-1 {
			n = len(words)
		}
		lines = append(lines, fit(sty, strings.Join(words[:n], " "), width))
		words = words[n:]
	}
	return lines
}

// rows returns the rows of the legend, each entry with its offset from the
// left.
func (f *Figure) legendRows() (rows [][]vg.Length, entryHeight vg.Length) {
	width := f.Width() - 2*Margin
	x := width
	for _, e := range f.Legend {
		w := swatchWidth + 5 + legendStyle.Width(e.Label) + 16
		if x+w > width || len(rows) == 0 {
			rows = append(rows, nil)
			x = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], x)
		x += w
	}
	return rows, legendStyle.Height("Ag") + 6
}

// header returns the height of title, subtitle and legend.
func (f *Figure) header() vg.Length {
	h := vg.Length(max(1, len(f.HeadLines(titleStyle, f.Title)))) * (titleStyle.Height("Ag") + 4)
	h += vg.Length(len(f.HeadLines(SubtitleStyle, f.Subtitle))) * (SubtitleStyle.Height("Ag") + 4)
	rows, entry := f.legendRows()
	return h + vg.Length(len(rows))*entry + 8
}

// Height returns the height of the whole figure, in whole points.
func (f *Figure) Height() vg.Length {
	var highest vg.Length
	for k := range max(1, f.Columns) {
		h := vg.Length(0)
		for i, p := range f.column(k) {
			h += p.above(i) + p.Height + p.below(f.Width())
		}
		highest = max(highest, h)
	}
	return vg.Length(math.Ceil(float64(f.header() + 2*Margin + highest)))
}

// column lists the panels of one column from its top.
func (f *Figure) column(k int) []*Panel {
	var panels []*Panel
	for _, p := range f.Panels {
		if p.Column == k {
			panels = append(panels, p)
		}
	}
	return panels
}

// above returns the height of the texts over the data of the i-th panel of a
// column.
func (p *Panel) above(i int) vg.Length {
	h := vg.Length(0)
	if p.Caption != "" {
		h += captionStyle.Height("Ag") + 5
	}
	if p.Heading != "" {
		h += headingStyle.Height("Ag") + 6
	}
	if i > 0 {
		h += panelGap
		if p.Heading != "" {
			h += panelGap
		}
	}
	return h
}

// below returns the height of the horizontal axis under the data.
func (p *Panel) below(width vg.Length) vg.Length {
	c := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width, Y: 1000}}}
	return p.DataCanvas(c).Min.Y
}

func (f *Figure) draw(c draw.Canvas) {
	c = draw.Crop(c, Margin, -Margin, Margin, -Margin)
	top := c.Max.Y
	line := func(sty text.Style, s string) {
		for _, one := range f.HeadLines(sty, s) {
			c.FillText(sty, vg.Point{X: c.Min.X, Y: top}, one)
			top -= sty.Height("Ag") + 4
		}
	}
	line(titleStyle, f.Title)
	line(SubtitleStyle, f.Subtitle)
	rows, height := f.legendRows()
	i := 0
	for _, row := range rows {
		for _, x := range row {
			e := f.Legend[i]
			i++
			box := vg.Rectangle{
				Min: vg.Point{X: c.Min.X + x, Y: top - height + 3},
				Max: vg.Point{X: c.Min.X + x + swatchWidth, Y: top - 4},
			}
			e.Sample(draw.Canvas{Canvas: c.Canvas, Rectangle: box})
			c.FillText(legendStyle, vg.Point{X: box.Max.X + 5, Y: top - 1}, e.Label)
		}
		top -= height
	}
	c.Max.Y -= f.header()
	n := vg.Length(max(1, f.Columns))
	const gutter = 14
	width := (c.Max.X - c.Min.X - (n-1)*gutter) / n
	for k := range max(1, f.Columns) {
		column := c
		column.Min.X += vg.Length(k) * (width + gutter)
		column.Max.X = column.Min.X + width
		drawPanels(column, f.column(k), f.Width())
	}
}

// drawPanels draws panels below each other, from the top of a canvas, of a figure of
// some width.
func drawPanels(c draw.Canvas, panels []*Panel, whole vg.Length) {
	// The widest vertical axis sets the left edge of all data.
	canvases := make([]draw.Canvas, len(panels))
	top := c.Max.Y
	for i, p := range panels {
		top -= p.above(i)
		canvases[i] = c
		canvases[i].Max.Y = top
		top -= p.Height + p.below(whole)
		canvases[i].Min.Y = top
	}
	for range 2 { // the space for the last tick label depends slightly on the width
		left, right := vg.Length(0), vg.Length(math.Inf(1))
		for i, p := range panels {
			d := p.DataCanvas(canvases[i])
			left, right = max(left, d.Min.X), min(right, d.Max.X)
		}
		for i, p := range panels {
			d := p.DataCanvas(canvases[i])
			canvases[i].Min.X += left - d.Min.X
			canvases[i].Max.X += right - d.Max.X
		}
	}
	for i, p := range panels {
		at := vg.Point{X: p.DataCanvas(canvases[i]).Min.X, Y: canvases[i].Max.Y}
		if p.Caption != "" {
			at.Y += 5 + captionStyle.Height("Ag")
			c.FillText(captionStyle, at, p.Caption)
		}
		if p.Heading != "" {
			at = vg.Point{X: c.Min.X, Y: at.Y + 6 + headingStyle.Height("Ag")}
			c.FillText(headingStyle, at, fit(headingStyle, p.Heading, c.Max.X-c.Min.X))
		}
		p.Draw(canvases[i])
	}
}

// describe returns a description of the figure in words, for people who cannot
// see it.
func (f *Figure) describe() string {
	var parts []string
	if f.Subtitle != "" {
		parts = append(parts, f.Subtitle)
	}
	for _, p := range f.Panels {
		if name := strings.Trim(p.Heading+": "+p.Caption, ": "); name != "" {
			parts = append(parts, "panel: "+name)
		}
		if p.X.Label.Text != "" {
			parts = append(parts, "horizontal axis: "+p.X.Label.Text)
		}
	}
	for i, e := range f.Legend {
		if i == 0 {
			parts = append(parts, "legend: "+e.Label)
		} else {
			parts[len(parts)-1] += ", " + e.Label
		}
	}
	return strings.Join(parts, "; ")
}

// fit shortens a text to a width.
func fit(sty text.Style, s string, width vg.Length) string {
	if sty.Width(s) <= width {
		return s
	}
	r := []rune(s)
	for len(r) > 0 && sty.Width(string(r)+"…") > width {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// Filled returns a legend sample of an area.
func Filled(c color.Color) func(draw.Canvas) {
	return func(to draw.Canvas) {
		to.SetColor(c)
		to.Fill(to.Rectangle.Path())
	}
}

// Stroked returns a legend sample of a line.
func Stroked(sty draw.LineStyle) func(draw.Canvas) {
	return func(to draw.Canvas) {
		y := to.Center().Y
		to.StrokeLine2(sty, to.Min.X, y, to.Max.X, y)
	}
}
