package results

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// Jobs of two runs come by the size of their change, those that only one run ends last,
// and the text is cut to a screen.
func TestComparedJobs(t *testing.T) {
	jobs := []sampleJob{{"job_1", "one", "etl", 0, 4, 1, 2 * time.Second}}
	runs := []*Run{sample(t, "first", sampleCluster(2, 1, 1), 1, jobs), sample(t, "second", sampleCluster(2, 1, 1), 1, jobs)}
	runs[1].Predictions[0].Jobs = slices.Clone(runs[0].Predictions[0].Jobs)
	set := func(r *Run, id string, took time.Duration) {
		j := r.Predictions[0].Jobs[0]
		j.ID, j.Name, j.Submit, j.Finish = id, id, 5*time.Second, 5*time.Second+took
		if took < 0 {
			j.Finish = -1
		}
		r.Predictions[0].Jobs = append(r.Predictions[0].Jobs, j)
	}
	c := &Comparison{Runs: runs, Answers: &Answers{}}
	text := func() string {
		var out bytes.Buffer
		if err := c.jobsText(&out, false); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := text(); !strings.Contains(got, "no job changes (1 job)") {
		t.Errorf("equal runs: %s", got)
	}
	runs[0].Predictions[0].Jobs, runs[1].Predictions[0].Jobs = runs[0].Predictions[0].Jobs[:1:1], runs[1].Predictions[0].Jobs[:1:1]
	set(runs[0], "shorter", 100*time.Second)
	set(runs[0], "longer", 10*time.Second)
	set(runs[0], "gone", 10*time.Second)
	set(runs[0], "same", 10*time.Second)
	set(runs[1], "longer", 30*time.Second)
	set(runs[1], "shorter", 50*time.Second)
	set(runs[1], "same", 10*time.Second)
	set(runs[1], "new", -1)
	var out bytes.Buffer
	if err := writeRows(c.jobs())(&out); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(out.String(), "\n")
	want := []string{
		"job,name,first_ns,second_ns,ratio", "shorter,shorter,100000000000,50000000000,0.5", "longer,longer,10000000000,30000000000,3",
	}
	for i, row := range want {
		if rows[i] != row {
			t.Errorf("row %d: got %q: want %q", i, rows[i], row)
		}
	}
	if !strings.Contains(out.String(), "\ngone,gone,10000000000,,\nnew,new,,,\n") {
		t.Errorf("want jobs that only one run ends last: %s", &out)
	}
	if got := text(); !strings.Contains(got, "10.0 s           not in this run") || !strings.Contains(got, "not in this run  did not end") {
		t.Errorf("got %s", got)
	}
	for i := range 20 {
		id := "job" + string(rune('a'+i))
		set(runs[0], id, time.Duration(10+i)*time.Second)
		set(runs[1], id, time.Duration(10+2*i)*time.Second)
	}
	if got := text(); strings.Count(got, "\n") != 1+1+15+1 || !strings.Contains(got, "and 11 more, with smaller changes or none (compare.csv)") {
		t.Errorf("got %s", got)
	}
	if c.Answers = nil; len(c.jobs()) > 0 {
		t.Error("a run with [vary] has compare.csv")
	}
}
