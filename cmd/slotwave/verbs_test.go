package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/scheduler"
)

func TestListNamesEverything(t *testing.T) {
	code, out, _ := call("", "list")
	if code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	for _, name := range slices.Concat(scenarios.List(), scheduler.Names(), []string{"yarn-capacity", "yarn-fair", "yarn-fifo"}, scenarios.Platforms(), scenarios.Profiles()) {
		if !strings.Contains(out, "  "+name+" ") {
			t.Errorf("%s is not listed", name)
		}
		if slices.Contains(scenarios.List(), name) && scenarios.Title(name) == "" {
			t.Errorf("%s has no title", name)
		}
	}
}

func TestShow(t *testing.T) {
	for _, name := range slices.Concat(scenarios.List(), scenarios.Platforms(), scenarios.Profiles()) {
		if code, out, stderr := call("", "show", name); code != exitDone || !strings.Contains(out, "title = ") {
			t.Errorf("show %s: exit code %d: %s%s", name, code, out, stderr)
		}
	}
	if code, _, stderr := call("", "show", "fb2008"); code != exitInput || !strings.Contains(stderr, "fb2009") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// fullDisk takes nothing, as a full disk does.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "full", Err: syscall.ENOSPC}
}

// What cannot be written is told by every verb, and is no internal error.
func TestOutputFails(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	writeFile(t, trace, sound)
	for _, args := range [][]string{
		{"list"}, {"--version"}, {"help"}, {"help", "units"}, {"show", "two-jobs"}, {"validate", trace}, {"convert", trace, "--to", "profile"}, {"convert", trace, "--to", "profile", "--json"},
		{"convert", trace, "--to", "csv", "--out", filepath.Join(t.TempDir(), "csv")}, {"predict", "two-jobs", "--out", filepath.Join(t.TempDir(), "p")},
		{"run", "two-jobs", "--out", filepath.Join(t.TempDir(), "r")}, {"run", "two-jobs", "--json", "--out", filepath.Join(t.TempDir(), "j")},
	} {
		var stderr bytes.Buffer
		if code := (&app{stdout: fullDisk{}, stderr: &stderr}).run(args); code != exitInput || !strings.Contains(stderr.String(), "full: no space left") {
			t.Errorf("%v: exit code %d: %s", args, code, &stderr)
		}
	}
}

// A file that cannot be written is named once, without words of libraries.
func TestOutputFailsOnce(t *testing.T) {
	_, full := fullDisk{}.Write(nil)
	encoder := jsontext.NewEncoder(fullDisk{})
	if got := plain(errors.Join(encoder.WriteToken(jsontext.Null), full)); got != "full: no space left on device" {
		t.Errorf("got %q", got)
	}
}

// Everything that can go wrong before a run has the exit code of bad input.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"run"}, {"run", "a", "b"}, {"run", "none"}, {"run", "two-jobs", "--nodes=3"}, {"walk"},
		{"run", "two-jobs", "--set", "cluster"}, {"run", "two-jobs", "--set", "cluster.nods=3"},
		{"run", "two-jobs", "--replications", "0"}, {"run", "two-jobs", "--workers", "-1"},
		{"run", "two-jobs", "--seed", "x"}, {"run", "none/manifest.json"}, {"validate", "none"}, {"help", "walk"}, {"help", "fit"},
	} {
		if code, _, stderr := call("", args...); code != exitInput || stderr == "" {
			t.Errorf("slotwave %s: exit code %d: %q", strings.Join(args, " "), code, stderr)
		}
	}
}

// A result is made again from its manifest, and a changed one is noticed.
func TestRerun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "result")
	if code, _, stderr := call("", "run", "two-jobs", "--out", dir, "--seed", "7", "--set", "cluster.nodes=4", "--quiet"); code != exitDone {
		t.Fatal(stderr)
	}
	if code, out, stderr := call("", "run", filepath.Join(dir, "manifest.json")); code != exitDone || !strings.Contains(out, "the same bytes") {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
	file := filepath.Join(dir, resultdir.ManifestName)
	text := strings.Replace(unsealed(read(t, file)), "--seed=7", "--set=cluster.map_slots=1", 1)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call("", "run", filepath.Join(dir, "manifest.json")); code != exitInternal || !strings.Contains(stderr, "attempts.csv") {
		t.Errorf("another question: exit code %d: %s", code, stderr)
	}
}

