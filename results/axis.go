package results

import (
	"math"
	"strconv"
	"time"

	"gonum.org/v1/plot"
)

// timeUnit is the unit of a time axis or table.
type timeUnit struct {
	name  string
	ns    float64
	steps []float64 // preferred distances of ticks
}

var timeUnits = [...]timeUnit{
	{"s", float64(time.Second), nil},
	{"min", float64(time.Minute), []float64{0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 180}},
	{"h", float64(time.Hour), []float64{0.5, 1, 2, 3, 4, 6, 12, 24, 48, 72, 168}},
}

// unitFor returns seconds below ten minutes, minutes below five hours, and
// hours beyond.
func unitFor(end time.Duration) timeUnit {
	switch {
	case end < 10*time.Minute:
		return timeUnits[0]
	case end < 5*time.Hour:
		return timeUnits[1]
	}
	return timeUnits[2]
}

// of converts ns to the unit.
func (u *timeUnit) of(ns int64) float64 { return float64(ns) / u.ns }

// ticks returns at most n marks from 0 to end (in the unit) at a round
// distance.
func (u *timeUnit) ticks(end float64, n int) []plot.Tick {
	return ticks(end, n, u.steps)
}

// ticks returns at most n marks at a distance from the list or, if all of those
// are too small, at 1, 2 or 5 times a power of ten.
func ticks(end float64, n int, steps []float64) []plot.Tick {
	step := 0.0
	for _, s := range steps {
		if end/s <= float64(n) {
			step = s
			break
		}
	}
	if step == 0 {
		step = roundStep(end / float64(n))
	}
	return multiples(step, 0, end*(1+1e-9))
}

// marksBetween returns about ten marks at round values.
func marksBetween(low, high float64) []plot.Tick {
	return multiples(roundStep((high-low)/10), low, high)
}

// multiples are marks at the multiples of a step.
func multiples(step, low, high float64) (marks []plot.Tick) {
	prec := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for k := math.Ceil(low / step); k*step <= high; k++ {
		marks = append(marks, plot.Tick{Value: k * step, Label: group(strconv.FormatFloat(k*step, 'f', prec, 64))})
	}
	return marks
}

// roundStep returns the smallest of 1, 2, 5 times a power of ten that is >= x.
func roundStep(x float64) float64 {
	if !(x > 0) {
		return 1
	}
	e := math.Floor(math.Log10(x))
	for _, m := range []float64{1, 2, 5} {
		if s := tenTo(m, int(e)); s >= x*(1-1e-9) {
			return s
		}
	}
	return tenTo(1, int(e)+1)
}

// tenTo returns m times a power of ten, with the rounding of a decimal literal.
func tenTo(m float64, e int) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(m, 'f', 0, 64)+"e"+strconv.Itoa(e), 64)
	return v
}

// countTicks are marks at whole numbers.
func countTicks(end float64, n int) []plot.Tick {
	return ticks(end, n, []float64{1})
}

// group puts commas between thousands.
func group(digits string) string {
	whole := digits
	for i, c := range digits {
		if c == '.' {
			whole = digits[:i]
			break
		}
	}
	sign := 0
	if len(whole) > 0 && whole[0] == '-' {
		sign = 1
	}
	out := []byte(digits[:sign])
	for i := sign; i < len(whole); i++ {
		if i > sign && (len(whole)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, whole[i])
	}
	return string(out) + digits[len(whole):]
}
