package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// older holds the tables of a result that version 0.1.0 wrote.
const older = "testdata/older/two-jobs"

// readers are the verbs that read the folder of a result.
func readers(t *testing.T, result string) [][]string {
	out := t.TempDir()
	return [][]string{
		{"validate", result}, {"inspect", result}, {"convert", result, "--to", "profile", "--quiet"}, {"explain", result, "--task", "short/m/1"},
		{"run", result, "--quiet", "--out", filepath.Join(out, "run")},
		{"convert", result, "--to", "csv", "--quiet", "--out", filepath.Join(out, "csv")},
		{"diagnose", result, "--quiet", "--out", filepath.Join(out, "diagnosis")},
		{"report", result, "--quiet", "--out", filepath.Join(out, "report.html")},
	}
}

func TestOlderResultsAreRead(t *testing.T) {
	t.Parallel()
	for _, args := range readers(t, older) {
		verb(t, args...)
	}
	out := filepath.Join(t.TempDir(), "csv")
	verb(t, "convert", older, "--to", "csv", "--quiet", "--out", out)
	rows := func(folder string) int { return strings.Count(read(t, filepath.Join(folder, "attempts.csv")), "\n") }
	if got, want := rows(out), rows(older); got != want || want < 20 {
		t.Errorf("got %d rows of attempts: want %d", got, want)
	}
}

// No verb reads a result of a layout that it does not know.
func TestNewerResultsAreRefused(t *testing.T) {
	t.Parallel()
	for _, file := range []string{results.SummaryName, resultdir.ManifestName} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(older)); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, file)
		kind := strings.TrimSuffix(file, ".json")
		writeFile(t, name, strings.Replace(read(t, name), "slotwave/"+kind+"/1", "slotwave/"+kind+"/99", 1))
		manifest := filepath.Join(dir, resultdir.ManifestName)
		writeFile(t, manifest, strings.Replace(read(t, manifest), `"version": "0.1.0"`, `"version": "7.5.0"`, 1))
		resealed(t, dir, results.SummaryName)
		for _, args := range readers(t, dir) {
			code, _, stderr := call("", args...)
			if want := "use the slotwave 7.5.0 that wrote the file, or a newer one"; code != exitInput || !strings.Contains(stderr, want) || !strings.Contains(stderr, file) {
				t.Errorf("%s of schema 99: %v: exit code %d, %q: want %q", file, args, code, stderr, want)
			}
		}
		if file == resultdir.ManifestName {
			if code, _, stderr := call("", "run", filepath.Join(dir, "manifest.json")); code != exitInput || !strings.Contains(stderr, "use the slotwave 7.5.0") {
				t.Errorf("rerun: exit code %d, %q", code, stderr)
			}
		}
	}
}

func TestNewerPlansAndJournalsAreRefused(t *testing.T) {
	sweepFolder(t)
	refused := func(what string, args ...string) {
		t.Helper()
		code, _, stderr := call("", args...)
		if want := "use the slotwave that wrote the file, or a newer one"; code != exitInput || !strings.Contains(stderr, what+":1: schema") || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, %q: want %q", args, code, stderr, want)
		}
	}
	newer := func(text string) string {
		return regexp.MustCompile(`"slotwave/(plan|journal)/\d+"`).ReplaceAllString(text, `"slotwave/$1/99"`)
	}
	plan, _, _ := strings.Cut(verb(t, "sweep", "plan", "mystudy.toml"), "\n")
	writeFile(t, "old", plan+"\n")
	verb(t, "sweep", "work", "old", "--quiet")
	writeFile(t, "plan", newer(plan+"\n"))
	refused("plan", "sweep", "work", "plan", "--quiet")
	writeFile(t, "rows", newer(read(t, "old.rows")))
	refused("rows", "sweep", "merge", "rows", "--quiet", "--out", "merged")
	if err := os.Mkdir("out", 0o777); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join("out", resultdir.JournalName)
	writeFile(t, journal, newer(read(t, "old.rows")))
	refused(journal, "sweep", "mystudy.toml", "--quiet", "--out", "out")
}

// A result is made again with each flag that its manifest may hold, and with no other.
func TestFlagsOfAResult(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	run, _, err := new(app).root().Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	run.Flags().VisitAll(func(f *pflag.Flag) {
		manifest, err := json.Marshal(resultdir.Manifest{Schema: workload.ManifestSchema.String(), Arguments: []string{"run", "two-jobs", "--" + f.Name + "="}})
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(folder, resultdir.ManifestName), string(manifest))
		_, err = study.RunOf(folder)
		known := err == nil || !strings.Contains(err.Error(), "want what run takes")
		if want := slices.Contains(repeats, f.Name) && f.Name != "anonymise"; known != want { // a manifest without names has no arguments
			t.Errorf("--%s: got %v: want it read: %v", f.Name, err, want)
		}
	})
}
