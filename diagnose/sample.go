package diagnose

import (
	"bufio"
	"fmt"
	"io"
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

// sequence is the order of the phases of an attempt, as far as it is recorded.
var sequence = [2][]workload.Phase{
	{workload.PhaseStartup, workload.PhaseRead, workload.PhaseMap, workload.PhaseCollect, workload.PhaseSpill, workload.PhaseMerge, workload.PhaseWrite, workload.PhaseCommit},
	{workload.PhaseStartup, workload.PhaseShuffle, workload.PhaseMerge, workload.PhaseReduce, workload.PhaseWrite, workload.PhaseCommit},
}

// WriteSamples writes the sampling records that HiTune's agents would have
// collected in a run: the stack of each thread of an attempt, and the use of
// devices. Where the spans of an attempt are known, each thread is sampled; else
// threads are known by the phases of their attempts.
func WriteSamples(w io.Writer, in Input, every Sampling) error {
	out := &sampler{w: bufio.NewWriterSize(w, 1<<18), every: every}
	out.w.WriteString(strings.Join(sampleColumns, ",") + "\n")
	b, spans := keep(in.Jobs, in.Rows, in.Localised), spansByAttempt(in.Spans)
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
		of := spans[b.attemptID(a)]
		known := len(of) > 0
		if !known {
			of = phasesOf(a, codes[a.job].copiers)
		}
		out.attempt(b, a, of, codes[a.job], known)
	}
	if every.System > 0 {
		out.memory(b, codes, in.Question)
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

// phasesOf gives an attempt whose spans are unknown those of its phases. Each copier works,
// then waits for memory, and has nothing to do for as long as it waits for maps.
func phasesOf(a *attempt, copiers int) (spans []model.Span) {
	at := a.start
	for _, p := range sequence[a.kind] {
		if a.phases[p] <= 0 { // or unknown
			continue
		}
		main := model.Span{Phase: p, Begin: at, End: min(a.finish, at+a.phases[p])}
		at = main.End
		if p == workload.PhaseShuffle {
			main.Wait = model.WaitFetch
			blocked := main.End - max(0, a.waitFetch)
			works := max(main.Begin, blocked-max(0, a.waitMemory))
			for n := range copiers {
				spans = append(spans,
					model.Span{Thread: model.CopierThread, Copier: n, Phase: p, Begin: main.Begin, End: works},
					model.Span{Thread: model.CopierThread, Copier: n, Phase: p, Wait: model.WaitMemory, Begin: works, End: max(works, blocked)})
			}
		}
		spans = append(spans, main)
	}
	return spans
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
	of := make([][]*attempt, len(b.nodes.list)) // by node
	for row := range int32(b.rows) {
		if a := b.at(row); a.timed() && a.kind <= workload.Reduce {
			of[a.node] = append(of[a.node], a)
		}
	}
	for n, name := range b.nodes.list {
		i, err := findNode(&q.Cluster, name)
		if err != nil || q.Cluster.Nodes[i].Machine >= len(q.Cluster.Machines) {
			continue
		}
		has, last := float64(q.Cluster.Machines[q.Cluster.Nodes[i].Machine].Memory), time.Duration(0)
		for _, a := range of[n] {
			last = max(last, a.finish)
		}
		for at := s.every.System; has > 0 && at < last+s.every.System; at += s.every.System {
			used := 0.0
			for _, a := range of[n] {
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
