// Package taskplan plans the work of one map or reduce task. The steps on the CPU,
// the disks and the network follow from its data, its configuration and the costs
// of its machine (MapTask, ReduceTask and Merger of Hadoop 0.20.2 and 1.x;
// Herodotou, CS-2011-05). Analytic models sum the steps, and the simulator
// executes them.
package taskplan

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// Resource serves a step of a plan.
type Resource uint8

// The resources. Work is nanoseconds of one core on CPU, and bytes on the others.
const (
	CPU Resource = iota
	HDFSRead
	HDFSWrite
	LocalRead
	LocalWrite
	Network
)

// Step is one piece of work of a task. Two threads serve the steps of a plan, each
// in the order of the plan. A background step begins when every step before it is
// done. Other steps do not wait for the background, except that a step begins only
// when its first Spills spills are done. A step and the Joined steps after it
// begin together and end together: those on the CPU run one after the other, and
// those that read and write run at the same time.
type Step struct {
	Phase      workload.Phase
	Resource   Resource
	Work       float64 // ns of one core, or bytes
	Background bool    // served by the spill thread
	Spills     int     // spills that must be done before the step begins
	Joined     bool    // runs together with the step before it
}

// Steps is the work of a task, or of a part of one.
type Steps []Step

// add appends a step, unless its work is 0.
func (s *Steps) add(phase workload.Phase, r Resource, work float64) {
	if work > 0 {
		*s = append(*s, Step{Phase: phase, Resource: r, Work: work})
	}
}

// computed returns the time of cores of the steps, ns.
func (s Steps) computed() (ns float64) {
	for i := range s {
		if s[i].Resource == CPU {
			ns += s[i].Work
		}
	}
	return ns
}

// Together returns step i and the steps joined to it.
func (s Steps) Together(i int) Steps {
	end := i + 1
	for end < len(s) && s[end].Joined {
		end++
	}
	return s[i:end]
}

// join joins the steps from first on, if the system reads ahead and writes behind.
func (p *Planner) join(s Steps, first int) {
	for i := first + 1; i < len(s); i++ {
		s[i].Joined = p.Overlap
	}
}

// joinOutput joins the steps from first on, which write to HDFS. If the task writes
// in turn, they follow one another in equal pieces instead.
func (p *Planner) joinOutput(s *Steps, first int, written float64) {
	if p.WriteTurn == 0 {
		p.join(*s, first)
		return
	}
	const most = 1000 // smaller pieces change little
	piece, pieces := slices.Clone((*s)[first:]), max(1, min(most, math.Ceil(written/p.WriteTurn)))
	for i := range piece {
		piece[i].Work /= pieces
	}
	*s = append((*s)[:first], slices.Repeat(piece, int(pieces))...)
}

// spend passes the times of joined steps to their phases, ns: first the CPU time,
// then the I/O time beyond the CPU time.
func (s Steps) spend(c Cost, to func(workload.Phase, float64)) {
	var computed, moved float64
	for _, step := range s {
		if step.Resource == CPU {
			t := c.Time(step)
			computed += t
			to(step.Phase, t)
		}
	}
	for _, step := range s {
		if step.Resource != CPU {
			from := moved
			if moved += c.Time(step); moved > computed {
				to(step.Phase, moved-math.Max(from, computed))
			}
		}
	}
}

// Serial returns the time of the steps one after the other, ns. Joined steps run
// together.
func (s Steps) Serial(c Cost) (ns float64) {
	for i := 0; i < len(s); {
		together := s.Together(i)
		together.spend(c, func(_ workload.Phase, t float64) { ns += t })
		i += len(together)
	}
	return ns
}

// Time returns the time of a step alone on its resource, ns.
func (c *Cost) Time(s Step) float64 {
	switch s.Resource {
	case HDFSRead:
		return float64(s.Work * c.HDFSRead)
	case HDFSWrite:
		return float64(s.Work * c.HDFSWrite)
	case LocalRead:
		return float64(s.Work * c.LocalRead)
	case LocalWrite:
		return float64(s.Work * c.LocalWrite)
	case Network:
		return float64(s.Work * c.Network)
	}
	return s.Work
}

// PhaseTimes returns the time of each phase without contention: steps one after
// the other, joined steps together (Herodotou, CS-2011-05, eq. 90 and 91).
func (s Steps) PhaseTimes(c Cost) [workload.NumPhases]time.Duration {
	var ns [workload.NumPhases]float64
	for i := 0; i < len(s); {
		together := s.Together(i)
		together.spend(c, func(p workload.Phase, t float64) { ns[p] += t })
		i += len(together)
	}
	var times [workload.NumPhases]time.Duration
	for p, t := range ns {
		times[p] = time.Duration(math.Round(t))
	}
	return times
}

