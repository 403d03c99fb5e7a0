package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/study/calibrate"
)

func TestCalibrateErrors(t *testing.T) {
	profile := brokenProfile(60)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{write(t, "p.csv", strings.ReplaceAll(profile, "write,", "writing,"))}, "write: no rows of this phase"},
		{[]string{write(t, "p.csv", "phase,row\n")}, "line 1"},
		{[]string{write(t, "p.csv", profile), "--platform", "dl145"}, "dl145-g3, ec2-large"},
		{[]string{write(t, "p.csv", profile), "--row", "0"}, "--row 0: want"},
		{[]string{"nothing.csv"}, "nothing.csv"},
		{[]string{write(t, "p.csv", profile), "--grid", write(t, "g.csv", "mb_per_map,selectivity,maps\n")}, "no column reduces"},
		{[]string{write(t, "p.csv", profile), "--grid", write(t, "g.csv", "mb_per_map,selectivity,maps,reduces\n8,1,x,2\n")}, `line 2: maps "x"`},
		{[]string{write(t, "p.csv", profile), "--grid", write(t, "g.csv", "mb_per_map,selectivity,maps,reduces\n8,1,0,2\n")}, "line 2: N_map"},
	} {
		code, _, errs := call("", append([]string{"platform", "calibrate"}, test.args...)...)
		if code != exitInput || !strings.Contains(errs, test.want) {
			t.Errorf("%q: exit %d, %s; want %q", test.args[1:], code, errs, test.want)
		}
	}
}

// The documented steps on slotwave's own output: the profile of a platform with other
// disks, from which calibrate finds a platform that gives the same profile.
func TestCalibrateOwnOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the microbenchmarks 45 times")
	}
	dir := t.TempDir()
	profile, found := filepath.Join(dir, "my-profile.csv"), filepath.Join(dir, "my-platform.toml")
	slower := write(t, "slower.toml", strings.NewReplacer("read_mb = 60", "read_mb = 48", "write_mb = 55", "write_mb = 40").Replace(verb(t, "show", "dl145-g3")))
	verb(t, "platform", "bench", slower, "--fidelity", "phase", "--out", profile)
	text := verb(t, "platform", "calibrate", profile, "--platform", "dl145-g3", "--out", found)
	again, err := platform.ReadProfile(strings.NewReader(verb(t, "platform", "bench", found, "--fidelity", "phase")))
	if err != nil {
		t.Fatal(err)
	}
	asked, err := platform.ReadProfile(strings.NewReader(read(t, profile)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range asked {
		for k, row := range asked[i].Rows {
			if got := again[i].Rows[k].MS; row.MS > 1 && math.Abs(got/row.MS-1) > 0.005 {
				t.Fatalf("%s of %g MB takes %g ms, measured %g ms\n%s", asked[i].Phase, row.MB, got, row.MS, text)
			}
		}
	}
}

// A platform's file may have any name.
func TestTestbedOfAnyName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bell\a \"del\x7f.toml")
	if err := os.WriteFile(path, []byte(verb(t, "show", "dl145-g3")), 0o666); err != nil {
		t.Fatal(err)
	}
	if bed, err := calibrate.OpenTestbed(path, "phase", 1); err != nil || bed.Cluster.Machines[0].Cores == 0 {
		t.Error(err)
	}
}
