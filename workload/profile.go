package workload

import "math"

// Profile says how the tasks of a job behave, apart from how many there are.
// A field whose name ends in Sel is a ratio output/input; NaN or a sample of
// no values means the source does not state it, and a model that needs it is
// an error.
type Profile struct {
	Name    string
	Source  string
	Assumed []string // what the source leaves out, and what was taken instead
	Missing []string // what could not be known, each with the reason

	Runs          int // recorded runs behind the profile
	Maps, Reduces int // tasks of a run; of several runs the rounded mean

	// Ratios over all tasks: sums of outputs over sums of inputs ([Z] 7.7), and
	// the means of the tasks' own ratios, which is what Starfish profiles state.
	Data      DataStatistics
	TaskMeans DataStatistics

	Cost CostStatistics

	MapInBytes, MapInRecords       Sample  // of one map
	ReduceInBytes, ReduceInRecords Sample  // of one reduce; bytes as shuffled
	ReduceSkew                     float64 // largest over mean input of a reduce

	// Durations of successful attempts in seconds. Waves rank the tasks of a
	// run by their start, as many to a wave as ran at once at the peak.
	MapTime     Sample
	MapByWave   []Sample
	MapMinusJVM Sample // without the start of the JVM, where that is known

	// [A] section 4: of a reduce that started before the last map ended the
	// part of shuffle and sort after that; of a later one both whole; and the
	// reduce phase with its output. Without later reduces TypicalShuffle holds
	// the values of FirstShuffle and ShuffleFromFirst is set.
	FirstShuffle     Sample
	TypicalShuffle   Sample
	ShuffleFromFirst bool
	SortTime         Sample
	ReduceTime       Sample
	ReduceByWave     []Sample

	SetupTime, CleanupTime Sample
	LaunchDelay            Sample // from submission to the end of initialisation, of runs

	MapsByLocality [numLocalities]int    // successful maps; NoLocality: not known
	TimeByLocality [numLocalities]Sample // their durations in seconds

	FailedMaps, FailedReduces, KilledMaps, KilledReduces int // attempts

	Spread RunSpread
}

// DataStatistics are the data-flow statistics of [H] as far as counters tell
// them; names as in the report without the prefix ds.
type DataStatistics struct {
	InputPairWidth      float64 // bytes per map input record
	MapOutPairWidth     float64 // bytes per map output record
	ReduceOutPairWidth  float64 // bytes per reduce output record
	MapSizeSel          float64 // map output bytes per input byte
	MapRecsSel          float64
	CombineSizeSel      float64
	CombineRecsSel      float64 // 1 without a combiner
	ReduceSizeSel       float64 // output bytes per uncompressed input byte
	ReduceRecsSel       float64
	RecsPerRedGroup     float64
	InputCompressRatio  float64 // stored bytes per uncompressed byte
	IntermCompressRatio float64 // 1 without compression
}

// CostStatistics are mean costs in nanoseconds. Those of phases need a source
// that times them apart.
type CostStatistics struct {
	ReadPerByte      float64 // read phase, per map input byte
	MapPerRecord     float64 // map function, per input record
	CollectPerRecord float64 // partition, serialise and buffer, per output record
	SpillPerByte     float64 // per map output byte; what the map waits for
	MergePerByte     float64 // map-side merge, per map output byte
	ShufflePerByte   float64 // of reduces after the first wave, per byte fetched
	SortPerByte      float64 // per byte fetched
	ReducePerRecord  float64 // reduce function without output, per input record
	WritePerByte     float64 // output of reduces, per byte written

	MapTaskPerRecord     float64 // whole map attempt, per input record
	ReducePhasePerRecord float64 // reduce phase with its output, per input record
	MapCPUPerRecord      float64 // CPU_MILLISECONDS of the attempt, per input record
	ReduceCPUPerRecord   float64
}

// Sample sums up figures of many tasks or runs.
type Sample struct {
	N                  int
	Mean, SD, Min, Max float64   // NaN without values; SD also with one
	Quantiles          []float64 // at equal steps of probability from 0 to 1, as NewDist takes them
}

// RunSpread shows how far the runs behind a profile lie apart.
type RunSpread struct {
	Duration       Sample // s, submission to finish
	Maps, Reduces  Sample
	InputBytes     Sample
	MapSizeSel     Sample
	MapTime        Sample // s, mean of each run
	FirstShuffle   Sample
	TypicalShuffle Sample
	ReduceTime     Sample
}

func noStatistics() DataStatistics {
	nan := math.NaN()
	return DataStatistics{nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan}
}
