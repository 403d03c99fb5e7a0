package results

import (
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// phased returns the answers to one question that state phases, or nil if there are
// several questions or fewer than two such answers.
func (a *Answers) phased() (list []*model.Prediction) {
	for i := range a.List {
		x := &a.List[i]
		if x.Scenario != a.List[0].Scenario {
			return nil
		}
		if x.Err == nil && len(x.Prediction.Phases) > 0 {
			list = append(list, &x.Prediction)
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

// phasesFigure draws the mean phases of a task as a stacked bar for each answer.
func phasesFigure(title string, list []*model.Prediction) *figure.Figure {
	f := &figure.Figure{Title: title, Subtitle: "mean time of a task's phases; a model may count several phases as one"}
	longest := time.Duration(1)
	var used []workload.Phase
	var bars []*phaseBars
	for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		b := &phaseBars{}
		var names []string
		for _, p := range list {
			var row [numPhases]time.Duration
			sum := time.Duration(0)
			for _, ph := range p.Phases {
				if ph.Kind != kind || ph.Time <= 0 {
					continue
				}
				row[ph.Phase] += ph.Time
				sum += ph.Time
				if !slices.Contains(used, ph.Phase) {
					used = append(used, ph.Phase)
				}
			}
			longest = max(longest, sum)
			if sum > 0 {
				b.rows, names = append(b.rows, row), append(names, text.Escape(p.Model))
			}
		}
		if len(b.rows) == 0 {
			continue
		}
		bars = append(bars, b)
		p := figure.RowsPanel(names, 24)
		p.Heading = kind.String()
		p.Add(b)
		f.Panels = append(f.Panels, p)
	}
	unit := figure.UnitFor(longest)
	for _, b := range bars {
		b.unit = unit
	}
	slices.Sort(used)
	for _, ph := range used {
		f.Legend = append(f.Legend, figure.LegendEntry{Label: phaseLabel(int(ph)), Sample: figure.Filled(figure.PhaseColours[ph])})
	}
	f.SetTime(int64(float64(longest)*1.03), unit)
	return f
}

// phaseBars are the bars of one kind of task.
type phaseBars struct {
	rows [][numPhases]time.Duration
	unit figure.TimeUnit
}

// Plot implements plot.Plotter.
func (b *phaseBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i := range b.rows {
		end := time.Duration(0)
		for ph, t := range b.rows[i] {
			if t == 0 {
				continue
			}
			bar := vg.Rectangle{
				Min: vg.Point{X: x(b.unit.Of(int64(end))), Y: y(float64(i) + 0.82)},
				Max: vg.Point{X: x(b.unit.Of(int64(end + t))), Y: y(float64(i) + 0.18)},
			}
			end += t
			c.SetColor(figure.PhaseColours[ph])
			c.Fill(bar.Path())
		}
	}
}
