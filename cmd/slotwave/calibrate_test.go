package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/study"
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
		code, _, errs := call("", append([]string{"calibrate"}, test.args...)...)
		if code != exitInput || !strings.Contains(errs, test.want) {
			t.Errorf("%q: exit %d, %s; want %q", test.args[1:], code, errs, test.want)
		}
	}
}

// A platform's file may have any name.
func TestTestbedOfAnyName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bell\a \"del\x7f.toml")
	if err := os.WriteFile(path, []byte(verb(t, "show", "dl145-g3")), 0o666); err != nil {
		t.Fatal(err)
	}
	if bed, err := study.OpenTestbed(path, "phase", 1); err != nil || bed.Cluster.Machines[0].Cores == 0 {
		t.Error(err)
	}
}
