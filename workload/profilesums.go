package workload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
)

// ratio collects one ratio: sums over all tasks, and the tasks' own ratios.
type ratio struct {
	num, den float64
	own      float64
	tasks    int
}

func (r *ratio) add(num, den int64) {
	if num < 0 || den < 0 {
		return
	}
	r.num += float64(num)
	r.den += float64(den)
	if den > 0 {
		r.own += float64(num) / float64(den)
		r.tasks++
	}
}

func (r *ratio) ofSums() float64 {
	if r.den <= 0 {
		return math.NaN()
	}
	return r.num / r.den
}

func (r *ratio) mean() float64 {
	if r.tasks == 0 {
		return math.NaN()
	}
	return r.own / float64(r.tasks)
}

// cost collects the time spent on an amount of data.
type cost struct{ ns, amount float64 }

func (c *cost) add(d time.Duration, amount int64) {
	if Known(d) && amount > 0 {
		c.ns += float64(d)
		c.amount += float64(amount)
	}
}

func (c *cost) per() float64 {
	if c.amount <= 0 {
		return math.NaN()
	}
	return c.ns / c.amount
}

// dataRatios are the ratios behind DataStatistics, field by field.
type dataRatios struct {
	inputWidth, mapOutWidth, reduceOutWidth               ratio
	mapSize, mapRecs, combineRecs, reduceSize, reduceRecs ratio
	perGroup, inputCompress, intermCompress               ratio
}

func (d *dataRatios) statistics(of func(*ratio) float64) DataStatistics {
	s := noStatistics()
	for _, x := range []struct {
		to   *float64
		from *ratio
	}{
		{&s.InputPairWidth, &d.inputWidth}, {&s.MapOutPairWidth, &d.mapOutWidth}, {&s.ReduceOutPairWidth, &d.reduceOutWidth},
		{&s.MapSizeSel, &d.mapSize}, {&s.MapRecsSel, &d.mapRecs}, {&s.CombineRecsSel, &d.combineRecs},
		{&s.ReduceSizeSel, &d.reduceSize}, {&s.ReduceRecsSel, &d.reduceRecs}, {&s.RecsPerRedGroup, &d.perGroup},
		{&s.InputCompressRatio, &d.inputCompress}, {&s.IntermCompressRatio, &d.intermCompress},
	} {
		*x.to = of(x.from)
	}
	return s
}

// profileSums collects the sums of a profile.
type profileSums struct {
	name string
	runs int
	data dataRatios

	read, mapped, collect, spill, merge, shuffle, sort, reduce, write cost
	mapTask, reducePhase, mapCPU, reduceCPU                           cost

	mapIn, mapRecs, redIn, redRecs                          values
	mapTime, mapNoJVM, first, typical, sortTime, reduceTime values
	setup, cleanup, launch                                  values
	mapWave, reduceWave                                     []values
	locality                                                [NumLocalities]values
	failed, killed                                          [2]int

	duration, maps, reduces, input, sel, mapMean, firstMean, typicalMean, reduceMean values

	combineStated        bool // some map gives its combiner input, even if 0
	combined, compressed bool // some run had a combiner, or compressed map output
	hdfsInput            bool // map input is only known as bytes read from HDFS
	plainConf            bool // some run is known not to compress
}

// runValues are the values of one run that enter as a mean, and its input.
type runValues struct {
	mapTime, first, typical, reduceTime []float64
	size                                ratio
}

