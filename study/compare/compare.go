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
	list := []results.Answer{{Scenario: q.Name, Prediction: run.Mean(), At: c.At, Replications: len(run.Predictions)}}
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
			if x.Gap, err = attribute(worlds, &m.Model, list[0].Prediction.Mean, &x.Prediction); err != nil {
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

// attribute splits the gap between a model's answer and the simulation's mean. It
// switches off in each replication one cause after another that the model leaves
// out. Of the rest, it gives each phase by how much its mean differs, over the waves
// of its tasks, if that explains some of it. What is left is the model's own error.
func attribute(worlds []replicatedWorld, by *analytic.Model, simulated time.Duration, predicted *model.Prediction) ([]results.GapPart, error) {
	var parts []results.GapPart
	var last simulatedAnswer // of the first replication
	for i := range worlds {
		q := worlds[i].question
		now := worlds[i].answers[0]
		off, world, n := uint(0), *q, 0
		for _, c := range analytic.Causes(q) {
			if by.AccountsFor(q, c) || c == analytic.Contention && q.Fidelity != model.Device {
				continue
			}
			off |= 1 << c
			before := world
			world = analytic.Without(world, c)
			next, known := worlds[i].answers[off]
			if !known {
				p, stats, err := study.Simulate(&world)
				switch {
				case errors.As(err, new(*sim.Stalled)): // a queue has no whole slot in the ideal release
					world, next = before, now
				case err != nil:
					return nil, fmt.Errorf("without %s: %w", c, err)
				default:
					next = simulatedAnswer{p.Mean, stats.MeanPhases()}
				}
				worlds[i].answers[off] = next
			}
			if i == 0 {
				parts = append(parts, results.GapPart{Cause: c.String()})
			}
			parts[n].Time += now.makespan - next.makespan
			now, n = next, n+1
		}
		if i == 0 {
			last = now
		}
	}
	rest := simulated - predicted.Mean
	for i := range parts {
		parts[i].Time /= time.Duration(len(worlds))
		rest -= parts[i].Time
	}
	phases, left := phaseGaps(worlds[0].question, last.phases, predicted.Phases), rest
	for _, p := range phases {
		left -= p.Time
	}
	if left.Abs() < rest.Abs() { // not in a model whose phases overlap
		parts, rest = append(parts, phases...), left
	}
	return append(parts, results.GapPart{Cause: "unexplained (model error)", Time: rest}), nil
}

// phaseGaps compares the phases of a model with the simulated ones. A simulated phase
// that the model does not have belongs to the one before it, or to the first. The
// start of the JVM and the commit are left out: models have them in the protocol.
func phaseGaps(q *model.WhatIf, simulated, predicted []model.PhaseTime) (parts []results.GapPart) {
	slots, tasks := q.Cluster.Slots(), [2]int{}
	for i := range q.Jobs {
		tasks[workload.Map] += q.Jobs[i].Maps.Count
		tasks[workload.Reduce] += q.Jobs[i].Reduces.Count
	}
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
		waves := float64(tasks[kind]) / float64(max(1, min(slots[kind], tasks[kind])))
		for i := range parts[first:] {
			parts[first+i].Time = time.Duration(float64(parts[first+i].Time) * waves)
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
