package size

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/sweep"
)

// The search over a record begins at the recorded size if the replay just meets the
// goal, at three times the size if it takes three times as long, and with half of the nodes if they
// have twice the slots.
func TestGuessByRecord(t *testing.T) {
	scenario, err := filepath.Abs("../testdata/replay.toml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Open(scenario, study.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Once(0)
	if err != nil {
		t.Fatal(err)
	}
	nodes, slots, took := len(run.Question.Cluster.Nodes), run.Question.Cluster.Nodes[0].MapSlots, run.Predictions[0].Mean
	for _, c := range []struct {
		goal  time.Duration
		slots int // of a node
		want  int
	}{{took, slots, nodes}, {took / 3, slots, 3 * nodes}, {took / 4, 2 * slots, 2 * nodes}} {
		study := filepath.Join(t.TempDir(), "size.toml")
		text := fmt.Sprintf("scenario = %q\nmost_nodes = 1000\n[set]\n\"workload.replay\" = \"recorded\"\n[[goal]]\nfinish = \"%v\"\n[[node]]\nname = \"n\"\nmap_slots = %d\n", scenario, c.goal, c.slots)
		if err := os.WriteFile(study, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		z, err := Open(study, sweep.Options{})
		if err != nil {
			t.Fatal(err)
		}
		z.lines[0].guess = 999
		if err := z.replayRecord(); err != nil || z.lines[0].guess != c.want {
			t.Errorf("%+v: got %d nodes, %v: want %d", c, z.lines[0].guess, err, c.want)
		}
	}
}