func (s *profileSums) add(j *HistoryJob) {
	s.runs++
	var run runValues
	if compress, err := j.Conf.Truth("mapred.compress.map.output"); err == nil {
		if _, stated := j.Conf.Lookup("mapred.compress.map.output"); stated {
			s.compressed, s.plainConf = s.compressed || compress, s.plainConf || !compress
		}
	}
	last := j.LastMap()
	var mapStarts, reduceStarts []timed
	for i := range j.Tasks {
		t := &j.Tasks[i]
		for k := range t.Attempts {
			if t.Kind <= Reduce {
				switch t.Attempts[k].State {
				case Failed:
					s.failed[t.Kind]++
				case Killed:
					s.killed[t.Kind]++
				}
			}
		}
		w := t.Winner()
		if w == nil {
			continue
		}
		seconds := math.NaN()
		if Known(w.Start) && Known(w.Finish) {
			seconds = w.Duration().Seconds()
		}
		switch t.Kind {
		case Map:
			s.addMap(t, w, &run)
			if seconds >= 0 {
				run.mapTime = append(run.mapTime, seconds)
				s.locality[w.Locality].add(seconds)
				mapStarts = append(mapStarts, timed{w.Start, w.Finish, seconds})
			}
		case Reduce:
			s.addReduce(w, last, &run)
			if seconds >= 0 {
				reduceStarts = append(reduceStarts, timed{w.Start, w.Finish, seconds})
			}
		case Setup:
			s.addKnown(&s.setup, seconds)
		case Cleanup:
			s.addKnown(&s.cleanup, seconds)
		}
	}
	s.addWaves(&s.mapWave, mapStarts)
	s.addWaves(&s.reduceWave, reduceStarts)
	if len(j.Tasks) == 0 {
		s.addTotals(&j.Totals, &run)
	}

	maps, reduces := runCounts(j)
	s.maps.add(float64(maps))
	s.reduces.add(float64(reduces))
	if Known(j.Submit) && Known(j.Launch) {
		s.launch.add((j.Launch - j.Submit).Seconds())
	}
	if Known(j.Submit) && Known(j.Finish) {
		s.duration.add((j.Finish - j.Submit).Seconds())
	}
	if run.size.den > 0 {
		s.input.add(run.size.den)
		s.sel.add(run.size.ofSums())
	}
	for _, x := range []struct {
		all, means *values
		ofRun      []float64
	}{
		{&s.mapTime, &s.mapMean, run.mapTime}, {&s.first, &s.firstMean, run.first},
		{&s.typical, &s.typicalMean, run.typical}, {&s.reduceTime, &s.reduceMean, run.reduceTime},
	} {
		if len(x.ofRun) > 0 {
			x.all.add(x.ofRun...)
			x.means.add(stat.Mean(x.ofRun, nil))
		}
	}
}

// runCounts returns the number of tasks of a run: as recorded, or as announced
// if a table has only jobs.
func runCounts(j *HistoryJob) (maps, reduces int) {
	maps, _ = j.Count(Map)
	reduces, _ = j.Count(Reduce)
	if maps+reduces == 0 {
		maps, reduces = max(0, j.Maps), max(0, j.Reduces)
	}
	return maps, reduces
}

func (s *profileSums) addMap(t *HistoryTask, w *HistoryAttempt, run *runValues) {
	in := w.InBytes
	if in == Unknown {
		in = w.HDFSReadBytes
		s.hdfsInput = s.hdfsInput || in != Unknown
	}
	if w.InBytes > 0 && w.HDFSReadBytes > 0 {
		s.data.inputCompress.add(w.HDFSReadBytes, w.InBytes)
	}
	s.data.inputWidth.add(in, w.InRecords)
	s.data.mapOutWidth.add(w.OutBytes, w.OutRecords)
	s.data.mapSize.add(w.OutBytes, in)
	run.size.add(w.OutBytes, in)
	s.data.mapRecs.add(w.OutRecords, w.InRecords)
	s.combineStated = s.combineStated || w.CombineInRecords != Unknown
	if w.CombineInRecords > 0 {
		s.combined = true
		s.data.combineRecs.add(w.CombineOutRecords, w.CombineInRecords)
	}
	s.data.intermCompress.add(w.More.SpillStoredBytes, w.More.SpillRawBytes)
	if in >= 0 {
		s.mapIn.add(float64(in))
	}
	if w.InRecords >= 0 {
		s.mapRecs.add(float64(w.InRecords))
	}
	if Known(w.Phases[PhaseRead]) { // the phases are timed separately
		s.read.add(w.Phases[PhaseRead], in)
		s.mapped.add(w.Phases[PhaseMap], w.InRecords)
		s.collect.add(w.Phases[PhaseCollect], w.OutRecords)
		s.spill.add(w.Phases[PhaseSpill], w.OutBytes)
		s.merge.add(w.Phases[PhaseMerge], w.OutBytes)
	}
	if !Known(w.Start) || !Known(w.Finish) {
		return
	}
	s.mapTask.add(w.Duration(), w.InRecords)
	if w.CPUMillis > 0 {
		s.mapCPU.add(time.Duration(w.CPUMillis)*time.Millisecond, w.InRecords)
	}
	if Known(w.Phases[PhaseStartup]) {
		s.mapNoJVM.add((w.Duration() - w.Phases[PhaseStartup]).Seconds())
	}
}

