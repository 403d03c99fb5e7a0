package points

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// These limit what is legible in the pictures of a study.
const (
	mostLines  = 8
	mostInLine = 2000 // points of all lines
	mostBarred = 20   // error bars of a line; more are a band

	NarrowHeight = 210 // of the data in a column of a paper
)

// plotted is a study with the metric that a picture shows.
type plotted struct {
	*Points
	title  string
	metric int
	axes   []axis // factors that vary by themselves
	unit   float64
	label  string
}

// axis is a factor that varies, with its distinct values in the order of the points.
type axis struct {
	Factor
	factor   int
	level    func(k int) int // number of the distinct value of a value of the factor
	isNumber bool
	ascends  bool // numbers from low to high
}

// WriteStudy writes the tables, and draws the first metric by what varies: lines with
// bands over a number, means of names, or a tornado of more factors.
func (p *Points) WriteStudy(d resultdir.Target, title string) error {
	if err := p.Write(d); err != nil || p.Single() {
		return err
	}
	s := &plotted{Points: p, title: title, axes: p.axes()}
	name, f := "", (*figure.Figure)(nil)
	if len(s.axes) > 0 {
		s.choose(p.Metrics.shown()[0])
		name, f = s.picture()
	}
	w := resultdir.Writer{Dir: d}
	drawn := figure.Pictures{Labels: p.Labels}
	if f != nil {
		drawn.Draw([]string{name}, []*figure.Figure{f})
	}
	drawn.Write(&w)
	return w.Err
}

// picture draws the metric; nil: more varies than is legible.
func (s *plotted) picture() (name string, f *figure.Figure) {
	numbers := slices.ContainsFunc(s.axes, func(a axis) bool { return a.isNumber })
	if len(s.axes) <= 2 && numbers && s.full() {
		if f := s.lines(); f != nil {
			return "line", f
		}
	}
	switch {
	case len(s.axes) > 1:
		return "tornado", s.tornado()
	case !numbers && s.full():
		return "means", s.means()
	}
	return "", nil
}

// axes returns the factors that vary. A factor that advances with an earlier one is
// left out.
func (p *Points) axes() []axis {
	var all []axis
	for f := range p.Factors {
		a := newAxis(f, p.Factors[f])
		if a.Count > 1 && !slices.ContainsFunc(all, func(b axis) bool { return !p.Sampled && p.together(&a, &b) }) {
			all = append(all, a)
		}
	}
	return all
}

// newAxis finds the distinct values of a factor. Of numbers that ascend, as those of a
// range do, nothing is kept.
func newAxis(f int, of Factor) axis {
	a := axis{Factor: of, factor: f, level: func(k int) int { return k }}
	a.isNumber = of.numbers()
	a.ascends = a.isNumber
	for k, last := 0, math.Inf(-1); a.ascends && k < of.Count; k++ {
		v := of.number(k)
		a.ascends, last = v > last, v
	}
	if a.ascends {
		return a
	}
	seen := map[string]int{}
	var distinct []int
	levels := make([]int, of.Count)
	for k := range levels {
		text := of.Value(k)
		level, ok := seen[text]
		if !ok {
			level = len(distinct)
			seen[text] = level
			distinct = append(distinct, k)
		}
		levels[k] = level
	}
	a.level = func(k int) int { return levels[k] }
	a.Count, a.Value = len(distinct), func(level int) string { return of.Value(distinct[level]) }
	return a
}

// values are the texts of all levels.
func (a *axis) values() (list []string) {
	for level := range a.Count {
		list = append(list, a.Value(level))
	}
	return list
}

// of is the level of a point.
func (a *axis) of(p *Point) int { return a.level(p.Levels[a.factor]) }

// together reports whether two factors have the same level at every point.
func (p *Points) together(a, b *axis) bool {
	for i := range p.List.Len() {
		if point := p.List.Point(i); a.of(&point) != b.of(&point) {
			return false
		}
	}
	return true
}

// full reports whether the points are all combinations of the levels.
func (s *plotted) full() bool {
	n := 1
	for _, a := range s.axes {
		n *= a.Count
	}
	return n == s.List.Len()
}

// choose sets the metric of a picture, and its unit.
func (s *plotted) choose(m int) {
	s.metric, s.unit = m, 1
	name := s.Metrics.Names()[m]
	s.label = metricTitle(name)
	if isTime(name) {
		most := 0.0
		for i := range s.List.Len() {
			if mean, _ := fit.StudentInterval(s.values(i, m)); !math.IsNaN(mean) {
				most = max(most, mean)
			}
		}
		u := figure.UnitFor(time.Duration(most))
		s.unit, s.label = u.Ns, s.label+" ("+u.Name+")"
	}
}

