package taskplan_test

import (
	"slices"
	"testing"

	"github.com/slotwave/slotwave/internal/approx"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// planner plans tasks of jobs whose data statistics do not matter.
func planner(t testing.TB, conf taskplan.Conf, reduces int, change func(*taskplan.Planner)) *taskplan.Planner {
	t.Helper()
	h := analytic.DefaultPhases()
	p := taskplan.Planner{Conf: conf, Data: h.Data, Cost: h.Cost, Reduces: reduces, Framing: taskplan.IFile}
	if change != nil {
		change(&p)
	}
	made, err := taskplan.NewPlanner(p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func mapPlan(t testing.TB, p *taskplan.Planner, f taskplan.MapFlow) taskplan.MapPlan {
	t.Helper()
	m, err := p.Map(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// defaultConf is what a job that sets nothing has, releases 0.20.2 to 1.2.1.
func defaultConf() taskplan.Conf {
	const codec = "org.apache.hadoop.io.compress.DefaultCodec"
	return taskplan.Conf{
		SortMB: 100, SortRecPercent: 0.05, SpillPercent: 0.8, SortFactor: 10, SpillsForCombine: 3,
		IntermCodec: codec, OutCodec: codec, MapHeap: 200 << 20, ReduceHeap: 200 << 20,
		ParallelCopies: 5, ShuffleInBuf: 0.7, ShuffleMerge: 0.66, InMemMergeThr: 1000,
		HTTPThreads: 40, Replication: 3,
	}
}

func taskConf(t testing.TB, set map[string]string) taskplan.Conf {
	t.Helper()
	var conf workload.Conf
	for key, value := range set {
		if value != "" {
			conf.Set(key, value)
		}
	}
	c, err := taskplan.ReadConf(conf)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Where the shuffle's second line begins: with 700 MB of heap, of which the JVM
// reports 8/9, after ten files of five 64 MB outputs each (Zhang section 3). It
// moves with the factor and the heap.
func TestShuffleBreak(t *testing.T) {
	broken := func(factor int, heap int64) (mb int) {
		conf := defaultConf()
		conf.SortFactor, conf.ReduceHeap, conf.InMemMergeThr = factor, heap*8/9, 0
		p := planner(t, conf, 1, nil)
		for n := 1; ; n++ {
			out := taskplan.Segment{Stored: 64 << 20, Raw: 64 << 20, Records: 671_088}
			if r := p.Reduce(slices.Repeat([]taskplan.Segment{out}, n)); r.MergePasses > 1 {
				return 64 * (n - 1)
			}
		}
	}
	if mb := broken(10, 700<<20); mb < 2900 || mb > 3600 {
		t.Errorf("factor 10, 700 MB: %d MB", mb)
	}
	if mb := broken(20, 700<<20); mb < 5800 || mb > 7200 {
		t.Errorf("factor 20: %d MB", mb)
	}
	if mb := broken(10, 1400<<20); mb < 5800 || mb > 7200 {
		t.Errorf("1,400 MB: %d MB", mb)
	}
}

// One spill is waited for whole; of two the first runs beside the map until the
// buffer is full.
func TestMapWait(t *testing.T) {
	conf := defaultConf()
	buffer := conf.SortBuffer()
	spills, err := buffer.Spills(300_000, 30e6)
	if want := []taskplan.Spill{{Records: 262144, Bytes: 26214400, Room: 65535}, {Records: 37856, Bytes: 3785600, Room: 289823}}; err != nil || !slices.EqualFunc(spills, want, func(a, b taskplan.Spill) bool {
		return approx.Equal(a.Records, b.Records) && approx.Equal(a.Bytes, b.Bytes) && approx.Equal(a.Room, b.Room)
	}) {
		t.Errorf("%v, %v: want %v, as calculated independently", spills, err, want)
	}
	for _, test := range []struct {
		spills         []taskplan.Spill
		main, spilling float64
		want           float64
	}{
		{nil, 10, 5, 0},
		{spills, 3000, 1000, 621.44},
		{[]taskplan.Spill{{Records: 100, Room: 25}}, 10, 5, 5},
		// 50 records in 5 s, room for all others: the first spill ends beside them.
		{[]taskplan.Spill{{Records: 50, Room: 50}, {Records: 50}}, 10, 4, 2},
		// Room for 25: 5 + 2.5 s, blocked from 7.5 to 5+10, then 2.5 s and 10 s.
		{[]taskplan.Spill{{Records: 50, Room: 25}, {Records: 50}}, 10, 20, 5 + 10 + 2.5 + 10 - 10},
	} {
		if got := taskplan.MapWait(test.spills, test.main, test.spilling); !approx.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.spills, got, test.want)
		}
	}
}

// The joint buffer of Hadoop 2: records of 100 bytes cost 116, and the first spill of
// 100 MiB holds 723,156 of them. In the free fifth the equator leaves room for a spill's
// quarter: 16 bytes of metadata for each 100 of data.
func TestJointBuffer(t *testing.T) {
	conf := defaultConf()
	conf.MRv2 = true
	spills, err := conf.SortBuffer().Spills(2_000_000, 200_000_000)
	if err != nil {
		t.Fatal(err)
	}
	const first = 723_156
	if len(spills) != 3 || spills[0].Records != first || spills[1].Records != first || spills[2].Records != 2_000_000-2*first {
		t.Errorf("spills %+v: want two of %d records and the rest", spills, first)
	}
	// 104,857,600 - 116 * 723,156 = 20,971,504 bytes are free: 180,788 entries of metadata.
	if room := spills[0].Room; room != 180_788 {
		t.Errorf("room for %v records during a spill: want 180,788", room)
	}
	for _, c := range []struct{ width, records, first, room float64 }{
		{0, 6_000_000, 5_242_879, 655_360},  // metadata alone: half of the free part
		{1e6, 100, 84, 20},                  // large records
		{1e9, 2, 1, 0},                      // larger than the buffer
		{100, first, first, 180_788},        // a spill begins with the record after the limit
		{16, 2_621_440, 2_621_440, 655_360}, // half of the free part for each
	} {
		spills, err := conf.SortBuffer().Spills(c.records, c.records*c.width)
		if err != nil || spills[0].Records != c.first || spills[0].Room != c.room {
			t.Errorf("records of %v bytes: %+v, %v: want %v in the first spill and room for %v", c.width, spills[0], err, c.first, c.room)
		}
	}
	conf.SortFactor = 2
	p := planner(t, conf, 1, nil)
	m := mapPlan(t, p, taskplan.MapFlow{InStored: 1e8, InBytes: 1e8, InRecords: 1e6, OutBytes: 2e8, OutRecords: 2_000_000})
	for _, s := range m.Steps { // of three spills the two smallest are merged first
		if s.Phase == workload.PhaseMerge && s.Resource == taskplan.LocalRead {
			want := (first + 2_000_000 - 2*first) * 102.0
			if s.Work < want || s.Work > want+20 {
				t.Errorf("the first pass reads %v bytes: want %v, of the smallest spills", s.Work, want)
			}
			break
		}
	}
}
