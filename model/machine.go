package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/taskplan"
)

// Machine is one type of node: its hardware, and the costs of Hadoop on it.
type Machine struct {
	Name, Title string
	Source      []string
	Assumed     []string  // values that the source does not state, as KEY: the assumed value
	Described   Described // by the platform, where a scenario may set others; zero: unknown

	Cores  int
	SMT    []float64 // throughput of a core with 1, 2, ... threads, relative to one thread; nil: one thread per core
	Speed  float64   // of a core with one thread, relative to the core for which CPU costs are stated
	Memory int64     // bytes
	Dirty  int64     // bytes of written data that may wait in memory for the disks (vm.dirty_ratio of Linux); 0: writes wait for the disks
	Disks  []Disk    // that hold HDFS blocks and map outputs
	NIC    float64   // bytes/s each way
	Uplink float64   // bytes/s of a rack each way; +Inf: no limit

	JVMStart time.Duration // of a task
	HeapPart float64       // share of -Xmx that the JVM reports as its memory

	// Overlap says that a thread computes while the system reads ahead and writes
	// behind for it. Otherwise the thread waits for its I/O, as in the published
	// models.
	Overlap bool
	// WriteTurn is the bytes of output for which a task reads, computes and writes to
	// HDFS in turn; 0: it writes all of its output after it has read its input.
	WriteTurn int64
	// PageCache means that a node keeps data that its tasks wrote in the
	// memory beyond their heaps, and reads it from there.
	PageCache bool

	CPU    FrameworkCost
	Fitted Fitted  // times of phases in place of devices and of CPU; nil: none
	Codecs []Codec // replace those of the same names in Codecs

	// MeasuredWith names the codecs of map outputs and of job outputs whose work is in
	// the costs of reading, writing and copying; empty: in none. What another codec
	// would cost cannot be told from such costs.
	MeasuredWith [2]string
}

// Described is the hardware in figures: what a platform states of its machines,
// whatever a scenario sets.
type Described struct {
	Cores  int
	Speed  float64
	Memory int64
	Disks  int
	Rate   float64 // mean of the disks, bytes/s that one stream reads
	NIC    float64
}

// Describe returns the figures of a machine.
func (m *Machine) Describe() Described {
	d := Described{Cores: m.Cores, Speed: m.Speed, Memory: m.Memory, Disks: len(m.Disks), NIC: m.NIC}
	for _, disk := range m.Disks {
		d.Rate += disk.Read / float64(len(m.Disks))
	}
	return d
}

// Disk is one device, with the rates of a single stream, bytes/s.
type Disk struct {
	Read, Write float64
	Curve       DiskCurve
}

// DiskCurve is the throughput of a disk with n streams, relative to one stream.
type DiskCurve struct {
	Kind  CurveKind
	Alpha float64       // linear, floor: 1/(1+Alpha(n-1))
	Least float64       // floor: never below
	Chunk float64       // seek: bytes that a stream reads between two seeks
	Seek  time.Duration // seek: time of one
}

// CurveKind names a DiskCurve.
type CurveKind string

// The kinds of curves.
const (
	NoCurve     CurveKind = "none"
	LinearCurve CurveKind = "linear"
	FloorCurve  CurveKind = "floor"
	SeekCurve   CurveKind = "seek"
)

// CurveKinds lists the kinds of curves.
var CurveKinds = []CurveKind{NoCurve, LinearCurve, FloorCurve, SeekCurve}

// FrameworkCost is the CPU cost of Hadoop itself, ns of a core of Speed 1.
type FrameworkCost struct {
	HDFSRead, HDFSWrite   float64 // per stored byte: checksums, sockets, copies
	LocalRead, LocalWrite float64 // per stored byte of spills and merges, in addition to the cost per record
	Partition             float64 // per record that a map emits
	SerdeRecord           float64 // per record that a map emits
	SerdeByte             float64 // per byte that a map emits
	Compare               float64 // per comparison of the sort, including the writing of the sorted records
	Merge                 float64 // per record merged
	Fetch                 float64 // per byte of map output that is fetched: HTTP, checksums, copies
	Open                  float64 // per HDFS file that is read or written
	Cold                  float64 // records: n of a phase take as long as n + sqrt(Cold n) of a warm JVM
}

// NamedCost is a cost of Hadoop and its key in [cpu] of a platform.
type NamedCost struct {
	Key string
	NS  *float64
}

// Named lists the costs in the order of a platform file.
func (c *FrameworkCost) Named() []NamedCost {
	return []NamedCost{
		{"hdfs_read_byte", &c.HDFSRead}, {"hdfs_write_byte", &c.HDFSWrite},
		{"local_read_byte", &c.LocalRead}, {"local_write_byte", &c.LocalWrite},
		{"partition_record", &c.Partition}, {"serde_record", &c.SerdeRecord}, {"serde_byte", &c.SerdeByte},
		{"compare", &c.Compare}, {"merge_record", &c.Merge},
		{"fetch_byte", &c.Fetch}, {"open_file", &c.Open}, {"cold_records", &c.Cold},
	}
}

