package analytic

import (
	"fmt"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// zhangPredictor takes the time of every task from the fitted platform and the
// job's profile.
type zhangPredictor struct{ platform *platform.Model }

func (z zhangPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return model.Prediction{}, err
	case z.platform == nil:
		return model.Prediction{}, model.NotApplicable("wants a platform fitted from microbenchmarks")
	}
	job, err := platformJobOf(&q, j)
	if err != nil {
		return model.Prediction{}, err
	}
	t, err := job.Times(z.platform, g.maps, max(1, g.reduces))
	if err != nil {
		return model.Prediction{}, model.NotApplicable("%s: %v", j.ID, err)
	}
	p := AriaProfile{Maps: job.Maps, Reduces: job.Reduces, MapAvg: t.MapAvg / 1000, ReduceAvg: t.ReduceAvg / 1000}
	low, up := stageBounds(float64(job.Maps), float64(min(g.maps, job.Maps)), t.MapAvg, t.MapMax)
	o := g.job(j, &p, (low+up)/2000, t.Low/1000, t.Avg/1000, t.Up/1000)
	return g.alone("zhang", o, z.phases(job, t)), nil
}

// phases are those of a task of average size.
func (z zhangPredictor) phases(j ZhangJob, t ZhangTimes) []model.PhaseTime {
	out := j.BlockMBAvg * j.MapSel
	ms := func(k workload.Kind, ph workload.Phase, v float64) model.PhaseTime { return phaseOf(k, ph, v/1000) }
	list := []model.PhaseTime{
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

// platformJobOf is the job profile that a question's job makes together with
// its program, or with the profile of its runs; what neither states is NaN.
func platformJobOf(q *model.WhatIf, j *workload.Job) (ZhangJob, error) {
	out := unknownPlatformJob()
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
		if p.Combiner {
			return out, model.NotApplicable("%s: a combiner is not in the model", j.ID)
		}
		out.MapSel, out.MapRecSel, out.MapMSPerRec = p.Data.MapSizeSel, p.Data.MapRecsSel, inMS(p.MapCPU/machine.Speed)
		out.ReduceSel, out.ReduceRecSel, out.ReduceMSPerRec = p.Data.ReduceSizeSel, p.Data.ReduceRecsSel, inMS(p.ReduceCPU/machine.Speed)
		width = p.Data.InputPairWidth
	default:
		return out, model.NotApplicable("%s: wants a profile of what it does with its data", j.ID)
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

// HerodotouStatistics are the data and cost statistics of one job; its
// configuration and the cluster are the question's.
type HerodotouStatistics struct {
	UseCombine   bool `json:"pUseCombine,omitzero"`
	InCompressed bool `json:"pIsInCompressed,omitzero"`
	taskplan.Data
	taskplan.Cost
}

// UnknownStatistics state nothing.
func UnknownStatistics() HerodotouStatistics {
	nan := math.NaN()
	s := HerodotouStatistics{}
	d, c := &s.Data, &s.Cost
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

func (h herodotouPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return model.Prediction{}, err
	case g.fastest < g.slowest:
		return model.Prediction{}, model.NotApplicable("nodes of different speed")
	}
	job, err := h.job(&q, j, &g)
	if err != nil {
		return model.Prediction{}, err
	}
	slowstart, err := j.Conf.Float("mapred.reduce.slowstart.completed.maps", 0.05)
	if err != nil {
		return model.Prediction{}, err
	}
	o := HerodotouOptions{Mode: Corrected}
	wave, err := job.Waves([]SplitGroup{{job.SplitSize, job.Mappers}}, slowstart, o)
	if err != nil {
		return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	t, err := Waves(wave)
	if err != nil {
		return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	total, whole, phases, err := job.summary(o)
	if err != nil {
		return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
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

// job is a job with its own statistics, or with those of its program on the
// machines of the cluster.
func (h herodotouPredictor) job(q *model.WhatIf, j *workload.Job, g *grounds) (Herodotou, error) {
	c, err := taskplan.ReadConf(j.Conf)
	if err != nil {
		return Herodotou{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	s := h.statistics
	if s == nil {
		p, err := plannerOf(q, j, c)
		if err != nil {
			return Herodotou{}, err
		}
		c = p.Conf
		s = &HerodotouStatistics{p.Combiner, p.InCompressed, p.Data, p.Cost}
		s.HDFSRead, s.HDFSWrite = s.HDFSRead+p.ReadCPU, s.HDFSWrite+p.WriteCPU
		s.LocalRead, s.LocalWrite = s.LocalRead+p.LocalReadCPU, s.LocalWrite+p.LocalWriteCPU
	}
	if j.Maps.InputBytes == 0 {
		return Herodotou{}, model.NotApplicable("%s: the bytes of its input are not given", j.ID)
	}
	return s.job(j, g, c), nil
}

// plannerOf plans the tasks of a job's program on machines that are all alike.
func plannerOf(q *model.WhatIf, j *workload.Job, c taskplan.Conf) (*taskplan.Planner, error) {
	program, machine, err := programOf(q, j)
	if err != nil {
		return nil, err
	}
	p, err := machine.Planner(program, c, j.Reduces.Count)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.ID, err)
	}
	return p, nil
}

func programOf(q *model.WhatIf, j *workload.Job) (*model.Program, *model.Machine, error) {
	i := slices.IndexFunc(q.Programs, func(p model.Program) bool { return p.Name == j.Program })
	if i < 0 || len(q.Cluster.Nodes) == 0 {
		return nil, nil, model.NotApplicable("wants data and cost statistics of the job")
	}
	machine := q.Cluster.Nodes[0].Machine
	for n := range q.Cluster.Nodes {
		if q.Cluster.Nodes[n].Machine != machine {
			return nil, nil, model.NotApplicable("machines of several types")
		}
	}
	if machine < 0 || machine >= len(q.Cluster.Machines) {
		return nil, nil, model.NotApplicable("wants the machines of the cluster")
	}
	return &q.Programs[i], &q.Cluster.Machines[machine], nil
}

// job joins the statistics with the question's configuration and slots; the
// equations want nothing of the cluster but the slots in all.
func (s *HerodotouStatistics) job(j *workload.Job, g *grounds, c taskplan.Conf) Herodotou {
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
		Data: s.Data, Cost: s.Cost,
	}
}

// ariaByEquations is ARIA's profile of a job whose task times follow from its
// program: all tasks are alike, and a reduce that kept up with the maps has the
// last one's output to fetch.
func ariaByEquations(q *model.WhatIf, j *workload.Job, g *grounds) (AriaProfile, error) {
	p := unknownAria()
	p.Maps, p.Reduces = j.Maps.Count, j.Reduces.Count
	if j.Maps.Count == 0 {
		return p, model.NotApplicable("%s: the job has no maps", j.ID)
	}
	job, err := herodotouPredictor{}.job(q, j, g)
	if err != nil {
		return p, err
	}
	wave, err := job.Waves([]SplitGroup{{job.SplitSize, job.Mappers}}, 1, HerodotouOptions{Mode: Corrected})
	if err != nil {
		return p, fmt.Errorf("%s: %w", j.ID, err)
	}
	p.MapAvg, p.MapMax = wave.Map[0], wave.Map[0]
	if p.Reduces > 0 {
		p.ShuffleAvg, p.ReduceAvg = wave.Shuffle+wave.Sort, wave.Reduce
		p.FirstShuffleAvg = wave.Shuffle/float64(p.Maps) + wave.Sort
		p.FirstShuffleMax, p.ShuffleMax, p.ReduceMax = p.ShuffleAvg, p.ShuffleAvg, p.ReduceAvg
	}
	return p, nil
}

// summary is the report's time of the job and that in whole waves, seconds, and
// the phases of its tasks.
func (h Herodotou) summary(o HerodotouOptions) (total, whole float64, phases []model.PhaseTime, err error) {
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
