package yarn

import (
	"testing"

	"github.com/slotwave/slotwave/sim/engine"
)

// BenchmarkContainers runs one application of many equal containers.
func BenchmarkContainers(b *testing.B) {
	const nodes, containers = 1000, 100_000
	for b.Loop() {
		job := &FixedJob{
			Groups: []FixedGroup{{Priority: 1, Size: small, Times: make([]engine.Time, containers)}}, Launch: 1000 * ms, Exit: 100 * ms,
			HostOf: func(int32) string { return "" }, RackOf: func(string) string { return "" }, Slowness: func(int32) float64 { return 1 },
		}
		for i := range job.Groups[0].Times {
			job.Groups[0].Times[i] = engine.Time(30000+i%1000) * ms
		}
		c := cluster(nodes, submission(1500*ms, func(int) Application { return job.New(func(engine.Time) {}) }))
		for i := range c.Nodes {
			c.Nodes[i].First = engine.Time(i) * ms
		}
		rm, err := New(c)
		if err != nil {
			b.Fatal(err)
		}
		if err := rm.Run(engine.Never - 1); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(rm.Now().Duration().Seconds()), "simulated_s/op")
	}
}
