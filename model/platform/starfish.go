package platform

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
)

// StarfishProfile is a job profile of Starfish's profiler: means over the tasks of
// a job. Its costs are times that passed in tasks on busy nodes, in ns per byte or
// record.
type StarfishProfile struct {
	Job  string
	Maps int // tasks, also of other inputs
	m, r starfishTask
	rest int // maps of other inputs

	// Recorded mean times of a map after the start of its JVM and of the reduce
	// phase, ms; 0: not recorded. They contain the time that the profiler itself
	// took, which is in none of its figures.
	MapTime, ReduceTime float64

	measured float64 // sum of the times of all phases of all maps, ms
}

// starfishTask is the part of a profile on maps of one input, or on reduces.
type starfishTask struct {
	tasks  int
	figure map[string]float64 // counters, statistics, cost factors (ns) and timings (ms) by Starfish's names
}

// starfishHeader begins a table of profiles.
const starfishHeader = "job\tprofile\tside\tinput_index\tnum_tasks\tkind\tkey\tvalue"

// IsStarfish reports whether a file begins as a profile of Starfish does: as XML of
// its profiler, or as a table with the same names.
func IsStarfish(head []byte) bool {
	return bytes.HasPrefix(head, []byte(starfishHeader)) || bytes.Contains(head, []byte("<job_profile"))
}

// ReadStarfish reads the profiles of a file.
func ReadStarfish(r io.Reader) ([]StarfishProfile, error) {
	in := bufio.NewReader(r)
	head, _ := in.Peek(len(starfishHeader))
	if string(head) == starfishHeader {
		return readStarfishTable(in)
	}
	type figure struct {
		Key   string  `xml:"key,attr"`
		Value float64 `xml:"value,attr"`
	}
	type task struct {
		Tasks      int      `xml:"num_tasks,attr"`
		Counters   []figure `xml:"counters>counter"`
		Statistics []figure `xml:"statistics>statistic"`
		Costs      []figure `xml:"cost_factors>cost_factor"`
		Timings    []figure `xml:"timings>timing"`
	}
	var x struct {
		XMLName xml.Name `xml:"job_profile"`
		ID      string   `xml:"id,attr"`
		Maps    []task   `xml:"map_profile"`
		Reduces []task   `xml:"reduce_profile"`
	}
	if err := xml.NewDecoder(in).Decode(&x); err != nil {
		return nil, fmt.Errorf("not a profile of Starfish: %w", err)
	}
	p := StarfishProfile{Job: x.ID}
	taken := func(t task) starfishTask {
		s := starfishTask{t.Tasks, map[string]float64{}}
		for _, list := range [][]figure{t.Counters, t.Statistics, t.Costs, t.Timings} {
			for _, f := range list {
				s.figure[f.Key] = f.Value
			}
		}
		return s
	}
	for _, t := range x.Maps {
		p.addMaps(taken(t))
	}
	for _, t := range x.Reduces {
		p.r = taken(t)
	}
	return []StarfishProfile{p}, p.check()
}

// addMaps keeps the input that most maps read.
func (p *StarfishProfile) addMaps(t starfishTask) {
	p.Maps += t.tasks
	if t.tasks > p.m.tasks {
		p.m = t
	}
	p.rest = p.Maps - p.m.tasks
	for _, phase := range []string{"SETUP", "READ", "MAP", "COLLECT", "SPILL", "MERGE", "CLEANUP"} {
		p.measured += float64(float64(t.tasks) * t.figure[phase])
	}
}

