package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model/input"
)

// Scales lists the ways a distance between feature vectors can be scaled: as it
// is, by each feature's population standard deviation, by its range.
var Scales = []string{"minmax", "none", "zscore"}

// LocalOptions choose a locally weighted regression.
type LocalOptions struct {
	Intercept bool   // a constant column; the paper has none
	Scale     string // one of Scales; only distances are scaled
}

// LocalFit is the answer at one query: beta (the intercept first, if there is
// one) and the weight of every row.
type LocalFit struct {
	Prediction float64   `json:"prediction"`
	Beta       []float64 `json:"beta"`
	Weights    []float64 `json:"weights"`
}

// Local is locally weighted linear regression with a Gaussian kernel of
// bandwidth h at one query (Khan et al., TPDS 2015, eq. 21-23). x holds one row
// of features per run. The error is ErrSingular where h leaves too few rows.
func Local(x [][]float64, y, query []float64, h float64, o LocalOptions) (LocalFit, error) {
	if err := checkDesign(x, y); err != nil {
		return LocalFit{}, err
	}
	var c input.Check
	c.Above("h", h, 0)
	c.List("query", query, 0, -math.MaxFloat64)
	if len(query) != len(x[0]) {
		c.Fail("query", "%d values for %d columns of X", len(query), len(x[0]))
	}
	if err := c.Err(); err != nil {
		return LocalFit{}, err
	}
	return local(x, y, query, h, o)
}

func local(x [][]float64, y, query []float64, h float64, o LocalOptions) (LocalFit, error) {
	divisors, err := divisors(x, o.Scale)
	if err != nil {
		return LocalFit{}, err
	}
	squared, nearest := make([]float64, len(x)), math.Inf(1)
	for i, row := range x {
		for j, v := range row {
			d := (v - query[j]) / divisors[j]
			squared[i] += float64(d * d)
		}
		nearest = math.Min(nearest, squared[i])
	}
	fit := LocalFit{Weights: make([]float64, len(x))}
	design, kernel := make([][]float64, len(x)), make([]float64, len(x))
	for i, row := range x {
		fit.Weights[i] = math.Exp(-squared[i] / h / h / 2) // (21)
		// A common factor does not change beta. Dividing by the nearest row's
		// weight prevents the weights of far queries from becoming 0 by
		// underflow.
		kernel[i] = math.Exp(-(squared[i] - nearest) / h / h / 2)
		if o.Intercept {
			design[i] = append(design[i], 1)
		}
		design[i] = append(design[i], row...)
	}
	if fit.Beta, err = normalEquations(design, y, kernel); err != nil { // (22)
		return LocalFit{}, fmt.Errorf("h = %v: %w", h, err)
	}
	slopes := fit.Beta
	if o.Intercept {
		fit.Prediction, slopes = fit.Beta[0], fit.Beta[1:]
	}
	for j, b := range slopes { // (23)
		fit.Prediction += float64(b * query[j])
	}
	return fit, nil
}

// divisors returns the divisor of each feature's distance; 1 for a constant
// feature.
func divisors(x [][]float64, scale string) ([]float64, error) {
	if !slices.Contains(Scales, scale) {
		return nil, fmt.Errorf("scale: unknown %q; want one of %s", scale, strings.Join(Scales, ", "))
	}
	d := make([]float64, len(x[0]))
	for j := range d {
		d[j] = 1
		low, high, mean := x[0][j], x[0][j], 0.0
		for _, row := range x {
			low, high = math.Min(low, row[j]), math.Max(high, row[j])
			mean += row[j] / float64(len(x))
		}
		if low == high || scale == "none" {
			continue
		}
		d[j] = high - low
		if scale == "zscore" {
			variance := 0.0
			for _, row := range x {
				variance += float64((row[j]-mean)*(row[j]-mean)) / float64(len(x))
			}
			d[j] = math.Sqrt(variance)
		}
	}
	return d, nil
}

// BandwidthGrid is 12 bandwidths in scaled units, from 0.1 to 10 in equal
// ratios.
func BandwidthGrid() []float64 {
	const ratio = 1.5199110829529336 // 100^(1/11)
	grid := []float64{0.1}
	for len(grid) < 12 {
		grid = append(grid, grid[len(grid)-1]*ratio)
	}
	return grid
}

// BandwidthFit is the bandwidth chosen and the mean square error of each one
// tried, nil where some run cannot be predicted from the others.
type BandwidthFit struct {
	H   float64    `json:"h"`
	MSE []*float64 `json:"mse"`
}

// Bandwidth chooses one bandwidth for all queries by leaving out each run in
// turn. The scale of the distance is computed again without the left-out run.
// Ties go to the larger bandwidth.
func Bandwidth(x [][]float64, y, grid []float64, o LocalOptions) (BandwidthFit, error) {
	if err := checkDesign(x, y); err != nil {
		return BandwidthFit{}, err
	}
	var c input.Check
	c.List("grid", grid, 1, math.SmallestNonzeroFloat64)
	if len(x) < 2 {
		c.Fail("X", "one row: want two or more")
	}
	if err := c.Err(); err != nil {
		return BandwidthFit{}, err
	}
	fit := BandwidthFit{MSE: make([]*float64, len(grid))}
	least := math.Inf(1)
	for k, h := range grid {
		mse, err := leaveOneOut(x, y, h, o)
		if errors.Is(err, ErrSingular) {
			continue
		}
		if err != nil {
			return BandwidthFit{}, err
		}
		fit.MSE[k] = &mse
		if mse < least || mse == least && h > fit.H {
			fit.H, least = h, mse
		}
	}
	if fit.H == 0 {
		return BandwidthFit{}, fmt.Errorf("every bandwidth of the grid: %w", ErrSingular)
	}
	return fit, nil
}

func leaveOneOut(x [][]float64, y []float64, h float64, o LocalOptions) (float64, error) {
	restX, restY := make([][]float64, len(x)-1), make([]float64, len(x)-1)
	sum := 0.0
	for i := range x {
		copy(restX, x[:i])
		copy(restX[i:], x[i+1:])
		copy(restY, y[:i])
		copy(restY[i:], y[i+1:])
		fit, err := local(restX, restY, x[i], h, o)
		if err != nil {
			return 0, err
		}
		sum += float64((y[i] - fit.Prediction) * (y[i] - fit.Prediction))
	}
	return sum / float64(len(x)), nil
}
