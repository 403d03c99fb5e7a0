package analytic

import (
	"fmt"
	"math"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/taskplan"
)

// spill evaluates eq. 11-36.
func (h *Herodotou) spill(m HerodotouMap, o HerodotouOptions) (HerodotouSpill, error) {
	var s HerodotouSpill
	if m.OutRecs == 0 {
		return s, nil // E20: the task writes an empty file
	}
	corrected := o.Mode == Corrected
	s.OutRecWidth = m.OutBytes / m.OutRecs // (11)
	buffer := h.SortMB * mib
	s.MaxSerRecs = fit.Floor(buffer * (1 - h.SortRecPercent) * h.SpillPercent / s.OutRecWidth)      // (12)
	s.MaxAccRecs = fit.Floor(buffer * h.SortRecPercent * h.SpillPercent / taskplan.AccountingBytes) // (13)
	if s.MaxSerRecs < 1 || s.MaxAccRecs < 1 {
		return s, fmt.Errorf("pSortMB: %v: the sort buffer holds no record of %v bytes at pSortRecPerc %v and pSpillPerc %v",
			h.SortMB, s.OutRecWidth, h.SortRecPercent, h.SpillPercent)
	}
	s.SpillBufferRecs = math.Min(math.Min(s.MaxSerRecs, s.MaxAccRecs), m.OutRecs) // (14)
	s.NumSpills = math.Max(1, fit.Ceil(m.OutRecs/s.SpillBufferRecs))              // (16)
	if corrected {
		s.SpillBufferRecs = m.OutRecs / s.NumSpills // E4
	}
	s.SpillBufferSize = s.SpillBufferRecs * s.OutRecWidth                  // (15)
	s.SpillFileRecs = s.SpillBufferRecs * h.CombineRecsSel                 // (17)
	s.SpillFileSize = s.SpillBufferSize * h.CombineSizeSel * h.IntermRatio // (18)
	s.CollectTime = inMS(m.OutRecs * (h.PartitionCPU + h.SerdeCPU))        // (19)
	s.SpillTime = inMS(s.NumSpills * (float64(s.SpillBufferRecs*h.sortDepth(s.SpillBufferRecs, corrected)*h.SortCPU) +
		float64(s.SpillBufferRecs*h.CombineCPU) +
		float64(s.SpillBufferSize*h.CombineSizeSel*h.IntermCompr) +
		float64(s.SpillFileSize*h.LocalWrite))) // (20)

	plan, err := mergeFiles("dNumSpills", s.NumSpills, h.SortFactor) // (24-27)
	if err != nil {
		return s, err
	}
	s.FirstPass, s.IntermReads = float64(plan.FirstPass), float64(plan.IntermReads)
	s.MergePasses, s.FinalFiles = float64(plan.Passes), float64(plan.FinalFiles)

	several := 0.0
	if s.NumSpills > 1 {
		several = 1
	}
	final := 1.0 // as printed, one spill is merged too
	if corrected {
		final = several // E2
	}
	compared := s.FinalFiles
	if corrected {
		compared = s.NumSpills // E6
	}
	s.CombineInMerge = s.NumSpills > 1 && h.UseCombine && compared >= float64(h.SpillsForCombine) // (28)
	sizeSel, recsSel := 1.0, 1.0
	if s.CombineInMerge && !o.CombineOnce {
		sizeSel, recsSel = h.CombineSizeSel, h.CombineRecsSel // (29, 30)
	}
	combineCPU := h.CombineCPU
	if corrected && !s.CombineInMerge {
		combineCPU = 0 // E3
	}
	s.RecsSpilled = s.SpillFileRecs * (s.NumSpills + s.IntermReads + float64(final*s.NumSpills*recsSel)) // (31)
	s.IntermDataSize = s.NumSpills * s.SpillFileSize * sizeSel                                           // (32)
	s.IntermDataRecs = s.NumSpills * s.SpillFileRecs * recsSel                                           // (33)
	s.IntermMergeTime = float64(s.IntermReads * h.mergeCost(s.SpillFileSize, s.SpillFileRecs))           // (34)
	s.FinalMergeTime = inMS(final * (float64(s.NumSpills*(float64(s.SpillFileSize*h.LocalRead)+
		float64(s.SpillFileSize*h.IntermUncompr)+
		float64(s.SpillFileRecs*h.MergeCPU)+
		float64(s.SpillFileRecs*combineCPU))) +
		float64(s.IntermDataSize/h.IntermRatio*h.IntermCompr) +
		float64(s.IntermDataSize*h.LocalWrite))) // (35)
	s.MapMergeTime = s.IntermMergeTime + s.FinalMergeTime // (36)

	s.MapLocalWritten = float64(s.SpillFileSize*(s.NumSpills+s.IntermReads)) + float64(several*s.IntermDataSize)
	s.MapLocalRead = s.SpillFileSize * (s.IntermReads + float64(several*s.NumSpills))
	if h.UseCombine {
		s.CombineInRecs, s.CombineOutRecs = m.OutRecs, s.NumSpills*s.SpillFileRecs
		if s.CombineInMerge {
			s.CombineInRecs += s.NumSpills * s.SpillFileRecs
			s.CombineOutRecs += s.IntermDataRecs
		}
	}
	return s, nil
}