func readStarfishTable(in io.Reader) ([]StarfishProfile, error) {
	type part struct {
		side, input string
		task        starfishTask
	}
	var order []string
	parts := map[string][]*part{}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		cells := strings.Split(lines.Text(), "\t")
		if n == 1 {
			continue
		}
		if len(cells) != 8 {
			return nil, fmt.Errorf("line %d: got %d columns: want 8", n, len(cells))
		}
		tasks, err1 := strconv.Atoi(cells[4])
		value, err2 := strconv.ParseFloat(cells[7], 64)
		if err1 != nil || err2 != nil || tasks < 1 || cells[2] != "map" && cells[2] != "reduce" {
			return nil, fmt.Errorf("line %d: got %q: want a job, map or reduce, a number of tasks, a key and a value", n, lines.Text())
		}
		job := cells[0]
		if parts[job] == nil {
			order = append(order, job)
		}
		i := slices.IndexFunc(parts[job], func(p *part) bool { return p.side == cells[2] && p.input == cells[3] })
		if i < 0 {
			i = len(parts[job])
			parts[job] = append(parts[job], &part{cells[2], cells[3], starfishTask{tasks, map[string]float64{}}})
		}
		parts[job][i].task.figure[cells[6]] = value
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	var all []StarfishProfile
	for _, job := range order {
		p := StarfishProfile{Job: job}
		for _, part := range parts[job] {
			if part.side == "map" {
				p.addMaps(part.task)
			} else {
				p.r = part.task
			}
		}
		if err := p.check(); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, errors.New("no profile found")
	}
	return all, nil
}

// check reports figures without which a profile says too little.
func (p *StarfishProfile) check() error {
	for _, key := range []string{"MAP_INPUT_RECORDS", "MAP_CPU_COST", "READ_HDFS_IO_COST", "INPUT_PAIR_WIDTH", "MAP_SIZE_SEL", "MAP_PAIRS_SEL"} {
		if v, known := p.m.figure[key]; !known || !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("job %s: %s of maps: got %v: want a number above 0", p.Job, key, v)
		}
	}
	for _, t := range []starfishTask{p.m, p.r} {
		for _, key := range slices.Sorted(maps.Keys(t.figure)) {
			if v := t.figure[key]; !(v >= 0) || math.IsInf(v, 0) {
				return fmt.Errorf("job %s: %s: got %v: want a number from 0", p.Job, key, v)
			}
		}
	}
	return nil
}

// Costs returns the costs of the job's own code: of maps and reduces for a record
// of their input, and of the combiner for one of its input, ns. The time of the
// profiler itself is in the costs of maps with one spill, whose phases follow each
// other, and of reduces.
func (p *StarfishProfile) Costs() (perMap, perReduce, combine float64) {
	m, r := p.m.figure, p.r.figure
	perMap, perReduce = m["MAP_CPU_COST"], r["REDUCE_CPU_COST"]
	if p.MapTime > 0 && m["MAP_NUM_SPILLS"] < 1.5 {
		perMap += 1e6 * math.Max(0, p.MapTime-p.measured/float64(p.Maps)) / m["MAP_INPUT_RECORDS"]
	}
	if records := r["REDUCE_INPUT_RECORDS"]; p.ReduceTime > 0 && records > 0 {
		perReduce += 1e6 * math.Max(0, p.ReduceTime-r["SETUP"]-r["REDUCE"]-r["WRITE"]-r["CLEANUP"]) / records
	}
	return perMap, perReduce, m["COMBINE_CPU_COST"]
}

