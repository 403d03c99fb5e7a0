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
	most = math.Max(most, 1e-3)
	d := &diagonal{rows: rows, from: math.Log10(least) - 0.1, to: math.Log10(most) + 0.1}
	p := figure.NewPanel(460, "simulated (s)")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = d.from, d.to, d.from, d.to
	marks := plot.ConstantTicks(d.ticks())
	p.X.Tick.Marker, p.Y.Tick.Marker = marks, marks
	p.X.Label.Text = "recorded (s)"
	p.Add(d)
	f.Panels = []*figure.Panel{p}
	return f
}

// diagonal draws jobs on two logarithmic axes of the same span.
type diagonal struct {
	rows     []ReplayedJob
	from, to float64 // log10 of seconds
}

// ticks are at 1, 2 and 5 times the powers of ten; over many decades at the
// powers alone.
func (d *diagonal) ticks() []plot.Tick {
	steps := []float64{1, 2, 5}
	if d.to-d.from > 3 {
		steps = steps[:1]
	}
	if d.to-d.from < 0.5 {
		steps = []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}
	}
	var marks []plot.Tick
	for decade := math.Floor(d.from); decade <= d.to; decade++ {
		for _, step := range steps {
			v := step * math.Pow(10, decade)
			if at := math.Log10(v); at >= d.from && at <= d.to {
				marks = append(marks, plot.Tick{Value: at, Label: fmt.Sprintf("%.4g", v)})
			}
		}
	}
	return marks
}

// Plot is plot.Plotter.
func (d *diagonal) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	up, down := math.Log10(1.1), math.Log10(0.9)
	at := func(h, v float64) vg.Point { return vg.Point{X: x(h), Y: y(v)} }
	c.FillPolygon(figure.FitBand, c.ClipPolygonXY([]vg.Point{at(d.from, d.from+up), at(d.to, d.to+up), at(d.to, d.to+down), at(d.from, d.from+down)}))
	c.StrokeLine2(figure.FitLine, x(d.from), y(d.from), x(d.to), y(d.to))
	for _, row := range d.rows {
		seconds := func(ns int64) float64 { return math.Log10(math.Max(1e-3, float64(ns)/1e9)) }
		c.DrawGlyph(figure.FitPoint, at(seconds(row.Recorded), seconds(row.Simulated)))
	}
}
