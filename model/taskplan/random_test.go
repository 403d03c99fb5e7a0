package taskplan_test

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

// randomConf sets some properties, now and then to a value that is refused.
func randomConf(r *rand.Rand) (conf workload.Conf) {
	for _, v := range []struct {
		key    string
		values []string
	}{
		{"io.sort.mb", []string{"8", "20", "40", "100", "2047", "0"}}, {"io.sort.factor", []string{"2", "3", "10", "1"}},
		{"io.sort.record.percent", []string{"0.01", "0.2", "0.9", "1.5"}}, {"io.sort.spill.percent", []string{"0.3", "0.8", "1", "0"}},
		{"mapred.compress.map.output", []string{"true", "false"}}, {"mapred.output.compress", []string{"true", "false"}},
		{"mapred.map.output.compression.codec", []string{"org.apache.hadoop.io.compress.GzipCodec", "org.apache.hadoop.io.compress.SnappyCodec", "x.Unknown"}},
		{"dfs.replication", []string{"1", "2", "3"}}, {"dfs.block.size", []string{"4m", "64m", "1g"}}, {"min.num.spills.for.combine", []string{"1", "3", "5"}},
		{"mapred.job.shuffle.input.buffer.percent", []string{"0.1", "0.7", "0.9", "2"}}, {"mapred.job.shuffle.merge.percent", []string{"0.2", "0.66", "0.9"}},
		{"mapred.job.reduce.input.buffer.percent", []string{"0", "0.3", "0.8"}}, {"mapred.inmem.merge.threshold", []string{"0", "2", "5", "1000"}},
		{"mapred.child.java.opts", []string{"-Xmx64m", "-Xmx200m", "-Xmx1g", "-server"}}, {"mapred.reduce.parallel.copies", []string{"1", "5", "20"}},
	} {
		n := len(v.values)
		if n > 2 && r.IntN(6) > 0 {
			n-- // mostly not the last
		}
		if r.IntN(2) == 0 {
			conf.Set(v.key, v.values[r.IntN(n)])
		}
	}
	return conf
}

// Plans of random tasks stay: what maps and reduces read, write and compute step by step,
// when shuffles go to memory or to disk, and what each takes alone. A line of the golden file
// says which plan differs; -v shows it.
func TestPlansStay(t *testing.T) {
	var got bytes.Buffer
	for seed := range uint64(260) {
		r := rand.New(rand.NewPCG(seed, 29))
		var out bytes.Buffer
		fails := onePlan(&out, r, seed >= 200)
		if testing.Verbose() {
			t.Logf("%d: %s", seed, out.String())
		}
		fmt.Fprintf(&got, "%d: %v, %.6x\n", seed, fails, sha256.Sum256(out.Bytes()))
	}
	vectortest.Lines(t, "testdata/plans.txt", got.String(), *update)
}

