package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// unknown is a number of a machine that calibration looks for. A record may tell it or
// not: what it does not tell keeps its whole range.
type unknown struct {
	fit.Unknown
	set func(m *model.Machine, value float64)
}

// state enters what is known into the machine. A file of a platform states what it does
// not list as assumed, but rates and costs, from which the search starts.
func (k *Calibrating) state(q *model.WhatIf) error {
	q.Cluster.Machines = slices.Clone(q.Cluster.Machines)
	m := &q.Cluster.Machines[0]
	if study.IsFile(k.Start) {
		for _, key := range []string{"cores", "disk.count", "memory", "nic_mb", "uplink_mb", "overlap", "page_cache", "dirty", "jvm.start"} {
			if !slices.ContainsFunc(m.Assumed, func(a string) bool { return strings.HasPrefix(a, key+":") }) {
				k.stated = append(k.stated, key)
			}
		}
	}
	list := k.unknowns(q)
	for _, text := range k.Known {
		key, value, _ := strings.Cut(text, "=")
		i := slices.IndexFunc(list, func(u unknown) bool { return u.Name == key })
		if i < 0 {
			var names []string
			for _, u := range list {
				names = append(names, u.Name)
			}
			return fmt.Errorf("--know %s: got the key %q: want one of %s", text, key, strings.Join(names, ", "))
		}
		v, err := valueOf(key, value, m)
		if err != nil {
			return fmt.Errorf("--know %s: %w", text, err)
		}
		list[i].set(m, v)
		k.stated = append(k.stated, key)
	}
	return nil
}

// valueOf reads the value of an unknown as a platform file has it.
func valueOf(key, text string, m *model.Machine) (v float64, err error) {
	switch key {
	case "overlap", "page_cache":
		yes, err := strconv.ParseBool(text)
		if err != nil {
			return 0, fmt.Errorf("got %q: want true or false", text)
		}
		if yes {
			return 2, nil
		}
		return 0.5, nil
	case "memory", "dirty":
		var bytes int64
		bytes, err = workload.ParseMemory(text, "16g")
		if v = float64(bytes); key == "dirty" {
			v /= float64(m.Memory)
		}
	case "jvm.start":
		var d time.Duration
		if d, err = time.ParseDuration(text); err != nil {
			err = fmt.Errorf("got %q: want a time such as 1.5s", text)
		}
		v = d.Seconds()
	default:
		if v, err = strconv.ParseFloat(text, 64); err != nil {
			err = fmt.Errorf("got %q: want a number", text)
		}
		if strings.HasSuffix(key, "_mb") {
			v *= 1e6
		}
	}
	if err == nil && !(v > 0 && v < 1e15) {
		err = fmt.Errorf("got %s: want more than 0", text)
	}
	return v, err
}

