package results

import (
	"container/heap"
	"io"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/workload"
)

// flood sends made-up attempts to a recorder in the order of their ends, as a
// busy cluster would over a day: many short maps, fewer long reduces, more of
// both around noon. It needs memory per slot, not per attempt.
func flood(q *model.WhatIf, attempts int, to model.Recorder) {
	type slot struct {
		kind       workload.Kind
		node, slot int
	}
	var slots []slot
	for i, n := range q.Cluster.Nodes {
		for s := range n.MapSlots {
			slots = append(slots, slot{workload.Map, i, s})
		}
		for s := range n.ReduceSlots {
			slots = append(slots, slot{workload.Reduce, i, n.MapSlots + s})
		}
	}
	rnd := workload.Seed(1).Named("flood").Stream(0, 0).Generator()
	uniform := func() float64 { return float64(rnd.Uint64()>>11) / (1 << 53) }
	const day = 86400 * time.Second
	var running ends
	next := func(i int, at time.Duration) {
		noon := 1 - math.Abs(float64(at.Seconds()/day.Seconds()*2)-1) // 0 at midnight, 1 at noon
		mean, phases := 40.0, 5.0
		if slots[i].kind == workload.Reduce {
			mean, phases = 200, 4
		}
		a := workload.Attempt{
			Kind: slots[i].kind, Node: q.Cluster.Nodes[slots[i].node].Name, Rack: "/rack0", Slot: slots[i].slot,
			Job: q.Jobs[int(uniform()*float64(len(q.Jobs)))].ID, Pool: "default", Task: int(rnd.Uint64() % 4000),
		}
		a.Counters = workload.Counters{
			InRecords: 671088, InBytes: 268435456, OutRecords: 671088, OutBytes: 134217728,
			Spills: 2, SpilledRecords: 1342177, HDFSReadBytes: 268435456, LocalReadBytes: 134217728, LocalWriteBytes: 134217728,
		}
		idle := 2 * uniform() * mean * (1.5 - float64(1.4*noon)) // rounded, so that it is the same on any machine
		a.Runnable = at + workload.Seconds(idle*0.3)
		a.Start = at + workload.Seconds(idle)
		part := workload.Seconds(mean / phases * (0.5 + uniform()))
		a.Finish = a.Start
		for ph := range workload.NumPhases {
			maps := ph < workload.PhaseShuffle
			if ph == workload.PhaseStartup || maps == (a.Kind == workload.Map) {
				a.Phases[ph] = part
				a.Finish += part
			}
		}
		heap.Push(&running, end{a, i})
	}
	for i := range slots {
		next(i, 0)
	}
	for range attempts {
		e := heap.Pop(&running).(end)
		to.Attempt(&e.Attempt)
		next(e.slot, e.Finish)
	}
}

type end struct {
	workload.Attempt
	slot int
}

type ends []end

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].Finish < e[j].Finish }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(end)) }
func (e *ends) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

// floodQuestion is a cluster with as many jobs as a busy day has.
func floodQuestion(nodes, mapSlots, reduceSlots, jobs int) *model.WhatIf {
	q := &model.WhatIf{Name: "flood", Cluster: sampleCluster(nodes, mapSlots, reduceSlots)}
	for i := range jobs {
		q.Jobs = append(q.Jobs, workload.Job{ID: "job_201011201200_" + whole(i)})
	}
	return q
}

// keep holds a sample of attempts for benchmarks.
type keep struct{ rows []workload.Attempt }

func (k *keep) Attempt(a *workload.Attempt) { k.rows = append(k.rows, *a) }

func benchmarkRecorder(b *testing.B, r model.Recorder, rows []workload.Attempt) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Attempt(&rows[i%len(rows)])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/row")
}

func BenchmarkAttemptTable(b *testing.B) {
	q := floodQuestion(3000, 6, 4, 24442)
	var rows keep
	flood(q, 100000, &rows)
	benchmarkRecorder(b, NewAttemptTable(io.Discard, false), rows.rows)
}

func BenchmarkStats(b *testing.B) {
	q := floodQuestion(3000, 6, 4, 24442)
	var rows keep
	flood(q, 100000, &rows)
	benchmarkRecorder(b, NewStats(q, true), rows.rows)
}

// BenchmarkDay is a day of 4.5 million attempts, table and statistics, into a
// directory; then its pictures.
func BenchmarkDay(b *testing.B) {
	const batches, batch = 20, 225_000
	q := floodQuestion(3000, 6, 4, 24442)
	var rows keep
	flood(q, batch, &rows)
	length := rows.rows[batch-1].Finish
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		d, err := resultdir.Create(b.TempDir()+"/out", resultdir.Purpose{})
		if err != nil {
			b.Fatal(err)
		}
		f, err := d.File("attempts.csv")
		if err != nil {
			b.Fatal(err)
		}
		table, stats := NewAttemptTable(f, false), NewStats(q, true)
		to := Recorders{table, stats}
		start := time.Now()
		for i := range time.Duration(batches) {
			for k := range rows.rows {
				a := rows.rows[k]
				a.Runnable += i * length
				a.Start += i * length
				a.Finish += i * length
				to.Attempt(&a)
			}
		}
		b.ReportMetric(float64(time.Since(start).Nanoseconds())/(batches*batch), "ns/row")
		start = time.Now()
		if err := table.Close(); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(start).Seconds(), "s-sync")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/1e6, "MB-held")
		r := &Run{Title: "A day", Question: q, Stats: stats}
		start = time.Now()
		for _, f := range []*figure.Figure{executionFigure("A day", []*Run{r}, bySlot), slotsFigure("A day", []*Run{r})} {
			if err := f.WritePNG(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(time.Since(start).Seconds(), "s-pictures")
	}
}
