package analytic

import (
	"fmt"
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/workload"
)

const zhangFile = "platform_model"

var zhangModel = Model{
	Name: "zhang", About: "Zhang's platform model; needs a platform fitted from microbenchmarks",
	Accounts: []Cause{Contention, Protocol, Overlap, Slowstart, Quantisation},
	Error:    [2]float64{0.87, 1.29},
	File:     zhangFile,
	New: func(k Inputs) (model.Predictor, error) {
		z := zhangPredictor{small: k.Small}
		err := k.read(zhangFile, func(data []byte) error {
			p, err := platform.ReadModel(data)
			z.platform = &p
			return err
		})
		return z, err
	},
}

// zhangPredictor takes the times of tasks from the fitted platform and the profile
// of the job. Low and high are the bounds of the paper. The mean is the time of the
// same tasks in waves, because whole waves and an early shuffle matter more than the
// spread of tasks between the bounds.
type zhangPredictor struct {
	platform *platform.Model
	small    *SmallRun // nil: not given
}

func (z zhangPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return model.Prediction{}, err
	case z.platform == nil:
		if z.platform = fittedOn(&q, j); z.platform == nil {
			return model.Prediction{}, model.NotApplicable("needs a platform fitted from microbenchmarks")
		}
	}
	job, err := zhangJobOfQuestion(&q, j)
	if err != nil {
		return model.Prediction{}, err
	}
	if err := z.correct(&job, &g); err != nil {
		return model.Prediction{}, model.NotApplicable("%s: its small run: %v", j.ID, err)
	}
	t, err := job.Times(z.platform, g.maps, max(1, g.reduces))
	if err != nil {
		return model.Prediction{}, model.NotApplicable("%s: %v", j.ID, err)
	}
	shuffle, phases := z.platform.Shuffle.At(t.ShuffleMB)/1000, z.phases(job, t)
	wave, err := g.onSlots(j, WaveJob{
		Maps: job.Maps, Reduces: job.Reduces, Map: []float64{t.MapAvg / 1000}, Shuffle: shuffle, Reduce: t.ReduceAvg/1000 - shuffle,
	})
	if err != nil {
		return model.Prediction{}, err
	}
	inWaves, err := Waves(wave)
	if err != nil {
		return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	extra, err := g.protocol(&q, j, wave, z.spread())
	if err != nil {
		return model.Prediction{}, err
	}
	p := AriaProfile{Maps: job.Maps, Reduces: job.Reduces, MapAvg: t.MapAvg / 1000, ReduceAvg: t.ReduceAvg / 1000}
	mean := inWaves.JobEnd + extra.end
	o := g.outcome(j, &p, jobTimes{
		inWaves.MapEnd + extra.mapEnd,
		math.Min(mean, float64(t.Low/1000)+extra.end), mean, math.Max(mean, float64(t.Up/1000)+extra.end),
	})
	return g.prediction("zhang", o, phases), nil
}

// fittedOn returns the fitted platform of the nodes, or nil.
func fittedOn(q *model.WhatIf, j *workload.Job) *platform.Model {
	if _, machine, err := programOf(q, j); err == nil {
		if p, ok := machine.Fitted.(*platform.Model); ok {
			return p
		}
	}
	return nil
}

// phases returns the phases of a task of average size.
func (z zhangPredictor) phases(j ZhangJob, t ZhangTimes) []model.PhaseTime {
	out := j.BlockMBAvg * j.MapSel
	ms := func(k workload.Kind, ph workload.Phase, v float64) model.PhaseTime { return phaseTime(k, ph, v/1000) }
	list := []model.PhaseTime{
		ms(workload.Map, workload.PhaseRead, z.platform.Read.At(j.BlockMBAvg)),
		ms(workload.Map, workload.PhaseMap, j.MapMSPerRec*j.BlockRecsAvg),
		ms(workload.Map, workload.PhaseCollect, z.platform.Collect.At(out)),
		ms(workload.Map, workload.PhaseSpill, z.platform.Spill.At(out)),
		ms(workload.Map, workload.PhaseMerge, z.platform.Merge.At(out*j.CombineSel)),
	}
	if j.Reduces > 0 {
		shuffle, write := z.platform.Shuffle.At(t.ShuffleMB), z.platform.Write.At(t.ShuffleMB*j.ReduceSel)
		list = append(list,
			ms(workload.Reduce, workload.PhaseShuffle, shuffle),
			ms(workload.Reduce, workload.PhaseReduce, t.ReduceAvg-shuffle-write-j.OverheadMS),
			ms(workload.Reduce, workload.PhaseWrite, write))
	}
	return list
}

