package results

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg/draw"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
)

// replayFigure draws the simulated time of each job over the recorded one. On the
// diagonal both are equal.
func replayFigure(title string, r *Run) *figure.Figure {
	rows := r.Replayed()
	s := r.ReplaySummary()
	f := &figure.Figure{
		Title: title, Raster: len(rows) > MaxBars,
		Subtitle: fmt.Sprintf("time from submission to finish, one ring per job; median error %s, worst %s", text.Percent(s.Median), signedPercent(s.Worst)),
		Legend: []figure.LegendEntry{
			{Label: "job", Sample: func(to draw.Canvas) { to.DrawGlyph(figure.FitPoint, to.Center()) }},
			{Label: "simulated = recorded", Sample: figure.Stroked(figure.FitLine)},
			{Label: "within 10 %", Sample: figure.Filled(figure.FitBand)},
		},
	}
	all := figure.Compared{Style: figure.FitPoint}
	if len(rows) <= 200 {
		all.Style.Radius = 3.5
	}
	seconds := func(ns int64) float64 { return math.Max(1e-3, float64(ns)/1e9) }
	for _, row := range rows {
		all.With, all.Are = append(all.With, seconds(row.Recorded)), append(all.Are, seconds(row.Simulated))
	}
	f.SetDiagonal("recorded (s, logarithmic)", "simulated (s, logarithmic)", 460, all)
	return f
}
