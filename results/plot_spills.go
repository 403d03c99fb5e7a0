package results

import (
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
)

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
