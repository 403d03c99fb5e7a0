package results

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestAppendInt compares the digits of numbers with those of package strconv.
func TestAppendInt(t *testing.T) {
	check := func(t rapid.TB, n int64) {
		if got, want := string(appendInt([]byte("x"), n)), "x,"+strconv.FormatInt(n, 10); got != want {
			t.Fatalf("got %q: want %q", got, want)
		}
	}
	for power := int64(1); ; power *= 10 {
		for _, n := range []int64{power - 1, power, power + 1, 7 * (power / 10), -power} {
			check(t, n)
		}
		if power > math.MaxInt64/10 {
			break
		}
	}
	check(t, math.MaxInt64)
	check(t, math.MinInt64)
	for n := range int64(100_000) { // each pair of digits beside each other
		check(t, n)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.Int64().Draw(t, "n")) })
}
