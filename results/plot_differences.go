package results

import (
	"math"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
)

// mostBars is how many runs are legible as bars.
const mostBars = 24

// differencesFigure draws the figures that differ between several runs, each in
// a panel of its own with a bar for each run.
func differencesFigure(title string, runs []*Run) *figure.Figure {
	const mostPanels = 6
	summaries := make([]*Summary, len(runs))
	for i, r := range runs {
		summaries[i] = r.Summary()
	}
	_, names := runNames(summaries)
	var panels []barPanel
	columns := differing(comparedColumns(summaries), summaries)
	for _, column := range columns[:min(mostPanels, len(columns))] {
		p := barPanel{heading: column.label}
		for _, s := range summaries {
			v := column.of(s)
			if math.IsNaN(v) {
				v = 0
			}
			p.add(v, column.cell(s))
		}
		panels = append(panels, p)
	}
	return barsFigure(&figure.Figure{Title: title, Subtitle: varied(runs), Columns: 2}, names, panels)
}

// barPanel has a bar for each row of a figure, on a scale of its own.
type barPanel struct {
	heading string
	values  []float64
	texts   []string
}

func (b *barPanel) add(v float64, beside string) {
	b.values, b.texts = append(b.values, v), append(b.texts, beside)
}

// barsFigure draws panels with the same rows into a figure.
func barsFigure(f *figure.Figure, names []string, panels []barPanel) *figure.Figure {
	const rowHeight = 17
	for k, b := range panels {
		p := figure.RowsPanel(names, rowHeight)
		p.Heading, p.Column = b.heading, figure.ColumnOf(k, len(panels), f.Columns)
		p.Add(figure.ValueBars(b.values, b.texts, stageColours[stageMap], 0.8))
		f.Panels = append(f.Panels, p)
	}
	f.SetX(1, "", nil)
	for _, p := range f.Panels {
		p.X.LineStyle.Width = 0
	}
	return f
}

// spillsFigure draws the jobs that spilled most, each figure in a panel of its own.
func spillsFigure(title string, jobs []JobSpills) *figure.Figure {
	var names []string
	panels := []barPanel{{heading: "spill files of a map"}, {heading: "merge passes"}, {heading: "records spilled"}}
	for i := range jobs {
		j := &jobs[i]
		names = append(names, j.ID)
		panels[0].add(j.perMap(), textMean(j.perMap()))
		panels[1].add(float64(j.MergePasses), text.Number(j.MergePasses))
		panels[2].add(float64(j.Records), text.Number(j.Records))
	}
	return barsFigure(&figure.Figure{Title: title, Subtitle: "successful attempts", Columns: 2}, names, panels)
}
