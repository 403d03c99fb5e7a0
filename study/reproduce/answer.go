package reproduce

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// reproductionName is the page of a reproduced paper.
const reproductionName = "README.md"

// Reproduction is a paper's experiments, simulated, beside its published figures.
type Reproduction struct {
	Paper, Title, Source string
	Assumed              []string // in all parts that assume something
	Parts                []ReproducedPart
}

// ReproducedPart is a table or figure of the paper.
type ReproducedPart struct {
	Name     string // of its picture: table-1, figure-4
	Title    string
	Text     string   // what was run, and how it differs from the paper
	Assumed  []string // in this part only
	Header   []string
	Rows     [][]string
	Causes   []string // of the differences of each row from the paper; empty: unknown or none
	Charts   []Chart
	Pictures []Picture // of the runs themselves
	Outcome  string    // in how far the result agrees with the paper
}

// Picture is a picture in SVG that a run wrote.
type Picture struct {
	Name, Title string
	SVG         []byte
}

// Chart draws points or lines over two numeric axes.
type Chart struct {
	Name, Title, X, Y string
	Diagonal          bool // logarithmic axes, with y = x and 10 % off it
	Series            []ChartSeries
}

// ChartSeries is one set of points. Published says that they are read off the paper.
type ChartSeries struct {
	Name      string
	X, Y      []float64
	Line      bool
	Published bool
}

// Write writes the page and its pictures.
func (r *Reproduction) Write(d resultdir.Target) error {
	w := resultdir.Writer{Dir: d}
	var names []string
	var figures []*figure.Figure
	for i := range r.Parts {
		for k := range r.Parts[i].Charts {
			c := &r.Parts[i].Charts[k]
			names, figures = append(names, c.Name), append(figures, c.figure())
		}
	}
	var drawn figure.Pictures
	drawn.Draw(names, figures)
	for i := range r.Parts {
		for _, p := range r.Parts[i].Pictures {
			w.Write(p.Name+".svg", func(to io.Writer) error { _, err := to.Write(p.SVG); return err })
		}
	}
	w.Write(reproductionName, r.WriteMarkdown)
	drawn.Write(&w)
	return w.Err
}

