package analytic

import (
	"fmt"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/taskplan"
)

// Mode chooses a reading of the equations of Herodotou's report.
type Mode string

// The modes. docs/deviations.md lists what corrected changes.
const (
	Corrected Mode = "corrected" // errata applied; the one to predict with
	Literal   Mode = "literal"   // as printed; 0/0 is 0
)

// HerodotouConf is the cluster and the configuration. Each line gives the Go
// field, the symbol of the report (JSON name), the Hadoop key, the unit and the
// default.
type HerodotouConf struct {
	Nodes            int     `json:"pNumNodes"`             // worker nodes
	TaskMem          float64 `json:"pTaskMem" unit:"bytes"` // mapred.child.java.opts (-Xmx), 200 MiB
	MapsPerNode      int     `json:"pMaxMapsPerNode"`       // mapred.tasktracker.map.tasks.maximum, slots, 2
	ReducesPerNode   int     `json:"pMaxRedsPerNode"`       // mapred.tasktracker.reduce.tasks.maximum, slots, 2
	Mappers          int     `json:"pNumMappers"`           // number of splits
	SortMB           float64 `json:"pSortMB" unit:"MiB"`    // io.sort.mb, 100
	SpillPercent     float64 `json:"pSpillPerc"`            // io.sort.spill.percent, part, 0.8
	SortRecPercent   float64 `json:"pSortRecPerc"`          // io.sort.record.percent, part, 0.05
	SortFactor       int     `json:"pSortFactor"`           // io.sort.factor, files, 10
	SpillsForCombine int     `json:"pNumSpillsForComb"`     // min.num.spills.for.combine, spills, 3
	Reducers         int     `json:"pNumReducers"`          // mapred.reduce.tasks, tasks
	InMemMergeThr    int     `json:"pInMemMergeThr"`        // mapred.inmem.merge.threshold, segments, 1000
	ShuffleInBuf     float64 `json:"pShuffleInBufPerc"`     // mapred.job.shuffle.input.buffer.percent, part, 0.7
	ShuffleMerge     float64 `json:"pShuffleMergePerc"`     // mapred.job.shuffle.merge.percent, part, 0.66
	ReduceInBuf      float64 `json:"pReducerInBufPerc"`     // mapred.job.reduce.input.buffer.percent, part, 0
	UseCombine       bool    `json:"pUseCombine"`
	IntermCompressed bool    `json:"pIsIntermCompressed"` // mapred.compress.map.output, false
	OutCompressed    bool    `json:"pIsOutCompressed"`    // mapred.output.compress, false
	InCompressed     bool    `json:"pIsInCompressed"`
	SplitSize        float64 `json:"pSplitSize" unit:"bytes"`   // on disk
	ReduceSlowstart  float64 `json:"pReduceSlowstart,omitzero"` // mapred.reduce.slowstart.completed.maps, part, 0.05; in no equation
}

// Herodotou is one job of the phase model (Herodotou, Hadoop Performance Models,
// CS-2011-05): deterministic, without contention.
type Herodotou struct {
	HerodotouConf
	taskplan.Data
	taskplan.Cost
}

// HerodotouOptions choose a reading of the equations.
type HerodotouOptions struct {
	Mode Mode
	// CombineOnce applies the combiner's selectivity at the spill only. The report
	// also applies it in the final merge and in the shuffle.
	CombineOnce bool
}

// used returns which statistics the equations of the job use.
func (h *Herodotou) used() taskplan.Used {
	return taskplan.Used{
		Reduces: h.Reducers > 0, Combiner: h.UseCombine,
		InCompressed: h.InCompressed, IntermCompressed: h.IntermCompressed, OutCompressed: h.OutCompressed,
	}
}

