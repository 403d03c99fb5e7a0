package search

import (
	"errors"
	"math"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// LeastPairs is the least number of replications of Tune: a single pair has no
// interval.
const LeastPairs = 2

// TimeTaken simulates a question and returns the seconds from the first submission
// to the end of the last job, +Inf if a job does not succeed.
func TimeTaken(q *model.WhatIf) (float64, error) {
	p, _, err := study.Simulate(q)
	// With some settings a reduce waits for memory without end, as in Hadoop.
	if errors.As(err, new(*sim.Stalled)) {
		return math.Inf(1), nil
	}
	if err != nil {
		return 0, err
	}
	first, last := p.Jobs[0].Submit, time.Duration(0)
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if j.Finish < 0 || j.State != workload.Succeeded {
			return math.Inf(1), nil
		}
		first, last = min(first, j.Submit), max(last, j.Finish)
	}
	return (last - first).Seconds(), nil
}
