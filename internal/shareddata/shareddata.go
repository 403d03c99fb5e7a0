// Package shareddata locates the references and measured data for tests, which
// may lie next to the module.
package shareddata

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of such a file or directory: in SLOTWAVE_SHARED, or in
// the directory shared next to the module. If there is no such directory the
// test is skipped. If SLOTWAVE_REQUIRE_SHARED is set, a missing file is an
// error.
func Path(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv("SLOTWAVE_SHARED")
	if folder == "" {
		folder = filepath.Join(Module, "..", "shared")
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

// Module is the folder of go.mod, at or some levels above that of the tested package, which
// some tests leave.
var Module = func() string {
	folder, _ := os.Getwd()
	for range 4 {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			break
		}
		folder = filepath.Dir(folder)
	}
	return folder
}()
