package results

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Two attempts of 50 s, the second one after 1,000 s without any, and a third that
// waited from 20 s before the end of the second. A tenth of the 110 s in which one ran
// or waited is 11 s, so the gap shrinks to 1.1 s.
func TestFoldIdle(t *testing.T) {
	at := func(runnable, start, finish time.Duration) workload.Attempt {
		return workload.Attempt{Runnable: runnable * time.Second, Start: start * time.Second, Finish: finish * time.Second}
	}
	attempts := []workload.Attempt{at(0, 0, 50), at(1050, 1050, 1100), at(1080, 1100, 1110)}
	folded, leftOut := foldIdle(attempts)
	if want := 998900 * time.Millisecond; leftOut != want {
		t.Errorf("left out %v: want %v", leftOut, want)
	}
	for i, want := range [][3]time.Duration{{0, 0, 50_000}, {51_100, 51_100, 101_100}, {81_100, 101_100, 111_100}} {
		a := folded[i]
		if got := [3]time.Duration{a.Runnable / 1e6, a.Start / 1e6, a.Finish / 1e6}; got != want {
			t.Errorf("attempt %d: runnable, start, finish %v ms: want %v", i, got, want)
		}
	}
	if attempts[1].Start != 1050*time.Second {
		t.Error("the attempts that were given have changed")
	}
	if _, leftOut := foldIdle(attempts[1:]); leftOut != 1050*time.Second-600*time.Millisecond {
		t.Errorf("left out %v before the first attempt: want all but a hundredth of 60 s", leftOut)
	}
}
