package taskplan_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// The spills of a map of 64 MiB of 100-byte records (Herodotou eq. 12-16), and
// the buffers that Hadoop 0.20.2 logs.
func TestSortBuffer(t *testing.T) {
	const records, bytes = 671_088, 67_108_800
	for _, c := range []struct {
		mb, spills    int
		recordPercent float64
		want          taskplan.SortBuffer
	}{
		{100, 3, 0.05, taskplan.SortBuffer{Bytes: 99614720, SoftBytes: 79691776, Records: 327680, SoftRecords: 262144}},
		{40, 7, 0.05, taskplan.SortBuffer{Bytes: 39845888, SoftBytes: 31876710, Records: 131072, SoftRecords: 104857}},
		{200, 2, 0.05, taskplan.SortBuffer{Bytes: 199229440, SoftBytes: 159383552, Records: 655360, SoftRecords: 524288}},
		{100, 1, 0.15, taskplan.SortBuffer{Bytes: 89128960, SoftBytes: 71303168, Records: 983040, SoftRecords: 786432}},
		{250, 2, 0.05, taskplan.SortBuffer{Bytes: 249036800, SoftBytes: 199229440, Records: 819200, SoftRecords: 655360}},
		{256, 1, 0.05, taskplan.SortBuffer{Bytes: 255013696, SoftBytes: 204010960, Records: 838860, SoftRecords: 671088}},
	} {
		t.Run(fmt.Sprint(c.mb, c.recordPercent), func(t *testing.T) {
			conf := defaultConf()
			conf.SortMB, conf.SortRecPercent = c.mb, c.recordPercent
			b := conf.SortBuffer()
			if b != c.want {
				t.Errorf("%+v, want %+v", b, c.want)
			}
			spills, err := b.Spills(records, bytes)
			if err != nil || len(spills) != c.spills {
				t.Errorf("%d spills, %v; want %d", len(spills), err, c.spills)
			}
		})
	}
}

