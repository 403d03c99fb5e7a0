package model

import (
	"math"

	"github.com/slotwave/slotwave/workload"
)

// hpPredictor scales the durations of earlier runs to the job's data.
type hpPredictor struct{ runs []HPRun }

func (h hpPredictor) Predict(q WhatIf) (Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return Prediction{}, err
	case len(h.runs) < 2:
		return Prediction{}, cannot("wants two or more recorded runs of the job on other input")
	case j.Reduces.Count > 0 && j.Reduces.ShuffleData == 0:
		return Prediction{}, cannot("%s: the bytes of its shuffle are not given", j.ID)
	case j.Reduces.Count != h.runs[0].Profile.Reduces:
		return Prediction{}, cannot("%s: %d reduces where the recorded runs had %d", j.ID, j.Reduces.Count, h.runs[0].Profile.Reduces)
	}
	p, err := HPProfile(h.runs, j.Maps.Count, float64(j.Reduces.ShuffleData)/math.Max(1, float64(j.Reduces.Count)))
	if err != nil {
		return Prediction{}, err
	}
	b, err := p.boundsOn(&g)
	if err != nil {
		return Prediction{}, err
	}
	return g.alone("hp", g.job(j, &p, (b.MapLow+b.MapUp)/2, b.Low, b.Avg, b.Up), p.phases()), nil
}

// IHPHistory predicts the durations of a job's stages from earlier runs: first
// and later shuffle and reduce, average and longest.
type IHPHistory struct {
	Shuffle1Avg, Shuffle1Max IHPRegression
	Shuffle2Avg, Shuffle2Max IHPRegression
	ReduceAvg, ReduceMax     IHPRegression
}

// ihpPredictor bounds a job by waves: by the durations of its history, or by
// those of the question, with the first shuffle stretched over the map waves
// that it waits for.
type ihpPredictor struct{ history *IHPHistory }

func (h ihpPredictor) Predict(q WhatIf) (Prediction, error) {
	j, g, err := oneJob(&q)
	if err != nil {
		return Prediction{}, err
	}
	p, err := g.aria(&q, j)
	if err != nil {
		return Prediction{}, err
	}
	p = p.scaled(g.slowest)
	i := IHPJob{
		Maps: p.Maps, MapSlots: min(g.maps, p.Maps), Reduces: p.Reduces, ReduceSlots: min(g.reduces, p.Reduces),
		MapAvg: p.MapAvg, MapMax: p.MapMax, Shuffle2Avg: p.ShuffleAvg, Shuffle2Max: p.ShuffleMax,
		ReduceAvg: p.ReduceAvg, ReduceMax: p.ReduceMax,
	}
	switch {
	case h.history != nil && p.Reduces > 0:
		if err := h.history.durations(&i, j); err != nil {
			return Prediction{}, err
		}
	case p.Reduces > 0:
		low, up := stageBounds(float64(p.Maps), float64(i.MapSlots), p.MapAvg, p.MapMax)
		i.Shuffle1Avg = p.FirstShuffleAvg + low - p.MapAvg
		i.Shuffle1Max = p.FirstShuffleMax + up - p.MapMax
	default:
		// Without reduces nothing covers the later map waves.
		i.MapsWave1 = &i.Maps
	}
	b, err := i.Bounds()
	if err != nil {
		return Prediction{}, err
	}
	low, up := stageBounds(float64(p.Maps), float64(i.MapSlots), p.MapAvg, p.MapMax)
	out := g.alone("ihp", g.job(j, &p, (low+up)/2, b.Low, b.Avg, b.Up), p.phases())
	if h.history != nil {
		out.Warnings = append(out.Warnings, IHPCaveat)
	}
	return out, nil
}

// durations predicts those of a job with other data or reduces.
func (h *IHPHistory) durations(i *IHPJob, j *workload.Job) error {
	data, reduces := float64(j.Reduces.ShuffleData), float64(j.Reduces.Count)
	for _, d := range []struct {
		of *IHPRegression
		to *float64
	}{
		{&h.Shuffle1Avg, &i.Shuffle1Avg}, {&h.Shuffle1Max, &i.Shuffle1Max},
		{&h.Shuffle2Avg, &i.Shuffle2Avg}, {&h.Shuffle2Max, &i.Shuffle2Max},
		{&h.ReduceAvg, &i.ReduceAvg}, {&h.ReduceMax, &i.ReduceMax},
	} {
		t, _, err := d.of.At(data, reduces)
		if err != nil {
			return err
		}
		*d.to = t
	}
	// Regressions of an average and a maximum may cross.
	i.Shuffle1Max, i.Shuffle2Max = math.Max(i.Shuffle1Avg, i.Shuffle1Max), math.Max(i.Shuffle2Avg, i.Shuffle2Max)
	i.ReduceMax = math.Max(i.ReduceAvg, i.ReduceMax)
	return nil
}

// crespPredictor is one regression for one kind of job.
type crespPredictor struct{ model *Cresp }

func (c crespPredictor) Predict(q WhatIf) (Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return Prediction{}, err
	case c.model == nil:
		return Prediction{}, cannot("wants coefficients fitted to training runs of the job")
	case j.Reduces.Count == 0:
		return Prediction{}, cannot("the job has no reduces")
	case j.Reduces.Count > g.reduces:
		return Prediction{}, cannot("%d reduces on %d slots: one wave only", j.Reduces.Count, g.reduces)
	}
	t, err := c.model.Time(j.Maps.Count, g.maps, j.Reduces.Count)
	if err != nil {
		return Prediction{}, err
	}
	o := g.job(j, &AriaProfile{}, 0, t, t, t)
	o.LastMap = -1
	return g.alone("cresp", o, nil), nil
}
