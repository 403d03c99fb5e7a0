package size

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/text"
)

// sizesFigure draws the probability to meet all goals against the number of nodes.
func sizesFigure(z *Sizing) *figure.Figure {
	const farthest = 3 // times the answer; sizes beyond would crowd the others
	var lines figure.Lines
	for i := range z.Sizes {
		s := &z.Sizes[i]
		if s.Fresh || z.Answer >= 0 && s.Nodes > farthest*z.Sizes[z.Answer].Nodes {
			continue
		}
		k := slices.IndexFunc(lines, func(l figure.Line) bool { return l.Name == s.Type })
		if k < 0 {
			k = len(lines)
			lines = append(lines, figure.Line{Name: s.Type, Style: figure.LineStyle(k)})
		}
		p, low, high := s.Probability(z)
		lines[k].Points = append(lines[k].Points, figure.LinePoint{At: float64(s.Nodes), Low: 100 * low, Mean: 100 * p, High: 100 * high})
	}
	f := &figure.Figure{Title: z.Title, Subtitle: fmt.Sprintf("probability that all goals are met; error bars: 95 %% intervals; dashed: the %s asked for", text.Percent(text.Share(z.Confidence))), Narrow: true}
	for i := range lines {
		slices.SortFunc(lines[i].Points, func(a, b figure.LinePoint) int { return cmp.Compare(a.At, b.At) })
		if lines[i].Name == "" {
			lines[i].Name = "size that was simulated"
		}
		f.Legend = append(f.Legend, lines[i].BarEntry())
	}
	p := figure.NewPanel(points.NarrowHeight, "probability (%)")
	p.Y.Min, p.Y.Max = 0, 104
	p.Y.Tick.Marker = plot.ConstantTicks(figure.Ticks(100, 10, nil))
	from, until := lines.Span()
	margin := max(1, (until-from)/50)
	until = math.Ceil(until + margin)
	asked := plotter.NewFunction(func(float64) float64 { return 100 * z.Confidence })
	asked.XMin, asked.XMax, asked.Samples = 0, until, 2
	asked.LineStyle = figure.LimitStyle
	p.Add(asked, figure.BarLines(lines))
	if z.Answer >= 0 {
		s := &z.Sizes[z.Answer]
		mark := draw.GlyphStyle{Color: figure.ColourText, Radius: 7, Shape: draw.RingGlyph{}}
		met, _, _ := s.Probability(z)
		met *= 100
		p.Add(figure.Lines{{Style: mark, Points: []figure.LinePoint{{At: float64(s.Nodes), Low: met, Mean: met, High: met}}}})
		f.Legend = append(f.Legend, figure.LegendEntry{Label: "answer: " + s.name(), Sample: func(to draw.Canvas) {
			to.DrawGlyph(draw.GlyphStyle{Color: figure.ColourText, Radius: 5, Shape: draw.RingGlyph{}}, to.Center())
		}})
	}
	f.Panels = []*figure.Panel{p}
	f.SetX(until, "number of nodes", figure.CountTicks(until, 8))
	return f
}
