package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
)

// Evaluators are the models of this package by name, sorted.
var Evaluators = []model.Evaluator{
	model.NewEvaluator("dataflow", nil, dataflowQuestion.answer),
	model.NewEvaluator("dataflow.gap", nil, gapQuestion.answer),
	model.NewEvaluator("dataflow.nodes", nil, nodesQuestion.answer),
	model.NewEvaluator("outliers", defaultOutliersQuestion, outliersQuestion.answer),
	model.NewEvaluator("phase.outliers", defaultPhasesQuestion, phasesQuestion.answer),
	model.NewEvaluator("resources", defaultResourcesQuestion, resourcesQuestion.answer),
	model.NewEvaluator("rules", defaultRulesQuestion, rulesQuestion.answer),
	model.NewEvaluator("task.facts", defaultFactsQuestion, factsQuestion.answer),
}

type dataflowQuestion struct {
	Vertices map[string][]string `json:"vertices"`
	Samples  []sample            `json:"samples"`
}

// sample is one sample of one thread of a task.
type sample struct {
	Time   float64  `json:"ts" unit:"ms"`
	Node   string   `json:"node"`
	Task   string   `json:"task"`
	Thread int      `json:"thread"`
	State  string   `json:"state"` // name in the JVM
	Stack  []string `json:"stack"` // top first
}

func (q dataflowQuestion) answer() (*Dataflow, error) {
	vertices, err := verticesOf(q.Vertices)
	var c input.Check
	for i, s := range q.Samples {
		c.Number(fmt.Sprintf("samples[%d].ts", i), s.Time)
	}
	if err := errors.Join(err, c.Err()); err != nil {
		return nil, err
	}
	samples := slices.Clone(q.Samples)
	slices.SortStableFunc(samples, func(a, b sample) int { return cmp.Compare(a.Time, b.Time) })
	r := newReconstruction(vertices)
	for _, s := range samples {
		t := r.thread([]byte(s.Node), []byte(s.Task), s.Thread)
		r.sample(t, s.Time, r.newStack("", s.State, s.Stack))
	}
	return r.Dataflow(), nil
}

type gapQuestion struct {
	MapEnds     []float64 `json:"map_ends" unit:"any one"`
	ShuffleEnds []float64 `json:"shuffle_ends" unit:"any one"`
	JobStart    float64   `json:"job_start" unit:"any one"`
	JobEnd      float64   `json:"job_end" unit:"any one"`
}

func (q gapQuestion) answer() (gap, error) {
	return shuffleGap(q.MapEnds, q.ShuffleEnds, q.JobStart, q.JobEnd)
}

type nodesQuestion struct {
	Rows []nodeRow `json:"rows"`
}

type nodesAnswer struct {
	Nodes []nodeShare `json:"nodes"`
}

func (q nodesQuestion) answer() (nodesAnswer, error) {
	nodes, err := stageByNode(q.Rows)
	return nodesAnswer{nodes}, err
}

type outliersQuestion struct {
	Tasks   []stageSlot    `json:"tasks"`
	Options outlierOptions `json:"options,omitempty"`
}

func defaultOutliersQuestion() outliersQuestion {
	return outliersQuestion{Options: defaultOutlierOptions()}
}

func (q outliersQuestion) answer() (outliers, error) { return findOutliers(q.Tasks, q.Options) }

type factsQuestion struct {
	Tasks []taskInput `json:"tasks"`
	Share float64     `json:"share,omitempty"`
}

func defaultFactsQuestion() factsQuestion { return factsQuestion{Share: defaultNodeShare} }

func (q factsQuestion) answer() (taskFacts, error) { return criticalFacts(q.Tasks, q.Share) }

type resourcesQuestion struct {
	Series  map[string]Series `json:"series"`
	From    float64           `json:"t0"`
	To      float64           `json:"t1"`
	Options resourceOptions   `json:"options,omitempty"`
}

func defaultResourcesQuestion() resourcesQuestion {
	return resourcesQuestion{Options: defaultResourceOptions()}
}

func (q resourcesQuestion) answer() (map[string]nodeUse, error) {
	return compareNodes(q.Series, q.From, q.To, q.Options)
}

type phasesQuestion struct {
	Tasks []phaseTimes `json:"tasks"`
	Index int          `json:"index"`
	phaseOptions
}

func defaultPhasesQuestion() phasesQuestion {
	return phasesQuestion{phaseOptions: defaultPhaseOptions()}
}

func (q phasesQuestion) answer() (map[string]phaseShare, error) {
	return comparePhases(q.Tasks, q.Index, q.phaseOptions)
}

type rulesQuestion struct {
	Facts      facts      `json:"facts"`
	Thresholds Thresholds `json:"thresholds,omitempty" input:"partial"`
}

type rulesAnswer struct {
	Fired []advice `json:"fired"`
}

func defaultRulesQuestion() rulesQuestion { return rulesQuestion{Thresholds: DefaultThresholds()} }

func (q rulesQuestion) answer() (rulesAnswer, error) {
	fired, err := recommend(q.Facts, q.Thresholds)
	return rulesAnswer{fired}, err
}
