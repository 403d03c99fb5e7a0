package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/scheduler"
)

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

// Every benchmark that does not simulate for long runs, and does its work.
func TestBenchmarksRun(t *testing.T) {
	list := append(transfers()[2:3], readers(Options{})...)
	list = append(list, holds()[:2]...)
	list = append(list, growth()[0])
	for i := range list {
		r, err := list[i].measure()
		if err != nil {
			t.Fatal(err)
		}
		if r.Work < 10 || r.CPU <= 0 {
			t.Errorf("%s, %s: %d %ss in %v", r.Group, r.Name, r.Work, r.Unit, r.CPU)
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

// A cost that grows with the power 1.5 has the exponent 1.5.
func TestExponent(t *testing.T) {
	var sizes []Result
	for _, n := range []int{10, 100, 1000} {
		// The work of smaller sizes is repeated.
		r := Result{Size: n, Work: int64(5000), CPU: time.Duration(5000 * 1e3 * math.Sqrt(float64(n)))}
		sizes = append(sizes, r)
	}
	if got := exponentOf(sizes); math.Abs(got-1.5) > 1e-6 { // CPU is rounded to ns
		t.Errorf("exponent %v, want 1.5", got)
	}
}

// A question is answered as often as asked, and a job that fails is an error.
func TestRepeated(t *testing.T) {
	q, err := manyJobs("capacity", 10)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := repeated(q, 10, 3); err != nil || n < 30 {
		t.Errorf("%d jobs, %v: want 30 at least", n, err)
	}
	q.Scheduler.Conf.Set("mapred.capacity-scheduler.default-maximum-active-tasks-per-user", "5")
	if n, err := repeated(q, 10, 3); err == nil {
		t.Errorf("%d jobs of ten maps where five are allowed: want an error", n)
	}
}

// Labels keep their order and do not cover each other.
func TestSpread(t *testing.T) {
	heights := []float64{100, 50, 52, 51, 120}
	spread(heights, 14)
	if want := []float64{100, 50, 78, 64, 120}; !slices.Equal(heights, want) {
		t.Errorf("heights %v, want %v", heights, want)
	}
}

func TestTable(t *testing.T) {
	all := []Result{
		{Group: "event list", Name: bareQueue, Size: 1000, Work: 1e6, Unit: "event", CPU: 50 * time.Millisecond, Ratio: 1},
		{Group: "event list", Name: bareQueue, Size: 10_000, Work: 1e6, Unit: "event", CPU: 75 * time.Millisecond, Ratio: 1},
		{Group: "jobs", Name: "fifo", Size: 10_000, Work: 10_000, Unit: "job", CPU: time.Second, Ratio: 1250, Exponent: 1.04},
		{Group: "reader", Name: "rumen", Work: 200e6, Unit: "byte", CPU: time.Second, Bytes: 5 << 30, Allocs: 12345, Ratio: 0.07},
	}
	var text, page, picture strings.Builder
	for _, i := range []int{2, 3} {
		if err := WriteRow(&text, &all[i], true); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"to the power of       1.04\n", "reader (per byte)", "1.00 s", "200 MB/s", "5.0 GiB", "0.07"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q: want %q in it", text.String(), want)
		}
	}
	if err := WriteMarkdown(&page, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| event list: bare priority queue, 10,000 | 0.07 s | 75 ns/event | 0 KiB | 0 | 1.00 |", "| jobs: fifo | 10,000 | 1.04 | 100 us/job |"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%s: want %q in it", page.String(), want)
		}
	}
	if g := Growth(all); !slices.Equal(g, []string{"event list", "jobs"}) {
		t.Errorf("groups that grow: %q", g)
	}
	if err := WriteGrowth(&picture, all, "event list"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>event list: processor time of one event</title>", "10,000</text>", "100 ns</text>", "75 ns</title>", "</svg>"} {
		if !strings.Contains(picture.String(), want) {
			t.Errorf("%s: want %q in it", picture.String(), want)
		}
	}
}
