// Package approx compares floating-point figures in tests.
package approx

import "math"

// Equal reports whether a and b agree to 1e-9 of the larger, or of 1 if both are
// smaller. This allows for the rounding of a few hundred operations.
func Equal(a, b float64) bool { return Within(a, b, 1e-9) }

// Within reports whether a and b agree to a fraction of the larger, or of 1 if
// both are smaller.
func Within(a, b, part float64) bool {
	return math.Abs(a-b) <= part*max(1, math.Abs(a), math.Abs(b))
}
