package analytic

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/internal/measured"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// The map stages of the eight jobs on EC2, from the first start to the last end,
// lie within ARIA's bounds for 30 slots.
func TestAriaBoundsOnEC2(t *testing.T) {
	type stage struct {
		from, until float64
		times       []float64
	}
	stages := map[string]*stage{}
	for _, r := range measured.Records(t, "ec2-starfish/tasks.tsv", "\t") {
		if r["type"] != "MAP" || r["status"] != "SUCCESS" {
			continue
		}
		s := stages[r["job"]]
		if s == nil {
			s = &stage{from: math.Inf(1)}
			stages[r["job"]] = s
		}
		from, until := r.Number("start_s"), r.Number("finish_s")
		s.from, s.until, s.times = min(s.from, from), max(s.until, until), append(s.times, until-from)
	}
	if len(stages) != 8 {
		t.Fatalf("%d jobs, want 8", len(stages))
	}
	rows := evidence.Read(t, "aria-bounds")
	for job, s := range stages {
		sum := 0.0
		for _, v := range s.times {
			sum += v
		}
		p := AriaProfile{Maps: len(s.times), MapAvg: sum / float64(len(s.times)), MapMax: slices.Max(s.times)}
		b, err := p.Bounds(30, 0, true)
		if err != nil {
			t.Fatal(err)
		}
		took := s.until - s.from
		rows.Want(t, []string{job[8:], fmt.Sprint(p.Maps), fmt.Sprintf("%.1f", b.MapLow), fmt.Sprintf("%.1f", took), fmt.Sprintf("%.1f", b.MapUp)})
		if took < b.MapLow || took > b.MapUp {
			t.Errorf("%s: the map stage took %.1f s, bounds %.1f and %.1f", job, took, b.MapLow, b.MapUp)
		}
	}
}

// side is the profile of one input's maps, or of the reduces, of one job.
type side struct {
	tasks float64
	v     map[string]float64
}

func profilesOnEC2(t *testing.T) (jobs []string, maps map[string][]side, reduces map[string]side) {
	maps, reduces = map[string][]side{}, map[string]side{}
	for _, r := range measured.Records(t, "ec2-starfish/profiles.tsv", "\t") {
		job := r["job"]
		if !slices.Contains(jobs, job) {
			jobs = append(jobs, job)
		}
		var s side
		if r["side"] == "map" {
			i := int(r.Number("input_index"))
			for len(maps[job]) <= i {
				maps[job] = append(maps[job], side{r.Number("num_tasks"), map[string]float64{}})
			}
			s = maps[job][i]
		} else {
			if reduces[job].v == nil {
				reduces[job] = side{r.Number("num_tasks"), map[string]float64{}}
			}
			s = reduces[job]
		}
		s.v[r["key"]] = r.Number("value")
	}
	slices.Sort(jobs)
	return jobs, maps, reduces
}

// The phases of the seven jobs that were profiled on EC2 by the equations, from
// the statistics and costs of the same profiles, and as measured.
func TestPhasesOnEC2(t *testing.T) {
	conf := map[string]map[string]string{}
	for _, r := range measured.Records(t, "ec2-starfish/conf.tsv", "\t") {
		if conf[r["job"]] == nil {
			conf[r["job"]] = map[string]string{}
		}
		conf[r["job"]][r["key"]] = r["value"]
	}
	jobs, maps, reduces := profilesOnEC2(t)
	if len(jobs) != 7 {
		t.Fatalf("%d jobs, want 7", len(jobs))
	}
	mapRows, reduceRows := evidence.Read(t, "herodotou-maps"), evidence.Read(t, "herodotou-reduces")
	for _, job := range jobs {
		// Maps by input; reduces see the average map of all.
		mean, total := map[string]float64{}, 0.0
		for _, m := range maps[job] {
			total += m.tasks
		}
		for _, m := range maps[job] {
			for key, v := range m.v {
				mean[key] += v * m.tasks / total
			}
		}
		row := phaseRow{t: t, sure: job == "201102170213_0006"} // TeraSort
		for i, m := range maps[job] {
			p := starfishJob(t, conf[job], m.v, reduces[job], total)
			row.cells = []string{job[8:] + [...]string{" map", " map, second input"}[i]}
			row.add(p.ReadTime, m.v["READ"], true)
			row.add(p.MapTime, m.v["MAP"], true)
			row.add(p.CollectTime, m.v["COLLECT"], true)
			row.add(p.SpillTime, m.v["SPILL"], true)
			row.add(p.MapMergeTime, m.v["MERGE"], false) // of one spill: a rename
			mapRows.Want(t, row.cells)
		}
		p, r := starfishJob(t, conf[job], mean, reduces[job], total), reduces[job].v
		row.cells = []string{job[8:] + " reduce"}
		row.add(p.ShuffleTime, r["SHUFFLE"], true)
		row.add(p.ReduceMergeTime, r["SORT"], false) // what the last merge in memory happened to leave
		row.add(p.ReduceTime, r["REDUCE"], true)
		row.add(p.WriteTime, r["WRITE"], true)
		reduceRows.Want(t, row.cells)
	}
}

