package fit

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/slotwave/slotwave/model/input"
)

// SegmentOptions choose between one line and two.
type SegmentOptions struct {
	MinPoints  int     // rows on each side of a breakpoint
	Continuous bool    // the two lines meet at the breakpoint
	Margin     float64 // two pieces if the BIC falls by more

	// SetAside leaves out rows that are far from their neighbours. The search
	// and the BIC go by least squares, which a few gross outliers blind; models.md
	// 7.5 has no such step.
	SetAside bool
}

// DefaultMargin is the fall of the BIC that decides for two lines: "very
// strong" evidence.
const DefaultMargin = 10

// SegmentFit compares one line with the best two. The fields of the two lines
// are nil where no breakpoint leaves enough rows on both sides.
type SegmentFit struct {
	Line            // the single line
	RSS1   float64  `json:"rss1"`
	RSS2   *float64 `json:"rss2"`
	Tau    *float64 `json:"tau"`
	Pieces []Line   `json:"-"` // left and right of Tau, by least squares
	BIC1   float64  `json:"bic1"`
	BIC2   *float64 `json:"bic2"`
	F      *float64 `json:"F"` // nil where two lines leave nothing to compare with
	Two    bool     `json:"two_pieces"`
}

// Segment tells whether rows lie on one line or on two (models.md 7.5). It
// tries every midpoint between distinct x with MinPoints rows and two distinct
// x on both sides, takes the one of least residual sum and compares by BIC; the
// breakpoint counts as a parameter.
func Segment(x, y []float64, o SegmentOptions) (SegmentFit, error) {
	if err := checkSegment(x, y, o); err != nil {
		return SegmentFit{}, err
	}
	x, y = byX(x, y)
	if o.SetAside {
		x, y = nearNeighbours(x, y)
	}
	one, err := weighted(x, y, nil)
	if err != nil {
		return SegmentFit{}, err
	}
	floor := rssFloor(y)
	n := float64(len(x))
	bic := func(rss, p float64) float64 {
		return float64(n*math.Log(math.Max(rss, floor)/n)) + float64(p*math.Log(n))
	}
	fit := SegmentFit{Line: one, RSS1: rss(x, y, one)}
	fit.BIC1 = bic(fit.RSS1, 2)

	split := bestSplit(x, y, o, floor)
	if split == 0 {
		return fit, nil
	}
	tau := (x[split-1] + x[split]) / 2
	left, right, rss2, err := piecesAt(x, y, split, tau, o.Continuous)
	if err != nil {
		return SegmentFit{}, err
	}
	p := 5.0
	if o.Continuous {
		p = 4
	}
	bic2 := bic(rss2, p)
	fit.Tau, fit.RSS2, fit.BIC2, fit.Pieces = &tau, &rss2, &bic2, []Line{left, right}
	fit.F = chowF(fit.RSS1, rss2, len(x), o.Continuous)
	fit.Two = fit.BIC1-bic2 > o.Margin
	return fit, nil
}

// Chow tests a breakpoint that was fixed beforehand, such as ExpectedBreak: F
// and its p-value. For a breakpoint that was searched the p-value is too small.
func Chow(x, y []float64, tau float64, continuous bool) (f, p float64, err error) {
	if err := checkSegment(x, y, SegmentOptions{MinPoints: 2}); err != nil {
		return 0, 0, err
	}
	x, y = byX(x, y)
	one, err := weighted(x, y, nil)
	if err != nil {
		return 0, 0, err
	}
	split, _ := slices.BinarySearchFunc(x, tau, func(v, tau float64) int {
		if v <= tau {
			return -1
		}
		return 1
	})
	if split < 2 || len(x)-split < 2 {
		return 0, 0, fmt.Errorf("tau: %v leaves fewer than two rows on one side", tau)
	}
	_, _, rss2, err := piecesAt(x, y, split, tau, continuous)
	if err != nil {
		return 0, 0, err
	}
	ratio := chowF(rss(x, y, one), rss2, len(x), continuous)
	if ratio == nil {
		return 0, 0, fmt.Errorf("two lines through %d rows leave no residual: %w", len(x), ErrSingular)
	}
	q := chowQ(continuous)
	return *ratio, distuv.F{D1: q, D2: float64(len(x)) - 2 - q}.Survival(*ratio), nil
}

func checkSegment(x, y []float64, o SegmentOptions) error {
	var c input.Check
	c.Count("min_pts", o.MinPoints, 2)
	c.Number("margin", o.Margin)
	if err := c.Err(); err != nil {
		return err
	}
	return checkRows(x, y)
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

const (
	binRows = 16 // rows that are compared with one another
	minBins = 4  // below, a bin would span too much to be nearly straight
	farOff  = 4  // scales from the line of the bin
)

// nearNeighbours leaves out the rows that are far off the robust line of their
// bin: at least binRows consecutive rows, all those of one x together.
func nearNeighbours(x, y []float64) (keptX, keptY []float64) {
	if len(x) < minBins*binRows {
		return x, y
	}
	for from := 0; from < len(x); {
		to := min(from+binRows, len(x))
		for to < len(x) && x[to] == x[to-1] || len(x)-to < binRows && to < len(x) {
			to++
		}
		line, scale := robustBin(x[from:to], y[from:to])
		for i := from; i < to; i++ {
			if math.Abs(y[i]-line.At(x[i])) <= farOff*scale {
				keptX, keptY = append(keptX, x[i]), append(keptY, y[i])
			}
		}
		from = to
	}
	return keptX, keptY
}

// robustBin is the line of a bin and the scale of its residuals; a bin of one x
// has a median.
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

func rss(x, y []float64, l Line) float64 {
	sum := 0.0
	for i := range x {
		r := y[i] - l.At(x[i])
		sum += float64(r * r)
	}
	return sum
}

// rssFloor is the residual sum below which a fit counts as perfect: 1e-12 of
// the total sum of squares, and never less than rounding leaves of a constant.
func rssFloor(y []float64) float64 {
	mean, tss, about0 := 0.0, 0.0, 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		tss += float64((v - mean) * (v - mean))
		about0 += float64(v * v)
	}
	return math.Max(math.Max(1e-12*tss, 1e-24*about0), 1e-300)
}

