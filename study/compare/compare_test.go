package compare

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/scenarios"
)

const oneJob = `
[cluster]
hadoop = "1.2.1"
nodes = 8
[conf]
"mapred.reduce.tasks.speculative.execution" = false
"mapred.map.tasks.speculative.execution" = false
[[job]]
name = "sort"
input = "3 GB"
maps = 6
map_ms = [4000, 5000, 3000, 9000, 4000, 2000]
reduces = 20
reduce_shuffle_ms = 3000
first_shuffle_ms = 1000
reduce_ms = 5000
`

// Simulations are shared between models that lack the same causes only.
func TestAttributeSharesSimulations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.toml")
	if err := os.WriteFile(path, []byte(oneJob), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := scenarios.Open(path, "job.0.first_shuffle_ms=500", "job.0.reduce_shuffle_ms=7000")
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	q := &s.Runs[0].Question
	alone := func() []replicatedWorld {
		return []replicatedWorld{{q, map[uint]time.Duration{0: time.Minute}}}
	}
	parts := func(worlds []replicatedWorld, name string) []results.GapPart {
		i := slices.IndexFunc(analytic.Models, func(m analytic.Model) bool { return m.Name == name })
		list, err := attribute(worlds, &analytic.Models[i], time.Minute, 0)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	shared := alone()
	parts(shared, "aria")
	if got, want := parts(shared, "zhang"), parts(alone(), "zhang"); !slices.Equal(got, want) {
		t.Errorf("after aria %v, alone %v", got, want)
	}
}
