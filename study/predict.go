package study

import (
	"errors"
	"fmt"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
)

// Predict asks every analytic model about every run. A model that cannot answer
// gives the reason in its answer.
func (s *Study) Predict(models []analytic.Predictor) (*results.Answers, error) {
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

// PredictOver asks every analytic model about a scenario with each value of the
// varied key.
func PredictOver(name string, k Comparing) (*results.Answers, *Study, error) {
	over, err := parseOver(k.Over)
	if err != nil {
		return nil, nil, err
	}
	all, err := k.openAll([]string{name}, over)
	if err != nil {
		return nil, nil, err
	}
	answers := &results.Answers{}
	if over.numeric {
		answers.Over = over.key
	}
	for i := range all {
		list, err := Ask(all[i].question(), all[i].models)
		if err != nil {
			return nil, nil, err
		}
		for _, x := range list {
			x.At = all[i].at
			answers.List = append(answers.List, x)
		}
	}
	return answers, joined(all), nil
}

// Ask puts one question to every analytic model. A model without an answer is
// not an error. Invalid input for a model is one.
func Ask(q *model.WhatIf, models []analytic.Predictor) ([]results.Answer, error) {
	var list []results.Answer
	for _, m := range models {
		x, err := askOne(q, m)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

func askOne(q *model.WhatIf, m analytic.Predictor) (results.Answer, error) {
	p, err := m.Predict(*q)
	if err != nil && !errors.Is(err, model.ErrNotApplicable) {
		return results.Answer{}, fmt.Errorf("%s: %w", m.Name, err)
	}
	p.Model = m.Name
	return results.Answer{Scenario: q.Name, Prediction: p, Err: err}, nil
}
