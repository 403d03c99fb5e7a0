package study

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
)

// Opened is one run of a comparison.
type Opened struct {
	Study *Study
	Run   int
	At    float64 // value of the varied key, if it is the only one and has numbers

	Models []analytic.Predictor
}

// Asked returns the run as the scenario asks it.
func (c *Opened) Asked() *scenarios.Run { return &c.Study.Scenario.Runs[c.Run] }

func (c *Opened) Question() *model.WhatIf { return &c.Asked().Question }

func (c *Opened) levels() []scenarios.Level { return c.Asked().Levels }

// Anew returns the run as changes of it are simulated: a replay decides again what the
// cluster decided.
func (c *Opened) Anew() (*scenarios.Run, error) {
	run := c.Asked()
	if len(run.Recorded) == 0 || len(run.Changed) > 0 || run.Question.Fidelity != model.Replay {
		return run, nil
	}
	again, err := c.Study.File.Anew().Scenario(c.Study.Options.Seed)
	if err != nil {
		return nil, err
	}
	return &again.Runs[c.Run], nil
}

// RunOf returns a run of a result as its scenario describes it, if its inputs have not
// changed.
func RunOf(folder string) (*Opened, error) {
	s, run, err := studyOf(folder, Options{})
	if err != nil {
		return nil, err
	}
	return &Opened{Study: s, Run: run}, nil
}

// OpenAll opens every run of scenarios. A result is simulated as it was made, if that
// can be done again; otherwise its attempts are replayed.
func (o *Options) OpenAll(names []string, models []analytic.Predictor) ([]Opened, error) {
	var all []Opened
	labels := map[string]bool{}
	for _, name := range names {
		var notMade error
		if o.AsMade(name) {
			var made *Study
			var run int
			if made, run, notMade = studyOf(name, *o); notMade == nil {
				made.Scenario.Runs[run].Question.Name = name
				all = append(all, Opened{Study: made, Run: run, Models: models})
				continue
			}
			if resultdir.Unreadable(notMade) {
				return nil, notMade
			}
		}
		s, err := Open(name, *o)
		if err != nil {
			return nil, err
		}
		if notMade != nil {
			s.Scenario.Warnings = append(s.Scenario.Warnings, fmt.Sprintf("%s: %v: its attempts are replayed, which can differ from the result", name, notMade))
		}
		for r := range s.Scenario.Runs {
			q := &s.Scenario.Runs[r].Question
			if labels[q.Name] {
				q.Name = name + " " + q.Name
			}
			labels[q.Name] = true
			all = append(all, Opened{Study: s, Run: r, Models: models})
		}
	}
	if models != nil {
		return all, nil
	}
	read := map[string][]analytic.Predictor{} // by the files, which most scenarios share
	for i := range all {
		files := fmt.Sprint(all[i].Study.Scenario.Models)
		if read[files] == nil {
			own, err := all[i].Study.Models()
			if err != nil {
				return nil, err
			}
			read[files] = own
		}
		all[i].Models = read[files]
	}
	return all, nil
}

// Axis returns the key whose numbers set the runs apart, and places the runs on it;
// empty: other things vary.
func Axis(all []Opened) string {
	key := ""
	for i := range all {
		levels := all[i].levels()
		if len(levels) != 1 || i > 0 && levels[0].Key != key {
			return ""
		}
		at, err := strconv.ParseFloat(levels[0].Text, 64)
		if err != nil {
			return ""
		}
		key, all[i].At = levels[0].Key, at
	}
	return key
}

// PointsOf are the runs as points of a study whose factors are the keys that vary.
func PointsOf(all []Opened, runs []*results.Run) *points.Points {
	var keys []string
	for i := range all {
		for _, level := range all[i].levels() {
			if !slices.Contains(keys, level.Key) {
				keys = append(keys, level.Key)
			}
		}
	}
	p := points.NewPoints(keys)
	if len(all) > 0 {
		p.Labels = all[0].Study.Labels
	}
	for i := range all {
		values := make([]string, len(keys))
		for _, level := range all[i].levels() {
			values[slices.Index(keys, level.Key)] = level.Text
		}
		p.Add(all[i].Study.Scenario.Name, values, 0, runs[i].Replicated)
	}
	return p
}

// Joined returns the first study with the inputs of all.
func Joined(all []Opened) *Study {
	s := *all[0].Study
	first := *s.Scenario
	first.Inputs = slices.Clone(first.Inputs)
	for i := range all {
		first.AddInputs(all[i].Study.Scenario.Inputs)
	}
	s.Scenario = &first
	return &s
}

// Counted lists warnings once, with how many things have each.
func Counted(warnings map[string]int, thing string) []string {
	var list []string
	for _, w := range slices.Sorted(maps.Keys(warnings)) {
		if n := warnings[w]; n > 1 {
			w += fmt.Sprintf(" (%d %ss)", n, thing)
		}
		list = append(list, w)
	}
	slices.Sort(list)
	return list
}
