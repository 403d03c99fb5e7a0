package workload

import "math/rand/v2"

// Seed names a family of random streams. Every random choice in a run comes
// from a stream that is derived from one master seed by purpose and place, so
// that no choice depends on the order of the others.
type Seed uint64

// Named derives the family for one purpose.
func (s Seed) Named(purpose string) Seed {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h := uint64(offset)
	for i := range len(purpose) {
		h = (h ^ uint64(purpose[i])) * prime
	}
	return Seed(mix(uint64(s) ^ h))
}

// For derives the family of one job (or node, or replication) of a purpose.
func (s Seed) For(index int) Seed { return Seed(mix(uint64(s) + 0x9e3779b97f4a7c15*uint64(index+1))) }

// Stream derives one stream, for a task and an attempt of it.
func (s Seed) Stream(task, attempt int) Stream {
	return Stream{uint64(s), uint64(task)<<16 | uint64(attempt&0xffff)}
}

// Stream is the seed of one PCG generator. It holds no state: each use gives
// the same numbers.
type Stream struct{ hi, lo uint64 }

// Generator starts a generator at the beginning of the stream.
func (s Stream) Generator() rand.PCG {
	var g rand.PCG
	g.Seed(s.hi, mix(s.lo^0x2545f4914f6cdd1d))
	return g
}

// Uniform returns the stream's first number, in the open interval (0, 1).
func (s Stream) Uniform() float64 {
	g := s.Generator()
	return (float64(g.Uint64()>>11) + 0.5) / (1 << 53)
}

// mix returns the finaliser of SplitMix64: every input bit reaches every output
// bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
