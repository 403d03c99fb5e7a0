package model_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// machine is a node whose figures are easy to reckon with.
func machine() model.Machine {
	return model.Machine{
		Name: "plain", Cores: 2, Speed: 0.5, Memory: 4 << 30,
		Disks: []model.Disk{{Read: 100e6, Write: 50e6, Curve: model.DiskCurve{Kind: model.NoCurve}}},
		NIC:   25e6, Uplink: math.Inf(1), HeapPart: 1,
		CPU: model.FrameworkCost{HDFSRead: 1, HDFSWrite: 2, Partition: 10, SerdeRecord: 20, SerdeByte: 0.3, Compare: 5, Merge: 40},
	}
}

func program() model.Program {
	return model.Program{
		Name: "copy", MapCPU: 100, ReduceCPU: 200,
		Data: taskplan.Data{
			InputPairWidth: 100, RecsPerGroup: 1, MapSizeSel: 1, MapRecsSel: 1,
			CombineSizeSel: 1, CombineRecsSel: 1, ReduceSizeSel: 1, ReduceRecsSel: 1,
		},
		Ratios: map[string]float64{"lzo": 0.25},
	}
}

// Rates become costs per byte, CPU costs grow as the core is slower, and a
// replicated write is as slow as the network.
func TestMachineCosts(t *testing.T) {
	m, job := machine(), program()
	conf := defaultConf()
	conf.IntermCompressed, conf.IntermCodec = true, "com.hadoop.compression.lzo.LzoCodec"
	p, err := m.Planner(&job, conf, 4)
	if err != nil {
		t.Fatal(err)
	}
	lzo, err := model.FindCodec("lzo")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"read from HDFS", p.Cost.HDFSRead, 10}, {"write to HDFS", p.Cost.HDFSWrite, 40},
		{"local read", p.Cost.LocalRead, 10}, {"local write", p.Cost.LocalWrite, 20}, {"network", p.Cost.Network, 40},
		{"map", p.Cost.MapCPU, 200}, {"reduce", p.Cost.ReduceCPU, 400}, {"partition", p.Cost.PartitionCPU, 20},
		{"serialise", p.Cost.SerdeCPU, 100}, {"compare", p.Cost.SortCPU, 10}, {"merge", p.Cost.MergeCPU, 80},
		{"reading", p.ReadCPU, 2}, {"writing", p.WriteCPU, 4},
		{"ratio", p.Data.IntermRatio, 0.25}, {"ratio of plain output", p.Data.OutRatio, 1},
		{"compress", p.Cost.IntermCompr, 2 * lzo.Compress}, {"decompress", p.Cost.IntermUncompr, 2 * lzo.Decompress / 0.25},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	conf.Replication = 1
	if p, err = m.Planner(&job, conf, 4); err != nil || p.Cost.HDFSWrite != 20 {
		t.Errorf("one replica: %v ns a byte, %v; want 20", p.Cost.HDFSWrite, err)
	}
}

func TestMachineErrors(t *testing.T) {
	m, job := machine(), program()
	m.Speed, m.Disks[0].Read, m.Disks[0].Curve.Kind = 0, -1, "bent"
	conf := defaultConf()
	conf.OutCompressed, conf.OutCodec = true, "com.example.RarCodec"
	_, err := m.Planner(&job, conf, 1)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"speed: 0: want more than 0", "disk.read: -1: want more than 0", `disk.curve.kind: unknown "bent"`,
		`unknown codec "com.example.RarCodec": want the class of one of none, default, gzip, lzo, lz4, snappy, bzip2`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in\n%v", want, err)
		}
	}
}

// Costs per byte of the files of tasks come with each byte that is written to or
// read from them, but not with what is fetched into memory.
func TestLocalCosts(t *testing.T) {
	m, job := machine(), program()
	times := func(read, write float64) (maps, reduces time.Duration, mc, rc workload.Counters) {
		m.CPU.LocalRead, m.CPU.LocalWrite = read, write
		p, err := m.Planner(&job, defaultConf(), 2)
		if err != nil {
			t.Fatal(err)
		}
		plan := mapPlan(t, p)
		if plan.Counters.Spills < 2 {
			t.Fatalf("%d spills", plan.Counters.Spills)
		}
		reduce := p.Reduce(slices.Repeat([]taskplan.Segment{plan.Output.Part(0.5)}, 8))
		sum := func(phases [workload.NumPhases]time.Duration) (all time.Duration) {
			for _, d := range phases {
				all += d
			}
			return all
		}
		return sum(plan.PhaseTimes(p.Cost)), sum(reduce.PhaseTimes(p.Cost)), plan.Counters, reduce.Counters
	}
	maps, reduces, _, _ := times(0, 0)
	for _, c := range []struct{ read, write float64 }{{3, 0}, {0, 7}} {
		dearMaps, dearReduces, mc, rc := times(c.read, c.write)
		want := func(k workload.Counters, index float64) float64 {
			return (float64(k.LocalReadBytes)*c.read + (float64(k.LocalWriteBytes)-index)*c.write) / m.Speed
		}
		for _, x := range []struct {
			of        string
			got, want float64
		}{
			{"map", float64(dearMaps - maps), want(mc, 2*taskplan.IFile.Index+taskplan.IFile.IndexFile)},
			{"reduce", float64(dearReduces - reduces), want(rc, 0)},
		} {
			if x.want == 0 || math.Abs(x.got-x.want) > 100 { // ns; phases are rounded
				t.Errorf("%+v: a %s takes %.0f ns more, want %.0f", c, x.of, x.got, x.want)
			}
		}
	}
}

