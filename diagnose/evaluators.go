package diagnose

import "github.com/slotwave/slotwave/model"

// Evaluators are the models of this package by name, sorted.
var Evaluators = []model.Evaluator{
	model.NewEvaluator("dataflow", nothing, dataflowQuestion.answer),
	model.NewEvaluator("dataflow.gap", nothing, gapQuestion.answer),
	model.NewEvaluator("dataflow.nodes", nothing, nodesQuestion.answer),
	model.NewEvaluator("outliers", defaultOutliersQuestion, outliersQuestion.answer),
	model.NewEvaluator("phase.outliers", defaultPhasesQuestion, phasesQuestion.answer),
	model.NewEvaluator("resources", defaultResourcesQuestion, resourcesQuestion.answer),
	model.NewEvaluator("rules", defaultRulesQuestion, rulesQuestion.answer),
	model.NewEvaluator("task.facts", defaultFactsQuestion, factsQuestion.answer),
}

// nothing is the fallback of a question whose fields must all be there.
func nothing[I any]() (none I) { return none }

type dataflowQuestion struct {
	Vertices Vertices `json:"vertices"`
	Samples  []Sample `json:"samples"`
}

func (q dataflowQuestion) answer() (Dataflow, error) { return Reconstruct(q.Vertices, q.Samples) }

type gapQuestion struct {
	MapEnds     []float64 `json:"map_ends"`
	ShuffleEnds []float64 `json:"shuffle_ends"`
	JobStart    float64   `json:"job_start"`
	JobEnd      float64   `json:"job_end"`
}

func (q gapQuestion) answer() (Gap, error) {
	return ShuffleGap(q.MapEnds, q.ShuffleEnds, q.JobStart, q.JobEnd)
}

type nodesQuestion struct {
	Rows []NodeRow `json:"rows"`
}

type nodesAnswer struct {
	Nodes []NodeShare `json:"nodes"`
}

func (q nodesQuestion) answer() (nodesAnswer, error) {
	nodes, err := StageByNode(q.Rows)
	return nodesAnswer{nodes}, err
}

type outliersQuestion struct {
	Tasks   []Task         `json:"tasks"`
	Options OutlierOptions `json:"options,omitempty"`
}

func defaultOutliersQuestion() outliersQuestion {
	return outliersQuestion{Options: DefaultOutlierOptions()}
}

func (q outliersQuestion) answer() (Outliers, error) { return FindOutliers(q.Tasks, q.Options) }

type factsQuestion struct {
	Tasks []TaskInput `json:"tasks"`
	Share float64     `json:"share,omitempty"`
}

func defaultFactsQuestion() factsQuestion { return factsQuestion{Share: DefaultNodeShare} }

func (q factsQuestion) answer() (TaskFacts, error) { return CriticalFacts(q.Tasks, q.Share) }

type resourcesQuestion struct {
	Series  map[string]Series `json:"series"`
	From    float64           `json:"t0"`
	To      float64           `json:"t1"`
	Options ResourceOptions   `json:"options,omitempty"`
}

func defaultResourcesQuestion() resourcesQuestion {
	return resourcesQuestion{Options: DefaultResourceOptions()}
}

func (q resourcesQuestion) answer() (map[string]NodeUse, error) {
	return CompareNodes(q.Series, q.From, q.To, q.Options)
}

type phasesQuestion struct {
	Tasks []Phases `json:"tasks"`
	Index int      `json:"index"`
	PhaseOptions
}

func defaultPhasesQuestion() phasesQuestion {
	return phasesQuestion{PhaseOptions: DefaultPhaseOptions()}
}

func (q phasesQuestion) answer() (map[string]PhaseShare, error) {
	return ComparePhases(q.Tasks, q.Index, q.PhaseOptions)
}

type rulesQuestion struct {
	Facts      Facts      `json:"facts"`
	Thresholds Thresholds `json:"thresholds,omitempty" input:"partial"`
}

type rulesAnswer struct {
	Fired []Advice `json:"fired"`
}

func defaultRulesQuestion() rulesQuestion { return rulesQuestion{Thresholds: DefaultThresholds()} }

func (q rulesQuestion) answer() (rulesAnswer, error) {
	fired, err := Recommend(q.Facts, q.Thresholds)
	return rulesAnswer{fired}, err
}
