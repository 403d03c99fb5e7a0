package trace

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestStrayFiles: of a folder what nobody reads is left out and told, but for
// slotwave's manifest; named alone it is an error.
func TestStrayFiles(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "host_1_job_201001010000_0001_ann_word"), mrv1Sample)
	writeFile(t, filepath.Join(dir, "README"), "nothing to read\n")
	writeFile(t, filepath.Join(dir, "manifest.json"), "{}\n")
	h := mustOpen(t, dir)
	if len(h.Jobs) != 1 || len(h.Problems) != 1 || !strings.Contains(h.Problems[0].String(), "README: the file is left out") {
		t.Errorf("%d jobs, problems %v", len(h.Jobs), h.Problems)
	}
	if _, err := Open(filepath.Join(dir, "README")); err == nil || !strings.Contains(err.Error(), "not a known history format") {
		t.Errorf("got %v", err)
	}
}
