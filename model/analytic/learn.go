package analytic

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/workload"
)

// RecordedRun is a finished run of a job, as models take it that learn from runs.
type RecordedRun struct {
	Profile     AriaProfile
	Data        float64 // bytes of map output, as they were fetched
	Time        float64 // seconds from submission to finish
	Outside     float64 // seconds of them before the first map and after the last task
	MapStage    float64 // seconds from the first map to the end of the last one
	MapSlots    int     // most maps at a time
	ReduceSlots int     // most reduces at a time
}

// RecordRun measures a run by its attempts.
func RecordRun(attempts []workload.Attempt, submit, finish time.Duration) (RecordedRun, error) {
	p, err := ExtractAria(attempts)
	if err != nil {
		return RecordedRun{}, err
	}
	r := RecordedRun{Profile: p, Time: (finish - submit).Seconds()}
	if r.Time <= 0 {
		return r, errors.New("the job has no end")
	}
	first, last, lastMap := time.Duration(math.MaxInt64), time.Duration(0), time.Duration(0)
	var fetched, emitted int64
	for i := range attempts {
		a := &attempts[i]
		if a.Kind != workload.Map && a.Kind != workload.Reduce {
			continue
		}
		first, last = min(first, a.Start), max(last, a.Finish)
		if a.State == workload.Succeeded {
			switch a.Kind {
			case workload.Map:
				lastMap = max(lastMap, a.Finish)
				emitted += max(0, a.OutBytes)
			case workload.Reduce:
				fetched += max(0, a.ShuffleBytes)
			}
		}
	}
	if r.Data = float64(fetched); fetched == 0 {
		r.Data = float64(emitted)
	}
	if p.Reduces > 0 && r.Data == 0 {
		return r, errors.New("neither its map output nor what its reduces fetched is recorded")
	}
	r.MapStage = (lastMap - first).Seconds()
	r.Outside = math.Max(0, r.Time-(last-first).Seconds())
	r.MapSlots, r.ReduceSlots = together(attempts, workload.Map), together(attempts, workload.Reduce)
	if r.MapSlots == 0 || p.Reduces > 0 && r.ReduceSlots == 0 {
		return r, errors.New("no task of the job took any time")
	}
	return r, nil
}

// together is the most attempts of a kind that ran at a time.
func together(attempts []workload.Attempt, k workload.Kind) int {
	return workload.MostAtOnce(func(yield func(start, finish time.Duration) bool) {
		for i := range attempts {
			if a := &attempts[i]; a.Kind == k && !yield(a.Start, a.Finish) {
				return
			}
		}
	})
}

// Learn makes of runs what hp, ihp and cresp must know: of one job on nodes of
// one kind with splits of one size. Where they do not teach ihp or cresp the
// knowledge says why; the error is that of runs which teach no model.
func Learn(runs []RecordedRun) (Knowledge, error) {
	var k Knowledge
	var train []CrespRun
	slots := map[int]bool{}
	for _, r := range runs {
		if n := r.Profile.Reduces; n > 0 {
			k.Runs = append(k.Runs, HPRun{Profile: r.Profile, Data: r.Data / float64(n), Outside: r.Outside})
			if n <= r.ReduceSlots {
				train = append(train, CrespRun{r.Profile.Maps, r.MapSlots, n, r.Time})
			}
			slots[r.MapSlots] = true
		}
	}
	if len(k.Runs) < 2 {
		return k, fmt.Errorf("%d recorded runs with reduces: want two or more", len(k.Runs))
	}
	var err error
	if k.History, err = newIHPHistory(runs); err != nil {
		k.NoHistory = err.Error()
	}
	short := slices.ContainsFunc(train, func(r CrespRun) bool { return r.Maps < 2*r.MapSlots })
	switch {
	case len(slots) == 1:
		k.NoCresp = fmt.Sprintf("wants runs on clusters of different size: %d runs, all with as many maps at a time", len(k.Runs))
	case len(train) < crespTerms:
		k.NoCresp = fmt.Sprintf("wants %d or more runs with all reduces in one wave: %d of %d", crespTerms, len(train), len(k.Runs))
	case short:
		k.NoCresp = "wants runs of two map waves or more"
	default:
		if c, err := FitCresp(train, nil); err != nil {
			k.NoCresp = "the recorded runs: " + err.Error()
		} else {
			k.Cresp = &c
		}
	}
	return k, nil
}

// IHPHistory predicts the durations of a job's stages from earlier runs, and is
// told nothing else of it. That they hold on other numbers of slots too, the
// first shuffle is what follows the last map (the part that covers the maps is
// made of their waves), and data and reduces are counted by map slot: twice the
// nodes with twice of both do the same on each node.
type IHPHistory struct {
	mapAvg, mapMax         float64 // seconds, mean over the runs
	stretch                float64 // mean time of their map stage over that of the bounds: what heartbeats leave idle
	outside                float64 // seconds of a run that the stages do not cover
	firstAvg, firstMax     IHPRegression
	shuffleAvg, shuffleMax IHPRegression
	reduceAvg, reduceMax   IHPRegression

	// short is the quantile 0.95 of by which part of its prediction a run took
	// longer, over the runs that others surround, each left out in turn; NaN where
	// fewer than fewTried are surrounded.
	short float64
}

// fewTried is the least number of runs of which a twentieth can be left above a
// quantile.
const fewTried = 20

