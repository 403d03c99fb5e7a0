package resultdir

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// put writes a file of a result.
func put(t testing.TB, d *Dir, name, content string) {
	t.Helper()
	if err := d.Write(name, func(w io.Writer) error { _, err := io.WriteString(w, content); return err }); err != nil {
		t.Fatal(err)
	}
}

// names lists a directory.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func create(t testing.TB, path string, force bool) *Dir {
	t.Helper()
	d, err := Create(path, Purpose{Force: force})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out", "run")
	d := create(t, path, false)
	put(t, d, "b.csv", "2")
	put(t, d, "a.csv", "one")
	put(t, d, LogName, "it took 3 s")
	for _, name := range names(t, path) {
		if !strings.HasSuffix(name, ".partial") {
			t.Errorf("%s has its name before the commit", name)
		}
	}
	if err := d.Commit(Manifest{Scenario: "x", Seed: 7, Inputs: []FileSum{Sum("in.toml", []byte("abc"))}}); err != nil {
		t.Fatal(err)
	}
	d.Abort() // as a deferred call would
	if got, want := names(t, path), []string{"a.csv", "b.csv", "manifest.json", "run.log"}; !slices.Equal(got, want) {
		t.Fatalf("the directory holds %v: want %v", got, want)
	}
	m, err := ReadManifest(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []FileSum{Sum("a.csv", []byte("one")), Sum("b.csv", []byte("2"))}
	if !slices.Equal(m.Outputs, want) || m.Schema != workload.ManifestSchema.String() || m.Seed != 7 || m.Inputs[0].SHA256 != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("manifest %+v", m)
	}
}

