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

// overTime is a figure of one run, or of several on the same axis of time.
type overTime struct {
	*figure.Figure
	runs     []*Run
	headings []string
	end      int64 // of the axis, ns
	unit     figure.TimeUnit
}

// newOverTime begins a figure. It returns the height that the panels of one of several
// runs have together, of which each has so many; 0: there is one run.
func newOverTime(title string, runs []*Run, panels int) (f *overTime, room vg.Length) {
	f = &overTime{Figure: &figure.Figure{Title: title, Subtitle: varied(runs)}, runs: runs, headings: headings(runs)}
	for _, r := range runs {
		f.end = max(f.end, r.end())
	}
	f.unit = figure.UnitFor(time.Duration(f.end))
	if len(runs) == 1 {
		f.Subtitle = runs[0].clusterText()
		return f, 0
	}
	f.Columns, room = figure.Grid(len(runs), panels)
	return f, room
}

// add adds the next panel of the k-th run; the first one is under its heading.
func (f *overTime) add(k int, p *figure.Panel, plotters ...plot.Plotter) {
	p.Heading, p.Column, f.headings[k] = f.headings[k], figure.ColumnOf(k, len(f.runs), max(1, f.Columns)), ""
	p.Add(plotters...)
	f.Panels = append(f.Panels, p)
}

// explain adds an entry to the legend, once.
func (f *overTime) explain(label string, sample func(draw.Canvas)) {
	if !slices.ContainsFunc(f.Legend, func(e figure.LegendEntry) bool { return e.Label == label }) {
		f.Legend = append(f.Legend, figure.LegendEntry{Label: label, Sample: sample})
	}
}

// done gives the panels their axis.
func (f *overTime) done() *figure.Figure {
	f.SetTime(f.end, f.unit)
	return f.Figure
}

// slotsFigure draws the slots in use over time, the waves, and below them the
// work that waits for slots. It draws one run, or several on the same axes.
func slotsFigure(title string, runs []*Run) *figure.Figure {
	f, room := newOverTime(title, runs, 3)
	var most [2]int // slots in a section
	var used [2]bool
	var waiting [2]float64
	for _, r := range runs {
		s := r.Stats
		for i, n := range s.slots.count {
			most[i] = max(most[i], n)
			used[i] = used[i] || i == 0 || s.kinds[workload.Reduce].slotTime() > 0
		}
		waiting[0] = max(waiting[0], s.peak(trackMapsWaiting))
		waiting[1] = max(waiting[1], s.peak(trackReducesWaiting))
	}
	height := vg.Length(150)
	if len(runs) > 1 {
		height = min(105, room/2.55)
	}
	for k, r := range runs {
		s := r.Stats
		for i, layers := range slotLayers(r.Question.Cluster.SharedSlots) {
			if s.slots.count[i] == 0 || len(runs) > 1 && !used[i] {
				continue
			}
			names := [2]string{"map slots in use", "reduce slots in use"}
			if r.Question.Cluster.SharedSlots {
				names[0] = "slots in use"
			}
			p := figure.NewPanel(height, names[i])
			p.Y.Min, p.Y.Max = 0, float64(most[i])*1.04
			p.Y.Tick.Marker = plot.ConstantTicks(slotTicks(most[i], int(height/22)))
			f.add(k, p, areas(s.over, layers, f.unit), level(float64(s.slots.count[i])))
			for _, l := range layers {
				f.explain(stageLabels[l.stage], figure.Filled(stageColours[l.stage]))
			}
		}
		if peak := max(waiting[0], waiting[1]); peak > 0 {
			p := countPanel(height*0.55, "tasks waiting for a slot", peak)
			for i, style := range []draw.LineStyle{figure.MapsWaitingStyle, figure.ReducesWaitingStyle} {
				if waiting[i] > 0 {
					p.Add(stepsOf(s, trackMapsWaiting+i, f.unit, style))
				}
			}
			f.add(k, p)
		}
	}
	f.explain("slots of the cluster", figure.Stroked(figure.LimitStyle))
	if waiting[0] > 0 {
		f.explain("waiting maps", figure.Stroked(figure.MapsWaitingStyle))
	}
	if waiting[1] > 0 {
		f.explain("waiting reduces", figure.Stroked(figure.ReducesWaitingStyle))
	}
	return f.done()
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

// areas fills layers of slots in use, one on top of the other.
func areas(t *timeline, layers []layer, unit figure.TimeUnit) figure.Drawing {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		sum := make([]int64, t.bins())
		base := []vg.Point{{X: x(0), Y: y(0)}, {X: x(unit.Of(t.end)), Y: y(0)}}
		for _, l := range layers {
			for i, v := range t.busy(l.tracks...) {
				sum[i] += v
			}
			line := t.outline(sum, unit, x, y)
			if len(line) == 0 { // the run takes no time
				return
			}
			fillBetween(c, base, line, stageLabels[l.stage], stageColours[l.stage])
			c.StrokeLines(draw.LineStyle{Color: l.edge, Width: 0.5}, line)
			base = line
		}
		figure.Labelled(c, "")
	}
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

// stepsOf draws one track as a line of steps.
func stepsOf(s *Stats, track int, unit figure.TimeUnit, style draw.LineStyle) figure.Drawing {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		c.StrokeLines(style, s.over.outline(s.over.busy(track), unit, x, y))
	}
}

// level draws a limit over the whole width.
func level(of float64) figure.Drawing {
	return func(c draw.Canvas, _, y func(float64) vg.Length) {
		c.StrokeLine2(figure.LimitStyle, c.Min.X, y(of), c.Max.X, y(of))
	}
}