// The first spills of a map, as 0.20.2 logged the ends of their records in the
// buffer: one that wraps is a record short.
func TestSpillsWrap(t *testing.T) {
	conf := defaultConf()
	conf.SortMB = 40
	spills, err := conf.SortBuffer().Spills(671_088, 67_108_800)
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, s := range spills {
		got = append(got, s.Records)
	}
	if want := []float64{104857, 104856, 104856, 104856, 104857, 104856, 41950}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A record that fills the buffer leaves no room during its spill.
func TestSpillWithoutRoom(t *testing.T) {
	spills, err := taskplan.SortBuffer{Bytes: 100, SoftBytes: 80, Records: 8, SoftRecords: 6}.Spills(3, 270)
	want := []taskplan.Spill{{Records: 1, Bytes: 90}, {Records: 1, Bytes: 90}, {Records: 1, Bytes: 90}}
	if err != nil || !slices.Equal(spills, want) {
		t.Errorf("%+v, %v: want %+v", spills, err, want)
	}
}

func TestSpillsOfLargeRecords(t *testing.T) {
	b := taskplan.SortBuffer{Bytes: 1000, SoftBytes: 800, Records: 100, SoftRecords: 80}
	for _, c := range []struct {
		records, width float64
		want           []float64
	}{
		{3, 2000, []float64{1, 1, 1}},   // larger than the buffer: one by one
		{3, 900, []float64{1, 1, 1}},    // beyond the limit as soon as there is one
		{5, 400, []float64{2, 2, 1}},    // two reach the limit; the third does not fit
		{20, 100, []float64{9, 9, 2}},   // more than the limit of bytes
		{200, 0, []float64{80, 79, 41}}, // only records count
		{80, 1, []float64{80}},          // nothing comes after the limit
		{80.5, 1, []float64{80.5}},      // nor does less than a record
		{0, 0, nil},
	} {
		spills, err := b.Spills(c.records, c.records*c.width)
		var got []float64
		for _, s := range spills {
			got = append(got, s.Records)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v records of %v bytes: %v, %v; want %v", c.records, c.width, got, err, c.want)
		}
	}
	if _, err := b.Spills(1e9, 1e12); err == nil || !strings.Contains(err.Error(), "more than 65536 spills") {
		t.Errorf("records without end: %v", err)
	}
}

// 28 spills at factor 10: two passes of ten, then ten files (Herodotou section
// 5); and the other counts of eq. 21-27.
func TestMapMergePasses(t *testing.T) {
	for _, c := range []struct{ spills, reads, passes int }{
		{1, 0, 0}, {2, 0, 1}, {10, 0, 1}, {11, 2, 2}, {19, 10, 2}, {20, 12, 3}, {28, 20, 3}, {100, 100, 11},
	} {
		p := planner(t, defaultConf(), 1, func(p *taskplan.Planner) { p.Framing = taskplan.Framing{} })
		records := 262_143 * float64(c.spills)
		m := mapPlan(t, p, taskplan.MapFlow{OutRecords: records, OutBytes: records})
		interm := float64(m.LocalReadBytes) // what every map of several spills reads in its last pass
		if c.spills > 1 {
			interm -= records
		}
		if got := int(math.Round(interm / 262_143)); m.Counters.Spills != int64(c.spills) || got != c.reads || m.MergePasses != int64(c.passes) {
			t.Errorf("%d spills: %d, %d read before the last pass of %d; want %d and %d passes",
				c.spills, m.Counters.Spills, got, m.MergePasses, c.reads, c.passes)
		}
	}
}

// Passes and files read agree with the arithmetic of equal files.
func TestMapMergeIsMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		conf := defaultConf()
		conf.SortMB, conf.SortFactor = 1, rapid.IntRange(2, 12).Draw(t, "factor")
		h := analytic.DefaultPhases()
		p, err := taskplan.NewPlanner(taskplan.Planner{Conf: conf, Data: h.Data, Cost: h.Cost, Reduces: 1})
		if err != nil {
			t.Fatal(err)
		}
		records := rapid.Float64Range(1, 1e6).Draw(t, "records")
		spills := rapid.IntRange(1, 60).Draw(t, "spills")
		each := taskplan.Spill{Records: records / float64(spills), Bytes: records / float64(spills)}
		m := p.MapOf(taskplan.MapFlow{OutRecords: records, OutBytes: records}, slices.Repeat([]taskplan.Spill{each}, spills))
		want, err := taskplan.Merge(int(m.Counters.Spills), conf.SortFactor)
		if err != nil {
			t.Fatal(err)
		}
		reads := float64(want.IntermReads) * records / float64(m.Counters.Spills)
		if m.Counters.Spills > 1 {
			reads += records
		}
		if m.MergePasses != int64(want.Passes) || math.Abs(float64(m.LocalReadBytes)-reads) > 1 {
			t.Fatalf("%d spills: %d passes read %d bytes, want %d and %v", m.Counters.Spills, m.MergePasses, m.LocalReadBytes, want.Passes, reads)
		}
	})
}

// job draws a job of the report, all its costs and statistics.
func job(t *rapid.T) analytic.Herodotou {
	h := analytic.DefaultPhases()
	part := func(name string) float64 { return rapid.Float64Range(0.05, 1).Draw(t, name) }
	cost := func(name string) float64 { return rapid.Float64Range(0, 5000).Draw(t, name) }
	h.SplitSize = rapid.Float64Range(1, 3e7).Draw(t, "split")
	h.Reducers = rapid.IntRange(1, 50).Draw(t, "reduces")
	h.SortMB = float64(rapid.IntRange(1, 150).Draw(t, "io.sort.mb"))
	h.SortFactor = rapid.IntRange(2, 12).Draw(t, "io.sort.factor")
	h.SortRecPercent, h.SpillPercent = rapid.Float64Range(0.01, 0.5).Draw(t, "record percent"), rapid.Float64Range(0.5, 1).Draw(t, "spill percent")
	h.UseCombine = rapid.Bool().Draw(t, "combiner")
	h.IntermCompressed, h.OutCompressed = rapid.Bool().Draw(t, "interm"), rapid.Bool().Draw(t, "out")
	h.InCompressed = rapid.Bool().Draw(t, "in")
	h.MapSizeSel, h.MapRecsSel = rapid.Float64Range(0.1, 3).Draw(t, "size"), rapid.Float64Range(0.1, 3).Draw(t, "records")
	h.CombineSizeSel, h.CombineRecsSel = part("combine size"), part("combine records")
	h.InputRatio, h.IntermRatio, h.OutRatio = part("input ratio"), part("interm ratio"), part("out ratio")
	for i, v := range []*float64{
		&h.HDFSRead, &h.HDFSWrite, &h.LocalRead, &h.LocalWrite, &h.Network, &h.MapCPU, &h.ReduceCPU, &h.CombineCPU,
		&h.PartitionCPU, &h.SerdeCPU, &h.SortCPU, &h.MergeCPU, &h.InUncompr, &h.IntermUncompr, &h.IntermCompr, &h.OutCompr,
		&h.Setup, &h.Cleanup,
	} {
		*v = cost(fmt.Sprint("cost ", i))
	}
	return h
}

