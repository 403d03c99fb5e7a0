package results

import (
	"slices"
	"time"

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
	var unit figure.TimeUnit // is known when they are drawn
	for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		var rows [][numPhases]time.Duration
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
				rows, names = append(rows, row), append(names, text.Escape(p.Model))
			}
		}
		if len(rows) == 0 {
			continue
		}
		p := figure.RowsPanel(names, 24)
		p.Heading = kind.String()
		p.Add(figure.Drawing(func(c draw.Canvas, x, y func(float64) vg.Length) {
			for i := range rows {
				end := time.Duration(0)
				for ph, t := range rows[i] {
					if t == 0 {
						continue
					}
					bar := figure.Row(x(unit.Of(int64(end))), x(unit.Of(int64(end+t))), y, i, 0.18)
					end += t
					c.SetColor(figure.PhaseColours[ph])
					c.Fill(bar.Path())
				}
			}
		}))
		f.Panels = append(f.Panels, p)
	}
	unit = figure.UnitFor(longest)
	slices.Sort(used)
	for _, ph := range used {
		f.Legend = append(f.Legend, figure.LegendEntry{Label: phaseLabel(int(ph)), Sample: figure.Filled(figure.PhaseColours[ph])})
	}
	f.SetTime(int64(float64(longest)*1.03), unit)
	return f
}