func TestManifestDetectsChanges(t *testing.T) {
	path := t.TempDir()
	d := create(t, path, false)
	put(t, d, "a.csv", "one")
	put(t, d, "b.csv", "two")
	put(t, d, "c.csv", "three")
	if err := d.Commit(Manifest{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "b.csv"), []byte("twO"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(path, "c.csv")); err != nil {
		t.Fatal(err)
	}
	_, err := ReadManifest(path)
	if err == nil || !strings.Contains(err.Error(), "b.csv: changed") || !strings.Contains(err.Error(), "c.csv") || strings.Contains(err.Error(), "a.csv") {
		t.Errorf("got %v: want both differences and no other", err)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v: want a missing file among it", err)
	}
}

// An empty folder is what a run leaves that was killed when it had just made it.
func TestEmptyFolderIsNotForeign(t *testing.T) {
	path := t.TempDir()
	if err := os.Mkdir(filepath.Join(path, "fifo"), 0o777); err != nil {
		t.Fatal(err)
	}
	d, err := Create(path, Purpose{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(path, "fifo")); err != nil {
		t.Error(err)
	}
	d.Abort()
}

func TestForeignDirectory(t *testing.T) {
	path := t.TempDir()
	notes := filepath.Join(path, "notes.txt")
	if err := os.WriteFile(notes, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, Purpose{}); !errors.Is(err, errForeign) {
		t.Fatalf("got %v: want a refusal", err)
	}
	if err := os.WriteFile(filepath.Join(path, ManifestName), []byte(`{"schema":"something/else"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, Purpose{}); !errors.Is(err, errForeign) {
		t.Fatalf("got %v: want a refusal of another program's manifest", err)
	}
	d := create(t, path, true)
	put(t, d, "a.csv", "1")
	if err := d.Commit(Manifest{}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(notes); err != nil || string(text) != "mine" {
		t.Errorf("the foreign file holds %q, %v", text, err)
	}
	if _, err := Create(notes, Purpose{Force: true}); err == nil {
		t.Error("a file was taken for a directory")
	}
}

// TestReplace checks that an earlier result stays until the new one is
// complete, and that what only the earlier one had then goes.
func TestReplace(t *testing.T) {
	path := t.TempDir()
	d := create(t, path, false)
	put(t, d, "a.csv", "old")
	put(t, d, "old.svg", "old")
	if err := d.Commit(Manifest{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "notes.txt"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}

	d = create(t, path, false)
	put(t, d, "a.csv", "new")
	if _, err := ReadManifest(path); err != nil {
		t.Errorf("the earlier result before the commit: %v", err)
	}
	d.Abort()
	if _, err := ReadManifest(path); err != nil || len(names(t, path)) != 4 {
		t.Errorf("after an aborted run: %v, %v", names(t, path), err)
	}

	d = create(t, path, false)
	put(t, d, "a.csv", "new")
	if err := d.Commit(Manifest{}); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, path), []string{"a.csv", "manifest.json", "notes.txt"}; !slices.Equal(got, want) {
		t.Errorf("the directory holds %v: want %v", got, want)
	}
	if _, err := ReadManifest(path); err != nil {
		t.Error(err)
	}
}

func TestAbortRemovesWhatItMade(t *testing.T) {
	top := t.TempDir()
	d := create(t, filepath.Join(top, "out", "deep", "run"), false)
	put(t, d, "a.csv", "1")
	d.Abort()
	if got := names(t, top); len(got) != 0 {
		t.Errorf("%v is left", got)
	}
}

func TestManifestCannotReachOut(t *testing.T) {
	top := t.TempDir()
	victim := filepath.Join(top, "victim")
	if err := os.WriteFile(victim, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(top, "run")
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(Manifest{Schema: workload.ManifestSchema.String(), Outputs: []FileSum{{Name: "../victim"}, {Name: victim}, {Name: ".."}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, ManifestName), text, 0o666); err != nil {
		t.Fatal(err)
	}
	d := create(t, path, false)
	put(t, d, "a.csv", "1")
	if err := d.Commit(Manifest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(victim); err != nil {
		t.Error(err)
	}
}

func TestUnclosedFileIsNotCommitted(t *testing.T) {
	d := create(t, t.TempDir(), false)
	if _, err := d.File("a.csv"); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(Manifest{}); err == nil {
		t.Error("a half-written file was committed")
	}
	d.Abort()
	if _, err := d.File("a.csv"); err == nil {
		t.Error("a file was begun twice")
	}
}

// TestKilled kills a run in the middle of its files, and one in the middle of
// its renames: no final name holds half a file, the directory counts as
// incomplete, and the next run takes it over.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("RESULTS_TEST_DIR"); dir != "" {
		writeForever(t, dir)
	}
	dir := filepath.Join(t.TempDir(), "run")
	run := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	run.Env = append(os.Environ(), "RESULTS_TEST_DIR="+dir)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for { // the time limit of go test ends a run that never writes
		if entries, _ := filepath.Glob(filepath.Join(dir, ".b.csv.*")); len(entries) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	run.Wait()
	left := names(t, dir)
	if len(left) != 2 {
		t.Fatalf("%v is left: want two partial files", left)
	}
	for _, name := range left {
		if !partialName.MatchString(name) {
			t.Errorf("%s is left under its final name", name)
		}
	}
	if _, err := ReadManifest(dir); err == nil {
		t.Error("the directory counts as complete")
	}
	d := create(t, dir, false)
	put(t, d, "a.csv", "1")
	if err := d.Commit(Manifest{}); err != nil {
		t.Fatal(err)
	}

	// As a kill between two renames leaves it: no manifest but its partial one.
	partial := filepath.Join(dir, ".manifest.json.0123456789abcdef.partial")
	if err := os.Rename(filepath.Join(dir, ManifestName), partial); err != nil {
		t.Fatal(err)
	}
	d = create(t, dir, false)
	put(t, d, "b.csv", "1")
	if err := d.Commit(Manifest{}); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, dir), []string{"b.csv", "manifest.json"}; !slices.Equal(got, want) {
		t.Errorf("the directory holds %v: want %v", got, want)
	}
}

func writeForever(t *testing.T, dir string) {
	d := create(t, dir, false)
	put(t, d, "a.csv", "whole")
	f, err := d.File("b.csv")
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := f.Write([]byte("half a row,")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestWriteErrorIsKept checks that a file which could not be written fails the
// result at its end.
func TestWriteErrorIsKept(t *testing.T) {
	d := create(t, t.TempDir(), false)
	f, err := d.File("attempts.csv")
	if err != nil {
		t.Fatal(err)
	}
	f.f.Close() // as if the disk went away
	if _, err := f.Write([]byte("a row\n")); err == nil {
		t.Error("no error from the file")
	}
	f.Close()
	if err := d.Commit(Manifest{}); err == nil {
		t.Error("a broken table was committed")
	}
	d.Abort()
}

// What a killed run of several points leaves, files in folders, is removed by the
// next; a folder with anything else stays, and the directory is refused.
func TestRemainsInFolders(t *testing.T) {
	path := t.TempDir()
	folder := filepath.Join(path, "nodes-3")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	partial := filepath.Join(folder, ".attempts.csv.0123456789abcdef.partial")
	for _, name := range []string{partial, filepath.Join(folder, "mine.csv")} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Create(path, Purpose{Verb: "run"}); !errors.Is(err, errForeign) {
		t.Fatalf("got %v: want a refusal", err)
	}
	if got := names(t, folder); len(got) != 2 {
		t.Errorf("the folder holds %v: want both files", got)
	}
	if err := os.Remove(filepath.Join(folder, "mine.csv")); err != nil {
		t.Fatal(err)
	}
	d, err := Create(path, Purpose{Verb: "run"})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, path); len(got) != 0 {
		t.Errorf("the directory holds %v: want nothing", got)
	}
	d.Abort()
}

// A verb replaces its own result and, unless forced, no other's.
func TestResultOfAnotherVerb(t *testing.T) {
	path := t.TempDir()
	d, err := Create(path, Purpose{Verb: "platform fit"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(Manifest{Arguments: []string{"platform", "fit", "rows.csv"}}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		purpose Purpose
		refused bool
	}{
		{Purpose{Verb: "platform bench"}, true},
		{Purpose{Verb: "plat"}, true},
		{Purpose{Verb: "platform fit", Inputs: []string{filepath.Join(path, ManifestName)}}, true},
		{Purpose{Verb: "platform fit", Inputs: []string{"terasort"}}, false},
		{Purpose{Verb: "platform bench", Force: true}, false},
	} {
		d, err := Create(path, row.purpose)
		if (err != nil) != row.refused {
			t.Errorf("%+v: got %v", row.purpose, err)
		}
		if err == nil {
			d.Abort()
		}
	}
}
