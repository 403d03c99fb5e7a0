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
