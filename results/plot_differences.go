package results

import (
	"math"

	"github.com/slotwave/slotwave/results/figure"
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
	columns := differing(comparedColumns(summaries), summaries)
	columns = columns[:min(mostPanels, len(columns))]
	for k, column := range columns {
		bars := figure.ValueBars{Colour: stageColours[stageMap], Room: 0.8}
		for _, s := range summaries {
			v := column.of(s)
			if math.IsNaN(v) {
				v = 0
			}
			bars.Values, bars.Texts = append(bars.Values, v), append(bars.Texts, column.cell(s))
		}
		p := figure.RowsPanel(names, rowHeight)
		p.Heading, p.Column = column.label, figure.ColumnOf(k, len(columns), f.Columns)
		p.Add(&bars)
		f.Panels = append(f.Panels, p)
	}
	f.SetX(1, "", nil)
	for _, p := range f.Panels {
		p.X.LineStyle.Width = 0
	}
	return f
}
