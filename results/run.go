package results

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/slotwave/slotwave/model"
)

// Names of the files of a result, but for its pictures.
const (
	AttemptsName    = "attempts.csv"
	JobsName        = "jobs.csv"
	ResourcesName   = "resources.csv"
	SummaryName     = "summary.json"
	PredictionsName = "predictions.csv"
	ComparisonName  = "comparison.json"
)

// Run is one simulated question with everything that is shown of it.
type Run struct {
	Title       string // one line for people; empty: the question's name
	Question    *model.WhatIf
	Predictions []model.Prediction // the simulator's, one per replication; at least one
	Stats       *Stats             // of the first replication, which the tables and pictures show
	Models      []Answer           // what other models say to the same question
}

// Write writes all files of a run but the table of attempts.
func (r *Run) Write(d Target) error {
	w := fileWriter{dir: d}
	w.write(JobsName, func(to io.Writer) error { return WriteJobs(to, r.Predictions[0].Jobs) })
	w.write(ResourcesName, func(to io.Writer) error { return WriteResources(to, r.usage()) })
	w.write(SummaryName, r.Summary().WriteJSON)
	if r.Stats.rows > 0 {
		runs := []*Run{r}
		w.charts(r.title(), runs)
		if r.Stats.chart.coloursJobs() {
			w.draw("execution-jobs", executionFigure(r.title(), runs, bySlotJob), vector(runs))
		}
	}
	w.answers(r.title(), r.answers())
	return w.err
}

// answers are the predictions of the simulator and of the other models.
func (r *Run) answers() *Answers {
	a := &Answers{Reference: r.Predictions[0].Model}
	a.List = append(a.List, Answer{Scenario: r.Question.Name, Prediction: r.Predictions[0]})
	a.List = append(a.List, r.Models...)
	return a
}

// usage is the use of the slots, then that of the devices.
func (r *Run) usage() iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		for u := range r.Stats.SlotUsage() {
			if !yield(u) {
				return
			}
		}
		deviceUsage(r.Predictions[0].Devices, yield)
	}
}

// Comparison is several runs, or one run and what models predict for it, side
// by side.
type Comparison struct {
	Title   string
	Runs    []*Run
	Answers *Answers // nil: those of the runs
}

// Write writes the files of a comparison.
func (c *Comparison) Write(d Target) error {
	w := fileWriter{dir: d}
	w.write(ComparisonName, func(to io.Writer) error { return writeJSON(to, c.summaries()) })
	const legible = 6 // panels over one another
	if len(c.Runs) <= legible && slices.ContainsFunc(c.Runs, func(r *Run) bool { return r.Stats.rows > 0 }) {
		w.charts(Escape(c.Title), c.Runs)
	}
	w.answers(Escape(c.Title), c.answers())
	return w.err
}

// WriteJSON writes the comparison as it stands in comparison.json.
func (c *Comparison) WriteJSON(w io.Writer) error { return writeJSON(w, c.summaries()) }

// WriteText writes the runs, and what models predict for them, for a person.
func (c *Comparison) WriteText(w io.Writer, colour bool) error {
	if err := compareText(w, c.summaries(), colour); err != nil {
		return err
	}
	answers := c.answers()
	if !answers.compared() {
		return nil
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return answers.WriteText(w, colour)
}

func (c *Comparison) summaries() []*Summary {
	all := make([]*Summary, len(c.Runs))
	for i, r := range c.Runs {
		all[i] = r.Summary()
	}
	return all
}

func (c *Comparison) answers() *Answers {
	if c.Answers != nil {
		return c.Answers
	}
	all := &Answers{}
	for _, r := range c.Runs {
		a := r.answers()
		all.Reference = a.Reference
		all.List = append(all.List, a.List...)
	}
	return all
}

// fileWriter writes files one after another until the first error.
type fileWriter struct {
	dir Target
	err error
}

func (w *fileWriter) write(name string, content func(io.Writer) error) {
	if w.err == nil {
		w.err = w.dir.Write(name, content)
	}
}

// draw writes a figure as PNG and, where it holds no raster, as SVG.
func (w *fileWriter) draw(name string, f *figure, vector bool) {
	w.write(name+".png", f.WritePNG)
	if vector {
		w.write(name+".svg", f.WriteSVG)
	}
}

// answers writes what models predict, and draws it where there is something to
// compare it with.
func (w *fileWriter) answers(title string, a *Answers) {
	w.write(PredictionsName, a.WriteCSV)
	switch {
	case a.Over != "" && (a.Reference == "" || a.compared()):
		w.draw("sweep", sweepFigure(title, a), true)
	case a.compared() || a.Reference == "" && len(a.set().rows) <= maxPredictionRows && len(a.set().points) > 0:
		w.draw("prediction", predictionFigure(title, a), a.few())
	}
}

// charts writes the pictures that one run and a comparison have in common.
func (w *fileWriter) charts(title string, runs []*Run) {
	w.draw("execution", executionFigure(title, runs, bySlot), vector(runs))
	if vector(runs) {
		w.draw("execution-attempts", executionFigure(title, runs, byAttempt), true)
	}
	w.draw("slots", slotsFigure(title, runs), true)
}
