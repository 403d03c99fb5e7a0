package study_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study/inspect"
)

// Of jobs without tasks it says what their counters tell, and invents no slots.
func TestJobsWithoutTasks(t *testing.T) {
	for table, want := range map[string]inspect.RecordedName{
		"job,maps,submit_s,finish_s,slots_millis_maps\nj,4,0,60,9000\n": {Name: "j", Jobs: 1, Maps: 4, SlotTime: 9e9, Median: 60e9},
		"job,maps,submit_s,finish_s\nj,4,0,60\n":                        {Name: "j", Jobs: 1, Maps: 4, Median: 60e9},
	} {
		path := filepath.Join(t.TempDir(), "jobs.csv")
		if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
			t.Fatal(err)
		}
		found, _, err := inspect.Inspect([]string{path}, scenarios.Reading{})
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
