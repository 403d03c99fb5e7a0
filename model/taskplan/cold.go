package taskplan

import "math"

// A JVM is slow until its compiler has seen what it does again and again. On a
// real Hadoop n records of a phase take as long as n + sqrt(Cold n) of those that
// come when all is compiled (docs/validation.md). What goes by bytes is compiled
// after the first few buffers.

// young is how many times as long n records take after so many before.
func (p *Planner) coldFactor(before, n float64) float64 {
	if p.Cold == 0 || n <= 0 {
		return 1
	}
	return 1 + math.Sqrt(p.Cold)*(math.Sqrt(before+n)-math.Sqrt(before))/n
}

// young is the same for records that a reduce merges next.
func (r *ReduceTask) coldFactor(n float64) float64 {
	factor := r.plan.coldFactor(r.merged, n)
	r.merged += n
	return factor
}
