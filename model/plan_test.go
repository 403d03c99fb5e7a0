package model_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// The spills of a map of 64 MiB of 100-byte records (Herodotou eq. 12-16), and
// the buffers that Hadoop 0.20.2 logs.
func TestSortBuffer(t *testing.T) {
	const records, bytes = 671_088, 67_108_800
	for _, c := range []struct {
		mb, spills    int
		recordPercent float64
		want          model.SortBuffer
	}{
		{100, 3, 0.05, model.SortBuffer{Bytes: 99614720, SoftBytes: 79691776, Records: 327680, SoftRecords: 262144}},
		{40, 7, 0.05, model.SortBuffer{Bytes: 39845888, SoftBytes: 31876710, Records: 131072, SoftRecords: 104857}},
		{200, 2, 0.05, model.SortBuffer{Bytes: 199229440, SoftBytes: 159383552, Records: 655360, SoftRecords: 524288}},
		{100, 1, 0.15, model.SortBuffer{Bytes: 89128960, SoftBytes: 71303168, Records: 983040, SoftRecords: 786432}},
		{250, 2, 0.05, model.SortBuffer{Bytes: 249036800, SoftBytes: 199229440, Records: 819200, SoftRecords: 655360}},
		{256, 1, 0.05, model.SortBuffer{Bytes: 255013696, SoftBytes: 204010960, Records: 838860, SoftRecords: 671088}},
	} {
		t.Run(fmt.Sprint(c.mb, c.recordPercent), func(t *testing.T) {
			conf := model.DefaultTaskConf()
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
	conf := model.DefaultTaskConf()
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

func TestSpillsOfLargeRecords(t *testing.T) {
	b := model.SortBuffer{Bytes: 1000, SoftBytes: 800, Records: 100, SoftRecords: 80}
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
	if _, err := b.Spills(1e9, 1e12); err == nil || !strings.Contains(err.Error(), "more than 1048576 spills") {
		t.Errorf("a million spills: %v", err)
	}
}

// 28 spills at factor 10: two passes of ten, then ten files (Herodotou section
// 5); and the other counts of eq. 21-27.
func TestMapMergePasses(t *testing.T) {
	for _, c := range []struct{ spills, reads, passes int }{
		{1, 0, 0}, {2, 0, 1}, {10, 0, 1}, {11, 2, 2}, {19, 10, 2}, {20, 12, 3}, {28, 20, 3}, {100, 100, 11},
	} {
		p := planner(t, model.DefaultTaskConf(), 1, func(p *model.Planner) { p.Framing = model.Framing{} })
		records := 262_143 * float64(c.spills)
		m := mapPlan(t, p, model.MapFlow{OutRecords: records, OutBytes: records})
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
		conf := model.DefaultTaskConf()
		conf.SortMB, conf.SortFactor = 1, rapid.IntRange(2, 12).Draw(t, "factor")
		h := model.DefaultPhases()
		p, err := model.NewPlanner(model.Planner{Conf: conf, Data: h.HerodotouData, Cost: h.HerodotouCost, Reduces: 1, EvenSpills: true})
		if err != nil {
			t.Fatal(err)
		}
		records := rapid.Float64Range(1, 1e6).Draw(t, "records")
		m, err := p.Map(model.MapFlow{OutRecords: records, OutBytes: records})
		if err != nil {
			t.Fatal(err)
		}
		want, err := model.Merge(int(m.Counters.Spills), conf.SortFactor)
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
func job(t *rapid.T) model.Herodotou {
	h := model.DefaultPhases()
	part := func(name string) float64 { return rapid.Float64Range(0.05, 1).Draw(t, name) }
	cost := func(name string) float64 { return rapid.Float64Range(0, 5000).Draw(t, name) }
	h.SplitSize = rapid.Float64Range(1, 3e8).Draw(t, "split")
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
func planOf(t *rapid.T, h model.Herodotou) *model.Planner {
	conf := model.DefaultTaskConf()
	conf.SortMB, conf.SortFactor, conf.SortRecPercent, conf.SpillPercent = int(h.SortMB), h.SortFactor, h.SortRecPercent, h.SpillPercent
	conf.IntermCompressed, conf.OutCompressed = h.IntermCompressed, h.OutCompressed
	p, err := model.NewPlanner(model.Planner{
		Conf: conf, Data: h.HerodotouData, Cost: h.HerodotouCost,
		Reduces: h.Reducers, Combiner: h.UseCombine, InCompressed: h.InCompressed, EvenSpills: true,
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
		want, err := h.Phases(model.HerodotouOptions{Mode: model.Corrected})
		if err != nil {
			t.Skip(err)
		}
		p := planOf(t, h)
		m, err := p.Map(p.MapFlow(h.SplitSize))
		if err != nil {
			t.Fatal(err)
		}
		times := m.PhaseTimes(h.HerodotouCost)
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
		r := p.Reduce([]model.Segment{m.Output.Part(1 / float64(h.Reducers))})
		times = r.PhaseTimes(h.HerodotouCost)
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
		want, err := h.MapOnly(model.HerodotouOptions{Mode: model.Corrected})
		if err != nil {
			t.Fatal(err)
		}
		p := planOf(t, h)
		m, err := p.Map(p.MapFlow(h.SplitSize))
		if err != nil {
			t.Fatal(err)
		}
		times := m.PhaseTimes(h.HerodotouCost)
		sameTime(t, "read", times[workload.PhaseRead], want.ReadTime)
		sameTime(t, "map", times[workload.PhaseMap], want.MapTime)
		sameTime(t, "write", times[workload.PhaseWrite], want.WriteTime)
		if m.HDFSWriteBytes != int64(math.Round(want.HDFSBytesWritten)) || m.LocalWriteBytes != 0 {
			t.Fatalf("%d bytes to HDFS, %d to the local disk; want %v and 0", m.HDFSWriteBytes, m.LocalWriteBytes, want.HDFSBytesWritten)
		}
	})
}