func onePlan(out *bytes.Buffer, r *rand.Rand, mrv2 bool) error {
	quarter := func(most int) float64 { return float64(1+r.IntN(most)) / 4 }
	one := func(n int) bool { return r.IntN(n) == 0 }
	m := model.Machine{
		Name: "m", Cores: 2, Speed: quarter(8), Memory: 4 << 30, NIC: 50e6, Uplink: 1e9, HeapPart: []float64{1, 0.9}[r.IntN(2)], Overlap: one(3), PageCache: one(4),
		Disks: []model.Disk{{Read: 80e6, Write: 60e6, Curve: model.DiskCurve{Kind: model.NoCurve}}},
		CPU:   model.MeasuredCost,
	}
	m.CPU.LocalRead, m.CPU.LocalWrite, m.CPU.Fetch, m.CPU.Open, m.CPU.Cold = 2, 3, 4, 1e6, float64(r.IntN(2)*1000)
	program := model.Program{Name: "p", Combiner: one(2), MapCPU: 100 * quarter(9), ReduceCPU: 100 * quarter(9), CombineCPU: 50, Keys: float64(r.IntN(3) * 100_000)}
	program.Data = taskplan.Data{
		InputPairWidth: 10 * quarter(80), RecsPerGroup: quarter(12), MapSizeSel: quarter(8), MapRecsSel: quarter(8),
		CombineSizeSel: quarter(4), CombineRecsSel: quarter(4), ReduceSizeSel: quarter(6), ReduceRecsSel: quarter(6),
	}
	if one(4) {
		program.Again = &taskplan.Selectivity{Size: quarter(4), Records: quarter(4)}
	}
	if one(4) {
		program.InCodec = "org.apache.hadoop.io.compress.GzipCodec"
	}
	reduces := r.IntN(3) * r.IntN(6)
	conf, err := taskplan.ReadConf(randomConf(r))
	conf.MRv2 = mrv2
	fmt.Fprintf(out, "%+v %v\n", conf, err)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%v %+v\n", conf.Check(), conf.SortBuffer())
	spills, err := conf.SortBuffer().Spills(float64(r.IntN(1_000_000)), float64(r.IntN(100))*1e6)
	fmt.Fprintf(out, "%d spills %+v %v, wait %v\n", len(spills), spills, err, taskplan.MapWait(spills, quarter(9), quarter(9)))
	merge, err := taskplan.Merge(r.IntN(40), r.IntN(6))
	fmt.Fprintf(out, "%+v %v\n", merge, err)
	var c input.Check
	used := taskplan.Used{Reduces: one(2), Combiner: one(2), InCompressed: one(2), IntermCompressed: one(2), OutCompressed: one(2)}
	data, cost := program.Data, taskplan.Cost{HDFSRead: 1, LocalRead: float64(r.IntN(3) - 1), MapCPU: float64(r.IntN(3) - 1)}
	used.Check(&c, &data, &cost)
	used.Neutral(&data, &cost)
	fmt.Fprintf(out, "%v %+v %+v\n", c.Err(), data, cost)
	p, err := m.Planner(&program, conf, reduces)
	if err != nil {
		fmt.Fprintln(out, err)
		return err
	}
	if one(3) {
		p = p.Paced(quarter(8))
	}
	var outputs []taskplan.Segment
	for i := range 1 + r.IntN(12) {
		flow := p.MapFlow(float64(r.IntN(30)) * 4e6)
		plan, err := p.Map(flow)
		fmt.Fprintf(out, "map %+v %+v %v\n", flow, plan, err)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, plan.Alone(p.Cost), plan.PhaseTimes(p.Cost), plan.Serial(p.Cost), m.MapTimes(p, flow, &plan), p.Contents(plan.Output, 3))
		for _, s := range plan.Steps {
			fmt.Fprint(out, p.Cost.Time(s), " ")
		}
		if i == 0 {
			fmt.Fprintf(out, "%+v %+v\n", plan.Together(0), plan.Output.Plus(plan.Output.Part(0.25)))
		}
		if reduces > 0 {
			outputs = append(outputs, plan.Output.Part(1/float64(reduces)))
		}
	}
	if reduces > 0 {
		plan := p.Reduce(outputs)
		fmt.Fprintf(out, "reduce %+v\n", plan)
		fmt.Fprintln(out, plan.Alone(p.Cost), plan.PhaseTimes(p.Cost), plan.Serial(p.Cost), m.ReduceTimes(p, &plan))
		shuffleInTurn(out, r, p, outputs)
	}
	return nil
}

// shuffleInTurn plays a shuffle whose merges end some copies later, and whose sources are lost at times.
func shuffleInTurn(out *bytes.Buffer, r *rand.Rand, p *taskplan.Planner, outputs []taskplan.Segment) {
	t := p.NewReduce(len(outputs))
	var merging, toDisk *taskplan.BackgroundMerge
	merge := func() {
		if merging != nil {
			for _, in := range merging.Inputs {
				t.Free(in)
			}
			t.InMemMerged(merging.File)
			merging = nil
			if toDisk = t.MergeOnDisk(); toDisk != nil {
				fmt.Fprintf(out, "on disk %+v\n", *toDisk)
				t.OnDiskMerged(toDisk.File)
			}
		}
		if merging = t.MergeInMemory(); merging != nil {
			fmt.Fprintf(out, "in memory %+v\n", *merging)
		}
	}
	for i, o := range outputs {
		fmt.Fprintf(out, "%d: in memory %v, %v bytes, missing %d, done %v\n", i, t.InMemory(o), t.Memory(), t.Missing(), t.Done())
		fmt.Fprintf(out, "%+v\n", t.Fetch(nil, o))
		if !t.InMemory(o) {
			t.Stored(o)
			continue
		}
		granted := t.Reserve(o)
		for tries := 0; !granted && tries < 5; tries++ {
			merge()
			granted = t.Retry(o)
		}
		if !granted {
			fmt.Fprintln(out, "no room")
			return
		}
		if r.IntN(8) == 0 {
			t.Abandon(o, false)
			if granted = t.Reserve(o); !granted {
				fmt.Fprintln(out, "no room again")
				return
			}
		}
		t.Copied(o)
		t.Listed(o)
		if r.IntN(3) > 0 {
			merge()
		}
	}
	t.Close()
	fmt.Fprintf(out, "%v bytes, missing %d, done %v, %+v\n", t.Memory(), t.Missing(), t.Done(), t.ShuffleCounts)
	for range 3 {
		merge()
	}
	fmt.Fprintf(out, "%+v\n", t.Finish())
}
