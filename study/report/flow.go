package report

import (
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Flow is a dataflow: where data is worked on, and where it goes from there.
type Flow struct {
	Vertices []Vertex `json:"vertices"`
	Edges    []Edge   `json:"edges"`
}

// Vertex is a part of the tasks with the time that it works and waits, in
// microseconds. A vertex that only holds data has neither.
type Vertex struct {
	Name string `json:"name"`
	Busy int64  `json:"busy"`
	Idle int64  `json:"idle"`
	Runs int    `json:"runs"` // number of tasks that have it
}

// Edge is a flow from one vertex to another.
type Edge struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Bytes int64  `json:"bytes"` // 0: unknown
	Text  string `json:"text"`  // how it flows
}

// flows sums the successful maps and reduces of each job: each phase is a vertex, and
// counters are the bytes that pass from one to the next.
type flows map[string]*flowSums

func (f flows) add(a *workload.Attempt) {
	if a.State != workload.Succeeded || a.Kind > workload.Reduce {
		return
	}
	s := f[a.Job]
	if s == nil {
		s = &flowSums{}
		f[a.Job] = s
	}
	s.add(a)
}

// of returns the dataflow of a job; nil: nothing of it succeeded.
func (f flows) of(job string) *Flow {
	if f[job] == nil {
		return nil
	}
	return f[job].flow()
}

// flowSums are the sums over the attempts of a job, by kind and phase.
type flowSums struct {
	busy, idle [2][workload.NumPhases]time.Duration
	runs       [2][workload.NumPhases]int
	bytes      [numFlows]int64
}

// The flows of a job that counters measure.
const (
	intoMaps = iota
	outOfMaps
	intoReduces
	outOfJob
	numFlows
)

func (s *flowSums) add(a *workload.Attempt) {
	for p, d := range a.Phases {
		if d <= 0 {
			continue
		}
		idle := time.Duration(0)
		if workload.Phase(p) == workload.PhaseShuffle {
			idle = min(d, max(0, a.WaitFetch)+max(0, a.WaitMemory))
		}
		s.runs[a.Kind][p]++
		s.busy[a.Kind][p] += d - idle
		s.idle[a.Kind][p] += idle
	}
	if a.Kind == workload.Map {
		s.bytes[intoMaps] += max(0, a.HDFSReadBytes, a.InBytes)
		s.bytes[outOfMaps] += max(0, a.OutBytes)
	} else {
		s.bytes[intoReduces] += max(0, a.ShuffleBytes)
	}
	s.bytes[outOfJob] += max(0, a.HDFSWriteBytes)
}

// flowPhases are the phases of a task in the order in which data passes them.
var flowPhases = [2][]workload.Phase{
	{workload.PhaseRead, workload.PhaseMap, workload.PhaseCollect, workload.PhaseSpill, workload.PhaseMerge, workload.PhaseWrite},
	{workload.PhaseShuffle, workload.PhaseMerge, workload.PhaseReduce, workload.PhaseWrite},
}

func (s *flowSums) flow() *Flow {
	f := &Flow{Vertices: []Vertex{{Name: "HDFS"}}, Edges: []Edge{}}
	last := 0
	add := func(v Vertex, bytes int64) {
		f.Vertices, f.Edges = append(f.Vertices, v), append(f.Edges, Edge{From: last, To: len(f.Vertices), Bytes: bytes})
		last = len(f.Vertices) - 1
	}
	for kind, phases := range flowPhases {
		bytes := s.bytes[[2]int{intoMaps, intoReduces}[kind]]
		for _, p := range phases {
			if s.runs[kind][p] == 0 {
				continue
			}
			add(Vertex{
				Name: workload.Kind(kind).String() + ": " + p.String(), Busy: micros(s.busy[kind][p]), Idle: micros(s.idle[kind][p]), Runs: s.runs[kind][p],
			}, bytes)
			bytes = 0
			if workload.Kind(kind) == workload.Map && p == workload.PhaseMap {
				bytes = s.bytes[outOfMaps]
			}
		}
	}
	if last > 0 {
		add(Vertex{Name: "output"}, s.bytes[outOfJob])
	}
	return f
}

func micros(d time.Duration) int64 { return int64(d / time.Microsecond) }
