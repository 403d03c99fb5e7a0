package results

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// A ModelError is how far the logarithm of a simulated time is off in nine of ten cases,
// beside what is known to be missed. It has Student's t of two degrees of freedom: most
// answers are near, a few far off.
type ModelError float64

var errorShape = distuv.StudentsT{Sigma: 1, Nu: 2}

// modelErrorOf returns the error of a time: little near the record, and more the farther
// it is from the recorded one. Both parts were measured on clusters of random structure
// (docs/validation.md). The error near the record is one of the times of jobs. Of a
// makespan it concerns the part that its last job takes: errors of one part of a time and
// another are independent, so that their squares add up.
func modelErrorOf(simulated, recorded time.Duration, part float64) ModelError {
	const here, farther = 0.09, 0.19
	near := here * math.Sqrt(part)
	if simulated <= 0 || recorded <= 0 {
		return ModelError(near)
	}
	return ModelError(near + float64(farther*math.Abs(math.Log(simulated.Seconds()/recorded.Seconds()))))
}

// MachinesErrorOf returns the error of the mean over machines which explain the record, each
// corrected by what it misses, of any time of a run: of a job, or of all. scatter is that of
// the time over them: what they do not agree on, all of them may miss. The run is as far from
// the record as its makespan. The constants were chosen with 254 sizes, 96 what-ifs and the
// times of 336 jobs of drawn clusters, and the first anew with 152 what-ifs when the chance
// of the record became a part of its own (docs/validation.md has fresh ones).
func MachinesErrorOf(simulated, recorded time.Duration, scatter float64) ModelError {
	const here, differ, farther = 0.04, 4, 0.15
	distance := 0.0
	if simulated > 0 && recorded > 0 {
		distance = math.Log(simulated.Seconds() / recorded.Seconds())
	}
	return ModelError(math.Hypot(here, math.Hypot(differ*scatter, farther*distance)))
}

// Chance is the probability that a simulated time, which may grow by the factor slack, is
// within a limit.
func (e ModelError) Chance(slack float64) float64 {
	return distuv.StudentsT{Sigma: float64(e) / errorShape.Quantile(0.95), Nu: errorShape.Nu}.CDF(math.Log(slack))
}

// ScatterOf returns the deviation of the logarithms of the numbers above 0, as that of a
// normal distribution with their mean distance from the median: one unlucky run of a
// machine is no disagreement of all.
func ScatterOf(values []float64) (scatter float64) {
	var logs []float64
	for _, v := range values {
		if v > 0 {
			logs = append(logs, math.Log(v))
		}
	}
	n := len(logs)
	if n < 2 {
		return 0
	}
	slices.Sort(logs)
	median := (logs[(n-1)/2] + logs[n/2]) / 2
	for _, x := range logs {
		scatter += math.Abs(x-median) / float64(n)
	}
	return scatter * math.Sqrt(math.Pi/2)
}

// Beside returns half of a 90 % interval of the logarithm of a time, if the logarithms of
// n machines that explain the record have the deviation sd, and the true machine is one
// more of them.
func (e ModelError) Beside(sd float64, n int) float64 {
	if n < 2 {
		return float64(e)
	}
	student := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}
	return math.Hypot(sd*math.Sqrt(1+1/float64(n))*student.Quantile(0.95), float64(e))
}