// Machine returns a node as the profiled tasks saw it. Their costs contain their
// waits for devices; the node has devices for all of them, so that no task waits
// twice. What a profile does not hold is that of another machine, and listed.
func (p *StarfishProfile) Machine(start model.Machine) model.Machine {
	const (
		unshared = 1e15 // bytes/s
		cores    = 64
	)
	m := start
	m.Title = "Node as the profiled tasks of " + p.Job + " saw it"
	m.Cores, m.SMT, m.Speed, m.Dirty, m.Overlap, m.PageCache, m.Fitted = cores, nil, 1, 0, false, false, nil
	m.Disks = []model.Disk{{Read: unshared, Write: unshared, Curve: model.DiskCurve{Kind: model.NoCurve}}}
	m.NIC, m.Uplink = unshared, math.Inf(1)
	m.Source, m.Assumed = nil, nil
	assume := func(key, why string) { m.Assumed = append(m.Assumed, key+": "+why) }
	const waits = "devices for all tasks: the costs contain the waits of the profiled tasks for devices"
	for _, key := range []string{"cores", "disk.read_mb", "disk.write_mb", "nic_mb"} {
		assume(key, waits)
	}
	for _, key := range []string{"memory", "jvm.start", "jvm.heap_part"} {
		assume(key, "as in "+start.Name+"; a profile does not hold it")
	}
	m.CPU = model.FrameworkCost{}
	for _, cost := range []struct {
		key       string
		of        *starfishTask
		name, was string // of Starfish; of reduces, if only the cost of maps is used
	}{
		{"hdfs_read_byte", &p.m, "READ_HDFS_IO_COST", ""},
		{"hdfs_write_byte", &p.r, "WRITE_HDFS_IO_COST", ""},
		{"local_read_byte", &p.m, "READ_LOCAL_IO_COST", "READ_LOCAL_IO_COST"},
		{"local_write_byte", &p.m, "WRITE_LOCAL_IO_COST", "WRITE_LOCAL_IO_COST"},
		{"partition_record", &p.m, "PARTITION_CPU_COST", ""},
		{"serde_record", &p.m, "SERDE_CPU_COST", ""},
		{"compare", &p.m, "SORT_CPU_COST", ""},
		{"merge_record", &p.m, "MERGE_CPU_COST", "MERGE_CPU_COST"},
		{"fetch_byte", &p.r, "NETWORK_COST", ""},
	} {
		v, known := cost.of.figure[cost.name]
		if *m.CPU.Cost(cost.key) = v; !known {
			*m.CPU.Cost(cost.key) = *start.CPU.Cost(cost.key)
			assume("cpu."+cost.key, "as in "+start.Name+"; the profile has no "+cost.name)
		} else if of := p.r.figure[cost.was]; of > 0 && math.Abs(of/v-1) > 0.01 {
			assume("cpu."+cost.key, fmt.Sprintf("that of maps, also in reduces, whose %s is %.3g ns", cost.was, of))
		}
	}
	if serde, waited := p.serde(); waited {
		m.CPU.SerdeRecord = serde
		assume("cpu.serde_record", fmt.Sprintf("%.4g ns of the profile without the waits of maps for their full buffer, with the default of io.sort.spill.percent", p.m.figure["SERDE_CPU_COST"]))
	}
	if p.rest > 0 {
		assume("cpu.hdfs_read_byte", fmt.Sprintf("of the input that %d of %d maps read, as all costs of maps", p.m.tasks, p.Maps))
	}
	m.Codecs = p.codecs(&m)
	m.MeasuredWith = p.measuredWith()
	return m
}

// measuredWith names the codecs whose work the profile does not count apart.
func (p *StarfishProfile) measuredWith() (with [2]string) {
	for i, codec := range []struct{ ratio, cost string }{
		{"INTERM_COMPRESS_RATIO", "INTERM_COMPRESS_CPU_COST"},
		{"OUT_COMPRESS_RATIO", "OUTPUT_COMPRESS_CPU_COST"},
	} {
		_, used := p.r.figure[codec.ratio]
		switch {
		case !used:
			with[i] = "none"
		case p.m.figure[codec.cost]+p.r.figure[codec.cost] == 0:
			with[i] = "default"
		}
	}
	return with
}

// codecs returns zlib with the costs of the profile. Those of map outputs are per
// stored byte for reading and per raw byte for writing. What the profile does not
// count apart is in the costs of reading and writing.
func (p *StarfishProfile) codecs(m *model.Machine) []model.Codec {
	f := p.m.figure
	output, outputs := f["INTERM_COMPRESS_RATIO"]
	input, inputs := f["INPUT_COMPRESS_RATIO"]
	if !outputs && !inputs {
		return slices.Clone(m.Codecs)
	}
	var codecs []model.Codec
	for _, c := range []struct {
		name                 string
		compress, decompress float64
	}{
		{"default", f["INTERM_COMPRESS_CPU_COST"], f["INTERM_UNCOMPRESS_CPU_COST"] * output},
		{"gzip", f["INTERM_COMPRESS_CPU_COST"], f["INPUT_UNCOMPRESS_CPU_COST"] * input},
	} {
		codec, err := model.FindCodec(c.name)
		if err != nil {
			continue
		}
		codec.Compress, codec.Decompress = c.compress, c.decompress
		codecs = append(codecs, codec)
	}
	return codecs
}