func TestRerunTellsChangedInputs(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "s.toml")
	if err := os.WriteFile(file, []byte(head), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if code, _, stderr := call("", "run", file, "--out", out, "--quiet"); code != exitDone {
		t.Fatal(stderr)
	}
	if err := os.WriteFile(file, []byte(head+"priority = \"LOW\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call("", "run", filepath.Join(out, "manifest.json")); code != exitInput || !strings.Contains(stderr, "s.toml: changed") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// Replications have tables of their own, and how many run at a time changes
// nothing.
func TestReplications(t *testing.T) {
	text := `[cluster]
nodes = 3
hadoop = "ideal"
[[job]]
jobs = 20
interarrival = { dist = "exponential", mean = "4s" }
maps = 3
duration = { dist = "lognormal", mean = "10s", sd = "4s" }
`
	dir := t.TempDir()
	file := filepath.Join(dir, "random.toml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var sums [2]map[string]string
	for i, workers := range []string{"1", "4"} {
		out := filepath.Join(dir, "out"+workers)
		if code, _, stderr := call("", "run", file, "--out", out, "--replications", "3", "--workers", workers); code != exitDone {
			t.Fatal(stderr)
		}
		m, err := resultdir.ReadManifest(out)
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = map[string]string{}
		for _, f := range m.Outputs {
			sums[i][f.Name] = f.SHA256
		}
	}
	for name, sum := range sums[0] {
		if sums[1][name] != sum {
			t.Errorf("%s differs with the number of workers", name)
		}
	}
	if a, b := sums[0]["attempts.csv"], sums[0]["attempts-02.csv"]; a == "" || b == "" || a == b {
		t.Errorf("replications are alike: %s, %s", a, b)
	}
}

// The table of attempts can be compressed, or left out.
func TestAttemptTables(t *testing.T) {
	for kind, want := range map[string]string{"csv": "attempts.csv", "csv.gz": "attempts.csv.gz", "none": ""} {
		out := filepath.Join(t.TempDir(), "out")
		if code, _, stderr := call("", "run", "two-jobs", "--out", out, "--set", "attempts="+kind, "--set", "plots=none", "--quiet"); code != exitDone {
			t.Fatal(stderr)
		}
		found, err := filepath.Glob(filepath.Join(out, "attempts*"))
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || filepath.Base(found[0]) != want {
			t.Errorf("attempts = %s: %v", kind, found)
		}
	}
}

// Names of a trace stay cells of a table.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "s.toml")
	text := strings.Replace(head, `"a"`, `"=1+1\u001b[31m,\"x\"\n/../../etc"`, 1)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	code, stdout, stderr := call("", "run", file, "--out", out)
	if code != exitDone || strings.Contains(stdout, "\x1b[31m") {
		t.Errorf("exit code %d: %q%s", code, stdout, stderr)
	}
	rows, err := csv.NewReader(bytes.NewReader([]byte(read(t, filepath.Join(out, results.JobsName))))).ReadAll()
	if err != nil || len(rows) != 2 || strings.ContainsAny(rows[1][0], "\x1b\n") {
		t.Errorf("%q (%v)", rows, err)
	}
}

// The inputs are found from any folder, and so is what is shipped by a copy of a
// shipped scenario.
func TestRerunFromAnotherFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"work", "results", "elsewhere"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	_, text, _ := call("", "show", "two-jobs")
	writeFile(t, filepath.Join(dir, "work", "my.toml"), text)
	t.Chdir(filepath.Join(dir, "work"))
	if code, _, stderr := call("", "run", "my.toml", "--out", "../results/one", "--quiet"); code != exitDone {
		t.Fatal(stderr)
	}
	t.Chdir(filepath.Join(dir, "elsewhere"))
	if code, out, stderr := call("", "run", "../results/one/manifest.json", "--out", "again"); code != exitDone || !strings.Contains(out, "the same bytes") {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
	if _, err := os.Stat("again/jobs.csv"); err != nil {
		t.Error(err)
	}
}

// A copy of a shipped scenario runs anywhere: it reads the shipped trace.
func TestCopyOfShippedScenario(t *testing.T) {
	_, text, _ := call("", "show", "fb2009")
	file := writeFile(t, filepath.Join(t.TempDir(), "my.toml"), text)
	if code, _, stderr := call("", "validate", file); code != exitDone {
		t.Error(stderr)
	}
}
