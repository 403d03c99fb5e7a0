package scenarios

import "math/bits"

// sobolBits is the number of bits of a coordinate of a Sobol point.
const sobolBits = 32

// sobolPolynomials has the direction numbers of the dimensions after the first: the
// coefficients of a primitive polynomial, and the first odd numbers (Joe and Kuo,
// Constructing Sobol sequences with better two-dimensional projections, 2008, table
// new-joe-kuo-6).
var sobolPolynomials = []struct {
	coefficients uint32
	first        []uint32
}{
	{0, []uint32{1}},
	{1, []uint32{1, 3}},
	{1, []uint32{1, 3, 1}},
	{2, []uint32{1, 1, 1}},
	{1, []uint32{1, 1, 3, 3}},
	{4, []uint32{1, 3, 5, 13}},
	{2, []uint32{1, 1, 5, 5, 17}},
	{4, []uint32{1, 1, 5, 5, 5}},
	{7, []uint32{1, 1, 7, 11, 19}},
	{11, []uint32{1, 1, 5, 1, 1}},
	{13, []uint32{1, 1, 1, 3, 11}},
	{14, []uint32{1, 3, 5, 5, 31}},
	{1, []uint32{1, 3, 3, 9, 7, 49}},
	{13, []uint32{1, 1, 1, 15, 21, 21}},
	{16, []uint32{1, 3, 1, 13, 27, 49}},
	{19, []uint32{1, 1, 1, 15, 7, 5}},
	{22, []uint32{1, 3, 1, 15, 13, 25}},
	{25, []uint32{1, 1, 5, 5, 19, 61}},
	{1, []uint32{1, 3, 7, 11, 23, 15, 103}},
	{4, []uint32{1, 3, 7, 13, 13, 15, 69}},
}

// mostSobol is the largest number of dimensions.
var mostSobol = len(sobolPolynomials) + 1

// sobolDirections are the direction numbers of a dimension, from 0.
func sobolDirections(dimension int) (v [sobolBits]uint32) {
	for i := range v {
		v[i] = 1 << (sobolBits - 1 - i)
	}
	if dimension == 0 {
		return v
	}
	p := &sobolPolynomials[dimension-1]
	degree := len(p.first)
	for i, m := range p.first {
		v[i] = m << (sobolBits - 1 - i)
	}
	for i := degree; i < sobolBits; i++ {
		v[i] = v[i-degree] ^ v[i-degree]>>degree
		for k := 1; k < degree; k++ {
			if p.coefficients>>(degree-1-k)&1 == 1 {
				v[i] ^= v[i-k]
			}
		}
	}
	return v
}

// sobol returns one coordinate of the first n points, between 0 and 1. The shift is
// added to each of them without carry, which keeps the points evenly spread.
func sobol(dimension, n int, shift uint32) []float64 {
	v := sobolDirections(dimension)
	points := make([]float64, n)
	x := uint32(0)
	for i := range points {
		points[i] = (float64(x^shift) + 0.5) / (1 << sobolBits)
		x ^= v[bits.TrailingZeros32(^uint32(i))]
	}
	return points
}