// interval returns the mean of a point in the unit of the picture, and the 95 %
// interval of its difference to the baseline; without pairs, that of the mean.
func (s *plotted) interval(i int) (low, mean, high float64) {
	mean, half := fit.StudentInterval(s.values(i, s.metric))
	if differences, _ := s.pairs(i, s.metric); len(differences) > 0 {
		_, half = fit.StudentInterval(differences)
	}
	if math.IsNaN(half) {
		half = 0
	}
	return (mean - half) / s.unit, mean / s.unit, (mean + half) / s.unit
}

// mostMeans is the largest number of levels whose means are drawn.
const mostMeans = 40

// means draws the metric for each level of the only factor, which is not a number.
func (s *plotted) means() *figure.Figure {
	a := &s.axes[0]
	if a.Count > mostMeans {
		return nil
	}
	var rows [][3]float64 // low, mean, high
	from, until := math.Inf(1), math.Inf(-1)
	for i := range s.List.Len() {
		low, mean, high := s.interval(i)
		rows = append(rows, [3]float64{low, mean, high})
		if !math.IsNaN(mean) {
			from, until = min(from, low), max(until, high)
		}
	}
	if !(from <= until) {
		return nil
	}
	if from == until {
		from, until = 0.9*from, 1.1*until+math.SmallestNonzeroFloat32
	}
	f := &figure.Figure{Title: s.title, Subtitle: s.meaning("points", "lines"), Narrow: true}
	p := figure.RowsPanel(a.values(), 44)
	p.Caption = text.Escape(a.Key)
	p.Add(figure.Drawing(func(c draw.Canvas, x, y func(float64) vg.Length) {
		style := figure.LineStyle(0)
		for i, row := range rows {
			if !math.IsNaN(row[1]) {
				at := y(float64(i) + 0.5)
				c.StrokeLine2(draw.LineStyle{Color: style.Color, Width: 2}, x(row[0]), at, x(row[2]), at)
				c.DrawGlyph(style, vg.Point{X: x(row[1]), Y: at})
			}
		}
	}))
	f.Panels = []*figure.Panel{p}
	f.SetRange(from, until, s.label)
	return f
}

// lines draws the metric over the factor that is a number, with a line for each
// level of the other factor.
func (s *plotted) lines() *figure.Figure {
	over, by := s.axes[0], -1
	if len(s.axes) == 2 {
		by = 1
		if first := &s.axes[0]; !first.isNumber || s.axes[1].isNumber && first.Count < s.axes[1].Count {
			over, by = s.axes[1], 0
		}
	}
	if by >= 0 && s.axes[by].Count > mostLines || s.List.Len() > mostInLine {
		return nil
	}
	lines := figure.Lines{{Name: s.label, Style: figure.LineStyle(0)}}
	if by >= 0 {
		lines = nil
		for k, level := range s.axes[by].values() {
			if s.axes[by].isNumber { // a bare number names nothing
				level = text.Escape(s.axes[by].Key) + " = " + level
			}
			lines = append(lines, figure.Line{Name: level, Style: figure.LineStyle(k)})
		}
	}
	top := 0.0
	for i := range s.List.Len() {
		k, point := 0, s.List.Point(i)
		if by >= 0 {
			k = s.axes[by].of(&point)
		}
		low, mean, high := s.interval(i)
		if !math.IsNaN(mean) {
			lines[k].Points = append(lines[k].Points, figure.LinePoint{At: over.number(over.of(&point)), Low: low, Mean: mean, High: high})
			top = max(top, high)
		}
	}
	barred := s.List.Len() <= mostBarred*len(lines)
	f := &figure.Figure{Title: s.title, Subtitle: s.meaning("lines", "bands"), Narrow: true}
	if barred {
		f.Subtitle = s.meaning("points", "error bars")
	}
	for i := range lines {
		slices.SortFunc(lines[i].Points, func(a, b figure.LinePoint) int { return cmp.Compare(a.At, b.At) })
	}
	if by >= 0 {
		f.Legend = figure.LegendOf(lines, barred)
	}
	p := figure.NewPanel(NarrowHeight, s.label)
	p.Y.Min, p.Y.Max = 0, max(top*1.05, math.SmallestNonzeroFloat32)
	p.Y.Tick.Marker = plot.ConstantTicks(figure.Ticks(p.Y.Max, 8, nil))
	if barred {
		p.Add(figure.BarLines(lines))
	} else {
		p.Add(lines)
	}
	f.Panels = []*figure.Panel{p}
	from, until := lines.Span()
	setNumbers(f, &over, from, until)
	return f
}

// meaning says what a picture shows of each point, and what its intervals are.
func (s *plotted) meaning(means, intervals string) string {
	if !s.Replicated() {
		return means + ": one run each, without an interval"
	}
	base := s.List.Point(0).Baseline
	for i := range s.List.Len() {
		if p := s.List.Point(i); p.Baseline != base {
			return means + ": means; " + intervals + ": 95 % intervals of the difference to the baseline of each point, from pairs of runs with the same seed"
		}
	}
	return fmt.Sprintf("%s: means; %s: 95 %% intervals of the difference to the baseline (%s), from pairs of runs with the same seed", means, intervals, s.Points.label(base))
}

