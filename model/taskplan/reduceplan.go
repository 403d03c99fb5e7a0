package taskplan

import (
	"slices"

	"github.com/slotwave/slotwave/workload"
)

// ReduceTask is a reduce in progress: its shuffle and the sums of its steps. Fetch
// and the merges plan the shuffle as it happens; Finish plans the rest.
type ReduceTask struct {
	Shuffle
	plan     *Planner
	shuffled float64 // bytes
	merged   float64 // records
	tally    tally
	computed float64    // ns of one core
	combined [2]float64 // records into the combiner, and out of it
}

// NewReduce returns a reduce before its first fetch; the job has the given number
// of maps.
func (p *Planner) NewReduce(maps int) *ReduceTask {
	return &ReduceTask{Shuffle: p.Conf.newShuffle(maps), plan: p}
}

// Fetch appends to s the steps that copy one map output: into memory, where it is
// decompressed, or to disk as it is.
func (r *ReduceTask) Fetch(s Steps, out Segment) Steps {
	r.shuffled += out.Stored
	first := len(s)
	s.add(workload.PhaseShuffle, Network, out.Stored)
	s.add(workload.PhaseShuffle, CPU, out.Stored*r.plan.FetchCPU)
	if r.InMemory(out) {
		s.add(workload.PhaseShuffle, CPU, out.Stored*r.plan.Cost.IntermUncompr)
	} else {
		s.add(workload.PhaseShuffle, LocalWrite, out.Stored)
		r.tally.written += out.Stored
	}
	r.computed += s[first:].computed()
	return s
}

// BackgroundMerge is a merge during the shuffle.
type BackgroundMerge struct {
	Steps
	Inputs []Segment
	File   Segment // its output
}

// MergeInMemory begins the merge in memory if one is due, else it returns nil.
func (r *ReduceTask) MergeInMemory() *BackgroundMerge {
	if inputs := r.inMemMerge(); inputs != nil {
		return r.mergeInMemory(inputs)
	}
	return nil
}

func (r *ReduceTask) mergeInMemory(inputs []Segment) *BackgroundMerge {
	p := r.plan
	m := &BackgroundMerge{Inputs: inputs, File: p.joined(inputs, 1)}
	if p.Combiner {
		m.File = p.combineAgain(m.File, 1)
	}
	records := total(inputs).Records
	if p.Combiner {
		r.combined[0] += records
		r.combined[1] += m.File.Records
	}
	p.mergeFromMemory(&m.Steps, workload.PhaseShuffle, records, float64(p.Cost.MergeCPU*r.coldFactor(records))+p.Cost.CombineCPU, m.File)
	r.tally.written += m.File.Stored
	r.computed += m.Steps.computed()
	return m
}

// MergeOnDisk begins the merge on disk if one is due, else it returns nil.
func (r *ReduceTask) MergeOnDisk() *BackgroundMerge {
	inputs := r.onDiskMerge()
	if inputs == nil {
		return nil
	}
	m := &BackgroundMerge{Inputs: inputs, File: r.plan.joined(inputs, 1)}
	in := total(inputs)
	r.plan.merge(&m.Steps, workload.PhaseShuffle, in, m.File, r.coldFactor(in.Records))
	r.tally.readBack(in, m.File)
	r.computed += m.Steps.computed()
	return m
}

// mergeFromMemory adds the steps that merge records from memory into a file.
func (p *Planner) mergeFromMemory(steps *Steps, phase workload.Phase, records, cost float64, file Segment) {
	first := len(*steps)
	steps.add(phase, CPU, float64(records*cost))
	steps.add(phase, CPU, p.pack(file))
	steps.add(phase, LocalWrite, file.Stored)
	p.join(*steps, first)
}

// readBack counts a merge of files. A reduce counts the records that it reads from
// disk as spilled records.
func (t *tally) readBack(in, out Segment) {
	t.spilled += in.Records
	t.merged(in, out)
}

// ReducePlan is the work of a reduce task, with its counters.
type ReducePlan struct {
	Steps
	workload.Counters
	ShuffleCounts
}

