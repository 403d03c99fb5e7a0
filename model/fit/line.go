// Package fit holds the numerical methods of the models: robust lines,
// non-negative least squares, one line or two, locally weighted regression.
// Sources are the sections of the works named in package model.
package fit

import (
	"errors"
	"fmt"
	"math"

	"github.com/slotwave/slotwave/model/input"
)

// ErrSingular says that the data do not determine the coefficients.
var ErrSingular = errors.New("the data do not determine the coefficients")

// Line is y = A + B*x.
type Line struct {
	A float64 `json:"A"`
	B float64 `json:"B"`
}

// At evaluates the line.
func (l Line) At(x float64) float64 { return l.A + float64(l.B*x) }

// LeastSquares fits a line by ordinary least squares; x and y have one value
// per row, two rows or more, and x has two distinct values or more.
func LeastSquares(x, y []float64) (Line, error) {
	if err := checkRows(x, y); err != nil {
		return Line{}, err
	}
	return weighted(x, y, nil)
}

func checkRows(x, y []float64) error {
	var c input.Check
	c.List("x", x, 2, -math.MaxFloat64)
	c.List("y", y, 2, -math.MaxFloat64)
	if len(x) != len(y) {
		c.Fail("y", "%d values for %d of x", len(y), len(x))
	}
	return c.Err()
}

// weighted fits a line by weighted least squares about the weighted means; nil
// weights are all 1.
func weighted(x, y, w []float64) (Line, error) {
	at := func(i int) float64 {
		if w == nil {
			return 1
		}
		return w[i]
	}
	var sw, sx, sy, largest float64
	for i := range x {
		sw += at(i)
		sx += float64(at(i) * x[i])
		sy += float64(at(i) * y[i])
		largest = math.Max(largest, math.Abs(x[i]))
	}
	mx, my := sx/sw, sy/sw
	var sxx, sxy float64
	for i := range x {
		dx := x[i] - mx
		sxx += float64(at(i) * float64(dx*dx))
		sxy += float64(at(i) * float64(dx*(y[i]-my)))
	}
	// The spread of equal values is not exactly 0: their mean is rounded.
	if !(sxx > 1e-28*sw*largest*largest) {
		return Line{}, fmt.Errorf("all x of rows with a weight are equal: %w", ErrSingular)
	}
	b := sxy / sxx
	return Line{A: my - float64(b*mx), B: b}, nil
}

// nonNegative fits a line with A >= 0 and B >= 0: the free fit if it is
// feasible, else the best of A = 0, B = 0 and both.
func nonNegative(x, y, w []float64) (Line, error) {
	free, err := weighted(x, y, w)
	if err != nil || free.A >= 0 && free.B >= 0 {
		return free, err
	}
	var sw, sy, sxx, sxy float64
	for i := range x {
		sw += w[i]
		sy += float64(w[i] * y[i])
		sxx += float64(w[i] * float64(x[i]*x[i]))
		sxy += float64(w[i] * float64(x[i]*y[i]))
	}
	best, least := Line{}, math.Inf(1)
	for _, l := range []Line{{B: sxy / sxx}, {A: sy / sw}, {}} {
		rss := 0.0
		for i := range x {
			r := y[i] - l.At(x[i])
			rss += float64(w[i] * float64(r*r))
		}
		if l.A >= 0 && l.B >= 0 && rss < least {
			best, least = l, rss
		}
	}
	return best, nil
}
