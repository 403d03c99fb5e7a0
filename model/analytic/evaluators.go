package analytic

import (
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
)

// Evaluators answer raw questions to the analytic models, sorted by name.
var Evaluators = []model.Evaluator{
	model.NewEvaluator("aria.bounds", unknownBoundsQuestion, boundsQuestion.answer),
	model.NewEvaluator("aria.curve", unknowns, curveQuestion.answer),
	model.NewEvaluator("aria.invert", unknowns, invertQuestion.answer),
	model.NewEvaluator("combine.scale", nil, combineQuestion.answer),
	model.NewEvaluator("cresp", nil, crespQuestion.answer),
	model.NewEvaluator("cresp.optimum", nil, crespOptimumQuestion.answer),
	model.NewEvaluator("errors", defaultErrorsQuestion, errorsQuestion.answer),
	model.NewEvaluator("hp.scale", nil, hpQuestion.answer),
	model.NewEvaluator("ihp.bandwidth", defaultBandwidthQuestion, bandwidthQuestion.answer),
	model.NewEvaluator("ihp.bounds", unknowns, ihpJob.Bounds),
	model.NewEvaluator("ihp.lwlr", defaultLocalQuestion, localQuestion.answer),
	model.NewEvaluator("ihp.phases", unknowns, ihpStageJob.Stages),
	model.NewEvaluator("ihp.provision", nil, provisionQuestion.answer),
	model.NewEvaluator("makespan", nil, makespanQuestion.answer),
	model.NewEvaluator("merge", nil, mergeQuestion.answer),
	model.NewEvaluator("nnls", nil, nnlsQuestion.answer),
	model.NewEvaluator("phases", defaultPhasesQuestion, phasesQuestion.answer),
	model.NewEvaluator("platform.grid", nil, platform.GridPoint.Data),
	model.NewEvaluator("platform.job", unknownPlatformQuestion, platformQuestion.answer),
	model.NewEvaluator("platform.profile", nil, profileQuestion.answer),
	model.NewEvaluator("relative", defaultRelativeQuestion, relativeQuestion.answer),
	model.NewEvaluator("robust", nil, robustQuestion.answer),
	model.NewEvaluator("rrs", nil, rrsQuestion.answer),
	model.NewEvaluator("segmented", defaultSegmentQuestion, segmentQuestion.answer),
	model.NewEvaluator("segmented.expected", nil, platform.ExpectedBreak),
	model.NewEvaluator("waves", unknowns, Waves),
}
