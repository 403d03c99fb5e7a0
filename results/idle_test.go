package results

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The time without an idle slot equals that of a look at every instant.
func TestIdleTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		slots, end := 1+r.IntN(4), int64(60)
		used := make([][]bool, slots)
		type attempt struct {
			slot     int
			from, to int64
		}
		var all []attempt
		for i := range used {
			used[i] = make([]bool, end)
			for at := int64(r.IntN(4)); at < end; {
				to := min(end, at+int64(r.IntN(15)))
				all = append(all, attempt{i, at, to})
				for ; at < to; at++ {
					used[i][at] = true
				}
				at += int64(r.IntN(3))
				if at == to && r.IntN(2) == 0 {
					at++
				}
			}
		}
		slices.SortStableFunc(all, func(a, b attempt) int { return int(a.to - b.to) })
		idle := newIdleTime(slots)
		for _, a := range all {
			idle.ran(a.slot, a.from, a.to)
		}
		want := int64(0)
		for at := range end {
			full := true
			for i := range used {
				full = full && used[i][at]
			}
			if full {
				want++
			}
		}
		if got, known := idle.busy(end); !known || got != want {
			t.Fatalf("%d (%v), want %d, of %v", got, known, want, all)
		}
	}
}