// check reports everything that is wrong with the parameters.
func (h *Herodotou) check(mode Mode) error {
	var c input.Check
	if mode != Literal && mode != Corrected {
		c.Fail("mode", "unknown %q; want %q or %q", mode, Corrected, Literal)
	}
	c.Count("pNumNodes", h.Nodes, 1)
	c.Count("pMaxMapsPerNode", h.MapsPerNode, 1)
	c.Count("pNumMappers", h.Mappers, 1)
	c.Count("pNumReducers", h.Reducers, 0)
	c.AtLeast("pSplitSize", h.SplitSize, 0)
	c.Within("pReduceSlowstart", h.ReduceSlowstart, 0, 1)
	if h.Reducers > 0 {
		c.Count("pMaxRedsPerNode", h.ReducesPerNode, 1)
		c.Above("pTaskMem", h.TaskMem, 0)
		c.Above("pSortMB", h.SortMB, 0)
		c.Part("pSpillPerc", h.SpillPercent)
		c.Part("pSortRecPerc", h.SortRecPercent)
		c.Count("pSortFactor", h.SortFactor, 2)
		c.Count("pNumSpillsForComb", h.SpillsForCombine, 0)
		c.Within("pShuffleInBufPerc", h.ShuffleInBuf, 0, 1)
		c.Part("pShuffleMergePerc", h.ShuffleMerge)
		c.Within("pReducerInBufPerc", h.ReduceInBuf, 0, 1)
		if mode == Literal && h.InMemMergeThr < 1 {
			c.Fail("pInMemMergeThr", "%d: equation 45 as printed puts no segment into a shuffle file; want 1 or more, or mode %q", h.InMemMergeThr, Corrected)
		}
	}
	h.used().Check(&c, &h.Data, &h.Cost)
	if (h.MapSizeSel == 0) != (h.MapRecsSel == 0) {
		c.Fail("dsMapSizeSel", "%v with dsMapRecsSel %v: want both 0 or neither", h.MapSizeSel, h.MapRecsSel)
	}
	if mode == Literal && h.Reducers > 0 && (h.MapRecsSel == 0 || h.SplitSize == 0) {
		name, value := "dsMapRecsSel", h.MapRecsSel
		if value > 0 {
			name, value = "pSplitSize", h.SplitSize
		}
		c.Fail(name, "%v: equation 11 as printed divides by the map's output; want more than 0, or mode %q", value, Corrected)
	}
	return c.Err()
}

// HerodotouMap is a map task up to its output: bytes and ms.
type HerodotouMap struct {
	InBytes       float64 `json:"dMapInBytes"`
	InRecs        float64 `json:"dMapInRecs"`
	ReadTime      float64 `json:"cReadPhaseTime"`
	MapTime       float64 `json:"cMapPhaseTime"`
	OutBytes      float64 `json:"dMapOutBytes"`
	OutRecs       float64 `json:"dMapOutRecs"`
	HDFSBytesRead float64 `json:"dHdfsBytesRead"`
}

// HerodotouJob is the job: times in ms.
type HerodotouJob struct {
	SetupTime        float64 `json:"cSetupPhaseTime"` // one task, map or reduce
	CleanupTime      float64 `json:"cCleanupPhaseTime"`
	HDFSBytesWritten float64 `json:"dHdfsBytesWritten"` // per task of the last stage
	TotalMapTime     float64 `json:"totalMapTime"`      // one task
	TotalMapsTime    float64 `json:"totalMapsTime"`     // the stage
	TotalJobTime     float64 `json:"totalJobTime"`
	WaveJobTime      float64 `json:"waveJobTime"` // whole waves only
}

// HerodotouMapOnly is the answer for a job without reduces.
type HerodotouMapOnly struct {
	HerodotouMap
	WriteTime float64 `json:"cMapWritePhaseTime"`
	HerodotouJob
}

// HerodotouPhases is the answer for a job with reduces.
type HerodotouPhases struct {
	HerodotouMap
	HerodotouSpill
	HerodotouShuffle
	HerodotouReduce
	HerodotouJob
	TotalReduceTime  float64 `json:"totalReduceTime"` // one task
	TotalReducesTime float64 `json:"totalReducesTime"`
}

// inMS converts nanoseconds to milliseconds and rounds the result.
func inMS(ns float64) float64 { return float64(ns * 1e-6) }

// MapOnly answers for a job without reduces (eq. 2-8, 90, 92, 94).
func (h Herodotou) MapOnly(o HerodotouOptions) (HerodotouMapOnly, error) {
	if err := h.check(o.Mode); err != nil {
		return HerodotouMapOnly{}, err
	}
	if h.Reducers > 0 {
		return HerodotouMapOnly{}, fmt.Errorf("pNumReducers: %d: want 0", h.Reducers)
	}
	h.used().Neutral(&h.Data, &h.Cost)
	p := HerodotouMapOnly{HerodotouMap: h.mapPart()}
	p.SetupTime, p.CleanupTime = inMS(h.Setup), inMS(h.Cleanup)
	p.WriteTime, p.HDFSBytesWritten = h.write(p.OutBytes) // (8)
	p.TotalMapTime = p.ReadTime + p.MapTime + p.WriteTime // (90)
	if o.Mode == Corrected {
		p.TotalMapTime += p.SetupTime + p.CleanupTime // E12
	}
	p.TotalMapsTime, p.WaveJobTime = stageTime(h.Mappers, h.Nodes, h.MapsPerNode, p.TotalMapTime)
	p.TotalJobTime = p.TotalMapsTime
	return p, nil
}

