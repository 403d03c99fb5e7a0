package results

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// chartKind is the meaning of the lines and the colours of an execution chart.
type chartKind uint8

const (
	bySlot    chartKind = iota // a line per slot, coloured by phase
	bySlotJob                  // a line per slot, coloured by job
	byAttempt                  // a line per attempt in order of start, coloured by phase
)

// executionFigure draws the execution chart of one run, or of several runs one
// below the other on the same axes.
func executionFigure(title string, runs []*Run, kind chartKind) *figure.Figure {
	f, room := newOverTime(title, runs, 3)
	f.Subtitle, f.Raster = executionSubtitle(runs, kind), !vector(runs)
	var most [2]int // lanes
	for _, r := range runs {
		for i, n := range r.Stats.chart.lanes(kind) {
			most[i] = max(most[i], n)
		}
	}
	by := byPhase
	switch {
	case kind == bySlotJob:
		by = byJob
	case coarse(runs, f.end):
		by = byStage
	}
	if room = min(room*0.75, max(170, 600/vg.Length(len(runs)))); len(runs) == 1 {
		room = 500
	}
	for k, r := range runs {
		e := r.Stats.chart
		for i, n := range e.lanes(kind) {
			if n == 0 {
				continue
			}
			p := figure.NewPanel(laneHeight(i, most, room), e.laneLabel(kind, i))
			p.Y.Min, p.Y.Max = 0, float64(n)
			p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
			p.Y.Tick.Marker = plot.ConstantTicks(e.laneTicks(kind, i, p))
			l := lanePlotter{e, kind, by, i, f.unit, f.end}
			f.add(k, p, figure.Drawing(l.draw))
		}
		if p := r.devicePanel(f.unit, min(80, room/3)); p != nil {
			f.add(k, p)
		}
	}
	f.Legend = append(executionLegend(runs, by), deviceLegend(runs)...)
	return f.done()
}

// vector reports whether execution charts still have individual bars.
func vector(runs []*Run) bool {
	return !slices.ContainsFunc(runs, func(r *Run) bool { return r.Stats.chart.rasterised() })
}

// coarse reports whether the bars of a raster are too short to distinguish at
// the width of a picture. It then shows stages instead of phases.
func coarse(runs []*Run, end int64) bool {
	return slices.ContainsFunc(runs, func(r *Run) bool {
		e := r.Stats.chart
		if !e.rasterised() {
			return false
		}
		pixels := float64(figure.Width) * figure.PNGDPI / 72 * float64(e.time) / float64(e.bars) / float64(end)
		return e.rasters[byPhase] == nil || pixels < 3
	})
}

func executionSubtitle(runs []*Run, kind chartKind) string {
	word := runs[0].Stats.slots.word
	line := "one line per " + word
	group := 1
	for _, r := range runs {
		if c := r.Stats.chart; c.rasterised() {
			group = max(group, c.rasters[byStage].Group)
		}
	}
	switch {
	case kind == byAttempt:
		line = "one line per attempt, in order of start"
	case group > 1:
		line = fmt.Sprintf("one line per %d %ss; the deeper the colour the busier they are", group, word)
	case !vector(runs):
		line += "; the deeper the colour the busier it is"
	}
	if len(runs) > 1 {
		return line
	}
	return runs[0].clusterText() + "; " + line
}

func executionLegend(runs []*Run, by colouring) []figure.LegendEntry {
	var legend []figure.LegendEntry
	switch by {
	case byJob:
		for i, label := range jobLabels(runs[0].Question.Jobs) {
			legend = append(legend, figure.LegendEntry{Label: label, Sample: figure.Filled(figure.JobColour(i))})
		}
	case byStage:
		for st := range numStages {
			if st != stageOther || slices.ContainsFunc(runs, func(r *Run) bool { return r.Stats.spent(figure.OtherPhase) }) {
				legend = append(legend, figure.LegendEntry{Label: stageLabels[st], Sample: figure.Filled(stageColours[st])})
			}
		}
	case byPhase:
		for p := range numPhases + 1 {
			if slices.ContainsFunc(runs, func(r *Run) bool { return r.Stats.spent(p) }) {
				legend = append(legend, figure.LegendEntry{Label: phaseLabel(p), Sample: figure.Filled(figure.PhaseColours[p])})
			}
		}
	}
	for _, state := range []workload.State{workload.Failed, workload.Killed} {
		if slices.ContainsFunc(runs, func(r *Run) bool { return r.Stats.chart.strikes(state) }) {
			label := "killed attempt"
			if state == workload.Failed {
				label = "failed attempt"
			}
			legend = append(legend, figure.LegendEntry{Label: label, Sample: func(to draw.Canvas) {
				figure.Filled(figure.ColourGuide)(to)
				figure.Stroked(strikeStyle(state))(to)
			}})
		}
	}
	return legend
}

// jobLabels name jobs for people.
func jobLabels(jobs []workload.Job) []string {
	labels := make([]string, len(jobs))
	for i := range jobs {
		label := jobs[i].ID
		if name := jobs[i].Name; name != "" && name != label {
			label += " " + name
		}
		labels[i] = text.Escape(label)
	}
	return text.Apart(labels, 28)
}

