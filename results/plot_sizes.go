package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// sizesFigure draws the probability to meet all goals against the number of nodes.
func sizesFigure(z *Sizing) *figure {
	const farthest = 3 // times the answer; sizes beyond would crowd the others
	var lines plotLines
	for i := range z.Sizes {
		s := &z.Sizes[i]
		if s.Fresh || z.Answer >= 0 && s.Nodes > farthest*z.Sizes[z.Answer].Nodes {
			continue
		}
		k := slices.IndexFunc(lines, func(l plotLine) bool { return l.name == s.Type })
		if k < 0 {
			k = len(lines)
			lines = append(lines, plotLine{name: s.Type, style: lineStyle(k)})
		}
		p, low, high := s.Probability(z)
		lines[k].points = append(lines[k].points, linePoint{float64(s.Nodes), 100 * low, 100 * p, 100 * high})
	}
	f := &figure{title: z.Title, subtitle: fmt.Sprintf("probability that all goals are met; error bars: 95 %% intervals; dashed: the %s asked for", percentOf(share(z.Confidence))), narrow: true}
	for i := range lines {
		slices.SortFunc(lines[i].points, func(a, b linePoint) int { return cmp.Compare(a.at, b.at) })
		if lines[i].name == "" {
			lines[i].name = "size that was simulated"
		}
		f.legend = append(f.legend, lines[i].barEntry())
	}
	p := newPanel(narrowHeight, "probability (%)")
	p.Y.Min, p.Y.Max = 0, 104
	p.Y.Tick.Marker = plot.ConstantTicks(ticks(100, 10, nil))
	from, until := lines.span()
	margin := max(1, (until-from)/50)
	until = math.Ceil(until + margin)
	asked := plotter.NewFunction(func(float64) float64 { return 100 * z.Confidence })
	asked.XMin, asked.XMax, asked.Samples = 0, until, 2
	asked.LineStyle = limitStyle
	p.Add(asked, barLines(lines))
	if z.Answer >= 0 {
		s := &z.Sizes[z.Answer]
		mark := draw.GlyphStyle{Color: colourText, Radius: 7, Shape: draw.RingGlyph{}}
		met, _, _ := s.Probability(z)
		met *= 100
		p.Add(plotLines{{style: mark, points: []linePoint{{float64(s.Nodes), met, met, met}}}})
		f.legend = append(f.legend, legendEntry{"answer: " + s.name(), func(to draw.Canvas) {
			to.DrawGlyph(draw.GlyphStyle{Color: colourText, Radius: 5, Shape: draw.RingGlyph{}}, to.Center())
		}})
	}
	f.panels = []*panel{p}
	f.setX(until, "number of nodes", countTicks(until, 8))
	return f
}
