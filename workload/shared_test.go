package workload

import (
	"os"
	"path/filepath"
	"testing"
)

// shared returns the path of a file of the measured data sets beside the
// module. Without the data sets the test is skipped; with them, a missing file
// is an error.
func shared(t testing.TB, name string) string {
	t.Helper()
	const dir = "../../shared/data"
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		t.Skip("the measured data sets are not here")
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustOpen(t testing.TB, paths ...string) *History {
	t.Helper()
	h, err := Open(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
