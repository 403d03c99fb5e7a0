package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/study/calibrate"
)

func TestMicrobench(t *testing.T) {
	path := filepath.Join(t.TempDir(), "profile.csv")
	code, text, errs := call("", "platform", "bench", "dl145-g3", "--out", path)
	if code != exitDone || !strings.Contains(text, "8550 rows of 7 phases") {
		t.Fatalf("exit %d: %s%s", code, text, errs)
	}
	if code, printed, errs := call("", "platform", "bench", "dl145-g3"); code != exitDone || printed != read(t, path) {
		t.Errorf("exit %d: %s: what is printed is not what was written", code, errs)
	}
	if _, printed, _ := call("", "platform", "bench", "dl145-g3", "--seed", "2"); printed == read(t, path) {
		t.Error("another seed places the same blocks")
	}
	// Merges jump from 0 to a line where the second spill comes: one line through
	// both is no size to go by.
	code, text, errs = call("", "platform", "fit", path)
	if code != exitDone || !strings.Contains(text, "merge    two: from 25.6 MB on") {
		t.Errorf("fit: exit %d: %s\n%s", code, errs, text)
	}
}

// Without contention a phase takes what its data takes; the grid is the paper's.
func TestMicrobenchAlone(t *testing.T) {
	bed, err := calibrate.OpenTestbed("dl145-g3", "phase", 1)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := bed.Profile(platform.BenchmarkRow)
	if err != nil {
		t.Fatal(err)
	}
	m := bed.Cluster.Machines[0]
	perMB := (1<<20)*1000/m.Disks[0].Read + (1<<20)*m.CPU.HDFSRead/m.Speed/1e6
	names := append(platform.Phases[:], platform.SortPhase)
	for i, phase := range profile {
		want := 1200
		if phase.Phase == "shuffle" || phase.Phase == platform.SortPhase {
			want = 1275
		}
		if phase.Phase != names[i] || len(phase.Rows) != want {
			t.Errorf("%s: %d rows, want %d of %s", phase.Phase, len(phase.Rows), want, names[i])
		}
	}
	for _, r := range profile[0].Rows {
		if math.Abs(r.MS-r.MB*perMB) > 1e-3 {
			t.Fatalf("reading %v MB takes %v ms, want %v", r.MB, r.MS, r.MB*perMB)
		}
	}
	if last := profile[4].Rows[len(profile[4].Rows)-1].MB; last != 10240 {
		t.Errorf("the largest shuffle has %v MB, want 10240", last)
	}
}

func TestMicrobenchErrors(t *testing.T) {
	path := write(t, "profile.csv", "")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"dl145"}, "dl145-g3, ec2-large"},
		{[]string{"dl145-g3", "--fidelity", "replay"}, "want phase or device"},
		{[]string{"dl145-g3", "--fidelity", "devices"}, "want phase or device"},
		{[]string{"dl145-g3", "--row", "0"}, "--row 0: want"},
		{[]string{"dl145-g3", "--out", path}, "file exists"},
		{[]string{write(t, "platform.toml", "cores = 4\n")}, "memory"},
	} {
		code, _, errs := call("", append([]string{"platform", "bench"}, test.args...)...)
		if code != exitInput || !strings.Contains(errs, test.want) {
			t.Errorf("%q: exit %d, %s; want %q", test.args, code, errs, test.want)
		}
	}
}
