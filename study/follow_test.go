package study_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/study/diagnosis"
)

// written writes the history of a job with 40 maps of 10 s on 6 slots, which start
// one after another, up to an instant in seconds; others are submitted then, of which the
// third has to wait.
func written(t *testing.T, dir string, until int, others ...string) {
	t.Helper()
	const first, slots, took = 1386370578, 6, 10
	var b strings.Builder
	job := func(id string, at int) {
		fmt.Fprintf(&b, "Job JOBID=\"%s\" JOBNAME=\"of %s\" USER=\"u\" SUBMIT_TIME=\"%d000\" JOBCONF=\"\" .\n", id, id, first+at)
		if strings.HasSuffix(id, "3") {
			return
		}
		fmt.Fprintf(&b, "Job JOBID=\"%s\" LAUNCH_TIME=\"%d000\" TOTAL_MAPS=\"40\" TOTAL_REDUCES=\"0\" JOB_STATUS=\"PREP\" .\n", id, first+at)
	}
	b.WriteString("Meta VERSION=\"1\" .\n")
	if until >= 0 {
		job("job_201312062236_0001", 0)
	}
	for m := range 40 {
		start, task := m/slots*took+m%slots, fmt.Sprintf("TASK_TYPE=\"MAP\" TASKID=\"task_201312062236_0001_m_%06d\"", m)
		attempt := fmt.Sprintf("MapAttempt %s TASK_ATTEMPT_ID=\"attempt_201312062236_0001_m_%06d_0\"", task, m)
		if start <= until {
			fmt.Fprintf(&b, "Task %s START_TIME=\"%d000\" SPLITS=\"\" .\n", task, first+start)
			fmt.Fprintf(&b, "%s START_TIME=\"%d000\" TRACKER_NAME=\"tracker_n%d:localhost/127\\.0\\.0\\.1:1\" HTTP_PORT=\"50060\" .\n", attempt, first+start, m%2)
		}
		if end := start + took; end <= until {
			fmt.Fprintf(&b, "%s TASK_STATUS=\"SUCCESS\" FINISH_TIME=\"%d000\" HOSTNAME=\"/r/n%d\" STATE_STRING=\"\" COUNTERS=\"\" .\n", attempt, first+end, m%2)
			fmt.Fprintf(&b, "Task %s TASK_STATUS=\"SUCCESS\" FINISH_TIME=\"%d000\" COUNTERS=\"\" .\n", task, first+end)
		}
	}
	for _, id := range others {
		job(id, until)
	}
	if err := os.WriteFile(filepath.Join(dir, "job_201312062236_0001_u_sort"), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A history that is written while it is followed: nothing yet, then a third of a job.
func TestStandings(t *testing.T) {
	dir, steps := t.TempDir(), []int{30}
	written(t, dir, -1)
	grown := func() bool {
		if len(steps) == 0 {
			return false
		}
		written(t, dir, steps[0], "job_201312062236_0002", "job_201312062236_0003")
		steps = steps[1:]
		return true
	}
	var seen []*diagnosis.Standing
	var b strings.Builder
	if err := (diagnosis.Options{}).Standings(dir, grown, func(s *diagnosis.Standing) error { seen = append(seen, s); return s.Text(&b) }); err != nil {
		t.Fatal(err)
	}
	t.Log(b.String())
	if len(seen) != 2 || seen[0].Begun || len(seen[1].Running) != 3 {
		t.Fatalf("got %d standings:\n%s", len(seen), b.String())
	}
	r := seen[1].Running[0]
	if r.Ended != [2]int{13, 0} || r.Tasks != [2]int{40, 0} || r.Unknown != "" {
		t.Errorf("%+v: want 13 of 40 maps", r)
	}
	for _, c := range []struct{ got, want time.Duration }{{r.Low, 46}, {r.End, 71}, {r.High, 162}} {
		if (c.got - c.want*time.Second).Abs() > 3*time.Second {
			t.Errorf("%v to %v, at %v: want %d s", r.Low, r.High, r.End, c.want)
		}
	}
	if slices.ContainsFunc(seen[1].Found, func(f diagnose.Finding) bool { return f.Rule == "R20" }) {
		t.Errorf("R20 counts the tasks of a job that runs")
	}
	for _, want := range []string{"no job has begun", "0002: 0 of 40 maps, 0 of 0 reduces; end not known: no map of it has ended; the others are predicted without it", "0003: no task is recorded; end not known"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %q in:\n%s", want, b.String())
		}
	}
	seen = nil
	if err := (diagnosis.Options{Job: "*_0002"}).Standings(dir, grown, func(s *diagnosis.Standing) error { seen = append(seen, s); return nil }); err != nil || len(seen[0].Running) != 1 {
		t.Errorf("%v, %v: want job 2 alone", err, seen)
	}
}
