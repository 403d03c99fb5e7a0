package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload"
)

// Two containers are in use until 10 s, one until 20 s. A map that is ready at 5 s and
// starts at 25 s waits for 20 s, in 15 s of which fewer than two are in use.
func TestContainersStandFreeWhileMapsWait(t *testing.T) {
	task := func(kind workload.Kind, from, to time.Duration) workload.HistoryTask {
		return workload.HistoryTask{Kind: kind, Attempts: []workload.HistoryAttempt{{Attempt: workload.Attempt{Start: from * time.Second, Finish: to * time.Second}}}}
	}
	first := workload.HistoryJob{Tasks: []workload.HistoryTask{task(workload.Map, 0, 10), task(workload.Reduce, 0, 20)}}
	second := workload.HistoryJob{Launch: 5 * time.Second, Tasks: []workload.HistoryTask{task(workload.Map, 25, 30)}}
	in := inspected{&workload.History{Jobs: []workload.HistoryJob{first, second}}, &Inspection{}}
	if got, want := in.waited(), (RecordedWait{Most: 2, Time: 20e9, Free: 15e9}); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	one := inspected{&workload.History{Jobs: []workload.HistoryJob{second}}, &Inspection{}}
	if got := one.waited(); got == nil || got.Time > 0 {
		t.Errorf("one map, whose wait may be the start of its container: got %+v, want no wait", got)
	}
	for i := range in.Jobs {
		in.Jobs[i].Launch = workload.UnknownTime
	}
	if got := in.waited(); got != nil {
		t.Errorf("without the time of initialisation: got %+v, want none", *got)
	}
}

// Of jobs without tasks it says what their counters tell, and invents no slots.
func TestJobsWithoutTasks(t *testing.T) {
	for table, want := range map[string]RecordedName{
		"job,maps,submit_s,finish_s,slots_millis_maps\nj,4,0,60,9000\n": {Name: "j", Jobs: 1, Maps: 4, SlotTime: 9e9, Median: 60e9},
		"job,maps,submit_s,finish_s\nj,4,0,60\n":                        {Name: "j", Jobs: 1, Maps: 4, Median: 60e9},
	} {
		path := filepath.Join(t.TempDir(), "jobs.csv")
		if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
			t.Fatal(err)
		}
		found, _, err := Inspect([]string{path}, scenarios.Reading{})
		if err != nil {
			t.Fatal(err)
		}
		if found.Names[0] != want || found.NoTimes != (want.SlotTime == 0) {
			t.Errorf("got %+v, no times %t: want %+v", found.Names[0], found.NoTimes, want)
		}
		for _, f := range found.Tells {
			if (strings.HasSuffix(f.Key, "_slots") || f.Key == "times of tasks") && f.Told != scenarios.NotTold {
				t.Errorf("got %+v: want a fact that is not told", f)
			}
		}
	}
}
