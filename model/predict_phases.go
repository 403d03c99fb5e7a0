package model

import (
	"fmt"
	"math"

	"github.com/slotwave/slotwave/workload"
)

// zhangPredictor takes the time of every task from the fitted platform and the
// job's profile.
type zhangPredictor struct{ platform *Platform }

func (z zhangPredictor) Predict(q WhatIf) (Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return Prediction{}, err
	case z.platform == nil:
		return Prediction{}, cannot("wants a platform fitted from microbenchmarks")
	case j.Profile == nil:
		return Prediction{}, cannot("%s: wants a profile of what it does with its data", j.ID)
	}
	job := PlatformJobFor(j)
	t, err := z.platform.Predict(job, g.maps, max(1, g.reduces))
	if err != nil {
		return Prediction{}, cannot("%s: %v", j.ID, err)
	}
	p := AriaProfile{Maps: job.Maps, Reduces: job.Reduces, MapAvg: t.MapAvg / 1000, ReduceAvg: t.ReduceAvg / 1000}
	low, up := stageBounds(float64(job.Maps), float64(min(g.maps, job.Maps)), t.MapAvg, t.MapMax)
	o := g.job(j, &p, (low+up)/2000, t.Low/1000, t.Avg/1000, t.Up/1000)
	return g.alone("zhang", o, z.phases(job, t)), nil
}

