package diagnose

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
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

// code are the methods that run in the attempts of a job, and what they run with.
type code struct {
	mapper, reducer string // frames, from the operator to the class that Hadoop calls
	operators       bool   // they are operators of Hive
	codec           *model.Codec
	codecClass      string
	speed           float64 // of the cores
	copiers         int
	heaps           [2]int64 // bytes, by kind
}

const hive = "org.apache.hadoop.hive.ql.exec."

// codeOf finds the code of a job in its configuration. A program whose name begins with
// hive runs operators, as each job of Hive 0.6 does.
func codeOf(j *job, q *model.WhatIf) (*code, error) {
	c := &code{mapper: "Mapper.map", reducer: "Reducer.reduce", speed: 1}
	conf := j.conf
	if q != nil {
		conf = q.Cluster.Conf.Over(conf)
		for k := range q.Jobs {
			if q.Jobs[k].ID == j.id {
				conf = conf.Over(q.Jobs[k].Conf)
				c.operators = strings.HasPrefix(q.Jobs[k].Program, "hive")
			}
		}
		if m := usualMachine(&q.Cluster); m.Speed > 0 {
			c.speed = m.Speed
		}
	}
	if c.operators = c.operators || strings.HasPrefix(conf.String("mapred.mapper.class", ""), hive); c.operators {
		c.mapper, c.reducer = hive+"GroupByOperator.processOp;"+hive+"MapOperator.process;"+hive+"ExecMapper.map", hive+"GroupByOperator.processOp;"+hive+"ExecReducer.reduce"
	}
	if compressed, err := conf.Truth("mapred.compress.map.output"); err == nil && compressed {
		class := conf.Text("mapred.map.output.compression.codec")
		if found, err := model.FindCodec(class); err == nil {
			c.codec, c.codecClass = &found, strings.TrimSuffix(class, "Codec")
			if found.Name == "default" || found.Name == "gzip" {
				c.codecClass = "org.apache.hadoop.io.compress.zlib.Zlib"
			}
		}
	}
	both := conf.Text("mapred.child.java.opts")
	for kind, key := range []string{"mapred.map.child.java.opts", "mapred.reduce.child.java.opts"} {
		c.heaps[kind] = workload.Heap(conf.String(key, both))
	}
	copiers, err := conf.Int("mapred.reduce.parallel.copies", 5)
	c.copiers = max(1, copiers)
	return c, err
}

// main is what the main thread of an attempt does in a phase: its state and stack, top
// frame first. The stream of HDFS holds its queue while it sends a packet, which blocks
// the writer (DFSClient.DataStreamer of 0.20).
func (c *code) main(kind workload.Kind, p workload.Phase) string {
	const mapRun, reduceRun = mapRed + "MapRunner.run;" + mapRed + "MapTask.run", mapRed + "ReduceTask.runOldReducer;" + mapRed + "ReduceTask.run"
	switch p {
	case workload.PhaseStartup:
		return "RUNNABLE|main|java.lang.ClassLoader.loadClass;" + mapRed + "Child.main"
	case workload.PhaseRead:
		return "RUNNABLE|main|" + mapRed + "MapTask$TrackedRecordReader.next;" + mapRun
	case workload.PhaseMap:
		return "RUNNABLE|main|" + c.mapper + ";" + mapRun
	case workload.PhaseCollect:
		collect := mapRed + "MapTask$MapOutputBuffer.collect;"
		if c.operators {
			collect += hive + "ReduceSinkOperator.processOp;" + hive + "ExecMapper.map;"
		}
		return "RUNNABLE|main|" + collect + mapRun
	case workload.PhaseSpill:
		return "RUNNABLE|main|" + mapRed + "MapTask$MapOutputBuffer.flush;" + mapRed + "MapTask.run"
	case workload.PhaseShuffle:
		return "TIMED_WAITING|main|java.lang.Object.wait;" + mapRed + "ReduceTask$ReduceCopier.fetchOutputs;" + mapRed + "ReduceTask.run"
	case workload.PhaseMerge:
		if kind == workload.Map {
			return "RUNNABLE|main|" + mapRed + "Merger.merge;" + mapRed + "MapTask$MapOutputBuffer.mergeParts;" + mapRed + "MapTask.run"
		}
		return "RUNNABLE|main|" + mapRed + "Merger.merge;" + mapRed + "ReduceTask$ReduceCopier.createKVIterator;" + mapRed + "ReduceTask.run"
	case workload.PhaseReduce:
		return "RUNNABLE|main|" + c.reducer + ";" + reduceRun
	case workload.PhaseWrite:
		write := "BLOCKED|main|org.apache.hadoop.hdfs.DFSClient$DFSOutputStream.writeChunk;"
		if c.operators {
			write += hive + "FileSinkOperator.processOp;" + hive + "ExecReducer.reduce;"
		}
		return write + reduceRun
	}
	return "TIMED_WAITING|main|java.lang.Thread.sleep;" + mapRed + "Task.done"
}