// serde returns the cost of serialising a record without the time that maps waited
// for room in their buffer while an earlier part of it was spilled, which the time
// of serialising contains and a simulation adds again.
func (p *StarfishProfile) serde() (ns float64, waited bool) {
	const spillPercent = 0.8 // default of io.sort.spill.percent
	f := p.m.figure
	n, records, each := int(f["MAP_NUM_SPILLS"]+0.5), f["MAP_OUTPUT_RECORDS"], f["MAP_RECS_PER_BUFF_SPILL"]
	if n < 2 || records <= 0 || f["SPILL"] <= 0 || f["MAP"] <= 0 || f["COLLECT"] <= 0 {
		return 0, false
	}
	if each <= 0 || each*float64(n-1) >= records {
		each = records / float64(n)
	}
	var spills []taskplan.Spill
	for i := range n {
		s := taskplan.Spill{Records: each, Room: each * (1/spillPercent - 1)}
		if i == n-1 {
			s.Records = records - each*float64(n-1)
		}
		s.Bytes = s.Records * f["MAP_OUTPUT_BYTES"] / records
		spills = append(spills, s)
	}
	last := f["SPILL"] * spills[n-1].Records / records // after the map function
	passed := f["READ"] + f["MAP"] + f["COLLECT"] + last
	if p.MapTime > 0 && p.rest == 0 {
		passed = p.MapTime - f["MERGE"]
	}
	least, most := 0.0, passed
	for range 50 {
		main := (least + most) / 2
		if main+taskplan.MapWait(spills, main, f["SPILL"]) < passed {
			least = main
		} else {
			most = main
		}
	}
	partition := f["PARTITION_CPU_COST"] * records / 1e6 // ms
	return math.Max(0, 1e6*(least-f["READ"]-f["MAP"]-partition)/records), true
}

// Program returns the job's own code from the statistics and costs of the profile.
func (p *StarfishProfile) Program() model.Program {
	s, r := p.m.figure, p.r.figure
	program := model.Program{Name: p.Job, Title: p.Job, Data: taskplan.Data{
		InputPairWidth: s["INPUT_PAIR_WIDTH"], MapSizeSel: s["MAP_SIZE_SEL"], MapRecsSel: s["MAP_PAIRS_SEL"],
		RecsPerGroup: math.Max(1, r["REDUCE_PAIRS_PER_GROUP"]), ReduceSizeSel: r["REDUCE_SIZE_SEL"], ReduceRecsSel: r["REDUCE_PAIRS_SEL"],
		CombineSizeSel: 1, CombineRecsSel: 1,
	}}
	program.MapCPU, program.ReduceCPU, program.CombineCPU = p.Costs()
	if sel := s["COMBINE_PAIRS_SEL"]; sel > 0 && sel <= 1 && s["COMBINE_SIZE_SEL"] > 0 && s["MAP_OUTPUT_BYTES"] > 0 {
		program.Combiner, program.Data.CombineRecsSel = true, sel
		// The profiler compares spills, which frame each record, with keys and values.
		framing := taskplan.IFile.Record * s["MAP_OUTPUT_RECORDS"] / s["MAP_OUTPUT_BYTES"]
		size := s["COMBINE_SIZE_SEL"] - float64(framing*sel)
		program.Data.CombineSizeSel = math.Max(0.01*sel, math.Min(1, size))
		if again := r["COMBINE_PAIRS_SEL"]; r["COMBINE_INPUT_RECORDS"] > 0 && again > 0 && again <= 1 {
			program.Again = &taskplan.Selectivity{Size: math.Min(1, r["COMBINE_SIZE_SEL"]), Records: again}
		}
	} else {
		program.CombineCPU = 0
	}
	if ratio := s["INTERM_COMPRESS_RATIO"]; ratio > 0 && ratio <= 1 {
		program.Ratios = map[string]float64{"default": ratio}
	}
	if ratio := s["INPUT_COMPRESS_RATIO"]; ratio > 0 && ratio <= 1 {
		program.InCodec = "gzip"
		if program.Ratios == nil {
			program.Ratios = map[string]float64{}
		}
		program.Ratios["gzip"] = ratio
	}
	return program
}