// sortDepth returns the comparisons per record when a spill is sorted by partition
// and key.
func (h *Herodotou) sortDepth(recs float64, corrected bool) float64 {
	ratio := recs / float64(h.Reducers)
	if corrected {
		ratio = math.Max(2, ratio) // E5
	}
	return fit.Log2(ratio)
}

// shuffle evaluates eq. 37-64.
func (h *Herodotou) shuffle(m HerodotouSpill, o HerodotouOptions) HerodotouShuffle {
	maps, reduces, factor := float64(h.Mappers), float64(h.Reducers), float64(h.SortFactor)
	var s HerodotouShuffle
	s.SegmentSize = m.IntermDataSize / reduces                            // (37)
	s.SegmentUncomp = s.SegmentSize / h.IntermRatio                       // (38)
	s.SegmentRecs = m.IntermDataRecs / reduces                            // (39)
	s.ShuffleSize, s.ShuffleRecs = maps*s.SegmentSize, maps*s.SegmentRecs // (40, 41)
	s.BufferSize = h.ShuffleInBuf * h.TaskMem                             // (42)
	s.InMemory = s.SegmentUncomp < 0.25*s.BufferSize

	sizeSel, recsSel := h.CombineSizeSel, h.CombineRecsSel
	if o.CombineOnce {
		sizeSel, recsSel = 1, 1
	}
	switch {
	case s.SegmentUncomp == 0: // the buffer never fills
		s.InMemory = true
		s.SegsPerFile, s.SegsInMem = maps, maps
	case s.InMemory:
		s.SegsPerFile = h.segmentsPerFile(s)
		s.FileSize = s.SegsPerFile * s.SegmentSize * sizeSel // (46)
		s.FileRecs = s.SegsPerFile * s.SegmentRecs * recsSel // (47)
		s.Files = math.Floor(maps / s.SegsPerFile)           // (48)
		s.SegsInMem = math.Mod(maps, s.SegsPerFile)          // (49)
	default: // (50-54)
		s.SegsPerFile, s.Files = 1, maps
		s.FileSize, s.FileRecs = s.SegmentSize, s.SegmentRecs
	}
	if s.Files >= 2*factor-1 {
		s.Merges = math.Floor((s.Files-2*factor+1)/factor) + 1 // (55, 56)
	}
	s.MergedSize, s.MergedRecs = factor*s.FileSize, factor*s.FileRecs // (57, 58)
	s.Unmerged = s.Files - float64(factor*s.Merges)                   // (59)

	if s.InMemory {
		in := s.FileRecs
		if o.Mode == Corrected {
			in = s.SegsPerFile * s.SegmentRecs // E7
		}
		s.InMemMerge = float64(s.ShuffleSize*h.IntermUncompr) +
			float64(s.Files*in*h.MergeCPU) +
			float64(s.Files*in*h.CombineCPU) +
			float64(s.Files*s.FileSize/h.IntermRatio*h.IntermCompr)
	}
	s.InMemMerge = inMS(s.InMemMerge + float64(s.Files*s.FileSize*h.LocalWrite)) // (62)
	s.OnDiskMerge = float64(s.Merges * h.mergeCost(s.MergedSize, s.MergedRecs))  // (63)
	s.ShuffleTime = inMS(s.ShuffleSize*h.Network) + s.InMemMerge + s.OnDiskMerge // (64)
	return s
}

// segmentsPerFile evaluates eq. 43-45: the segments that one merge in memory
// writes to a file.
func (h *Herodotou) segmentsPerFile(s HerodotouShuffle) float64 {
	x := h.ShuffleMerge * s.BufferSize / s.SegmentUncomp // (43, 44)
	n := fit.Ceil(x)
	if n*s.SegmentUncomp > s.BufferSize {
		n = fit.Floor(x)
	}
	if h.InMemMergeThr > 0 { // E14: else no limit
		n = math.Min(n, float64(h.InMemMergeThr))
	}
	// If a segment is far smaller than a byte, their number is not finite.
	return math.Min(math.Max(1, n), input.MaxCount)
}

