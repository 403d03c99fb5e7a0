// Package compare sets scenarios and models side by side.
//
//	Compare -> simulations, models (study/predict)
//	        -> results.Comparison    with the gap to each model split by cause
//	Explain -> Why                   two scenarios in pairs of runs with the same seeds
package compare

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/predict"
	"github.com/slotwave/slotwave/workload"
)

// Simulation is the name under which the simulator answers.
const Simulation = "simulation"

// Options selects the subjects of a comparison and its options.
type Options struct {
	study.Options
	Models    []analytic.Predictor // nil: those of each scenario
	Baseline  string               // scenario or model with which the others are compared; empty: the simulation
	Causes    bool                 // attribute the gap between simulation and models to causes
	FailAbove float64              // relative difference above which Above lists an answer
	Progress  study.SweepProgress  // counts answers of the simulator and the models; nil: nobody is told
}

// Compared is a comparison with its inputs.
type Compared struct {
	*results.Comparison
	Study *study.Study // the first scenario, with the inputs of all
	Above []string     // answers that differ from the baseline by more than FailAbove
}

// Compare simulates scenarios, asks every analytic model about them, and sets
// the answers side by side. Warn is called with the warnings of the scenarios
// before they are simulated; it may be nil.
func Compare(names []string, k Options, warn func([]string)) (*Compared, error) {
	all, err := k.OpenAll(names, k.Models)
	if err != nil {
		return nil, err
	}
	c := &results.Comparison{Title: all[0].Study.Scenario.Title, Answers: &results.Answers{Reference: Simulation}}
	if len(names) > 1 {
		c.Title = strings.Join(names, ", ")
		if k.Reading.Anonymise {
			c.Title = "Comparison"
		}
	}
	c.Answers.Over = study.Axis(all)
	toScenario, err := k.chooseBaseline(all, c.Answers)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if err = k.Metrics.OfSome(all[i].Question().Jobs); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--metric %w", err)
	}
	if warn != nil {
		warnings := map[string]int{}
		for i := range all {
			if i == 0 || all[i].Study != all[i-1].Study {
				for _, w := range all[i].Study.Scenario.Warnings {
					warnings[w]++
				}
			}
		}
		warn(study.Counted(warnings, "scenario"))
	}
	if err := k.simulate(all, c); err != nil {
		return nil, err
	}
	c.Points = study.PointsOf(all, c.Runs)
	c.Points.Metrics = k.Metrics
	done := &Compared{Comparison: c, Study: study.Joined(all), Above: c.Answers.Above(k.FailAbove)}
	if toScenario {
		done.Above = aboveFirst(c.Runs, k.FailAbove)
	}
	return done, nil
}

// chooseBaseline finds the baseline: a model, or a scenario, which then becomes
// the first.
func (k *Options) chooseBaseline(all []study.Opened, answers *results.Answers) (toScenario bool, err error) {
	if k.Baseline == "" || k.Baseline == Simulation {
		return false, nil
	}
	known := []string{Simulation}
	for _, m := range analytic.Models {
		if known = append(known, m.Name); m.Name == k.Baseline {
			answers.Reference = m.Name
			return false, nil
		}
	}
	for i := range all {
		name := all[i].Question().Name
		if known = append(known, name); name == k.Baseline {
			all[0], all[i] = all[i], all[0]
			return true, nil
		}
	}
	return false, fmt.Errorf("--baseline %s: no such scenario or model%s", k.Baseline, input.Suggest(k.Baseline, known))
}

