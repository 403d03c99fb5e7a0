package scenarios

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

const growing = `
[cluster]
nodes = 400
dies = { dist = "exponential", mean = "1000s" }
[workload]
scale_bytes = 1.5
[[job]]
name = "bytes"
input = "10 GB"
duration = "10s"
shuffle_bytes = 1000
reduces = 3
reduce_ms = 1000
[[job]]
name = "counted"
maps = 5
duration = "10s"
`

// The factor on the volumes holds for the bytes and maps of a [[job]] too, but
// not for its reduces.
func TestGrowth(t *testing.T) {
	name := filepath.Join(t.TempDir(), "my.toml")
	if err := os.WriteFile(name, []byte(growing), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) > 0 {
		t.Errorf("warnings %q: want none", s.Warnings)
	}
	q := &s.Runs[0].Question
	if j := &q.Jobs[0]; j.Maps.InputBytes != 15<<30 || j.Maps.Count != 240 || j.Reduces.ShuffleData != 1500 || j.Reduces.Count != 3 {
		t.Errorf("got %d bytes, %d maps, %d shuffled, %d reduces: want 15 GiB, 240, 1500, 3", j.Maps.InputBytes, j.Maps.Count, j.Reduces.ShuffleData, j.Reduces.Count)
	}
	if n := q.Jobs[1].Maps.Count; n != 8 {
		t.Errorf("got %d maps: want 8, 1.5 times 5 rounded up", n)
	}
	// The mean of 400 exponential times lies within 4 standard errors.
	sum := time.Duration(0)
	for _, n := range q.Cluster.Nodes {
		sum += n.Dies
	}
	if mean := (sum / 400).Seconds(); mean < 800 || mean > 1200 {
		t.Errorf("nodes die after %.0f s on average: want 1000 s ± 200 s", mean)
	}
	if other, err := f.Scenario(2); err != nil || other.Runs[0].Question.Cluster.Nodes[0].Dies == q.Cluster.Nodes[0].Dies {
		t.Errorf("another seed gives the same time (%v)", err)
	}
}
