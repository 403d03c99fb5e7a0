package results

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
)

// mostBars is how many runs are legible as bars.
const mostBars = 24

// differencesFigure draws the figures that differ between several runs, each in
// a panel of its own with a bar for each run.
func differencesFigure(title string, runs []*Run) *figure.Figure {
	const mostPanels, rowHeight = 6, 17
	summaries := make([]*Summary, len(runs))
	for i, r := range runs {
		summaries[i] = r.Summary()
	}
	_, names := runNames(summaries)
	f := &figure.Figure{Title: title, Subtitle: varied(runs), Columns: 2}
	var marks []plot.Tick
	for i, name := range names {
		marks = append(marks, plot.Tick{Value: float64(i) + 0.5, Label: text.Shorten(name, 32)})
	}
	columns := differing(comparedColumns(summaries), summaries)
	columns = columns[:min(mostPanels, len(columns))]
	for k, column := range columns {
		bars := valueBars{column: &column, runs: summaries}
		p := figure.NewPanel(vg.Length(len(runs))*rowHeight, "")
		p.Heading, p.Column = column.label, figure.ColumnOf(k, len(columns), f.Columns)
		p.Y.Min, p.Y.Max = 0, float64(len(runs))
		p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
		p.Y.Tick.Marker, p.Y.Tick.Length = plot.ConstantTicks(marks), 0
		p.Add(&bars)
		f.Panels = append(f.Panels, p)
	}
	f.SetX(1, "", nil)
	for _, p := range f.Panels {
		p.X.LineStyle.Width = 0
	}
	return f
}

// valueBars draws one figure of several runs as bars from 0 with their values.
type valueBars struct {
	column *comparedColumn
	runs   []*Summary
}

// Plot implements plot.Plotter.
func (b *valueBars) Plot(c draw.Canvas, p *plot.Plot) {
	const room = 0.8 // of the width, beside it the values
	x, y := p.Transforms(&c)
	style := figure.NewStyle(figure.TextSize-1, figure.ColourText, false)
	style.YAlign = draw.YCenter
	values := make([]float64, len(b.runs))
	for i, s := range b.runs {
		if values[i] = b.column.of(s); math.IsNaN(values[i]) {
			values[i] = 0
		}
	}
	most := max(slices.Max(values), math.SmallestNonzeroFloat64)
	for i, v := range values {
		bar := vg.Rectangle{Min: vg.Point{X: x(0), Y: y(float64(i) + 0.85)}, Max: vg.Point{X: x(room * v / most), Y: y(float64(i) + 0.15)}}
		c.SetColor(stageColours[stageMap])
		c.Fill(bar.Path())
		c.FillText(style, vg.Point{X: bar.Max.X + 4, Y: y(float64(i) + 0.5)}, b.column.cell(b.runs[i]))
	}
}
