// Package predict asks the analytic models about a scenario.
//
//	study.Study.Models -> models with the files that the scenario names
//	All, Over -> results.Answers        times, also over the values of a key
//
// How many nodes a deadline takes is a question of study/size.
package predict

import (
	"errors"
	"fmt"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/study"
)

// All asks every analytic model about every run. A model that cannot answer
// gives the reason in its answer.
func All(s *study.Study, models []analytic.Predictor) (*results.Answers, error) {
	answers := &results.Answers{}
	for i := range s.Scenario.Runs {
		list, err := Ask(&s.Scenario.Runs[i].Question, models)
		if err != nil {
			return nil, err
		}
		answers.List = append(answers.List, list...)
	}
	return answers, nil
}

// Over asks every analytic model about a scenario with each value of the keys that
// vary.
func Over(name string, o study.Options) (*results.Answers, *study.Study, error) {
	all, err := o.OpenAll([]string{name}, nil)
	if err != nil {
		return nil, nil, err
	}
	answers := &results.Answers{Over: study.Axis(all)}
	for i := range all {
		list, err := Ask(all[i].Question(), all[i].Models)
		if err != nil {
			return nil, nil, err
		}
		for _, x := range list {
			x.At = all[i].At
			answers.List = append(answers.List, x)
		}
	}
	return answers, study.Joined(all), nil
}

// Ask puts one question to every analytic model. A model without an answer is
// not an error. Invalid input for a model is one.
func Ask(q *model.WhatIf, models []analytic.Predictor) ([]results.Answer, error) {
	var list []results.Answer
	for _, m := range models {
		x, err := AskOne(q, m)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

// AskOne puts a question to one model.
func AskOne(q *model.WhatIf, m analytic.Predictor) (results.Answer, error) {
	p, err := m.Predict(*q)
	if err != nil && !errors.Is(err, model.ErrNotApplicable) {
		return results.Answer{}, fmt.Errorf("%s: %w", m.Name, err)
	}
	p.Model = m.Name
	return results.Answer{Scenario: q.Name, Prediction: p, Err: err}, nil
}