// A buffer that just holds the map's output saves the second spill and the whole
// merge.
func TestSecondSpill(t *testing.T) {
	m, job := machine(), program()
	var plans []taskplan.MapPlan
	for _, percent := range []float64{0.12, 0.13} {
		conf := defaultConf()
		conf.SortRecPercent = percent
		p, err := m.Planner(&job, conf, 8)
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, mapPlan(t, p))
	}
	cost := taskplan.Cost{LocalRead: 10, LocalWrite: 20, HDFSRead: 10}
	two, one := plans[0].PhaseTimes(cost), plans[1].PhaseTimes(cost)
	if plans[0].Counters.Spills != 2 || plans[1].Counters.Spills != 1 {
		t.Fatalf("%d and %d spills", plans[0].Counters.Spills, plans[1].Counters.Spills)
	}
	if one[workload.PhaseMerge] != 0 || two[workload.PhaseMerge] == 0 || plans[1].Serial(cost) >= plans[0].Serial(cost) {
		t.Errorf("merge %v and %v, in all %.0f and %.0f ns", two[workload.PhaseMerge], one[workload.PhaseMerge], plans[0].Serial(cost), plans[1].Serial(cost))
	}
	var all time.Duration
	for _, d := range two {
		all += d
	}
	if share := (two[workload.PhaseSpill] + two[workload.PhaseMerge]).Seconds() / all.Seconds(); share < 0.49 {
		t.Errorf("sorting and spilling take %.0f %% of the map", 100*share)
	}
}

// A core with one thread does the work of one.
func TestSMT(t *testing.T) {
	for _, c := range []struct {
		gains []float64
		good  bool
	}{
		{nil, true}, {[]float64{1}, true}, {[]float64{1, 1.4, 1.4}, true}, {[]float64{1, 2}, true},
		{[]float64{1.5, 1.8}, false}, {[]float64{1, 0.9}, false}, {[]float64{1, 2.1}, false}, {[]float64{0.5}, false}, {[]float64{math.NaN()}, false},
	} {
		m := machine()
		if m.SMT = c.gains; (m.Check() == nil) != c.good {
			t.Errorf("%v: %v", c.gains, m.Check())
		}
	}
}

// mapPlan plans a map of 64 MiB.
func mapPlan(t *testing.T, p *taskplan.Planner) taskplan.MapPlan {
	t.Helper()
	m, err := p.Map(p.MapFlow(64 << 20))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// defaultConf is the configuration of a job that sets nothing.
func defaultConf() taskplan.Conf {
	c, err := taskplan.ReadConf(workload.Conf{})
	if err != nil {
		panic(err)
	}
	return c
}

// gzip and Hadoop's default codec are both zlib at level 6.
func TestZlibCodecs(t *testing.T) {
	byName := func(name string) model.Codec {
		c := model.Codecs[slices.IndexFunc(model.Codecs, func(c model.Codec) bool { return c.Name == name })]
		c.Name, c.Classes = "", nil
		return c
	}
	if gzip, other := byName("gzip"), byName("default"); gzip.Ratio != other.Ratio || gzip.Compress != other.Compress || gzip.Decompress != other.Decompress {
		t.Errorf("gzip %+v, default %+v", gzip, other)
	}
}

// A fitted machine adds nothing to the costs of a profile: one core at the speed
// of the costs, and all of the heap.
func TestFittedMachineIsNeutral(t *testing.T) {
	m := model.FittedMachine("x", nil)
	if m.Cores != 1 || m.Speed != 1 || m.HeapPart != 1 {
		t.Errorf("%d cores, speed %v, heap part %v: want 1 of each", m.Cores, m.Speed, m.HeapPart)
	}
}
