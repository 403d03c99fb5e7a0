package workload

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Profile describes how the tasks of a job behave, without their number. A
// field whose name ends in Sel is a ratio output/input. NaN or an empty sample
// means that the source does not give it. For a model that needs it this is an
// error. The tags are the keys of [recorded] in profile files.
type Profile struct {
	Name    string   `key:"name"`
	Source  []string `key:"source"`  // source files
	Assumed []string `key:"assumed"` // values that the source lacks and that were assumed
	Missing []string `key:"missing"` // values that are unknown, each with the reason

	Runs    int `key:"runs"` // recorded runs behind the profile
	Maps    int `key:"maps"` // tasks of a run; for several runs the rounded mean
	Reduces int `key:"reduces"`

	FailedMaps    int `key:"failed_maps"` // attempts
	FailedReduces int `key:"failed_reduces"`
	KilledMaps    int `key:"killed_maps"`
	KilledReduces int `key:"killed_reduces"`

	ReduceSkew       float64 `key:"reduce_skew"` // largest over mean input of a reduce
	ShuffleFromFirst bool    `key:"shuffle_from_first"`

	// Ratios over all tasks are sums of outputs over sums of inputs ([Z] 7.7),
	// and means of the tasks' own ratios, as in Starfish profiles.
	Data      DataStatistics `key:"data"`
	TaskMeans DataStatistics `key:"task_means"`

	Cost CostStatistics `key:"cost"`

	MapInBytes      Sample `key:"map_in_bytes"` // of one map
	MapInRecords    Sample `key:"map_in_records"`
	ReduceInBytes   Sample `key:"reduce_in_bytes"` // bytes of one reduce, as fetched
	ReduceInRecords Sample `key:"reduce_in_records"`

	// Durations of successful attempts in seconds. Waves rank the tasks of a
	// run by their start. A wave has as many tasks as ran at once at the
	// peak.
	MapTime     Sample   `key:"map_time"`
	MapByWave   []Sample `key:"map_by_wave"`
	MapMinusJVM Sample   `key:"map_minus_jvm"` // without the start of the JVM, if that is known

	// As in [A] section 4: a reduce that started before the last map ended
	// counts the part of shuffle and sort after that. A later one counts both
	// whole. The reduce phase includes its output. Without later reduces
	// TypicalShuffle holds the values of FirstShuffle and ShuffleFromFirst is
	// set.
	FirstShuffle   Sample   `key:"first_shuffle"`
	TypicalShuffle Sample   `key:"typical_shuffle"`
	SortTime       Sample   `key:"sort_time"`
	ReduceTime     Sample   `key:"reduce_time"`
	ReduceByWave   []Sample `key:"reduce_by_wave"`

	SetupTime   Sample `key:"setup_time"`
	CleanupTime Sample `key:"cleanup_time"`
	LaunchDelay Sample `key:"launch_delay"` // from submission to the end of initialisation, per run

	MapsByLocality [NumLocalities]int    `key:"maps_by_locality"` // successful maps; NoLocality: not known
	TimeByLocality [NumLocalities]Sample `key:"time_by_locality"` // their durations in seconds

	Spread RunSpread `key:"spread"`
}

// DataStatistics are the data-flow statistics of [H] that counters provide. The
// names are those of the report without the prefix ds.
type DataStatistics struct {
	InputPairWidth      float64 `key:"input_pair_width"`      // bytes per map input record
	MapOutPairWidth     float64 `key:"map_out_pair_width"`    // bytes per map output record
	ReduceOutPairWidth  float64 `key:"reduce_out_pair_width"` // bytes per reduce output record
	MapSizeSel          float64 `key:"map_size_sel"`          // map output bytes per input byte
	MapRecsSel          float64 `key:"map_records_sel"`
	CombineSizeSel      float64 `key:"combine_size_sel"`
	CombineRecsSel      float64 `key:"combine_records_sel"` // 1 without a combiner
	ReduceSizeSel       float64 `key:"reduce_size_sel"`     // output bytes per uncompressed input byte
	ReduceRecsSel       float64 `key:"reduce_records_sel"`
	RecsPerRedGroup     float64 `key:"records_per_group"`
	InputCompressRatio  float64 `key:"input_compress_ratio"`  // stored bytes per uncompressed byte
	IntermCompressRatio float64 `key:"interm_compress_ratio"` // 1 without compression
}

