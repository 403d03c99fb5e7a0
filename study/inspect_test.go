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

// It says what it left out, of an anonymised record only how much.
func TestLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "attempts.csv")
	if err := os.WriteFile(path, []byte("job,type,task,start_s,finish_s\nj,map,0,0,9\n"+strings.Repeat("j,zebra,1,0,9\n", 3)+"j,map,1,0,zebra\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for anonymise, want := range map[bool][]string{
		false: {path + ":3 and 2 others: kind \"zebra\"", path + ":6: finish_s = \"zebra\""},
		true:  {"4 places could not be read"},
	} {
		found, _, err := inspect.Inspect([]string{path}, scenarios.Reading{Anonymise: anonymise})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Warnings) != len(want) || found.Problems != 4 {
			t.Errorf("got %q, %d problems: want %q", found.Warnings, found.Problems, want)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(found.Warnings[i], want[i]) {
				t.Errorf("got %q: want %q", found.Warnings[i], want[i])
			}
		}
	}
}
