package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/slotwave/slotwave/model/input"
)

// singularPivot is the smallest pivot of normal equations relative to their
// largest diagonal element; for a QR decomposition, of the square of R's.
const singularPivot = 1e-13

// columnScales returns the largest magnitude of each column, 1 for a column of
// zeros. Dividing by it keeps units from deciding what counts as singular.
func columnScales(x [][]float64) []float64 {
	scales := make([]float64, len(x[0]))
	for j := range scales {
		for _, row := range x {
			scales[j] = math.Max(scales[j], math.Abs(row[j]))
		}
		if scales[j] == 0 {
			scales[j] = 1
		}
	}
	return scales
}

// solve fits y by least squares on the columns of x (row by row, all of one
// length) through a QR decomposition.
func solve(x [][]float64, y []float64) ([]float64, error) {
	n, p := len(x), len(x[0])
	if n < p {
		return nil, fmt.Errorf("%d rows for %d coefficients: %w", n, p, ErrSingular)
	}
	scales := columnScales(x)
	a := mat.NewDense(n, p, nil)
	squares := make([]float64, p)
	for i, row := range x {
		for j, v := range row {
			v /= scales[j]
			a.Set(i, j, v)
			squares[j] += float64(v * v)
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	var r mat.Dense
	qr.RTo(&r)
	for j := range p {
		if d := r.At(j, j); !(d*d > singularPivot*slices.Max(squares)) {
			return nil, ErrSingular
		}
	}
	var beta mat.VecDense
	if err := qr.SolveVecTo(&beta, false, mat.NewVecDense(n, y)); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrSingular, err)
	}
	coefficients := make([]float64, p)
	for j := range coefficients {
		coefficients[j] = beta.AtVec(j) / scales[j]
	}
	return coefficients, nil
}

// normalEquations solves X'WX*beta = X'Wy by elimination with row exchanges, W
// being diagonal. It loses twice the digits of solve on columns that are nearly
// dependent; the locally weighted regression is defined by it.
func normalEquations(x [][]float64, y, w []float64) ([]float64, error) {
	p, scales := len(x[0]), columnScales(x)
	m := make([][]float64, p) // the equations, right-hand side last
	largest := 0.0
	for j := range m {
		m[j] = make([]float64, p+1)
		for i, row := range x {
			a := w[i] * (row[j] / scales[j])
			for k, v := range row {
				m[j][k] += float64(a * (v / scales[k]))
			}
			m[j][p] += float64(a * y[i])
		}
		largest = math.Max(largest, m[j][j])
	}
	for j := range p {
		best := j
		for k := j + 1; k < p; k++ {
			if math.Abs(m[k][j]) > math.Abs(m[best][j]) {
				best = k
			}
		}
		m[j], m[best] = m[best], m[j]
		if !(math.Abs(m[j][j]) >= singularPivot*largest) || m[j][j] == 0 {
			return nil, ErrSingular
		}
		for k := range p {
			if k == j {
				continue
			}
			factor := m[k][j] / m[j][j]
			for i := j; i <= p; i++ {
				m[k][i] -= float64(factor * m[j][i])
			}
		}
	}
	beta := make([]float64, p)
	for j := range beta {
		beta[j] = m[j][p] / m[j][j] / scales[j]
	}
	return beta, nil
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// checkDesign wants a full matrix of finite numbers and one y per row.
func checkDesign(x [][]float64, y []float64) error {
	var c input.Check
	switch {
	case len(x) == 0:
		c.Fail("X", "no rows")
	case len(x[0]) == 0:
		c.Fail("X[0]", "no columns")
	case len(y) != len(x):
		c.Fail("y", "%d values for %d rows of X", len(y), len(x))
	default:
		for i, row := range x {
			if len(row) == len(x[0]) && !slices.ContainsFunc(row, notFinite) {
				continue // the usual case allocates no name
			}
			name := fmt.Sprintf("X[%d]", i)
			if len(row) != len(x[0]) {
				c.Fail(name, "%d columns, the first row has %d", len(row), len(x[0]))
			}
			c.List(name, row, 0, -math.MaxFloat64)
		}
		c.List("y", y, 0, -math.MaxFloat64)
	}
	return c.Err()
}

// NonNegative minimises |X*beta - y| over beta >= 0 (Lawson and Hanson's active
// set). X is given by rows. At the solution the gradient X'(y - X*beta) is 0
// where beta > 0 and not positive elsewhere.
func NonNegative(x [][]float64, y []float64) ([]float64, error) {
	if err := checkDesign(x, y); err != nil {
		return nil, err
	}
	p := len(x[0])
	beta := make([]float64, p)
	free := make([]bool, p)
	useless := make([]bool, p) // entering it made the free columns dependent

	// gradient returns the gradient of column j relative to its largest
	// possible value.
	gradient := func(j int) float64 {
		var g, columns, values float64
		for i, row := range x {
			r := y[i]
			for k, b := range beta {
				r -= float64(row[k] * b)
			}
			g += float64(row[j] * r)
			columns += float64(row[j] * row[j])
			values += float64(y[i] * y[i])
		}
		if largest := math.Sqrt(columns * values); largest > 0 {
			return g / largest
		}
		return 0
	}
	// Every round adds a column that lowers the sum of squares, or finds that it
	// cannot; the bound guards against a cycle through rounding.
	for range 3 * p * (p + 1) {
		enter, steepest := -1, 0.0
		for j := range p {
			if free[j] || useless[j] {
				continue
			}
			if g := gradient(j); g > math.Max(steepest, 1e-12) {
				enter, steepest = j, g
			}
		}
		if enter < 0 {
			return beta, nil
		}
		free[enter] = true
		target, err := solveFree(x, y, free)
		if err != nil || target[enter] <= 0 {
			free[enter], useless[enter] = false, true
			continue
		}
		clear(useless)
		for {
			// Go towards the free solution until a coefficient would become
			// negative.
			step, stop := 1.0, -1
			for j := range p {
				if free[j] && target[j] <= 0 {
					if s := beta[j] / (beta[j] - target[j]); s < step {
						step, stop = s, j
					}
				}
			}
			for j := range p {
				if free[j] {
					beta[j] += float64(step * (target[j] - beta[j]))
				}
			}
			if stop < 0 {
				break
			}
			for j := range p {
				if free[j] && (j == stop || beta[j] <= 0) {
					beta[j], free[j] = 0, false
				}
			}
			if target, err = solveFree(x, y, free); err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("non-negative least squares: %w", ErrNotConverged)
}

// solveFree returns the least squares solution on the free columns, 0
// elsewhere.
func solveFree(x [][]float64, y []float64, free []bool) ([]float64, error) {
	var columns []int
	for j, f := range free {
		if f {
			columns = append(columns, j)
		}
	}
	beta := make([]float64, len(free))
	if len(columns) == 0 {
		return beta, nil
	}
	part, cells := make([][]float64, len(x)), make([]float64, len(x)*len(columns))
	for i, row := range x {
		part[i], cells = cells[:len(columns)], cells[len(columns):]
		for k, j := range columns {
			part[i][k] = row[j]
		}
	}
	some, err := solve(part, y)
	if err != nil {
		return nil, err
	}
	for k, j := range columns {
		beta[j] = some[k]
	}
	return beta, nil
}

// ErrNotConverged says that reweighting did not settle; redescending weight
// functions can cycle.
var ErrNotConverged = errors.New("the robust fit did not converge")
