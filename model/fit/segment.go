package fit

import (
	"errors"
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
	// and the BIC use least squares, which a few gross outliers mislead.
	SetAside bool

	// Proportional says that rows scatter in proportion to their size; residuals
	// then count relative to it.
	Proportional bool
}

// DefaultMargin is the fall of the BIC that decides for two lines: "very
// strong" evidence.
const DefaultMargin = 10

// DefaultMinPoints is the rows wanted on each side of a breakpoint unless asked
// otherwise.
const DefaultMinPoints = 3

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
	F      *float64 `json:"F"` // nil if two lines leave no residual
	Two    bool     `json:"two_pieces"`
}

// Segment reports whether rows lie on one line or on two. It tries every
// midpoint between distinct x with MinPoints rows and two distinct x on both
// sides, takes the one of least residual sum and compares by BIC; the breakpoint
// counts as a parameter.
func Segment(x, y []float64, o SegmentOptions) (SegmentFit, error) {
	if err := checkSegment(x, y, o); err != nil {
		return SegmentFit{}, err
	}
	x, y = byX(x, y)
	if o.SetAside {
		x, y = nearNeighbours(x, y)
	}
	rows := rows{x, y, slices.Repeat([]float64{1}, len(x))}
	if o.Proportional {
		line, err := Robust(x, y, RobustOptions{Proportional: true})
		switch {
		case errors.Is(err, ErrSingular), errors.Is(err, ErrNotConverged): // a step: the line is 0 amid the rows
		case err != nil:
			return SegmentFit{}, err
		default:
			levelsAlong(line.Line, x, rows.w)
			for i, level := range rows.w {
				rows.w[i] = 1 / level / level
			}
		}
	}
	one, err := weighted(x, y, rows.w)
	if err != nil {
		return SegmentFit{}, err
	}
	floor := rows.floor()
	n := float64(len(x))
	bic := func(rss, p float64) float64 {
		return float64(n*Log(math.Max(rss, floor)/n)) + float64(p*Log(n))
	}
	fit := SegmentFit{Line: one, RSS1: rows.rss(one)}
	fit.BIC1 = bic(fit.RSS1, 2)

	split := rows.bestSplit(o, floor)
	if split == 0 {
		return fit, nil
	}
	tau := (x[split-1] + x[split]) / 2
	left, right, rss2, err := rows.piecesAt(split, tau, o.Continuous)
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
	rows := rows{x, y, slices.Repeat([]float64{1}, len(x))}
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
	_, _, rss2, err := rows.piecesAt(split, tau, continuous)
	if err != nil {
		return 0, 0, err
	}
	ratio := chowF(rows.rss(one), rss2, len(x), continuous)
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

// rows are in the order of x, with the weight of each.
type rows struct{ x, y, w []float64 }

func (r rows) part(from, to int) rows { return rows{r.x[from:to], r.y[from:to], r.w[from:to]} }

func (r rows) rss(l Line) float64 {
	sum := 0.0
	for i := range r.x {
		d := r.y[i] - l.At(r.x[i])
		sum += float64(r.w[i] * float64(d*d))
	}
	return sum
}

// floor returns the residual sum below which a fit counts as perfect: 1e-12 of
// the total sum of squares, and never less than rounding leaves of a constant.
func (r rows) floor() float64 {
	var m moments
	about0 := 0.0
	for i, v := range r.y {
		m = m.with(r.x[i], v, r.w[i])
		about0 += float64(r.w[i] * float64(v*v))
	}
	return math.Max(math.Max(1e-12*m.yy, 1e-24*about0), 1e-300)
}

func chowQ(continuous bool) float64 {
	if continuous {
		return 1
	}
	return 2
}

// chowF returns the F ratio of two lines against one, nil where it is
// undefined.
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
func (r rows) piecesAt(split int, tau float64, continuous bool) (left, right Line, sum float64, err error) {
	low, high := r.part(0, split), r.part(split, len(r.x))
	if continuous {
		left, right, err = r.hinge(tau)
	} else if left, err = weighted(low.x, low.y, low.w); err == nil {
		right, err = weighted(high.x, high.y, high.w)
	}
	if err != nil {
		return Line{}, Line{}, 0, fmt.Errorf("breakpoint %v: %w", tau, err)
	}
	return left, right, low.rss(left) + high.rss(right), nil
}

// hinge fits y = a + b*x + d*max(0, x-tau).
func (r rows) hinge(tau float64) (left, right Line, err error) {
	design, values := make([][]float64, len(r.x)), make([]float64, len(r.x))
	for i, v := range r.x {
		root := math.Sqrt(r.w[i])
		design[i] = []float64{root, root * v, root * math.Max(0, v-tau)}
		values[i] = root * r.y[i]
	}
	beta, err := solve(design, values)
	if err != nil {
		return Line{}, Line{}, err
	}
	return Line{beta[0], beta[1]}, Line{beta[0] - float64(beta[2]*tau), beta[1] + beta[2]}, nil
}

// bestSplit returns the first row beyond the best breakpoint of sorted rows, 0
// if there is none. Sums from both ends make each candidate cost constant time.
// The best one is fitted again from the rows.
func (r rows) bestSplit(o SegmentOptions, floor float64) int {
	x, n := r.x, len(r.x)
	before, after := make([]moments, n+1), make([]moments, n+1)
	for i := range n {
		before[i+1] = before[i].with(x[i], r.y[i], r.w[i])
	}
	for i := n - 1; i >= 0; i-- {
		after[i] = after[i+1].with(x[i], r.y[i], r.w[i])
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

// moments are the weight, the means and the centred sums of some rows, updated
// one row at a time (Welford), which keeps the digits that sums of squares lose.
type moments struct{ n, x, y, xx, xy, yy float64 }

func (m moments) with(x, y, w float64) moments {
	m.n += w
	dx, dy := x-m.x, y-m.y
	m.x += float64(w / m.n * dx)
	m.y += float64(w / m.n * dy)
	m.xx += float64(w * float64(dx*(x-m.x)))
	m.xy += float64(w * float64(dx*(y-m.y)))
	m.yy += float64(w * float64(dy*(y-m.y)))
	return m
}

// rss returns the residual sum about the line of the rows.
func (m moments) rss() float64 { return m.yy - float64(m.xy*m.xy)/m.xx }

// hingeRSS returns the residual sum of y = a + b*x + d*max(0, x-tau) from the
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
