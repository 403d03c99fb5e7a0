package results

import (
	"cmp"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slotwave/slotwave/results/figure"
)

// mostQueues is the number of queues that a picture tells apart.
const mostQueues = 8

// series is a quantity over time, as means of equal steps.
type series struct {
	label  string
	colour figure.Tint
	values []float64
}

var (
	mastersColour  = figure.Tinted(0x2b2b2b, 0xf0f0f0)
	otherColour    = figure.Tinted(0x9d9f9e, 0x7f7e7d)
	reservedColour = figure.Tinted(0xe6972b, 0xffb347)
)

// layers returns what is stacked: the memory of ApplicationMasters, of the tasks of each
// queue, and what is reserved. The queues that use most have colours of their own.
func (u *useOfQueues) layers(names []string) []series {
	sum := func(of func(*queueUse) []float64, which func(string) bool) []float64 {
		all := make([]float64, queueSteps)
		for i := range u.queues {
			if q := &u.queues[i]; which(q.Path) {
				for k, v := range of(q) {
					all[k] += v
				}
			}
		}
		return all
	}
	every := func(string) bool { return true }
	tasks := func(q *queueUse) []float64 {
		own := slices.Clone(q.memory)
		for i := range own {
			own[i] -= q.masters[i]
		}
		return own
	}
	list := []series{{"ApplicationMasters", mastersColour, sum(func(q *queueUse) []float64 { return q.masters }, every)}}
	for i, name := range names {
		list = append(list, series{name, figure.JobColour(i), sum(tasks, func(path string) bool { return path == name })})
	}
	list = append(list,
		series{"other queues", otherColour, sum(tasks, func(path string) bool { return !slices.Contains(names, path) })},
		series{"reserved", reservedColour, sum(func(q *queueUse) []float64 { return q.reserved }, every)})
	return list
}

// busiest names the queues of all runs that use most memory, by path.
func busiest(runs []*Run) []string {
	used := map[string]float64{}
	var names []string
	for _, r := range runs {
		for i := range r.Stats.use.queues {
			q := &r.Stats.use.queues[i]
			if _, known := used[q.Path]; !known {
				names = append(names, q.Path)
			}
			for _, v := range q.memory {
				used[q.Path] += v
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(used[b], used[a]) })
	names = names[:min(len(names), mostQueues)]
	slices.Sort(names)
	return names
}

// containersFigure draws the memory in use by queue over time, and below it the
// applications that wait for their ApplicationMaster and the tasks that wait for a
// container. It draws one run, or several on the same axes.
func containersFigure(title string, runs []*Run) *figure.Figure {
	const gib = 1024
	f := &figure.Figure{Title: title}
	end, most, waiting := int64(0), 0.0, 0.0
	for _, r := range runs {
		end = max(end, r.end())
		most = max(most, float64(r.Stats.use.capacity.MemoryMiB)/gib)
		waiting = max(waiting, r.Stats.peak(trackMapsWaiting), r.Stats.peak(trackReducesWaiting), slices.Max(r.Stats.use.waiting()))
	}
	unit := figure.UnitFor(time.Duration(end))
	height := vg.Length(190)
	if len(runs) > 1 {
		columns, room := figure.Grid(len(runs), 2)
		f.Columns, height = columns, min(140, room/1.55)
	}
	legend := map[string]bool{}
	names, headings := busiest(runs), headings(runs)
	for k, r := range runs {
		u, column := r.Stats.use, figure.ColumnOf(k, len(runs), max(1, f.Columns))
		p := figure.NewPanel(height, "memory in use, GiB")
		p.Heading, p.Column = headings[k], column
		p.Y.Min, p.Y.Max = 0, most*1.04
		p.Y.Tick.Marker = plot.ConstantTicks(figure.CountTicks(most, int(height/22)))
		stack := &stackPlotter{step: unit.Of(int64(u.step)), scale: 1.0 / gib}
		for _, s := range u.layers(names) {
			if slices.Max(s.values) == 0 {
				continue
			}
			stack.layers = append(stack.layers, s)
			if !legend[s.label] {
				legend[s.label] = true
				f.Legend = append(f.Legend, figure.LegendEntry{Label: s.label, Sample: figure.Filled(s.colour)})
			}
		}
		p.Add(stack, &levelPlotter{float64(u.capacity.MemoryMiB) / gib, figure.LimitStyle})
		f.Panels = append(f.Panels, p)
		if waiting == 0 {
			continue
		}
		p = countPanel(height*0.4, "waiting", waiting)
		p.Column = column
		p.Add(&stepPlotter{r.Stats, trackMapsWaiting, unit, figure.MapsWaitingStyle}, &stepPlotter{r.Stats, trackReducesWaiting, unit, figure.ReducesWaitingStyle},
			&seriesPlotter{u.waiting(), stack.step, applicationsStyle})
		f.Panels = append(f.Panels, p)
	}
	f.Legend = append(f.Legend, figure.LegendEntry{Label: "memory of the cluster", Sample: figure.Stroked(figure.LimitStyle)})
	if waiting > 0 {
		f.Legend = append(f.Legend,
			figure.LegendEntry{Label: "waiting maps", Sample: figure.Stroked(figure.MapsWaitingStyle)},
			figure.LegendEntry{Label: "waiting reduces", Sample: figure.Stroked(figure.ReducesWaitingStyle)},
			figure.LegendEntry{Label: "applications without an ApplicationMaster", Sample: figure.Stroked(applicationsStyle)})
	}
	f.Subtitle = subtitleOf(runs)
	f.SetTime(end, unit)
	return f
}

// applicationsStyle is the line of the applications that wait.
var applicationsStyle = draw.LineStyle{Color: figure.ColourFailed, Width: vg.Points(1.6)}

// waiting sums the applications without an ApplicationMaster over the queues.
func (u *useOfQueues) waiting() []float64 {
	all := make([]float64, queueSteps)
	for i := range u.queues {
		for k, v := range u.queues[i].waiting {
			all[k] += v
		}
	}
	return all
}

// seriesPlotter draws a line of equal steps.
type seriesPlotter struct {
	values []float64
	step   float64 // in units of the axis
	style  draw.LineStyle
}

// Plot implements plot.Plotter.
func (s *seriesPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLines(s.style, steps(s.values, func(i int) vg.Length { return x(float64(i) * s.step) }, y))
}

// steps returns the corners of a line of steps.
func steps(values []float64, x func(int) vg.Length, y func(float64) vg.Length) (line []vg.Point) {
	for i, v := range values {
		line = append(line, vg.Point{X: x(i), Y: y(v)}, vg.Point{X: x(i + 1), Y: y(v)})
	}
	return line
}

// stackPlotter fills series on top of each other, in equal steps.
type stackPlotter struct {
	layers []series
	step   float64 // in units of the axis
	scale  float64
}

// Plot implements plot.Plotter.
func (s *stackPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	sum := make([]float64, queueSteps)
	outline := func() []vg.Point {
		return steps(sum, func(i int) vg.Length { return x(float64(i) * s.step) }, func(v float64) vg.Length { return y(v * s.scale) })
	}
	base := outline()
	for _, l := range s.layers {
		for i, v := range l.values {
			sum[i] += v
		}
		line := outline()
		fillBetween(c, base, line, l.label, l.colour)
		base = line
	}
	figure.Labelled(c, "")
}
