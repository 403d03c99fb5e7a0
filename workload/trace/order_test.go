package trace

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Jobs of one instant keep the order of their submission in every format that holds
// tasks, whatever their names.
func TestOrderOfSubmission(t *testing.T) {
	names := []string{"zeta", "alpha", "mid", "beta"}
	for i := range 12 { // more jobs than a number has digits
		names = append(names, fmt.Sprintf("more-%02d", 20-i))
	}
	var jobs []workload.Job
	var attempts []workload.Attempt
	for i, name := range names {
		jobs = append(jobs, workload.Job{ID: name, Name: name, Maps: workload.MapTasks{Count: 1}})
		a := workload.NewHistoryAttempt(name, "", workload.Map, 0, 0).Attempt
		a.State, a.Node, a.Start, a.Finish = workload.Succeeded, "n1", time.Second, time.Duration(100-i)*time.Second
		attempts = append(attempts, a)
	}
	slices.Reverse(attempts) // in the order of their ends
	h := NewHistory(jobs, attempts)
	for _, f := range Formats() {
		if !f.Reads() || !f.Writes() || slices.Contains([]string{swimFormat.Name, slsFormat.Name}, f.Name) {
			continue // these two have no names of jobs
		}
		out, err := f.Write(h)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, file := range out.Files {
			var b bytes.Buffer
			if err := file.Write(&b); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, file.Name), b.String())
		}
		var got []string
		for _, j := range mustOpen(t, dir).Jobs {
			got = append(got, j.Name)
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s: jobs came back as %v", f.Name, got)
		}
	}
}
