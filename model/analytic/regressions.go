package analytic

import (
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

type robustQuestion struct {
	X []float64 `json:"x"`
	Y []float64 `json:"y"`

	Weight      string   `json:"weight,omitempty"`
	Tune        *float64 `json:"tune"`
	NonNegative bool     `json:"nonneg,omitempty"`
	Leverage    bool     `json:"leverage,omitempty"`
}

func (q robustQuestion) answer() (fit.RobustLine, error) {
	o := fit.RobustOptions{Weight: q.Weight, NonNegative: q.NonNegative, Leverage: q.Leverage}
	if q.Tune != nil {
		var c input.Check
		c.Above("tune", *q.Tune, 0)
		if err := c.Err(); err != nil {
			return fit.RobustLine{}, err
		}
		o.Tune = *q.Tune
	}
	return fit.Robust(q.X, q.Y, o)
}

type nnlsQuestion struct {
	X [][]float64 `json:"X"`
	Y []float64   `json:"y"`
}

type nnlsAnswer struct {
	Beta []float64 `json:"beta"`
}

func (q nnlsQuestion) answer() (nnlsAnswer, error) {
	beta, err := fit.NonNegative(q.X, q.Y)
	return nnlsAnswer{beta}, err
}

type segmentQuestion struct {
	X          []float64 `json:"x"`
	Y          []float64 `json:"y"`
	MinPoints  int       `json:"min_pts,omitempty"`
	Continuous bool      `json:"continuous,omitempty"`
	Margin     float64   `json:"margin,omitempty"`
}

func defaultSegmentQuestion() segmentQuestion {
	return segmentQuestion{MinPoints: fit.DefaultMinPoints, Margin: fit.DefaultMargin}
}

// segmentAnswer is the fit with its two lines as [A1, B1, A2, B2].
type segmentAnswer struct {
	fit.SegmentFit
	Pieces []float64 `json:"pieces"`
}

func (q segmentQuestion) answer() (segmentAnswer, error) {
	f, err := fit.Segment(q.X, q.Y, fit.SegmentOptions{MinPoints: q.MinPoints, Continuous: q.Continuous, Margin: q.Margin})
	a := segmentAnswer{SegmentFit: f}
	for _, l := range f.Pieces {
		a.Pieces = append(a.Pieces, l.A, l.B)
	}
	return a, err
}

type errorsQuestion struct {
	Measured   []float64 `json:"measured"`
	Predicted  []float64 `json:"predicted"`
	Thresholds []float64 `json:"thresholds,omitempty"`
}

func defaultErrorsQuestion() errorsQuestion { return errorsQuestion{Thresholds: fit.ErrorThresholds} }

func (q errorsQuestion) answer() (fit.ErrorTable, error) {
	return fit.Errors(q.Measured, q.Predicted, q.Thresholds)
}

// relativeFit maps one cost statistic from the source node type to the target:
// A + B*source, and its value at the query.
type relativeFit struct {
	fit.Line
	Prediction float64 `json:"prediction"`
}

// relative fits a statistic measured by the same benchmarks on two node types
// and predicts it on the target (after Herodotou et al., SoCC 2011, who train a
// regression tree per statistic). The weight functions are those of fit.Robust;
// ols is the baseline.
func relative(source, target []float64, query float64, weight string) (relativeFit, error) {
	var c input.Check
	c.List("source", source, 2, 0)
	c.List("target", target, 2, 0)
	c.AtLeast("query", query, 0)
	if err := c.Err(); err != nil {
		return relativeFit{}, err
	}
	l, err := fit.Robust(source, target, fit.RobustOptions{Weight: weight})
	if err != nil {
		return relativeFit{}, err
	}
	return relativeFit{l.Line, l.At(query)}, nil
}

type relativeQuestion struct {
	Source []float64 `json:"source"`
	Target []float64 `json:"target"`
	Query  float64   `json:"query"`
	Weight string    `json:"weight,omitempty"`
}

func defaultRelativeQuestion() relativeQuestion { return relativeQuestion{Weight: "ols"} }

func (q relativeQuestion) answer() (relativeFit, error) {
	return relative(q.Source, q.Target, q.Query, q.Weight)
}
