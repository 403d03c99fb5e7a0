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
	New func(Inputs) (model.Predictor, error)
}

// AccountsFor reports whether the model accounts for a cause of time in the
// question. No model accounts for random draws of a simulation, or for nodes that die.
func (m *Model) AccountsFor(q *model.WhatIf, c Cause) bool {
	return slices.Contains(m.Accounts, c) &&
		(c != Protocol || len(q.Jobs) == 1) &&
		(c != Stragglers || !nodesDie(q) && !slices.ContainsFunc(q.Jobs, func(j workload.Job) bool { return isRandom(&j) }))
}

// Inputs are what models know that is not part of the question.
type Inputs struct {
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
func (k Inputs) read(key string, parse func([]byte) error) error {
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

// withoutInputs returns New for a model that needs only the question.
func withoutInputs(p model.Predictor) func(Inputs) (model.Predictor, error) {
	return func(Inputs) (model.Predictor, error) { return p, nil }
}

// RecordedRun is a finished run of a job, from which models learn.
type RecordedRun struct {
	Profile     AriaProfile
	Data        float64 // bytes of map output, as they were fetched
	Time        float64 // seconds from submission to finish
	Outside     float64 // the part of Time before the first map and after the last task, seconds
	MapStage    float64 // seconds from the first map to the end of the last one
	MapSlots    int     // most maps at a time
	ReduceSlots int     // most reduces at a time
}

// SmallRun is what a finished run of a job shows of the work of its tasks. It
// corrects the platform model for what its benchmarks do not have: records of
// another width, and the work of combiners.
type SmallRun struct {
	maps, reduces       int
	mapMS, reduceMS     float64 // mean work of a task: without start, waits and commit
	blockMB, blockRecs  float64 // mean input of a map
	longestMB, longestN float64 // longest input of a map, MiB and records
	spillMS, spillRecs  float64 // mean time that a map waits for its spills, and records of a spill
	spread              taskSpread
}

// taskSpread is the standard deviation of the times of tasks, seconds.
type taskSpread struct{ maps, reduces float64 }
