package taskplan

import (
	"slices"

	"github.com/slotwave/slotwave/workload"
)

// MapFlow returns the flow of a map over a split of the given stored bytes
// (Herodotou, CS-2011-05, eq. 2, 3, 6, 7).
func (d *Data) MapFlow(split float64) MapFlow {
	f := MapFlow{InStored: split, InBytes: split / d.InputRatio}
	f.InRecords = f.InBytes / d.InputPairWidth
	f.OutBytes, f.OutRecords = f.InBytes*d.MapSizeSel, f.InRecords*d.MapRecsSel
	return f
}

// MapPlan is the work of one map task.
type MapPlan struct {
	Steps
	Output  Segment // for all reduces together
	Spilled []Spill
	workload.Counters
	CombineIn, CombineOut float64 // records

	tally tally
}

// Map plans a map task.
func (p *Planner) Map(f MapFlow) (MapPlan, error) {
	if err := checkFinite("map", f.InStored, f.InBytes, f.InRecords, f.OutBytes, f.OutRecords); err != nil {
		return MapPlan{}, err
	}
	var spills []Spill
	if p.Reduces > 0 {
		var err error
		if spills, err = p.Conf.SortBuffer().Spills(f.OutRecords, f.OutBytes); err != nil {
			return MapPlan{}, err
		}
	}
	return p.mapOf(f, spills), nil
}

// mapOf plans a map task whose output makes the given spills.
func (p *Planner) mapOf(f MapFlow, spills []Spill) MapPlan {
	m := MapPlan{Spilled: spills, Counters: workload.Counters{
		InRecords: count(f.InRecords), InBytes: count(f.InBytes),
		OutRecords: count(f.OutRecords), OutBytes: count(f.OutBytes),
		HDFSReadBytes: count(f.InStored),
	}}
	m.add(workload.PhaseStartup, CPU, p.Cost.Setup)
	m.add(workload.PhaseRead, CPU, p.OpenCPU)
	if p.Reduces == 0 {
		first := len(m.Steps)
		p.read(&m.Steps, f, 1, 0)
		written := p.output(&m.Steps, f.OutBytes)
		m.HDFSWriteBytes = count(written)
		p.joinOutput(&m.Steps, first, written)
	} else {
		files := p.collect(&m, f)
		p.mergeSpills(&m, files)
		m.tally.into(&m.Counters)
	}
	m.add(workload.PhaseCommit, CPU, p.Cost.Cleanup)
	m.CombineInRecords, m.CombineOutRecords = count(m.CombineIn), count(m.CombineOut)
	m.MaterializedBytes = count(m.Output.Stored)
	m.CPUMillis = count(m.Steps.computed() / 1e6)
	return m
}

// read adds the steps that read, map and collect a share of the split. They wait
// for the first spills that after counts.
func (p *Planner) read(steps *Steps, f MapFlow, share float64, after int) {
	if share <= 0 {
		return
	}
	first := len(*steps)
	steps.add(workload.PhaseRead, HDFSRead, f.InStored*share)
	steps.add(workload.PhaseRead, CPU, f.InStored*share*(p.Cost.InUncompr+p.ReadCPU))
	steps.add(workload.PhaseMap, CPU, f.InRecords*share*p.Cost.MapCPU)
	if p.Reduces > 0 {
		steps.add(workload.PhaseCollect, CPU, f.OutRecords*share*(p.Cost.PartitionCPU+p.Cost.SerdeCPU+float64(p.RecordCPU*(p.coldFactor(0, f.OutRecords)-1))))
	}
	for i := range (*steps)[first:] {
		(*steps)[first+i].Spills = after
	}
	p.join(*steps, first)
}

// collect adds all steps up to the last spill, and returns the spill files.
func (p *Planner) collect(m *MapPlan, f MapFlow) []Segment {
	if len(m.Spilled) == 0 {
		p.read(&m.Steps, f, 1, 0)
		return nil
	}
	partitions := float64(p.Reduces)
	var files []Segment
	ahead := 0.0 // records collected while the previous spill ran
	for i, s := range m.Spilled {
		last := i == len(m.Spilled)-1
		p.read(&m.Steps, f, (s.Records-ahead)/f.OutRecords, i)
		file := p.combine(s.Bytes, s.Records, partitions, false)
		files = append(files, file)
		first := len(m.Steps)
		m.add(workload.PhaseSpill, CPU, s.Records*p.sortDepth(s.Records)*p.Cost.SortCPU*p.coldFactor(0, f.OutRecords))
		sorted := len(m.Steps)
		m.add(workload.PhaseSpill, CPU, s.Records*p.Cost.CombineCPU)
		m.add(workload.PhaseSpill, CPU, p.pack(file))
		m.add(workload.PhaseSpill, LocalWrite, file.Stored)
		p.join(m.Steps, sorted)
		for j := range m.Steps[first:] {
			m.Steps[first+j].Background = !last // the map's own thread writes the last spill
			m.Steps[first+j].Spills = i
		}
		if p.Combiner {
			m.CombineIn += s.Records
			m.CombineOut += file.Records
		}
		m.tally.spilled += file.Records
		m.tally.written += file.Stored
		ahead = 0
		if !last {
			ahead = min(s.Room, m.Spilled[i+1].Records)
			p.read(&m.Steps, f, ahead/f.OutRecords, i)
		}
	}
	m.Counters.Spills = int64(len(files))
	return files
}

// mergeSpills adds the merge of the spill files into the output of the map
// (MapTask.MapOutputBuffer.mergeParts).
func (p *Planner) mergeSpills(m *MapPlan, files []Segment) {
	partitions := float64(p.Reduces)
	m.tally.written += float64(partitions*p.Framing.Index) + p.Framing.IndexFile
	m.Output = p.ends(partitions)
	switch len(files) {
	case 0:
		m.tally.written += m.Output.Stored
		return
	case 1: // the spill file is renamed
		m.Output = files[0]
		return
	}
	joined := func(inputs []Segment) Segment { return p.joined(inputs, partitions) }
	if p.Conf.MRv2 && len(files) > p.Conf.SortFactor {
		files = slices.SortedStableFunc(slices.Values(files), bySize)
	}
	passes, last := mergeToFactor(files, p.Conf.SortFactor, 0, joined)
	cold := p.coldFactor(0, total(files).Records)
	for _, inputs := range passes {
		in, out := total(inputs), joined(inputs)
		p.merge(&m.Steps, workload.PhaseMerge, in, out, cold)
		m.merged(in, out)
	}
	in, out := total(last), joined(last)
	if p.Combiner && len(files) >= p.Conf.SpillsForCombine {
		out = p.combineAgain(out, partitions)
		m.add(workload.PhaseMerge, CPU, in.Records*p.Cost.CombineCPU)
		m.CombineIn += in.Records
		m.CombineOut += out.Records
	}
	p.merge(&m.Steps, workload.PhaseMerge, in, out, cold)
	m.merged(in, out)
	m.Output = out
}

// merged counts one merge pass.
func (m *MapPlan) merged(in, out Segment) {
	m.MergePasses++
	m.tally.spilled += out.Records
	m.tally.merged(in, out)
}
