package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
)

// comparing are the flags of compare.
type comparing struct {
	asked
	knowledge
	over      []string
	baseline  string
	failAbove string
	causes    bool
}

func (a *app) compareCommand() *cobra.Command {
	k := &comparing{}
	c := &cobra.Command{
		Use:   "compare SCENARIO...",
		Short: "Simulate scenarios and put the analytic models beside",
		Long: `Simulate one or several scenarios, ask every analytic model about them, and show
the answers and their differences in one table and on the same plots. The gap
between the simulation and a model is divided among its causes by simulations in
which one cause after another is switched off.

--over varies a key: KEY=FROM:TO:STEP or KEY=VALUE,VALUE... A key without a dot is
one of every [[job]]. A key that [vary] names too takes the values of --over alone.
--fail-above 10% (or 0.1) ends with exit code 4 if a model differs by more from the
simulation, or a scenario from that which --baseline names.`,
		Example: "  slotwave compare two-jobs\n  slotwave compare one.toml two.toml --baseline one --fail-above 10%\n  slotwave compare my.toml --over reduces=8:240:8 --out out/reduces",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.compare(args, k) },
	}
	k.asked.flags(c, "none, nothing is written")
	k.knowledge.flags(c)
	f := c.Flags()
	f.StringArrayVar(&k.over, "over", nil, "`KEY=VALUES` to vary, such as reduces=8:240:8")
	f.StringVar(&k.baseline, "baseline", "", "`NAME` of the scenario, or of the model, that others are measured by (default simulation)")
	f.StringVar(&k.failAbove, "fail-above", "", "`DIFFERENCE` such as 10% above which the exit code is 4")
	f.BoolVar(&k.causes, "causes", true, "divide the gap between simulation and models among its causes")
	return c
}

// compared is a question on its way into a comparison.
type compared struct {
	study *study
	run   int
	at    float64 // value of the swept key
}

func (c *compared) question() *model.WhatIf { return &c.study.first.Runs[c.run].Question }

func (a *app) compare(names []string, k *comparing) error {
	limit, err := parsePart(k.failAbove)
	if err != nil {
		return err
	}
	models, sums, err := k.read()
	if err != nil {
		return err
	}
	over, err := parseOver(k.over)
	if err != nil {
		return err
	}
	all, err := k.cases(names, over)
	if err != nil {
		return err
	}
	c := &results.Comparison{Title: all[0].study.first.Title, Answers: &results.Answers{Reference: simulation}}
	if len(names) > 1 {
		c.Title = strings.Join(names, ", ")
	}
	if over.numeric {
		c.Answers.Over = over.key
	}
	scenario, err := k.measureBy(all, c.Answers)
	if err != nil {
		return err
	}
	if !k.quiet {
		for i := range all {
			a.warn(all[i].study.first.Warnings)
		}
	}
	if err := k.simulate(all, models, c); err != nil {
		return err
	}
	above := c.Answers.Above(limit)
	if scenario {
		above = aboveFirst(c.Runs, limit)
	}
	if k.out != "" {
		write := func(d *results.Dir) error { return c.Write(d) }
		if err := a.keep(joined(all), write, k.repeat(names), sums); err != nil {
			return err
		}
	}
	if err := a.show(&k.asked, c.WriteText, c.Answers.WriteJSON); err != nil {
		return err
	}
	if len(above) > 0 {
		return coded{exitAbove, fmt.Errorf("more than %s apart: %s", k.failAbove, strings.Join(above, "; "))}
	}
	return nil
}

// simulation is the name under which the simulator answers.
const simulation = "simulation"

// cases are all questions: of every scenario, with every value of the swept key.
func (k *comparing) cases(names []string, over overKey) ([]compared, error) {
	var all []compared
	labels := map[string]bool{}
	for _, name := range names {
		base, err := k.open(name)
		if err != nil {
			return nil, err
		}
		for _, v := range over.values {
			s := base
			if over.key != "" {
				with := k.asked
				with.set = append(slices.Clone(with.set), over.settings(v.text, len(base.first.Runs[0].Question.Jobs))...)
				if s, err = with.open(name); err != nil {
					return nil, err
				}
			}
			for r := range s.first.Runs {
				q := &s.first.Runs[r].Question
				if over.key != "" {
					q.Name += " " + over.key + "=" + v.text
				}
				if labels[q.Name] {
					q.Name = name + " " + q.Name
				}
				labels[q.Name] = true
				all = append(all, compared{s, r, v.at})
			}
		}
	}
	return all, nil
}

