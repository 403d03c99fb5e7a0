package results

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/workload"
)

// layer is one area of a panel of slots in use, stacked on those before it.
type layer struct {
	stage
	edge   figure.Tint
	tracks []int
}

// slotLayers returns the areas of the two panels, or of the one of shared
// slots.
func slotLayers(shared bool) [][]layer {
	reduceTracks := phaseTracks(workload.Reduce)
	maps := layer{stageMap, figure.Tinted(0x3f76a8, 0x3f76a8), phaseTracks(workload.Map)}
	shuffle := layer{stageShuffle, figure.Tinted(0xc7a24f, 0x7d6524), reduceTracks[:workload.PhaseShuffle+1]}
	rest := layer{stageReduce, figure.Tinted(0x1f5c36, 0x174d2b), reduceTracks[workload.PhaseShuffle+1:]}
	if shared {
		return [][]layer{{maps, rest, shuffle}}
	}
	return [][]layer{{maps}, {rest, shuffle}}
}

// slotsFigure draws the slots in use over time, the waves, and below them the
// work that waits for slots. It draws one run, or several on the same axes.
func slotsFigure(title string, runs []*Run) *figure.Figure {
	f := &figure.Figure{Title: title}
	end := int64(0)
	var most [2]int // slots in a section
	var used [2]bool
	var waiting [2]float64
	for _, r := range runs {
		s := r.Stats
		end = max(end, r.end())
		for i, n := range s.slots.count {
			most[i] = max(most[i], n)
			used[i] = used[i] || i == 0 || s.kinds[workload.Reduce].slotTime() > 0
		}
		waiting[0] = max(waiting[0], s.peak(trackMapsWaiting))
		waiting[1] = max(waiting[1], s.peak(trackReducesWaiting))
	}
	unit := figure.UnitFor(time.Duration(end))
	height := vg.Length(150)
	if len(runs) > 1 {
		columns, room := figure.Grid(len(runs), 3)
		f.Columns, height = columns, min(105, room/2.55)
	}
	add := func(label string, sample func(draw.Canvas)) {
		if !slices.ContainsFunc(f.Legend, func(e figure.LegendEntry) bool { return e.Label == label }) {
			f.Legend = append(f.Legend, figure.LegendEntry{Label: label, Sample: sample})
		}
	}
	headings := headings(runs)
	for k, r := range runs {
		s, heading, column := r.Stats, headings[k], figure.ColumnOf(k, len(runs), max(1, f.Columns))
		for i, layers := range slotLayers(r.Question.Cluster.SharedSlots) {
			if s.slots.count[i] == 0 || len(runs) > 1 && !used[i] {
				continue
			}
			names := [2]string{"map slots in use", "reduce slots in use"}
			if r.Question.Cluster.SharedSlots {
				names[0] = "slots in use"
			}
			p := figure.NewPanel(height, names[i])
			p.Heading, p.Column, heading = heading, column, ""
			p.Y.Min, p.Y.Max = 0, float64(most[i])*1.04
			p.Y.Tick.Marker = plot.ConstantTicks(slotTicks(most[i], int(height/22)))
			p.Add(&areaPlotter{s, layers, unit}, &levelPlotter{float64(s.slots.count[i]), figure.LimitStyle})
			f.Panels = append(f.Panels, p)
			for _, l := range layers {
				add(stageLabels[l.stage], figure.Filled(stageColours[l.stage]))
			}
		}
		if peak := max(waiting[0], waiting[1]); peak > 0 {
			p := countPanel(height*0.55, "tasks waiting for a slot", peak)
			p.Column = column
			for i, style := range []draw.LineStyle{figure.MapsWaitingStyle, figure.ReducesWaitingStyle} {
				if waiting[i] > 0 {
					p.Add(&stepPlotter{s, trackMapsWaiting + i, unit, style})
				}
			}
			f.Panels = append(f.Panels, p)
		}
	}
	add("slots of the cluster", figure.Stroked(figure.LimitStyle))
	if waiting[0] > 0 {
		add("waiting maps", figure.Stroked(figure.MapsWaitingStyle))
	}
	if waiting[1] > 0 {
		add("waiting reduces", figure.Stroked(figure.ReducesWaitingStyle))
	}
	f.Subtitle = subtitleOf(runs)
	f.SetTime(end, unit)
	return f
}