// unknowns lists what may differ between the machine of the record and the one
// that calibration starts from, with how far off each may be. The spreads are assumed.
func (k *Calibrating) unknowns(q *model.WhatIf) []unknown {
	const anything = math.MaxFloat64
	m := &q.Cluster.Machines[0]
	slots, heaps := slotsOf(q)
	disk, curve := m.Disks[0], m.Disks[0].Curve
	var list []unknown
	add := func(name string, likely, spread, least, most float64, set func(m *model.Machine, v float64)) {
		if likely > 0 && !slices.Contains(k.stated, name) {
			list = append(list, unknown{fit.Unknown{Name: name, Likely: likely, Spread: spread, Least: least, Most: most}, set})
		}
	}
	add("disk.read_mb", disk.Read, 0.6, 0, anything, func(m *model.Machine, v float64) { m.Disks[0].Read = v })
	add("disk.write_mb", disk.Write, 0.6, 0, anything, func(m *model.Machine, v float64) { m.Disks[0].Write = v })
	switch curve.Kind {
	case model.LinearCurve, model.FloorCurve:
		add("disk.curve.alpha", curve.Alpha, 0.5, 0, anything, func(m *model.Machine, v float64) { m.Disks[0].Curve.Alpha = v })
	case model.SeekCurve: // seek time and chunk have one effect: vary the chunk
		add("disk.curve.chunk", curve.Chunk, 0.8, 1, anything, func(m *model.Machine, v float64) { m.Disks[0].Curve.Chunk = v })
	}
	add("nic_mb", m.NIC, 1, 0, anything, func(m *model.Machine, v float64) { m.NIC = v })
	if racks := racksOf(q); racks > 1 {
		add("uplink_mb", m.NIC*math.Max(1, float64(len(q.Cluster.Nodes))/float64(2*racks)), 0.8, 0, anything, func(m *model.Machine, v float64) { m.Uplink = v })
	}
	add("speed", m.Speed, 0.6, 0, anything, func(m *model.Machine, v float64) { m.Speed = v })
	// A slot is for about 0.7 cores. Three slots have a disk, as on the clusters of the
	// papers; a desktop has one for more, a node for storage for fewer.
	add("cores", 0.7*slots, 0.6, 1, 256, func(m *model.Machine, v float64) { m.Cores = int(math.Round(v)) })
	add("disk.count", 0.35*slots, 1.0, 1, 64, func(m *model.Machine, v float64) { m.Disks = slices.Repeat(m.Disks[:1], int(math.Round(v))) })
	add("memory", 2*heaps, 0.6, heaps, anything, func(m *model.Machine, v float64) { m.Memory = int64(v) })
	add("jvm.start", 1, 0.5, 0.05, 20, func(m *model.Machine, v float64) { m.JVMStart = workload.Seconds(v) })
	// Yes above 1.
	add("overlap", 1, 1, 0, anything, func(m *model.Machine, v float64) { m.Overlap = v > 1 })
	add("page_cache", 1, 1, 0, anything, func(m *model.Machine, v float64) { m.PageCache = v > 1 })
	add("dirty", 0.01, 2, 0, 0.4, func(m *model.Machine, v float64) { m.Dirty = int64(v * float64(m.Memory)) }) // part of the memory
	for _, key := range hadoopCosts {
		add("cpu."+key, *m.CPU.Cost(key), 0.4, 0, anything, func(m *model.Machine, v float64) { *m.CPU.Cost(key) = v })
	}
	// All codecs work on the same data: they differ from the usual by the same factor.
	for _, cost := range codecCosts {
		codec := q.MapCodec()
		usual := *cost.of(&codec)
		add("codec."+codec.Name+"."+cost.key, 1.6*usual, 0.7, 0, anything, func(m *model.Machine, v float64) {
			m.Codecs = m.AllCodecs()
			for i := range m.Codecs {
				*cost.of(&m.Codecs[i]) *= v / usual
			}
		})
	}
	return list
}

// codecCosts depend on the data, beside the processor: zlib takes two to three times as
// long for the words of a text as for the corpus of its benchmark. Data of which nothing is
// known are expected between the two.
var codecCosts = []struct {
	key string
	of  func(c *model.Codec) *float64
}{
	{"compress_byte", func(c *model.Codec) *float64 { return &c.Compress }},
	{"decompress_byte", func(c *model.Codec) *float64 { return &c.Decompress }},
}

// hadoopCosts are the costs of Hadoop that differ most between releases and JVMs.
var hadoopCosts = []string{"hdfs_read_byte", "hdfs_write_byte", "serde_record", "compare", "merge_record"}

// slotsOf returns the slots of a node and the memory of their heaps.
func slotsOf(q *model.WhatIf) (slots, heap float64) {
	n := &q.Cluster.Nodes[len(q.Cluster.Nodes)/2]
	of := float64(200 << 20)
	for i := range q.Jobs {
		if size := workload.Heap(q.Jobs[i].Conf.String("mapred.child.java.opts", "")); size > 0 {
			of = float64(size)
		}
	}
	slots = math.Max(1, float64(n.MapSlots+n.ReduceSlots))
	return slots, slots * of
}

func racksOf(q *model.WhatIf) int {
	racks := map[int]bool{}
	for i := range q.Cluster.Nodes {
		racks[q.Cluster.Nodes[i].Rack] = true
	}
	return len(racks)
}

// luck returns the standard errors of the logarithms of rows. A task that waits for
// another heartbeat or reads another replica takes some percent more or less, a job of
// few tasks much more: as much as the rows of one machine differ between seeds, in the
// record and in what is compared with it.
func (c *RunCalibration) luck(q model.WhatIf, at candidate) ([]float64, error) {
	const least = 0.04
	at, _, err := c.shown(q, at)
	if err != nil {
		return nil, err
	}
	all := make([][]float64, len(c.recorded))
	for seed := range luckRuns {
		q.Seed = uint64(seed + 1)
		rows, err := c.simulate(q, at)
		if err != nil {
			return nil, err
		}
		for i, v := range c.logsOf(rows) {
			all[i] = append(all[i], v)
		}
	}
	var list []float64
	for _, logs := range all {
		list = append(list, math.Hypot(least, math.Sqrt2*stat.StdDev(logs, nil)))
	}
	return list, nil
}

