package workload

import (
	"os"
	"path/filepath"
	"testing"
)

// shared returns the path of a file of the measured data sets beside the
// module, or under SLOTWAVE_SHARED. Without the data sets the test is skipped,
// unless SLOTWAVE_REQUIRE_SHARED is set; with them, a missing file is an error.
func shared(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("SLOTWAVE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	dir = filepath.Join(dir, "data")
	if _, err := os.Stat(dir); os.IsNotExist(err) && os.Getenv("SLOTWAVE_REQUIRE_SHARED") == "" {
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
