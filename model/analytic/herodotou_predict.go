package analytic

import (
	"fmt"
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

const herodotouFile = "statistics"

var herodotouModel = Model{
	Name: "herodotou", About: "Herodotou's phase equations in waves; needs data and cost statistics, or a program on machines",
	Accounts: []Cause{Protocol, Overlap, Slowstart, Quantisation},
	Error:    [2]float64{0.88, 1.42},
	File:     herodotouFile,
	New: func(k Inputs) (model.Predictor, error) {
		s, err := readStatistics(k)
		return herodotouPredictor{s}, err
	},
}

var literalModel = Model{
	Name: "herodotou-literal", About: "Herodotou's equations as printed, errors included; answers with models.literal",
	File: herodotouFile,
	New: func(k Inputs) (model.Predictor, error) {
		if !k.Literal {
			return nil, nil
		}
		s, err := readStatistics(k)
		return literalPredictor{herodotouPredictor{s}}, err
	},
}

// readStatistics returns nil if no file is given.
func readStatistics(k Inputs) (*herodotouStatistics, error) {
	var statistics *herodotouStatistics
	err := k.read(herodotouFile, func(data []byte) error {
		s := struct {
			herodotouStatistics `input:"partial"`
		}{herodotouStatistics{Data: unknown(taskplan.Data{}), Cost: unknown(taskplan.Cost{})}}
		err := input.Decode(data, &s)
		statistics = &s.herodotouStatistics
		return err
	})
	return statistics, err
}

// literalPredictor evaluates the report as printed: eq. 94, in fractions of waves,
// without what the protocol adds. The upper bound counts whole waves.
type literalPredictor struct{ herodotouPredictor }

func (l literalPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return model.Prediction{}, err
	case g.fastest < g.slowest || g.slowest != 1:
		return model.Prediction{}, model.NotApplicable("the report has no nodes of other speeds")
	}
	job, err := l.job(&q, j, &g)
	if err != nil {
		return model.Prediction{}, err
	}
	mean, whole, phases, err := job.summary(HerodotouOptions{Mode: Literal})
	if err != nil {
		return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	p := AriaProfile{}
	for _, ph := range phases {
		if ph.Kind == workload.Map {
			p.MapAvg += ph.Time.Seconds()
		}
	}
	mapEnd := float64(p.MapAvg * float64(j.Maps.Count) / float64(g.maps))
	return g.prediction(literalModel.Name, g.outcome(j, &p, jobTimes{mapEnd, mean, mean, math.Max(mean, whole)}), phases), nil
}

// herodotouStatistics are the data and cost statistics of one job. The question
// gives its configuration and the cluster.
type herodotouStatistics struct {
	UseCombine   bool `json:"pUseCombine,omitzero"`
	InCompressed bool `json:"pIsInCompressed,omitzero"`
	taskplan.Data
	taskplan.Cost
}

// herodotouPredictor replays the tasks of the phase equations in waves. Its
// bounds are the report's fractions of waves (eq. 94) and whole waves without
// overlap.
type herodotouPredictor struct{ statistics *herodotouStatistics }

func (h herodotouPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return model.Prediction{}, err
	case g.fastest < g.slowest:
		return model.Prediction{}, model.NotApplicable("nodes differ in speed")
	}
	job, err := h.job(&q, j, &g)
	if err != nil {
		return model.Prediction{}, err
	}
	slowstart, err := j.Conf.Number("mapred.reduce.slowstart.completed.maps")
	if err != nil {
		return model.Prediction{}, err
	}
	o := HerodotouOptions{Mode: Corrected}
	wave, err := job.waves(slowstart, o)
	if err != nil {
		return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	t, err := Waves(wave)
	if err != nil {
		return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	extra, err := g.protocol(&q, j, wave, taskSpread{})
	if err != nil {
		return model.Prediction{}, err
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
	return g.prediction("herodotou", g.outcome(j, &p, jobTimes{
		float64(by*t.MapEnd) + extra.mapEnd, low + extra.end, float64(by*t.JobEnd) + extra.end, high + extra.end,
	}), phases), nil
}

// job returns a job with its own statistics, or with those of its program on the
// machines of the cluster.
func (h herodotouPredictor) job(q *model.WhatIf, j *workload.Job, g *capacity) (Herodotou, error) {
	c, err := taskplan.ReadConf(j.Conf)
	if err != nil {
		return Herodotou{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	s := h.statistics
	if s == nil {
		if _, machine, err := programOf(q, j); err == nil && machine.Fitted != nil {
			return Herodotou{}, model.NotApplicable("a fitted platform states no costs of devices")
		}
		p, err := plannerOf(q, j)
		if err != nil {
			return Herodotou{}, err
		}
		c = p.Conf
		s = &herodotouStatistics{p.Combiner, p.InCompressed, p.Data, visibleCosts(p)}
	}
	if j.Maps.InputBytes == 0 {
		return Herodotou{}, model.NotApplicable("%s: the bytes of its input are not given", j.ID)
	}
	job := s.job(j, g, c)
	if math.IsNaN(job.RecsPerGroup) {
		job.RecsPerGroup = 1 // no time depends on the number of groups
	}
	return job, nil
}

// visibleCosts returns the costs of a planner as a profile of its tasks would state
// them: costs per byte include the CPU time of input and output. If the system reads
// ahead and writes behind, only the I/O time beyond the CPU time of the same thread
// counts, as TaskTrackers measure it.
func visibleCosts(p *taskplan.Planner) taskplan.Cost {
	c := p.Cost
	if p.Overlap {
		d := &p.Data
		in := d.InputPairWidth * d.InputRatio // stored bytes of an input record
		read := p.ReadCPU + c.InUncompr + float64((c.MapCPU+float64(d.MapRecsSel*(c.PartitionCPU+c.SerdeCPU)))/in)
		c.HDFSRead = math.Max(0, c.HDFSRead-read)
		if out := d.InputPairWidth * d.MapSizeSel; out > 0 {
			perByte := d.MapRecsSel / out // records per byte of map output
			merge := float64(c.MergeCPU * perByte)
			if p.Combiner {
				merge += float64(c.CombineCPU * perByte)
			}
			c.LocalRead = math.Max(0, c.LocalRead-p.LocalReadCPU-c.IntermUncompr)
			c.LocalWrite = math.Max(0, c.LocalWrite-p.LocalWriteCPU-(c.IntermCompr+merge)/d.IntermRatio)
			reduce := p.WriteCPU + c.OutCompr/d.OutRatio
			if d.ReduceSizeSel > 0 {
				reduce += float64(c.ReduceCPU * perByte / d.ReduceSizeSel)
			}
			c.HDFSWrite = math.Max(0, c.HDFSWrite-reduce)
		}
	}
	c.HDFSRead, c.HDFSWrite = c.HDFSRead+p.ReadCPU, c.HDFSWrite+p.WriteCPU
	c.LocalRead, c.LocalWrite = c.LocalRead+p.LocalReadCPU, c.LocalWrite+p.LocalWriteCPU
	return c
}

// job joins the statistics with the question's configuration and slots. Of the
// cluster the equations use only the sum of its slots.
func (s *herodotouStatistics) job(j *workload.Job, g *capacity, c taskplan.Conf) Herodotou {
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

// summary returns the time of the job by the report and in whole waves, seconds,
// and the phases of its tasks.
func (h Herodotou) summary(o HerodotouOptions) (total, whole float64, phases []model.PhaseTime, err error) {
	ms := func(k workload.Kind, ph workload.Phase, v float64) { phases = append(phases, phaseTime(k, ph, v/1000)) }
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

// waves returns the tasks of the job for Waves, which runs them as Starfish does. All
// maps are alike, and so are all reduces.
func (h Herodotou) waves(slowstart float64, o HerodotouOptions) (WaveJob, error) {
	j := WaveJob{
		Maps: h.Mappers, MapSlots: h.Nodes * h.MapsPerNode,
		Reduces: h.Reducers, ReduceSlots: h.Nodes * h.ReducesPerNode,
		Slowstart: slowstart,
	}
	if h.Reducers == 0 {
		p, err := h.MapOnly(o)
		j.Map = []float64{p.TotalMapTime / 1000}
		return j, err
	}
	p, err := h.Phases(o)
	j.Map = []float64{p.TotalMapTime / 1000}
	j.Shuffle, j.Sort = p.ShuffleTime/1000, p.ReduceMergeTime/1000
	j.Reduce = p.TotalReduceTime/1000 - j.Shuffle - j.Sort
	return j, err
}
