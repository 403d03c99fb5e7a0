package trace

import (
	"testing"

	"github.com/slotwave/slotwave/internal/shareddata"
	"github.com/slotwave/slotwave/workload"
)

// shared is the path of a file of the measured data sets.
func shared(t testing.TB, name string) string {
	t.Helper()
	return shareddata.Path(t, "data/"+name)
}

func mustOpen(t testing.TB, paths ...string) *workload.History {
	t.Helper()
	h, err := Open(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
