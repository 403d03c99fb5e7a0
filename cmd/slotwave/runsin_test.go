package main

import (
	"path/filepath"
	"strings"
	"testing"
)

const onceAndVaried = `[cluster]
nodes = 3
[[job]]
name = "a"
maps = 6
duration = "10s"
`

// TestRunsApart: the runs of a scenario that varies something, and results side
// by side, make one profile of as many runs; of a result nothing but its tables
// is read, so that nothing is lost.
func TestRunsApart(t *testing.T) {
	dir := t.TempDir()
	once := writeFile(t, filepath.Join(dir, "once.toml"), onceAndVaried)
	varied := writeFile(t, filepath.Join(dir, "varied.toml"), onceAndVaried+"[vary]\n\"cluster.nodes\" = [2, 4, 6, 8]\n")
	verb(t, "run", varied, "--set", "plots=none", "--out", filepath.Join(dir, "varied"), "--quiet")
	for _, n := range []string{"2", "4"} {
		verb(t, "run", once, "--set", "cluster.nodes="+n, "--set", "plots=none", "--out", filepath.Join(dir, "side", n), "--quiet")
	}
	verb(t, "run", once, "--replications", "2", "--set", "plots=none", "--out", filepath.Join(dir, "replicated"), "--quiet")
	for _, x := range []struct{ folder, profile, holds string }{
		{"varied", "a.toml: job profile, 4 runs, 6 maps, 0 reduces", ": 4 jobs, 32 tasks, 32 attempts, 6 machines\n"},
		{"side", "a.toml: job profile, 2 runs, 6 maps, 0 reduces", ": 2 jobs, 16 tasks, 16 attempts, 3 machines\n"},
		{"side/2", "a.toml: job profile, 1 run, 6 maps, 0 reduces", ": 1 job, 8 tasks, 8 attempts, 2 machines\n"},
		{"replicated", "a.toml: job profile, 1 run, 6 maps, 0 reduces", ": 1 job, 8 tasks, 8 attempts, 3 machines\n"},
	} {
		folder := filepath.Join(dir, filepath.FromSlash(x.folder))
		made := filepath.Join(dir, "p-"+filepath.Base(x.folder))
		verb(t, "convert", folder, "--to", "profile", "--out", made)
		if out := verb(t, "validate", filepath.Join(made, "a.toml")); !strings.Contains(out, x.profile) {
			t.Errorf("profile %s: %s", x.folder, out)
		}
		if code, out, errs := call("", "validate", folder, "--strict"); code != exitDone || !strings.HasPrefix(out, folder+x.holds) || errs != "" {
			t.Errorf("validate %s: exit %d: %s%s", x.folder, code, out, errs)
		}
	}
	replay := writeFile(t, filepath.Join(dir, "replay.toml"), "[cluster]\n[workload]\ntrace = \"side/2\"\n")
	if code, _, errs := call("", "validate", replay); code != exitDone || strings.Contains(errs, "left out") || strings.Contains(errs, "summary.json") {
		t.Errorf("as a trace: exit %d: %s", code, errs)
	}
	if m := decodeManifest(t, []byte(read(t, filepath.Join(dir, "p-varied", "manifest.json")))); len(m.Inputs) != 8 {
		t.Errorf("a profile of 4 runs is made of %d files, want their 8 tables", len(m.Inputs))
	}
}

// TestGzipComesBack: a result with compressed attempts is read like one with CSV.
func TestGzipComesBack(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, kind := range map[string]string{"plain": "csv", "packed": "csv.gz"} {
		verb(t, "run", writeFile(t, in(name+".toml"), "attempts = \""+kind+"\"\nplots = \"none\"\n"+onceAndVaried), "--out", in(name), "--quiet")
		verb(t, "convert", in(name), "--to", "csv", "--out", in("from-"+name))
	}
	verb(t, "convert", in("plain"), "--to", "csv.gz", "--out", in("tables"))
	verb(t, "convert", in("tables"), "--to", "csv", "--out", in("from-tables"))
	for _, name := range []string{"attempts.csv", "jobs.csv"} {
		want := read(t, filepath.Join(in("from-plain"), name))
		for _, from := range []string{"from-packed", "from-tables"} {
			if got := read(t, filepath.Join(in(from), name)); got != want {
				t.Errorf("%s/%s differs from that of the result with CSV", from, name)
			}
		}
	}
	plain, packed := verb(t, "diagnose", in("plain"), "--json"), verb(t, "diagnose", in("packed"), "--json")
	if strings.ReplaceAll(packed, in("packed"), in("plain")) != plain {
		t.Errorf("diagnosed from csv.gz:\n%s\nwant\n%s", packed, plain)
	}
}