// Phases answers for a job with reduces (eq. 2-94).
func (h Herodotou) Phases(o HerodotouOptions) (HerodotouPhases, error) {
	if err := h.check(o.Mode); err != nil {
		return HerodotouPhases{}, err
	}
	if h.Reducers == 0 {
		return HerodotouPhases{}, fmt.Errorf("pNumReducers: 0: want 1 or more")
	}
	h.used().Neutral(&h.Data, &h.Cost)
	p := HerodotouPhases{HerodotouMap: h.mapPart()}
	p.SetupTime, p.CleanupTime = inMS(h.Setup), inMS(h.Cleanup)
	var err error
	if p.HerodotouSpill, err = h.spill(p.HerodotouMap, o); err != nil {
		return HerodotouPhases{}, err
	}
	p.HerodotouShuffle = h.shuffle(p.HerodotouSpill, o)
	if p.HerodotouReduce, err = h.reduce(p.HerodotouShuffle, o); err != nil {
		return HerodotouPhases{}, err
	}
	p.HDFSBytesWritten = p.ReduceOutBytes * h.OutRatio

	p.TotalMapTime = p.ReadTime + p.MapTime + p.CollectTime + p.SpillTime + p.MapMergeTime // (90)
	last := p.WriteTime
	if o.Mode == Literal {
		last = p.SpillTime // E1
	}
	p.TotalReduceTime = p.ShuffleTime + p.ReduceMergeTime + p.ReduceTime + last // (91)
	if o.Mode == Corrected {                                                    // E12
		p.TotalMapTime += p.SetupTime + p.CleanupTime
		p.TotalReduceTime += p.SetupTime + p.CleanupTime
	}
	var mapWaves, reduceWaves float64
	p.TotalMapsTime, mapWaves = stageTime(h.Mappers, h.Nodes, h.MapsPerNode, p.TotalMapTime)
	p.TotalReducesTime, reduceWaves = stageTime(h.Reducers, h.Nodes, h.ReducesPerNode, p.TotalReduceTime)
	p.TotalJobTime = p.TotalMapsTime + p.TotalReducesTime // (94)
	p.WaveJobTime = mapWaves + reduceWaves
	return p, nil
}

// stageTime evaluates eq. 92 and 93, in fractions of waves and in whole waves.
func stageTime(tasks, nodes, perNode int, each float64) (total, waves float64) {
	slots := float64(nodes) * float64(perNode)
	return float64(tasks) * each / slots, float64(fit.Ceil(float64(tasks)/slots) * each)
}

// mapPart evaluates eq. 2-7.
func (h *Herodotou) mapPart() HerodotouMap {
	f := h.MapFlow(h.SplitSize) // (2, 3, 6, 7)
	m := HerodotouMap{
		HDFSBytesRead: h.SplitSize, InBytes: f.InBytes, InRecs: f.InRecords, OutBytes: f.OutBytes, OutRecs: f.OutRecords,
	}
	m.ReadTime = inMS(float64(h.SplitSize*h.HDFSRead) + float64(h.SplitSize*h.InUncompr)) // (4)
	m.MapTime = inMS(m.InRecs * h.MapCPU)                                                 // (5)
	return m
}

// write evaluates eq. 8 and 89: the time to write uncompressed bytes to HDFS, ms,
// and the stored bytes.
func (h *Herodotou) write(bytes float64) (time, written float64) {
	written = bytes * h.OutRatio
	return inMS(float64(bytes*h.OutCompr) + float64(written*h.HDFSWrite)), written
}

