package scenarios

import (
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// beyondKeys raises what a combiner with a limited number of keys leaves of a spill.
// The recorded share is the mean of spills that reached the limit and of others.
// Of the latter more is left; the planner limits the former.
func beyondKeys(p *model.Program, j *workload.Job) {
	if !p.Combiner || p.Keys == 0 || p.Data.CombineRecsSel == 0 {
		return
	}
	spills, in := spillsOf(j)
	share := p.Data.CombineRecsSel
	left := func(sel float64) (records float64) {
		for _, n := range spills {
			records += min(float64(sel*n), p.Keys)
		}
		return records
	}
	least, most := share, 1.0
	for range 50 {
		if mid := (least + most) / 2; left(mid) < share*in {
			least = mid
		} else {
			most = mid
		}
	}
	p.Data.CombineSizeSel *= least / share
	p.Data.CombineRecsSel = least
}

// spillsOf returns the records of each spill of a job's maps, and their sum.
func spillsOf(j *workload.Job) (spills []float64, sum float64) {
	conf, err := taskplan.ReadConf(j.Conf)
	if err != nil {
		return nil, 0 // reported when the job is planned
	}
	out := &j.Maps.Output
	for i := range j.Maps.Count {
		share := workload.MapShare{OutBytes: 1 / float64(j.Maps.Count), OutRecords: 1 / float64(j.Maps.Count)}
		if j.Maps.Shares != nil {
			share = j.Maps.Shares[i]
		}
		of, err := conf.SortBuffer().Spills(float64(out.Records)*share.OutRecords, float64(out.RawBytes)*share.OutBytes)
		if err != nil {
			return nil, 0
		}
		for _, s := range of {
			spills = append(spills, s.Records)
			sum += s.Records
		}
	}
	return spills, sum
}