// simulate answers all questions, several at a time.
func (k *Options) simulate(all []study.Opened, c *results.Comparison) error {
	c.Runs = make([]*results.Run, len(all))
	answers := make([][]results.Answer, len(all))
	total, done := 0, atomic.Int64{}
	for i := range all {
		total += 1 + len(all[i].Models)
	}
	answered := func() { k.Progress.Of(int(done.Add(1)), total, "") }
	var group errgroup.Group
	group.SetLimit(k.NumWorkers())
	for i := range all {
		group.Go(func() (err error) {
			c.Runs[i], err = all[i].Study.Repeat(all[i].Run)
			if err != nil {
				return err
			}
			answered()
			answers[i], err = k.answers(&all[i], c.Runs[i], c.Answers.Reference, answered)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i := range answers {
		c.Answers.List = append(c.Answers.List, answers[i]...)
	}
	return nil
}

// MaxAttributedTasks is the number of tasks up to which a gap is attributed to
// causes, which takes several simulations.
const MaxAttributedTasks = 100_000

// answers lists the answers of the simulator and the models for one run, each
// with its gap to the simulation. Answered is called after each model.
func (k *Options) answers(c *study.Opened, run *results.Run, reference string, answered func()) ([]results.Answer, error) {
	q := c.Question()
	list := []results.Answer{{Scenario: q.Name, Prediction: run.Mean(), At: c.At, Replications: len(run.Predictions), Over: run.Answer()}}
	if simulated := &list[0].Prediction; len(simulated.Phases) == 0 {
		simulated.Phases = run.Stats.MeanPhases()
	}
	worlds, err := worldsOf(c, run)
	if err != nil {
		return nil, err
	}
	for _, m := range c.Models {
		x, err := predict.AskOne(q, m)
		if err != nil {
			return nil, err
		}
		x.At = c.At
		if x.Err == nil && k.Causes && !c.Study.Scenario.Models.NoCauses && reference == Simulation && q.Tasks() <= MaxAttributedTasks {
			if x.Gap, err = attribute(worlds, &m, list[0].Prediction.Mean, &x.Prediction); err != nil {
				return nil, fmt.Errorf("%s: %w", q.Name, err)
			}
		}
		list = append(list, x)
		answered()
	}
	return list, nil
}

// replicatedWorld is the question of one replication, with its answers by the set of
// causes that are off.
type replicatedWorld struct {
	question *model.WhatIf
	answers  map[uint]simulatedAnswer
}

// simulatedAnswer is a makespan, with the mean times of the phases of tasks.
type simulatedAnswer struct {
	makespan time.Duration
	phases   []model.PhaseTime
}

// worldsOf returns the replications of a run with nothing switched off.
func worldsOf(c *study.Opened, run *results.Run) ([]replicatedWorld, error) {
	var all []replicatedWorld
	for i := range run.Predictions {
		s, err := c.Study.Replication(i)
		if err != nil {
			return nil, err
		}
		with := simulatedAnswer{run.Predictions[i].Mean, run.Stats.MeanPhases()}
		all = append(all, replicatedWorld{&s.Runs[c.Run].Question, map[uint]simulatedAnswer{0: with}})
	}
	return all, nil
}

// answer simulates the question without the causes of a set, once.
func (w *replicatedWorld) answer(off uint, q *model.WhatIf) (simulatedAnswer, error) {
	if a, known := w.answers[off]; known {
		return a, nil
	}
	p, stats, err := study.Simulate(q)
	if err != nil {
		return simulatedAnswer{}, err
	}
	w.answers[off] = simulatedAnswer{p.Mean, stats.MeanPhases()}
	return w.answers[off], nil
}

// attribute splits the gap between a model's answer and the simulation's mean. It
// switches off one cause after another in each replication. The part of a cause is by
// how much the simulated time falls more than the model's. A cause that the model's
// records hold stays on. Of the rest, tailsOf and phaseGaps explain what they can. What
// is left is the model's own error.
func attribute(worlds []replicatedWorld, by *analytic.Predictor, simulated time.Duration, predicted *model.Prediction) ([]results.GapPart, error) {
	var parts [analytic.NumCauses]time.Duration
	accounted := [analytic.NumCauses]bool{}
	var last model.WhatIf // the first replication with all causes off, and its answers
	var end simulatedAnswer
	var endModel *model.Prediction
	for i := range worlds {
		q := worlds[i].question
		now, answer, off, world := worlds[i].answers[0], predicted, uint(0), *q
		for _, c := range analytic.Causes(q) {
			if c == analytic.Contention && q.Fidelity != model.Device {
				accounted[c] = true
				continue
			}
			without, own := analytic.Without(world, c), answer
			if p, err := by.Predict(without); err == nil {
				own = &p
			}
			if accounted[c] = by.AccountsFor(q, c); accounted[c] && own.Mean == answer.Mean {
				continue
			}
			off |= 1 << c
			next, err := worlds[i].answer(off, &without)
			switch {
			case errors.As(err, new(*sim.Stalled)): // a queue has no whole slot in the ideal release
				continue
			case err != nil:
				return nil, fmt.Errorf("without %s: %w", c, err)
			}
			parts[c] += (now.makespan - next.makespan) - (answer.Mean - own.Mean)
			now, answer, world = next, own, without
		}
		if i == 0 {
			last, end, endModel = world, now, answer
		}
	}
	rest := simulated - predicted.Mean
	for c := range parts {
		parts[c] /= time.Duration(len(worlds))
		rest -= parts[c]
	}
	phases := phaseGaps(&last, end.phases, endModel.Phases)
	var t tails
	if len(phases) > 0 {
		t = tailsOf(&last, &end, endModel)
	}
	left := rest - t.lastWaves - t.beyondWaves - t.beyondPhases
	for _, p := range phases {
		left -= p.Time
	}
	if left.Abs() >= rest.Abs() { // a model whose phases overlap
		phases, left, t = nil, rest, tails{}
	}
	parts[analytic.Quantisation] += t.lastWaves
	var list []results.GapPart
	for _, c := range analytic.Causes(worlds[0].question) {
		if parts[c] != 0 || !accounted[c] {
			list = append(list, results.GapPart{Cause: c.String(), Time: parts[c]})
		}
	}
	if t.beyondWaves != 0 {
		list = append(list, results.GapPart{Cause: "simulation beyond whole waves", Time: t.beyondWaves})
	}
	if t.beyondPhases != 0 {
		list = append(list, results.GapPart{Cause: "model beyond its phases", Time: t.beyondPhases})
	}
	return append(append(list, phases...), results.GapPart{Cause: "unexplained (model error)", Time: left}), nil
}

// tails are what jobs take beyond the sum of their tasks over the slots. The last two
// are what is left of an answer, whatever made it: they explain nothing of themselves.
type tails struct {
	lastWaves    time.Duration // do not fill the slots
	beyondWaves  time.Duration // makespan on devices less whole waves of mean tasks
	beyondPhases time.Duration // in a model that answers with the mean of its bounds: the sum of its phases less its answer
}

// tailsOf are those of the simulation less those of the model.
func tailsOf(q *model.WhatIf, simulated *simulatedAnswer, predicted *model.Prediction) (t tails) {
	sum, whole := inWaves(q, simulated.phases)
	t.lastWaves = whole - sum
	if q.Fidelity == model.Device {
		t.beyondWaves = simulated.makespan - whole
	}
	sum, whole = inWaves(q, predicted.Phases)
	if middle := (predicted.Low + predicted.High) / 2; predicted.Low < predicted.High && (predicted.Mean-middle).Abs() <= 1 {
		t.beyondPhases = sum - predicted.Mean
	} else {
		t.lastWaves -= whole - sum
	}
	return t
}

// inWaves is the time of equal tasks: their sum over the slots, and in whole waves.
func inWaves(q *model.WhatIf, phases []model.PhaseTime) (sum, whole time.Duration) {
	waves := wavesOf(q)
	for _, p := range phases {
		sum += time.Duration(float64(p.Time) * waves[p.Kind])
		whole += time.Duration(float64(p.Time) * fit.Ceil(waves[p.Kind]))
	}
	return sum, whole
}

// wavesOf is how often the tasks of a kind fill the slots, or those that they have.
func wavesOf(q *model.WhatIf) (waves [2]float64) {
	slots, tasks := q.Cluster.Slots(), [2]int{}
	for i := range q.Jobs {
		tasks[workload.Map] += q.Jobs[i].Maps.Count
		tasks[workload.Reduce] += q.Jobs[i].Reduces.Count
	}
	for kind, n := range tasks {
		waves[kind] = float64(n) / float64(max(1, min(slots[kind], n)))
	}
	return waves
}

// phaseGaps compares the phases of a model with the simulated ones. A simulated phase
// that the model does not have belongs to the one before it, or to the first. The
// start of the JVM and the commit are left out: models have them in the protocol.
func phaseGaps(q *model.WhatIf, simulated, predicted []model.PhaseTime) (parts []results.GapPart) {
	waves := wavesOf(q)
	for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		first := len(parts)
		var phases []workload.Phase
		for _, p := range predicted {
			if p.Kind == kind {
				phases = append(phases, p.Phase)
				parts = append(parts, results.GapPart{Cause: fmt.Sprintf("%s, %s", kind, p.Phase), Phase: true, Time: -p.Time})
			}
		}
		if len(phases) == 0 {
			continue
		}
		for _, p := range simulated {
			if p.Kind != kind || p.Phase == workload.PhaseStartup || p.Phase == workload.PhaseCommit {
				continue
			}
			of := 0
			for i, ph := range phases {
				if ph <= p.Phase {
					of = i
				}
			}
			parts[first+of].Time += p.Time
		}
		for i := range parts[first:] {
			parts[first+i].Time = time.Duration(float64(parts[first+i].Time) * waves[kind])
		}
	}
	return parts
}

// aboveFirst lists the runs whose makespan differs from the first run's by more
// than the limit.
func aboveFirst(runs []*results.Run, limit float64) []string {
	var list []string
	first := runs[0].Mean().Mean.Seconds()
	for _, r := range runs[1:] {
		if d := r.Mean().Mean.Seconds()/first - 1; math.Abs(d) > limit {
			list = append(list, fmt.Sprintf("%s: %+.1f %%", r.Question.Name, 100*d))
		}
	}
	return list
}