func phaseLabel(p int) string {
	if p == figure.OtherPhase {
		return stageLabels[stageOther]
	}
	return workload.Phase(p).String()
}

func phaseLabels() []string {
	labels := make([]string, numPhases+1)
	for p := range labels {
		labels[p] = phaseLabel(p)
	}
	return labels
}

// spent reports whether any attempt spent time in a phase.
func (s *Stats) spent(phase int) bool {
	if phase < numPhases {
		return s.kinds[workload.Map].phases[phase]+s.kinds[workload.Reduce].phases[phase] > 0
	}
	return slices.ContainsFunc(s.kinds[workload.Setup:], func(k kindStats) bool { return k.slotTime() > 0 })
}

func (e *execution) strikes(state workload.State) bool {
	return slices.ContainsFunc(e.kept, func(p placed) bool { return p.state == state })
}

// lanes counts the lines of a chart by section. A section in which nothing ran
// has none.
func (e *execution) lanes(kind chartKind) (n [2]int) {
	for i := range e.slots.idle {
		slots := e.slots.idle[i].slots
		for _, s := range slots {
			if kind == byAttempt {
				n[i] += int(s.ran)
			} else if s.ran > 0 {
				n[i] = len(slots)
			}
		}
	}
	return n
}

// laneHeight is the height of one panel: its share of the lines of a run's panels.
func laneHeight(section int, lanes [2]int, room vg.Length) vg.Length {
	sum := vg.Length(lanes[0] + lanes[1])
	return max(min(sum*8, room)*vg.Length(lanes[section])/sum, min(56, room/4))
}

func (e *execution) laneLabel(kind chartKind, section int) string {
	name := [2]string{"map", "reduce"}[section]
	switch {
	case kind == byAttempt && e.slots.sections == 1:
		return "attempts"
	case kind == byAttempt:
		return name + " attempts"
	case e.slots.sections == 1:
		return e.slots.word + "s by node"
	}
	return name + " slots by node"
}

// laneTicks returns names of nodes, if they fit, or counts of attempts.
func (e *execution) laneTicks(kind chartKind, section int, p *figure.Panel) []plot.Tick {
	const room = 13 // points for one label
	most := max(2, int(p.Height/room))
	if kind == byAttempt {
		return figure.CountTicks(float64(e.lanes(kind)[section]), max(2, most/2))
	}
	var nodes []*nodeSlots
	for i := range e.slots.nodes {
		if n := &e.slots.nodes[i]; n.count[section] > 0 {
			nodes = append(nodes, n)
		}
	}
	each := 1
	for _, step := range []int{2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000} {
		if (len(nodes)+each-1)/each <= most {
			break
		}
		each = step
	}
	var ticks []plot.Tick
	apart := float64(e.slots.count[section]) * room / float64(p.Height)
	add := func(n *nodeSlots, note string) {
		at := float64(n.first[section]) + float64(n.count[section])/2
		if !slices.ContainsFunc(ticks, func(t plot.Tick) bool { return math.Abs(t.Value-at) < apart }) {
			ticks = append(ticks, plot.Tick{Value: at, Label: text.Shorten(text.Escape(n.name), 18) + note})
		}
	}
	for _, n := range slowNodes(nodes) {
		if len(ticks) < most/2 {
			add(n.nodeSlots, fmt.Sprintf(", maps x %.1f", n.times))
		}
	}
	for i := 0; i < len(nodes); i += each {
		add(nodes[i], "")
	}
	return ticks
}

// slowNode is a node whose maps took several times as long as those of most nodes.
type slowNode struct {
	*nodeSlots
	times float64
}

// slowNodes lists the slow nodes, the slowest first.
func slowNodes(nodes []*nodeSlots) (slow []slowNode) {
	const least, fewest = 1.3, 3 // times the median; maps that make a mean, and nodes a median
	var means []float64
	for _, n := range nodes {
		if n.maps >= fewest {
			means = append(means, float64(n.mapTime)/float64(n.maps))
			slow = append(slow, slowNode{n, means[len(means)-1]})
		}
	}
	if len(means) < fewest {
		return nil
	}
	slices.Sort(means)
	median := means[len(means)/2]
	if median == 0 {
		return nil
	}
	for i := range slow {
		slow[i].times /= median
	}
	slow = slices.DeleteFunc(slow, func(n slowNode) bool { return n.times < least })
	slices.SortStableFunc(slow, func(a, b slowNode) int { return cmp.Compare(b.times, a.times) })
	return slow
}

// byLane lists the kept attempts line by line. In a chart of attempts each has
// a line of its own, in order of start.
func (l *lanePlotter) byLane() []placed {
	all := slices.Clone(l.kept)
	if l.kind != byAttempt {
		slices.SortStableFunc(all, func(a, b placed) int {
			return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.from, b.from))
		})
		return all
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.from, b.from) })
	var next [2]int32
	for i := range all {
		p := &all[i]
		p.lane = next[p.section]
		next[p.section]++
	}
	return all
}

