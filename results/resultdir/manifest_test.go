package resultdir

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBuildHasTheVersionOfTheReleaseElseOfTheCommit(t *testing.T) {
	t.Parallel()
	if got := ReadBuild("1.2.0", "").Version; got != "1.2.0" {
		t.Errorf("of a release: got %q: want 1.2.0", got)
	}
	if got := ReadBuild("", "").Version; got != "devel" { // go test does not look at the repository
		t.Errorf("of a test: got %q: want devel", got)
	}
}

// No byte of a manifest can change without a word; one of slotwave 0.1.0, which has no
// checksum, is read.
func TestManifestIsAsWritten(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := create(t, path, false)
	put(t, d, "a.csv", "one")
	if err := d.Commit(Manifest{Arguments: []string{"run", "two-jobs"}, Assumptions: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(path, ManifestName)
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range content {
		for _, flip := range []byte{1, 0x20} {
			damaged := bytes.Clone(content)
			damaged[i] ^= flip
			if err := os.WriteFile(name, damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadManifest(path); err == nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("byte %d of %q became %q: got %v: want a refusal with the name of the file", i, content[max(0, i-9):i+1], damaged[i], err)
			}
			if err := Unchanged(path); err == nil {
				t.Fatalf("byte %d of %q became %q: read by verbs", i, content[max(0, i-9):i+1], damaged[i])
			}
		}
	}
	older, _, _ := bytes.Cut(content, []byte(",\n  \"checksum\""))
	if err := os.WriteFile(name, append(older, "\n}\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(path); err != nil {
		t.Error(err)
	}
}
