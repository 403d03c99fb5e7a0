package analytic

import (
	"math"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
)

// One map of 10 s and one reduce of 2+1+4 s on a tracker with heartbeats every 3 s:
// the set-up task starts after 1.5 s in the mean and is reported 3 s later. The map
// ends 1+10 s after that and is reported 12 s after it. The reduce starts there, takes
// 1 s to launch and 5 s to look for the output, ends its work 12 s later, may commit
// 2 s later, and is reported 30 s after the start of the map. The clean-up task is
// reported 3 s later.
func TestProtocol(t *testing.T) {
	q := exampleJob().Resized(1)
	q.Cluster.Hadoop, q.Cluster.Heartbeat = "0.20.2", 3*time.Second
	q.Cluster.Costs = model.Costs{Launch: time.Second, Setup: time.Second, Cleanup: time.Second, Commit: 200 * time.Millisecond}
	w := WaveJob{Maps: 1, Reduces: 1, MapSlots: 1, ReduceSlots: 1, Map: []float64{10}, Shuffle: 2, Sort: 1, Reduce: 4, Slowstart: 0.05}
	g := capacity{maps: 1, reduces: 1}
	got, err := g.protocol(&q, &q.Jobs[0], w, taskSpread{})
	if err != nil {
		t.Fatal(err)
	}
	// Waves alone end the map after 10 s and the job after 17 s.
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9 }
	if want := (protocolTimes{4.5 + 11 - 10, 4.5 + 33 - 17}); !near(got.mapEnd, want.mapEnd) || !near(got.end, want.end) {
		t.Errorf("%+v, want %+v", got, want)
	}
	// Without reduces the map itself commits: it asks after 11 s, sees the answer of
	// the heartbeat at 12 s in its next poll, and is reported at 15 s; the clean-up at 18 s.
	w.Reduces = 0
	got, err = g.protocol(&q, &q.Jobs[0], w, taskSpread{})
	if err != nil || !near(got.mapEnd, 4.5+12.2-10) || !near(got.end, 4.5+18-10) {
		t.Errorf("map only: %+v, %v, want %v and %v", got, err, 4.5+12.2-10, 4.5+18-10)
	}
	q.Cluster.Hadoop = "ideal"
	if got, err := g.protocol(&q, &q.Jobs[0], w, taskSpread{}); err != nil || got != (protocolTimes{}) {
		t.Errorf("ideal: %+v, %v, want nothing", got, err)
	}
}