// Finish plans the sort, the reduce function and the output. The counters are
// those of the whole task.
func (r *ReduceTask) Finish() ReducePlan {
	p := r.plan
	joined := func(inputs []Segment) Segment { return p.joined(inputs, 1) }
	sort := r.sort(joined)
	plan := ReducePlan{ShuffleCounts: r.ShuffleCounts}
	if sort.Evict {
		file := joined(sort.Evicted)
		records := total(sort.Evicted).Records
		p.mergeFromMemory(&plan.Steps, workload.PhaseMerge, records, p.Cost.MergeCPU*r.coldFactor(records), file)
		r.tally.written += file.Stored
	}
	held := sort.InMemory
	for _, inputs := range sort.Passes {
		file, onDisk := joined(inputs), total(inputs[held:])
		cold := r.coldFactor(file.Records)
		plan.add(workload.PhaseMerge, CPU, total(inputs[:held]).Records*p.Cost.MergeCPU*cold)
		p.merge(&plan.Steps, workload.PhaseMerge, onDisk, file, cold)
		r.tally.readBack(onDisk, file)
		held = 0
	}
	plan.MergePasses = int64(len(sort.Passes) + 1)

	onDisk := total(sort.Last[held:])
	r.tally.readBack(onDisk, Segment{})
	last := slices.Concat(sort.Last, sort.Retained)
	in := total(last)
	inBytes := p.Contents(in, float64(len(last)))
	outBytes, outRecords := float64(inBytes*p.Data.ReduceSizeSel), float64(in.Records*p.Data.ReduceRecsSel)
	first := len(plan.Steps)
	plan.add(workload.PhaseReduce, LocalRead, onDisk.Stored)
	plan.add(workload.PhaseReduce, CPU, p.unpack(onDisk)+float64(in.Records*p.Cost.ReduceCPU))
	written := p.output(&plan.Steps, outBytes)
	plan.HDFSWriteBytes = count(written)
	p.joinOutput(&plan.Steps, first, written)
	plan.add(workload.PhaseCommit, CPU, p.Cost.Cleanup)

	plan.InRecords, plan.InBytes = count(in.Records), count(inBytes)
	plan.OutRecords, plan.OutBytes = count(outRecords), count(outBytes)
	plan.ShuffleBytes = count(r.shuffled)
	r.tally.into(&plan.Counters)
	plan.CombineInRecords, plan.CombineOutRecords = count(r.combined[0]), count(r.combined[1])
	plan.CPUMillis = count((p.Cost.Setup + r.computed + plan.Steps.computed()) / 1e6)
	return plan
}

// Reduce plans a reduce without contention: it fetches the outputs one after the
// other, and each background merge ends before the next fetch.
func (p *Planner) Reduce(outputs []Segment) ReducePlan {
	r := p.NewReduce(len(outputs))
	var steps Steps
	steps.add(workload.PhaseStartup, CPU, p.Cost.Setup)
	inMemory := func(m *BackgroundMerge) {
		if m == nil {
			return
		}
		steps = append(steps, m.Steps...)
		for _, in := range m.Inputs {
			r.Free(in)
		}
		r.InMemMerged(m.File)
	}
	for i, out := range outputs {
		steps = r.Fetch(steps, out)
		if r.InMemory(out) {
			if !r.Reserve(out) { // the other copiers wait as well, which starts a merge
				inMemory(r.mergeInMemory(r.takeMemory()))
				r.Retry(out)
			}
			r.Copied(out)
			r.Listed(out)
		} else {
			r.Stored(out)
		}
		inMemory(r.MergeInMemory())
		if i == len(outputs)-1 {
			break // the merge in memory outlasts the shuffle, and no merge on disk follows
		}
		if m := r.MergeOnDisk(); m != nil {
			steps = append(steps, m.Steps...)
			r.OnDiskMerged(m.File)
		}
	}
	r.Close()
	plan := r.Finish()
	plan.Steps = append(steps, plan.Steps...)
	return plan
}
