package results

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
)

// sweepLines returns the reference, if there is one, and the models that have
// answered, in the order of their first answers.
func (a *Answers) sweepLines(unit timeUnit) plotLines {
	var lines plotLines
	for i := range a.List {
		x := &a.List[i]
		p := &x.Prediction
		n := slices.IndexFunc(lines, func(l plotLine) bool { return l.name == p.Model })
		if n < 0 {
			n = len(lines)
			lines = append(lines, plotLine{name: p.Model, style: modelStyle(p.Model)})
		}
		if x.Err == nil {
			in := func(t time.Duration) float64 { return unit.of(int64(t)) }
			lines[n].points = append(lines[n].points, linePoint{x.At, in(p.Low), in(p.Mean), in(p.High)})
		}
	}
	lines = slices.DeleteFunc(lines, func(l plotLine) bool { return len(l.points) == 0 })
	for _, l := range lines {
		slices.SortStableFunc(l.points, func(a, b linePoint) int { return cmp.Compare(a.at, b.at) })
	}
	return lines
}

// sweepFigure draws makespans over the values of a key, with the bounds of each
// model as a band.
func sweepFigure(title string, a *Answers) *figure {
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
	unit := unitFor(end)
	f := &figure{title: title, subtitle: "lines: makespan; bands: lower to upper bound"}
	lines := a.sweepLines(unit)
	for i := range lines {
		f.legend = append(f.legend, lines[i].entry())
	}
	p := newPanel(420, "makespan ("+unit.name+")")
	top := unit.of(int64(end)) * 1.05
	p.Y.Min, p.Y.Max = 0, top
	p.Y.Tick.Marker = plot.ConstantTicks(unit.ticks(top, 10))
	p.Add(lines)
	f.panels = []*panel{p}
	f.setX(until+margin, Escape(a.Over), ticks(until+margin, 12, nil))
	p.X.Min = from
	if margin == 0 {
		p.X.Min, p.X.Max = from-1, from+1
	}
	return f
}
