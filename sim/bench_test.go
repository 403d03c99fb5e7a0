//go:build unix

package sim_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Every benchmark plays one question and prints the processor time it took, what
// that makes for a task, and the most memory the process held meanwhile.

// play answers a question b.N times.
func play(b *testing.B, q model.WhatIf) {
	b.Helper()
	tasks := 0
	for i := range q.Jobs {
		tasks += q.Jobs[i].Maps.Count + q.Jobs[i].Reduces.Count
	}
	b.ReportAllocs()
	forgetPeak()
	before := cpuTime()
	for b.Loop() {
		if _, err := (sim.Simulator{}).Predict(q); err != nil {
			b.Fatal(err)
		}
	}
	spent := cpuTime() - before
	b.ReportMetric(spent.Seconds()/float64(b.N), "cpu-s")
	b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N)/float64(max(tasks, 1)), "ns/task")
	if peak := peakMB(); peak > 0 {
		b.ReportMetric(peak, "MB-peak")
	}
	b.ReportMetric(0, "ns/op")
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// forgetPeak makes Linux count the peak anew.
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peakMB is the largest resident set so far, or 0 where the system does not report it.
func peakMB() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				kb, _ := strconv.ParseFloat(string(f[0]), 64)
				return kb / 1024
			}
		}
	}
	return 0
}

// nodes makes a cluster of equal nodes, twenty to a rack.
func nodes(n, maps, reduces int) model.Cluster {
	c := model.Cluster{
		Hadoop: "1.0.4", Nodes: make([]model.Node, n), Replication: 3,
		Costs: model.Costs{Launch: time.Second, Setup: time.Second, Cleanup: time.Second, TaskCleanup: time.Second},
	}
	const rack = 20
	for i := range c.Nodes {
		c.Nodes[i] = model.Node{Name: fmt.Sprintf("n%05d", i), Rack: i / rack, MapSlots: maps, ReduceSlots: reduces, Slowness: 1}
	}
	for i := range (n + rack - 1) / rack {
		c.Racks = append(c.Racks, fmt.Sprintf("r%d", i))
	}
	return c
}

func lognormal(mean, sd float64) workload.Durations {
	d, err := workload.NewDist("lognormal", workload.DistParams{Mean: mean, SD: sd})
	if err != nil {
		panic(err)
	}
	return workload.Durations{Dist: d}
}

// mumak is of the size of the trace that Mumak comes with.
func mumak() model.WhatIf {
	q := model.WhatIf{Cluster: nodes(1545, 2, 2), Scheduler: model.Scheduler{Name: "fifo"}, Seed: 1}
	rng := rand.New(rand.NewPCG(1, 2))
	maps, reduces := 8573, 3256
	for i := range 19 {
		j := workload.Job{ID: fmt.Sprintf("job%d", i), Submit: time.Duration(i) * 400 * time.Second}
		j.Maps = workload.MapTasks{Count: share(rng, &maps, 19-i), Time: lognormal(40, 30)}
		j.Reduces = workload.ReduceTasks{Count: share(rng, &reduces, 19-i), Shuffle: lognormal(20, 5), Sort: lognormal(2, 1), Time: lognormal(60, 40)}
		q.Jobs = append(q.Jobs, j)
	}
	return q
}

// share takes one of so many unequal parts.
func share(rng *rand.Rand, left *int, parts int) int {
	n := *left
	if parts > 1 {
		n = int(float64(*left) / float64(parts) * 2 * rng.Float64())
	}
	*left -= n
	return n
}

// every attempt, as a set: those that end between two heartbeats are told of in
// another order where each heartbeat is simulated.
type attemptSet map[workload.Attempt]int

func (s attemptSet) Attempt(a *workload.Attempt) { s[*a]++ }

