package workload

import (
	"cmp"
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
	name  string
	after int // profiles completed before it
	runs  int
	data  dataRatios

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
