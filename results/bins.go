package results

import (
	"math"
	"math/bits"
	"time"
)

// firstBin is the first width of a bin: 1/512 s, so that doubling it passes
// through whole seconds.
const firstBin = time.Second / 512

// maxBins limits the number of bins. If a run needs more, their width doubles.
const maxBins = 2048

// timeline counts, for each of a fixed number of tracks, the busy units over
// time, in bins whose width depends on the length of the run. Sums are integers
// of nanoseconds, so that they are exact in any order of intervals.
type timeline struct {
	width   int64 // ns per bin
	doubled uint  // how often the width was doubled
	end     int64 // latest instant
	tracks  []track
}

// track holds one quantity. An interval adds its partial bins at both ends to
// part. Its whole bins are counted in step at the first and after the last, so
// that the cost does not depend on its length. Both are nil before the first
// interval, and have one entry more than bins for intervals that end with the last.
type track struct {
	part []int64 // busy ns within a bin
	step []int32 // change of the number of units busy for whole bins
}

func newTimeline(tracks int) *timeline {
	return &timeline{width: int64(firstBin), tracks: make([]track, tracks)}
}

// reach widens the bins until they cover the instant end (ns).
func (t *timeline) reach(end int64) {
	for end > t.width*maxBins {
		for i := range t.tracks {
			t.tracks[i].halve(t.width, t.bins())
		}
		t.width *= 2
		t.doubled++
	}
	t.end = max(t.end, end)
}

// halve merges neighbouring bins, of which the first are in use.
func (k *track) halve(width int64, used int) {
	if k.part == nil {
		return
	}
	used = min(used, len(k.part)-1) // no interval is open after that
	whole := int64(0)
	for i := range used {
		whole += int64(k.step[i])
		sum := k.part[i] + whole*width
		k.part[i], k.step[i] = 0, 0
		k.part[i/2] += sum
	}
	k.step[used] = 0 // intervals that ended with the last bin are complete now
}

// bin returns the bin of an instant. The width is a power of 2 times firstBin, and
// to divide by a constant is fast.
func (t *timeline) bin(at int64) int64 { return at / int64(firstBin) >> t.doubled }

// add counts one unit as busy in [from, to). Call reach(to) first.
func (t *timeline) add(n int, from, to int64) {
	k := &t.tracks[n]
	i, j := t.bin(from), t.bin(to)
	if k.part == nil { // nearly every run comes to use more than half of the bins
		k.part, k.step = make([]int64, maxBins+1), make([]int32, maxBins+1)
	}
	if i == j {
		k.part[i] += to - from
		return
	}
	k.part[i] += (i+1)*t.width - from
	k.part[j] += to - j*t.width
	k.step[i+1]++
	k.step[j]--
}

// bins returns the number of bins in use.
func (t *timeline) bins() int { return int((t.end + t.width - 1) / t.width) }

// busy returns the unit-nanoseconds of each bin, summed over the given tracks.
func (t *timeline) busy(tracks ...int) []int64 {
	sum := make([]int64, t.bins())
	for _, n := range tracks {
		k := &t.tracks[n]
		whole := int64(0)
		for i := range min(len(sum), len(k.part)) { // no interval is open after that
			whole += int64(k.step[i])
			sum[i] += k.part[i] + whole*t.width
		}
	}
	return sum
}

// sketch is a histogram of durations with bins in proportion to the value: 64
// per doubling, so a quantile is within 1/128 of its value. Counts are
// integers, so the order of the values does not matter, and its size is bounded.
type sketch struct {
	count    [64 - sketchBits]*[64]int64 // by doubling; nil: no value
	n        int64
	sum      int64
	min, max int64
}

const sketchBits = 6 // log2 of the bins per doubling

func (s *sketch) add(v int64) {
	if s.n == 0 || v < s.min {
		s.min = v
	}
	s.max = max(s.max, v)
	s.n++
	s.sum += v
	bin := sketchBin(v)
	row := &s.count[bin>>sketchBits]
	if *row == nil {
		*row = new([64]int64)
	}
	(*row)[bin&(1<<sketchBits-1)]++
}

func sketchBin(v int64) int {
	if v < 1<<sketchBits {
		return int(v)
	}
	shift := bits.Len64(uint64(v)) - 1 - sketchBits
	return (shift+1)<<sketchBits + int(v>>shift) - 1<<sketchBits
}

// sketchValue returns the middle of a bin.
func sketchValue(bin int) int64 {
	if bin < 1<<sketchBits {
		return int64(bin)
	}
	shift := bin>>sketchBits - 1
	low := int64(bin&(1<<sketchBits-1)+1<<sketchBits) << shift
	return low + int64(1)<<shift/2
}

// quantile returns the smallest recorded value at or below which a fraction p
// of all values lies (nearest rank).
func (s *sketch) quantile(p float64) int64 {
	rank := int64(math.Ceil(p*float64(s.n))) - 1 // number of values up to the quantile
	for i, row := range s.count {
		if row == nil {
			continue
		}
		for k, n := range row {
			if rank -= n; rank < 0 {
				return min(max(sketchValue(i<<sketchBits|k), s.min), s.max)
			}
		}
	}
	return s.max
}

func (s *sketch) mean() int64 {
	if s.n == 0 {
		return 0
	}
	return (s.sum + s.n/2) / s.n
}
