package model

// nothing is the fallback of a question whose fields must all be there.
func nothing[I any]() (none I) { return none }

// Evaluators are the analytic models by name, sorted.
var Evaluators = []Evaluator{
	NewEvaluator("aria.bounds", unknownBoundsQuestion, boundsQuestion.answer),
	NewEvaluator("aria.curve", unknownCurveQuestion, curveQuestion.answer),
	NewEvaluator("aria.invert", unknownInvertQuestion, invertQuestion.answer),
	NewEvaluator("combine.scale", nothing, combineQuestion.answer),
	NewEvaluator("cresp", nothing, crespQuestion.answer),
	NewEvaluator("cresp.optimum", nothing, crespOptimumQuestion.answer),
	NewEvaluator("errors", defaultErrorsQuestion, errorsQuestion.answer),
	NewEvaluator("hp.scale", nothing, hpQuestion.answer),
	NewEvaluator("ihp.bandwidth", defaultBandwidthQuestion, bandwidthQuestion.answer),
	NewEvaluator("ihp.bounds", unknownIHP, IHPJob.Bounds),
	NewEvaluator("ihp.lwlr", defaultLocalQuestion, localQuestion.answer),
	NewEvaluator("ihp.phases", unknownIHPStage, IHPStageJob.Stages),
	NewEvaluator("ihp.provision", nothing, provisionQuestion.answer),
	NewEvaluator("makespan", nothing, makespanQuestion.answer),
	NewEvaluator("merge", nothing, mergeQuestion.answer),
	NewEvaluator("nnls", nothing, nnlsQuestion.answer),
	NewEvaluator("phases", defaultPhasesQuestion, phasesQuestion.answer),
	NewEvaluator("platform.grid", nothing, GridPoint.Data),
	NewEvaluator("platform.job", unknownPlatformQuestion, platformQuestion.answer),
	NewEvaluator("platform.profile", nothing, profileQuestion.answer),
	NewEvaluator("relative", defaultRelativeQuestion, relativeQuestion.answer),
	NewEvaluator("robust", nothing, robustQuestion.answer),
	NewEvaluator("rrs", nothing, rrsQuestion.answer),
	NewEvaluator("segmented", defaultSegmentQuestion, segmentQuestion.answer),
	NewEvaluator("segmented.expected", nothing, ExpectedBreak),
	NewEvaluator("waves", unknownWaveJob, Waves),
}
