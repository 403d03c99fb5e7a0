package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/scenarios"
)

const sorting = `fidelity = "device"
[cluster]
nodes = 2
platform = "dl145-g3"
map_slots = 2
[scheduler]
name = "fifo"
[[job]]
name = "sorting"
profile = "terasort"
input = 536870912
reduces = 2
`

// What a map costs is found again from a recorded run of it on the same cluster.
func TestProfileOn(t *testing.T) {
	dir := t.TempDir()
	text := sorting
	scenario := write(t, "s.toml", text)
	verb(t, "run", scenario, "--set", "plots=none", "--quiet", "--out", filepath.Join(dir, "run"))
	path := filepath.Join(dir, "program.toml")
	report := verb(t, "convert", filepath.Join(dir, "run"), "--to", "profile", "--on", scenario, "--out", path)
	t.Log(report)
	f, err := scenarios.Open(write(t, "again.toml", strings.Replace(text, `"terasort"`, `"`+path+`"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	// 600 ns in a map of 7 s, of which 0.2 % are not looked for: 0.67 million records.
	if p := s.Runs[0].Question.Programs[0]; math.Abs(p.MapCPU-600) > 30 || math.Abs(p.Data.InputPairWidth-100) > 0.1 {
		t.Errorf("%.1f ns for a record of %.1f bytes, want 600 and 100", p.MapCPU, p.Data.InputPairWidth)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--on", "two-jobs"}, "at fidelity phase or device"},
		{[]string{"--on", "nothing.toml"}, "nothing.toml"},
		{[]string{"--on", scenario, "--json"}, "want no --json"},
		{[]string{"--on", scenario, "--out", filepath.Join(dir, "program.json")}, "want no --json"},
	} {
		if code, _, errs := call("", append([]string{"convert", filepath.Join(dir, "run"), "--to", "profile"}, c.args...)...); code != exitInput || !strings.Contains(errs, c.want) {
			t.Errorf("%q: exit %d, %s; want %q", c.args, code, errs, c.want)
		}
	}
}

// A program found is made again from the same trace and scenario only.
func TestProfileOnAgain(t *testing.T) {
	dir := t.TempDir()
	platform := write(t, "p.toml", verb(t, "show", "dl145-g3"))
	text := strings.NewReplacer(`"dl145-g3"`, `"`+platform+`"`, "536870912", "67108864").Replace(sorting)
	scenario, run := write(t, "s.toml", text), filepath.Join(dir, "run")
	verb(t, "run", scenario, "--set", "plots=none", "--quiet", "--out", run)
	found := filepath.Join(dir, "found")
	verb(t, "convert", run, "--to", "profile", "--on", scenario, "--out", found)
	if out := verb(t, "run", filepath.Join(found, "manifest.json")); !strings.Contains(out, "the same bytes") {
		t.Error(out)
	}
	for _, file := range []string{scenario, platform} {
		was := read(t, file)
		writeFile(t, file, was+"# or so\n")
		if code, _, errs := call("", "run", filepath.Join(found, "manifest.json")); code != exitInput || !strings.Contains(errs, filepath.Base(file)+": changed") {
			t.Errorf("%s changed: exit %d, %s", file, code, errs)
		}
		writeFile(t, file, was)
	}
}

// Jobs that are called alike, one by its name and one by its id, have files of
// their own.
func TestProgramsOfOneName(t *testing.T) {
	dir := t.TempDir()
	scenario, run := write(t, "s.toml", strings.Replace(sorting, "536870912", "67108864\njobs = 2\ninterarrival = \"1s\"", 1)), filepath.Join(dir, "run")
	verb(t, "run", scenario, "--set", "plots=none", "--quiet", "--out", run)
	jobs := filepath.Join(run, results.JobsName)
	writeFile(t, jobs, strings.NewReplacer("sorting-1,sorting,", "sorting-1,sorting-2,", "sorting-2,sorting,", "sorting-2,,").Replace(read(t, jobs)))
	resealed(t, run, results.JobsName)
	found := filepath.Join(dir, "found")
	verb(t, "convert", run, "--to", "profile", "--on", scenario, "--out", found)
	files, err := filepath.Glob(filepath.Join(found, "*.toml"))
	if err != nil || len(files) != 2 {
		t.Errorf("%v, %v; want two files", files, err)
	}
}

// Where maps take longer than they did even at no cost, the program found says
// so.
func TestProgramNotFound(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(sorting, "536870912", "67108864", 1)
	run, path := filepath.Join(dir, "run"), filepath.Join(dir, "program.toml")
	verb(t, "run", write(t, "s.toml", text), "--quiet", "--out", run)
	slow := write(t, "slow.toml", strings.Replace(verb(t, "show", "dl145-g3"), "\nspeed = ", "\nspeed = 0.1 # not ", 1))
	on := write(t, "on.toml", strings.Replace(text, `"dl145-g3"`, `"`+slow+`"`, 1))
	code, _, errs := call("", "convert", run, "--to", "profile", "--on", on, "--out", path)
	const want = "cpu.map_record: with it simulated maps take "
	if code != exitDone || !strings.Contains(errs, "warning: sorting: "+want) {
		t.Errorf("exit %d: %s; want a warning", code, errs)
	}
	p, err := scenarios.Open(write(t, "again.toml", strings.Replace(text, `"terasort"`, `"`+path+`"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	found := s.Runs[0].Question.Programs[0]
	if found.MapCPU != 0 || !strings.Contains(strings.Join(found.Assumed, "\n"), want) || strings.Contains(strings.Join(found.Source, "\n"), "cpu.map_record") {
		t.Errorf("%v ns, source %q, assumed %q", found.MapCPU, found.Source, found.Assumed)
	}
}