// WriteMarkdown writes the page.
func (r *Reproduction) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	list := func(heading string, items []string) {
		if len(items) > 0 {
			fmt.Fprintf(&b, "\n%s:\n\n- %s\n", heading, strings.Join(items, "\n- "))
		}
	}
	fmt.Fprintf(&b, "# %s\n\n%s\n", r.Title, r.Source)
	list("Assumed in all simulated cases", r.Assumed)
	for i := range r.Parts {
		p := &r.Parts[i]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", p.Title, p.Text)
		list("Assumed", p.Assumed)
		if len(p.Rows) > 0 {
			fmt.Fprintf(&b, "\n| %s |\n|%s\n", strings.Join(p.Header, " | "), strings.Repeat("---|", len(p.Header)))
			for _, row := range p.Rows {
				fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			}
		}
		list("Causes of differences", p.causes())
		for k := range p.Charts {
			fmt.Fprintf(&b, "\n![%s](%s.svg)\n", p.Charts[k].Title, p.Charts[k].Name)
		}
		for k := range p.Pictures {
			fmt.Fprintf(&b, "\n![%s](%s.svg)\n", p.Pictures[k].Title, p.Pictures[k].Name)
		}
		if p.Outcome != "" {
			fmt.Fprintf(&b, "\n**Result.** %s\n", p.Outcome)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteText writes the tables for people.
func (r *Reproduction) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	t.Heading(r.Title)
	for i := range r.Parts {
		p := &r.Parts[i]
		t.Section(p.Title)
		p.table(t)
		t.Flush()
		if p.Outcome != "" {
			fmt.Fprintf(t, "\n%s\n", p.Outcome)
		}
		t.Flush()
		t.List("Assumed", p.Assumed)
	}
	t.List("Assumed in all simulated cases", r.Assumed)
	return t.Done()
}

// causes names the rows that have a cause, and it.
func (p *ReproducedPart) causes() (all []string) {
	for i, cause := range p.Causes {
		if cause != "" {
			all = append(all, fmt.Sprintf("*%s*: %s", p.Rows[i][0], cause))
		}
	}
	return all
}

// widestRow is the length of a row from which on its cells are written one below the
// other.
const widestRow = 80

// table writes the rows of a part.
func (p *ReproducedPart) table(t *text.Writer) {
	widest := 0
	for _, row := range p.Rows {
		widest = max(widest, len(strings.Join(row, "  ")))
	}
	if widest <= widestRow && len(p.Rows) > 0 {
		fmt.Fprintln(t, strings.Join(p.Header, "\t"))
	}
	for i, row := range p.Rows {
		if widest <= widestRow {
			fmt.Fprintln(t, strings.Join(row, "\t"))
			continue
		}
		if i > 0 {
			fmt.Fprintln(t)
		}
		for k, cell := range row {
			if cell != "" {
				fmt.Fprintf(t, "%s\t%s\n", p.Header[k], strings.ReplaceAll(cell, "**", ""))
			}
		}
		if i < len(p.Causes) && p.Causes[i] != "" {
			fmt.Fprintf(t, "cause\t%s\n", p.Causes[i])
		}
	}
}

// WriteJSON writes the parts as one JSON object.
func (r *Reproduction) WriteJSON(w io.Writer) error {
	type part struct {
		Name    string     `json:"name"`
		Title   string     `json:"title"`
		Header  []string   `json:"header"`
		Rows    [][]string `json:"rows"`
		Causes  []string   `json:"causes"`
		Assumed []string   `json:"assumed"`
		Outcome string     `json:"outcome"`
	}
	doc := struct {
		Schema  string   `json:"schema"`
		Paper   string   `json:"paper"`
		Assumed []string `json:"assumed"`
		Parts   []part   `json:"parts"`
	}{Schema: "slotwave/reproduction/1", Paper: r.Paper, Assumed: text.Listed(r.Assumed)}
	for i := range r.Parts {
		p := &r.Parts[i]
		doc.Parts = append(doc.Parts, part{p.Name, p.Title, text.Listed(p.Header), text.Listed(p.Rows), text.Listed(p.Causes), text.Listed(p.Assumed), p.Outcome})
	}
	doc.Parts = text.Listed(doc.Parts)
	return resultdir.WriteJSON(w, doc)
}

// figure draws the chart.
func (c *Chart) figure() *figure.Figure {
	endX, endY, least := 0.0, 0.0, math.Inf(1)
	for _, s := range c.Series {
		for i := range s.X {
			endX, endY, least = math.Max(endX, s.X[i]), math.Max(endY, s.Y[i]), min(least, s.X[i], s.Y[i])
		}
	}
	if c.Diagonal {
		endX = 1.15 * math.Max(endX, endY)
		endY = endX
	}
	endX, endY = 1.05*math.Max(endX, 1e-9), 1.05*math.Max(endY, 1e-9)
	f := &figure.Figure{Title: c.Title}
	p := figure.NewPanel(420, c.Y)
	p.Y.Min, p.Y.Max = 0, endY
	p.Y.Tick.Marker = plot.ConstantTicks(figure.Ticks(endY, 10, nil))
	plotter := &chartPlotter{chart: c, from: least / 1.25, end: endX}
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.RingGlyph{}, draw.TriangleGlyph{}}
	for i := range c.Series {
		style := draw.GlyphStyle{Color: figure.JobColours[i%len(figure.JobColours)], Radius: 3.2, Shape: shapes[i%len(shapes)]}
		if c.Series[i].Published {
			style.Color, style.Shape = figure.ColourText, draw.CrossGlyph{}
		}
		plotter.styles = append(plotter.styles, style)
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
		f.Subtitle = "solid: equal; dashed: 10 % off"
	}
	p.Add(plotter)
	f.Panels = []*figure.Panel{p}
	if !c.Diagonal {
		f.SetX(endX, text.Escape(c.X), figure.Ticks(endX, 12, nil))
		return f
	}
	marks := figure.LogTicks(plotter.from, endX)
	p.Y.Min, p.Y.Scale, p.Y.Tick.Marker = plotter.from, plot.LogScale{}, plot.ConstantTicks(marks)
	f.SetX(endX, text.Escape(c.X), marks)
	p.X.Min, p.X.Scale = plotter.from, plot.LogScale{}
	return f
}

type chartPlotter struct {
	chart     *Chart
	from, end float64 // of logarithmic axes
	styles    []draw.GlyphStyle
}

// Plot implements plot.Plotter.
func (s *chartPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if s.chart.Diagonal {
		for _, by := range []float64{0.9, 1, 1.1} {
			style := draw.LineStyle{Color: figure.ColourAxis, Width: 0.8}
			if by != 1 {
				style.Dashes = []vg.Length{4, 3}
			}
			from, end := math.Max(s.from, s.from/by), math.Min(s.end, s.end/by)
			c.StrokeLine2(style, x(from), y(float64(from*by)), x(end), y(float64(end*by)))
		}
	}
	for i, series := range s.chart.Series {
		var points []vg.Point
		for k := range series.X {
			points = append(points, vg.Point{X: x(series.X[k]), Y: y(series.Y[k])})
		}
		if series.Line {
			c.StrokeLines(draw.LineStyle{Color: s.styles[i].Color, Width: 1.4}, points)
			continue
		}
		for _, at := range points {
			c.DrawGlyph(s.styles[i], at)
		}
	}
}
