package diagnose

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Sampling says how often threads and devices are sampled. An interval of 0
// leaves them out.
type Sampling struct {
	Tasks  time.Duration // threads of attempts
	System time.Duration // devices
}

// mapRed is the package of Hadoop's classes in a stack.
const mapRed = "org.apache.hadoop.mapred."

// mainStacks are the frames of an attempt's main thread in a phase, top frame
// first, and its state.
var mainStacks = map[workload.Phase]struct{ state, frames string }{
	workload.PhaseStartup: {"RUNNABLE", "java.lang.ClassLoader.loadClass;" + mapRed + "Child.main"},
	workload.PhaseRead:    {"RUNNABLE", mapRed + "MapTask$TrackedRecordReader.next;" + mapRed + "MapRunner.run;" + mapRed + "MapTask.run"},
	workload.PhaseMap:     {"RUNNABLE", "Mapper.map;" + mapRed + "MapRunner.run;" + mapRed + "MapTask.run"},
	workload.PhaseCollect: {"RUNNABLE", mapRed + "MapTask$MapOutputBuffer.collect;" + mapRed + "MapRunner.run;" + mapRed + "MapTask.run"},
	workload.PhaseSpill:   {"RUNNABLE", mapRed + "MapTask$MapOutputBuffer.flush;" + mapRed + "MapTask.run"},
	workload.PhaseShuffle: {"TIMED_WAITING", "java.lang.Object.wait;" + mapRed + "ReduceTask$ReduceCopier.fetchOutputs;" + mapRed + "ReduceTask.run"},
	workload.PhaseReduce:  {"RUNNABLE", "Reducer.reduce;" + mapRed + "ReduceTask.runOldReducer;" + mapRed + "ReduceTask.run"},
	workload.PhaseWrite:   {"BLOCKED", "org.apache.hadoop.hdfs.DFSClient$DFSOutputStream.writeChunk;" + mapRed + "ReduceTask.runOldReducer;" + mapRed + "ReduceTask.run"},
	workload.PhaseCommit:  {"TIMED_WAITING", "java.lang.Thread.sleep;" + mapRed + "Task.done"},
}

// mergeStack is the main thread's in the merge phase, by kind of task.
var mergeStack = [2]string{mapRed + "Merger.merge;" + mapRed + "MapTask$MapOutputBuffer.mergeParts;" + mapRed + "MapTask.run", mapRed + "Merger.merge;" + mapRed + "ReduceTask$ReduceCopier.createKVIterator;" + mapRed + "ReduceTask.run"}

// interleaved are the phases whose steps alternate within an attempt. Their order
// is not recorded, so samples are spread evenly over them.
var interleaved = [2][]workload.Phase{{workload.PhaseRead, workload.PhaseMap, workload.PhaseCollect}, {workload.PhaseReduce, workload.PhaseWrite}}

// sequence is the order of the phases of an attempt; a group is given by its first
// phase.
var sequence = [2][]workload.Phase{
	{workload.PhaseStartup, workload.PhaseRead, workload.PhaseSpill, workload.PhaseMerge, workload.PhaseWrite, workload.PhaseCommit},
	{workload.PhaseStartup, workload.PhaseShuffle, workload.PhaseMerge, workload.PhaseReduce, workload.PhaseCommit},
}

// WriteSamples writes the sampling records that HiTune's agents would have
// collected in a run: the stack of each thread of an attempt, and the use of
// devices. Where the spans of an attempt are known, each thread is sampled; else
// threads are known by the phases of their attempts.
func WriteSamples(w io.Writer, in Input, every Sampling) error {
	out := &sampler{w: bufio.NewWriterSize(w, 1<<18), every: every}
	out.w.WriteString(strings.Join(sampleColumns, ",") + "\n")
	b, spans := keep(in.Jobs, in.Rows), spansByAttempt(in.Spans)
	conf := workload.Conf{}
	if in.Question != nil {
		conf = in.Question.Cluster.Conf
	}
	for i := range int32(b.rows) {
		a := b.at(i)
		if !a.timed() || a.kind > workload.Reduce || every.Tasks <= 0 {
			continue
		}
		own := conf
		if in.Question != nil {
			for k := range in.Question.Jobs {
				if in.Question.Jobs[k].ID == b.jobs[a.job].id {
					own = own.Over(in.Question.Jobs[k].Conf)
				}
			}
		}
		copiers, err := own.Int("mapred.reduce.parallel.copies", 5)
		if err != nil {
			return err
		}
		if of := spans[b.attemptID(a)]; len(of) > 0 {
			out.traced(b, a, of, max(1, copiers))
			continue
		}
		out.attempt(b, a, max(1, copiers))
	}
	if every.System > 0 {
		out.devices(in.Resources)
	}
	return out.w.Flush()
}