// mergeCost returns the time to merge files of the given bytes and records from
// disk to disk, ms.
func (h *Herodotou) mergeCost(size, recs float64) float64 {
	return inMS(float64(size*h.LocalRead) +
		float64(size*h.IntermUncompr) +
		float64(recs*h.MergeCPU) +
		float64(size/h.IntermRatio*h.IntermCompr) +
		float64(size*h.LocalWrite))
}

// mergeFiles plans the merge of a number of files that an equation returned.
func mergeFiles(name string, files float64, f int) (taskplan.MergePlan, error) {
	if files > input.MaxCount {
		return taskplan.MergePlan{}, fmt.Errorf("%s: %v files to merge: want at most 2^53", name, files)
	}
	return taskplan.Merge(int(files), f)
}

type phasesQuestion struct {
	Mode         Mode      `json:"mode,omitempty"`
	CombineAgain bool      `json:"combineAgain,omitempty"`
	Set          Herodotou `json:"set,omitempty" input:"partial"`
}

func defaultPhasesQuestion() phasesQuestion { return phasesQuestion{Corrected, true, DefaultPhases()} }

// DefaultPhases returns the job that the phases evaluator starts from: stock
// settings on four nodes, and costs close to those of the TeraSort that the report
// profiles.
func DefaultPhases() Herodotou {
	return Herodotou{
		HerodotouConf{
			Nodes: 4, TaskMem: 200 * mib, MapsPerNode: 2, ReducesPerNode: 2,
			Mappers: 40, SortMB: 100, SpillPercent: 0.8, SortRecPercent: 0.05,
			SortFactor: 10, SpillsForCombine: 3, Reducers: 8, InMemMergeThr: 1000,
			ShuffleInBuf: 0.7, ShuffleMerge: 0.66, SplitSize: 64 * mib,
		},
		taskplan.Data{
			InputPairWidth: 100, RecsPerGroup: 1,
			MapSizeSel: 1, MapRecsSel: 1, ReduceSizeSel: 1, ReduceRecsSel: 1,
			CombineSizeSel: 0.5, CombineRecsSel: 0.4,
			InputRatio: 0.3, IntermRatio: 0.3, OutRatio: 0.3,
		},
		taskplan.Cost{
			HDFSRead: 65.4348, HDFSWrite: 35.5255, LocalRead: 47.213, LocalWrite: 37.1911, Network: 143.8299,
			MapCPU: 9639.307, ReduceCPU: 5046.193, CombineCPU: 4902.644, PartitionCPU: 1274.57,
			SerdeCPU: 2113.465, SortCPU: 198.1609, MergeCPU: 735.0955,
			InUncompr: 100, IntermUncompr: 96.7781, IntermCompr: 166.5649, OutCompr: 93.4911,
		},
	}
}

func (q phasesQuestion) answer() (any, error) {
	o := HerodotouOptions{Mode: q.Mode, CombineOnce: !q.CombineAgain}
	if q.Set.Reducers == 0 {
		return q.Set.MapOnly(o)
	}
	return q.Set.Phases(o)
}

const mib = 1 << 20

// HerodotouSpill is a map task from its output to the merged spill file: sizes
// in bytes, times in ms.
type HerodotouSpill struct {
	MaxSerRecs      float64 `json:"tMaxSerRecs"` // records that fill the serialization part
	MaxAccRecs      float64 `json:"tMaxAccRecs"` // and the accounting part
	OutRecWidth     float64 `json:"tMapOutRecWidth"`
	SpillBufferRecs float64 `json:"dSpillBufferRecs"` // one spill, before the combiner
	SpillBufferSize float64 `json:"dSpillBufferSize"`
	NumSpills       float64 `json:"dNumSpills"`
	SpillFileRecs   float64 `json:"dSpillFileRecs"` // one spill, as written
	SpillFileSize   float64 `json:"dSpillFileSize"`
	CollectTime     float64 `json:"cCollectPhaseTime"`
	SpillTime       float64 `json:"cSpillPhaseTime"`

	FirstPass       float64 `json:"tNumSpillsFirstPass"`
	IntermReads     float64 `json:"tNumSpillsIntermMerge"` // spills read before the final merge
	MergePasses     float64 `json:"dNumMergePasses"`
	FinalFiles      float64 `json:"tNumSpillsFinalMerge"`
	CombineInMerge  bool    `json:"tUseCombInMerge"`
	RecsSpilled     float64 `json:"dNumRecsSpilled"`
	IntermDataSize  float64 `json:"tIntermDataSize"` // the map's final output
	IntermDataRecs  float64 `json:"tIntermDataRecs"`
	IntermMergeTime float64 `json:"tIntermMergeTime"`
	FinalMergeTime  float64 `json:"tFinalMergeTime"`
	MapMergeTime    float64 `json:"cMapMergePhaseTime"`

	MapLocalWritten float64 `json:"dMapLocalBytesWritten"`
	MapLocalRead    float64 `json:"dMapLocalBytesRead"`

	CombineInRecs  float64 `json:"dCombineInRecs"` // at the spills and in the final merge; 0 without a combiner
	CombineOutRecs float64 `json:"dCombineOutRecs"`
}

