package size

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/slotwave/slotwave/results/resultdir"
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

// Numbers of nodes with which a queue has less than a slot are not enough, and refuse no
// question.
func TestQueueOfLessThanASlot(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	scenario := file("queues.toml", `[cluster]
hadoop = "0.20.2"
nodes = 8
map_slots = 2
reduce_slots = 1
[scheduler]
name = "capacity"
[[scheduler.queue]]
name = "small"
capacity = 10
[[scheduler.queue]]
name = "large"
capacity = 90
[[job]]
name = "a"
queue = "small"
maps = 10
duration = "10s"
`)
	asked := fmt.Sprintf("scenario = %q\nmost_nodes = %%d\n[[goal]]\nfinish = \"1h\"\n[[node]]\nname = \"n\"\nmap_slots = 2\n", scenario)
	z, err := Open(file("size.toml", fmt.Sprintf(asked, 12)), sweep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	journal, err := z.OpenJournal(dir, resultdir.Build{})
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	answer, err := z.Run(journal, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Lines[0].Nodes; got != 5 {
		t.Errorf("got %d nodes, want 5: a tenth of their ten slots is one", got)
	}
	if _, err := Open(file("few.toml", fmt.Sprintf(asked, 4)), sweep.Options{}); err == nil {
		t.Error("got a search over at most four nodes, want the refusal of the scenario")
	}
}
