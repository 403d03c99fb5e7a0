package analytic

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/workload"
)

// ihpHistory predicts the durations of a job's stages from earlier runs. Its first
// shuffle is the part after the last map, because the part during the maps follows
// from their waves. It counts data and reduces per map slot, because twice the
// nodes with twice the data and reduces do the same work per node. So it holds for
// other numbers of slots. If printed, as in the paper, the regressions are on all data and
// reduces, without a constant and unscaled, and the first shuffle is whole.
type ihpHistory struct {
	printed bool

	mapAvg, mapMax float64          // seconds, mean over the runs
	stretch        float64          // mean ratio of the measured map stage to the mean of its bounds: the idle time between heartbeats
	outside        float64          // mean seconds before the first and after the last task
	later          [6]ihpRegression // as in AriaProfile.later

	// excess05 and excess95 are quantiles of the relative excess of a run over its
	// prediction from the other runs. Only runs within the range of the others
	// count. They are NaN with fewer than leastTried runs.
	excess05, excess95 float64

	// edge05 and edge95 are the same of runs at the edge of the history, predicted
	// from runs that do not surround them.
	edge05, edge95 float64
}

// leastTried is the least number of runs that determines a 0.95 quantile.
const leastTried = 20

func newIHPHistory(runs []RecordedRun, printed bool) (*ihpHistory, error) {
	h := &ihpHistory{printed: printed}
	var kept []RecordedRun
	alike := true // in reduces per map slot, which then cannot be a regressor
	for _, r := range runs {
		if r.Profile.Reduces > 0 {
			kept = append(kept, r)
			alike = alike && r.Profile.Reduces == kept[0].Profile.Reduces && r.MapSlots == kept[0].MapSlots
		}
	}
	h.average(kept)
	options := fit.LocalOptions{Intercept: !alike, Scale: "zscore"}
	if printed {
		options = fit.LocalOptions{Scale: "none"}
	}
	for k := range h.later {
		x, y := make([][]float64, len(kept)), make([]float64, len(kept))
		data, reduces := map[float64]bool{}, map[float64]bool{}
		for i := range kept {
			r := &kept[i]
			x[i], y[i] = h.at(r.Data, r.Profile.Reduces, r.MapSlots), *r.Profile.later()[k]
			if printed && k < 2 { // the whole first shuffle
				y[i] += math.Max(0, r.MapStage-r.Profile.MapAvg)
			}
			data[x[i][0]], reduces[x[i][1]] = true, true
		}
		var err error
		h.later[k], err = fitIHP(x, y, options)
		if errors.Is(err, fit.ErrSingular) {
			return nil, fmt.Errorf("needs runs that differ in data and reduces: got %d runs (different amounts of data: %d, different numbers of reduces per map slot: %d)", len(kept), len(data), len(reduces))
		}
		if err != nil {
			return nil, err
		}
	}
	var inside, edge []float64
	for i := range kept {
		rest := h.without(i, kept)
		t, err := rest.time(&kept[i])
		if err != nil || t <= 0 {
			continue
		}
		if late := kept[i].Time/t - 1; rest.later[0].surrounds(h.later[0].x[i]) {
			inside = append(inside, late)
		} else {
			edge = append(edge, late)
		}
	}
	h.excess05, h.excess95 = ninety(inside)
	h.edge05, h.edge95 = ninety(edge)
	return h, nil
}

// ninety returns the 0.05 and 0.95 quantiles of relative errors, at most and at least
// 0; NaN with fewer than leastTried.
func ninety(errors []float64) (low, high float64) {
	if len(errors) < leastTried {
		return math.NaN(), math.NaN()
	}
	slices.Sort(errors)
	return math.Min(0, stat.Quantile(0.05, stat.LinInterp, errors, nil)), math.Max(0, stat.Quantile(0.95, stat.LinInterp, errors, nil))
}

// average sets the means over the runs.
func (h *ihpHistory) average(runs []RecordedRun) {
	h.mapAvg, h.mapMax, h.outside, h.stretch = 0, 0, 0, 0
	n := float64(len(runs))
	for i := range runs {
		r := &runs[i]
		h.mapAvg += r.Profile.MapAvg / n
		h.mapMax += r.Profile.MapMax / n
		h.outside += r.Outside / n
		low, up := stageBounds(float64(r.Profile.Maps), float64(min(r.MapSlots, r.Profile.Maps)), r.Profile.MapAvg, r.Profile.MapMax)
		h.stretch += 2 * r.MapStage / (low + up) / n
	}
}

