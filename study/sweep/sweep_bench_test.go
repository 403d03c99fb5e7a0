package sweep_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study/sweep"
)

// smallPoints is a study of small points: three jobs of eight maps each.
func smallPoints(b testing.TB, points int) string {
	b.Helper()
	folder := b.TempDir()
	for name, text := range map[string]string{
		"my.toml": `attempts = "none"
plots = "none"
[cluster]
nodes = 3
map_slots = 2
reduce_slots = 1
[[job]]
name = "a"
jobs = 3
interarrival = { dist = "exponential", mean = "20s" }
maps = 8
duration = { dist = "exponential", mean = "10s" }
`,
		"study.toml": fmt.Sprintf("scenario = \"my.toml\"\n[[factor]]\nkey = \"cluster.slowdown\"\nfrom = 0.5\nto = 2.0\ncount = %d\n", points),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	return filepath.Join(folder, "study.toml")
}

// Simulations of small points, with the journal and the tables of the result.
func BenchmarkSweep(b *testing.B) {
	name := smallPoints(b, 2000)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
			for range b.N {
				s, err := sweep.Open(name, sweep.Options{Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				j, err := s.OpenJournal(b.TempDir(), resultdir.Build{})
				if err != nil {
					b.Fatal(err)
				}
				if err := s.Run(j, nil); err != nil {
					b.Fatal(err)
				}
				if err := j.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2000*float64(b.N)/b.Elapsed().Seconds(), "points/s")
		})
	}
}
