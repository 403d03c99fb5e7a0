// Package layers says how much the tests do. A run before each change takes samples
// of the long checks; a run each night does them whole.
package layers

import (
	"os"
	"runtime/debug"
	"testing"
)

// Tests keep little alive and throw much away: with fewer collections they take a fifth
// less processor time. GOGC in the environment has its way.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(1 << 30)
	}
}

// Whole is set if tests do all of their work, as .ci/nightly has them do.
var Whole = os.Getenv("SLOTWAVE_LARGE") != ""

// OnlyWhole skips a test of which no part is run before each change.
func OnlyWhole(t testing.TB, why string) {
	t.Helper()
	if !Whole {
		t.Skip(why + ": set SLOTWAVE_LARGE=1")
	}
}

// Draws returns how many random draws a test makes: all, a sample, or a fifth of that in
// a short test.
func Draws(sample, all int) int {
	switch {
	case Whole:
		return all
	case testing.Short():
		return max(1, sample/5)
	}
	return sample
}