// without returns the history without one of its runs. The bandwidths stay those
// chosen with all runs.
func (h *ihpHistory) without(run int, runs []RecordedRun) *ihpHistory {
	rest := *h
	for k := range rest.later {
		r := &rest.later[k]
		r.x = slices.Delete(slices.Clone(r.x), run, run+1)
		r.y = slices.Delete(slices.Clone(r.y), run, run+1)
	}
	rest.average(slices.Delete(slices.Clone(runs), run, run+1))
	return &rest
}

// time predicts the time of a run, seconds.
func (h *ihpHistory) time(r *RecordedRun) (float64, error) {
	j, err := h.job(r.Profile.Maps, r.MapSlots, r.Profile.Reduces, r.ReduceSlots, r.Data)
	if err != nil {
		return 0, err
	}
	b, err := j.inWaves().Bounds()
	return b.Avg + h.outside, err
}

// inWaves returns the job with whole waves of reduces: a wave takes as long with few
// reduces as with many.
func (j ihpJob) inWaves() ihpJob {
	if j.ReduceSlots > 0 {
		j.Reduces = (j.Reduces + j.ReduceSlots - 1) / j.ReduceSlots * j.ReduceSlots
	}
	return j
}

// job returns a job with the given tasks and slots and the durations of the
// history.
func (h *ihpHistory) job(maps, mapSlots, reduces, reduceSlots int, data float64) (ihpJob, error) {
	j := ihpJob{
		Maps: maps, MapSlots: min(mapSlots, maps), Reduces: reduces, ReduceSlots: min(reduceSlots, reduces),
		MapAvg: h.mapAvg, MapMax: h.mapMax,
	}
	if h.printed { // all slots of the cluster, so that few tasks are a fraction of a wave
		j.MapSlots, j.ReduceSlots = mapSlots, reduceSlots
	}
	if reduces == 0 {
		j.MapsWave1 = &j.Maps // a map-only job has no shuffle that covers the later waves
		return j, nil
	}
	at, later := h.at(data, reduces, mapSlots), j.later()
	for k := range later {
		t, _, err := h.later[k].At(at[0], at[1])
		if err != nil {
			return j, err
		}
		*later[k] = t
	}
	uncross(later)
	if !h.printed {
		j.cover(h.stretch)
	}
	return j, nil
}

// at returns the regressors of a job: its map output and its reduces, for each map slot
// or, as printed, in GB.
func (h *ihpHistory) at(data float64, reduces, mapSlots int) []float64 {
	if h.printed {
		return []float64{data / 1e9, float64(reduces)}
	}
	return []float64{data / float64(mapSlots), float64(reduces) / float64(mapSlots)}
}

// cover extends a first shuffle that starts at the last map over all map waves but
// the first; stretch is the ratio of the map stage to its bounds.
func (j *ihpJob) cover(stretch float64) {
	low, up := stageBounds(float64(j.Maps), float64(j.MapSlots), j.MapAvg, j.MapMax)
	j.Shuffle1Avg += math.Max(0, float64(stretch*low)-j.MapAvg)
	j.Shuffle1Max += math.Max(0, float64(stretch*up)-j.MapMax)
}

var ihpModel = Model{
	Name: "ihp", About: "improved HP: bounds by wave; durations given or from a history of runs",
	Accounts: []Cause{Protocol, Overlap},
	Error:    [2]float64{0.80, 1.46},
	New: func(k Inputs) (model.Predictor, error) {
		if len(k.Runs) == 0 {
			return ihpPredictor{}, nil
		}
		h, err := newIHPHistory(k.Runs, false)
		if err != nil {
			return ihpPredictor{reason: err.Error()}, nil
		}
		return ihpPredictor{history: h}, nil
	},
}

// ihpLiteral and ihpWaves answer by the paper's equations as printed, and with whole
// waves of reduces in place of fractions.
var ihpLiteral, ihpWaves = literalIHP("ihp-literal", "improved HP as printed: regressions without a constant, fractions of waves; answers with models.literal", false),
	literalIHP("ihp-literal-waves", "improved HP as printed but with whole waves; answers with models.literal", true)

func literalIHP(name, about string, waves bool) Model {
	return Model{Name: name, About: about, New: func(k Inputs) (model.Predictor, error) {
		if !k.Literal {
			return nil, nil
		}
		p := ihpPredictor{name: name, waves: waves, reason: "needs a history of runs of the job"}
		if len(k.Runs) > 0 {
			h, err := newIHPHistory(k.Runs, true)
			if err != nil {
				p.reason = err.Error()
				return p, nil
			}
			p.history = h
		}
		return p, nil
	}}
}

