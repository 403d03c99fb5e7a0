package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/slotwave/slotwave/results/resultdir"
)

var update = flag.Bool("update", false, "write what commands print into the tutorial")

func decodeManifest(t *testing.T, data []byte) resultdir.Manifest {
	t.Helper()
	var m resultdir.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// verb runs the program, which has to succeed.
func verb(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := call("", args...)
	if code != exitDone {
		t.Fatalf("%q: exit %d: %s", args, code, errs)
	}
	return out
}

// unsealed removes the checksum of a manifest, as slotwave 0.1.0 wrote none.
func unsealed(manifest string) string {
	return regexp.MustCompile(`,\s*"checksum": "[0-9a-f]+"`).ReplaceAllString(manifest, "")
}

// resealed corrects the checksum of a file of a result that a test has changed.
func resealed(t *testing.T, folder, file string) {
	t.Helper()
	sum, err := resultdir.SumFile(filepath.Join(folder, file))
	if err != nil {
		t.Fatal(err)
	}
	entry := regexp.MustCompile(`("name": "` + regexp.QuoteMeta(file) + `",\s*"size_bytes": )\d+(,\s*"sha256": ")[0-9a-f]+`)
	manifest := filepath.Join(folder, resultdir.ManifestName)
	writeFile(t, manifest, entry.ReplaceAllString(unsealed(read(t, manifest)), fmt.Sprintf("${1}%d${2}%s", sum.Size, sum.SHA256)))
}
