package workload

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

func (s *profileSums) profile() *Profile {
	p := &Profile{
		Name: s.name, Runs: s.runs,
		Maps: int(math.Round(stat.Mean(s.maps, nil))), Reduces: int(math.Round(stat.Mean(s.reduces, nil))),
		Data: s.data.statistics((*ratio).ofSums), TaskMeans: s.data.statistics((*ratio).mean),
		MapInBytes: s.mapIn.sample(), MapInRecords: s.mapRecs.sample(),
		ReduceInBytes: s.redIn.sample(), ReduceInRecords: s.redRecs.sample(),
		ReduceSkew: math.NaN(),
		MapTime:    s.mapTime.sample(), MapByWave: samples(s.mapWave), MapMinusJVM: s.mapNoJVM.sample(),
		FirstShuffle: s.first.sample(), TypicalShuffle: s.typical.sample(),
		SortTime: s.sortTime.sample(), ReduceTime: s.reduceTime.sample(), ReduceByWave: samples(s.reduceWave),
		SetupTime: s.setup.sample(), CleanupTime: s.cleanup.sample(), LaunchDelay: s.launch.sample(),
		FailedMaps: s.failed[Map], FailedReduces: s.failed[Reduce], KilledMaps: s.killed[Map], KilledReduces: s.killed[Reduce],
		Cost: CostStatistics{
			ReadPerByte: s.read.per(), MapPerRecord: s.mapped.per(), CollectPerRecord: s.collect.per(),
			SpillPerByte: s.spill.per(), MergePerByte: s.merge.per(), ShufflePerByte: s.shuffle.per(),
			SortPerByte: s.sort.per(), ReducePerRecord: s.reduce.per(), WritePerByte: s.write.per(),
			MapTaskPerRecord: s.mapTask.per(), ReducePhasePerRecord: s.reducePhase.per(),
			MapCPUPerRecord: s.mapCPU.per(), ReduceCPUPerRecord: s.reduceCPU.per(),
		},
		Spread: RunSpread{
			Duration: s.duration.sample(), Maps: s.maps.sample(), Reduces: s.reduces.sample(),
			InputBytes: s.input.sample(), MapSizeSel: s.sel.sample(), MapTime: s.mapMean.sample(),
			FirstShuffle: s.firstMean.sample(), TypicalShuffle: s.typicalMean.sample(), ReduceTime: s.reduceMean.sample(),
		},
	}
	for l := range p.TimeByLocality {
		p.MapsByLocality[l] = len(s.locality[l])
		p.TimeByLocality[l] = s.locality[l].sample()
	}
	if p.ReduceInBytes.Mean > 0 {
		p.ReduceSkew = p.ReduceInBytes.Max / p.ReduceInBytes.Mean
	} else if p.ReduceInRecords.Mean > 0 {
		p.ReduceSkew = p.ReduceInRecords.Max / p.ReduceInRecords.Mean
	}
	if p.TypicalShuffle.N == 0 && p.FirstShuffle.N > 0 {
		p.TypicalShuffle, p.ShuffleFromFirst = p.FirstShuffle, true
		p.Assumed = append(p.Assumed, "recorded.typical_shuffle: no reduce started after the last map: taken from the first one")
	}
	if s.combineStated && !s.combined {
		if math.IsNaN(p.Data.ReduceSizeSel) && s.data.mapSize.num > 0 && s.data.reduceOutWidth.num > 0 {
			// The output of maps is the input of reduces, except for record
			// headers.
			p.Data.ReduceSizeSel = s.data.reduceOutWidth.num / s.data.mapSize.num
		}
		for _, d := range []*DataStatistics{&p.Data, &p.TaskMeans} {
			d.CombineSizeSel, d.CombineRecsSel = 1, 1 // the neutral values of [H]
		}
	}
	if s.plainConf && !s.compressed {
		p.Data.IntermCompressRatio, p.TaskMeans.IntermCompressRatio = 1, 1
	}
	if s.hdfsInput {
		p.Assumed = append(p.Assumed, "recorded.map_in_bytes: what was read from HDFS: right where the input is not compressed")
	}
	p.missing()
	return p
}

// missing lists what the record lacks, with reasons.
func (p *Profile) missing() {
	note := func(unknown bool, what, why string) {
		if unknown {
			p.Missing = append(p.Missing, fmt.Sprintf("%s: %s", what, why))
		}
	}
	d, c := &p.Data, &p.Cost
	note(p.MapTime.N == 0, "map_time", "no successful map with start and finish is recorded")
	note(p.Reduces > 0 && p.ReduceTime.N == 0, "first_shuffle, typical_shuffle, sort_time, reduce_time", "the ends of shuffle and sort are not recorded")
	note(p.MapTime.N > 0 && p.MapMinusJVM.N == 0, "map_minus_jvm", "the time of the start of the JVM is not recorded apart")
	note(math.IsNaN(d.InputPairWidth), "data.input_pair_width", "map input bytes and records are not both recorded")
	note(math.IsNaN(d.MapSizeSel), "data.map_size_sel", "map input and output bytes are not both recorded")
	note(math.IsNaN(d.MapRecsSel), "data.map_records_sel", "map input and output records are not both recorded")
	note(math.IsNaN(d.CombineRecsSel), "data.combine_records_sel", "combine input and output records are not both recorded")
	note(math.IsNaN(d.CombineSizeSel), "data.combine_size_sel", "no counter states the bytes that enter and leave the combiner")
	note(math.IsNaN(d.InputCompressRatio), "data.input_compress_ratio", "stored and uncompressed input bytes are not both recorded")
	note(math.IsNaN(d.IntermCompressRatio), "data.interm_compress_ratio", "map output before and after compression is not recorded")
	if p.Reduces > 0 {
		note(math.IsNaN(d.ReduceSizeSel), "data.reduce_size_sel", "uncompressed input bytes of reduces are not recorded")
		note(math.IsNaN(d.ReduceRecsSel), "data.reduce_records_sel", "reduce input and output records are not both recorded")
		note(math.IsNaN(d.RecsPerRedGroup), "data.records_per_group", "reduce input groups are not recorded")
		note(math.IsNaN(c.ReducePerRecord), "cost.reduce_per_record, cost.write_per_byte", "the time of the reduce function is not recorded apart from the write of its output")
	}
	note(math.IsNaN(c.ReadPerByte), "cost.read_per_byte, cost.map_per_record, cost.collect_per_record, cost.spill_per_byte, cost.merge_per_byte", "the times of the phases of maps are not recorded")
	note(math.IsNaN(c.MapCPUPerRecord), "cost.map_cpu_per_record", "CPU time of maps is not recorded")
}
