package main

import (
	"encoding/json"
	"testing"

	"github.com/slotwave/slotwave/results"
)

func decodeManifest(t *testing.T, data []byte) results.Manifest {
	t.Helper()
	var m results.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// withoutBuild is a manifest that does not change with the program that made it.
func withoutBuild(t *testing.T, m results.Manifest) []byte {
	t.Helper()
	m.Build = results.Build{Modules: []results.Module{}}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}
