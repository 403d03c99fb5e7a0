package diagnose

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// spansByAttempt collects spans. It keeps them all, because a thread ends its spans
// while others begin theirs.
func spansByAttempt(spans iter.Seq[*model.Span]) map[attemptKey][]model.Span {
	all := map[attemptKey][]model.Span{}
	if spans != nil {
		for s := range spans {
			all[attemptOf(s)] = append(all[attemptOf(s)], *s)
		}
	}
	return all
}

// The stacks of threads beside the main one: at work, and with nothing to do.
const (
	spillStack   = mapRed + "MapTask$MapOutputBuffer.sortAndSpill;" + mapRed + "MapTask$MapOutputBuffer$SpillThread.run"
	spillIdle    = "java.lang.Object.wait;" + mapRed + "MapTask$MapOutputBuffer$SpillThread.run"
	copierRun    = mapRed + "ReduceTask$ReduceCopier$MapOutputCopier.run"
	fetchStack   = "java.net.SocketInputStream.read;" + mapRed + "ReduceTask$ReduceCopier$MapOutputCopier.copyOutput;" + copierRun
	reserveStack = "java.lang.Object.wait;" + mapRed + "ReduceTask$ReduceCopier$ShuffleRamManager.reserve;" + copierRun
	copierIdle   = "java.lang.Object.wait;" + copierRun
	memoryRun    = mapRed + "ReduceTask$ReduceCopier$InMemFSMergeThread.run"
	memoryStack  = mapRed + "Merger.merge;" + mapRed + "ReduceTask$ReduceCopier$InMemFSMergeThread.doInMemMerge;" + memoryRun
	memoryIdle   = "java.lang.Object.wait;" + mapRed + "ReduceTask$ReduceCopier$ShuffleRamManager.waitForDataToMerge;" + memoryRun
	diskRun      = mapRed + "ReduceTask$ReduceCopier$LocalFSMerger.run"
	diskStack    = mapRed + "Merger.merge;" + diskRun
	diskIdle     = "java.lang.Object.wait;" + diskRun
	spillWait    = "sun.misc.Unsafe.park;" + mapRed + "MapTask$MapOutputBuffer.flush;" + mapRed + "MapTask.run"
)

// value returns the state, name and stack of the thread during a span, as a JVM
// reports them. A read of a file or a socket is native code, which counts as
// RUNNABLE. The stream of HDFS holds its queue while it sends a packet, which blocks
// the writer (DFSClient.DataStreamer of 0.20). A wait for memory or for work is
// Object.wait. s is nil where the thread has nothing to do.
func (t *threadSamples) value(s *model.Span) string {
	busy := func(name, stack, idle string) string {
		if s == nil {
			return "WAITING|" + name + "|" + idle
		}
		return "RUNNABLE|" + name + "|" + stack
	}
	switch t.thread {
	case model.SpillThread:
		return busy("SpillThread", spillStack, spillIdle)
	case model.CopierThread:
		if s != nil && s.Wait == model.WaitMemory {
			return "WAITING|" + t.copier + "|" + reserveStack
		}
		return busy(t.copier, fetchStack, copierIdle)
	case model.MemoryMergeThread:
		return busy("Thread for merging in memory files", memoryStack, memoryIdle)
	case model.DiskMergeThread:
		return busy("Thread for merging on-disk files", diskStack, diskIdle)
	}
	switch {
	case s == nil:
		return ""
	case s.Wait == model.WaitSpill:
		return "WAITING|main|" + spillWait
	case s.Phase == workload.PhaseMerge:
		return "RUNNABLE|main|" + mergeStack[t.kind]
	}
	stack := mainStacks[s.Phase]
	if s.Phase == workload.PhaseWrite && s.Device == "cpu" {
		stack.state = "RUNNABLE"
	}
	return stack.state + "|main|" + stack.frames
}

// threadSamples are the samples of one thread of an attempt.
type threadSamples struct {
	kind       workload.Kind
	thread     model.Thread
	node       string
	target     string // in records
	copier     string // name of the thread, if it is a copier
	spans      []model.Span
	begin, end time.Duration
}

// traced writes the records of an attempt from its spans.
func (s *sampler) traced(b *books, a *attempt, spans []model.Span, copiers int) {
	slices.SortFunc(spans, func(x, y model.Span) int {
		return cmp.Or(cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.Copier, y.Copier), cmp.Compare(x.Begin, y.Begin), cmp.Compare(x.End, y.End))
	})
	node, name := escapeSample(b.node(a)), escapeSample(fmt.Sprintf("%s/%d", b.name(a), a.number))
	begin, end := a.start, a.finish
	count := 0 // threads
	sample := func(thread model.Thread, copier int) {
		is := func(x model.Span) bool { return x.Thread == thread && x.Copier == copier }
		from, to := max(0, slices.IndexFunc(spans, is)), 0
		for to = from; to < len(spans) && is(spans[to]); {
			to++
		}
		s.sweep(&threadSamples{
			a.kind, thread, node, fmt.Sprintf("%s#%d", name, count), fmt.Sprintf("MapOutputCopier %s.%d", name, copier), spans[from:to], begin, end,
		})
		count++
	}
	sample(model.MainThread, 0)
	begin += max(0, a.phases[workload.PhaseStartup])
	if a.kind == workload.Map {
		sample(model.SpillThread, 0)
		return
	}
	if i := slices.IndexFunc(spans, func(x model.Span) bool { return x.Wait == model.WaitFetch }); i >= 0 {
		begin, end = spans[i].Begin, spans[i].End
	}
	for n := range copiers {
		sample(model.CopierThread, n)
	}
	sample(model.MemoryMergeThread, 0)
	sample(model.DiskMergeThread, 0)
}

// sweep writes the records of one thread. A thread that computes while its files are
// read ahead or written behind runs its own code.
func (s *sampler) sweep(t *threadSamples) {
	var active []*model.Span
	next := 0
	for at := (t.begin + s.every.Tasks - 1) / s.every.Tasks * s.every.Tasks; at < t.end; at += s.every.Tasks {
		for ; next < len(t.spans) && t.spans[next].Begin <= at; next++ {
			active = append(active, &t.spans[next])
		}
		active = slices.DeleteFunc(active, func(x *model.Span) bool { return x.End <= at })
		var does *model.Span
		for _, x := range active {
			if does == nil || x.Device == "cpu" {
				does = x
			}
		}
		if value := t.value(does); value != "" {
			s.record(at, t.node, taskSample, t.target, value)
		}
	}
}
