package results

import (
	"cmp"
	"slices"

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
	f, room := newOverTime(title, runs, 2)
	most, waiting := 0.0, 0.0
	for _, r := range runs {
		most = max(most, float64(r.Stats.use.capacity.MemoryMiB)/gib)
		waiting = max(waiting, r.Stats.peak(trackMapsWaiting), r.Stats.peak(trackReducesWaiting), slices.Max(r.Stats.use.waiting()))
	}
	height := vg.Length(190)
	if len(runs) > 1 {
		height = min(140, room/1.55)
	}
	names := busiest(runs)
	for k, r := range runs {
		u := r.Stats.use
		step := f.unit.Of(int64(u.step))
		p := figure.NewPanel(height, "memory in use, GiB")
		p.Y.Min, p.Y.Max = 0, most*1.04
		p.Y.Tick.Marker = plot.ConstantTicks(figure.CountTicks(most, int(height/22)))
		layers := slices.DeleteFunc(u.layers(names), func(s series) bool { return slices.Max(s.values) == 0 })
		for _, s := range layers {
			f.explain(s.label, figure.Filled(s.colour))
		}
		f.add(k, p, stack(layers, step, 1.0/gib), level(float64(u.capacity.MemoryMiB)/gib))
		if waiting > 0 {
			f.add(k, countPanel(height*0.4, "waiting", waiting), stepsOf(r.Stats, trackMapsWaiting, f.unit, figure.MapsWaitingStyle),
				stepsOf(r.Stats, trackReducesWaiting, f.unit, figure.ReducesWaitingStyle), figure.Drawing(func(c draw.Canvas, x, y func(float64) vg.Length) {
					c.StrokeLines(applicationsStyle, steps(u.waiting(), func(i int) vg.Length { return x(float64(i) * step) }, y))
				}))
		}
	}
	f.explain("memory of the cluster", figure.Stroked(figure.LimitStyle))
	if waiting > 0 {
		f.explain("waiting maps", figure.Stroked(figure.MapsWaitingStyle))
		f.explain("waiting reduces", figure.Stroked(figure.ReducesWaitingStyle))
		f.explain("applications without an ApplicationMaster", figure.Stroked(applicationsStyle))
	}
	return f.done()
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

// steps returns the corners of a line of steps.
func steps(values []float64, x func(int) vg.Length, y func(float64) vg.Length) (line []vg.Point) {
	for i, v := range values {
		line = append(line, vg.Point{X: x(i), Y: y(v)}, vg.Point{X: x(i + 1), Y: y(v)})
	}
	return line
}

// stack fills series on top of each other, in equal steps of the axis.
func stack(layers []series, step, scale float64) figure.Drawing {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		sum := make([]float64, queueSteps)
		outline := func() []vg.Point {
			return steps(sum, func(i int) vg.Length { return x(float64(i) * step) }, func(v float64) vg.Length { return y(v * scale) })
		}
		base := outline()
		for _, l := range layers {
			for i, v := range l.values {
				sum[i] += v
			}
			line := outline()
			fillBetween(c, base, line, l.label, l.colour)
			base = line
		}
		figure.Labelled(c, "")
	}
}