// measureBy finds what others are measured by: a model, or a scenario, which
// then is the first.
func (k *comparing) measureBy(all []compared, answers *results.Answers) (scenario bool, err error) {
	if k.baseline == "" || k.baseline == simulation {
		return false, nil
	}
	known := []string{simulation}
	for _, m := range analytic.Models {
		if known = append(known, m.Name); m.Name == k.baseline {
			answers.Reference = m.Name
			return false, nil
		}
	}
	for i := range all {
		name := all[i].question().Name
		if known = append(known, name); name == k.baseline {
			all[0], all[i] = all[i], all[0]
			return true, nil
		}
	}
	return false, fmt.Errorf("--baseline %s: no such scenario or model%s", k.baseline, input.Suggest(k.baseline, known))
}

// mostDivided is the number of tasks up to which a gap is divided among causes,
// which takes several simulations.
const mostDivided = 100_000

// simulate answers all questions, several at a time.
func (k *comparing) simulate(all []compared, models []analytic.Predictor, c *results.Comparison) error {
	c.Runs = make([]*results.Run, len(all))
	answers := make([][]results.Answer, len(all))
	var group errgroup.Group
	group.SetLimit(cmp.Or(k.workers, runtime.GOMAXPROCS(0)))
	for i := range all {
		group.Go(func() (err error) {
			c.Runs[i], err = k.examine(&all[i])
			if err != nil {
				return err
			}
			answers[i], err = k.gaps(&all[i], c.Runs[i], models, c.Answers.Reference)
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

// examine simulates one question with all its replications.
func (k *comparing) examine(c *compared) (*results.Run, error) {
	run := &results.Run{Title: c.question().Name, Question: c.question()}
	for i := range k.replications {
		q := c.question()
		if i > 0 {
			s, err := c.study.file.Scenario(k.seedOf(i))
			if err != nil {
				return nil, err
			}
			q = &s.Runs[c.run].Question
		}
		t := &table{}
		p, stats, err := t.fill(q, &progress{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.question().Name, err)
		}
		if i == 0 {
			run.Stats = stats
		}
		run.Predictions = append(run.Predictions, p)
	}
	return run, nil
}

// gaps asks the models, and why the simulation differs from them.
func (k *comparing) gaps(c *compared, run *results.Run, models []analytic.Predictor, reference string) ([]results.Answer, error) {
	q := c.question()
	tasks := 0
	for i := range q.Jobs {
		tasks += q.Jobs[i].Maps.Count + q.Jobs[i].Reduces.Count
	}
	mean := run.Predictions[0].Mean
	list := []results.Answer{{Scenario: q.Name, Prediction: run.Predictions[0], At: c.at}}
	worlds := map[uint]time.Duration{0: mean}
	for _, m := range models {
		x, err := askOne(q, m)
		if err != nil {
			return nil, err
		}
		x.At = c.at
		if x.Err == nil && k.causes && reference == simulation && tasks <= mostDivided {
			if x.Gap, err = divide(q, worlds, &m.Model, x.Prediction.Mean); err != nil {
				return nil, fmt.Errorf("%s: %w", q.Name, err)
			}
		}
		list = append(list, x)
	}
	return list, nil
}

// divide splits the time from a model's answer to the simulation's: one cause
// after another that the model does not have is switched off in the simulation,
// and what then is left is the model's own. Worlds are makespans by the causes
// that are off.
func divide(q *model.WhatIf, worlds map[uint]time.Duration, by *analytic.Model, predicted time.Duration) ([]results.GapPart, error) {
	var parts []results.GapPart
	off, now, world := uint(0), worlds[0], *q
	for c := range analytic.NumCauses {
		if by.AccountsFor(q, c) || c == analytic.Contention && q.Fidelity != model.Device {
			continue
		}
		off |= 1 << c
		world = analytic.Without(world, c)
		next, known := worlds[off]
		if !known {
			p, err := sim.Simulator{}.Predict(world)
			if err != nil {
				return nil, fmt.Errorf("without %s: %w", c, err)
			}
			next = p.Mean
			worlds[off] = next
		}
		parts = append(parts, results.GapPart{Cause: c.String(), Time: now - next})
		now = next
	}
	return append(parts, results.GapPart{Cause: "the model's own", Time: now - predicted}), nil
}

// aboveFirst lists the runs whose makespan differs from the first one's by more
// than a part of it.
func aboveFirst(runs []*results.Run, limit float64) []string {
	var list []string
	first := runs[0].Predictions[0].Mean.Seconds()
	for _, r := range runs[1:] {
		if d := r.Predictions[0].Mean.Seconds()/first - 1; math.Abs(d) > limit {
			list = append(list, fmt.Sprintf("%s: %+.1f %%", r.Question.Name, 100*d))
		}
	}
	return list
}

// joined is a study with the inputs of all.
func joined(all []compared) *study {
	s := *all[0].study
	first := *s.first
	first.Inputs = slices.Clone(first.Inputs)
	for i := range all {
		for _, in := range all[i].study.first.Inputs {
			if !slices.ContainsFunc(first.Inputs, func(x scenarios.Input) bool { return x.Name == in.Name }) {
				first.Inputs = append(first.Inputs, in)
			}
		}
	}
	s.first = &first
	return &s
}

// repeat is how the same comparison is asked for again.
func (k *comparing) repeat(names []string) []string {
	args := append(k.asked.arguments("compare", names...), k.knowledge.arguments()...)
	for _, over := range k.over {
		args = append(args, "--over="+over)
	}
	if k.baseline != "" {
		args = append(args, "--baseline="+k.baseline)
	}
	return append(args, fmt.Sprintf("--causes=%t", k.causes))
}

// parsePart reads 10% or 0.1; nothing is no limit.
func parsePart(text string) (float64, error) {
	if text == "" {
		return math.Inf(1), nil
	}
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v >= 0) {
		return 0, fmt.Errorf("--fail-above %s: want a part such as 10%% or 0.1", text)
	}
	if percent {
		return v / 100, nil
	}
	if v > 1 {
		return 0, fmt.Errorf("--fail-above %s: a part above 1: want %s%% or %g", text, text, v/100)
	}
	return v, nil
}

// overKey is a key of the scenario with the values it takes.
type overKey struct {
	key     string
	values  []overValue
	numeric bool
}

type overValue struct {
	text string
	at   float64
}

// mostValues of a swept key.
const mostValues = 1000

// parseOver reads KEY=FROM:TO:STEP or KEY=VALUE,VALUE,...; nothing is the
// scenario as it is.
func parseOver(flags []string) (overKey, error) {
	switch {
	case len(flags) == 0:
		return overKey{values: []overValue{{}}}, nil
	case len(flags) > 1:
		return overKey{}, fmt.Errorf("--over %s: given twice: want one key", flags[1])
	}
	text := flags[0]
	key, list, ok := strings.Cut(text, "=")
	o := overKey{key: strings.TrimSpace(key), numeric: true}
	if !ok || o.key == "" || list == "" {
		return o, fmt.Errorf("--over %s: want KEY=FROM:TO:STEP or KEY=VALUE,VALUE", text)
	}
	if ends := strings.Split(list, ":"); len(ends) > 1 {
		var v [3]float64
		for i := range ends {
			var err error
			if len(ends) != len(v) {
				err = errors.New("three numbers are wanted")
			} else {
				v[i], err = strconv.ParseFloat(strings.TrimSpace(ends[i]), 64)
			}
			if err != nil {
				return o, fmt.Errorf("--over %s: want FROM:TO:STEP, three numbers", text)
			}
		}
		steps := math.Floor((v[1]-v[0])/v[2] + 1e-9)
		if !(v[2] > 0 && steps >= 0 && steps < mostValues) {
			return o, fmt.Errorf("--over %s: want a step above 0 that makes 1 to %d values", text, mostValues)
		}
		for i := range int(steps) + 1 {
			at := v[0] + float64(float64(i)*v[2])
			o.values = append(o.values, overValue{strconv.FormatFloat(at, 'g', 12, 64), at})
		}
		return o, nil
	}
	for i, v := range strings.Split(list, ",") {
		v = strings.TrimSpace(v)
		at, err := strconv.ParseFloat(v, 64)
		if err != nil {
			o.numeric, at = false, float64(i)
		}
		o.values = append(o.values, overValue{v, at})
	}
	return o, nil
}

// settings set the key to a value; a key without a dot is one of every job.
func (o *overKey) settings(value string, jobs int) []string {
	if strings.Contains(o.key, ".") {
		return []string{o.key + "=" + value}
	}
	var all []string
	for i := range jobs {
		all = append(all, fmt.Sprintf("job.%d.%s=%s", i, o.key, value))
	}
	return all
}