func chowQ(continuous bool) float64 {
	if continuous {
		return 1
	}
	return 2
}

// chowF is the F ratio of two lines against one, nil where it is undefined.
func chowF(rss1, rss2 float64, n int, continuous bool) *float64 {
	q := chowQ(continuous)
	rest := float64(n) - 2 - q
	if rest <= 0 || rss2 <= 0 {
		return nil
	}
	f := (rss1 - rss2) / q / (rss2 / rest)
	return &f
}

// piecesAt fits both sides of a breakpoint; split is the first row beyond it.
func piecesAt(x, y []float64, split int, tau float64, continuous bool) (left, right Line, sum float64, err error) {
	if !continuous {
		if left, err = weighted(x[:split], y[:split], nil); err == nil {
			right, err = weighted(x[split:], y[split:], nil)
		}
	} else {
		design := make([][]float64, len(x)) // y = a + b*x + d*max(0, x-tau)
		for i, v := range x {
			design[i] = []float64{1, v, math.Max(0, v-tau)}
		}
		var beta []float64
		if beta, err = solve(design, y); err == nil {
			left = Line{beta[0], beta[1]}
			right = Line{beta[0] - float64(beta[2]*tau), beta[1] + beta[2]}
		}
	}
	if err != nil {
		return Line{}, Line{}, 0, fmt.Errorf("breakpoint %v: %w", tau, err)
	}
	return left, right, rss(x[:split], y[:split], left) + rss(x[split:], y[split:], right), nil
}

// bestSplit returns the first row beyond the best breakpoint of sorted rows, 0
// where there is none. Sums from both ends make each candidate a constant
// amount of work; the winner is fitted again from the rows.
func bestSplit(x, y []float64, o SegmentOptions, floor float64) int {
	n := len(x)
	before, after := make([]moments, n+1), make([]moments, n+1)
	for i := range n {
		before[i+1] = before[i].with(x[i], y[i])
	}
	for i := n - 1; i >= 0; i-- {
		after[i] = after[i+1].with(x[i], y[i])
	}
	best, least := 0, math.Inf(1)
	for i := o.MinPoints; i <= n-o.MinPoints; i++ {
		if x[i-1] == x[i] || x[0] == x[i-1] || x[i] == x[n-1] {
			continue
		}
		sum := before[i].rss() + after[i].rss()
		if o.Continuous {
			sum = hingeRSS(before[i], after[i], (x[i-1]+x[i])/2)
		}
		if sum = math.Max(sum, floor); sum < least {
			best, least = i, sum
		}
	}
	return best
}

// moments are the mean and the centred sums of some rows, updated one row at a
// time (Welford), which keeps its digits where sums of squares would not.
type moments struct{ n, x, y, xx, xy, yy float64 }

func (m moments) with(x, y float64) moments {
	m.n++
	dx, dy := x-m.x, y-m.y
	m.x += dx / m.n
	m.y += dy / m.n
	m.xx += float64(dx * (x - m.x))
	m.xy += float64(dx * (y - m.y))
	m.yy += float64(dy * (y - m.y))
	return m
}

// rss is the residual sum about the line of the rows.
func (m moments) rss() float64 { return m.yy - float64(m.xy*m.xy)/m.xx }

// hingeRSS is the residual sum of y = a + b*x + d*max(0, x-tau) from the
// moments of the rows on both sides. On the left the hinge is 0, on the right
// it is x-tau, so that every centred sum over all rows follows from the two.
func hingeRSS(l, r moments, tau float64) float64 {
	n := l.n + r.n
	share := l.n * r.n / n
	dx, dy, h := r.x-l.x, r.y-l.y, r.x-tau // differences of the means, right minus left
	xx := l.xx + r.xx + float64(share*float64(dx*dx))
	xy := l.xy + r.xy + float64(share*float64(dx*dy))
	yy := l.yy + r.yy + float64(share*float64(dy*dy))
	hh := r.xx + float64(share*float64(h*h))
	hx := r.xx + float64(share*float64(h*dx))
	hy := r.xy + float64(share*float64(h*dy))
	// Take x out of the hinge and of y, then the hinge out of y.
	hh -= float64(hx*hx) / xx
	hy -= float64(hx*xy) / xx
	return yy - float64(xy*xy)/xx - float64(hy*hy)/hh
}