// open gives the samples at the bounds of operators to the methods that open and close
// the input and the operators.
func (c *code) open(values []string) {
	if !c.operators {
		return
	}
	for _, run := range []string{"ExecMapper.map;", "ExecReducer.reduce;"} {
		within := func(v string) bool { return strings.Contains(v, run) }
		first := slices.IndexFunc(values, within)
		if first < 1 {
			continue
		}
		last := len(values) - 1
		for !within(values[last]) {
			last--
		}
		class, _, _ := strings.Cut(run, ".")
		for i, method := range map[int]string{first: ".configure;", last: ".close;"} {
			_, after, _ := strings.Cut(values[i], run)
			values[i] = "RUNNABLE|main|" + hive + class + method + after
		}
		if class == "ExecMapper" {
			values[first-1] = "RUNNABLE|main|" + mapRed + "MapTask$TrackedRecordReader.<init>;" + mapRed + "MapTask.run"
		}
	}
}

// coded returns the stack of the codec above that of a thread that compresses or
// decompresses.
func (c *code) coded(compress bool, stack string) string {
	if compress {
		return c.codecClass + "Compressor.compress;org.apache.hadoop.io.compress.CompressorStream.write;" + stack
	}
	return c.codecClass + "Decompressor.decompress;org.apache.hadoop.io.compress.DecompressorStream.read;" + stack
}

// value returns the state, name and stack of the thread during a span, as a JVM
// reports them. A read of a file or a socket is native code, which counts as
// RUNNABLE. A wait for memory or for work is Object.wait. s is nil where the thread has
// nothing to do.
func (t *threadSamples) value(s *model.Span) string {
	busy := func(name, stack, idle string, compress bool) string {
		if s == nil {
			return "WAITING|" + name + "|" + idle
		}
		if t.inCodec(s) {
			stack = t.code.coded(compress, stack)
		}
		return "RUNNABLE|" + name + "|" + stack
	}
	switch t.thread {
	case model.SpillThread:
		return busy("SpillThread", spillStack, spillIdle, true)
	case model.CopierThread:
		if s != nil && s.Wait == model.WaitMemory {
			return "WAITING|" + t.copier + "|" + reserveStack
		}
		return busy(t.copier, fetchStack, copierIdle, false)
	case model.MemoryMergeThread:
		return busy("Thread for merging in memory files", memoryStack, memoryIdle, true)
	case model.DiskMergeThread:
		return busy("Thread for merging on-disk files", diskStack, diskIdle, true)
	}
	switch {
	case s == nil:
		return ""
	case s.Wait == model.WaitSpill && s.End <= t.mapped: // the buffer is full
		_, collect, _ := strings.Cut(t.code.main(t.kind, workload.PhaseCollect), "|main|")
		return "WAITING|main|sun.misc.Unsafe.park;" + mapRed + "MapTask$MapOutputBuffer$Buffer.write;" + collect
	case s.Wait == model.WaitSpill:
		return "WAITING|main|" + spillWait
	}
	value := t.code.main(t.kind, s.Phase)
	if s.Phase == workload.PhaseWrite && s.Device == "cpu" {
		value = "RUNNABLE" + strings.TrimPrefix(value, "BLOCKED")
	}
	if state, stack, _ := strings.Cut(value, "|main|"); (s.Phase == workload.PhaseSpill || s.Phase == workload.PhaseMerge) && t.inCodec(s) {
		value = state + "|main|" + t.code.coded(s.Phase == workload.PhaseSpill || t.kind == workload.Map, stack)
	}
	return value
}

