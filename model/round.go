package model

import "math"

// guard keeps the last bit of a quotient from adding a slot or a segment where
// exact arithmetic gives a whole number.
const guard = 1e-9

func ceil(x float64) float64  { return math.Ceil(float64(x) - guard) }
func floor(x float64) float64 { return math.Floor(float64(x) + guard) }
