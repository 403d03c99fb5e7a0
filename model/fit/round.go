package fit

import "math"

// Guard keeps the last bit of a quotient from adding a slot or a segment where
// exact arithmetic gives a whole number.
const Guard = 1e-9

// Ceil rounds x up, but not beyond a whole number that x exceeds by Guard or less.
func Ceil(x float64) float64 { return math.Ceil(float64(x) - Guard) }

// Floor rounds x down, but not below a whole number that x misses by Guard or less.
func Floor(x float64) float64 { return math.Floor(float64(x) + Guard) }

// Log2 returns the binary logarithm with the same last bit on every machine.
// math.Log2 leaves a product and a sum to the compiler, which fuses them where
// the processor can. x must be positive and finite.
func Log2(x float64) float64 {
	frac, exp := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac, exp = 2*frac, exp-1
	}
	// ln(frac) = 2*atanh(s), a series in s*s < 0.03: twelve terms reach the last
	// bit.
	s := (frac - 1) / (frac + 1)
	square := float64(s * s)
	series := 0.0
	for n := 23.0; n > 0; n -= 2 {
		series = float64(series*square) + 1/n
	}
	return float64(exp) + float64(float64(2*s*series)/math.Ln2)
}

// Log returns the natural logarithm, like Log2.
func Log(x float64) float64 { return Log2(x) * math.Ln2 }
