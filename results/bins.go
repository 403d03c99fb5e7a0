package results

import (
	"math"
	"math/bits"
	"time"
)

// firstBin is the width of a bin before anything was recorded: 1/512 s, so
// that doubling it passes through whole seconds.
const firstBin = time.Second / 512

// maxBins bounds the number of bins; when a run outgrows them their width
// doubles.
const maxBins = 2048

// timeline counts, for each of a fixed number of tracks, how many units are
// busy over time, in bins whose width follows the length of the run. Sums are
// integers of nanoseconds: no unit's time is lost or counted twice, whatever
// the order in which intervals arrive.
type timeline struct {
	width  int64 // ns per bin
	end    int64 // latest instant
	tracks []track
}

// track holds one quantity. An interval adds its broken ends to part and is
// counted in step from its first whole bin to its last, so that its cost does
// not depend on its length. Both have one more entry for intervals that end
// with the last bin.
type track struct {
	part []int64 // busy ns within a bin
	step []int32 // change of the number of units busy for whole bins
}

func newTimeline(tracks int) *timeline {
	t := &timeline{width: int64(firstBin), tracks: make([]track, tracks)}
	for i := range t.tracks {
		t.tracks[i] = track{make([]int64, maxBins+1), make([]int32, maxBins+1)}
	}
	return t
}

// reach widens the bins until they cover the instant end (ns).
func (t *timeline) reach(end int64) {
	t.end = max(t.end, end)
	for t.end > t.width*maxBins {
		for i := range t.tracks {
			t.tracks[i].halve(t.width)
		}
		t.width *= 2
	}
}

// halve merges neighbouring bins.
func (k *track) halve(width int64) {
	whole := int64(0)
	for i := range maxBins {
		whole += int64(k.step[i])
		sum := k.part[i] + whole*width
		k.part[i], k.step[i] = 0, 0
		k.part[i/2] += sum
	}
	k.step[maxBins] = 0 // intervals that ended with the last bin are whole now
}

// add counts one unit as busy in [from, to); reach(to) must have come first.
func (t *timeline) add(n int, from, to int64) {
	k := &t.tracks[n]
	i, j := from/t.width, to/t.width
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
		for i := range sum {
			whole += int64(k.step[i])
			sum[i] += k.part[i] + whole*t.width
		}
	}
	return sum
}

// sketch is a histogram of durations whose bins widen with the value: 64 to
// each doubling, so a quantile is within 1/128 of itself. Counts are integers,
// so the order of the values does not matter, and its size is fixed.
type sketch struct {
	count    [64 * (64 - sketchBits)]int64
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
	s.count[sketchBin(v)]++
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

// quantile returns the value below or at which the share p of all values lies
// (nearest rank).
func (s *sketch) quantile(p float64) int64 {
	rank := int64(math.Ceil(p*float64(s.n))) - 1 // values below the one wanted
	for i, n := range s.count {
		if rank -= n; rank < 0 {
			return min(max(sketchValue(i), s.min), s.max)
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
