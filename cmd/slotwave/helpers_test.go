package main

import (
	"encoding/json"
	"flag"
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