// phases are those of a task of average size.
func (z zhangPredictor) phases(j PlatformJob, t PlatformTimes) []PhaseTime {
	out := j.BlockMBAvg * j.MapSel
	ms := func(k workload.Kind, ph workload.Phase, v float64) PhaseTime { return phaseOf(k, ph, v/1000) }
	list := []PhaseTime{
		ms(workload.Map, workload.PhaseRead, z.platform.Read.At(j.BlockMBAvg)),
		ms(workload.Map, workload.PhaseMap, j.MapMSPerRec*j.BlockRecsAvg),
		ms(workload.Map, workload.PhaseCollect, z.platform.Collect.At(out)),
		ms(workload.Map, workload.PhaseSpill, z.platform.Spill.At(out)),
		ms(workload.Map, workload.PhaseMerge, z.platform.Merge.At(out)),
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

// PlatformJobFor is the job profile that a question's job and the profile of
// its runs make together; what neither states is NaN.
func PlatformJobFor(j *workload.Job) PlatformJob {
	p, out := j.Profile, unknownPlatformJob()
	out.Maps, out.Reduces = j.Maps.Count, j.Reduces.Count
	out.MapSel, out.MapRecSel, out.MapMSPerRec = p.Data.MapSizeSel, p.Data.MapRecsSel, p.Cost.MapPerRecord/1e6
	out.ReduceSel, out.ReduceRecSel, out.ReduceMSPerRec = p.Data.ReduceSizeSel, p.Data.ReduceRecsSel, p.Cost.ReducePerRecord/1e6
	if p.ReduceSkew >= 1 {
		out.Skew = p.ReduceSkew
	}
	avg, longest := p.MapInBytes.Mean, p.MapInBytes.Max
	if j.Maps.InputBytes > 0 && j.Maps.Count > 0 {
		avg = float64(j.Maps.InputBytes) / float64(j.Maps.Count)
		longest = avg
		for _, s := range j.Maps.Splits {
			longest = math.Max(longest, float64(s.Bytes))
		}
	}
	out.BlockMBAvg, out.BlockMBMax = avg/mib, longest/mib
	out.BlockRecsAvg, out.BlockRecsMax = avg/p.Data.InputPairWidth, longest/p.Data.InputPairWidth
	return out
}

// HerodotouStatistics are the data and cost statistics of one job; its
// configuration and the cluster are the question's.
type HerodotouStatistics struct {
	UseCombine   bool `json:"pUseCombine,omitzero"`
	InCompressed bool `json:"pIsInCompressed,omitzero"`
	HerodotouData
	HerodotouCost
}

// UnknownStatistics state nothing.
func UnknownStatistics() HerodotouStatistics {
	nan := math.NaN()
	s := HerodotouStatistics{}
	d, c := &s.HerodotouData, &s.HerodotouCost
	for _, v := range []*float64{
		&d.InputPairWidth, &d.RecsPerGroup, &d.MapSizeSel, &d.MapRecsSel, &d.ReduceSizeSel, &d.ReduceRecsSel,
		&d.CombineSizeSel, &d.CombineRecsSel, &d.InputRatio, &d.IntermRatio, &d.OutRatio,
		&c.HDFSRead, &c.HDFSWrite, &c.LocalRead, &c.LocalWrite, &c.Network,
		&c.MapCPU, &c.ReduceCPU, &c.CombineCPU, &c.PartitionCPU, &c.SerdeCPU, &c.SortCPU, &c.MergeCPU,
		&c.InUncompr, &c.IntermUncompr, &c.IntermCompr, &c.OutCompr, &c.Setup, &c.Cleanup,
	} {
		*v = nan
	}
	return s
}

// herodotouPredictor plays the tasks of the phase equations out in waves. It is
// bounded by the report's own fractions of waves (94) and by whole waves without
// overlap.
type herodotouPredictor struct{ statistics *HerodotouStatistics }

func (h herodotouPredictor) Predict(q WhatIf) (Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return Prediction{}, err
	case h.statistics == nil:
		return Prediction{}, cannot("wants data and cost statistics of the job")
	case j.Maps.InputBytes == 0:
		return Prediction{}, cannot("%s: the bytes of its input are not given", j.ID)
	case g.fastest < g.slowest:
		return Prediction{}, cannot("nodes of different speed")
	}
	job, err := h.statistics.job(j, &g)
	if err != nil {
		return Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	slowstart, err := j.Conf.Float("mapred.reduce.slowstart.completed.maps", 0.05)
	if err != nil {
		return Prediction{}, err
	}
	o := HerodotouOptions{Mode: Corrected}
	wave, err := job.Waves([]SplitGroup{{job.SplitSize, job.Mappers}}, slowstart, o)
	if err != nil {
		return Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	t, err := Waves(wave)
	if err != nil {
		return Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	total, whole, phases, err := job.summary(o)
	if err != nil {
		return Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	p := AriaProfile{MapAvg: wave.Map[0], ShuffleAvg: wave.Shuffle + wave.Sort, ReduceAvg: wave.Reduce}
	by := g.slowest
	for i := range phases {
		phases[i].Time = workload.Seconds(by * phases[i].Time.Seconds())
	}
	p = p.scaled(by)
	low, high := by*math.Min(total, t.JobEnd), by*math.Max(whole, t.JobEnd)
	return g.alone("herodotou", g.job(j, &p, by*t.MapEnd, low, by*t.JobEnd, high), phases), nil
}

// job joins the statistics with the question's configuration and slots; the
// equations want nothing of the cluster but the slots in all.
func (s *HerodotouStatistics) job(j *workload.Job, g *grounds) (Herodotou, error) {
	c, err := ReadTaskConf(j.Conf)
	if err != nil {
		return Herodotou{}, err
	}
	return Herodotou{
		HerodotouConf: HerodotouConf{
			Nodes: 1, MapsPerNode: g.maps, ReducesPerNode: g.reduces,
			Mappers: j.Maps.Count, Reducers: j.Reduces.Count, SplitSize: float64(j.Maps.InputBytes) / float64(j.Maps.Count),
			TaskMem: float64(c.ReduceHeap), SortMB: float64(c.SortMB),
			SpillPercent: c.SpillPercent, SortRecPercent: c.SortRecPercent,
			SortFactor: c.SortFactor, SpillsForCombine: c.SpillsForCombine,
			InMemMergeThr: c.InMemMergeThr, ShuffleInBuf: c.ShuffleInBuf, ShuffleMerge: c.ShuffleMerge, ReduceInBuf: c.ReduceInBuf,
			UseCombine: s.UseCombine, InCompressed: s.InCompressed,
			IntermCompressed: c.IntermCompressed, OutCompressed: c.OutCompressed,
		},
		HerodotouData: s.HerodotouData, HerodotouCost: s.HerodotouCost,
	}, nil
}

// summary is the report's time of the job and that in whole waves, seconds, and
// the phases of its tasks.
func (h Herodotou) summary(o HerodotouOptions) (total, whole float64, phases []PhaseTime, err error) {
	ms := func(k workload.Kind, ph workload.Phase, v float64) { phases = append(phases, phaseOf(k, ph, v/1000)) }
	if h.Reducers == 0 {
		p, err := h.MapOnly(o)
		ms(workload.Map, workload.PhaseRead, p.ReadTime)
		ms(workload.Map, workload.PhaseMap, p.MapTime)
		ms(workload.Map, workload.PhaseWrite, p.WriteTime)
		return p.TotalJobTime / 1000, p.WaveJobTime / 1000, phases, err
	}
	p, err := h.Phases(o)
	ms(workload.Map, workload.PhaseRead, p.ReadTime)
	ms(workload.Map, workload.PhaseMap, p.MapTime)
	ms(workload.Map, workload.PhaseCollect, p.CollectTime)
	ms(workload.Map, workload.PhaseSpill, p.SpillTime)
	ms(workload.Map, workload.PhaseMerge, p.MapMergeTime)
	ms(workload.Reduce, workload.PhaseShuffle, p.ShuffleTime)
	ms(workload.Reduce, workload.PhaseMerge, p.ReduceMergeTime)
	ms(workload.Reduce, workload.PhaseReduce, p.ReduceTime)
	ms(workload.Reduce, workload.PhaseWrite, p.WriteTime)
	return p.TotalJobTime / 1000, p.WaveJobTime / 1000, phases, err
}
