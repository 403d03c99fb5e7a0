package size

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/text"
)

// sizesFigure draws the probability to meet all goals against the price per hour, or
// the number of nodes where an offer has no price.
func sizesFigure(z *Sizing) *figure.Figure {
	const farthest = 3 // times the answer; sizes beyond would crowd the others
	answer, shown := z.answer(), &Size{}
	if answer != nil {
		shown = answer.shown()
	}
	priced := !z.has(func(l *Line) bool { return !l.Now && l.Load == z.Lines[0].Load && l.shown().Price == 0 })
	var lines figure.Lines
	for i := range z.Lines {
		l := &z.Lines[i]
		if l.Now || l.Load != z.Lines[0].Load {
			continue
		}
		line := figure.Line{Name: l.Type, Style: figure.LineStyle(len(lines))}
		for k := range l.Sizes {
			s := &l.Sizes[k]
			if s.Fresh || answer != nil && s.Nodes > farthest*answer.Nodes {
				continue
			}
			p, low, high := s.Probability(z)
			at := float64(s.Nodes)
			if priced {
				at = s.Hourly()
			}
			line.Points = append(line.Points, figure.LinePoint{At: at, Low: 100 * low, Mean: 100 * p, High: 100 * high, Ringed: l == answer && s.Nodes == shown.Nodes})
		}
		lines = append(lines, line)
	}
	f := &figure.Figure{Title: "Probability that all goals are met", Subtitle: fmt.Sprintf("error bars: 95 %% intervals; dashed: the %s asked for", text.Percent(text.Share(z.Confidence))), Narrow: true}
	for i := range lines {
		if lines[i].Name == "" {
			lines[i].Name = "size that was simulated"
		}
	}
	f.Legend = figure.LegendOf(lines, true)
	p := figure.NewPanel(points.NarrowHeight, "probability (%)")
	p.Y.Min, p.Y.Max = 0, 104
	p.Y.Tick.Marker = plot.ConstantTicks(figure.Ticks(100, 10, nil))
	from, until := lines.Span()
	axis, ticks := "number of nodes", figure.CountTicks
	if margin := (until - from) / 50; priced {
		until += margin
		axis, ticks = "price per hour", func(end float64, n int) []plot.Tick { return figure.Ticks(end, n, nil) }
	} else {
		until = math.Ceil(until + max(1, margin))
	}
	asked := plotter.NewFunction(func(float64) float64 { return 100 * z.Confidence })
	asked.XMin, asked.XMax, asked.Samples = 0, until, 2
	asked.LineStyle = figure.LimitStyle
	p.Add(asked, figure.BarLines(lines))
	if answer != nil {
		f.Legend = append(f.Legend, figure.LegendEntry{Label: "answer: " + answer.name(shown), Sample: func(to draw.Canvas) {
			to.DrawGlyph(figure.Ring(5), to.Center())
		}})
	}
	f.Panels = []*figure.Panel{p}
	f.SetX(until, axis, ticks(until, 8))
	return f
}

// offersFigure draws the lowest sufficient size of each line: its price per hour, or
// its nodes where the offers have no price.
func offersFigure(z *Sizing) *figure.Figure {
	priced := z.has(func(l *Line) bool { return l.shown().Price > 0 })
	f := &figure.Figure{Title: "Smallest cluster of each offer that meets all goals", Subtitle: "price per hour", Narrow: true}
	if !priced {
		f.Subtitle = "number of nodes"
	}
	var names, labels []string
	var values []float64
	for i := range z.Lines {
		l := &z.Lines[i]
		s, value, label := l.shown(), 0.0, "none"
		if l.Now {
			continue
		}
		if l.Nodes > 0 {
			value, label = float64(s.Nodes), strconv.Itoa(s.Nodes)
			if priced {
				value, label = s.Hourly(), fmt.Sprintf("%s for %s", text.Count(s.Nodes, "node"), price(s.Hourly()))
			}
		}
		names = append(names, strings.TrimSpace(text.Escape(l.Type)+" "+l.loadName()))
		values, labels = append(values, value), append(labels, label)
	}
	p := figure.RowsPanel(names, 44)
	p.Height = vg.Length(len(names)) * 22
	p.Add(figure.ValueBars(values, labels, figure.JobColour(0), 0.5))
	f.Panels = []*figure.Panel{p}
	f.SetX(1, "", nil)
	p.X.LineStyle.Width = 0
	return f
}
