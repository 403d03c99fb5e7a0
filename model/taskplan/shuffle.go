package taskplan

import (
	"math"
	"slices"
)

// Shuffle is the shuffle of a reduce: it decides which outputs go to memory and
// which to disk, which fetches wait for memory, and when merges begin
// (ReduceTask.ReduceCopier of 0.20.2 and 1.x; MergeManagerImpl of 2.7 and 3.3). The caller keeps the time: it
// reserves, fetches and merges, and asks after each event whether a merge is due.
// At most one merge in memory and one on disk run at a time.
type Shuffle struct {
	limit, single float64 // bytes: memory for all outputs; a larger output, or one of this size, goes to disk
	mrv2          bool    // an output of the single size goes to memory, and one may pass the limit
	mergeAt       float32 // part of limit
	mergeCount    int
	stalledAt     float64 // copiers
	factor        int
	retain        float64 // bytes that may stay in memory for the reduce

	maps    int     // outputs in all
	fetched int     // outputs
	used    float64 // bytes reserved
	full    float64 // bytes of outputs that are fetched and not freed
	closed  int     // outputs counted in full
	stalled int     // copiers waiting for memory

	memory []Segment // fetched and not being merged, in the order of fetching
	disk   []Segment // by size

	inMemMerging, onDiskMerging, over bool

	ShuffleCounts
}

// ShuffleCounts are the fetches and background merges of a reduce.
type ShuffleCounts struct {
	InMemFetches, OnDiskFetches int
	InMemMerges, OnDiskMerges   int
}

// singleLimit and stalledPart are constants of ShuffleRamManager.
const (
	singleLimit = 0.25 // of the memory limit
	stalledPart = 0.75 // of the copiers
)

// newShuffle returns a shuffle before its first fetch; the job has the given
// number of maps.
func (c *Conf) newShuffle(maps int) Shuffle {
	// Hadoop computes in single precision.
	retain := math.Floor(float64(float32(c.ReduceHeap) * float32(c.ReduceInBuf)))
	if c.MRv2 {
		limit := math.Floor(float64(float32(c.ReduceHeap) * float32(c.ShuffleInBuf)))
		return Shuffle{
			limit: limit, single: math.Min(math.MaxInt32, math.Floor(float64(float32(limit)*singleLimit))), mrv2: true,
			mergeAt: float32(c.ShuffleMerge), factor: c.SortFactor, retain: retain, maps: maps,
		}
	}
	heap := float32(min(c.ReduceHeap, math.MaxInt32))
	limit := math.Floor(float64(heap * float32(c.ShuffleInBuf)))
	return Shuffle{
		limit:      limit,
		single:     math.Floor(limit * singleLimit),
		mergeAt:    float32(c.ShuffleMerge),
		mergeCount: c.InMemMergeThr,
		stalledAt:  stalledPart * float64(c.ParallelCopies),
		factor:     c.SortFactor,
		retain:     retain,
		maps:       maps,
	}
}

// InMemory reports whether a map output is fetched into memory. Other outputs go
// to disk and need no reservation.
func (s *Shuffle) InMemory(out Segment) bool {
	return out.Raw < s.single || s.mrv2 && out.Raw == s.single
}

// Memory returns the memory for all outputs, bytes.
func (s *Shuffle) Memory() float64 { return s.limit }

// Reserve asks for the memory of an output. If it returns false, the copier is
// stalled until Retry succeeds.
func (s *Shuffle) Reserve(out Segment) bool {
	if s.mrv2 && s.used > s.limit || !s.mrv2 && s.used+out.Raw > s.limit {
		s.stalled++
		return false
	}
	s.used += out.Raw
	return true
}

// Retry reserves memory for a stalled copier.
func (s *Shuffle) Retry(out Segment) bool {
	s.stalled--
	return s.Reserve(out)
}

// Abandon ends a fetch into memory whose source is lost. stalled says that the
// fetch had no memory yet.
func (s *Shuffle) Abandon(out Segment, stalled bool) {
	if stalled {
		s.stalled--
	} else {
		s.used -= out.Raw
	}
}

// Copied counts an output that has arrived in memory. A merge that begins before
// Listed leaves it out, even if it triggered the merge: two threads of Hadoop race
// there.
func (s *Shuffle) Copied(out Segment) {
	s.full += out.Raw
	s.closed++
}

// Listed makes an output in memory available to the next merge.
func (s *Shuffle) Listed(out Segment) {
	s.InMemFetches++
	s.memory = append(s.memory, out)
	s.fetched++
}

// Stored takes an output that has arrived on disk.
func (s *Shuffle) Stored(out Segment) {
	s.OnDiskFetches++
	s.store(out)
	s.fetched++
}

