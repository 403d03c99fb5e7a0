package study

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const smallJobs = `
[cluster]
hadoop = "1.2.1"
nodes = 4
map_slots = 4
[scheduler]
name = "SCHEDULER"
[[job]]
name = "a"
maps = 60
map_ms = 3000
[[job]]
name = "b"
submit = "5s"
maps = 5
map_ms = 3000
`

// Under fair2 a small job overtakes a large one that FIFO serves first.
func TestCompareWhy(t *testing.T) {
	names := make([]string, 2)
	for i, scheduler := range []string{"fifo", "fair2"} {
		names[i] = filepath.Join(t.TempDir(), scheduler+".toml")
		text := []byte(strings.Replace(smallJobs, "SCHEDULER", scheduler, 1))
		if err := os.WriteFile(names[i], text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	w, err := CompareWhy(names[0], names[1], Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if w.Pairs != 5 || len(w.Jobs) != 2 || w.Launch == nil || len(w.Accounts) == 0 {
		t.Fatalf("%+v", w)
	}
	for _, j := range w.Jobs {
		if j.Job == "b" && j.High >= 0 || j.Low > j.Mean || j.High < j.Mean {
			t.Errorf("%+v: want b to gain", j)
		}
	}
	same, err := CompareWhy(names[0], names[0], Options{Seed: 1})
	if err != nil || same.Launch != nil || same.Makespan.Mean != 0 {
		t.Errorf("a scenario against itself: %+v, %v", same, err)
	}
}