// subtitleOf says what cluster a picture of runs shows, or what varies between them.
func subtitleOf(runs []*Run) string {
	if len(runs) == 1 {
		return runs[0].clusterText()
	}
	return varied(runs)
}

// countPanel is a panel of what waits, up to a peak.
func countPanel(height vg.Length, label string, peak float64) *figure.Panel {
	p := figure.NewPanel(height, label)
	p.Y.Min, p.Y.Max = 0, peak*1.06
	p.Y.Tick.Marker = plot.ConstantTicks(figure.CountTicks(peak*1.06, int(height/14)))
	return p
}

// slotTicks divides a number of slots into quarters or halves if they are
// whole.
func slotTicks(slots, n int) []plot.Tick {
	for _, parts := range []int{4, 2} {
		if slots%parts == 0 && parts <= n {
			return figure.Ticks(float64(slots), parts, []float64{float64(slots / parts)})
		}
	}
	return figure.CountTicks(float64(slots), n)
}

// peak returns the largest mean of a track over a bin.
func (s *Stats) peak(track int) float64 {
	most := int64(0)
	for _, v := range s.over.busy(track) {
		most = max(most, v)
	}
	return float64(most) / float64(s.over.width)
}

// outline returns the corners of a quantity's steps, from time 0 to the end of
// the run. Bins too narrow to see are joined.
func (t *timeline) outline(busy []int64, unit figure.TimeUnit, x, y func(float64) vg.Length) []vg.Point {
	const narrow = 0.4 // points
	join := max(1, int(math.Ceil(narrow/float64(x(unit.Of(t.width))-x(0)))))
	var line []vg.Point
	for i := 0; i < len(busy); i += join {
		last := min(i+join, len(busy)) - 1
		from, _ := t.span(i)
		_, to := t.span(last)
		level := y(float64(total(busy[i:last+1])) / float64(to-from))
		if n := len(line); n > 0 && line[n-1].Y == level {
			line[n-1].X = x(unit.Of(to))
			continue
		}
		line = append(line, vg.Point{X: x(unit.Of(from)), Y: level}, vg.Point{X: x(unit.Of(to)), Y: level})
	}
	return line
}

// areaPlotter fills layers of slots in use, one on top of the other.
type areaPlotter struct {
	*Stats
	layers []layer
	unit   figure.TimeUnit
}

// Plot implements plot.Plotter.
func (a *areaPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	sum := make([]int64, a.over.bins())
	base := []vg.Point{{X: x(0), Y: y(0)}, {X: x(a.unit.Of(a.over.end)), Y: y(0)}}
	for _, l := range a.layers {
		for i, v := range a.over.busy(l.tracks...) {
			sum[i] += v
		}
		line := a.over.outline(sum, a.unit, x, y)
		if len(line) == 0 { // the run takes no time
			return
		}
		fillBetween(c, base, line, stageLabels[l.stage], stageColours[l.stage])
		c.StrokeLines(draw.LineStyle{Color: l.edge, Width: 0.5}, line)
		base = line
	}
	figure.Labelled(c, "")
}

// fillBetween fills the area between two lines.
func fillBetween(c draw.Canvas, base, line []vg.Point, label string, colour figure.Tint) {
	var path vg.Path
	path.Move(base[0])
	for _, pt := range line {
		path.Line(pt)
	}
	for _, pt := range slices.Backward(base) {
		path.Line(pt)
	}
	path.Close()
	figure.Labelled(c, label)
	c.SetColor(colour)
	c.Fill(path)
}

// stepPlotter draws one track as a line of steps.
type stepPlotter struct {
	*Stats
	track int
	unit  figure.TimeUnit
	style draw.LineStyle
}

// Plot implements plot.Plotter.
func (s *stepPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLines(s.style, s.over.outline(s.over.busy(s.track), s.unit, x, y))
}

// levelPlotter draws a horizontal line over the whole width.
type levelPlotter struct {
	level float64
	style draw.LineStyle
}

// Plot implements plot.Plotter.
func (l *levelPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	c.StrokeLine2(l.style, c.Min.X, y(l.level), c.Max.X, y(l.level))
}
