package analytic

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

// robustFrom is the smallest number of runs to which a scaling line is fitted
// robustly. With fewer, an outlier cannot be recognised.
const robustFrom = 5

// scalingLine fits one line through measured points: least squares, or robustly
// where there are enough of them.
func scalingLine(x, y []float64) (fit.Line, error) {
	if len(x) < robustFrom {
		return fit.LeastSquares(x, y)
	}
	r, err := fit.Robust(x, y, fit.RobustOptions{})
	return r.Line, err
}

// scaling is one duration as a function of the intermediate data per reduce
// task: C0 + C1*D, and its value at the data asked for.
type scaling struct {
	C0         float64 `json:"C0"`
	C1         float64 `json:"C1"`
	Prediction float64 `json:"prediction"`
}

// hpScale fits a duration to the intermediate data per reduce task of runs with
// the same number of reduces (HP model; Verma et al., Middleware 2011, section
// 3). Data in any one unit, durations in seconds.
func hpScale(data, durations []float64, query float64) (scaling, error) {
	var c input.Check
	c.List("data", data, 2, 0)
	c.List("duration", durations, 2, 0)
	c.AtLeast("query", query, 0)
	if err := c.Err(); err != nil {
		return scaling{}, err
	}
	l, err := scalingLine(data, durations)
	if err != nil {
		return scaling{}, err
	}
	return scaling{l.A, l.B, l.At(query)}, nil
}

// HPRun is one measured run of a job: its profile, with the intermediate data
// per reduce task, (input * map selectivity)/N_R.
type HPRun struct {
	Profile AriaProfile
	Data    float64
	Outside float64 // seconds before the first map and after the last task
}

// HPProfile predicts the profile of the same job on other input: maps of the
// same block size keep their durations, each shuffle and reduce duration is
// scaled to data, the intermediate data per reduce task. All runs have the same
// number of reduces. AriaProfile.Bounds then bounds the job.
func HPProfile(runs []HPRun, maps int, data float64) (AriaProfile, error) {
	var c input.Check
	if len(runs) < 2 {
		c.Fail("runs", "%d: want 2 or more", len(runs))
	}
	c.Count("N_M", maps, 1)
	c.AtLeast("data", data, 0)
	for i := range runs {
		r := &runs[i]
		if r.Profile.Reduces != runs[0].Profile.Reduces {
			c.Fail(fmt.Sprintf("runs[%d].N_R", i), "%d: want %d as in the first run", r.Profile.Reduces, runs[0].Profile.Reduces)
		}
		r.Profile.check(&c)
	}
	if err := c.Err(); err != nil {
		return AriaProfile{}, err
	}

	p := unknownAria()
	p.Maps, p.Reduces = maps, runs[0].Profile.Reduces
	for _, r := range runs {
		p.MapAvg += r.Profile.MapAvg / float64(len(runs))
		p.MapMax = math.Max(p.MapMax, r.Profile.MapMax)
	}
	if p.Reduces == 0 {
		return p, nil
	}
	later := p.later()
	for k, name := range laterNames {
		x, y := make([]float64, len(runs)), make([]float64, len(runs))
		for i := range runs {
			x[i], y[i] = runs[i].Data, *runs[i].Profile.later()[k]
		}
		s, err := hpScale(x, y, data)
		if err != nil {
			return AriaProfile{}, fmt.Errorf("%s: %w", name, err)
		}
		if s.Prediction < 0 {
			return AriaProfile{}, model.NotApplicable("%s: the fitted line gives %v s at %v: too far from the runs", name, s.Prediction, data)
		}
		*later[k] = s.Prediction
	}
	uncross(later)
	return p, nil
}

var hpModel = Model{
	Name: "hp", About: "HP: ARIA on scaled durations; needs runs on other input",
	Accounts: []Cause{Contention, Overlap},
	New: func(k Inputs) (model.Predictor, error) {
		var p hpPredictor
		for _, r := range k.Runs {
			if n := r.Profile.Reduces; n > 0 {
				p.runs = append(p.runs, HPRun{Profile: r.Profile, Data: r.Data / float64(n), Outside: r.Outside})
			}
		}
		return p, nil
	},
}

// hpPredictor scales the durations of recorded runs to the data of the job.
type hpPredictor struct{ runs []HPRun }

func (h hpPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return model.Prediction{}, err
	case len(h.runs) < 2:
		return model.Prediction{}, model.NotApplicable("needs two or more recorded runs of the job on other input")
	}
	alike := slices.DeleteFunc(slices.Clone(h.runs), func(r HPRun) bool { return r.Profile.Reduces != j.Reduces.Count })
	if len(alike) < 2 {
		return model.Prediction{}, model.NotApplicable("%s: %d recorded runs with %d reduces: want two or more", j.ID, len(alike), j.Reduces.Count)
	}
	data, err := mapOutputBytes(&q, j)
	if err != nil {
		return model.Prediction{}, err
	}
	p, err := HPProfile(alike, j.Maps.Count, data/float64(j.Reduces.Count))
	if errors.Is(err, fit.ErrSingular) {
		return model.Prediction{}, model.NotApplicable("needs runs that differ in data: got %d runs with %d reduces: %v", len(alike), j.Reduces.Count, err)
	}
	if err != nil {
		return model.Prediction{}, err
	}
	b, err := p.boundsOn(&g)
	if err != nil {
		return model.Prediction{}, err
	}
	outside := 0.0
	for _, r := range alike {
		outside += r.Outside / float64(len(alike))
	}
	t := jobTimes{(b.MapLow + b.MapUp) / 2, b.Low + outside, b.Avg + outside, b.Up + outside}
	return g.prediction("hp", g.outcome(j, &p, t), p.phases()), nil
}

type hpQuestion struct {
	Data      []float64 `json:"data_gb" unit:"GB"`
	Durations []float64 `json:"duration_s" unit:"s"`
	Query     float64   `json:"query_gb" unit:"GB"`
}

func (q hpQuestion) answer() (scaling, error) { return hpScale(q.Data, q.Durations, q.Query) }
