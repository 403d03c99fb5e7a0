package figure

import (
	"math"
	"strconv"
	"time"

	"gonum.org/v1/plot"

	"github.com/slotwave/slotwave/results/text"
)

// TimeUnit is the unit of a time axis or table.
type TimeUnit struct {
	Name  string
	Ns    float64
	steps []float64 // preferred distances of ticks
}

var TimeUnits = [...]TimeUnit{
	{"s", float64(time.Second), nil},
	{"min", float64(time.Minute), []float64{0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 180}},
	{"h", float64(time.Hour), []float64{0.5, 1, 2, 3, 4, 6, 12, 24, 48, 72, 168}},
}

// UnitFor returns seconds below ten minutes, minutes below five hours, and
// hours beyond.
func UnitFor(end time.Duration) TimeUnit {
	switch {
	case end < 10*time.Minute:
		return TimeUnits[0]
	case end < 5*time.Hour:
		return TimeUnits[1]
	}
	return TimeUnits[2]
}

// Of converts ns to the unit.
func (u *TimeUnit) Of(ns int64) float64 { return float64(ns) / u.Ns }

// Ticks returns at most n marks from 0 to end (in the unit) at a round
// distance.
func (u *TimeUnit) Ticks(end float64, n int) []plot.Tick {
	return Ticks(end, n, u.steps)
}

// Ticks returns at most n marks at a distance from the list or, if all of those
// are too small, at 1, 2 or 5 times a power of ten.
func Ticks(end float64, n int, steps []float64) []plot.Tick {
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

// MarksBetween returns about ten marks at round values.
func MarksBetween(low, high float64) []plot.Tick {
	return multiples(roundStep((high-low)/10), low, high)
}

// multiples are marks at the multiples of a step.
func multiples(step, low, high float64) (marks []plot.Tick) {
	prec := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for k := math.Ceil(low / step); k*step <= high; k++ {
		marks = append(marks, plot.Tick{Value: k * step, Label: text.Group(strconv.FormatFloat(k*step, 'f', prec, 64))})
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

// CountTicks are marks at whole numbers.
func CountTicks(end float64, n int) []plot.Tick {
	return Ticks(end, n, []float64{1})
}

// logTicks are labelled at 1, 2 and 5 times the powers of ten, at fewer or more of
// them for a long or a short axis.
func logTicks(lo, hi float64) []plot.Tick {
	steps := []float64{1, 2, 5}
	switch {
	case hi/lo > 1e4:
		steps = steps[:1]
	case hi/lo < 10:
		steps = []float64{1, 2, 3, 4, 5, 7}
	}
	var marks []plot.Tick
	for e := int(math.Floor(math.Log10(lo))) - 1; tenTo(1, e) <= hi; e++ {
		for _, m := range steps {
			if v := tenTo(m, e); v >= lo && v <= hi {
				marks = append(marks, plot.Tick{Value: v, Label: text.Group(text.Share(v).String())})
			}
		}
	}
	return marks
}
