// Package shareddata finds, for tests, the references and measured data that may
// lie beside the module.
package shareddata

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file or folder of them: in SLOTWAVE_SHARED, or in
// the folder shared beside the module. Where there is no such folder the test
// is skipped, unless SLOTWAVE_REQUIRE_SHARED is set; with it, a missing file is
// an error.
func Path(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv("SLOTWAVE_SHARED")
	if folder == "" {
		folder = filepath.Join(moduleRoot(t), "..", "shared")
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && os.Getenv("SLOTWAVE_REQUIRE_SHARED") == "" {
		t.Skip("no references or measured data beside the module")
	}
	path := filepath.Join(folder, filepath.FromSlash(name))
	if matches, err := filepath.Glob(path); err != nil || len(matches) == 0 {
		t.Fatalf("%s is not among the measured data (%v)", path, err)
	}
	return path
}

// moduleRoot returns the folder of go.mod at or above the test's own.
func moduleRoot(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		up := filepath.Dir(folder)
		if up == folder {
			t.Fatal("no go.mod above the test")
		}
		folder = up
	}
}
