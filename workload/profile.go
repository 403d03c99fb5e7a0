package workload

import "math"

// Profile says how the tasks of a job behave, apart from how many there are.
// A field whose name ends in Sel is a ratio output/input; NaN or a sample of
// no values means the source does not state it, and a model that needs it is
// an error. The tags are the keys of [recorded] in profile files.
type Profile struct {
	Name    string   `key:"name"`
	Source  []string `key:"source"`  // files it comes from
	Assumed []string `key:"assumed"` // what the source leaves out, and what was taken instead
	Missing []string `key:"missing"` // what could not be known, each with the reason

	Runs    int `key:"runs"` // recorded runs behind the profile
	Maps    int `key:"maps"` // tasks of a run; of several runs the rounded mean
	Reduces int `key:"reduces"`

	FailedMaps    int `key:"failed_maps"` // attempts
	FailedReduces int `key:"failed_reduces"`
	KilledMaps    int `key:"killed_maps"`
	KilledReduces int `key:"killed_reduces"`

	ReduceSkew       float64 `key:"reduce_skew"` // largest over mean input of a reduce
	ShuffleFromFirst bool    `key:"shuffle_from_first"`

	// Ratios over all tasks: sums of outputs over sums of inputs ([Z] 7.7), and
	// the means of the tasks' own ratios, which is what Starfish profiles state.
	Data      DataStatistics `key:"data"`
	TaskMeans DataStatistics `key:"task_means"`

	Cost CostStatistics `key:"cost"`

	MapInBytes      Sample `key:"map_in_bytes"` // of one map
	MapInRecords    Sample `key:"map_in_records"`
	ReduceInBytes   Sample `key:"reduce_in_bytes"` // of one reduce; as shuffled
	ReduceInRecords Sample `key:"reduce_in_records"`

	// Durations of successful attempts in seconds. Waves rank the tasks of a
	// run by their start, as many to a wave as ran at once at the peak.
	MapTime     Sample   `key:"map_time"`
	MapByWave   []Sample `key:"map_by_wave"`
	MapMinusJVM Sample   `key:"map_minus_jvm"` // without the start of the JVM, where that is known

	// [A] section 4: of a reduce that started before the last map ended the
	// part of shuffle and sort after that; of a later one both whole; and the
	// reduce phase with its output. Without later reduces TypicalShuffle holds
	// the values of FirstShuffle and ShuffleFromFirst is set.
	FirstShuffle   Sample   `key:"first_shuffle"`
	TypicalShuffle Sample   `key:"typical_shuffle"`
	SortTime       Sample   `key:"sort_time"`
	ReduceTime     Sample   `key:"reduce_time"`
	ReduceByWave   []Sample `key:"reduce_by_wave"`

	SetupTime   Sample `key:"setup_time"`
	CleanupTime Sample `key:"cleanup_time"`
	LaunchDelay Sample `key:"launch_delay"` // from submission to the end of initialisation, of runs

	MapsByLocality [NumLocalities]int    `key:"maps_by_locality"` // successful maps; NoLocality: not known
	TimeByLocality [NumLocalities]Sample `key:"time_by_locality"` // their durations in seconds

	Spread RunSpread `key:"spread"`
}

// DataStatistics are the data-flow statistics of [H] as far as counters tell
// them; names as in the report without the prefix ds.
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
// that times them apart.
type CostStatistics struct {
	ReadPerByte      float64 `key:"read_per_byte"`      // read phase, per map input byte
	MapPerRecord     float64 `key:"map_per_record"`     // map function, per input record
	CollectPerRecord float64 `key:"collect_per_record"` // partition, serialise and buffer, per output record
	SpillPerByte     float64 `key:"spill_per_byte"`     // per map output byte; what the map waits for
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

// Sample sums up figures of many tasks or runs.
type Sample struct {
	N         int       `key:"n"`
	Mean      float64   `key:"mean"` // NaN without values; SD also with one
	SD        float64   `key:"sd"`
	Min       float64   `key:"min"`
	Max       float64   `key:"max"`
	Quantiles []float64 `key:"quantiles"` // at equal steps of probability from 0 to 1, as NewDist takes them
}

// Quantile returns the value below which a share p of a sample with values lies.
func (s Sample) Quantile(p float64) float64 { return empirical(s.Quantiles).Quantile(p) }

// RunSpread shows how far the runs behind a profile lie apart.
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