// CostStatistics are mean costs in nanoseconds. Those of phases need a source
// that times the phases separately.
type CostStatistics struct {
	ReadPerByte      float64 `key:"read_per_byte"`      // read phase, per map input byte
	MapPerRecord     float64 `key:"map_per_record"`     // map function, per input record
	CollectPerRecord float64 `key:"collect_per_record"` // partition, serialise and buffer, per output record
	SpillPerByte     float64 `key:"spill_per_byte"`     // per map output byte, only the part that the map waits for
	MergePerByte     float64 `key:"merge_per_byte"`     // map-side merge, per map output byte
	ShufflePerByte   float64 `key:"shuffle_per_byte"`   // of reduces after the first wave, per byte fetched
	SortPerByte      float64 `key:"sort_per_byte"`      // per byte fetched
	ReducePerRecord  float64 `key:"reduce_per_record"`  // reduce function without output, per input record
	WritePerByte     float64 `key:"write_per_byte"`     // output of reduces, per byte written

	MapTaskPerRecord     float64 `key:"map_task_per_record"`     // whole map attempt, per input record
	ReducePhasePerRecord float64 `key:"reduce_phase_per_record"` // reduce phase with its output, per input record
	MapCPUPerRecord      float64 `key:"map_cpu_per_record"`      // CPU_MILLISECONDS of the attempt, per input record
	ReduceCPUPerRecord   float64 `key:"reduce_cpu_per_record"`
}

// Sample summarises figures of many tasks or runs.
type Sample struct {
	N         int       `key:"n"`
	Mean      float64   `key:"mean"` // NaN without values; SD also with a single value
	SD        float64   `key:"sd"`
	Min       float64   `key:"min"`
	Max       float64   `key:"max"`
	Quantiles []float64 `key:"quantiles"` // at equal steps of probability from 0 to 1, as in NewDist
}

// Quantile returns the value below which a fraction p of a non-empty sample
// lies.
func (s Sample) Quantile(p float64) float64 { return empirical(s.Quantiles).Quantile(p) }

// RunSpread shows the differences between the runs of a profile.
type RunSpread struct {
	Duration       Sample `key:"duration"` // s, submission to finish
	Maps           Sample `key:"maps"`
	Reduces        Sample `key:"reduces"`
	InputBytes     Sample `key:"input_bytes"`
	MapSizeSel     Sample `key:"map_size_sel"`
	MapTime        Sample `key:"map_time"` // s, mean of each run
	FirstShuffle   Sample `key:"first_shuffle"`
	TypicalShuffle Sample `key:"typical_shuffle"`
	ReduceTime     Sample `key:"reduce_time"`
}

func noStatistics() DataStatistics {
	nan := math.NaN()
	return DataStatistics{nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan}
}

const sampleSteps = 100 // steps between the quantiles of a sample

// NewSample summarises values. It sorts them. Quantiles are the values
// themselves. For more than a hundred values they are at steps of a hundredth.
func NewSample(values []float64) Sample {
	nan := math.NaN()
	s := Sample{N: len(values), Mean: nan, SD: nan, Min: nan, Max: nan}
	if len(values) == 0 {
		return s
	}
	slices.Sort(values)
	s.Mean, s.Min, s.Max = stat.Mean(values, nil), values[0], values[len(values)-1]
	if len(values) == 1 {
		s.Quantiles = []float64{s.Min, s.Min}
		return s
	}
	s.SD = stat.StdDev(values, nil)
	last := len(values) - 1
	steps := min(last, sampleSteps)
	s.Quantiles = make([]float64, steps+1)
	for i := range s.Quantiles {
		q := empirical(values).at(float64(i*last) / float64(steps))
		s.Quantiles[i] = min(max(q, s.Quantiles[max(0, i-1)]), s.Max) // exact in spite of rounding
	}
	return s
}

func samples(lists []values) []Sample {
	all := make([]Sample, len(lists))
	for i := range lists {
		all[i] = lists[i].sample()
	}
	return all
}

// values are those behind a Sample.
type values []float64

func (v *values) add(more ...float64) { *v = append(*v, more...) }

// sample summarises the values, and sorts them.
func (v values) sample() Sample { return NewSample(v) }
