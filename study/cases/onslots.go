package cases

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// attemptKey identifies an execution within a run.
type attemptKey struct {
	job     string
	kind    workload.Kind
	slot    string // map or reduce
	task    int
	attempt int
}

type execution struct {
	tracker       string
	start, finish int64 // ms; finish -1: still running when the recording ended
	state         string
}

// Agreement describes how well a simulated run matches a recorded one.
type Agreement struct {
	Name, Hadoop string
	Run          int
	Repeats      bool   // Hadoop itself repeats the run exactly
	Attempts     int    // recorded
	Same         int    // simulated on the same tracker, with start and end in the same millisecond
	LargestMS    int64  // largest difference of a start or end, over attempts on the right tracker
	MakespanMS   int64  // recorded
	SimulatedMS  int64  // makespan
	First        string // description of the first difference; empty: all attempts are as recorded
	Outside      string // first figure of a job outside the range of the recorded runs
}

// rowsOf collects a simulated run's executions. Those that a tracker held when it died
// are also in lost, by job: the recorded counts leave them out.
type rowsOf struct {
	nodes map[string]*model.Node
	rows  map[attemptKey]execution
	lost  map[string][]workload.Attempt
}

func (r *rowsOf) Attempt(a *workload.Attempt) {
	node := r.nodes[a.Node]
	if node.Dies > 0 && a.Finish >= node.Dies && a.State == workload.Killed {
		r.lost[a.Job] = append(r.lost[a.Job], *a)
	}
	slot := "map"
	switch {
	case a.Kind == workload.Reduce, a.Kind == workload.ReduceTaskCleanup:
		slot = "reduce"
	case a.Kind != workload.Map && a.Slot >= node.MapSlots:
		slot = "reduce"
	}
	r.rows[attemptKey{a.Job, a.Kind, slot, a.Task, a.Number}] = execution{
		a.Node, a.Start.Milliseconds(), a.Finish.Milliseconds(), a.State.String(),
	}
}

