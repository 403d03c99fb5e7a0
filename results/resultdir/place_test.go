package resultdir

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// only fails the test if a folder holds other names.
func only(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != len(names) {
		t.Fatalf("got %v, %v: want %v", entries, err, names)
	}
	for i, e := range entries {
		if e.Name() != names[i] {
			t.Errorf("got %v: want %v", entries, names)
		}
	}
}

func TestWriteFile(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "page")
	is := func(file, want string) {
		t.Helper()
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v: want %q", file, got, err, want)
		}
	}
	// Of two writers at once both are whole, and the last one stays.
	err := WriteFile(name, 0o666, func(w io.Writer) error {
		if err := WriteFile(name, 0o666, Text("inner")); err != nil {
			return err
		}
		is(name, "inner")
		return Text("outer")(w)
	})
	if err != nil {
		t.Fatal(err)
	}
	is(name, "outer")
	failure := errors.New("cannot")
	if err := WriteFile(name, 0o666, func(io.Writer) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("got %v: want %v", err, failure)
	}
	is(name, "outer")
	only(t, folder, "page")
	// A link is replaced, and its target stays.
	other := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(other, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(name), os.Symlink(other, name)); err != nil {
		t.Skip(err)
	}
	if err := WriteFile(name, 0o666, Text("new")); err != nil {
		t.Fatal(err)
	}
	is(name, "new")
	is(other, "mine")
	if err := errors.Join(os.Remove(name), os.Symlink(other, name)); err != nil {
		t.Fatal(err)
	}
	if f, err := OpenJournal(name); err == nil {
		f.Close()
		t.Error("a journal followed a link")
	}
}

// An interrupted program leaves no file under any name.
func TestStop(t *testing.T) {
	defer func() { unfinished.stopped = false }()
	folder := t.TempDir()
	name := filepath.Join(folder, "page")
	err := WriteFile(name, 0o666, func(w io.Writer) error {
		Stop()
		only(t, folder)
		return Text("late")(w)
	})
	if !errors.Is(err, errStopped) {
		t.Errorf("got %v: want %v", err, errStopped)
	}
	if err := WriteFile(name, 0o666, Text("later")); !errors.Is(err, errStopped) {
		t.Errorf("got %v: want %v", err, errStopped)
	}
	only(t, folder)
}