// Cost returns the cost with a key.
func (c *FrameworkCost) Cost(key string) *float64 {
	list := c.Named()
	return list[slices.IndexFunc(list, func(n NamedCost) bool { return n.Key == key })].NS
}

// MeasuredCost is the medians of maps and reduces of a stock Hadoop 0.20.2 on one
// machine with two server CPUs and all data in the page cache. Assumed: how the
// time of collecting divides into its parts, and that writing a sorted record
// costs the same wherever it goes.
var MeasuredCost = FrameworkCost{
	HDFSRead: 4.1, HDFSWrite: 2.9, // a sort of 10 kB records, ns per byte
	Partition: 100, SerdeRecord: 200, SerdeByte: 0.4, // 270 to 450 ns for 15 to 100 bytes, 4.6 µs for 10 kB
	Compare: 110, // 25 to 82 ns, and 1.1 µs to write a record spread over its comparisons
	Merge:   500, // 0.5 to 0.9 µs with its I/O
}

// Threads returns the number of hardware threads.
func (m *Machine) Threads() int { return m.Cores * max(1, len(m.SMT)) }

// Check reports every error in the machine.
func (m *Machine) Check() error {
	var c input.Check
	c.Count("cores", m.Cores, 1)
	for i, gain := range m.SMT {
		if least := m.SMT[max(0, i-1)]; i == 0 && gain != 1 || !(gain >= least && gain <= least*float64(i+1)/float64(max(1, i))) {
			c.Fail("smt", "%v: want 1, then the work with 2, 3, ... threads: not less in total, not more per thread", m.SMT)
			break
		}
	}
	c.Above("speed", m.Speed, 0)
	c.AtLeast("memory", float64(m.Memory), 1)
	c.AtLeast("dirty", float64(m.Dirty), 0)
	c.AtLeast("write_turn", float64(m.WriteTurn), 0)
	c.Count("disks", len(m.Disks), 1)
	for _, d := range m.Disks {
		c.Above("disk.read", d.Read, 0)
		c.Above("disk.write", d.Write, 0)
		c.AtLeast("disk.curve.alpha", d.Curve.Alpha, 0)
		c.Within("disk.curve.least", d.Curve.Least, 0, 1)
		if d.Curve.Kind == SeekCurve {
			c.Above("disk.curve.chunk", d.Curve.Chunk, 0)
		}
		if !slices.Contains(CurveKinds, d.Curve.Kind) {
			c.Fail("disk.curve.kind", "unknown %q", d.Curve.Kind)
		}
	}
	c.Above("nic", m.NIC, 0)
	if !(m.Uplink > 0) {
		c.Fail("uplink", "%v: want more than 0", m.Uplink)
	}
	c.Part("heap_part", m.HeapPart)
	for _, codec := range m.Codecs {
		c.AtLeast("codec."+codec.Name+".compress", codec.Compress, 0)
		c.AtLeast("codec."+codec.Name+".decompress", codec.Decompress, 0)
		c.Part("codec."+codec.Name+".ratio", codec.Ratio)
	}
	return c.Err()
}

// AllCodecs returns the codecs with the costs that they have on this machine.
func (m *Machine) AllCodecs() []Codec {
	all := slices.Clone(Codecs[1:])
	for i := range all {
		if own := slices.IndexFunc(m.Codecs, func(c Codec) bool { return c.Name == all[i].Name }); own >= 0 {
			all[i] = m.Codecs[own]
		}
	}
	return all
}

// codec returns the codec of a class on this machine, or none if it is not used.
func (m *Machine) codec(used bool, key, class string) (Codec, error) {
	if !used {
		class = "none"
	}
	c, err := FindCodec(class)
	if i := slices.IndexFunc(m.Codecs, func(own Codec) bool { return own.Name == c.Name }); err == nil && i >= 0 {
		c = m.Codecs[i]
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", key, err)
	}
	return c, err
}

// measuredWith refuses codecs whose work the costs of the machine do not tell.
func (m *Machine) measuredWith(interm, out Codec) error {
	for i, of := range []struct {
		property string
		codec    Codec
	}{{"mapred.compress.map.output", interm}, {"mapred.output.compress", out}} {
		if with := m.MeasuredWith[i]; with != "" && with != of.codec.Name {
			return fmt.Errorf("%s: got codec %s: the costs of the platform contain the work of codec %s and tell no other: want the platform that slotwave platform calibrate makes of a job history, or a profile of a run with codec %s",
				of.property, of.codec.Name, with, of.codec.Name)
		}
	}
	return nil
}

