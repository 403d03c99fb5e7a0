package fit

import (
	"math"
	"slices"
)

const (
	binRows = 16 // rows that are compared with each other
	minBins = 4  // with fewer, a bin would be too wide to be nearly straight
	farOff  = 4  // scales from the line of the bin
)

// bin is some consecutive rows with their robust line and the scale about it.
type bin struct {
	from, to int
	line     Line
	scale    float64
}

// bins cuts rows in the order of x into bins of binRows rows or more; rows of one
// x stay together. It returns nil if there are too few rows.
func bins(x, y []float64) []bin {
	if len(x) < minBins*binRows {
		return nil
	}
	var all []bin
	for from := 0; from < len(x); {
		to := from + binRows
		for to < len(x) && x[to] == x[to-1] {
			to++
		}
		if len(x)-to < binRows {
			to = len(x)
		}
		b := bin{from: from, to: to}
		b.line, b.scale = robustBin(x[from:to], y[from:to])
		all = append(all, b)
		from = to
	}
	return all
}

// robustBin returns the line of a bin and the scale of its residuals; a bin of
// one x has a median.
func robustBin(x, y []float64) (Line, float64) {
	if r, err := Robust(x, y, RobustOptions{Weight: "huber"}); err == nil {
		return r.Line, r.Scale
	}
	centre := median(slices.Clone(y))
	d := make([]float64, len(y))
	for i, v := range y {
		d[i] = math.Abs(v - centre)
	}
	return Line{A: centre}, math.Max(median(d)/normalMAD, scaleFloor(y))
}

// nearNeighbours leaves out the rows far from the line of their bin.
func nearNeighbours(x, y []float64) (keptX, keptY []float64) {
	all := bins(x, y)
	if all == nil {
		return x, y
	}
	for _, b := range all {
		for i := b.from; i < b.to; i++ {
			if math.Abs(y[i]-b.line.At(x[i])) <= farOff*b.scale {
				keptX, keptY = append(keptX, x[i]), append(keptY, y[i])
			}
		}
	}
	return keptX, keptY
}

// mostOutliers is the largest part of the rows that counts as gross outliers.
const mostOutliers = 0.1

// WithoutOutliers returns the rows in the order of x, without those far from their
// neighbours. If more than a tenth of the rows are far, the rows scatter that
// much, and it returns all of them.
func WithoutOutliers(x, y []float64) (keptX, keptY []float64) {
	x, y = byX(x, y)
	keptX, keptY = nearNeighbours(x, y)
	if float64(len(x)-len(keptX)) > mostOutliers*float64(len(x)) {
		return x, y
	}
	return keptX, keptY
}

// Proportional reports whether rows scatter in proportion to their size:
// whether, from bin to bin, the scale grows with more than the square root of
// the level. It returns false if there are too few rows.
func Proportional(x, y []float64) bool {
	x, y = byX(x, y)
	var levels, scales []float64
	for _, b := range bins(x, y) {
		if level := b.line.At(x[(b.from+b.to)/2]); level > 0 && b.scale > 0 {
			levels, scales = append(levels, Log2(level)), append(scales, Log2(b.scale))
		}
	}
	if len(levels) < minBins {
		return false
	}
	growth, err := weighted(levels, scales, nil)
	return err == nil && growth.B > 0.5
}

// byX returns the rows in the order of x.
func byX(x, y []float64) (sortedX, sortedY []float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	for _, i := range order {
		sortedX, sortedY = append(sortedX, x[i]), append(sortedY, y[i])
	}
	return sortedX, sortedY
}
