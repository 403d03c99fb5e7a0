package cases

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// OnYARN is a run on YARN and what was asked.
type OnYARN struct {
	question *model.WhatIf
	done     *sim.OnYARN
	tables   *results.OnYARN
}

// SimulateOnYARN runs a study, which must be one on YARN.
func SimulateOnYARN(s *study.Study) (*OnYARN, error) {
	q := &s.Scenario.Runs[0].Question
	done, err := sim.RunOnYARN(q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Scenario.Inputs[0].Name, err)
	}
	return &OnYARN{q, done, study.OnYARN(q, done)}, nil
}

// Write writes the tables of the run.
func (r *OnYARN) Write(d resultdir.Target) error {
	w := resultdir.Writer{Dir: d}
	w.Write(results.ContainersName, results.WriteTable(r.tables.ContainerTable()))
	w.Write(results.JobsName, results.WriteTable(r.tables.ApplicationTable()))
	w.Write(results.AttemptsName, results.WriteTable(r.attempts()))
	return w.Err
}

// WriteText writes a line for each job and one for all.
func (r *OnYARN) WriteText(w io.Writer) error {
	first, last := engine.Never, engine.Time(0)
	for i := range r.question.Jobs {
		j := &r.question.Jobs[i]
		a := &r.done.Applications[i]
		if a.Submitted != yarn.None {
			first = min(first, a.Submitted)
		}
		end := "not ended"
		if at := r.done.Finished[i]; at != yarn.None {
			last = max(last, at)
			end = fmt.Sprintf("%.3f s", (at - a.Submitted).Duration().Seconds())
		}
		if _, err := fmt.Fprintf(w, "%s: %s, %s\n", j.ID, r.tables.Applications[i].State, end); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d containers, makespan %.3f s\n", len(r.done.Containers), max(last-first, 0).Duration().Seconds())
	return err
}

// instant writes an instant, or nothing for what did not happen.
func instant(t engine.Time) string {
	if t == yarn.None {
		return ""
	}
	return whole(t)
}

func whole[N ~int32 | ~int64](n N) string { return strconv.FormatInt(int64(n), 10) }

var yarnAttemptColumns = []string{
	"job", "kind", "index", "attempt", "container", "node", "locality",
	"launch_ns", "begin_ns", "maps_known_ns", "commit_pending_ns", "done_ns", "state",
}

func (r *OnYARN) attempts() [][]string {
	slices.SortStableFunc(r.done.Attempts, func(a, b sim.YARNAttempt) int {
		return cmp.Or(cmp.Compare(a.Launched, b.Launched), a.Job-b.Job, cmp.Compare(a.Container, b.Container), cmp.Compare(a.Task, b.Task))
	})
	rows := [][]string{yarnAttemptColumns}
	for i := range r.done.Attempts {
		a := &r.done.Attempts[i]
		container, locality, state := "am", "", ""
		if a.Container != 0 {
			container = results.ContainerName(a.Master, int(a.Container))
		}
		if a.Kind == workload.Map {
			locality = a.Locality.String()
		}
		if a.State != workload.Running {
			state = a.State.String()
		}
		rows = append(rows, []string{
			r.question.Jobs[a.Job].ID, a.Kind.String(), whole(a.Task), whole(a.Attempt), container, r.question.Cluster.Nodes[a.Node].Name, locality,
			instant(a.Launched), instant(a.Begun), instant(a.MapsKnown), instant(a.Pending), instant(a.Done), state,
		})
	}
	return rows
}

// TableGap is how far a table of a simulated run is from the recorded one.
type TableGap struct {
	Name       string
	Same, Rows int
	Extra      int    // simulated, not recorded
	First      string // key of the first recorded row that differs
}

// Compare compares the run with the record beside a case.json.
func (r *OnYARN) Compare(file string, run int) ([]TableGap, error) {
	dir := folderOf(file, run)
	var gaps []TableGap
	for _, t := range []struct {
		file string
		keys int
		rows [][]string
	}{
		{"containers.csv.gz", 2, r.tables.ContainerTable()},
		{"jobs.csv", 1, r.tables.ApplicationTable()},
		{"attempts.csv.gz", 4, r.attempts()},
	} {
		gap, err := compareTable(filepath.Join(dir, t.file), t.keys, t.rows)
		if err != nil {
			return nil, err
		}
		gaps = append(gaps, gap)
	}
	return gaps, nil
}

// compareTable compares rows with a recorded table whose instants are in ms. The first
// columns are the key of a row.
func compareTable(file string, keys int, rows [][]string) (TableGap, error) {
	gap := TableGap{Name: strings.TrimSuffix(filepath.Base(file), ".csv.gz")}
	gap.Name = strings.TrimSuffix(gap.Name, ".csv")
	got := make(map[string][]string)
	for _, row := range rows[1:] {
		for i, name := range rows[0] {
			if strings.HasSuffix(name, "_ns") && row[i] != "" {
				row[i] = strings.TrimSuffix(row[i], "000000")
			}
		}
		got[strings.Join(row[:keys], " ")] = row
	}
	recorded, err := readRows(file)
	if errors.Is(err, fs.ErrNotExist) { // of a case with scripted applications alone
		recorded, err = [][]string{nil}, nil
	}
	if err != nil {
		return gap, err
	}
	for _, want := range recorded[1:] {
		gap.Rows++
		key := strings.Join(want[:keys], " ")
		row, ok := got[key]
		delete(got, key)
		switch {
		case ok && slices.Equal(row, want):
			gap.Same++
		case gap.First == "":
			gap.First = fmt.Sprintf("%s: got %q, recorded %q", key, strings.Join(row, ","), strings.Join(want, ","))
		}
	}
	gap.Extra = len(got)
	return gap, nil
}