// Compare simulates a run of a recorded case and compares each attempt with
// the recorded one: tracker, start and finish.
func Compare(file string, run int) (*Agreement, error) {
	f, err := scenarios.Open(file, fmt.Sprintf("run=%d", run))
	if err != nil {
		return nil, err
	}
	s, err := f.Scenario(1)
	if err != nil {
		return nil, err
	}
	q := s.Runs[0].Question
	got := &rowsOf{map[string]*model.Node{}, map[attemptKey]execution{}, map[string][]workload.Attempt{}}
	for i := range q.Cluster.Nodes {
		got.nodes[q.Cluster.Nodes[i].Name] = &q.Cluster.Nodes[i]
	}
	p, err := sim.Simulator{Recorder: got}.Predict(q)
	if err != nil {
		return nil, fmt.Errorf("%s run %d: %w", file, run, err)
	}
	dir := folderOf(file, run)
	want, order, err := readExecutions(filepath.Join(dir, "attempts.csv.gz"))
	if err != nil {
		return nil, err
	}
	a := &Agreement{Name: s.Name, Hadoop: q.Cluster.Hadoop, Run: run, Attempts: len(want)}
	if a.MakespanMS, err = recordedMakespan(filepath.Join(dir, "jobs.csv")); err != nil {
		return nil, err
	}
	a.SimulatedMS = makespan(p)
	recorded, err := readSpread(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	a.Repeats = recorded.Same
	for i := range p.Jobs {
		for _, lost := range got.lost[p.Jobs[i].ID] {
			p.Jobs[i].Killed--
			if lost.Kind == workload.Map {
				p.Jobs[i].Locality[lost.Locality]--
			}
		}
	}
	a.Outside = recorded.outside(p)
	for _, key := range order {
		w := want[key]
		g, ok := got.rows[key]
		delete(got.rows, key)
		if !ok {
			a.note(key, w, execution{})
			continue
		}
		if w.finish < 0 {
			w.finish = g.finish // not recorded
		}
		if g.tracker == w.tracker {
			a.LargestMS = max(a.LargestMS, abs(g.start-w.start), abs(g.finish-w.finish))
		}
		if g.tracker == w.tracker && g.start == w.start && g.finish == w.finish {
			a.Same++
		} else {
			a.note(key, w, g)
		}
	}
	if n := len(got.rows); n > 0 && a.First == "" {
		a.First = workload.Counted(n, "attempt is", "attempts are") + " not recorded"
	}
	return a, nil
}

func (a *Agreement) note(key attemptKey, want, got execution) {
	if a.First == "" {
		a.First = fmt.Sprintf("%s %s %d_%d: recorded %s %d-%d, simulated %s %d-%d", key.job, key.kind, key.task, key.attempt,
			want.tracker, want.start, want.finish, got.tracker, got.start, got.finish)
	}
}

func abs(x int64) int64 { return max(x, -x) }

func makespan(p model.Prediction) int64 {
	first, last := int64(math.MaxInt64), int64(0)
	for _, j := range p.Jobs {
		first = min(first, j.Submit.Milliseconds())
		last = max(last, j.Finish.Milliseconds())
	}
	return last - first
}

// readExecutions reads a recorded attempts table.
func readExecutions(file string) (map[attemptKey]execution, []attemptKey, error) {
	table, err := readRows(file)
	if err != nil {
		return nil, nil, err
	}
	rows := make(map[attemptKey]execution)
	var order []attemptKey
	for i, rec := range table[1:] {
		text := func(name string) string { return rec[slices.Index(table[0], name)] }
		number := func(name string) int64 {
			n, err := strconv.ParseInt(text(name), 10, 64)
			if err != nil {
				return -1
			}
			return n
		}
		key := attemptKey{job: text("job"), slot: text("slot"), task: int(number("index")), attempt: int(number("attempt"))}
		for k := workload.Map; k <= workload.TaskCleanup; k++ {
			if k.String() == text("kind") {
				key.kind = k
			}
		}
		if key.kind == workload.TaskCleanup && key.slot == "reduce" { // recorded under one name
			key.kind = workload.ReduceTaskCleanup
		}
		if _, twice := rows[key]; twice {
			return nil, nil, fmt.Errorf("%s:%d: attempt listed twice", file, i+2)
		}
		rows[key] = execution{text("tracker"), number("start_ms"), number("finish_ms"), text("state")}
		order = append(order, key)
	}
	return rows, order, nil
}

func recordedMakespan(file string) (int64, error) {
	rows, err := readRows(file)
	if err != nil {
		return 0, err
	}
	submit, finish := slices.Index(rows[0], "submit_ms"), slices.Index(rows[0], "finish_ms")
	first, last := int64(math.MaxInt64), int64(0)
	for _, row := range rows[1:] {
		s, _ := strconv.ParseInt(row[submit], 10, 64)
		e, _ := strconv.ParseInt(row[finish], 10, 64)
		first, last = min(first, s), max(last, e)
	}
	return last - first, nil
}

// spread holds the range of figures over the recorded runs of one case.
type spread struct {
	Same bool `json:"identical_when_repeated"`
	Runs map[string]struct {
		Jobs map[string]struct {
			Duration int64          `json:"duration_ms"`
			Locality map[string]int `json:"locality"`
			Killed   int            `json:"killed_attempts"`
		} `json:"jobs"`
	} `json:"runs"`
}

func readSpread(dir string) (*spread, error) {
	file := filepath.Join(dir, "summary.json")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &spread{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// outside returns the first figure of a job outside the range of the recorded
// runs.
func (s *spread) outside(p model.Prediction) string {
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if j.Finish < 0 {
			continue
		}
		for _, figure := range []struct {
			what string
			got  int64
			of   func(run string) int64
		}{
			{"duration_ms", (j.Finish - j.Submit).Milliseconds(), func(r string) int64 { return s.Runs[r].Jobs[j.ID].Duration }},
			{"node-local maps", int64(j.Locality[workload.NodeLocal]), func(r string) int64 { return int64(s.Runs[r].Jobs[j.ID].Locality["node"]) }},
			{"rack-local maps", int64(j.Locality[workload.RackLocal]), func(r string) int64 { return int64(s.Runs[r].Jobs[j.ID].Locality["rack"]) }},
			{"killed attempts", int64(j.Killed), func(r string) int64 { return int64(s.Runs[r].Jobs[j.ID].Killed) }},
		} {
			low, high := int64(math.MaxInt64), int64(math.MinInt64)
			for _, run := range slices.Sorted(maps.Keys(s.Runs)) {
				low, high = min(low, figure.of(run)), max(high, figure.of(run))
			}
			if figure.got < low || figure.got > high {
				return fmt.Sprintf("%s: %s %d, recorded %d to %d", j.ID, figure.what, figure.got, low, high)
			}
		}
	}
	return ""
}