// sampler writes records.
type sampler struct {
	w     *bufio.Writer
	every Sampling
	line  []byte
}

// escapeSample writes the characters that separate the parts of a record as %XX.
func escapeSample(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || strings.IndexByte(`,|;%"#`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// part is a stretch of a thread's time whose samples alternate between values in
// proportion to their weights.
type part struct {
	length  time.Duration
	values  []string
	weights []float64
}

// attempt writes the records of the threads of an attempt.
func (s *sampler) attempt(b *books, a *attempt, copiers int) {
	thread := escapeSample(fmt.Sprintf("%s/%d", b.name(a), a.number))
	var main []part
	shuffle := part{}
	before := time.Duration(0) // until the shuffle
	for _, p := range sequence[a.kind] {
		group := []workload.Phase{p}
		if slices.Contains(interleaved[a.kind], p) {
			group = interleaved[a.kind]
		}
		var stretch part
		for _, q := range group {
			d := max(0, a.phases[q])
			if !workload.Known(a.phases[q]) || d == 0 {
				continue
			}
			stack := mainStacks[q]
			if q == workload.PhaseMerge {
				stack.state, stack.frames = "RUNNABLE", mergeStack[a.kind]
			}
			stretch.length += d
			stretch.values, stretch.weights = append(stretch.values, stack.state+"|main|"+stack.frames), append(stretch.weights, d.Seconds())
		}
		if p == workload.PhaseShuffle {
			shuffle = stretch
		} else if shuffle.length == 0 {
			before += stretch.length
		}
		main = append(main, stretch)
	}
	s.thread(b, a, thread+"#0", 0, main)
	if a.kind == workload.Map {
		// One spill is written by the main thread, in flush. More are not
		// separated from the phases of the main thread.
		idle := "WAITING|SpillThread|" + spillIdle
		s.thread(b, a, thread+"#1", max(0, a.phases[workload.PhaseStartup]), []part{{length: a.finish - a.start - max(0, a.phases[workload.PhaseStartup]), values: []string{idle}, weights: []float64{1}}})
		return
	}
	if shuffle.length == 0 {
		return
	}
	waits, blocked := max(0, a.waitFetch).Seconds(), max(0, a.waitMemory).Seconds()
	works := max(0, shuffle.length.Seconds()-waits-blocked)
	for n := range copiers {
		name := fmt.Sprintf("|MapOutputCopier %s.%d|", thread, n)
		s.thread(b, a, thread+"#"+strconv.Itoa(1+n), before, []part{{
			length: shuffle.length,
			values: []string{
				"RUNNABLE" + name + fetchStack,
				"WAITING" + name + copierIdle,
				"WAITING" + name + reserveStack,
			},
			weights: []float64{works, waits, blocked},
		}})
	}
}

// thread writes the records of one thread, whose parts begin some time after the
// attempt.
func (s *sampler) thread(b *books, a *attempt, target string, after time.Duration, parts []part) {
	node := escapeSample(b.node(a))
	begin := a.start + after
	at := (begin + s.every.Tasks - 1) / s.every.Tasks * s.every.Tasks
	for _, p := range parts {
		end := begin + p.length
		if end > a.finish {
			end = a.finish
		}
		given := make([]float64, len(p.values)) // samples of each value
		total := 0.0
		for _, w := range p.weights {
			total += w
		}
		for n := 1.0; at < end && total > 0; n++ {
			best := 0 // furthest below its part of n samples
			for i, w := range p.weights {
				if n*w/total-given[i] > n*p.weights[best]/total-given[best] {
					best = i
				}
			}
			given[best]++
			s.record(at, node, taskSample, target, p.values[best])
			at += s.every.Tasks
		}
		begin = end
	}
}

func (s *sampler) record(at time.Duration, node, kind, target, value string) {
	s.line = strconv.AppendInt(s.line[:0], int64(at), 10)
	for _, cell := range []string{node, kind, target, value} {
		s.line = append(append(s.line, ','), cell...)
	}
	s.w.Write(append(s.line, '\n'))
}

// devices writes the busy share of each device of each node.
func (s *sampler) devices(usage []Usage) {
	r := newResources(usage)
	for _, device := range r.names {
		for _, u := range r.devices[device] {
			if len(u.rows) == 0 || strings.HasSuffix(device, "-slots") {
				continue
			}
			last := u.rows[len(u.rows)-1].Time
			for at := time.Duration(0); at < last; at += s.every.System {
				if busy, ok := u.mean(u.work, at, at+s.every.System); ok {
					s.record(at+s.every.System, escapeSample(u.node), deviceKind(device), escapeSample(device), strconv.FormatFloat(busy, 'g', 4, 64))
				}
			}
		}
	}
}
