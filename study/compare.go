package study

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
)

// simulation is the name under which the simulator answers.
const simulation = "simulation"

// Comparing selects the subjects of a comparison and its options.
type Comparing struct {
	Options
	Models    []analytic.Predictor // nil: those of each scenario
	Measured  *Measured            // recorded runs; nil: none
	Over      []string             // one KEY=FROM:TO:STEP or KEY=VALUE,VALUE; empty: nothing varies
	Baseline  string               // scenario or model with which the others are compared; empty: the simulation
	Causes    bool                 // attribute the gap between simulation and models to causes
	FailAbove float64              // relative difference above which Above lists an answer
}

// Compared is a comparison with its inputs.
type Compared struct {
	*results.Comparison
	Study *Study   // the first scenario, with the inputs of all
	Above []string // answers that differ from the baseline by more than FailAbove
}

// comparedRun is one run of a comparison.
type comparedRun struct {
	study *Study
	run   int
	at    float64 // value of the varied key
	over  string  // the same as text

	models []analytic.Predictor
}

func (c *comparedRun) question() *model.WhatIf { return &c.study.Scenario.Runs[c.run].Question }

func (c *comparedRun) levels() []scenarios.Level { return c.study.Scenario.Runs[c.run].Levels }

// Compare simulates scenarios, asks every analytic model about them, and sets
// the answers side by side. Warn is called with the warnings of the scenarios
// before they are simulated; it may be nil.
func Compare(names []string, k Comparing, warn func([]string)) (*Compared, error) {
	over, err := parseOver(k.Over)
	if err != nil {
		return nil, err
	}
	all, err := k.openAll(names, over)
	if err != nil {
		return nil, err
	}
	c := &results.Comparison{Title: all[0].study.Scenario.Title, Answers: &results.Answers{Reference: simulation}}
	if len(names) > 1 {
		c.Title = strings.Join(names, ", ")
	}
	if over.numeric {
		c.Answers.Over = over.key
	}
	toScenario, err := k.chooseBaseline(all, c.Answers)
	if err != nil {
		return nil, err
	}
	if warn != nil {
		warnings := map[string]int{}
		for i := range all {
			if i == 0 || all[i].study != all[i-1].study {
				for _, w := range all[i].study.Scenario.Warnings {
					warnings[w]++
				}
			}
		}
		warn(counted(warnings, "scenario"))
	}
	if err := k.simulate(all, c); err != nil {
		return nil, err
	}
	c.Points = pointsOf(all, over.key, c.Runs)
	c.Points.Metrics = k.Metrics
	done := &Compared{Comparison: c, Study: joined(all), Above: c.Answers.Above(k.FailAbove)}
	if toScenario {
		done.Above = aboveFirst(c.Runs, k.FailAbove)
	}
	return done, nil
}

// openAll opens every scenario with every value of the varied key. A result is
// simulated as it was made, if that can be done again; otherwise its attempts are
// replayed.
func (k *Comparing) openAll(names []string, over variedKey) ([]comparedRun, error) {
	var all []comparedRun
	labels := map[string]bool{}
	for _, name := range names {
		var notMade error
		if k.asMade(name) && over.key == "" {
			var made *Study
			var run int
			if made, run, notMade = studyOf(name, k.Options); notMade == nil {
				made.Scenario.Runs[run].Question.Name = name
				all = append(all, comparedRun{study: made, run: run, models: k.Models})
				continue
			}
		}
		base, err := Open(name, k.Options)
		if err != nil {
			return nil, err
		}
		if notMade != nil {
			base.Scenario.Warnings = append(base.Scenario.Warnings, fmt.Sprintf("%s: %v: its attempts are replayed, which can differ from the result", name, notMade))
		}
		for _, v := range over.values {
			s := base
			if over.key != "" {
				with := k.Options
				with.Set = append(slices.Clone(with.Set), settings(over.key, v.text, base.Scenario.Tables)...)
				if s, err = Open(name, with); err != nil {
					return nil, err
				}
			}
			for r := range s.Scenario.Runs {
				q := &s.Scenario.Runs[r].Question
				if over.key != "" {
					q.Name += " " + over.key + "=" + v.text
				}
				if labels[q.Name] {
					q.Name = name + " " + q.Name
				}
				labels[q.Name] = true
				all = append(all, comparedRun{s, r, v.at, v.text, k.Models})
			}
		}
	}
	if k.Models != nil {
		return all, nil
	}
	read := map[string][]analytic.Predictor{} // by the files, which most scenarios share
	for i := range all {
		files := fmt.Sprint(all[i].study.Scenario.Models)
		if read[files] == nil {
			models, err := all[i].study.Models()
			if err != nil {
				return nil, err
			}
			read[files] = models
		}
		all[i].models = read[files]
	}
	return all, nil
}

// chooseBaseline finds the baseline: a model, or a scenario, which then becomes
// the first.
func (k *Comparing) chooseBaseline(all []comparedRun, answers *results.Answers) (toScenario bool, err error) {
	if k.Baseline == "" || k.Baseline == simulation {
		return false, nil
	}
	if k.Measured != nil && k.Baseline == measured {
		answers.Reference = measured
		return false, nil
	}
	known := []string{simulation}
	if k.Measured != nil {
		known = append(known, measured)
	}
	for _, m := range analytic.Models {
		if known = append(known, m.Name); m.Name == k.Baseline {
			answers.Reference = m.Name
			return false, nil
		}
	}
	for i := range all {
		name := all[i].question().Name
		if known = append(known, name); name == k.Baseline {
			all[0], all[i] = all[i], all[0]
			return true, nil
		}
	}
	return false, fmt.Errorf("--baseline %s: no such scenario or model%s", k.Baseline, input.Suggest(k.Baseline, known))
}

