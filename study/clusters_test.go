package study_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/study/diagnosis"
)

// A job of one of two clusters in a folder is diagnosed without the slots of the other.
func TestOneCluster(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 1000)
	name := filepath.Join(dir, "job_201312062236_0001_u_sort")
	history, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	findings := func() (all []string) {
		t.Helper()
		d, err := diagnosis.Diagnose([]string{dir}, diagnosis.Options{Job: "job_201312062236_*"})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range d.Findings {
			all = append(all, f.Rule+": "+f.Evidence)
		}
		return all
	}
	alone := findings()
	other := strings.NewReplacer("201312062236", "201412062236", "tracker_n", "tracker_m", "/r/n", "/r/m", "\"13863", "\"14863").Replace(string(history))
	if err := os.WriteFile(filepath.Join(dir, "job_201412062236_0001_u_sort"), []byte(other), 0o666); err != nil {
		t.Fatal(err)
	}
	if both := findings(); strings.Join(both, "\n") != strings.Join(alone, "\n") {
		t.Errorf("beside another cluster got %q: want %q", both, alone)
	}
	if _, err := diagnosis.Diagnose([]string{dir}, diagnosis.Options{Job: "of*"}); err == nil || !strings.Contains(err.Error(), "--job 'job_201412062236_0001'") {
		t.Errorf("got %v: want the flags for each cluster", err)
	}
}
