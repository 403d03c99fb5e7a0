package analytic

import "fmt"

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

// leastRuns is the smallest number of recorded runs that a model can learn from.
const leastRuns = 2

// Predictors returns all models with their knowledge. The error is that of a file
// which a model cannot read, or of runs which no model can learn from.
func Predictors(k Inputs) ([]Predictor, error) {
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
