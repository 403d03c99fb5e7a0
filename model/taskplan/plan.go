// Package taskplan plans what one map or reduce task does: the steps of work on
// the CPU, the disks and the network that follow from its data, its configuration
// and the costs of its machine (MapTask, ReduceTask and Merger of Hadoop 0.20.2
// and 1.x; Herodotou, CS-2011-05). Analytic models add the steps up, the simulator
// serves them.
package taskplan

import (
	"fmt"
	"math"
	"time"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// Resource is what serves a step of a plan.
type Resource uint8

// The resources. Work on a CPU is nanoseconds of one core, on the others bytes.
const (
	CPU Resource = iota
	HDFSRead
	HDFSWrite
	LocalRead
	LocalWrite
	Network
	numResources
)

var resourceNames = [numResources]string{"cpu", "hdfs read", "hdfs write", "local read", "local write", "network"}

func (r Resource) String() string { return resourceNames[r] }

// Step is one piece of work of a task. The steps of a plan are served in their
// order by two threads: those in the background begin once every step before
// them in the plan is done; the others overtake the background, but wait until
// the first Spills spills are done. A step and those after it that are Joined
// begin together and are over together: those that compute are served one after
// the other, and beside them those that read and write.
type Step struct {
	Phase      workload.Phase
	Resource   Resource
	Work       float64 // ns of one core, or bytes
	Background bool    // served by the spill thread
	Spills     int     // spills that must be done before the step begins
	Joined     bool    // goes on together with the step before it
}

// Steps are the work of a task, or of part of one.
type Steps []Step

// add appends a step unless there is nothing to do.
func (s *Steps) add(phase workload.Phase, r Resource, work float64) {
	if work > 0 {
		*s = append(*s, Step{Phase: phase, Resource: r, Work: work})
	}
}

// Together is a step and those that are joined to it.
func (s Steps) Together(i int) Steps {
	end := i + 1
	for end < len(s) && s[end].Joined {
		end++
	}
	return s[i:end]
}

// join has the steps from first on go on together if the system reads ahead and
// writes behind.
func (p *Planner) join(s Steps, first int) {
	for i := first + 1; i < len(s); i++ {
		s[i].Joined = p.Overlap
	}
}

// spend gives the time of steps that go on together to their phases, ns: that of
// what computes, then what reading and writing take beyond it.
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

// Serial is the time of the steps one after the other, ns, but for those that go
// on together.
func (s Steps) Serial(c Cost) (ns float64) {
	for i := 0; i < len(s); {
		together := s.Together(i)
		together.spend(c, func(_ workload.Phase, t float64) { ns += t })
		i += len(together)
	}
	return ns
}

// Time is the time of a step alone on its resource, ns.
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

// PhaseTimes is the time of each phase without contention, one step after the
// other where they do not go on together (Herodotou, CS-2011-05, eq. 90 and 91), from the costs per byte.
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

// Alone is the time of each phase of the whole plan when its two threads each
// have what they need for themselves. What the map's own thread waits for a
// spill is time of that phase.
func (s Steps) Alone(c Cost) (times [workload.NumPhases]time.Duration) {
	var main, background float64
	var done []float64 // ends of the spills, but for those without work
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

// Elapsed is the sum of Alone.
func (s Steps) Elapsed(c Cost) (sum time.Duration) {
	for _, t := range s.Alone(c) {
		sum += t
	}
	return sum
}

// Framing is what the files of map outputs hold besides compressed keys and
// values. The zero Framing is the report's: nothing.
type Framing struct {
	Record    float64 // bytes of each record, compressed with it
	Partition float64 // bytes at the end of each partition, compressed with it
	Checksum  float64 // bytes of each partition, not compressed
	Index     float64 // bytes of each partition in the index of a map's output
	IndexFile float64 // bytes of the index besides
}

// IFile is Hadoop's framing (IFile, SpillRecord of 0.20.2 and 1.x): two lengths
// to a record, one byte each up to 127, an end mark and a checksum; and an index
// of three numbers with a checksum.
var IFile = Framing{Record: 2, Partition: 2, Checksum: 4, Index: 24, IndexFile: 8}

// Selectivity is output over input, in bytes and in records.
type Selectivity struct{ Size, Records float64 }

// Planner makes the plans of a job's tasks out of its configuration, the
// statistics of its data and the costs of the machine that runs them.
type Planner struct {
	Conf         Conf
	Data         Data
	Cost         Cost
	Reduces      int
	Combiner     bool
	InCompressed bool
	Framing      Framing

	ReadCPU, WriteCPU           float64 // ns of a core per stored byte from and to HDFS; the report has none
	LocalReadCPU, LocalWriteCPU float64 // likewise of spills and merges
	FetchCPU                    float64 // ns of a core per stored byte of a map output that is fetched
	OpenCPU                     float64 // ns of a core for a file of HDFS that is read or written
	Cold                        float64 // records: n of a phase take as long as n + sqrt(Cold n) of an old JVM
	RecordCPU                   float64 // ns of a core per record that a map emits, the part of its collecting to which this applies

	// Keys is the number of distinct keys in the map output of the job: no
	// combiner leaves more. 0: not known.
	Keys float64
	// Again is what the combiner leaves where it runs over combined data; nil: as
	// much as the first time.
	Again *Selectivity
	// Overlap has a thread compute while the system reads ahead and writes behind
	// for it; the report adds up the times of both.
	Overlap bool
}

// NewPlanner checks what the plans will use and leaves out what they will not.
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

// MapFlow returns what a map reads and emits of a split of so many stored bytes.
func (p *Planner) MapFlow(split float64) MapFlow { return p.Data.MapFlow(split) }

// framed is a segment of so many bytes and records in so many partitions, as it
// is stored.
func (p *Planner) framed(bytes, records, partitions float64) Segment {
	raw := bytes + float64(records*p.Framing.Record) + float64(partitions*p.Framing.Partition)
	return Segment{
		Stored:  float64(raw*p.Data.IntermRatio) + float64(partitions*p.Framing.Checksum),
		Raw:     raw,
		Records: records,
	}
}

// ends is the framing of so many partitions alone.
func (p *Planner) ends(partitions float64) Segment { return p.framed(0, 0, partitions) }

// joined is what merging segments of so many partitions each leaves: what they
// hold, framed once.
func (p *Planner) joined(segments []Segment, partitions float64) Segment {
	sum, ends := total(segments), p.ends(partitions)
	extra := float64(len(segments) - 1)
	return Segment{
		Stored:  sum.Stored - float64(extra*ends.Stored),
		Raw:     sum.Raw - float64(extra*ends.Raw),
		Records: sum.Records,
	}
}

// combine is what the combiner leaves of so many bytes and records of so many
// partitions; again, if they went through it before.
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

// combineAgain is combine for a segment as it is stored.
func (p *Planner) combineAgain(s Segment, partitions float64) Segment {
	return p.combine(p.contents(s, partitions), s.Records, partitions, true)
}

// contents is the bytes of keys and values in a segment of so many partitions.
func (p *Planner) contents(s Segment, partitions float64) float64 {
	return s.Raw - float64(partitions*p.Framing.Partition) - float64(s.Records*p.Framing.Record)
}

// sortDepth is the comparisons per record when n records of all reduces are
// sorted (erratum E5).
func (p *Planner) sortDepth(n float64) float64 {
	return fit.Log2(math.Max(2, n/float64(p.Reduces)))
}

// pack is what it costs to write a segment to disk, besides the disk, and unpack
// to read one: ns of a core.
func (p *Planner) pack(s Segment) float64 {
	return float64(s.Raw*p.Cost.IntermCompr) + float64(s.Stored*p.LocalWriteCPU)
}

func (p *Planner) unpack(s Segment) float64 {
	return float64(s.Stored * (p.Cost.IntermUncompr + p.LocalReadCPU))
}

// merge adds the merging of segments from disk to disk, where a record costs so
// many times as much as in an old JVM.
func (p *Planner) merge(steps *Steps, phase workload.Phase, inputs, output Segment, young float64) {
	first := len(*steps)
	steps.add(phase, LocalRead, inputs.Stored)
	steps.add(phase, CPU, p.unpack(inputs)+float64(inputs.Records*p.Cost.MergeCPU*young))
	steps.add(phase, CPU, p.pack(output))
	steps.add(phase, LocalWrite, output.Stored)
	p.join(*steps, first)
}

// output adds the compression of a task's output and its way to HDFS, and
// returns the bytes that arrive there.
func (p *Planner) output(steps *Steps, bytes float64) float64 {
	stored := float64(bytes * p.Data.OutRatio)
	steps.add(workload.PhaseWrite, CPU, p.OpenCPU)
	steps.add(workload.PhaseWrite, CPU, float64(bytes*p.Cost.OutCompr)+float64(stored*p.WriteCPU))
	steps.add(workload.PhaseWrite, HDFSWrite, stored)
	return stored
}

// tally adds up counters before they are rounded.
type tally struct{ spilled, read, written float64 }

// merged books a merge of files on disk.
func (t *tally) merged(in, out Segment) {
	t.read += in.Stored
	t.written += out.Stored
}

func (t tally) into(c *workload.Counters) {
	c.SpilledRecords = count(t.spilled)
	c.LocalReadBytes, c.LocalWriteBytes = count(t.read), count(t.written)
}

// whole is a count for a counter.
func count(x float64) int64 { return int64(math.Round(x)) }

// finite refuses data that no task can have.
func checkFinite(name string, values ...float64) error {
	for _, v := range values {
		if !(v >= 0 && v <= input.MaxCount) {
			return fmt.Errorf("%s: %v: want a number from 0 to 2^53", name, v)
		}
	}
	return nil
}