// zhangJobOfQuestion returns the profile of a question's job, from its program or from
// the profile of its runs. Statistics that neither has are NaN.
func zhangJobOfQuestion(q *model.WhatIf, j *workload.Job) (ZhangJob, error) {
	out := unknownZhangJob()
	out.Maps, out.Reduces = j.Maps.Count, j.Reduces.Count
	var width, avg, longest float64
	switch p := j.Profile; {
	case p != nil:
		out.MapSel, out.MapRecSel, out.MapMSPerRec = p.Data.MapSizeSel, p.Data.MapRecsSel, inMS(p.Cost.MapPerRecord)
		out.ReduceSel, out.ReduceRecSel, out.ReduceMSPerRec = p.Data.ReduceSizeSel, p.Data.ReduceRecsSel, inMS(p.Cost.ReducePerRecord)
		if p.ReduceSkew >= 1 {
			out.Skew = p.ReduceSkew
		}
		width, avg, longest = p.Data.InputPairWidth, p.MapInBytes.Mean, p.MapInBytes.Max
	case j.Program != "":
		p, machine, err := programOf(q, j)
		if err != nil {
			return out, err
		}
		out.MapSel, out.MapRecSel, out.MapMSPerRec = p.Data.MapSizeSel, p.Data.MapRecsSel, inMS(p.MapCPU/machine.Speed)
		out.ReduceSel, out.ReduceRecSel, out.ReduceMSPerRec = p.Data.ReduceSizeSel, p.Data.ReduceRecsSel, inMS(p.ReduceCPU/machine.Speed)
		width = p.Data.InputPairWidth
		if p.Combiner && j.Reduces.Count > 0 && j.Maps.InputBytes > 0 {
			if err := out.combine(q, j); err != nil {
				return out, err
			}
		}
	default:
		return out, model.NotApplicable("%s: needs a job profile", j.ID)
	}
	if j.Maps.InputBytes > 0 {
		avg = float64(j.Maps.InputBytes) / float64(j.Maps.Count)
		longest = avg
		for _, s := range j.Maps.Splits {
			longest = math.Max(longest, float64(s.Bytes))
		}
	}
	if avg == 0 {
		return out, model.NotApplicable("%s: the bytes of its input are not given", j.ID)
	}
	out.BlockMBAvg, out.BlockMBMax = avg/mib, longest/mib
	out.BlockRecsAvg, out.BlockRecsMax = avg/width, longest/width
	return out, nil
}

// combine takes the effect of the combiner from the plan of a map. Its cost counts
// as a cost of the map function.
func (j *ZhangJob) combine(q *model.WhatIf, of *workload.Job) error {
	p, err := plannerOf(q, of)
	if err != nil {
		return err
	}
	flow := p.MapFlow(float64(of.Maps.InputBytes) / float64(of.Maps.Count))
	m, err := p.Map(flow)
	if err != nil || flow.OutBytes == 0 || flow.InRecords == 0 {
		return err
	}
	j.CombineRecSel = m.Output.Records / flow.OutRecords
	j.CombineSel = float64(j.CombineRecSel * p.Data.CombineSizeSel / p.Data.CombineRecsSel)
	j.combineMSPerRec = inMS(m.CombineIn * p.Cost.CombineCPU / flow.InRecords)
	j.MapMSPerRec += j.combineMSPerRec
	return nil
}
