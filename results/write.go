package results

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
)

// Write writes all files of a run except the table of attempts.
func (r *Run) Write(d resultdir.Target) error {
	w := resultdir.Writer{Dir: d}
	s := subject{title: r.title(), runs: []*Run{r}, answers: r.answers()}
	drawn := figure.Pictures{Labels: r.Labels}
	if !r.NoPlots {
		s.begin(&drawn)
	}
	w.Write(JobsName, func(to io.Writer) error { return writeJobs(to, r.Predictions[0].Jobs) })
	w.Write(ResourcesName, func(to io.Writer) error { return writeResources(to, r.usage()) })
	if y := r.Stats.onYARN; y != nil {
		w.Write(ContainersName, WriteTable(y.ContainerTable()))
		w.Write(applicationsName, WriteTable(y.ApplicationTable()))
		w.Write(queuesName, WriteTable(r.Stats.use.table()))
	}
	w.Write(SummaryName, r.Summary().WriteJSON)
	w.Write(predictionsName, s.answers.WriteCSV)
	if rows := r.Replayed(); len(rows) > 0 {
		w.Write(replayName, writeRows(rows))
	}
	drawn.Write(&w)
	return w.Err
}

// usage returns the use of the slots, then that of the devices.
func (r *Run) usage() iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		going := true
		r.Stats.SlotUsage()(func(u Usage) bool {
			going = yield(u)
			return going
		})
		if going {
			deviceUsage(r.Predictions[0].Devices, yield)
		}
	}
}

// Write writes the files of a comparison.
func (c *Comparison) Write(d resultdir.Target) error {
	w := resultdir.Writer{Dir: d}
	s := subject{title: text.Escape(c.Title), runs: c.Runs, answers: c.answers()}
	var drawn figure.Pictures
	if len(c.Runs) > 0 {
		drawn.Labels = c.Runs[0].Labels
	}
	if !slices.ContainsFunc(c.Runs, func(r *Run) bool { return r.NoPlots }) {
		s.begin(&drawn)
	}
	w.Write(ComparisonName, func(to io.Writer) error { return resultdir.WriteJSON(to, c.summaries()) })
	w.Write(predictionsName, s.answers.WriteCSV)
	if jobs := c.jobs(); len(jobs) > 0 {
		w.Write(comparedJobsName, writeRows(jobs))
	}
	if w.Err == nil {
		w.Err = c.Points.Write(d)
	}
	drawn.Write(&w)
	return w.Err
}

// WriteJSON writes comparison.json.
func (c *Comparison) WriteJSON(w io.Writer) error { return resultdir.WriteJSON(w, c.summaries()) }

// WriteAnswers writes the answers of simulation and models as one JSON object, and the
// rows of summary.csv if there are several runs or replications; of two runs also the
// times of their jobs.
func (c *Comparison) WriteAnswers(w io.Writer) error {
	var metrics []map[string]any
	if !c.Points.Single() {
		metrics = c.Points.Objects()
	}
	return c.answers().writeJSON(w, metrics, c.jobs())
}

// WriteText writes the runs, and the predictions of models for them, for
// people.
func (c *Comparison) WriteText(w io.Writer, colour bool) error {
	if err := compareText(w, c.summaries(), colour); err != nil {
		return err
	}
	if err := c.jobsText(w, colour); err != nil {
		return err
	}
	if c.Points.Replicated() || c.Points != nil && c.Points.Metrics.Asked != nil {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := c.Points.WriteText(w, colour); err != nil {
			return err
		}
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
