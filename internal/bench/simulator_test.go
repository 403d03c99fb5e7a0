// Package bench measures the simulator: the event list, the devices and the network,
// whole clusters, what-if questions and the readers of traces. All of them can be
// compared with a bare priority queue, so that figures of two machines can be
// compared. The script .ci/bench prints the table.
package bench

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/slotwave/slotwave/scheduler"
)

// benchmark is one measurement. prepare returns what is measured; it returns
// the work done.
type benchmark struct {
	group, name, unit string
	size              int
	prepare           func(testing.TB) (func() (int64, error), error)
}

// BenchmarkSimulator measures the simulator. With -short it takes parts of the days
// and shuffles.
func BenchmarkSimulator(b *testing.B) {
	measure(b, slices.Concat(holds(), clusters(), onYARN(), shuffles(), transfers(), whatIfs(), readers()))
}

// BenchmarkGrowth answers questions in ever larger sizes, by scheduler.
func BenchmarkGrowth(b *testing.B) { measure(b, growth()) }

func measure(b *testing.B, list []benchmark) {
	for _, m := range list {
		name := m.group + "/" + m.name
		if m.size > 0 {
			name += "/" + strconv.Itoa(m.size)
		}
		b.Run(name, func(b *testing.B) {
			run, err := m.prepare(b)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			units := int64(0)
			for b.Loop() {
				n, err := run()
				if err != nil {
					b.Fatal(err)
				}
				units += n
			}
			b.ReportMetric(float64(b.Elapsed())/float64(units), "ns/"+m.unit)
		})
	}
}

// The bare queue gives back what it was given, in order.
func TestQueueIsOrdered(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		var q queue
		var want []queued
		for i := range n {
			x := queued{int64(rng.IntN(20)), int32(i)}
			q.push(x)
			want = append(want, x)
		}
		slices.SortFunc(want, func(a, b queued) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		for i := range want {
			if got := q.pop(); got != want[i] {
				t.Fatalf("entry %d of %d: %v, want %v", i, n, got, want[i])
			}
		}
	}
}

// The hold model on the bare queue never goes back in time, and loses no entry.
func TestHoldGoesForward(t *testing.T) {
	g, q := newGaps(), queue{}
	for i := range 1000 {
		q.push(queued{g.at(i + 1), int32(i)})
	}
	last := int64(0)
	for k := range 10_000 {
		x := q.pop()
		if x.at < last {
			t.Fatalf("event %d at %d, after %d", k, x.at, last)
		}
		last = x.at
		q.push(queued{x.at + g.at(1001+k), x.id})
	}
	if len(q) != 1000 {
		t.Errorf("%d entries, want 1000", len(q))
	}
}

// Benchmarks that do not simulate for long do their work.
func TestBenchmarksRun(t *testing.T) {
	list := append(transfers()[2:3], holds()[:2]...)
	list = append(list, growth()[0])
	for i := range list {
		b := &list[i]
		run, err := b.prepare(t)
		if err != nil {
			t.Fatal(err)
		}
		if work, err := run(); err != nil || work < 10 {
			t.Errorf("%s, %s: %d %ss (%v)", b.group, b.name, work, b.unit, err)
		}
	}
}

// Every scheduler grows with jobs, with maps and with a dying node.
func TestGrowthHasEveryScheduler(t *testing.T) {
	count := map[string]int{}
	for _, b := range growth() {
		count[b.group]++
	}
	for group, sizes := range map[string]int{"jobs": 4, "maps": 3, "maps and a dying node": 3} {
		if want := sizes * len(scheduler.Names()); count[group] != want {
			t.Errorf("%s: %d benchmarks, want %d", group, count[group], want)
		}
	}
}

// A job that fails is an error.
func TestAnswered(t *testing.T) {
	q, err := manyJobs("capacity", 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := answered(q); err != nil {
		t.Error(err)
	}
	q.Scheduler.Conf.Set("mapred.capacity-scheduler.default-maximum-active-tasks-per-user", "5")
	if err := answered(q); err == nil {
		t.Error("jobs of ten maps where five are allowed: want an error")
	}
}