// simulate answers all questions, several at a time.
func (k *Comparing) simulate(all []comparedRun, c *results.Comparison) error {
	c.Runs = make([]*results.Run, len(all))
	answers := make([][]results.Answer, len(all))
	var group errgroup.Group
	group.SetLimit(k.workers())
	for i := range all {
		group.Go(func() (err error) {
			c.Runs[i], err = k.replicate(&all[i])
			if err != nil {
				return err
			}
			answers[i], err = k.answers(&all[i], c.Runs[i], c.Answers.Reference)
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

// replicate simulates one run with all its replications.
func (k *Comparing) replicate(c *comparedRun) (*results.Run, error) {
	run := c.study.newRun(c.run)
	run.Title = run.Question.Name
	for i := range run.Predictions {
		if err := c.study.simulateOne(run, c.run, i, &attemptTable{}, nil); err != nil {
			return nil, err
		}
	}
	run.Calibrations = make([]model.Prediction, len(c.study.alternatives))
	for i := range run.Calibrations {
		if err := c.study.simulateAlternative(run, c.run, i); err != nil {
			return nil, err
		}
	}
	run.Spread()
	return run, nil
}

// pointsOf are the runs as points of a study whose factors are the varied key
// and the keys that the scenarios vary.
func pointsOf(all []comparedRun, over string, runs []*results.Run) *points.Points {
	var keys []string
	if over != "" {
		keys = append(keys, over)
	}
	for i := range all {
		for _, level := range all[i].levels() {
			if !slices.Contains(keys, level.Key) {
				keys = append(keys, level.Key)
			}
		}
	}
	p := points.NewPoints(keys)
	for i := range all {
		values := make([]string, len(keys))
		if over != "" {
			values[0] = all[i].over
		}
		for _, level := range all[i].levels() {
			values[slices.Index(keys, level.Key)] = level.Text
		}
		p.Add(all[i].study.Scenario.Name, values, 0, runs[i].Replicated)
	}
	return p
}

// maxAttributedTasks is the number of tasks up to which a gap is attributed to
// causes, which takes several simulations.
const maxAttributedTasks = 100_000

// answers lists the answers of the simulator and the models for one run, each
// with its gap to the simulation.
func (k *Comparing) answers(c *comparedRun, run *results.Run, reference string) ([]results.Answer, error) {
	q := c.question()
	list := []results.Answer{{Scenario: q.Name, Prediction: run.Mean(), At: c.at, Replications: len(run.Predictions)}}
	if simulated := &list[0].Prediction; len(simulated.Phases) == 0 {
		simulated.Phases = run.Stats.MeanPhases()
	}
	if k.Measured != nil {
		x := k.Measured.answer(q)
		x.At = c.at
		list = append(list, x)
	}
	worlds, err := c.worlds(run)
	if err != nil {
		return nil, err
	}
	for _, m := range c.models {
		x, err := askOne(q, m)
		if err != nil {
			return nil, err
		}
		x.At = c.at
		if x.Err == nil && k.Causes && !c.study.Scenario.Models.NoCauses && reference == simulation && q.Tasks() <= maxAttributedTasks {
			if x.Gap, err = attribute(worlds, &m.Model, list[0].Prediction.Mean, x.Prediction.Mean); err != nil {
				return nil, fmt.Errorf("%s: %w", q.Name, err)
			}
		}
		list = append(list, x)
	}
	return list, nil
}

// replicatedWorld is the question of one replication, with its makespans by the set
// of causes that are off.
type replicatedWorld struct {
	question  *model.WhatIf
	makespans map[uint]time.Duration
}

// worlds returns the replications of a run with nothing switched off.
func (c *comparedRun) worlds(run *results.Run) ([]replicatedWorld, error) {
	var all []replicatedWorld
	for i := range run.Predictions {
		s, err := c.study.replication(i)
		if err != nil {
			return nil, err
		}
		all = append(all, replicatedWorld{&s.Runs[c.run].Question, map[uint]time.Duration{0: run.Predictions[i].Mean}})
	}
	return all, nil
}

// attribute splits the gap between a model's answer and the simulation's mean. It
// switches off in each replication one cause after another that the model leaves
// out. The rest is the model's own error.
func attribute(worlds []replicatedWorld, by *analytic.Model, simulated, predicted time.Duration) ([]results.GapPart, error) {
	var parts []results.GapPart
	for i := range worlds {
		q := worlds[i].question
		off, now, world, n := uint(0), worlds[i].makespans[0], *q, 0
		for c := range analytic.NumCauses {
			if by.AccountsFor(q, c) || c == analytic.Contention && q.Fidelity != model.Device {
				continue
			}
			off |= 1 << c
			world = analytic.Without(world, c)
			next, known := worlds[i].makespans[off]
			if !known {
				p, err := predict(sim.Simulator{}, &world)
				if err != nil {
					return nil, fmt.Errorf("without %s: %w", c, err)
				}
				next = p.Mean
				worlds[i].makespans[off] = next
			}
			if i == 0 {
				parts = append(parts, results.GapPart{Cause: c.String()})
			}
			parts[n].Time += now - next
			now, n = next, n+1
		}
	}
	rest := simulated - predicted
	for i := range parts {
		parts[i].Time /= time.Duration(len(worlds))
		rest -= parts[i].Time
	}
	return append(parts, results.GapPart{Cause: "unexplained (model error)", Time: rest}), nil
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

// joined returns the first study with the inputs of all.
func joined(all []comparedRun) *Study {
	s := *all[0].study
	first := *s.Scenario
	first.Inputs = slices.Clone(first.Inputs)
	for i := range all {
		first.AddInputs(all[i].study.Scenario.Inputs)
	}
	s.Scenario = &first
	return &s
}
