package main

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// A recorded case is held against its simulation row by row: the same attempts
// on the same trackers at the same milliseconds.

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

// agreement is how well a simulated run matches a recorded one.
type agreement struct {
	name                string
	run                 string
	deterministic       bool // Hadoop itself repeated the run exactly
	attempts            int  // recorded
	exact               int
	missing, additional int
	largest             int64 // ms, over attempts on the right tracker
	makespan, simulated int64
	first               string // the first difference, for a reader
}

// rowsOf collects a simulated run's executions.
type rowsOf struct {
	trackerSlots map[string]int // map slots by node
	rows         map[attemptKey]execution
}

func (r *rowsOf) Attempt(a *workload.Attempt) {
	slot := "map"
	switch {
	case a.Kind == workload.Reduce:
		slot = "reduce"
	case a.Kind != workload.Map && a.Slot >= r.trackerSlots[a.Node]:
		slot = "reduce"
	}
	r.rows[attemptKey{a.Job, a.Kind, slot, a.Task, a.Number}] = execution{
		a.Node, a.Start.Milliseconds(), a.Finish.Milliseconds(), a.State.String(),
	}
}

func compareRecorded(file string, run int) (*agreement, error) {
	s, err := scenarios.LoadRecorded(file, run)
	if err != nil {
		return nil, err
	}
	got := &rowsOf{map[string]int{}, map[attemptKey]execution{}}
	for _, n := range s.Question.Cluster.Nodes {
		got.trackerSlots[n.Name] = n.MapSlots
	}
	p, err := sim.Simulator{Recorder: got}.Predict(s.Question)
	if err != nil {
		return nil, fmt.Errorf("%s run %d: %w", file, run, err)
	}
	dir := filepath.Join(filepath.Dir(file), "run"+strconv.Itoa(run))
	want, order, err := readExecutions(filepath.Join(dir, "attempts.csv.gz"))
	if err != nil {
		return nil, err
	}
	a := &agreement{name: s.Name, run: "run" + strconv.Itoa(run), attempts: len(want)}
	if a.makespan, err = recordedMakespan(filepath.Join(dir, "jobs.csv")); err != nil {
		return nil, err
	}
	a.simulated = makespan(p)
	a.deterministic = repeats(filepath.Dir(file))
	for _, key := range order {
		w := want[key]
		g, ok := got.rows[key]
		delete(got.rows, key)
		if !ok {
			a.missing++
			a.note(key, w, execution{})
			continue
		}
		if w.finish < 0 {
			w.finish = g.finish // the recording does not say
		}
		if g.tracker == w.tracker {
			a.largest = max(a.largest, abs(g.start-w.start), abs(g.finish-w.finish))
		}
		if g.tracker == w.tracker && g.start == w.start && g.finish == w.finish {
			a.exact++
		} else {
			a.note(key, w, g)
		}
	}
	a.additional = len(got.rows)
	return a, nil
}

func (a *agreement) note(key attemptKey, want, got execution) {
	if a.first == "" {
		a.first = fmt.Sprintf("%s %s %d_%d: recorded %s %d-%d, simulated %s %d-%d", key.job, key.kind, key.task, key.attempt,
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
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	r := csv.NewReader(z)
	header, err := r.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	col := func(name string) int { return slices.Index(header, name) }
	rows := make(map[attemptKey]execution)
	var order []attemptKey
	for line := 2; ; line++ {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, order, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		number := func(name string) int64 {
			n, err := strconv.ParseInt(rec[col(name)], 10, 64)
			if err != nil {
				return -1
			}
			return n
		}
		key := attemptKey{job: rec[col("job")], slot: rec[col("slot")], task: int(number("index")), attempt: int(number("attempt"))}
		for k := workload.Map; k <= workload.TaskCleanup; k++ {
			if k.String() == rec[col("kind")] {
				key.kind = k
			}
		}
		if _, twice := rows[key]; twice {
			return nil, nil, fmt.Errorf("%s:%d: attempt listed twice", file, line)
		}
		rows[key] = execution{rec[col("tracker")], number("start_ms"), number("finish_ms"), rec[col("state")]}
		order = append(order, key)
	}
}

func recordedMakespan(file string) (int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
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

// repeats reports whether Hadoop gave the same attempts when a case was run
// again.
func repeats(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		return false
	}
	var s struct {
		Same bool `json:"identical_when_repeated"`
	}
	return json.Unmarshal(data, &s) == nil && s.Same
}

var _ = time.Second
