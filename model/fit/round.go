package fit

import "math"

// guard keeps the last bit of a quotient from adding a slot or a segment where
// exact arithmetic gives a whole number.
const Guard = 1e-9

func Ceil(x float64) float64  { return math.Ceil(float64(x) - Guard) }
func Floor(x float64) float64 { return math.Floor(float64(x) + Guard) }