// HerodotouShuffle is the shuffle of a reduce task: sizes in bytes, times in ms.
type HerodotouShuffle struct {
	SegmentSize   float64 `json:"tSegmentComprSize"` // bytes from one map to one reduce
	SegmentUncomp float64 `json:"tSegmentUncomprSize"`
	SegmentRecs   float64 `json:"tSegmentRecs"`
	ShuffleSize   float64 `json:"dShuffleSize"` // bytes that one reduce fetches
	ShuffleRecs   float64 `json:"dShuffleRecs"`
	BufferSize    float64 `json:"tShuffleBufferSize"`
	InMemory      bool    `json:"tShuffleInMemory"` // case 1: segments go to memory

	SegsPerFile float64 `json:"tNumSegInShuffleFile"`
	FileSize    float64 `json:"tShuffleFileSize"`
	FileRecs    float64 `json:"tShuffleFileRecs"`
	Files       float64 `json:"tNumShuffleFiles"`
	SegsInMem   float64 `json:"tNumSegmentsInMem"` // at the end of the shuffle
	Merges      float64 `json:"tNumShuffleMerges"` // of F files on disk, during the shuffle
	MergedSize  float64 `json:"tMergShufFileSize"` // one merged file
	MergedRecs  float64 `json:"tMergShufFileRecs"`
	Unmerged    float64 `json:"tNumUnmergShufFiles"`
	InMemMerge  float64 `json:"tInMemMergeTime"`
	OnDiskMerge float64 `json:"tOnDiskMergeTime"`
	ShuffleTime float64 `json:"cShufflePhaseTime"`
}

// HerodotouReduce is a reduce task after the shuffle: sizes in bytes, times in
// ms.
type HerodotouReduce struct {
	FilesOnDisk     float64 `json:"tNumShufFilesOnDisk"`
	Evicted         float64 `json:"tNumSegmentsEvicted"` // segments that must leave memory
	RemainMem       float64 `json:"tNumSegmentsRemainMem"`
	FilesFromMem    float64 `json:"tNumShufFilesFromMem"`
	FromMemSize     float64 `json:"tShufFilesFromMemSize"` // one of them
	Step1Size       float64 `json:"tStep1MergingSize"`
	Step1Time       float64 `json:"cStep1Time"`
	Step2Files      float64 `json:"tFilesToMergeStep2"`
	Step2Reads      float64 `json:"tIntermMergeReads2"`
	Step2Size       float64 `json:"tStep2MergingSize"`
	Step2Recs       float64 `json:"tStep2MergingRecs"`
	Step2Time       float64 `json:"cStep2Time"`
	Step3Files      float64 `json:"tFilesToMergeStep3"`
	Step3Reads      float64 `json:"tIntermMergeReads3"`
	Step3Size       float64 `json:"tStep3MergingSize"`
	Step3Time       float64 `json:"cStep3Time"`
	ReduceMergeTime float64 `json:"cReduceMergePhaseTime"`

	ReduceInBytes  float64 `json:"dReduceInBytes"`
	ReduceInRecs   float64 `json:"dReduceInRecs"`
	ReduceInGroups float64 `json:"dReduceInGroups"`
	ReduceOutBytes float64 `json:"dReduceOutBytes"`
	ReduceOutRecs  float64 `json:"dReduceOutRecs"`
	FromDiskSize   float64 `json:"tInRedFromDiskSize"`
	ReduceTime     float64 `json:"cReducePhaseTime"`
	WriteTime      float64 `json:"cWritePhaseTime"`

	ReduceLocalWritten float64 `json:"dReduceLocalBytesWritten"`
	ReduceLocalRead    float64 `json:"dReduceLocalBytesRead"`
}