// planOf is the same job as plans take it.
func planOf(t *rapid.T, h analytic.Herodotou) *taskplan.Planner {
	conf := defaultConf()
	conf.SortMB, conf.SortFactor, conf.SortRecPercent, conf.SpillPercent = int(h.SortMB), h.SortFactor, h.SortRecPercent, h.SpillPercent
	conf.IntermCompressed, conf.OutCompressed = h.IntermCompressed, h.OutCompressed
	p, err := taskplan.NewPlanner(taskplan.Planner{
		Conf: conf, Data: h.Data, Cost: h.Cost,
		Reduces: h.Reducers, Combiner: h.UseCombine, InCompressed: h.InCompressed,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sameTime(t *rapid.T, what string, got time.Duration, ms float64) {
	t.Helper()
	if want := ms * 1e6; math.Abs(float64(got)-want) > 1+1e-12*want {
		t.Fatalf("%s: %d ns, the equation gives %f", what, got, want)
	}
}

// A map alone on a node takes in each phase what the report's equations say, and
// so does the reduce of a job of one map.
func TestPlanIsTheEquations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := job(t)
		h.Mappers = 1
		want, err := h.Phases(analytic.HerodotouOptions{Mode: analytic.Corrected})
		if err != nil {
			t.Skip(err)
		}
		p := planOf(t, h)
		if want.NumSpills > 1<<16 {
			t.Skip("more spills than a plan takes")
		}
		// The report gives all spills the same content (eq. 14-18, erratum E4).
		even := slices.Repeat([]taskplan.Spill{{Records: want.SpillBufferRecs, Bytes: want.SpillBufferSize}}, int(want.NumSpills))
		m := p.MapOf(p.MapFlow(h.SplitSize), even)
		times := m.PhaseTimes(h.Cost)
		sameTime(t, "read", times[workload.PhaseRead], want.ReadTime)
		sameTime(t, "map", times[workload.PhaseMap], want.MapTime)
		sameTime(t, "collect", times[workload.PhaseCollect], want.CollectTime)
		sameTime(t, "spill", times[workload.PhaseSpill], want.SpillTime)
		sameTime(t, "merge", times[workload.PhaseMerge], want.MapMergeTime)
		sameTime(t, "startup", times[workload.PhaseStartup], h.Setup*1e-6)
		sameTime(t, "commit", times[workload.PhaseCommit], h.Cleanup*1e-6)
		if got := m.SpilledRecords; math.Abs(float64(got)-want.RecsSpilled) > 0.5+1e-9*want.RecsSpilled {
			t.Fatalf("%d records spilled, want %v", got, want.RecsSpilled)
		}

		if want.SegsPerFile <= 1 && want.InMemory { // the framework merges two or more
			t.Skip("one output fills the memory")
		}
		r := p.Reduce([]taskplan.Segment{m.Output.Part(1 / float64(h.Reducers))})
		times = r.PhaseTimes(h.Cost)
		sameTime(t, "shuffle", times[workload.PhaseShuffle], want.ShuffleTime)
		sameTime(t, "reduce merge", times[workload.PhaseMerge], want.ReduceMergeTime)
		sameTime(t, "reduce", times[workload.PhaseReduce], want.ReduceTime)
		sameTime(t, "write", times[workload.PhaseWrite], want.WriteTime)
	})
}

