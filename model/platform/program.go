package platform

import (
	"fmt"
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// ProgramOf returns the program of a job with recorded runs, without its CPU
// costs. Statistics that the record does not have are assumed and listed.
func ProgramOf(r *workload.Profile) (model.Program, error) {
	d := &r.Data
	p := model.Program{Name: r.Name, Title: r.Name, Source: r.Source, Data: taskplan.Data{
		InputPairWidth: d.InputPairWidth, MapSizeSel: d.MapSizeSel, MapRecsSel: d.MapRecsSel,
		RecsPerGroup: d.RecsPerRedGroup, ReduceSizeSel: d.ReduceSizeSel, ReduceRecsSel: d.ReduceRecsSel,
		CombineSizeSel: 1, CombineRecsSel: 1,
	}}
	assume := func(format string, args ...any) { p.Assumed = append(p.Assumed, fmt.Sprintf(format, args...)) }
	const plain = 0.95 // of the bytes of the records; splits end within a record
	if stored := d.InputCompressRatio; stored > 0 && stored < plain {
		p.Data.InputPairWidth *= stored
		p.Data.MapSizeSel /= stored
		assume("data.input_pair_width: that of compressed input; cpu.map_record contains its decompression")
	}
	if math.IsNaN(p.Data.RecsPerGroup) {
		p.Data.RecsPerGroup = 1
		assume("data.records_per_group: not recorded")
	}
	switch {
	case r.Reduces == 0 && math.IsNaN(d.ReduceRecsSel):
		p.Data.ReduceSizeSel, p.Data.ReduceRecsSel = 1, 1
		assume("data.reduce_size_sel: its jobs have no reduces")
		assume("data.reduce_records_sel: its jobs have no reduces")
	case math.IsNaN(p.Data.ReduceSizeSel) && d.ReduceRecsSel == 0:
		p.Data.ReduceSizeSel = 0
		assume("data.reduce_size_sel: its reduces emit nothing")
	case math.IsNaN(p.Data.ReduceSizeSel):
		p.Data.ReduceSizeSel = d.ReduceRecsSel * d.ReduceOutPairWidth / d.MapOutPairWidth
		assume("data.reduce_size_sel: records into reduces are as wide as those that maps emit")
	}
	if d.CombineRecsSel < 1 {
		p.Combiner, p.Data.CombineRecsSel, p.Data.CombineSizeSel = true, d.CombineRecsSel, d.CombineSizeSel
		if math.IsNaN(d.CombineSizeSel) {
			p.Data.CombineSizeSel = d.CombineRecsSel
			assume("combiner.size_sel: that of records")
		}
	}
	var c input.Check
	for _, v := range []struct {
		name  string
		value float64
	}{
		{"input_pair_width", p.Data.InputPairWidth}, {"map_size_sel", p.Data.MapSizeSel}, {"map_records_sel", p.Data.MapRecsSel},
		{"reduce_size_sel", p.Data.ReduceSizeSel}, {"reduce_records_sel", p.Data.ReduceRecsSel},
	} {
		c.AtLeast(v.name, v.value, 0)
	}
	return p, c.Err()
}
