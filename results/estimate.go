package results

import (
	"math"

	"github.com/slotwave/slotwave/model/fit"
)

// Estimate is a mean over replications with its 95 % interval (Student's t). A
// single replication has no interval.
type Estimate struct {
	N    int    `json:"n"`
	Mean int64  `json:"mean_ns"`
	Low  *int64 `json:"low_ns,omitempty"`
	High *int64 `json:"high_ns,omitempty"`
}

func NewEstimate(values []float64) Estimate {
	e := Estimate{N: len(values)}
	if e.N == 0 {
		return e
	}
	mean, half := fit.StudentInterval(values)
	e.Mean = int64(math.Round(mean))
	if e.N > 1 {
		low, high := int64(math.Round(max(0, mean-half))), int64(math.Round(mean+half)) // no time is below 0
		e.Low, e.High = &low, &high
	}
	return e
}