// The same of a map whose output goes straight to HDFS.
func TestMapOnlyPlanIsTheEquations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := job(t)
		h.Reducers = 0
		want, err := h.MapOnly(analytic.HerodotouOptions{Mode: analytic.Corrected})
		if err != nil {
			t.Fatal(err)
		}
		p := planOf(t, h)
		m, err := p.Map(p.MapFlow(h.SplitSize))
		if err != nil {
			t.Fatal(err)
		}
		times := m.PhaseTimes(h.Cost)
		sameTime(t, "read", times[workload.PhaseRead], want.ReadTime)
		sameTime(t, "map", times[workload.PhaseMap], want.MapTime)
		sameTime(t, "write", times[workload.PhaseWrite], want.WriteTime)
		if slices.ContainsFunc(m.Steps, func(s taskplan.Step) bool { return s.Phase == workload.PhaseCollect }) {
			t.Fatal("a map without reduces collects its output")
		}
		if m.HDFSWriteBytes != int64(math.Round(want.HDFSBytesWritten)) || m.LocalWriteBytes != 0 {
			t.Fatalf("%d bytes to HDFS, %d to the local disk; want %v and 0", m.HDFSWriteBytes, m.LocalWriteBytes, want.HDFSBytesWritten)
		}
	})
}

// A larger buffer never adds a spill.
func TestSortMBNeverAddsASpill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		conf := defaultConf()
		conf.SortRecPercent = rapid.Float64Range(0.01, 1).Draw(t, "record percent")
		conf.SpillPercent = rapid.Float64Range(0.1, 1).Draw(t, "spill percent")
		conf.SortMB = rapid.IntRange(1, 500).Draw(t, "io.sort.mb")
		records := float64(rapid.IntRange(0, 1e6).Draw(t, "records"))
		bytes := records * rapid.Float64Range(0, 1e4).Draw(t, "width")
		small, err := conf.SortBuffer().Spills(records, bytes)
		if err != nil {
			t.Skip(err)
		}
		conf.SortMB += rapid.IntRange(1, 500).Draw(t, "more")
		large, err := conf.SortBuffer().Spills(records, bytes)
		if err != nil || len(large) > len(small) {
			t.Fatalf("%d spills, %v; with less buffer %d", len(large), err, len(small))
		}
		collected := 0.0
		for _, s := range large {
			collected += s.Records
		}
		if collected != records {
			t.Fatalf("%v records in spills, of %v", collected, records)
		}
	})
}

// tasks are the plans of a map and of a reduce of many such maps.
func tasks(t *rapid.T, h analytic.Herodotou, p *taskplan.Planner) [2]taskplan.Steps {
	m, err := p.Map(p.MapFlow(h.SplitSize))
	if err != nil {
		t.Skip(err)
	}
	outputs := slices.Repeat([]taskplan.Segment{m.Output.Part(1 / float64(h.Reducers))}, h.Mappers)
	return [2]taskplan.Steps{m.Steps, p.Reduce(outputs).Steps}
}

func scaleIO(h *analytic.Herodotou, by float64) {
	for _, v := range []*float64{&h.HDFSRead, &h.HDFSWrite, &h.LocalRead, &h.LocalWrite, &h.Network} {
		*v *= by
	}
}

// Twice the bandwidth halves what is read, written and sent in every phase, and
// changes no work.
func TestBandwidthHalvesIO(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := job(t)
		fast := h
		scaleIO(&fast, 0.5)
		slowTasks, fastTasks := tasks(t, h, planOf(t, h)), tasks(t, fast, planOf(t, fast))
		for i := range slowTasks {
			if !slices.Equal(slowTasks[i], fastTasks[i]) {
				t.Fatalf("task %d: the work differs", i)
			}
			io := slices.DeleteFunc(slowTasks[i], func(s taskplan.Step) bool { return s.Resource == taskplan.CPU })
			before, after := io.PhaseTimes(h.Cost), io.PhaseTimes(fast.Cost)
			for p := range before {
				if d := before[p] - 2*after[p]; d < -1 || d > 1 {
					t.Fatalf("task %d, %v: %v and %v", i, workload.Phase(p), before[p], after[p])
				}
			}
		}
	})
}