// setNumbers gives a figure the axis of a factor that is a number: marks at its values
// if they are few.
func setNumbers(f *figure.Figure, a *axis, from, until float64) {
	const few = 7
	margin := (until - from) / 25
	f.SetX(until+margin, axisTitle(a.Key), nil)
	p := f.Panels[0]
	if from < 0 || from > until/20 {
		p.X.Min = from - margin
	}
	var marks []plot.Tick
	if a.Count <= few {
		for level := range a.Count {
			marks = append(marks, plot.Tick{Value: a.number(level), Label: text.Shorten(text.Escape(a.Value(level)), 8)})
		}
	} else if from < 0 {
		marks = []plot.Tick{{Value: from, Label: text.Share(from).String()}, {Value: 0, Label: "0"}, {Value: until, Label: text.Share(until).String()}}
	} else {
		marks = figure.Ticks(until+margin, few, nil)
	}
	p.X.Tick.Marker = plot.ConstantTicks(marks)
}

// axisTitle is a key with its unit, if its name ends with one.
func axisTitle(key string) string {
	title := text.Escape(key)
	for _, unit := range [][2]string{{"_ms", "ms"}, {"_mb", "MB"}, {".mb", "MB"}} {
		if strings.HasSuffix(key, unit[0]) {
			return title + " (" + unit[1] + ")"
		}
	}
	return title
}

// tornado draws, for each factor, how far the mean moves with its levels. The
// levels of a number with many are divided into thirds.
func (s *plotted) tornado() *figure.Figure {
	var bars []figure.Bar
	total, n := 0.0, 0
	for i := range s.List.Len() {
		if _, mean, _ := s.interval(i); !math.IsNaN(mean) {
			total, n = total+mean, n+1
		}
	}
	for _, a := range s.axes {
		group, names := a.groups()
		sum, count := make([]float64, len(names)), make([]float64, len(names))
		for i := range s.List.Len() {
			if _, mean, _ := s.interval(i); !math.IsNaN(mean) {
				point := s.List.Point(i)
				g := group(a.of(&point))
				sum[g] += mean
				count[g]++
			}
		}
		b := figure.Bar{Name: text.Escape(a.Key), Low: math.Inf(1), High: math.Inf(-1)}
		for k, name := range names {
			if a.isNumber && len(name) > 6 && !strings.Contains(name, " ") {
				name = rounded(a.number(k), 4)
			}
			if mean := sum[k] / count[k]; mean < b.Low {
				b.Low, b.From = mean, name
			}
			if mean := sum[k] / count[k]; mean > b.High {
				b.High, b.To = mean, name
			}
		}
		bars = append(bars, b)
	}
	if n == 0 {
		return nil
	}
	slices.SortStableFunc(bars, func(a, b figure.Bar) int { return cmp.Compare(b.High-b.Low, a.High-a.Low) })
	f := &figure.Figure{Title: s.title, Subtitle: "bars: from the lowest to the highest mean of the levels of one factor, over all levels of the others; dashed: mean of all points", Narrow: true}
	p, from, until := figure.TornadoPanel(bars, total/float64(n))
	f.Panels = []*figure.Panel{p}
	margin := max((until-from)*0.35, until*0.02) // for the names of the levels
	f.SetX(until+margin, s.label, figure.Ticks(until+margin, 6, nil))
	if least := from - margin; least > until/4 {
		p.X.Min, p.X.Tick.Marker = least, plot.ConstantTicks(figure.MarksBetween(least, until+margin))
	}
	return f
}

// groups divides the levels: each by itself, or the thirds of many numbers.
func (a *axis) groups() (ofLevel func(level int) int, names []string) {
	const many = 12
	if !a.isNumber || a.Count <= many {
		return func(level int) int { return level }, a.values()
	}
	rank, inOrder := a.sorted()
	third := func(level int) int { return 3 * rank(level) / a.Count }
	for g := range 3 {
		first, last := inOrder((g*a.Count+2)/3), inOrder(((g+1)*a.Count+2)/3-1)
		names = append(names, rounded(a.number(first), 4)+" to "+rounded(a.number(last), 4))
	}
	return third, names
}

// rounded writes a number for people, rounded to a number of significant digits.
func rounded(v float64, digits int) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return text.Group(strconv.FormatFloat(v, 'f', -1, 64))
}

// sorted returns the rank of each level by its number, and the level of each rank.
func (a *axis) sorted() (rank, level func(int) int) {
	same := func(k int) int { return k }
	if a.ascends {
		return same, same
	}
	order, ranks := make([]int, a.Count), make([]int, a.Count)
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(a.number(x), a.number(y)) })
	for k, level := range order {
		ranks[level] = k
	}
	return func(level int) int { return ranks[level] }, func(rank int) int { return order[rank] }
}
