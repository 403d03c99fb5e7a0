package jobtracker

import "math/bits"

// bitset is a set of small numbers.
type bitset []uint64

// newBitset returns an empty set of numbers below n.
func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (s bitset) has(n int32) bool { return s[n/64]>>(uint32(n)%64)&1 != 0 }

func (s bitset) set(n int32) { s[n/64] |= 1 << (n % 64) }

func (s bitset) clear(n int32) { s[n/64] &^= 1 << (n % 64) }

// from returns the first number of the set from n on, or -1.
func (s bitset) from(n int32) int32 {
	if w := n / 64; int(w) < len(s) {
		word := s[w] >> (n % 64) << (n % 64)
		for {
			if word != 0 {
				return w*64 + int32(bits.TrailingZeros64(word))
			}
			if w++; int(w) == len(s) {
				break
			}
			word = s[w]
		}
	}
	return -1
}
