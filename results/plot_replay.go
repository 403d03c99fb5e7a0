package results

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
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
	least, most := math.Inf(1), 0.0
	for _, row := range rows {
		for _, ns := range []int64{row.Recorded, row.Simulated} {
			least, most = math.Min(least, math.Max(1e-3, float64(ns)/1e9)), math.Max(most, float64(ns)/1e9)
		}
	}
	d := &diagonal{rows: rows, from: least / 1.25, to: math.Max(most, 1e-3) * 1.25}
	p := figure.NewPanel(460, "simulated (s, logarithmic)")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = d.from, d.to, d.from, d.to
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	marks := plot.ConstantTicks(figure.LogTicks(d.from, d.to))
	p.X.Tick.Marker, p.Y.Tick.Marker = marks, marks
	p.X.Label.Text = "recorded (s, logarithmic)"
	p.Add(d)
	f.Panels = []*figure.Panel{p}
	return f
}

// diagonal draws jobs on two logarithmic axes of the same span.
type diagonal struct {
	rows     []ReplayedJob
	from, to float64 // s
}

// Plot is plot.Plotter.
func (d *diagonal) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(h, v float64) vg.Point { return vg.Point{X: x(h), Y: y(v)} }
	c.FillPolygon(figure.FitBand, c.ClipPolygonXY([]vg.Point{at(d.from, 1.1*d.from), at(d.to, 1.1*d.to), at(d.to, 0.9*d.to), at(d.from, 0.9*d.from)}))
	c.StrokeLine2(figure.FitLine, x(d.from), y(d.from), x(d.to), y(d.to))
	ring := figure.FitPoint
	if len(d.rows) <= 200 {
		ring.Radius = 3.5
	}
	for _, row := range d.rows {
		seconds := func(ns int64) float64 { return math.Max(1e-3, float64(ns)/1e9) }
		c.DrawGlyph(ring, at(seconds(row.Recorded), seconds(row.Simulated)))
	}
}