// lanePlotter draws one section of an execution chart.
type lanePlotter struct {
	*execution
	kind    chartKind
	by      colouring
	section int
	unit    figure.TimeUnit
	end     int64 // of the axis, ns
}

// draw draws the section. Pixels get ink in proportion to the time that bars cover, so
// that narrow bars keep their weight. A vector picture gets rectangles.
func (l *lanePlotter) draw(c draw.Canvas, x, y func(float64) vg.Length) {
	l.guides(c, y)
	kept := l.byLane()
	if img, ok := figure.Backend(c).(*figure.PNGCanvas); ok {
		l.ink(img, c.Rectangle, kept)
	} else {
		l.fill(c, x, y, kept)
	}
	l.strike(c, x, y, kept)
}

// guides draws lines between the nodes if there is space, so that idle slots
// are visible.
func (l *lanePlotter) guides(c draw.Canvas, y func(float64) vg.Length) {
	if l.kind == byAttempt {
		return
	}
	style := draw.LineStyle{Color: figure.ColourGuide, Width: 0.5}
	for _, n := range l.slots.nodes {
		first, count := n.first[l.section], n.count[l.section]
		if thick := y(0) - y(float64(count)); first > 0 && count > 0 && thick >= 7 {
			c.StrokeLine2(style, c.Min.X, y(float64(first)), c.Max.X, y(float64(first)))
		}
	}
}

// barGap is the gap between an attempt and the next one on its slot, points:
// one pixel of a PNG.
const barGap = 72.0 / figure.PNGDPI

// gap returns barGap in ns. Attempts with lines of their own need no gap.
func (l *lanePlotter) gap(c draw.Canvas) int64 {
	if l.kind == byAttempt {
		return 0
	}
	return int64(barGap * float64(l.end) / float64(c.Max.X-c.Min.X))
}

// fill draws bars as thick lines, all of one colour as one path.
func (l *lanePlotter) fill(c draw.Canvas, x, y func(float64) vg.Length, kept []placed) {
	thick := y(0) - y(1)
	if thick >= 2 {
		thick -= min(thick*0.18, 1.5)
	}
	colours, labels := figure.PhaseColours[:], phaseLabels()
	if l.by == byJob {
		colours, labels = figure.JobColours[:], make([]string, figure.MaxJobColours)
	}
	paths := make([]vg.Path, len(colours))
	add := func(lane int32, from, to int64, colour int) {
		left, right, mid := x(l.unit.Of(from)), x(l.unit.Of(to)), y(float64(lane)+0.5)
		paths[colour].Move(vg.Point{X: left, Y: mid})
		paths[colour].Line(vg.Point{X: right, Y: mid})
	}
	gap := l.gap(c)
	for i := range kept {
		a := kept[i].apart(gap)
		switch {
		case int(a.section) != l.section:
		case l.by == byJob:
			add(a.lane, a.from, a.to, int(a.job)%figure.MaxJobColours)
		default:
			a.each(func(phase int, from, to int64) { add(a.lane, from, to, phase) })
		}
	}
	for i, path := range paths {
		if len(path) > 0 {
			figure.Labelled(c, labels[i])
			c.SetLineStyle(draw.LineStyle{Color: colours[i], Width: thick})
			c.Stroke(path)
		}
	}
	figure.Labelled(c, "")
}

// strike crosses out attempts that failed or were killed.
func (l *lanePlotter) strike(c draw.Canvas, x, y func(float64) vg.Length, kept []placed) {
	gap := l.gap(c)
	for i := range kept {
		a := kept[i].apart(gap)
		if (a.state == workload.Failed || a.state == workload.Killed) && int(a.section) == l.section {
			mid := y(float64(a.lane) + 0.5)
			c.StrokeLine2(strikeStyle(a.state), x(l.unit.Of(a.from)), mid, x(l.unit.Of(a.to)), mid)
		}
	}
}

func strikeStyle(state workload.State) draw.LineStyle {
	if state == workload.Failed {
		return draw.LineStyle{Color: figure.ColourFailed, Width: 1.6}
	}
	return draw.LineStyle{Color: figure.ColourKilled, Width: 1.2, Dashes: []vg.Length{3, 2}}
}

// ink paints the section's raster into the pixels of a rectangle. Attempts that
// are kept individually get a raster of the size of the picture.
func (l *lanePlotter) ink(img *figure.PNGCanvas, rect vg.Rectangle, kept []placed) {
	to := figure.Pixels(img, rect)
	r := l.rasters[l.by]
	if !l.rasterised() {
		var lanes [2]int
		lanes[l.section] = l.lanes(l.kind)[l.section]
		cols := int64(to.Dx())
		r = figure.NewRaster(lanes, to.Dy(), to.Dx(), (l.end+cols-1)/cols)
		gap := r.Width
		if l.kind == byAttempt {
			gap = 0
		}
		for i := range kept {
			if int(kept[i].section) == l.section {
				a := kept[i].apart(gap)
				a.ink(r, l.by)
			}
		}
	}
	r.Draw(img.Image().(*image.RGBA), to, l.section, l.end, l.by == byStage)
}
