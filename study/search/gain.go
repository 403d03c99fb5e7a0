// Package search is the kit that questions share: the times of pairs of runs with common
// seeds (time), what a change gains over them (gain), and what runs show of a probability,
// however many there are (sequence).
package search

import (
	"fmt"
	"math"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results"
)

// Gain is the part of the time that a change saves, as the mean over pairs of runs
// with common seeds and its 95 % interval (Student's t).
type Gain struct {
	Mean  float64 `json:"mean"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Pairs int     `json:"n"`
}

// NewGain compares the times of pairs of runs, two or more.
func NewGain(before, after []float64) Gain {
	gains := make([]float64, len(before))
	for i := range gains {
		gains[i] = 1
		if !math.IsInf(before[i], 1) { // the job does not succeed
			gains[i] -= after[i] / before[i]
		}
	}
	mean, half := fit.StudentInterval(gains)
	return Gain{mean, mean - half, mean + half, len(gains)}
}

// Effect says what a change does to the time.
type Effect string

// The effects. A change whose interval includes 0 makes no difference.
const (
	Faster       Effect = "faster"
	Slower       Effect = "slower"
	NoDifference Effect = "makes no difference"
)

// LeastGain is the gain below which times differ only by the rounding of sums.
const LeastGain = 1e-9

// Effect returns the effect of the change.
func (g *Gain) Effect() Effect {
	switch {
	case g.Low > LeastGain:
		return Faster
	case g.High < -LeastGain:
		return Slower
	}
	return NoDifference
}

func (g *Gain) String() string {
	half := 50 * (g.High - g.Low)
	return fmt.Sprintf("%.1f %% ± %.1f", 100*g.Mean, half)
}

// EstimateOf returns the mean of times in seconds.
func EstimateOf(seconds []float64) results.Estimate {
	ns := make([]float64, len(seconds))
	for i, s := range seconds {
		ns[i] = 1e9 * s
	}
	return results.NewEstimate(ns)
}
