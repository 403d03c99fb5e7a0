package analytic

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// hpPredictor scales the durations of earlier runs to the job's data.
type hpPredictor struct{ runs []HPRun }

func (h hpPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return model.Prediction{}, err
	case len(h.runs) < 2:
		return model.Prediction{}, model.NotApplicable("wants two or more recorded runs of the job on other input")
	}
	alike := slices.DeleteFunc(slices.Clone(h.runs), func(r HPRun) bool { return r.Profile.Reduces != j.Reduces.Count })
	if len(alike) < 2 {
		return model.Prediction{}, model.NotApplicable("%s: %d recorded runs with %d reduces: want two or more", j.ID, len(alike), j.Reduces.Count)
	}
	data, err := fetched(&q, j)
	if err != nil {
		return model.Prediction{}, err
	}
	p, err := HPProfile(alike, j.Maps.Count, data/float64(j.Reduces.Count))
	if errors.Is(err, fit.ErrSingular) {
		return model.Prediction{}, model.NotApplicable("wants runs that differ in data: %d runs with %d reduces: %v", len(alike), j.Reduces.Count, err)
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
	return g.alone("hp", g.job(j, &p, (b.MapLow+b.MapUp)/2, b.Low+outside, b.Avg+outside, b.Up+outside), p.phases()), nil
}

// ihpPredictor bounds a job by waves: by the durations of its history, or by
// those of the question, with the first shuffle stretched over the map waves
// that it waits for.
type ihpPredictor struct {
	history *IHPHistory
	lacking string // why runs made no history
}

func (h ihpPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	if err != nil {
		return model.Prediction{}, err
	}
	switch {
	case h.history != nil:
		return h.learnt(&q, j, &g)
	case h.lacking != "":
		return model.Prediction{}, model.NotApplicable("%s", h.lacking)
	}
	p, err := g.aria(&q, j)
	if err != nil {
		return model.Prediction{}, err
	}
	p = p.scaled(g.slowest)
	i := IHPJob{
		Maps: p.Maps, MapSlots: min(g.maps, p.Maps), Reduces: p.Reduces, ReduceSlots: min(g.reduces, p.Reduces),
		MapAvg: p.MapAvg, MapMax: p.MapMax, Shuffle1Avg: p.FirstShuffleAvg, Shuffle1Max: p.FirstShuffleMax,
		Shuffle2Avg: p.ShuffleAvg, Shuffle2Max: p.ShuffleMax, ReduceAvg: p.ReduceAvg, ReduceMax: p.ReduceMax,
	}
	if p.Reduces > 0 {
		i.cover(1)
	} else {
		// Without reduces nothing covers the later map waves.
		i.MapsWave1 = &i.Maps
	}
	return ihpAnswer(j, &g, i, 0)
}

// learnt predicts a job by its earlier runs.
func (h ihpPredictor) learnt(q *model.WhatIf, j *workload.Job, g *grounds) (model.Prediction, error) {
	data, err := fetched(q, j)
	if err != nil {
		return model.Prediction{}, err
	}
	i, err := h.history.job(j.Maps.Count, g.maps, j.Reduces.Count, g.reduces, data)
	if errors.Is(err, fit.ErrSingular) {
		return model.Prediction{}, model.NotApplicable("wants runs with about as much data and as many reduces: %v", err)
	}
	if err != nil {
		return model.Prediction{}, err
	}
	p, err := ihpAnswer(j, g, i, h.history.outside)
	if err != nil || math.IsNaN(h.history.short) {
		return p, err
	}
	// The bounds count parts of waves; a wave takes as long with few reduces.
	whole := p
	if i.Reduces > i.ReduceSlots {
		i.Reduces = (i.Reduces + i.ReduceSlots - 1) / i.ReduceSlots * i.ReduceSlots
		if whole, err = ihpAnswer(j, g, i, h.history.outside); err != nil {
			return p, err
		}
	}
	p.Safe = time.Duration(float64(whole.Mean) * (1 + h.history.short))
	return p, nil
}

// ihpAnswer bounds a job, and adds so many seconds that its stages do not cover.
func ihpAnswer(j *workload.Job, g *grounds, i IHPJob, outside float64) (model.Prediction, error) {
	b, err := i.Bounds()
	if err != nil {
		return model.Prediction{}, err
	}
	low, up := stageBounds(float64(i.Maps), float64(i.MapSlots), i.MapAvg, i.MapMax)
	p := AriaProfile{Maps: i.Maps, Reduces: i.Reduces, MapAvg: i.MapAvg, ShuffleAvg: i.Shuffle2Avg, ReduceAvg: i.ReduceAvg}
	return g.alone("ihp", g.job(j, &p, (low+up)/2, b.Low+outside, b.Avg+outside, b.Up+outside), p.phases()), nil
}

// fetched is the bytes of a job's map output: as stated, or as its program
// leaves them.
func fetched(q *model.WhatIf, j *workload.Job) (float64, error) {
	if j.Reduces.Count == 0 || j.Reduces.ShuffleData > 0 {
		return float64(j.Reduces.ShuffleData), nil
	}
	if j.Program == "" || j.Maps.InputBytes == 0 {
		return 0, model.NotApplicable("%s: the bytes of its shuffle are not given", j.ID)
	}
	c, err := taskplan.ReadConf(j.Conf)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", j.ID, err)
	}
	p, err := plannerOf(q, j, c)
	if err != nil {
		return 0, err
	}
	m, err := p.Map(p.MapFlow(float64(j.Maps.InputBytes) / float64(j.Maps.Count)))
	return m.Output.Stored * float64(j.Maps.Count), err
}

// crespPredictor is one regression for one kind of job.
type crespPredictor struct {
	model   *Cresp
	lacking string // why runs made no model
}

func (c crespPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return model.Prediction{}, err
	case c.model == nil && c.lacking != "":
		return model.Prediction{}, model.NotApplicable("%s", c.lacking)
	case c.model == nil:
		return model.Prediction{}, model.NotApplicable("wants coefficients fitted to training runs of the job")
	case j.Reduces.Count == 0:
		return model.Prediction{}, model.NotApplicable("the job has no reduces")
	case j.Reduces.Count > g.reduces:
		return model.Prediction{}, model.NotApplicable("%d reduces on %d slots: one wave only", j.Reduces.Count, g.reduces)
	}
	t, err := c.model.Time(j.Maps.Count, g.maps, j.Reduces.Count)
	if err != nil {
		return model.Prediction{}, err
	}
	o := g.job(j, &AriaProfile{}, 0, t, t, t)
	o.LastMap = -1
	return g.alone("cresp", o, nil), nil
}
