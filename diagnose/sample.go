package diagnose

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
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
	codes := make([]*code, len(b.jobs))
	for i, j := range b.jobs {
		var err error
		if codes[i], err = codeOf(j, in.Question); err != nil {
			return err
		}
	}
	for i := range int32(b.rows) {
		a := b.at(i)
		if !a.timed() || a.kind > workload.Reduce || every.Tasks <= 0 {
			continue
		}
		if of := spans[b.attemptID(a)]; len(of) > 0 {
			out.traced(b, a, of, codes[a.job])
			continue
		}
		out.attempt(b, a, codes[a.job])
	}
	if every.System > 0 {
		out.memory(b, codes, in.Question)
	}
	if every.System > 0 {
		out.devices(in.Resources)
	}
	return out.w.Flush()
}

// sampler writes records.
type sampler struct {
	w      *bufio.Writer
	every  Sampling
	line   []byte
	values []string // of one thread
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
func (s *sampler) attempt(b *books, a *attempt, c *code) {
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
			stretch.length += d
			stretch.values, stretch.weights = append(stretch.values, c.main(a.kind, q)), append(stretch.weights, d.Seconds())
		}
		if p == workload.PhaseShuffle {
			shuffle = stretch
		} else if shuffle.length == 0 {
			before += stretch.length
		}
		main = append(main, stretch)
	}
	s.thread(b, a, thread+"#0", 0, main, c)
	if a.kind == workload.Map {
		// One spill is written by the main thread, in flush. More are not
		// separated from the phases of the main thread.
		idle := "WAITING|SpillThread|" + spillIdle
		s.thread(b, a, thread+"#1", max(0, a.phases[workload.PhaseStartup]), []part{{length: a.finish - a.start - max(0, a.phases[workload.PhaseStartup]), values: []string{idle}, weights: []float64{1}}}, c)
		return
	}
	if shuffle.length == 0 {
		return
	}
	waits, blocked := max(0, a.waitFetch).Seconds(), max(0, a.waitMemory).Seconds()
	works := max(0, shuffle.length.Seconds()-waits-blocked)
	for n := range c.copiers {
		name := fmt.Sprintf("|MapOutputCopier %s.%d|", thread, n)
		s.thread(b, a, thread+"#"+strconv.Itoa(1+n), before, []part{{
			length: shuffle.length,
			values: []string{
				"RUNNABLE" + name + fetchStack,
				"WAITING" + name + copierIdle,
				"WAITING" + name + reserveStack,
			},
			weights: []float64{works, waits, blocked},
		}}, c)
	}
}

// thread writes the records of one thread, whose parts begin some time after the
// attempt.
func (s *sampler) thread(b *books, a *attempt, target string, after time.Duration, parts []part, c *code) {
	begin := a.start + after
	first := (begin + s.every.Tasks - 1) / s.every.Tasks * s.every.Tasks
	at := first
	s.values = s.values[:0]
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
			s.values = append(s.values, p.values[best])
			at += s.every.Tasks
		}
		begin = end
	}
	s.stacks(first, escapeSample(b.node(a)), target, c)
}

// stacks writes the values of a thread, one a sample. Of operators the first and the last
// sample are those that open and close them, whose time is not simulated.
func (s *sampler) stacks(first time.Duration, node, target string, c *code) {
	c.open(s.values)
	for i, value := range s.values {
		if value != "" {
			s.record(first+time.Duration(i)*s.every.Tasks, node, taskSample, target, value)
		}
	}
}

func (s *sampler) record(at time.Duration, node, kind, target, value string) {
	s.line = strconv.AppendInt(s.line[:0], int64(at), 10)
	for _, cell := range []string{node, kind, target, value} {
		s.line = append(append(s.line, ','), cell...)
	}
	s.w.Write(append(s.line, '\n'))
}

// memory writes the share of the memory of each node that the heaps of its attempts have.
func (s *sampler) memory(b *books, codes []*code, q *model.WhatIf) {
	if q == nil {
		return
	}
	for n, name := range b.nodes.list {
		i, err := findNode(&q.Cluster, name)
		if err != nil || q.Cluster.Nodes[i].Machine >= len(q.Cluster.Machines) {
			continue
		}
		has, last := float64(q.Cluster.Machines[q.Cluster.Nodes[i].Machine].Memory), time.Duration(0)
		var own []*attempt
		for row := range int32(b.rows) {
			if a := b.at(row); int(a.node) == n && a.timed() && a.kind <= workload.Reduce {
				own, last = append(own, a), max(last, a.finish)
			}
		}
		for at := s.every.System; has > 0 && at < last+s.every.System; at += s.every.System {
			used := 0.0
			for _, a := range own {
				if a.start <= at && a.finish > at {
					used += float64(codes[a.job].heaps[a.kind])
				}
			}
			s.record(at, escapeSample(name), "memory", "heaps", strconv.FormatFloat(used/has, 'g', 4, 64))
		}
	}
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