// Records twice as wide on devices twice as fast, with memory for as many of
// them, take the same time.
func TestBytesAndBandwidthScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := job(t)
		// The accounting part is what fills up, so that a spill holds as many records.
		h.SortRecPercent, h.SpillPercent = 0.05, 0.8
		h.MapSizeSel, h.MapRecsSel, h.InputPairWidth = 1, 1, rapid.Float64Range(1, 150).Draw(t, "width")
		wide := h
		wide.InputPairWidth *= 2
		wide.SplitSize *= 2
		scaleIO(&wide, 0.5)
		for _, v := range []*float64{&wide.InUncompr, &wide.IntermUncompr, &wide.IntermCompr, &wide.OutCompr} {
			*v *= 0.5
		}
		narrowPlan, widePlan := planOf(t, h), planOf(t, wide)
		widePlan.Conf.ReduceHeap *= 2
		narrowTasks, wideTasks := tasks(t, h, narrowPlan), tasks(t, wide, widePlan)
		for i := range narrowTasks {
			a, b := narrowTasks[i].PhaseTimes(h.Cost), wideTasks[i].PhaseTimes(wide.Cost)
			for p := range a {
				if d := (a[p] - b[p]).Abs(); d > 1+a[p]/1e9 {
					t.Fatalf("task %d, %v: %v and %v", i, workload.Phase(p), a[p], b[p])
				}
			}
		}
	})
}

// The two threads of a map take no longer than one after the other, and no less
// than the busier of them.
func TestElapsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := job(t)
		p := planOf(t, h)
		m, err := p.Map(p.MapFlow(h.SplitSize))
		if err != nil {
			t.Skip(err)
		}
		sum := func(keep func(taskplan.Step) bool) (ns float64) {
			for _, d := range slices.DeleteFunc(slices.Clone(m.Steps), func(s taskplan.Step) bool { return !keep(s) }).PhaseTimes(h.Cost) {
				ns += float64(d)
			}
			return ns
		}
		all := sum(func(taskplan.Step) bool { return true })
		background := sum(func(s taskplan.Step) bool { return s.Background })
		if got := float64(m.Elapsed(h.Cost)); got > all+20 || got < max(background, all-background)-20 {
			t.Fatalf("%v ns: one after the other %v, %v of them in the background", got, all, background)
		}
	})
}

// Where a thread computes while it reads and writes, a stretch of its work takes
// the longer of the two; what I/O takes beyond the computing is of its phase.
func TestOverlap(t *testing.T) {
	const ns = 1e6
	cost := taskplan.Cost{LocalRead: ns, HDFSWrite: ns}
	step := func(p workload.Phase, r taskplan.Resource, work float64, joined bool) taskplan.Step {
		if r == taskplan.CPU {
			work *= ns
		}
		return taskplan.Step{Phase: p, Resource: r, Work: work, Joined: joined}
	}
	for _, c := range []struct {
		read, reduce, compress, write float64
		want                          [3]time.Duration // merge, reduce, write, ms
	}{
		{3, 5, 2, 1, [3]time.Duration{4, 5, 2}},
		{3, 5, 2, 4, [3]time.Duration{4, 5, 2}},
		{3, 5, 2, 9, [3]time.Duration{4, 5, 7}},
		{9, 5, 2, 4, [3]time.Duration{4, 7, 6}}, // reading goes on for 2 after the computing, then writing
	} {
		steps := taskplan.Steps{
			step(workload.PhaseMerge, taskplan.LocalRead, 4, false),
			step(workload.PhaseReduce, taskplan.LocalRead, c.read, false),
			step(workload.PhaseReduce, taskplan.CPU, c.reduce, true),
			step(workload.PhaseWrite, taskplan.CPU, c.compress, true),
			step(workload.PhaseWrite, taskplan.HDFSWrite, c.write, true),
		}
		for _, got := range [][workload.NumPhases]time.Duration{steps.PhaseTimes(cost), steps.Alone(cost)} {
			for i, p := range []workload.Phase{workload.PhaseMerge, workload.PhaseReduce, workload.PhaseWrite} {
				if got[p] != c.want[i]*time.Millisecond {
					t.Errorf("%+v: %v takes %v", c, p, got[p])
				}
			}
		}
	}
}