// Alone returns the time of each phase of a plan whose two threads do not share
// any resource. Time in which the map's own thread waits for a spill counts for
// the spill phase.
func (s Steps) Alone(c Cost) (times [workload.NumPhases]time.Duration) {
	var main, background float64
	var done []float64 // ends of the spills that have work
	spend := func(p workload.Phase, end float64) {
		times[p] += time.Duration(math.Round(end)) - time.Duration(math.Round(main))
		main = end
	}
	for i := 0; i < len(s); {
		together := s.Together(i)
		i += len(together)
		step := together[0]
		switch n := min(step.Spills, len(done)); {
		case step.Background:
			background = math.Max(background, main) + together.Serial(c)
			for len(done) <= step.Spills {
				done = append(done, background)
			}
			done[step.Spills] = background
			continue
		case n > 0 && done[n-1] > main:
			spend(workload.PhaseSpill, done[n-1])
		}
		together.spend(c, func(p workload.Phase, t float64) { spend(p, main+t) })
	}
	return times
}

// Framing is what map output files hold beyond compressed keys and values. The
// zero Framing is that of Herodotou's report: nothing.
type Framing struct {
	Record    float64 // bytes of each record, compressed with it
	Partition float64 // bytes at the end of each partition, compressed with it
	Checksum  float64 // bytes of each partition, not compressed
	Index     float64 // bytes of each partition in the index of a map's output
	IndexFile float64 // bytes of the index that do not depend on the partitions
}

// IFile is Hadoop's framing (IFile, SpillRecord of 0.20.2 and 1.x): two lengths
// for each record, one byte each up to 127; an end mark and a checksum for each
// partition; an index of three numbers for each partition, with a checksum.
var IFile = Framing{Record: 2, Partition: 2, Checksum: 4, Index: 24, IndexFile: 8}

// Selectivity is output over input, in bytes and in records.
type Selectivity struct{ Size, Records float64 }

// Planner plans the tasks of one job from its configuration, the statistics of its
// data and the costs of the machine.
type Planner struct {
	Conf         Conf
	Data         Data
	Cost         Cost
	Reduces      int
	Combiner     bool
	InCompressed bool
	Framing      Framing

	ReadCPU, WriteCPU           float64 // ns of a core per stored byte from and to HDFS; 0 in the report
	LocalReadCPU, LocalWriteCPU float64 // ns of a core per stored byte of spills and merges
	FetchCPU                    float64 // ns of a core per stored byte of a map output that is fetched
	OpenCPU                     float64 // ns of a core for a file of HDFS that is read or written
	Cold                        float64 // records: n of a phase take as long as n + sqrt(Cold n) of a warm JVM
	RecordCPU                   float64 // ns of a core per record that a map emits: the part of collecting to which Cold applies

	// Keys is the number of distinct keys in the map output of the job; the
	// combiner leaves at most one record per key. 0: unknown.
	Keys float64
	// Again is the combiner's selectivity on data that it has combined before;
	// nil: as on other data.
	Again *Selectivity
	// Overlap lets a thread compute while the system reads ahead and writes behind
	// for it. The report adds the two times.
	Overlap bool
	// WriteTurn is the bytes of output for which a task reads, computes and sends in
	// turn; 0: it sends all of its output after it has read its input.
	WriteTurn float64
}

// NewPlanner checks the statistics that the plans use and neutralises the others.
func NewPlanner(p Planner) (*Planner, error) {
	used := Used{p.Reduces > 0, p.Combiner, p.InCompressed, p.Conf.IntermCompressed, p.Conf.OutCompressed}
	var c input.Check
	c.Count("reduces", p.Reduces, 0)
	used.Check(&c, &p.Data, &p.Cost)
	if err := c.Err(); err != nil {
		return nil, err
	}
	if err := p.Conf.Check(); err != nil {
		return nil, err
	}
	used.Neutral(&p.Data, &p.Cost)
	return &p, nil
}

// Paced returns a planner of tasks whose work on a core takes a factor as long.
func (p *Planner) Paced(factor float64) *Planner {
	q := *p
	c := &q.Cost
	for _, cost := range []*float64{
		&q.ReadCPU, &q.WriteCPU, &q.LocalReadCPU, &q.LocalWriteCPU, &q.FetchCPU, &q.OpenCPU, &q.RecordCPU,
		&c.MapCPU, &c.ReduceCPU, &c.CombineCPU, &c.PartitionCPU, &c.SerdeCPU, &c.SortCPU, &c.MergeCPU,
		&c.InUncompr, &c.IntermUncompr, &c.IntermCompr, &c.OutCompr, &c.Setup, &c.Cleanup,
	} {
		*cost *= factor
	}
	return &q
}

// MapFlow returns the flow of a map over a split of the given stored bytes.
func (p *Planner) MapFlow(split float64) MapFlow { return p.Data.MapFlow(split) }