// ihpPredictor bounds a job by waves: by the durations of its history, or by those
// of the question, with the first shuffle extended over the map waves that it
// waits for.
type ihpPredictor struct {
	history *ihpHistory
	reason  string // why the recorded runs give no history

	name  string // of a model as printed, which has no protocol: a job lasts as long as its stages
	waves bool   // whole ones, of such a model
}

func (h ihpPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	if err != nil {
		return model.Prediction{}, err
	}
	switch {
	case h.history != nil:
		return h.predictFromRuns(&q, j, &g)
	case h.reason != "":
		return model.Prediction{}, model.NotApplicable("%s", h.reason)
	}
	p, tasks, err := g.ariaProfile(&q, j)
	if err != nil {
		return model.Prediction{}, err
	}
	p = p.scaled(g.slowest)
	i := ihpJob{
		Maps: p.Maps, MapSlots: min(g.maps, p.Maps), Reduces: p.Reduces, ReduceSlots: min(g.reduces, p.Reduces),
		MapAvg: p.MapAvg, MapMax: p.MapMax, Shuffle1Avg: p.FirstShuffleAvg, Shuffle1Max: p.FirstShuffleMax,
		Shuffle2Avg: p.ShuffleAvg, Shuffle2Max: p.ShuffleMax, ReduceAvg: p.ReduceAvg, ReduceMax: p.ReduceMax,
	}
	if p.Reduces > 0 {
		i.cover(1)
	} else {
		// A map-only job has no shuffle that covers the later map waves.
		i.MapsWave1 = &i.Maps
	}
	extra, err := g.protocol(&q, j, tasks, taskSpread{})
	if err != nil {
		return model.Prediction{}, err
	}
	return ihpAnswer(j, &g, i, extra)
}

// predictFromRuns predicts a job by its recorded runs.
func (h ihpPredictor) predictFromRuns(q *model.WhatIf, j *workload.Job, g *capacity) (model.Prediction, error) {
	data, err := mapOutputBytes(q, j)
	if err != nil {
		return model.Prediction{}, err
	}
	i, err := h.history.job(j.Maps.Count, g.maps, j.Reduces.Count, g.reduces, data)
	if errors.Is(err, fit.ErrSingular) {
		return model.Prediction{}, model.NotApplicable("needs runs with about the same data and number of reduces: %v", err)
	}
	if err != nil {
		return model.Prediction{}, err
	}
	if h.history.printed {
		if h.waves {
			i = i.inWaves()
		}
		p, err := ihpAnswer(j, g, i, protocolTimes{})
		p.Model = h.name
		return p, err
	}
	outside := protocolTimes{end: h.history.outside}
	beyond := i.Reduces > 0 && !h.history.later[0].covers(h.history.at(data, i.Reduces, g.maps))
	if beyond {
		g.warnings = append(g.warnings, "the data or the reduces per map slot are outside the range of the recorded runs")
	}
	bounds, err := ihpAnswer(j, g, i, outside)
	if err != nil {
		return bounds, err
	}
	p, err := ihpAnswer(j, g, i.inWaves(), outside)
	if err != nil {
		return p, err
	}
	p.Low, p.High = bounds.Low, max(bounds.High, p.Mean)
	if beyond && !math.IsNaN(h.history.edge95) {
		p.Least = time.Duration(float64(p.Mean) * (1 + h.history.edge05))
		p.Most = time.Duration(float64(p.Mean) * (1 + h.history.edge95))
	}
	if math.IsNaN(h.history.excess95) {
		return p, nil
	}
	p.Safe = time.Duration(float64(p.Mean) * (1 + h.history.excess95))
	if !beyond {
		p.Least = time.Duration(float64(p.Mean) * (1 + h.history.excess05))
		p.Most = time.Duration(float64(p.Mean) * (1 + h.history.excess95))
	}
	return p, nil
}

// ihpAnswer bounds a job and adds what its stages do not include.
func ihpAnswer(j *workload.Job, g *capacity, i ihpJob, extra protocolTimes) (model.Prediction, error) {
	b, err := i.Bounds()
	if err != nil {
		return model.Prediction{}, err
	}
	low, up := stageBounds(float64(i.Maps), float64(i.MapSlots), i.MapAvg, i.MapMax)
	p := AriaProfile{Maps: i.Maps, Reduces: i.Reduces, MapAvg: i.MapAvg, ShuffleAvg: i.Shuffle2Avg, ReduceAvg: i.ReduceAvg}
	t := jobTimes{(low+up)/2 + extra.mapEnd, b.Low + extra.end, b.Avg + extra.end, b.Up + extra.end}
	return g.prediction("ihp", g.outcome(j, &p, t), p.phases()), nil
}