// While a spill runs the map collects what there is room for, then waits.
func TestElapsedWaitsForRoom(t *testing.T) {
	const ns = 1e6
	step := func(p workload.Phase, work float64, background bool, after int) taskplan.Step {
		return taskplan.Step{Phase: p, Work: work * ns, Background: background, Spills: after}
	}
	steps := taskplan.Steps{
		step(workload.PhaseMap, 10, false, 0),
		step(workload.PhaseSpill, 6, true, 0), // from 10 to 16
		step(workload.PhaseMap, 2, false, 0),  // to 12
		step(workload.PhaseMap, 8, false, 1),  // waits until 16, to 24
		step(workload.PhaseSpill, 6, true, 1), // to 30
		step(workload.PhaseMap, 2, false, 1),  // to 26
		step(workload.PhaseSpill, 5, false, 2),
		step(workload.PhaseMerge, 1, false, 0),
	}
	if got, want := steps.Elapsed(taskplan.Cost{}), 36*time.Millisecond; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// Whatever arrives in whatever order, every record reaches the reduce.
func TestShuffleConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := job(t)
		h.UseCombine = false
		p := planOf(t, h)
		p.Framing = taskplan.IFile
		p.Conf.ReduceHeap = 1 << rapid.IntRange(10, 24).Draw(t, "heap")
		p.Conf.InMemMergeThr = rapid.IntRange(-1, 50).Draw(t, "threshold")
		p.Conf.ReduceInBuf = rapid.Float64Range(0, 1).Draw(t, "retained")
		p.Conf.ShuffleMerge = rapid.Float64Range(0.1, 1).Draw(t, "merge at")
		outputs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) taskplan.Segment {
			records := float64(rapid.IntRange(1, 20000).Draw(t, "records"))
			return taskplan.Segment{Stored: 6 + 30*records, Raw: 2 + 102*records, Records: records}
		}), 1, 200).Draw(t, "outputs")
		records := 0.0
		for _, out := range outputs {
			records += out.Records
		}
		r := p.Reduce(outputs)
		if r.InRecords != int64(records) || r.InMemFetches+r.OnDiskFetches != len(outputs) {
			t.Fatalf("%d records of %v, %d+%d fetches of %d", r.InRecords, records, r.InMemFetches, r.OnDiskFetches, len(outputs))
		}
	})
}

// The worked sort phases: what leaves memory, what joins the first pass.
func TestSortPhase(t *testing.T) {
	const big, small = 40 << 20, 10 << 20 // to disk, to memory
	for _, c := range []struct {
		name        string
		disk, mem   int
		retain      float64
		passes      [][2]int // inputs, of them in memory
		evicted     int
		last, inMem int
	}{
		{name: "nothing", last: 0},
		{name: "all evicted into one file", mem: 3, evicted: 3, last: 1},
		{name: "evicted beside nine files", disk: 9, mem: 3, evicted: 3, last: 10},
		{name: "ten files: memory joins the last pass", disk: 10, mem: 3, evicted: 3, last: 13},
		{name: "eleven files: memory joins the first pass", disk: 11, mem: 3, evicted: 3, passes: [][2]int{{5, 3}}, last: 10},
		{name: "eleven files and none in memory", disk: 11, passes: [][2]int{{2, 0}}, last: 10},
		{name: "all retained", mem: 3, retain: 0.7, inMem: 3},
		{name: "two of five retained", mem: 5, retain: 0.1, evicted: 3, last: 1, inMem: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := defaultConf()
			conf.ReduceInBuf = c.retain
			s := conf.NewShuffle(c.disk + c.mem)
			for range c.disk {
				s.Stored(taskplan.Segment{Stored: big, Raw: big, Records: 1})
			}
			for range c.mem {
				out := taskplan.Segment{Stored: small, Raw: small, Records: 1}
				s.Reserve(out)
				s.Copied(out)
				s.Listed(out)
			}
			got := s.Sort(func(in []taskplan.Segment) taskplan.Segment {
				return taskplan.Segment{Stored: float64(len(in)) * big, Records: 1}
			})
			var passes [][2]int
			held := got.InMemory
			for _, in := range got.Passes {
				passes = append(passes, [2]int{len(in), held})
				held = 0
			}
			if len(got.Evicted) != c.evicted || !slices.Equal(passes, c.passes) || len(got.Last) != c.last || len(got.Retained) != c.inMem {
				t.Errorf("%d evicted, passes %v, last %d, retained %d; want %d, %v, %d, %d",
					len(got.Evicted), passes, len(got.Last), len(got.Retained), c.evicted, c.passes, c.last, c.inMem)
			}
		})
	}
}

