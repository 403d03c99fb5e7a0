package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
)

// content returns the files of a folder and of the folders in it.
func content(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			files[path] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Of every two verbs that write a folder, the second refuses the result of the first
// and leaves each of its files as it is; the same verb replaces its own result.
func TestVerbsKeepTheResultsOfOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("runs each pair of verbs")
	}
	dir := t.TempDir()
	record := filepath.Join(dir, "record")
	verb(t, "run", "two-jobs", "--set", "plots=none", "--quiet", "--out", record)
	goals := writeFile(t, filepath.Join(dir, "goals.toml"), "scenario = \"two-jobs\"\nconfidence = \"50 %\"\nmost_nodes = 4\nmax_replications = 20\n[[goal]]\nfinish = \"1h\"\n")
	writers := [][]string{
		{"run", "two-jobs", "--set", "plots=none"},
		{"compare", "two-jobs"},
		{"sweep", "two-jobs", "--over", "cluster.nodes=2,3"},
		{"predict", "two-jobs"},
		{"diagnose", record, "--verify", "off"},
		{"reproduce", "herodotou"},
		{"inspect", record},
		{"convert", record, "--to", "csv"},
		{"size", goals, "--quiet"},
	}
	for i, first := range writers {
		out := filepath.Join(dir, "out-"+first[0])
		into := func(w []string) (int, string) {
			code, _, errs := call("", append(w[:len(w):len(w)], "--out", out)...)
			return code, errs
		}
		if code, errs := into(first); code != exitDone {
			t.Fatalf("%q: exit %d: %s", first, code, errs)
		}
		before := content(t, out)
		others := slices.Concat(writers[i+1:], writers[:i])
		if !layers.Whole {
			others = others[:2] // the refusal is that of the folder, whatever the verb
		}
		for _, then := range others {
			code, errs := into(then)
			if code != exitInput || !strings.Contains(errs, "a result of slotwave "+first[0]) {
				t.Errorf("%s then %s: exit %d: %s", first[0], then[0], code, errs)
			}
			if after := content(t, out); !maps.Equal(before, after) {
				t.Fatalf("%s then %s: the files of the first changed", first[0], then[0])
			}
		}
		if code, errs := into(first); code != exitDone {
			t.Errorf("%s again: exit %d: %s", first[0], code, errs)
		}
	}
}

// A command refuses to write into the folder that it reads.
func TestVerbsKeepTheirInputs(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	verb(t, "run", "two-jobs", "--set", "plots=none", "--quiet", "--out", record)
	before := content(t, record)
	for _, w := range [][]string{
		{"convert", record, "--to", "csv"}, {"run", record}, {"compare", record, "two-jobs"}, {"diagnose", record}, {"inspect", record},
	} {
		code, _, errs := call("", append(w, "--out", record)...)
		if code != exitInput || !strings.Contains(errs, "holds the input") {
			t.Errorf("%q: exit %d: %s", w, code, errs)
		}
		if !maps.Equal(before, content(t, record)) {
			t.Fatalf("%q: changed its input", w)
		}
	}
}

// A report leaves files of the user alone, and replaces a link instead of its target.
func TestReportKeepsFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	verb(t, "run", "two-jobs", "--set", "plots=none", "--quiet", "--out", "out")
	writeFile(t, "page.html", "mine")
	writeFile(t, "new.html.part", "mine")
	if code, _, stderr := call("", "report", "out", "--out", "page.html"); code != exitInput || !strings.Contains(stderr, "--force") {
		t.Errorf("exit code %d, %q: want a refusal", code, stderr)
	}
	verb(t, "report", "out", "--quiet", "--out", "new.html")
	if err := os.Symlink("page.html", "link.html"); err != nil {
		t.Skip(err)
	}
	if code, _, stderr := call("", "report", "out", "--out", "link.html"); code != exitInput || !strings.Contains(stderr, "--force") {
		t.Errorf("exit code %d, %q: want a refusal", code, stderr)
	}
	verb(t, "report", "out", "--quiet", "--force", "--out", "link.html")
	for name, want := range map[string]string{"page.html": "mine", "new.html.part": "mine", "link.html": read(t, "new.html")} {
		if read(t, name) != want {
			t.Errorf("%s has changed", name)
		}
	}
	left, err := os.ReadDir(".")
	if err != nil || len(left) != 5 {
		t.Errorf("got %v, %v: want five names", left, err)
	}
}

// validate names each file of a result that has changed or is gone.
func TestValidateResult(t *testing.T) {
	t.Chdir(t.TempDir())
	verb(t, "run", "two-jobs", "--set", "plots=none", "--quiet", "--out", "out")
	verb(t, "validate", "out")
	attempts := read(t, "out/attempts.csv")
	writeFile(t, "out/attempts.csv", attempts[:len(attempts)-2]+"8\n")
	if err := os.Remove("out/jobs.csv"); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call("", "validate", "out")
	if code != exitInput || stdout != "" || !strings.Contains(stderr, "attempts.csv: changed") || !strings.Contains(stderr, "jobs.csv") {
		t.Errorf("exit code %d, %q, %q: want both names", code, stdout, stderr)
	}
}

// A verb that reads a result refuses it once a byte of a table has changed, names the
// table, and reads it as it is with --force or without the manifest. An edited picture
// and a removed file are not damage.
func TestVerbsRefuseDamagedResults(t *testing.T) {
	t.Chdir(t.TempDir())
	verb(t, "run", "two-jobs", "--quiet", "--out", "r")
	verb(t, "run", "two-jobs", "--set", "plots=none", "--quiet", "--set", "scheduler.name=fifo", "--out", "whole")
	writeFile(t, "r/slots.png", "mine")
	if err := os.Remove("r/resources.csv"); err != nil {
		t.Fatal(err)
	}
	readers := [][]string{
		{"run", "r", "--out", "again", "--force", "--quiet"}, {"compare", "whole", "r"}, {"diagnose", "r", "--verify", "off"}, {"explain", "r", "--at", "10s", "--node", "node1"},
		{"report", "r", "--out", "r.html", "--force"}, {"inspect", "r"}, {"inspect", "r/attempts.csv"}, {"convert", "r", "--to", "csv", "--out", "converted", "--force"},
	}
	for _, w := range readers {
		if code, _, errs := call("", w...); code != exitDone {
			t.Errorf("%q of the whole result: exit %d: %s", w, code, errs)
		}
	}
	for _, name := range []string{"manifest.json", "attempts.csv"} {
		text := read(t, filepath.Join("r", name))
		at := strings.LastIndex(text, "0")
		writeFile(t, filepath.Join("r", name), text[:at]+"1"+text[at+1:])
		for _, w := range append(readers, []string{"validate", "r"}) {
			forced := slices.Contains(w, "--force")
			code, _, errs := call("", w...)
			if want := map[bool]int{true: exitDone, false: exitInput}[forced]; code != want || !strings.Contains(errs, name+": changed") {
				t.Errorf("%q of a result with a damaged %s: exit %d, %s: want %d and the file", w, name, code, errs, want)
			}
		}
		if name == "manifest.json" {
			writeFile(t, "r/manifest.json", text)
		}
	}
	if code, _, errs := call("", "convert", "r", "--to", "csv", "--out", "new"); code != exitInput || isDir("new") {
		t.Errorf("convert: exit %d, %s: want nothing written", code, errs)
	}
	if err := os.Remove("r/manifest.json"); err != nil {
		t.Fatal(err)
	}
	verb(t, "inspect", "r")
}
