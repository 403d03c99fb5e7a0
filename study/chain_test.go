package study

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

const chained = `
[cluster]
nodes = 4
[[job]]
name = "late"
submit = "1h"
maps = 1
map_ms = 1000
[[job]]
name = "report"
after = ["join", "scan"]
submit = "2s"
deadline = "10m"
maps = 8
map_ms = 10000
[[job]]
name = "join"
submit = "5s"
maps = 20
map_ms = 10000
[[job]]
name = "scan"
jobs = 3
interarrival = "1s"
maps = 4
map_ms = 10000
[[job]]
name = "load"
after = ["report"]
deadline = "1s"
maps = 1
map_ms = 1000
`

func chainOutcomes(t *testing.T, text string) (map[string]model.JobOutcome, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "chain.toml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Open(file, Options{Seed: 1})
	if err != nil {
		return nil, err
	}
	q := &s.Scenario.Runs[0].Question
	all := map[string]model.JobOutcome{}
	for range 2 { // the question is not changed by a run
		p, err := sim.Simulator{}.Predict(*q)
		if err != nil {
			return nil, err
		}
		for _, j := range p.Jobs {
			if before, again := all[j.ID]; again && before.Finish != j.Finish {
				t.Errorf("%s ends at %v, then at %v", j.ID, before.Finish, j.Finish)
			}
			all[j.ID] = j
		}
	}
	return all, nil
}

// A job with after is submitted the stated time after the last of the jobs that it
// names has ended, and its deadline counts from the submission of the first of them.
func TestChains(t *testing.T) {
	jobs, err := chainOutcomes(t, chained)
	if err != nil {
		t.Fatal(err)
	}
	last := jobs["join"].Finish
	for _, id := range []string{"scan-1", "scan-2", "scan-3"} {
		last = max(last, jobs[id].Finish)
	}
	report, load := jobs["report"], jobs["load"]
	if report.Submit != last+2*time.Second || load.Submit != report.Finish {
		t.Errorf("report is submitted at %v, load at %v: want %v and %v", report.Submit, load.Submit, last+2*time.Second, report.Finish)
	}
	if first := min(jobs["join"].Submit, jobs["scan-1"].Submit); report.Deadline != first+10*time.Minute || load.Deadline != first+time.Second {
		t.Errorf("deadlines %v and %v: want 10 min and 1 s after %v", report.Deadline, load.Deadline, first)
	}
	if !report.InTime() || load.InTime() || jobs["late"].Submit != time.Hour || !(load.Finish < time.Hour) {
		t.Errorf("report in time %v, load %v; late at %v", report.InTime(), load.InTime(), jobs["late"].Submit)
	}
}

func TestChainsRefused(t *testing.T) {
	for change, want := range map[[2]string]string{
		{`after = ["report"]`, `after = ["repot"]`}:              `after: got "repot"`,
		{`submit = "5s"`, `after = ["load"]`}:                    "circle",
		{`after = ["report"]`, "after = [\"report\"]\njobs = 2"}: "want one job",
		{"[cluster]", "[cluster]\nhadoop = \"3.3.6\""}:           "",
	} {
		_, err := chainOutcomes(t, strings.Replace(chained, change[0], change[1], 1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v: want %q", change, err, want)
		}
	}
}

// A calibration that makes every job a fifth too short makes a chain so too: b, which waits
// for a, is submitted later, and the chain is all of the makespan that may be off. A job
// that waits for nobody keeps its submission.
func TestCorrectedChain(t *testing.T) {
	s := time.Second
	q := &model.WhatIf{Programs: []model.Program{{Name: "p", Misfit: 1.2}}}
	for _, id := range []string{"a", "b", "c"} {
		q.Jobs = append(q.Jobs, workload.Job{ID: id, Program: "p"})
	}
	p := corrected(model.Prediction{Mean: 210 * s, Jobs: []model.JobOutcome{
		{ID: "b", After: []string{"a"}, Submit: 110 * s, Finish: 210 * s}, {ID: "a", Submit: 0, Finish: 100 * s}, {ID: "c", Submit: 50 * s, Finish: 60 * s},
	}}, q)
	want := []time.Duration{130 * s, 250 * s, 0, 120 * s, 50 * s, 62 * s}
	for i, j := range p.Jobs {
		if j.Submit != want[2*i] || j.Finish != want[2*i+1] {
			t.Errorf("%s: %v to %v: want %v to %v", j.ID, j.Submit, j.Finish, want[2*i], want[2*i+1])
		}
	}
	if p.Mean != 250*s || p.LastPart() != 1 {
		t.Errorf("makespan %v, of which %v may be off: want 250 s, all", p.Mean, p.LastPart())
	}
}
