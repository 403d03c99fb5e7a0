package fit

import "math"

// Guard keeps the last bit of a quotient from adding a slot or a segment where
// exact arithmetic gives a whole number.
const Guard = 1e-9

// Ceil rounds x up, but not beyond a whole number that x exceeds by Guard or less.
func Ceil(x float64) float64 { return math.Ceil(float64(x) - Guard) }

// Floor rounds x down, but not below a whole number that x misses by Guard or less.
func Floor(x float64) float64 { return math.Floor(float64(x) + Guard) }
