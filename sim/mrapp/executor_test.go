package mrapp

import (
	"testing"

	"github.com/slotwave/slotwave/workload"
)

// Seven tasks of which at most three ran at once came in three waves; where none ran,
// they count as one after the other.
func TestWaves(t *testing.T) {
	x := &Executor{most: [][2]int{{0, 3}}}
	if m, r := x.Waves(0, workload.Map, 7), x.Waves(0, workload.Reduce, 7); m != 7 || r != 3 {
		t.Errorf("got %d and %d waves: want 7 and 3", m, r)
	}
}
