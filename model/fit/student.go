package fit

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// StudentInterval returns the mean and the half-width of its 95 % interval
// (Student's t). With fewer than two values the half-width is NaN.
func StudentInterval(values []float64) (mean, half float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	mean, sd := stat.MeanStdDev(values, nil)
	if n == 1 {
		return mean, math.NaN()
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
	return mean, t * sd / math.Sqrt(float64(n))
}
