package results

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// TestDeadlines checks which jobs are in time: one that ends at the instant of its
// deadline, none that ends later, fails or never ends.
func TestDeadlines(t *testing.T) {
	job := func(id string, finish, deadline int, state workload.State) model.JobOutcome {
		return model.JobOutcome{
			ID: id, State: state, Submit: 10 * time.Second,
			Finish: time.Duration(finish) * time.Second, Deadline: time.Duration(deadline) * time.Second,
		}
	}
	jobs := []model.JobOutcome{
		job("in-time", 40, 40, workload.Succeeded),
		job("late", 41, 40, workload.Succeeded),
		job("failed", 30, 40, workload.Failed),
		job("free", 90, 0, workload.Succeeded),
	}
	unfinished := job("never", 0, 40, workload.Running)
	unfinished.Finish = -1
	jobs = append(jobs, unfinished)

	var out bytes.Buffer
	if err := writeJobs(&out, jobs); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"deadline_ns,deadline_met", "40000000000,true", "40000000000,false", "40000000000,false", ",", "40000000000,false"} {
		if got := strings.Join(rows[i][len(rows[i])-2:], ","); got != want {
			t.Errorf("row %d ends with %s: want %s", i, got, want)
		}
	}

	again := append([]model.JobOutcome(nil), jobs...)
	again[0].Finish += time.Minute
	r := Run{Predictions: []model.Prediction{{Jobs: jobs}, {Jobs: again}}}
	d := r.deadlines()
	if d.Jobs != 4 || d.Met != 0.5 || len(d.Missed) != 4 {
		t.Fatalf("%+v: want 4 jobs with a deadline, 0.5 in time in the mean, 4 late", d)
	}
	for i, want := range []struct {
		id     string
		missed int
	}{{"never", 2}, {"in-time", 1}, {"late", 2}, {"failed", 2}} {
		if m := d.Missed[i]; m.ID != want.id || m.Missed != want.missed || m.Deadline != int64(30*time.Second) {
			t.Errorf("late job %d: %+v: want %s, late in %d runs, 30 s after its submission", i, m, want.id, want.missed)
		}
	}
	var written bytes.Buffer
	w := text.NewWriter(&written, false)
	d.table(w, 2)
	if err := w.Done(); err != nil || !strings.Contains(written.String(), "in-time  30.0 s") || !strings.Contains(written.String(), "1 of 2") {
		t.Errorf("%v, text:\n%s", err, &written)
	}
	if r.Predictions = r.Predictions[:1]; r.deadlines().text(1) != "1 of 4 met" {
		t.Errorf("one run: %s", r.deadlines().text(1))
	}
	if r.Predictions[0].Jobs = jobs[3:4]; r.deadlines() != nil {
		t.Error("a run without deadlines states some")
	}
}