func TestMumakLazyAsEvery(t *testing.T) {
	var runs [2]attemptSet
	for i := range runs {
		q := mumak()
		q.Cluster.EveryHeartbeat = i == 1
		runs[i] = attemptSet{}
		if _, err := (sim.Simulator{Recorder: runs[i]}).Predict(q); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(runs[0], runs[1]) {
		t.Fatal("lazy heartbeats gave other attempts than every heartbeat")
	}
}

func BenchmarkMumak(b *testing.B) {
	q := mumak()
	b.Run("lazy", func(b *testing.B) { play(b, q) })
	b.Run("every", func(b *testing.B) {
		q.Cluster.EveryHeartbeat = true
		play(b, q)
	})
}

// wide is a few jobs that fill ten thousand nodes two and a half times.
func wide() model.WhatIf {
	q := model.WhatIf{Cluster: nodes(10_000, 2, 2), Scheduler: model.Scheduler{Name: "fifo"}, Seed: 1}
	for i := range 20 {
		q.Jobs = append(q.Jobs, workload.Job{
			ID: fmt.Sprintf("job%d", i), Submit: time.Duration(i) * time.Minute,
			Maps:    workload.MapTasks{Count: 5000, Time: lognormal(60, 20)},
			Reduces: workload.ReduceTasks{Count: 100, Shuffle: lognormal(20, 5), Sort: lognormal(2, 1), Time: lognormal(60, 20)},
		})
	}
	return q
}

func BenchmarkTenThousandNodes(b *testing.B) { play(b, wide()) }

// day2010 is the public day of Facebook's cluster, 3,000 nodes.
func day2010(b *testing.B, speculation bool) model.WhatIf {
	const file = "../../shared/data/swim/FB-2010_samples_24_times_1hr_0.tsv.gz"
	if _, err := os.Stat(filepath.FromSlash(file)); err != nil {
		b.Skip("no trace at ", file)
	}
	h, err := trace.Open(filepath.FromSlash(file))
	if err != nil {
		b.Fatal(err)
	}
	jobs, err := workload.SwimJobs(h.Swim, workload.SwimRates{
		BlockBytes: 256 << 20, BytesPerReduce: 1 << 30, MapFixed: time.Second, ReduceFixed: time.Second,
		MapBytesPS: 20e6, ShuffleBytesPS: 20e6, SortBytesPS: 50e6, ReduceBytesPS: 20e6, WriteBytesPS: 40e6,
	})
	if err != nil {
		b.Fatal(err)
	}
	if !speculation {
		for i := range jobs {
			alone(&jobs[i])
		}
	}
	return model.WhatIf{Cluster: nodes(3000, 6, 4), Scheduler: model.Scheduler{Name: "fifo"}, Jobs: jobs, Seed: 1}
}

// alone switches second attempts off.
func alone(j *workload.Job) {
	j.Conf.Set("mapred.map.tasks.speculative.execution", "false")
	j.Conf.Set("mapred.reduce.tasks.speculative.execution", "false")
}

func BenchmarkFacebook2010(b *testing.B) {
	for _, speculation := range []bool{true, false} {
		for _, policy := range []string{"fifo", "fair1", "fair2", "capacity"} {
			b.Run(fmt.Sprintf("%s/speculation=%v", policy, speculation), func(b *testing.B) {
				q := day2010(b, speculation)
				q.Scheduler.Name = policy
				play(b, q)
			})
		}
	}
}

// One job of maps alone, ten times as long each time.
func BenchmarkTasks(b *testing.B) {
	for _, n := range []int{1e5, 1e6, 1e7} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			q := model.WhatIf{Cluster: nodes(1000, 4, 2), Scheduler: model.Scheduler{Name: "fifo"}, Seed: 1}
			const jobs = 20
			for i := range jobs {
				q.Jobs = append(q.Jobs, workload.Job{
					ID: fmt.Sprintf("job%d", i), Submit: time.Duration(i) * time.Minute,
					Maps:    workload.MapTasks{Count: n / jobs * 9 / 10, Time: lognormal(30, 5)},
					Reduces: workload.ReduceTasks{Count: n / jobs / 10, Shuffle: lognormal(10, 2), Sort: lognormal(1, 0.1), Time: lognormal(10, 2)},
				})
			}
			play(b, q)
		})
	}
}

// The same work on ever more nodes, most of which have nothing to do. There is
// no speculation: it wants the progress of every task from its own tracker.
func BenchmarkIdleNodes(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			q := model.WhatIf{Cluster: nodes(n, 2, 2), Scheduler: model.Scheduler{Name: "fifo"}, Seed: 1}
			for i := range 1000 {
				q.Jobs = append(q.Jobs, workload.Job{
					ID: fmt.Sprintf("job%d", i), Submit: time.Duration(i) * 2 * time.Minute,
					Maps:    workload.MapTasks{Count: 90, Time: lognormal(30, 5)},
					Reduces: workload.ReduceTasks{Count: 10, Shuffle: lognormal(10, 2), Sort: lognormal(1, 0.1), Time: lognormal(10, 2)},
				})
				alone(&q.Jobs[i])
			}
			q.Cluster.Heartbeat = 3 * time.Second
			play(b, q)
		})
	}
}