func (s *profileSums) addReduce(w *HistoryAttempt, lastMap time.Duration, run *runValues) {
	s.data.reduceOutWidth.add(w.reduceOut(), w.OutRecords)
	s.data.reduceSize.add(w.reduceOut(), w.InBytes)
	s.data.reduceRecs.add(w.OutRecords, w.InRecords)
	s.data.perGroup.add(w.InRecords, w.More.InGroups)
	if w.ShuffleBytes >= 0 {
		s.redIn.add(float64(w.ShuffleBytes))
	}
	if w.InRecords >= 0 {
		s.redRecs.add(float64(w.InRecords))
	}
	shuffle, sort := w.Phases[PhaseShuffle], w.Phases[PhaseMerge]
	if !Known(shuffle) || !Known(w.Start) || !Known(w.Finish) {
		return
	}
	began := w.Start
	if Known(w.Phases[PhaseStartup]) {
		began += w.Phases[PhaseStartup]
	}
	if !Known(sort) {
		sort = 0
	}
	ready := began + shuffle + sort
	s.sortTime.add(sort.Seconds())
	s.sort.add(sort, w.ShuffleBytes)
	run.reduceTime = append(run.reduceTime, (w.Finish - ready).Seconds())
	s.reducePhase.add(w.Finish-ready, w.InRecords)
	if Known(lastMap) && w.Start < lastMap {
		run.first = append(run.first, max(0, ready-lastMap).Seconds())
	} else {
		run.typical = append(run.typical, (shuffle + sort).Seconds())
		s.shuffle.add(shuffle, w.ShuffleBytes)
	}
	if Known(w.Phases[PhaseWrite]) {
		s.reduce.add(w.Phases[PhaseReduce], w.InRecords)
		s.write.add(w.Phases[PhaseWrite], w.reduceOut())
	}
	if w.CPUMillis > 0 {
		s.reduceCPU.add(time.Duration(w.CPUMillis)*time.Millisecond, w.InRecords)
	}
}

// reduceOut returns the output of a reduce: by its output format, or to HDFS.
func (a *HistoryAttempt) reduceOut() int64 {
	if a.OutBytes != Unknown {
		return a.OutBytes
	}
	return a.HDFSWriteBytes
}

// addTotals adds the ratios of a job whose tasks are not recorded.
func (s *profileSums) addTotals(t *JobTotals, run *runValues) {
	known := func(list ...int64) int64 {
		for _, v := range list {
			if v != Unknown {
				return v
			}
		}
		return Unknown
	}
	in := known(t.Map.InBytes, t.Map.HDFSReadBytes, t.All.HDFSReadBytes)
	out := known(t.Reduce.HDFSWriteBytes, t.All.HDFSWriteBytes)
	s.data.inputWidth.add(in, t.Map.InRecords)
	s.data.mapOutWidth.add(t.Map.OutBytes, t.Map.OutRecords)
	s.data.mapSize.add(t.Map.OutBytes, in)
	run.size.add(t.Map.OutBytes, in)
	s.data.mapRecs.add(t.Map.OutRecords, t.Map.InRecords)
	s.data.reduceOutWidth.add(out, t.Reduce.OutRecords)
	s.data.reduceRecs.add(t.Reduce.OutRecords, t.Reduce.InRecords)
	s.data.perGroup.add(t.Reduce.InRecords, t.Reduce.More.InGroups)
	combineIn, combineOut := known(t.Map.CombineInRecords, t.All.CombineInRecords), known(t.Map.CombineOutRecords, t.All.CombineOutRecords)
	if combineIn > 0 {
		s.combined = true
		s.data.combineRecs.add(combineOut, combineIn)
	}
}

func (s *profileSums) addKnown(to *values, v float64) {
	if !math.IsNaN(v) {
		to.add(v)
	}
}

// addWaves ranks a run's attempts by start and divides them into waves, each as
// wide as the run's peak of concurrent attempts.
func (s *profileSums) addWaves(to *[]values, run []timed) {
	width := peak(run)
	slices.SortStableFunc(run, func(a, b timed) int { return cmp.Compare(a.start, b.start) })
	for i, a := range run {
		w := i / width
		for len(*to) <= w {
			*to = append(*to, nil)
		}
		(*to)[w].add(a.seconds)
	}
}

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