// framed returns the segment that holds the given bytes and records in the given
// partitions.
func (p *Planner) framed(bytes, records, partitions float64) Segment {
	raw := bytes + float64(records*p.Framing.Record) + float64(partitions*p.Framing.Partition)
	return Segment{
		Stored:  float64(raw*p.Data.IntermRatio) + float64(partitions*p.Framing.Checksum),
		Raw:     raw,
		Records: records,
	}
}

// ends returns the framing of the given partitions alone.
func (p *Planner) ends(partitions float64) Segment { return p.framed(0, 0, partitions) }

// joined returns the merged file of segments with the given partitions each: the
// sum of their records, framed once.
func (p *Planner) joined(segments []Segment, partitions float64) Segment {
	sum, ends := total(segments), p.ends(partitions)
	extra := float64(len(segments) - 1)
	return Segment{
		Stored:  sum.Stored - float64(extra*ends.Stored),
		Raw:     sum.Raw - float64(extra*ends.Raw),
		Records: sum.Records,
	}
}

// combine returns the output of the combiner, framed. again says that the data
// have been combined before.
func (p *Planner) combine(bytes, records, partitions float64, again bool) Segment {
	sel := Selectivity{p.Data.CombineSizeSel, p.Data.CombineRecsSel}
	if again && p.Again != nil {
		sel = *p.Again
	}
	if p.Combiner {
		bytes = float64(bytes * sel.Size)
		records = float64(records * sel.Records)
	}
	if most := p.Keys * partitions / float64(p.Reduces); p.Combiner && p.Keys > 0 && records > most {
		bytes = float64(bytes * most / records)
		records = most
	}
	return p.framed(bytes, records, partitions)
}

// combineAgain combines a stored segment again.
func (p *Planner) combineAgain(s Segment, partitions float64) Segment {
	return p.combine(p.Contents(s, partitions), s.Records, partitions, true)
}

// Contents returns the bytes of keys and values in a segment of the given
// partitions.
func (p *Planner) Contents(s Segment, partitions float64) float64 {
	return s.Raw - float64(partitions*p.Framing.Partition) - float64(s.Records*p.Framing.Record)
}

// sortDepth returns the comparisons per record when n records of all partitions
// are sorted (erratum E5).
func (p *Planner) sortDepth(n float64) float64 {
	return fit.Log2(math.Max(2, n/float64(p.Reduces)))
}

// pack and unpack return the CPU cost of writing a segment to disk and of reading
// one, ns of a core.
func (p *Planner) pack(s Segment) float64 {
	return float64(s.Raw*p.Cost.IntermCompr) + float64(s.Stored*p.LocalWriteCPU)
}

func (p *Planner) unpack(s Segment) float64 {
	return float64(s.Stored * (p.Cost.IntermUncompr + p.LocalReadCPU))
}

// merge adds the steps that merge segments from disk to disk; cold is the factor
// on the cost of a record.
func (p *Planner) merge(steps *Steps, phase workload.Phase, inputs, output Segment, cold float64) {
	first := len(*steps)
	steps.add(phase, LocalRead, inputs.Stored)
	steps.add(phase, CPU, p.unpack(inputs)+float64(inputs.Records*p.Cost.MergeCPU*cold))
	steps.add(phase, CPU, p.pack(output))
	steps.add(phase, LocalWrite, output.Stored)
	p.join(*steps, first)
}

// output adds the compression of a task's output and its writing to HDFS, and
// returns the stored bytes.
func (p *Planner) output(steps *Steps, bytes float64) float64 {
	stored := float64(bytes * p.Data.OutRatio)
	steps.add(workload.PhaseWrite, CPU, p.OpenCPU)
	steps.add(workload.PhaseWrite, CPU, float64(bytes*p.Cost.OutCompr)+float64(stored*p.WriteCPU))
	steps.add(workload.PhaseWrite, HDFSWrite, stored)
	return stored
}

// tally sums counters before they are rounded.
type tally struct{ spilled, read, written float64 }

// merged counts a merge of files on disk.
func (t *tally) merged(in, out Segment) {
	t.read += in.Stored
	t.written += out.Stored
}

func (t tally) into(c *workload.Counters) {
	c.SpilledRecords = count(t.spilled)
	c.LocalReadBytes, c.LocalWriteBytes = count(t.read), count(t.written)
}

// count rounds a value to a counter.
func count(x float64) int64 { return int64(math.Round(x)) }

// checkFinite reports values that no task can have.
func checkFinite(name string, values ...float64) error {
	for _, v := range values {
		if !(v >= 0 && v <= input.MaxCount) {
			return fmt.Errorf("%s: %v: want a number from 0 to 2^53", name, v)
		}
	}
	return nil
}

// MapFlow is the input and the output of one map, before the combiner.
type MapFlow struct {
	InStored, InBytes, InRecords float64 // bytes of the split as stored, and uncompressed
	OutBytes, OutRecords         float64 // serialised keys and values
}