// inCodec reports whether the codec runs at the next sample of a thread that computes, as
// often as it takes its part of the time.
func (t *threadSamples) inCodec(s *model.Span) bool {
	if s.Device != "cpu" || t.part <= 0 {
		return false
	}
	t.due += t.part
	if t.due < 1 {
		return false
	}
	t.due--
	return true
}

// codecPart is the part of the computing of a thread, in spills, merges and copies, that
// the codec of the map output takes for some bytes. The threads of an attempt share them
// by their time.
func (c *code) codecPart(spans []model.Span, perByte float64, bytes int64, is func(*model.Span) bool) float64 {
	var all time.Duration
	for i := range spans {
		if s := &spans[i]; s.Device == "cpu" && is(s) {
			all += s.Own
		}
	}
	if c.codec == nil || all == 0 || bytes <= 0 {
		return 0
	}
	return min(1, float64(bytes)*perByte/1e9/c.speed/all.Seconds())
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
	code       *code
	mapped     time.Duration // end of the last read, map or collect
	part, due  float64       // of its computing that is the codec, and of the next sample
}

// attempt writes the records of an attempt from its spans. Those of its phases alone say
// nothing of the threads that merge.
func (s *sampler) attempt(b *books, a *attempt, spans []model.Span, c *code, traced bool) {
	slices.SortFunc(spans, func(x, y model.Span) int {
		return cmp.Or(cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.Copier, y.Copier), cmp.Compare(x.Begin, y.Begin), cmp.Compare(x.End, y.End))
	})
	node, name := escapeSample(b.node(a)), escapeSample(fmt.Sprintf("%s/%d", b.name(a), a.number))
	begin, end := a.start, a.finish
	count := 0          // threads
	in, out := 0.0, 0.0 // part of the computing that decompresses, and that compresses
	if c.codec != nil {
		copies := func(s *model.Span) bool { return s.Thread == model.CopierThread }
		in = c.codecPart(spans, c.codec.Decompress, int64(float64(a.ShuffleBytes)/c.codec.Ratio), copies)
		raw := a.OutBytes
		if a.kind == workload.Reduce {
			raw = int64(float64(a.ShuffleBytes) / c.codec.Ratio)
		}
		out = c.codecPart(spans, c.codec.Compress, raw, func(s *model.Span) bool {
			return !copies(s) && (s.Phase == workload.PhaseSpill || s.Phase == workload.PhaseMerge || s.Phase == workload.PhaseShuffle)
		})
	}
	mapped := time.Duration(0)
	for i := range spans {
		if s := &spans[i]; s.Thread == model.MainThread && (s.Phase == workload.PhaseRead || s.Phase == workload.PhaseMap || s.Phase == workload.PhaseCollect) {
			mapped = max(mapped, s.End)
		}
	}
	sample := func(thread model.Thread, copier int) {
		is := func(x model.Span) bool { return x.Thread == thread && x.Copier == copier }
		from, to := max(0, slices.IndexFunc(spans, is)), 0
		for to = from; to < len(spans) && is(spans[to]); {
			to++
		}
		part := out
		if thread == model.CopierThread {
			part = in
		}
		s.sweep(&threadSamples{
			a.kind, thread, node, fmt.Sprintf("%s#%d", name, count), fmt.Sprintf("MapOutputCopier %s.%d", name, copier), spans[from:to], begin, end, c, mapped, part, 0,
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
	} else if !traced {
		return
	}
	for n := range c.copiers {
		sample(model.CopierThread, n)
	}
	if !traced {
		return
	}
	sample(model.MemoryMergeThread, 0)
	sample(model.DiskMergeThread, 0)
}

// sweep writes the records of one thread. A thread that computes while its files are
// read ahead or written behind runs its own code.
func (s *sampler) sweep(t *threadSamples) {
	var active []*model.Span
	next, first := 0, (t.begin+s.every.Tasks-1)/s.every.Tasks*s.every.Tasks
	s.values = s.values[:0]
	for at := first; at < t.end; at += s.every.Tasks {
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
		s.values = append(s.values, t.value(does))
	}
	s.stacks(first, t.node, t.target, t.code)
}