// Program is the work of a job's own code on its data, with its costs.
type Program struct {
	Name, Title string
	Source      []string
	Assumed     []string // values that the source does not state, as KEY: the assumed value

	Data     taskplan.Data // compression ratios are in Ratios instead
	Combiner bool
	Again    *taskplan.Selectivity // of the combiner on data that it has combined before; nil: as on other data
	InCodec  string                // of the input; empty: not compressed
	Keys     float64               // distinct keys in the map output of the job; 0: unknown
	Ratios   map[string]float64    // compressed/uncompressed by codec; nil: the ratios of the codecs

	MapCPU, ReduceCPU, CombineCPU float64 // ns of a core of Speed 1 per record into each

	// Misfit is the recorded time of its jobs relative to the simulated, where a
	// calibration found the program; 0: not known.
	Misfit float64

	// CV is the coefficient of variation of the time that maps, and reduces, of equal
	// work take on a core.
	CV [2]float64
}

// Planner returns the planner of a program's tasks alone on a machine: one stream
// on every device. HDFS writes go at the rate of the slowest device in the
// pipeline.
func (m *Machine) Planner(program *Program, conf taskplan.Conf, reduces int) (*taskplan.Planner, error) {
	in, err0 := m.codec(program.InCodec != "", "input", program.InCodec)
	interm, err1 := m.codec(conf.IntermCompressed, "mapred.map.output.compression.codec", conf.IntermCodec)
	out, err2 := m.codec(conf.OutCompressed, "mapred.output.compression.codec", conf.OutCodec)
	if err := errors.Join(err0, err1, err2, m.measuredWith(interm, out), m.fits(program, &conf), m.Check()); err != nil {
		return nil, err
	}
	ratio := func(c Codec) float64 {
		if r, ok := program.Ratios[c.Name]; ok {
			return r
		}
		return c.Ratio
	}
	d := program.Data
	d.InputRatio, d.IntermRatio, d.OutRatio = ratio(in), ratio(interm), ratio(out)
	width := 0.0 // bytes of a map output record
	if d.MapRecsSel > 0 {
		width = d.InputPairWidth * d.MapSizeSel / d.MapRecsSel
	}
	conf.MapHeap = int64(float64(conf.MapHeap) * m.HeapPart)
	conf.ReduceHeap = int64(float64(conf.ReduceHeap) * m.HeapPart)
	disk := m.Disks[0]
	write := disk.Write
	if conf.Replication > 1 {
		write = math.Min(write, m.NIC)
	}
	cpu := func(ns float64) float64 { return ns / m.Speed }
	readBack := 1e9 / disk.Read
	if m.PageCache { // a task alone has enough memory for its files
		readBack = 0
	}
	return taskplan.NewPlanner(taskplan.Planner{
		Conf: conf, Data: d, Reduces: reduces,
		Combiner: program.Combiner, InCompressed: program.InCodec != "", Keys: program.Keys, Again: program.Again,
		Framing: taskplan.IFile, Overlap: m.Overlap, WriteTurn: float64(m.WriteTurn),
		ReadCPU: cpu(m.CPU.HDFSRead), WriteCPU: cpu(m.CPU.HDFSWrite),
		LocalReadCPU: cpu(m.CPU.LocalRead), LocalWriteCPU: cpu(m.CPU.LocalWrite),
		FetchCPU: cpu(m.CPU.Fetch), OpenCPU: cpu(m.CPU.Open),
		Cold: m.CPU.Cold, RecordCPU: cpu(m.CPU.Partition + m.CPU.SerdeRecord),
		Cost: taskplan.Cost{
			HDFSRead: 1e9 / disk.Read, HDFSWrite: 1e9 / write,
			LocalRead: readBack, LocalWrite: 1e9 / disk.Write, Network: 1e9 / m.NIC,
			MapCPU: cpu(program.MapCPU), ReduceCPU: cpu(program.ReduceCPU), CombineCPU: cpu(program.CombineCPU),
			PartitionCPU: cpu(m.CPU.Partition), SerdeCPU: cpu(m.CPU.SerdeRecord + float64(width*m.CPU.SerdeByte)),
			SortCPU: cpu(m.CPU.Compare), MergeCPU: cpu(m.CPU.Merge),
			// The report counts decompression per compressed byte.
			InUncompr:     cpu(in.Decompress / d.InputRatio),
			IntermUncompr: cpu(interm.Decompress / d.IntermRatio), IntermCompr: cpu(interm.Compress),
			OutCompr: cpu(out.Compress),
		},
	})
}

// Fitted is the measured time of the phases of Zhang's platform model. It replaces
// the devices and the costs of Hadoop of a machine.
type Fitted interface {
	// Phase returns the time of read, collect, spill, merge, shuffle or write for
	// the given MiB, ms.
	Phase(phase string, mb float64) float64
}