func TestReadTaskConf(t *testing.T) {
	if got := taskConf(t, nil); got != defaultConf() {
		t.Errorf("%+v", got)
	}
	got := taskConf(t, map[string]string{
		"mapreduce.task.io.sort.mb": "150", "mapreduce.map.java.opts": "-server -Xmx1g -Xmx512m",
		"mapred.compress.map.output": "true", "mapred.job.shuffle.merge.percent": "0.5",
	})
	want := defaultConf()
	want.SortMB, want.MapHeap, want.IntermCompressed, want.ShuffleMerge = 150, 512<<20, true, 0.5
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTaskConfErrors(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"io.sort.mb", "many", `io.sort.mb: got "many": want a whole number`},
		{"io.sort.mb", "2048", "io.sort.mb: got 2048: want 1 to 2047"},
		{"io.sort.mb", "200", "io.sort.mb: 200: want less than the heap of a map, 200 MiB"},
		{"io.sort.factor", "1", "io.sort.factor: got 1: want at least 2"},
		{"io.sort.record.percent", "0.001", "io.sort.record.percent: got 0.001: want 0.01 to 1"},
		{"io.sort.spill.percent", "0", "io.sort.spill.percent: 0: want more than 0 and at most 1"},
		{"mapred.child.java.opts", "-server", `mapred.child.java.opts = "-server": want the size of the heap, such as -Xmx200m`},
		{"mapred.child.java.opts", "-Xmxlots", `mapred.child.java.opts = "-Xmxlots": want the size of the heap, such as -Xmx200m`},
		{"mapred.compress.map.output", "perhaps", `mapred.compress.map.output: got "perhaps": want true or false`},
		{"mapred.job.reduce.input.buffer.percent", "1.5", "mapred.job.reduce.input.buffer.percent: got 1.5: want a number from 0 to 1"},
	} {
		var conf workload.Conf
		conf.Set(c.key, c.value)
		if _, err := taskplan.ReadConf(conf); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %s: %v, want %s", c.key, c.value, err, c.want)
		}
	}
}

// What tasks read is in the table of properties, with the default they take.
func TestTaskConfProperties(t *testing.T) {
	var conf workload.Conf
	read := 0
	for _, key := range workload.Properties() {
		p, ok := workload.FindProperty(key)
		if !ok || !p.Phases {
			continue
		}
		read++
		if p.Default != "" { // else the default is that of another key
			conf.Set(key, p.Default)
		}
	}
	if c, err := taskplan.ReadConf(conf); read < 18 || err != nil || c != defaultConf() {
		t.Errorf("%d properties, %v: %+v", read, err, c)
	}
}

// A combiner that finds less to do in combined data is taken at its word, in the
// last merge of a map and in the merges of a reduce.
func TestCombinedAgain(t *testing.T) {
	segments := slices.Repeat([]taskplan.Segment{{Stored: 1e6, Raw: 1e6, Records: 1e4}}, 300) // more than memory holds
	run := func(again *taskplan.Selectivity) (maps, reduces float64) {
		h := analytic.DefaultPhases().Data
		h.CombineSizeSel, h.CombineRecsSel = 0.5, 0.5
		p := planner(t, defaultConf(), 1, func(p *taskplan.Planner) {
			p.Data, p.Combiner, p.Again, p.Framing = h, true, again, taskplan.Framing{}
		})
		m := mapPlan(t, p, taskplan.MapFlow{OutBytes: 400e6, OutRecords: 4e6})
		if m.Counters.Spills < 3 {
			t.Fatalf("%d spills", m.Counters.Spills)
		}
		return m.Output.Records, float64(p.Reduce(segments).InRecords)
	}
	maps, reduces := run(nil)
	if maps != 1e6 || reduces >= 3e6 {
		t.Fatalf("a map leaves %.0f of 4,000,000 records, a reduce has %.0f", maps, reduces)
	}
	if m, r := run(&taskplan.Selectivity{Size: 1, Records: 1}); m != 2e6 || r != 3e6 {
		t.Errorf("combined once a map leaves %.0f of 4,000,000 records, a reduce has %.0f of 3,000,000", m, r)
	}
	if m, r := run(&taskplan.Selectivity{Size: 0.25, Records: 0.25}); m != 0.5e6 || r >= reduces {
		t.Errorf("combined to a quarter again a map leaves %.0f records, a reduce has %.0f", m, r)
	}
}