func (s *Shuffle) store(file Segment) {
	i, _ := slices.BinarySearchFunc(s.disk, file, bySize)
	s.disk = slices.Insert(s.disk, i, file)
}

// inMemMerge begins the merge of all outputs in memory, if one is due
// (ShuffleRamManager.waitForDataToMerge), and returns its inputs. The caller frees
// each input when it is used up, and then calls InMemMerged.
func (s *Shuffle) inMemMerge() []Segment {
	if s.mrv2 {
		if s.inMemMerging || s.over || len(s.memory) == 0 || s.full < math.Floor(float64(float32(s.limit)*s.mergeAt)) {
			return nil
		}
		return s.takeMemory()
	}
	full := float32(s.full)/float32(s.limit) >= s.mergeAt && s.closed >= 2
	many := s.mergeCount > 0 && s.closed >= s.mergeCount
	last := s.fetched > 0 && s.Missing() > 0 && s.stalled >= s.Missing()
	stalled := float64(s.stalled) >= s.stalledAt || last
	if s.inMemMerging || s.over || len(s.memory) == 0 || !full && !many && !stalled {
		return nil
	}
	return s.takeMemory()
}

func (s *Shuffle) takeMemory() []Segment {
	s.inMemMerging = true
	s.InMemMerges++
	inputs := s.memory
	s.memory = make([]Segment, 0, len(inputs)) // the next merge has about as many inputs
	return inputs
}

// Free returns the memory of an output that a merge has used up. Stalled copiers
// may then retry.
func (s *Shuffle) Free(out Segment) {
	s.used -= out.Raw
	s.full -= out.Raw
	s.closed--
}

// Merging reports whether the fetchers of Hadoop 2 and 3 wait for a merge in memory
// before they choose another host (MergeManagerImpl.waitForResource).
func (s *Shuffle) Merging() bool { return s.mrv2 && s.inMemMerging }

// InMemMerged ends the merge in memory with the file it wrote.
func (s *Shuffle) InMemMerged(file Segment) {
	s.inMemMerging = false
	s.store(file)
}

// onDiskMerge begins the merge of the smallest files, if 2F-1 are on disk
// (ReduceCopier.LocalFSMerger), and returns its inputs.
func (s *Shuffle) onDiskMerge() []Segment {
	if s.onDiskMerging || s.over || len(s.disk) < 2*s.factor-1 {
		return nil
	}
	s.onDiskMerging = true
	s.OnDiskMerges++
	inputs := slices.Clone(s.disk[:s.factor])
	s.disk = s.disk[s.factor:]
	return inputs
}

// OnDiskMerged ends the merge on disk with the file it wrote.
func (s *Shuffle) OnDiskMerged(file Segment) {
	s.onDiskMerging = false
	s.store(file)
}

// Close ends the shuffle: no further merge begins. Hadoop closes the shuffle when
// the last output has arrived and the thread that fetches completion events has
// ended, up to one second later.
func (s *Shuffle) Close() { s.over = true }

// Done reports whether the shuffle is closed and no merge runs.
func (s *Shuffle) Done() bool { return s.over && !s.inMemMerging && !s.onDiskMerging }

// Missing returns the number of outputs that are not fetched yet.
func (s *Shuffle) Missing() int { return s.maps - s.fetched }

// sortPlan is the merging that is left after the shuffle.
type sortPlan struct {
	Evicted  []Segment // leave memory: for one file if Evict, else for the first pass
	Evict    bool
	Passes   [][]Segment // each writes a file
	InMemory int         // inputs of the first pass that are in memory
	Last     []Segment   // files that the reduce reads
	Retained []Segment   // outputs that the reduce reads from memory
}

// sort plans the sort phase (ReduceCopier.createKVIterator): outputs beyond
// mapred.job.reduce.input.buffer.percent leave memory, then files are merged until
// one pass is left for the reduce. merged returns the sum of its inputs as one
// file.
func (s *Shuffle) sort(merged func([]Segment) Segment) sortPlan {
	var out sortPlan
	full := total(s.memory).Raw
	n := 0
	for ; full > s.retain && n < len(s.memory); n++ {
		full -= s.memory[n].Raw
	}
	out.Evicted, out.Retained = s.memory[:n], s.memory[n:]
	files := slices.Clone(s.disk)
	switch {
	case n == 0:
	case len(files) < s.factor:
		out.Evict = true
		files = append(files, merged(out.Evicted))
		slices.SortStableFunc(files, bySize)
	default:
		out.InMemory = n
		files = append(slices.Clone(out.Evicted), files...)
	}
	if len(files) > 0 {
		out.Passes, out.Last = mergeToFactor(files, s.factor, out.InMemory, merged)
	}
	return out
}
