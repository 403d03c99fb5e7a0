package study

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/scenarios"
)

// VariedKey is a key of the scenario with its values.
type VariedKey struct {
	Key    string
	Values []string
}

// maxValues is the largest number of values of a varied key.
const maxValues = 1000

// ParseOver reads KEY=FROM:TO:STEP or KEY=VALUE,VALUE,...
func ParseOver(text string) (VariedKey, error) {
	key, list, ok := strings.Cut(text, "=")
	o := VariedKey{Key: strings.TrimSpace(key)}
	if !ok || o.Key == "" || list == "" {
		return o, fmt.Errorf("--over %s: want KEY=FROM:TO:STEP or KEY=VALUE,VALUE", text)
	}
	if ends := strings.Split(list, ":"); len(ends) > 1 {
		err := o.addRange(text, ends)
		return o, err
	}
	for _, v := range strings.Split(list, ",") {
		o.Values = append(o.Values, strings.TrimSpace(v))
	}
	return o, nil
}

// addRange adds the values of FROM:TO:STEP.
func (o *VariedKey) addRange(text string, ends []string) error {
	var v [3]float64
	for i := range ends {
		var err error
		if len(ends) != len(v) {
			err = errors.New("want three numbers")
		} else {
			v[i], err = strconv.ParseFloat(strings.TrimSpace(ends[i]), 64)
		}
		if err != nil {
			return fmt.Errorf("--over %s: want FROM:TO:STEP, three numbers", text)
		}
	}
	steps := math.Floor((v[1]-v[0])/v[2] + 1e-9)
	if !(v[2] > 0 && steps >= 0 && steps < maxValues) {
		return fmt.Errorf("--over %s: want a step above 0 that gives 1 to %d values", text, maxValues)
	}
	for i := range int(steps) + 1 {
		at := v[0] + float64(float64(i)*v[2])
		o.Values = append(o.Values, strconv.FormatFloat(at, 'g', 12, 64))
	}
	return nil
}

// KeySettings set a key to a value; a key without a dot is one of every [[job]], if the
// scenario has any.
func KeySettings(key, value string, tables int) []string {
	if tables == 0 || strings.Contains(key, ".") {
		return []string{key + "=" + value}
	}
	var all []string
	for i := range tables {
		all = append(all, fmt.Sprintf("job.%d.%s=%s", i, key, value))
	}
	return all
}

// Opened is one run of a comparison.
type Opened struct {
	Study *Study
	Run   int
	At    float64 // value of the varied key, if it is the only one and has numbers

	Models []analytic.Predictor
}

func (c *Opened) Question() *model.WhatIf { return &c.Study.Scenario.Runs[c.Run].Question }

func (c *Opened) levels() []scenarios.Level { return c.Study.Scenario.Runs[c.Run].Levels }

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
