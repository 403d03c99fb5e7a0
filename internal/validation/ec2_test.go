package validation

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// row is a row of a measured table by its header.
type row map[string]string

func (r row) number(key string) float64 {
	v, _ := strconv.ParseFloat(r[key], 64) // absent: nothing was measured
	return v
}

// measurements reads a table of measured data with a header, its fields separated by tabs.
func measurements(t *testing.T, path string) []row {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var text io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if text, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var all []row
	var header []string
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if header == nil {
			header = fields
			continue
		}
		r := row{}
		for i, name := range header {
			if i < len(fields) {
				r[name] = fields[i]
			}
		}
		all = append(all, r)
	}
	if lines.Err() != nil || len(all) == 0 {
		t.Fatalf("%s: %d rows, %v", path, len(all), lines.Err())
	}
	return all
}

// ec2Job is one recorded job: its tasks, and what a profiler said of it.
type ec2Job struct {
	id, program   string
	seconds       float64
	conf          map[string]string
	maps, reduces []row // of tasks that succeeded, by task
	phases        map[string]row
	m, r          map[string]float64 // mean statistics and costs of a map and of a reduce
}

func (j *ec2Job) compressed() bool { return j.conf["mapred.compress.map.output"] == "true" }

// cluster is the machines that the job ran on; those of one prefix are the same.
func (j *ec2Job) cluster() string { return strings.Split(j.id, "_")[0] }

// width is the bytes of a spilled record with its framing.
func (j *ec2Job) width() float64 {
	w := j.m["INPUT_PAIR_WIDTH"] * j.m["MAP_SIZE_SEL"] / j.m["MAP_PAIRS_SEL"]
	if j.m["COMBINE_PAIRS_SEL"] > 0 {
		w *= j.m["COMBINE_SIZE_SEL"] / j.m["COMBINE_PAIRS_SEL"]
	}
	return w + taskplan.IFile.Record
}

func readEC2(t *testing.T) []*ec2Job {
	t.Helper()
	dir := shared(t, "data/ec2-starfish")
	table := func(name string) []row { return measurements(t, filepath.Join(dir, name)) }
	byID := map[string]*ec2Job{}
	var jobs []*ec2Job
	for _, r := range table("jobs.tsv") {
		j := &ec2Job{id: r["job"], program: r["name"], seconds: r.number("finish_s"),
			conf: map[string]string{}, phases: map[string]row{}, m: map[string]float64{}, r: map[string]float64{}}
		byID[j.id] = j
		jobs = append(jobs, j)
	}
	for _, r := range table("conf.tsv") {
		byID[r["job"]].conf[r["key"]] = r["value"]
	}
	for _, r := range table("tasks.tsv") {
		if j := byID[r["job"]]; r["status"] == "SUCCESS" && r["type"] == "MAP" {
			j.maps = append(j.maps, r)
		} else if r["status"] == "SUCCESS" && r["type"] == "REDUCE" {
			j.reduces = append(j.reduces, r)
		}
	}
	for _, r := range table("phases.tsv") {
		byID[r["job"]].phases[r["type"]+r["task"]] = r
	}
	for _, r := range table("profiles.tsv") {
		switch j := byID[r["job"]]; {
		case r["side"] == "reduce":
			j.r[r["key"]] = r.number("value")
		case 2*r.number("num_tasks") > float64(len(j.maps)): // the input that most maps read
			j.m[r["key"]] = r.number("value")
		}
	}
	for _, j := range jobs {
		for _, tasks := range [][]row{j.maps, j.reduces} {
			slices.SortFunc(tasks, func(a, b row) int { return int(a.number("task") - b.number("task")) })
		}
	}
	slices.SortFunc(jobs, func(a, b *ec2Job) int { return strings.Compare(a.id, b.id) })
	return jobs
}

// slowness is the time of a node's maps for a byte of their output against the
// mean of all nodes, in the jobs of other programs on the same cluster.
func slowness(jobs []*ec2Job, of *ec2Job) map[string]float64 {
	sum, n := map[string]float64{}, map[string]float64{}
	for _, j := range jobs {
		if j.cluster() != of.cluster() || j.program == of.program {
			continue
		}
		mean, perByte := 0.0, make([]float64, len(j.maps))
		for i, r := range j.maps {
			perByte[i] = (r.number("finish_s") - r.number("start_s")) / r.number("map_output_bytes")
			mean += perByte[i] / float64(len(j.maps))
		}
		times, maps := map[string]float64{}, map[string]float64{}
		for i, r := range j.maps {
			times[r["node"]] += perByte[i] / mean
			maps[r["node"]]++
		}
		for node := range times {
			sum[node] += times[node] / maps[node]
			n[node]++
		}
	}
	for node := range sum {
		sum[node] /= n[node]
	}
	return sum
}