// find looks for candidates that show the record's rows. The one that comes nearest is
// what was found, and others are its alternatives.
func (c *RunCalibration) find(q model.WhatIf, k *Calibrating, apart bool) error {
	start, unknowns := q.Cluster.Machines[0], k.unknowns(&q)
	e := fit.Ensemble{}
	for _, u := range unknowns {
		e.Unknowns = append(e.Unknowns, u.Unknown)
	}
	for _, row := range c.recorded {
		e.Want = append(e.Want, math.Log(row.Rows[0].MS+leastMS))
	}
	shown, kept := make([]candidate, members), make([]candidate, members)
	for i := range kept {
		for k := range c.Programs {
			p := &c.Programs[c.alike[k][0]] // those that do the same have the same costs from here on
			kept[i].costs = append(kept[i].costs, programCosts{cost: [2]float64{start.Speed * p.MapCPU, start.Speed * p.ReduceCPU}})
		}
	}
	var err error
	if e.Noise, err = c.luck(q, candidate{machine: start, costs: kept[0].costs}); err != nil {
		return err
	}
	of := func(member int, values []float64) candidate {
		m := start
		m.Disks = slices.Clone(m.Disks)
		for k, u := range unknowns {
			u.set(&m, values[k])
		}
		m.Disks = slices.Repeat(m.Disks[:1], len(m.Disks)) // they are equal
		return candidate{machine: m, costs: kept[member].costs}
	}
	e.Keep = func(member int) { kept[member] = shown[member] }
	e.Show = func(member int, values []float64) ([]float64, error) {
		at, rows, err := c.shown(q, of(member, values))
		shown[member] = at
		return c.logsOf(rows), err
	}
	found, err := e.Find(members, passes, steps, k.Seed)
	if err != nil {
		return err
	}
	if c.found, c.simulated, err = c.fitted(q, kept[found[0].Number]); err != nil {
		return err
	}
	c.Machine = c.found.machine
	if err := c.findScatter(q, apart); err != nil {
		return err
	}
	if c.varied() {
		if c.found, c.simulated, err = c.fitted(q, c.found); err != nil {
			return err
		}
	}
	c.found.misfits = c.misfits(c.simulated)
	options := study.Options{Seed: k.Seed}
	for n, m := range found[1 : alternatives+1] {
		other, asked := kept[m.Number], q
		asked.Seed = options.SeedOf(n + 1) // as run asks it, so that what nothing changes comes back as recorded
		rows, err := c.simulate(asked, other)
		if err != nil {
			return err
		}
		other.misfits = c.misfits(rows)
		c.alternatives = append(c.alternatives, other)
	}
	off := math.Sqrt(c.off(c.simulated) / float64(len(c.recorded)))
	if off > explained {
		c.warnings = append(c.warnings, fmt.Sprintf("the misfit of times of tasks and jobs is %.0f %% (root mean square): no machine that was tried explains the record, and each key is known less than its interval says", 100*off))
	}
	slots, _ := slotsOf(&q)
	for k, u := range unknowns {
		f := foundKey{key: u.Name, found: found[0].Values[k], low: math.Inf(1), spread: u.Spread, unexplained: off > explained}
		var logs []float64
		for _, m := range found[:alternatives+1] {
			v := m.Values[k]
			f.low, f.high, logs = math.Min(f.low, v), math.Max(f.high, v), append(logs, math.Log(v))
		}
		if f.error = stat.StdDev(logs, nil); u.Name == "cores" && (f.found > threads*slots || f.found < slots/threads/2) {
			c.warnings = append(c.warnings, fmt.Sprintf("cores: found %.0f for %.0f slots of a node: state them, with --know cores=N (nproc on a recorded machine)", f.found, slots))
		}
		c.keys = append(c.keys, f)
	}
	return nil
}

// explained is how far off times may be on a machine that explains the record; threads are
// what a task computes with at most.
const explained, threads = 0.2, 2

// logsOf returns the logarithms of the recorded rows in a simulation.
func (c *RunCalibration) logsOf(rows platform.Profile) (logs []float64) {
	for _, row := range c.recorded {
		logs = append(logs, math.Log(math.Max(0, rowOf(rows, row.Phase))+leastMS))
	}
	return logs
}

// misfits returns the recorded time of the jobs of each program, relative to the
// simulated.
func (c *RunCalibration) misfits(rows platform.Profile) (list []float64) {
	for i := range c.Programs {
		misfit := 1.0
		if want, got, jobs := c.meansOf(c.jobs[i], jobRow, rows); jobs > 0 && want > 0 && got > 0 {
			misfit = want / got
		}
		list = append(list, misfit)
	}
	return list
}
