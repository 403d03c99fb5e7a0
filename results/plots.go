package results

import (
	"slices"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/workload"
)

// subject is the content of pictures: the runs of one question or of several,
// and the predictions of models.
type subject struct {
	title   string
	runs    []*Run
	answers *Answers
}

// plotEntry is a picture of a result. To add one, write a function that returns
// a figure, and add a line to plots.
type plotEntry struct {
	name  string
	about string // for docs/results.md
	when  func(*subject) bool
	draw  func(*subject) *figure.Figure
}

// These limit the number of runs that are legible side by side.
const (
	mostCharts = 6
	mostSlots  = 15
)

var plots = []plotEntry{
	{"execution", "one line per slot, coloured by phase",
		func(s *subject) bool { return s.ran(mostCharts) },
		func(s *subject) *figure.Figure { return executionFigure(s.title, s.runs, bySlot) }},
	{"execution-jobs", "the same coloured by job, for 2 to 12 jobs that all runs have",
		func(s *subject) bool { return s.ran(mostCharts) && s.sameJobs() },
		func(s *subject) *figure.Figure { return executionFigure(s.title, s.runs, bySlotJob) }},
	{"execution-attempts", "one line per attempt in order of start; left out above 24,000 bars",
		func(s *subject) bool { return s.ran(mostCharts) && vector(s.runs) },
		func(s *subject) *figure.Figure { return executionFigure(s.title, s.runs, byAttempt) }},
	{"slots", "slots in use and waiting tasks over time",
		func(s *subject) bool { return s.ran(mostSlots) && !s.onYARN(anyRun) },
		func(s *subject) *figure.Figure { return slotsFigure(s.title, s.runs) }},
	{"containers", "of a cluster on YARN, in place of `slots.png`: memory in use by queue and waiting tasks over time",
		func(s *subject) bool { return len(s.runs) <= mostSlots && s.onYARN(allRuns) },
		func(s *subject) *figure.Figure { return containersFigure(s.title, s.runs) }},
	{"differences", "of several runs: the figures that differ, with a bar for each run",
		func(s *subject) bool { return len(s.runs) > 1 && s.ran(mostBars) },
		func(s *subject) *figure.Figure { return differencesFigure(s.title, s.runs) }},
	{"spills", "of one run: spill files, merge passes and spilled records of the jobs that spilled most",
		func(s *subject) bool { return len(s.runs) == 1 && len(s.runs[0].spills()) > 0 },
		func(s *subject) *figure.Figure { return spillsFigure(s.title, s.runs[0].spills()) }},
	{"replay", "simulated over recorded time of each job, with the diagonal",
		func(s *subject) bool { return len(s.runs) == 1 && len(s.runs[0].Replayed()) > 0 },
		func(s *subject) *figure.Figure { return replayFigure(s.title, s.runs[0]) }},
	{"sweep", "of `compare --over` with numbers, in place of `prediction.png`: makespan over the values of the key",
		func(s *subject) bool { return s.answers.swept() },
		func(s *subject) *figure.Figure { return sweepFigure(s.title, s.answers) }},
	{"prediction", "models compared with the simulation, with their bounds",
		func(s *subject) bool { return !s.answers.swept() && s.answers.shown() },
		func(s *subject) *figure.Figure { return predictionFigure(s.title, s.answers) }},
	{"phases", "of one scenario: mean time of a task's phases in the simulation and in each model, as stacked bars",
		func(s *subject) bool { return len(s.answers.phased()) > 0 },
		func(s *subject) *figure.Figure { return phasesFigure(s.title, s.answers.phased()) }},
}

// ran reports whether there are at most the given number of runs, and anything
// ran.
func (s *subject) ran(most int) bool {
	return len(s.runs) <= most && slices.ContainsFunc(s.runs, func(r *Run) bool { return r.Stats.rows > 0 })
}

// The runs of a subject that onYARN asks about.
const (
	anyRun  = false
	allRuns = true
)

// onYARN reports whether any run, or each, is of a cluster on YARN.
func (s *subject) onYARN(all bool) bool {
	slots := func(r *Run) bool { return r.Stats.use == nil }
	if all {
		return !slices.ContainsFunc(s.runs, slots)
	}
	return slices.ContainsFunc(s.runs, func(r *Run) bool { return !slots(r) })
}

// sameJobs reports whether all runs have the same jobs, and colours for them.
func (s *subject) sameJobs() bool {
	first := s.runs[0].Question.Jobs
	return !slices.ContainsFunc(s.runs, func(r *Run) bool {
		return !r.Stats.chart.coloursJobs() || !slices.EqualFunc(r.Question.Jobs, first, func(a, b workload.Job) bool { return a.ID == b.ID })
	})
}

// begin starts to draw the pictures of a subject in the background.
func (s *subject) begin(p *figure.Pictures) {
	var names []string
	var figures []*figure.Figure
	for _, one := range plots {
		if one.when(s) {
			names, figures = append(names, one.name), append(figures, one.draw(s))
		}
	}
	p.Draw(names, figures)
}

// compared reports whether a model has answered in addition to the reference.
func (a *Answers) compared() bool {
	for i := range a.List {
		x := &a.List[i]
		if x.Err == nil && x.Prediction.Model != a.Reference && a.reference(x.Scenario) != nil {
			return true
		}
	}
	return false
}

// swept reports whether answers vary over a swept key and can be drawn as
// lines.
func (a *Answers) swept() bool { return a.Over != "" && (a.Reference == "" || a.compared()) }

// shown reports whether predictions are drawn: with a reference, or side by
// side if they are few.
func (a *Answers) shown() bool {
	return a.compared() || a.Reference == "" && len(a.set().rows) <= maxPredictionRows && len(a.set().points) > 0
}
