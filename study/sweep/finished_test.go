package sweep

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
)

// heapTarget discards the files of a result and records the largest live heap while
// they are written.
type heapTarget struct {
	resultdir.Target
	most uint64
}

func (h *heapTarget) Write(_ string, content func(io.Writer) error) error {
	return content(&heapWriter{target: h})
}

// heapWriter looks at the heap at each megabyte.
type heapWriter struct {
	target  *heapTarget
	written int
}

func (w *heapWriter) Write(text []byte) (int, error) {
	if w.written += len(text); w.written > 1<<20 {
		w.target.look()
		w.written = 0
	}
	return len(text), nil
}

func (h *heapTarget) look() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	h.most = max(h.most, m.HeapAlloc)
}

// memoryStudy has two points for each step of a range.
const memoryStudy = `scenario = "my.toml"
replications = 2
metrics = ["makespan_ns"]
[[factor]]
key = "cluster.slowdown"
from = 0.5
to = 2.0
count = %d
[[factor]]
key = "cluster.costs.launch"
values = ["1s", "2s"]
[baseline]
"cluster.costs.launch" = "2s"
`

// The live heap does not grow with the number of points, from the first finished
// simulation to the pictures: at most by half of what the added figures take. Few
// points are looked at seldom: so twice.
func TestSweepMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes the tables of many points")
	}
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("my.toml", "attempts = \"none\"\n[cluster]\nnodes = 2\n[[job]]\nmaps = 2\nmap_ms = 1000\n")
	live := func(count int) uint64 {
		write("study.toml", fmt.Sprintf(memoryStudy, count))
		s, err := Open("study.toml", Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		random := rand.New(rand.NewPCG(1, 1))
		for point := range s.NumPoints {
			for replication := range 2 {
				one := points.Replication{Values: make([]float64, len(s.Metrics.Names()))}
				for i := range one.Values {
					one.Values[i] = 1e9 * random.Float64()
				}
				if err := s.record(task{point, replication}, one, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		if left, total, err := s.left(s.all()); err != nil || left != 0 || total != 4*count {
			t.Fatalf("%d of %d simulations are left, %v", left, total, err)
		}
		h, p := &heapTarget{}, s.Points()
		defer p.Close()
		if err := p.WriteStudy(h, "title"); err != nil {
			t.Fatal(err)
		}
		return h.most
	}
	few, many := max(live(5_000), live(5_000)), live(20_000)
	t.Logf("%d KiB with 10,000 points, %d KiB with 40,000", few>>10, many>>10)
	if added := uint64(30_000 * 2 * 15 * 8); many > few+added/2 {
		t.Errorf("%d KiB with 10,000 points and %d KiB with 40,000: want less than %d KiB more", few>>10, many>>10, added>>11)
	}
}