// reduce evaluates eq. 65-89.
func (h *Herodotou) reduce(s HerodotouShuffle, o HerodotouOptions) (HerodotouReduce, error) {
	var r HerodotouReduce
	factor := float64(h.SortFactor)
	r.FilesOnDisk = s.Merges + s.Unmerged                   // (65)
	room := h.ReduceInBuf * h.TaskMem                       // (66)
	if held := s.SegsInMem * s.SegmentUncomp; held > room { // (67)
		r.Evicted = math.Min(s.SegsInMem, fit.Ceil((held-room)/s.SegmentUncomp)) // (68)
	}
	r.RemainMem = s.SegsInMem - r.Evicted // (69)

	var step1Recs, fromMemRecs float64 // (70)
	if r.FilesOnDisk < factor {
		r.FilesFromMem = 1
		r.FromMemSize, fromMemRecs = r.Evicted*s.SegmentSize, r.Evicted*s.SegmentRecs
		r.Step1Size, step1Recs = r.FromMemSize, fromMemRecs
		if o.Mode == Corrected && r.Evicted == 0 {
			r.FilesFromMem = 0 // E8
		}
	} else {
		r.FilesFromMem = r.Evicted
		r.FromMemSize, fromMemRecs = s.SegmentSize, s.SegmentRecs
	}
	r.Step1Time = inMS(float64(step1Recs*h.MergeCPU) +
		float64(r.Step1Size/h.IntermRatio*h.IntermCompr) +
		float64(r.Step1Size*h.LocalWrite)) // (71)

	r.FromDiskSize = float64(s.Merges*s.MergedSize) + float64(s.Unmerged*s.FileSize) +
		float64(r.FilesFromMem*r.FromMemSize) // (87)
	onDiskRecs := float64(s.Merges*s.MergedRecs) + float64(s.Unmerged*s.FileRecs) +
		float64(r.FilesFromMem*fromMemRecs)

	r.Step2Files = r.FilesOnDisk + r.FilesFromMem // (72)
	step2, err := mergeFiles("tFilesToMergeStep2", r.Step2Files, h.SortFactor)
	if err != nil {
		return r, err
	}
	r.Step2Reads = float64(step2.IntermReads) // (73)
	if r.Step2Files > 0 {                     // E9
		r.Step2Size = r.Step2Reads / r.Step2Files * r.FromDiskSize // (74)
		r.Step2Recs = r.Step2Reads / r.Step2Files * onDiskRecs     // (75)
	}
	r.Step2Time = h.mergeCost(r.Step2Size, r.Step2Recs) // (76)

	r.Step3Files = r.RemainMem + float64(step2.FinalFiles) // (77)
	step3, err := mergeFiles("tFilesToMergeStep3", r.Step3Files, h.SortFactor)
	if err != nil {
		return r, err
	}
	if o.Mode == Literal { // E16: the framework's last merge takes all files at once
		r.Step3Reads = float64(step3.IntermReads) // (78)
		if r.Step3Files > 0 {
			r.Step3Size = r.Step3Reads / r.Step3Files * s.ShuffleSize                       // (79)
			r.Step3Time = h.mergeCost(r.Step3Size, r.Step3Reads/r.Step3Files*s.ShuffleRecs) // (80, 81)
		}
	}
	r.ReduceMergeTime = r.Step1Time + r.Step2Time + r.Step3Time // (82)

	r.ReduceInBytes = (float64(s.Files*s.FileSize) + float64(s.SegsInMem*s.SegmentSize)) / h.IntermRatio // (83)
	r.ReduceInRecs = float64(s.Files*s.FileRecs) + float64(s.SegsInMem*s.SegmentRecs)                    // (84)
	r.ReduceInGroups = r.ReduceInRecs / h.RecsPerGroup
	r.ReduceOutBytes = r.ReduceInBytes * h.ReduceSizeSel // (85)
	r.ReduceOutRecs = r.ReduceInRecs * h.ReduceRecsSel   // (86)
	r.ReduceTime = inMS(float64(r.FromDiskSize*(h.LocalRead+h.IntermUncompr)) +
		float64(r.ReduceInRecs*h.ReduceCPU)) // (88)
	r.WriteTime, _ = h.write(r.ReduceOutBytes) // (89)

	merged := float64(s.Merges * s.MergedSize)
	r.ReduceLocalWritten = float64(s.Files*s.FileSize) + merged + r.Step1Size + r.Step2Size + r.Step3Size
	r.ReduceLocalRead = merged + r.Step2Size + r.Step3Size + r.FromDiskSize
	return r, nil
}

// combineScale carries a combiner's selectivity from n0 records per call to n:
// the share that survives falls with the logarithm of the records combined at
// once (Starfish, MapProfileOracle.java). It never falls below least, the share
// that the known number of distinct keys leaves (0: not known).
func combineScale(sel, n0, n, least float64) (float64, error) {
	var c input.Check
	c.AtLeast("sel", sel, 0)
	c.AtLeast("n0", n0, 0)
	c.AtLeast("n", n, 0)
	c.Within("least", least, 0, 1)
	if err := c.Err(); err != nil {
		return 0, err
	}
	if n <= 1 || n0 <= 1 {
		return 1, nil
	}
	return math.Max(least, math.Min(1, sel*fit.Log2(n0)/fit.Log2(n))), nil
}

type combineQuestion struct {
	Sel   float64 `json:"sel"`
	N0    float64 `json:"n0"`
	N     float64 `json:"n"`
	Least float64 `json:"least,omitempty"`
}

type combineAnswer struct {
	Sel float64 `json:"sel_n"`
}

func (q combineQuestion) answer() (combineAnswer, error) {
	sel, err := combineScale(q.Sel, q.N0, q.N, q.Least)
	return combineAnswer{sel}, err
}

type mergeQuestion struct {
	N int `json:"N"`
	F int `json:"F"`
}

func (q mergeQuestion) answer() (taskplan.MergePlan, error) { return taskplan.Merge(q.N, q.F) }
