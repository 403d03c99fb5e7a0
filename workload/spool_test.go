package workload

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// manyMaps is a job of so many maps that each take another time.
func manyMaps(id string, n int) *HistoryJob {
	j := NewHistoryJob(id)
	j.Outcome, j.Submit, j.Finish = Succeeded, 0, time.Hour
	for i := range n {
		task := NewHistoryTask(Map, false, i)
		a := NewHistoryAttempt(j.ID, "", Map, i, 0)
		a.State, a.Start, a.Finish, a.InBytes, a.InRecords = Succeeded, 0, time.Duration(i+1)*time.Millisecond, int64(i), int64(i)
		task.Attempts = []HistoryAttempt{a}
		j.Tasks = append(j.Tasks, task)
	}
	return &j
}

// TestSpilledProfiles: profiles of single jobs go to a file and come back, in
// their order among those of several runs.
func TestSpilledProfiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const jobs = 900
	p, plain := Profiler{Spill: true}, Profiler{}
	for i := range jobs {
		j := manyMaps(fmt.Sprintf("job_1_%04d", i), 40+i%3)
		if i%300 == 1 {
			j.Name = "recurs"
		}
		p.Add(j)
		plain.Add(j)
	}
	if p.done.file == nil {
		t.Fatal("nothing was spilled")
	}
	if p.Len() != jobs-2 || len(p.order) != 1 {
		t.Errorf("%d profiles, %d in memory", p.Len(), len(p.order))
	}
	want := plain.Profiles()
	for range 2 { // Each begins anew
		n := 0
		err := p.Each(func(got *Profile) error {
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want[n]) {
				return fmt.Errorf("profile %d:\n%+v\nwant\n%+v", n, got, want[n])
			}
			n++
			return nil
		})
		if err != nil || n != len(want) {
			t.Fatal(n, err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
