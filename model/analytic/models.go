// Package analytic holds the analytic models of a job's time: waves, ARIA, HP,
// improved HP, CRESP, Herodotou's and Zhang's. Each answers what-if questions as a
// Predictor, and raw questions as an Evaluator. A new model is a file with a Model
// in it, and a line of Models.
package analytic

import (
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// Model is an analytic model that answers what-if questions.
type Model struct {
	Name, About string
	Accounts    []Cause    // causes of time in a cluster that the model includes
	Error       [2]float64 // 0.05 and 0.95 quantiles of simulated over predicted makespans; 0: not known
	File        string     // key of [models] with the file that the model reads; empty: it reads none

	// New makes a predictor with the given knowledge, or nil if the model is not
	// asked. Missing knowledge is not an error here: the predictor later says what it
	// needs.
	New func(Knowledge) (model.Predictor, error)
}

// Models are the analytic models, sorted by name.
var Models = []Model{
	ariaModel,
	crespModel,
	herodotouModel,
	literalModel,
	hpModel,
	ihpModel,
	ihpLiteral,
	ihpWaves,
	wavesModel,
	zhangModel,
}

// AccountsFor reports whether the model accounts for a cause of time in the
// question. No model accounts for random draws of a simulation.
func (m *Model) AccountsFor(q *model.WhatIf, c Cause) bool {
	return slices.Contains(m.Accounts, c) &&
		(c != Protocol || len(q.Jobs) == 1) &&
		(c != Stragglers || !slices.ContainsFunc(q.Jobs, func(j workload.Job) bool { return isRandom(&j) }))
}

// Knowledge is what models know that is not part of the question.
type Knowledge struct {
	Files map[string]File // by the key of [models]
	Runs  []RecordedRun   // of the job, on other input or other clusters
	Small *SmallRun       // of the job, on the cluster of the benchmarks; nil: none

	Literal bool // Herodotou's equations as printed are asked too
}

// File is the content of a file.
type File struct {
	Name string
	Data []byte
}

// read makes a model read its file, if there is one.
func (k Knowledge) read(key string, parse func([]byte) error) error {
	f, ok := k.Files[key]
	if !ok {
		return nil
	}
	if err := parse(f.Data); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

// Predictor is a model with its knowledge.
type Predictor struct {
	Model
	model.Predictor
}

// Predict answers the question, with a prediction interval. Its width comes from
// random jobs of programs that were predicted and simulated at fidelity device
// (docs/validation.md), unless the model states an interval itself.
func (p Predictor) Predict(q model.WhatIf) (model.Prediction, error) {
	a, err := p.Predictor.Predict(q)
	if err == nil && a.Most == 0 && p.Error[1] > 0 && len(q.Jobs) == 1 && q.Fidelity > model.Profile && q.Cluster.Hadoop != "ideal" {
		a.Least, a.Most = time.Duration(p.Error[0]*float64(a.Mean)), time.Duration(p.Error[1]*float64(a.Mean))
	}
	return a, err
}

// leastRuns is the smallest number of recorded runs that a model can learn from.
const leastRuns = 2

// Predictors returns all models with their knowledge. The error is that of a file
// which a model cannot read, or of runs which no model can learn from.
func Predictors(k Knowledge) ([]Predictor, error) {
	reducing := 0
	for i := range k.Runs {
		if k.Runs[i].Profile.Reduces > 0 {
			reducing++
		}
	}
	if len(k.Runs) > 0 && reducing < leastRuns {
		return nil, fmt.Errorf("models.history: %d recorded runs with reduces: want two or more", reducing)
	}
	var all []Predictor
	for _, m := range Models {
		p, err := m.New(k)
		if err != nil {
			return nil, err
		}
		if p != nil {
			all = append(all, Predictor{m, p})
		}
	}
	return all, nil
}

// knowsNothing returns New for a model that needs only the question.
func knowsNothing(p model.Predictor) func(Knowledge) (model.Predictor, error) {
	return func(Knowledge) (model.Predictor, error) { return p, nil }
}
