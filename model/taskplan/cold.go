package taskplan

import "math"

// A new JVM interprets code until its compiler has seen the code run many times.
// On a measured Hadoop the first n records of a phase take as long as n +
// sqrt(Cold n) records of a warm JVM (docs/validation.md). Work by the byte is
// compiled after the first few buffers and has no such term.

// coldFactor returns the time of n records relative to a warm JVM, after the JVM
// has processed the given number of records of the phase before.
func (p *Planner) coldFactor(before, n float64) float64 {
	if p.Cold == 0 || n <= 0 {
		return 1
	}
	return 1 + math.Sqrt(p.Cold)*(math.Sqrt(before+n)-math.Sqrt(before))/n
}

// coldFactor returns the factor for the next n records that the reduce merges.
func (r *ReduceTask) coldFactor(n float64) float64 {
	factor := r.plan.coldFactor(r.merged, n)
	r.merged += n
	return factor
}