// zlibCodec is the codec of all these jobs.
func zlibCodec(t *testing.T) model.Codec {
	t.Helper()
	c, err := model.FindCodec("default")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ratio is what compressing leaves of the map output, as far as the job tells.
func (j *ec2Job) ratio(t *testing.T) float64 {
	if j.compressed() {
		return j.m["INTERM_COMPRESS_RATIO"]
	}
	return zlibCodec(t).Ratio
}

// machine is a node as the tasks of the job saw it. Rates and costs of a profile
// are times that passed on busy nodes, waits for devices among them: its devices
// are so many and so fast that nobody waits again. With other compression than
// the job's, codec is what compressing a byte takes, ns.
func (j *ec2Job) machine(t *testing.T, compressed bool, codec float64) *model.Machine {
	const unshared = 1e15 // bytes/s
	m := &model.Machine{
		Name: "ec2", Title: "EC2 node as profiled tasks saw it", Source: []string{"profile of " + j.id},
		Cores: 64, Speed: 1, Memory: 1 << 40, Disks: []model.Disk{{Read: unshared, Write: unshared, Curve: model.DiskCurve{Kind: model.NoCurve}}},
		NIC: 2e9 / j.r["NETWORK_COST"], Uplink: math.Inf(1), // two reduces of a node fetch at a time
		HeapPart: 8.0 / 9, JVMStart: j.start(),
		CPU: model.FrameworkCost{
			HDFSRead: j.m["READ_HDFS_IO_COST"], HDFSWrite: j.r["WRITE_HDFS_IO_COST"],
			LocalRead: j.m["READ_LOCAL_IO_COST"], LocalWrite: j.m["WRITE_LOCAL_IO_COST"],
			Partition: j.m["PARTITION_CPU_COST"], SerdeRecord: j.serde(t),
			Compare: j.m["SORT_CPU_COST"], Merge: j.m["MERGE_CPU_COST"],
		},
	}
	switch ratio := j.ratio(t); { // costs stay with the raw bytes
	case compressed && !j.compressed():
		m.CPU.LocalRead /= ratio
		m.CPU.LocalWrite = (m.CPU.LocalWrite + codec) / ratio
	case !compressed && j.compressed():
		m.CPU.LocalRead *= ratio
		m.CPU.LocalWrite = max(0, m.CPU.LocalWrite*ratio-codec)
	}
	for _, name := range []string{"default", "gzip"} { // of map outputs, and of inputs: within the costs of reading and writing
		free := zlibCodec(t)
		free.Name, free.Compress, free.Decompress = name, 0, 0
		m.Codecs = append(m.Codecs, free)
	}
	return m
}

// start is the time of a task before its child does anything and after it: what
// the JobTracker saw of it besides what the profiler did, the median.
func (j *ec2Job) start() time.Duration {
	var rest []float64
	for _, r := range j.maps {
		rest = append(rest, r.number("finish_s")-r.number("start_s")-j.phases["MAP"+r["task"]].number("total_run_ms")/1000)
	}
	return workload.Seconds(median(rest))
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// meanOf is the mean of a figure of tasks.
func meanOf(tasks []row, of func(row) float64) float64 {
	sum := 0.0
	for _, r := range tasks {
		sum += of(r)
	}
	return sum / float64(len(tasks))
}

// ms is the mean of a time of tasks that the profiler has, or the sum of several.
func (j *ec2Job) ms(kind string, keys ...string) float64 {
	tasks := j.maps
	if kind == "REDUCE" {
		tasks = j.reduces
	}
	return meanOf(tasks, func(r row) float64 {
		sum := 0.0
		for _, key := range keys {
			sum += j.phases[kind+r["task"]].number(key)
		}
		return sum
	})
}

// mapCPU is ns of a record. The profile leaves out what the profiler itself took
// of the map function, 3 µs for a record that it emits, and of the only spill.
func (j *ec2Job) mapCPU() float64 {
	ms := j.ms("MAP", "map_func_ms") - j.ms("MAP", "partition_ms", "serialize_ms")
	if j.ms("MAP", "spills") < 1.5 {
		ms += j.ms("MAP", "total_run_ms") - j.ms("MAP", "read_ms", "map_func_ms", "sort_and_spill_ms", "merge_ms")
	}
	return 1e6 * ms / j.m["MAP_INPUT_RECORDS"]
}

// serde is ns of a record that a map emits. The time that the profiler has for
// it contains the waits for a full buffer, which the simulation adds again.
func (j *ec2Job) serde(t *testing.T) float64 {
	t.Helper()
	spills := j.spills(t)
	if len(spills) < 2 {
		return j.m["SERDE_CPU_COST"]
	}
	spilling := 0.0 // ms, by the costs
	for _, s := range spills {
		spilling += s.Records * (j.m["COMBINE_CPU_COST"] + math.Log2(s.Records/float64(len(j.reduces)))*j.m["SORT_CPU_COST"]) / 1e6
		spilling += s.Bytes * cmp.Or(j.m["COMBINE_SIZE_SEL"], 1) * cmp.Or(j.m["INTERM_COMPRESS_RATIO"], 1) * j.m["WRITE_LOCAL_IO_COST"] / 1e6
	}
	passed := j.ms("MAP", "total_run_ms") - j.ms("MAP", "merge_ms")
	least, most := 0.0, passed
	for range 50 {
		main := (least + most) / 2
		if main+taskplan.MapWait(spills, main, spilling) < passed {
			least = main
		} else {
			most = main
		}
	}
	rest := least - j.ms("MAP", "read_ms", "partition_ms") - j.mapCPU()*j.m["MAP_INPUT_RECORDS"]/1e6
	return max(0, 1e6*rest/j.m["MAP_OUTPUT_RECORDS"])
}

// spills are those of the mean map.
func (j *ec2Job) spills(t *testing.T) []taskplan.Spill {
	t.Helper()
	var conf workload.Conf
	for _, key := range taskKeys {
		conf.Set(key, j.conf[key])
	}
	c, err := taskplan.ReadConf(conf)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.SortBuffer().Spills(j.m["MAP_OUTPUT_RECORDS"], j.m["MAP_OUTPUT_BYTES"])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// taskKeys are the settings of the jobs that their tasks read.
var taskKeys = []string{
	"io.sort.mb", "io.sort.factor", "io.sort.record.percent", "io.sort.spill.percent", "min.num.spills.for.combine",
	"mapred.reduce.parallel.copies", "mapred.job.shuffle.input.buffer.percent", "mapred.job.shuffle.merge.percent",
	"mapred.inmem.merge.threshold", "mapred.job.reduce.input.buffer.percent", "mapred.child.java.opts",
}

// reduceCPU is ns of a record, with what the profiler took of it.
func (j *ec2Job) reduceCPU() float64 {
	ms := meanOf(j.reduces, func(r row) float64 { return 1000 * (r.number("finish_s") - r.number("sort_end_s")) })
	over := ms - j.r["REDUCE"] - j.r["WRITE"]
	return j.r["REDUCE_CPU_COST"] + max(0, 1e6*over/j.r["REDUCE_INPUT_RECORDS"])
}

// cv is the coefficient of variation of the times of tasks for a byte, on nodes as
// fast as each other.
func cv(tasks []row, slow map[string]float64, time func(row) float64) float64 {
	each := func(r row) float64 { return time(r) / cmp.Or(slow[r["node"]], 1) }
	mean := meanOf(tasks, each)
	return math.Sqrt(meanOf(tasks, func(r row) float64 { return (each(r) - mean) * (each(r) - mean) })) / mean
}

// combined is the part of the map output that the combiner leaves. The profiler
// compares keys and values with the spills, which frame each record.
func (j *ec2Job) combined() float64 {
	return j.m["COMBINE_SIZE_SEL"] - taskplan.IFile.Record*j.m["COMBINE_PAIRS_SEL"]*j.m["MAP_OUTPUT_RECORDS"]/j.m["MAP_OUTPUT_BYTES"]
}

// file is the profile as a file.
func (j *ec2Job) file(t *testing.T, slow map[string]float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title = %q\nsource = [\"profile of %s\"]\nassumed = []\n", j.program, j.id)
	if in := j.m["INPUT_COMPRESS_RATIO"]; in > 0 {
		fmt.Fprintf(&b, "input_codec = \"gzip\"\n")
	}
	fmt.Fprintf(&b, "[data]\ninput_pair_width = %v\nmap_size_sel = %v\nmap_records_sel = %v\nrecords_per_group = %v\nreduce_size_sel = %v\nreduce_records_sel = %v\n",
		j.m["INPUT_PAIR_WIDTH"], j.m["MAP_SIZE_SEL"], j.m["MAP_PAIRS_SEL"], max(1, j.r["REDUCE_PAIRS_PER_GROUP"]), j.r["REDUCE_SIZE_SEL"], j.r["REDUCE_PAIRS_SEL"])
	fmt.Fprintf(&b, "[cpu]\nmap_record = %v\nreduce_record = %v\n", j.mapCPU(), j.reduceCPU())
	fmt.Fprintf(&b, "map_cv = %v\nreduce_cv = %v\n",
		cv(j.maps, slow, func(r row) float64 {
			return (r.number("finish_s") - r.number("start_s")) / r.number("map_output_bytes")
		}),
		cv(j.reduces, slow, func(r row) float64 {
			return (r.number("finish_s") - r.number("sort_end_s")) / r.number("reduce_shuffle_bytes")
		}))
	if j.m["COMBINE_PAIRS_SEL"] > 0 {
		fmt.Fprintf(&b, "[combiner]\nsize_sel = %v\nrecords_sel = %v\nrecord = %v\nagain_size_sel = %v\nagain_records_sel = %v\n",
			j.combined(), j.m["COMBINE_PAIRS_SEL"], j.m["COMBINE_CPU_COST"], j.r["COMBINE_SIZE_SEL"], j.r["COMBINE_PAIRS_SEL"])
	}
	fmt.Fprintf(&b, "[ratio]\ndefault = %v\n", j.ratio(t))
	if in := j.m["INPUT_COMPRESS_RATIO"]; in > 0 {
		fmt.Fprintf(&b, "gzip = %v\n", in)
	}
	return b.String()
}

// ec2Run is a simulated job: its time, and the attempts that succeeded.
type ec2Run struct {
	seconds float64
	tasks   [2][]workload.Attempt // maps, reduces
}

func (r *ec2Run) Attempt(a *workload.Attempt) {
	if a.State == workload.Succeeded && a.Kind <= workload.Reduce {
		r.tasks[a.Kind] = append(r.tasks[a.Kind], *a)
	}
}

// of is the median of a time of tasks of a kind, seconds.
func (r *ec2Run) of(kind workload.Kind, time func(*workload.Attempt) time.Duration) float64 {
	var v []float64
	for i := range r.tasks[kind] {
		v = append(v, time(&r.tasks[kind][i]).Seconds())
	}
	return median(v)
}

// simulate runs the job by its profile on the cluster and with the splits and
// the division among reduces that were recorded.
func (j *ec2Job) simulate(t *testing.T, jobs []*ec2Job, compressed bool, codec float64) *ec2Run {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var platform strings.Builder
	if err := scenarios.WritePlatform(&platform, j.machine(t, compressed, codec)); err != nil {
		t.Fatal(err)
	}
	write("ec2.toml", platform.String())
	slow := slowness(jobs, j)
	write("job.toml", j.file(t, slow))

	var b strings.Builder
	fmt.Fprintf(&b, "fidelity = \"device\"\n[cluster]\nhadoop = \"0.20.2\"\nplatform = \"./ec2.toml\"\n")
	var nodes []string
	for _, r := range slices.Concat(j.maps, j.reduces) {
		if !slices.Contains(nodes, r["node"]) {
			nodes = append(nodes, r["node"])
		}
	}
	slices.Sort(nodes)
	for _, n := range nodes {
		fmt.Fprintf(&b, "[[cluster.group]]\ncount = 1\nname = %q\nmap_slots = 2\nreduce_slots = 2\nslowdown = %.3f\n", n, cmp.Or(slow[n], 1))
	}
	b.WriteString("[conf]\n")
	for _, key := range append([]string{
		"mapred.reduce.slowstart.completed.maps", "dfs.block.size",
		"mapred.map.tasks.speculative.execution", "mapred.reduce.tasks.speculative.execution",
	}, taskKeys...) {
		fmt.Fprintf(&b, "%q = %q\n", key, j.conf[key])
	}
	fmt.Fprintf(&b, "\"mapred.compress.map.output\" = %v\n", compressed)
	fmt.Fprintf(&b, "\"dfs.replication\" = 1\n") // the cost of a write is that of its replicas
	input, splits := 0.0, []workload.Split{}
	for _, r := range j.maps {
		input += r.number("hdfs_bytes_read")
		splits = append(splits, workload.Split{Bytes: int64(r.number("hdfs_bytes_read")), Hosts: strings.Fields(r["replica_nodes"])})
	}
	fmt.Fprintf(&b, "[[job]]\nname = \"job\"\nprofile = \"./job.toml\"\nmaps = %d\ninput = %.0f\nreduces = %d\n", len(j.maps), input, len(j.reduces))
	write("run.toml", b.String())
	f, err := scenarios.Open(filepath.Join(dir, "run.toml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	q := s.Runs[0].Question
	shuffled := 0.0
	for _, r := range j.reduces {
		shuffled += r.number("reduce_shuffle_bytes")
	}
	for _, r := range j.reduces {
		q.Jobs[0].Reduces.Shares = append(q.Jobs[0].Reduces.Shares, r.number("reduce_shuffle_bytes")/shuffled)
	}
	q.Jobs[0].Maps.Splits, q.Jobs[0].Maps.Shares = splits, j.mapShares()
	run := &ec2Run{}
	const runs = 10 // with other first heartbeats and times of tasks: a late wave moves a job by some percent
	for seed := range runs {
		draw := rand.New(rand.NewPCG(uint64(seed), 0))
		q.Cluster.Phases, q.Seed = nil, uint64(seed)+1
		for range q.Cluster.Nodes {
			q.Cluster.Phases = append(q.Cluster.Phases, time.Duration(draw.Int64N(int64(3*time.Second))))
		}
		p, err := sim.Simulator{Recorder: run}.Predict(q)
		if err != nil {
			t.Fatal(err)
		}
		run.seconds += p.Mean.Seconds() / runs
	}
	return run
}

// mapShares is the recorded division of the data among the maps.
func (j *ec2Job) mapShares() []workload.MapShare {
	of := func(key string) func(row) float64 {
		all := meanOf(j.maps, func(r row) float64 { return r.number(key) }) * float64(len(j.maps))
		return func(r row) float64 { return r.number(key) / all }
	}
	input, in := of("hdfs_bytes_read"), of("map_input_records")
	bytes, records := of("map_output_bytes"), of("map_output_records")
	var shares []workload.MapShare
	for _, r := range j.maps {
		shares = append(shares, workload.MapShare{Input: input(r), InRecords: in(r), OutBytes: bytes(r), OutRecords: records(r)})
	}
	return shares
}

// ec2Phases are the columns of the table: times of a task, measured and
// simulated, in seconds.
var ec2Phases = []struct {
	name      string
	kind      workload.Kind
	measured  func(task, phases row) float64
	simulated func(*workload.Attempt) time.Duration
}{
	{"read", workload.Map, func(_, p row) float64 { return p.number("read_ms") / 1000 }, ofPhases(workload.PhaseRead)},
	{"map and spill", workload.Map, func(_, p row) float64 {
		return (p.number("total_run_ms") - p.number("read_ms") - p.number("merge_ms")) / 1000
	}, ofPhases(workload.PhaseMap, workload.PhaseCollect, workload.PhaseSpill)},
	{"merge", workload.Map, func(_, p row) float64 { return p.number("merge_ms") / 1000 }, ofPhases(workload.PhaseMerge)},
	{"map task", workload.Map, func(r, _ row) float64 { return r.number("finish_s") - r.number("start_s") }, (*workload.Attempt).Duration},
	{"shuffle", workload.Reduce, func(r, _ row) float64 { return r.number("shuffle_end_s") - r.number("start_s") }, ofPhases(workload.PhaseStartup, workload.PhaseShuffle)},
	{"sort", workload.Reduce, func(r, _ row) float64 { return r.number("sort_end_s") - r.number("shuffle_end_s") }, ofPhases(workload.PhaseMerge)},
	{"reduce and write", workload.Reduce, func(r, _ row) float64 { return r.number("finish_s") - r.number("sort_end_s") }, ofPhases(workload.PhaseReduce, workload.PhaseWrite, workload.PhaseCommit)},
}

func ofPhases(phases ...workload.Phase) func(*workload.Attempt) time.Duration {
	return func(a *workload.Attempt) (sum time.Duration) {
		for _, p := range phases {
			sum += a.Phases[p]
		}
		return sum
	}
}

// Phases and times of the jobs that were profiled on EC2, by the statistics and
// costs of their own profiles, on devices.
func TestProfilesOnEC2(t *testing.T) {
	const (
		near  = 0.15
		small = 0.05 // of its task: phases below do not count
	)
	jobs := readEC2(t)
	var b strings.Builder
	b.WriteString("| job |")
	for _, p := range ec2Phases {
		fmt.Fprintf(&b, " %s |", p.name)
	}
	b.WriteString(" job time |\n|---|---|---|---|---|---|---|---|---|\n")
	phases, phasesNear, times, timesNear := 0, 0, 0, 0
	for _, j := range jobs {
		if len(j.phases) == 0 {
			continue
		}
		run := j.simulate(t, jobs, j.compressed(), 0)
		fmt.Fprintf(&b, "| %s |", j.id[8:])
		for _, p := range ec2Phases {
			tasks := [...][]row{j.maps, j.reduces}[p.kind]
			var measured, whole []float64
			for _, r := range tasks {
				measured = append(measured, p.measured(r, j.phases[[...]string{"MAP", "REDUCE"}[p.kind]+r["task"]]))
				whole = append(whole, r.number("finish_s")-r.number("start_s"))
			}
			was := median(measured)
			if was < 0.1 { // a rename
				b.WriteString(" 0 |")
				continue
			}
			off := run.of(p.kind, p.simulated)/was - 1
			mark := ""
			if was >= small*median(whole) {
				phases++
				if math.Abs(off) <= near {
					phasesNear++
				} else {
					mark = "*"
				}
			}
			fmt.Fprintf(&b, " %.1f %+.1f %%%s |", was, 100*off, mark)
		}
		off := run.seconds/j.seconds - 1
		times++
		if math.Abs(off) <= near {
			timesNear++
		}
		fmt.Fprintf(&b, " %.1f %+.1f %% |\n", j.seconds, 100*off)
	}
	fmt.Fprintf(&b, "\nWithin 15 %%: %d of %d job times, %d of %d phases that take at least a twentieth of their task.\n", timesNear, times, phasesNear, phases)
	if times != 7 || timesNear < 6 {
		t.Errorf("%d of %d jobs within 15 %%: want 6 of 7", timesNear, times)
	}
	if phases != 33 || phasesNear < 24 {
		t.Errorf("%d of %d phases within 15 %%: want 24 of 33", phasesNear, phases)
	}
	evidence.Compare(t, "ec2-phases", b.String(), *update)
}

// codecCost is what compressing a byte of the map output of a job takes, ns, as
// far as two jobs of another program tell that differ in it: so much for each
// record, for which the codec is called several times, and what its bytes cost.
func codecCost(t *testing.T, on, off, of *ec2Job) float64 {
	const speed = 0.4 // of a core of EC2, as in the shipped platforms
	perByte := zlibCodec(t).Compress / speed
	perRecord := (on.m["WRITE_LOCAL_IO_COST"]*on.m["INTERM_COMPRESS_RATIO"] - off.m["WRITE_LOCAL_IO_COST"] - perByte) * on.width()
	return perRecord/of.width() + perByte
}

// What compressing the map output changes, from the profile of a run of the other
// kind.
func TestCompressionOnEC2(t *testing.T) {
	const near = 10 // points
	jobs := readEC2(t)
	find := func(id string) *ec2Job {
		i := slices.IndexFunc(jobs, func(j *ec2Job) bool { return strings.HasSuffix(j.id, id) })
		if i < 0 {
			t.Fatalf("no job %s", id)
		}
		return jobs[i]
	}
	pairs := [][2]*ec2Job{{find("0148"), find("0149")}, {find("0076"), find("0077")}}
	var b strings.Builder
	b.WriteString("| from | to | codec, ns a byte | measured s | measured change | simulated s | simulated change | points apart |\n|---|---|---|---|---|---|---|---|\n")
	for i, pair := range pairs {
		other := pairs[1-i]
		for k, from := range pair {
			to := pair[1-k]
			codec := codecCost(t, other[0], other[1], from)
			is, will := from.simulate(t, jobs, from.compressed(), 0), from.simulate(t, jobs, to.compressed(), codec)
			measured, simulated := 100*(to.seconds/from.seconds-1), 100*(will.seconds/is.seconds-1)
			fmt.Fprintf(&b, "| %s | %s | %.0f | %.1f to %.1f | %+.1f %% | %.1f to %.1f | %+.1f %% | %.1f |\n",
				from.id[8:], to.id[8:], codec, from.seconds, to.seconds, measured, is.seconds, will.seconds, simulated, math.Abs(measured-simulated))
			if measured*simulated <= 0 || math.Abs(measured-simulated) > near {
				t.Errorf("%s to %s: %+.1f %%, measured %+.1f %%: want the same sign and at most %d points between", from.id, to.id, simulated, measured, near)
			}
		}
	}
	evidence.Compare(t, "ec2-compression", b.String(), *update)
}