func newIHPHistory(runs []RecordedRun) (*IHPHistory, error) {
	h := &IHPHistory{}
	var kept []RecordedRun
	alike := true // in their number of reduces, which then tells nothing
	for _, r := range runs {
		if r.Profile.Reduces > 0 {
			kept = append(kept, r)
			alike = alike && r.Profile.Reduces == kept[0].Profile.Reduces && r.MapSlots == kept[0].MapSlots
		}
	}
	h.average(kept)
	for _, d := range []struct {
		to *IHPRegression
		of func(*AriaProfile) float64
	}{
		{&h.firstAvg, func(p *AriaProfile) float64 { return p.FirstShuffleAvg }},
		{&h.firstMax, func(p *AriaProfile) float64 { return p.FirstShuffleMax }},
		{&h.shuffleAvg, func(p *AriaProfile) float64 { return p.ShuffleAvg }},
		{&h.shuffleMax, func(p *AriaProfile) float64 { return p.ShuffleMax }},
		{&h.reduceAvg, func(p *AriaProfile) float64 { return p.ReduceAvg }},
		{&h.reduceMax, func(p *AriaProfile) float64 { return p.ReduceMax }},
	} {
		rows := make([]IHPRun, len(kept))
		for i := range kept {
			slots := float64(kept[i].MapSlots)
			rows[i] = IHPRun{Data: kept[i].Data / slots, Reduces: float64(kept[i].Profile.Reduces) / slots, Duration: d.of(&kept[i].Profile)}
		}
		var err error
		*d.to, err = FitIHP(rows, fit.LocalOptions{Intercept: !alike, Scale: "zscore"})
		if errors.Is(err, fit.ErrSingular) {
			data, reduces := map[float64]bool{}, map[float64]bool{}
			for _, r := range rows {
				data[r.Data], reduces[r.Reduces] = true, true
			}
			return nil, fmt.Errorf("wants runs that differ in data and reduces: %d runs, with %d amounts of data and %d numbers of reduces per map slot", len(rows), len(data), len(reduces))
		}
		if err != nil {
			return nil, err
		}
	}
	var late []float64
	for i := range kept {
		rest := h.without(i, kept)
		if !rest.firstAvg.surrounds(h.firstAvg.x[i]) {
			continue
		}
		if t, err := rest.time(&kept[i]); err == nil && t > 0 {
			late = append(late, kept[i].Time/t-1)
		}
	}
	h.short = math.NaN()
	if len(late) >= fewTried {
		slices.Sort(late)
		h.short = math.Max(0, stat.Quantile(0.95, stat.LinInterp, late, nil))
	}
	return h, nil
}

// average takes what is the mean of the runs.
func (h *IHPHistory) average(runs []RecordedRun) {
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

// without is the history without one of its runs, but for the bandwidths, which
// were chosen with it.
func (h *IHPHistory) without(run int, runs []RecordedRun) *IHPHistory {
	rest := *h
	for _, r := range []*IHPRegression{&rest.firstAvg, &rest.firstMax, &rest.shuffleAvg, &rest.shuffleMax, &rest.reduceAvg, &rest.reduceMax} {
		r.x = slices.Delete(slices.Clone(r.x), run, run+1)
		r.y = slices.Delete(slices.Clone(r.y), run, run+1)
	}
	rest.average(slices.Delete(slices.Clone(runs), run, run+1))
	return &rest
}

// time predicts the time of a run.
func (h *IHPHistory) time(r *RecordedRun) (float64, error) {
	j, err := h.job(r.Profile.Maps, r.MapSlots, r.Profile.Reduces, r.ReduceSlots, r.Data)
	if err != nil {
		return 0, err
	}
	b, err := j.Bounds()
	return b.Avg + h.outside, err
}

// job is a job of so many tasks on so many slots, by the durations of the runs.
func (h *IHPHistory) job(maps, mapSlots, reduces, reduceSlots int, data float64) (IHPJob, error) {
	j := IHPJob{
		Maps: maps, MapSlots: min(mapSlots, maps), Reduces: reduces, ReduceSlots: min(reduceSlots, reduces),
		MapAvg: h.mapAvg, MapMax: h.mapMax,
	}
	if reduces == 0 {
		j.MapsWave1 = &j.Maps // without reduces nothing covers the later waves
		return j, nil
	}
	for _, d := range []struct {
		of *IHPRegression
		to *float64
	}{
		{&h.firstAvg, &j.Shuffle1Avg}, {&h.firstMax, &j.Shuffle1Max},
		{&h.shuffleAvg, &j.Shuffle2Avg}, {&h.shuffleMax, &j.Shuffle2Max},
		{&h.reduceAvg, &j.ReduceAvg}, {&h.reduceMax, &j.ReduceMax},
	} {
		t, _, err := d.of.At(data/float64(mapSlots), float64(reduces)/float64(mapSlots))
		if err != nil {
			return j, err
		}
		*d.to = t
	}
	// Regressions of an average and a maximum may cross.
	j.Shuffle1Max, j.Shuffle2Max = math.Max(j.Shuffle1Avg, j.Shuffle1Max), math.Max(j.Shuffle2Avg, j.Shuffle2Max)
	j.ReduceMax = math.Max(j.ReduceAvg, j.ReduceMax)
	j.cover(h.stretch)
	return j, nil
}

// cover makes a first shuffle that counts from the last map one that covers all
// map waves but the first, of a map stage so much longer than its bounds.
func (j *IHPJob) cover(stretch float64) {
	low, up := stageBounds(float64(j.Maps), float64(j.MapSlots), j.MapAvg, j.MapMax)
	j.Shuffle1Avg += math.Max(0, float64(stretch*low)-j.MapAvg)
	j.Shuffle1Max += math.Max(0, float64(stretch*up)-j.MapMax)
}