// phaseRow is a row of phases: measured ms, and how far the equations are off.
type phaseRow struct {
	t     *testing.T
	sure  bool // its phases must be within 7 %
	cells []string
}

func (r *phaseRow) add(got, want float64, sure bool) {
	r.t.Helper()
	d := got/want - 1
	if r.sure && sure && math.Abs(d) > 0.07 {
		r.t.Errorf("%s: %.0f ms, measured %.0f: %+.1f %%, want at most 7 %%", r.cells[0], got, want, 100*d)
	}
	r.cells = append(r.cells, fmt.Sprintf("%.0f %+.1f %%", want, 100*d))
}

// starfishJob is a job by the profile of its maps and reduces.
func starfishJob(t *testing.T, set map[string]string, m map[string]float64, r side, maps float64) HerodotouPhases {
	t.Helper()
	c := taskConf(t, set)
	or1 := func(v float64) float64 {
		if v == 0 {
			return 1
		}
		return v
	}
	h := Herodotou{
		HerodotouConf: HerodotouConf{
			Nodes: 15, MapsPerNode: 2, ReducesPerNode: 2, Mappers: int(maps), Reducers: int(r.tasks), SplitSize: m["HDFS_BYTES_READ"],
			TaskMem: float64(c.ReduceHeap), SortMB: float64(c.SortMB), SpillPercent: c.SpillPercent, SortRecPercent: c.SortRecPercent,
			SortFactor: c.SortFactor, SpillsForCombine: c.SpillsForCombine, InMemMergeThr: c.InMemMergeThr,
			ShuffleInBuf: c.ShuffleInBuf, ShuffleMerge: c.ShuffleMerge, ReduceInBuf: c.ReduceInBuf,
			UseCombine: m["COMBINE_INPUT_RECORDS"] > 0, IntermCompressed: c.IntermCompressed, OutCompressed: c.OutCompressed,
			InCompressed: m["INPUT_COMPRESS_RATIO"] > 0,
		},
		Data: taskplan.Data{
			InputPairWidth: m["INPUT_PAIR_WIDTH"], RecsPerGroup: or1(r.v["REDUCE_PAIRS_PER_GROUP"]),
			MapSizeSel: m["MAP_SIZE_SEL"], MapRecsSel: m["MAP_PAIRS_SEL"],
			ReduceSizeSel: r.v["REDUCE_SIZE_SEL"], ReduceRecsSel: r.v["REDUCE_PAIRS_SEL"],
			CombineSizeSel: or1(m["COMBINE_SIZE_SEL"]), CombineRecsSel: or1(m["COMBINE_PAIRS_SEL"]),
			InputRatio: or1(m["INPUT_COMPRESS_RATIO"]), IntermRatio: or1(m["INTERM_COMPRESS_RATIO"]), OutRatio: 1,
		},
		Cost: taskplan.Cost{
			HDFSRead: m["READ_HDFS_IO_COST"], LocalRead: m["READ_LOCAL_IO_COST"], LocalWrite: m["WRITE_LOCAL_IO_COST"],
			HDFSWrite: r.v["WRITE_HDFS_IO_COST"], Network: r.v["NETWORK_COST"],
			MapCPU: m["MAP_CPU_COST"], ReduceCPU: r.v["REDUCE_CPU_COST"], CombineCPU: m["COMBINE_CPU_COST"],
			PartitionCPU: m["PARTITION_CPU_COST"], SerdeCPU: m["SERDE_CPU_COST"], SortCPU: m["SORT_CPU_COST"], MergeCPU: m["MERGE_CPU_COST"],
			InUncompr: m["INPUT_UNCOMPRESS_CPU_COST"], IntermUncompr: m["INTERM_UNCOMPRESS_CPU_COST"], IntermCompr: m["INTERM_COMPRESS_CPU_COST"],
			Setup: m["SETUP_CPU_COST"], Cleanup: m["CLEANUP_CPU_COST"],
		},
	}
	o := HerodotouOptions{Mode: Corrected, CombineOnce: true}
	p, err := h.Phases(o)
	if err != nil {
		t.Fatal(err)
	}
	// Reduces have disk, merge and codec costs of their own.
	h.LocalRead, h.LocalWrite, h.MergeCPU = r.v["READ_LOCAL_IO_COST"], r.v["WRITE_LOCAL_IO_COST"], r.v["MERGE_CPU_COST"]
	h.IntermUncompr, h.IntermCompr = r.v["INTERM_UNCOMPRESS_CPU_COST"], r.v["INTERM_COMPRESS_CPU_COST"]
	q, err := h.Phases(o)
	if err != nil {
		t.Fatal(err)
	}
	p.HerodotouShuffle, p.HerodotouReduce = q.HerodotouShuffle, q.HerodotouReduce
	return p
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
