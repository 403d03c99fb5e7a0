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
	model.NewEvaluator("combine.scale", nothing, combineQuestion.answer),
	model.NewEvaluator("cresp", nothing, crespQuestion.answer),
	model.NewEvaluator("cresp.optimum", nothing, crespOptimumQuestion.answer),
	model.NewEvaluator("errors", defaultErrorsQuestion, errorsQuestion.answer),
	model.NewEvaluator("hp.scale", nothing, hpQuestion.answer),
	model.NewEvaluator("ihp.bandwidth", defaultBandwidthQuestion, bandwidthQuestion.answer),
	model.NewEvaluator("ihp.bounds", unknowns, ihpJob.Bounds),
	model.NewEvaluator("ihp.lwlr", defaultLocalQuestion, localQuestion.answer),
	model.NewEvaluator("ihp.phases", unknowns, ihpStageJob.Stages),
	model.NewEvaluator("ihp.provision", nothing, provisionQuestion.answer),
	model.NewEvaluator("makespan", nothing, makespanQuestion.answer),
	model.NewEvaluator("merge", nothing, mergeQuestion.answer),
	model.NewEvaluator("nnls", nothing, nnlsQuestion.answer),
	model.NewEvaluator("phases", defaultPhasesQuestion, phasesQuestion.answer),
	model.NewEvaluator("platform.grid", nothing, platform.GridPoint.Data),
	model.NewEvaluator("platform.job", unknownPlatformQuestion, platformQuestion.answer),
	model.NewEvaluator("platform.profile", nothing, profileQuestion.answer),
	model.NewEvaluator("relative", defaultRelativeQuestion, relativeQuestion.answer),
	model.NewEvaluator("robust", nothing, robustQuestion.answer),
	model.NewEvaluator("rrs", nothing, rrsQuestion.answer),
	model.NewEvaluator("segmented", defaultSegmentQuestion, segmentQuestion.answer),
	model.NewEvaluator("segmented.expected", nothing, platform.ExpectedBreak),
	model.NewEvaluator("waves", unknowns, Waves),
}
