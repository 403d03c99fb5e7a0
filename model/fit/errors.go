package fit

import (
	"math"

	"github.com/slotwave/slotwave/model/input"
)

// ErrorTable sums up relative errors |measured-predicted|/measured.
type ErrorTable struct {
	Errors    []float64 `json:"errors"`    // rows with measured 0 are left out
	Fractions []float64 `json:"fractions"` // of rows within each threshold
	Mean      float64   `json:"mean"`
	Max       float64   `json:"max"`
}

// ErrorThresholds are those of the paper: 10, 15 and 20 %.
var ErrorThresholds = []float64{0.10, 0.15, 0.20}

// Errors compares predictions with measurements (Zhang et al., ICPE 2013,
// section 4).
func Errors(measured, predicted, thresholds []float64) (ErrorTable, error) {
	var c input.Check
	c.List("measured", measured, 1, 0)
	c.List("predicted", predicted, 1, -math.MaxFloat64)
	c.List("thresholds", thresholds, 0, 0)
	if len(measured) != len(predicted) {
		c.Fail("predicted", "%d values for %d of measured", len(predicted), len(measured))
	}
	if err := c.Err(); err != nil {
		return ErrorTable{}, err
	}
	t := ErrorTable{Fractions: make([]float64, len(thresholds))}
	for i, m := range measured {
		if m == 0 {
			continue
		}
		e := math.Abs(m-predicted[i]) / m
		t.Errors = append(t.Errors, e)
		t.Mean += e
		t.Max = math.Max(t.Max, e)
		for k, limit := range thresholds {
			if e <= limit {
				t.Fractions[k]++
			}
		}
	}
	if len(t.Errors) == 0 {
		c.Fail("measured", "every value is 0: no relative error")
		return ErrorTable{}, c.Err()
	}
	n := float64(len(t.Errors))
	t.Mean /= n
	for k := range t.Fractions {
		t.Fractions[k] /= n
	}
	return t, nil
}
