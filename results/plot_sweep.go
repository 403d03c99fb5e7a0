package results

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
)

// sweepLines returns the reference, if there is one, and the models that have
// answered, in the order of their first answers.
func (a *Answers) sweepLines(unit figure.TimeUnit) figure.Lines {
	var lines figure.Lines
	for i := range a.List {
		x := &a.List[i]
		p := &x.Prediction
		n := slices.IndexFunc(lines, func(l figure.Line) bool { return l.Name == p.Model })
		if n < 0 {
			n = len(lines)
			lines = append(lines, figure.Line{Name: p.Model, Style: figure.ModelStyle(p.Model)})
		}
		if x.Err == nil {
			in := func(t time.Duration) float64 { return unit.Of(int64(t)) }
			lines[n].Points = append(lines[n].Points, figure.LinePoint{At: x.At, Low: in(p.Low), Mean: in(p.Mean), High: in(p.High)})
		}
	}
	lines = slices.DeleteFunc(lines, func(l figure.Line) bool { return len(l.Points) == 0 })
	for _, l := range lines {
		slices.SortStableFunc(l.Points, func(a, b figure.LinePoint) int { return cmp.Compare(a.At, b.At) })
	}
	return lines
}

// sweepFigure draws makespans over the values of a key, with the bounds of each
// model as a band.
func sweepFigure(title string, a *Answers) *figure.Figure {
	end, from, until := time.Duration(1), math.Inf(1), math.Inf(-1)
	for i := range a.List {
		if x := &a.List[i]; x.Err == nil {
			end = max(end, x.Prediction.Mean, x.Prediction.High)
			from, until = min(from, x.At), max(until, x.At)
		}
	}
	if from > 0 && from < until/2 {
		from = 0
	}
	margin := (until - from) / 50
	unit := figure.UnitFor(end)
	f := &figure.Figure{Title: title, Subtitle: "lines: makespan; bands: lower to upper bound"}
	lines := a.sweepLines(unit)
	f.Legend = figure.LegendOf(lines, false)
	p := figure.NewPanel(420, "makespan ("+unit.Name+")")
	top := unit.Of(int64(end)) * 1.05
	p.Y.Min, p.Y.Max = 0, top
	p.Y.Tick.Marker = plot.ConstantTicks(unit.Ticks(top, 10))
	p.Add(lines)
	f.Panels = []*figure.Panel{p}
	f.SetX(until+margin, text.Escape(a.Over), figure.Ticks(until+margin, 12, nil))
	p.X.Min = from
	if margin == 0 {
		p.X.Min, p.X.Max = from-1, from+1
	}
	return f
}
