package analytic

import (
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

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
