package analytic

import (
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// TuneParam is a setting that Tune may change, with its value before.
type TuneParam struct {
	SearchParam
	Start      float64
	ReduceSide bool
}

// Tune returns the values with which Herodotou's equations predict the shortest
// time for the only job of a question (Starfish). It searches the parameters of
// the map side first, then those of the reduce side. It skips values that the
// equations refuse, and never returns values that are worse than the start.
// question returns the question with the given values.
func Tune(space []TuneParam, seed workload.Seed, question func(at []float64) model.WhatIf) ([]float64, error) {
	at := make([]float64, len(space))
	for i := range space {
		at[i] = space[i].Start
	}
	cost := func() (float64, error) {
		p, err := herodotouPredictor{}.Predict(question(at))
		return p.Mean.Seconds(), err
	}
	best, err := cost()
	if err != nil {
		return nil, err
	}
	for _, reduceSide := range []bool{false, true} {
		var dims []SearchParam
		var place []int // in at
		for i := range space {
			if space[i].ReduceSide == reduceSide {
				dims, place = append(dims, space[i].SearchParam), append(place, i)
			}
		}
		if len(dims) == 0 {
			continue
		}
		before := make([]float64, len(place))
		for k, i := range place {
			before[k] = at[i]
		}
		found, err := recursiveRandomSearch(dims, seed, func(values []float64) float64 {
			for k, i := range place {
				at[i] = values[k]
			}
			seconds, err := cost()
			if err != nil {
				return math.Inf(1)
			}
			return seconds
		})
		if err != nil {
			return nil, err
		}
		values := before
		if found.Value < best {
			best, values = found.Value, found.At
		}
		for k, i := range place {
			at[i] = values[k]
		}
	}
	return at, nil
}
